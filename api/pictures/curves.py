"""The weights of one memory by every law on a figure: a panel for each law, and a lane for each kind of event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from api.pictures.layout import Floats
from api.pictures.paper import BLUE, GREEN, GREY, INK, NORMAL, ORANGE, PALE, PINK, RED, SKY, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DECISIONS: Mapping[str, tuple[str, str]] = {
    "create": (GREEN, "o"),
    "mention": (BLUE, "^"),
    "reinforce": (BLUE, "^"),
    "access": (GREY, "d"),
    "negate": (RED, "v"),
    "reaffirm": (SKY, "P"),
    "revise": (ORANGE, "h"),
    "merge": (PINK, "D"),
    "compress": (PINK, "s"),
    "promote": (ORANGE, "*"),
    "restore": (GREEN, "<"),
    "delete": (INK, "X"),
    "purge": (INK, "x"),
}
"""Colour and marker of a kind of decision; others are orange pentagons."""
_OTHER_DECISION = (ORANGE, "p")


def law_colours(count: int) -> list[str]:
    """A colour for each law; the fifth has the first one's again."""
    return [(BLUE, GREEN, RED, PINK)[number % 4] for number in range(count)]


def draw_law(axes: Axes, name: str, law: Mapping[str, Any], times: Sequence[datetime], colour: str) -> None:
    """One law's curve and threshold, its newest weight written at its end."""
    instants = _days(times)
    weights = np.array(law["weights"], dtype=np.float64)  # None becomes NaN, which leaves a gap
    threshold = float(law["threshold"])
    known = weights[~np.isnan(weights)]
    axes.plot(instants, weights, color=colour, linewidth=1.6, marker="o" if len(known) == 1 else "", zorder=3)
    axes.axhspan(0, threshold, color=colour, alpha=0.08, linewidth=0)
    axes.axhline(threshold, color=colour, linestyle=(0, (4, 3)), linewidth=1)
    axes.set_ylim(min([0.0, *known]), max([1.0, threshold, *known]) * 1.08)
    axes.set_title(name, loc="left", fontsize=NORMAL, color=INK, pad=3, parse_math=False)
    axes.set_title(f"threshold {threshold:g}", loc="right", fontsize=SMALL, color=PALE, pad=3)
    if not np.isnan(weights[-1]):
        axes.annotate(
            f"{weights[-1]:.2f}",
            (instants[-1], weights[-1]),
            (5, 0),
            textcoords="offset points",
            fontsize=SMALL,
            color=colour,
            va="center",
            annotation_clip=False,
        )
    _bare(axes)


def _days(times: Sequence[datetime]) -> Floats:
    """Instants as matplotlib counts them."""
    from matplotlib.dates import date2num  # noqa: PLC0415 - matplotlib is an extra

    return np.asarray(date2num(times), dtype=np.float64)  # type: ignore[no-untyped-call]


def _bare(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(labelsize=SMALL, colors=PALE)


def kind_of(event: Mapping[str, Any]) -> str:
    """The decision of an event, else its type."""
    return str(event.get("decision") or event["event"])


def lane_order(kinds: Iterable[str]) -> list[str]:
    """The different kinds, in the order of DECISIONS, others last."""
    known = list(DECISIONS)
    return sorted(set(kinds), key=lambda kind: (known.index(kind) if kind in DECISIONS else len(known), kind))


def lanes_of(events: Sequence[Mapping[str, Any]]) -> dict[str, list[datetime]]:
    """The instants of each kind of event, kinds in their order."""
    lanes: dict[str, list[datetime]] = {kind: [] for kind in lane_order(map(kind_of, events))}
    for event in events:
        lanes[kind_of(event)].append(datetime.fromisoformat(event["time"]))
    return lanes


def draw_lanes(panels: Sequence[Axes], lanes: Mapping[str, Sequence[datetime]]) -> None:
    """A row of markers for each kind of decision in the lowest panel, and a tick at their instants in all."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter  # noqa: PLC0415 - matplotlib is an extra

    lowest = panels[-1]
    for row, (kind, times) in enumerate(lanes.items()):
        instants = _days(times)
        colour, marker = DECISIONS.get(kind, _OTHER_DECISION)
        lowest.scatter(
            instants,
            [row] * len(times),
            s=40,
            marker=marker,
            color=colour,
            edgecolor=INK,
            linewidth=0.5,
            clip_on=False,
            zorder=3,
        )
        faint = min(0.5, 10 / len(times))  # hundreds of accesses must not hide the curve
        for axes in panels:
            axes.vlines(
                instants, 0, 1, transform=axes.get_xaxis_transform(), color=colour, linewidth=0.8, alpha=faint, zorder=1
            )
    lowest.set_yticks(range(len(lanes)), [f"{kind} ({len(times)})" for kind, times in lanes.items()])
    lowest.set_ylim(len(lanes) - 0.5 if lanes else 0.5, -0.5)
    locator = AutoDateLocator(tz=UTC, minticks=4, maxticks=10)  # type: ignore[no-untyped-call]
    lowest.xaxis.set_major_locator(locator)
    lowest.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]
    lowest.xaxis.get_offset_text().set_fontsize(SMALL)
    _bare(lowest)
    lowest.spines["left"].set_visible(False)
    lowest.tick_params(axis="y", length=0)


def show_span(panels: Sequence[Axes], times: Sequence[datetime]) -> None:
    """One time axis for all panels, from the earliest to the latest instant and a little more."""
    days = _days(times)
    first, last = float(days.min()), float(days.max())
    beside = 0.01 * (last - first) or 0.5
    for axes in panels:
        axes.set_xlim(first - beside, last + beside)
