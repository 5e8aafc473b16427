"""The weights of one memory by every law, drawn with the letters of a terminal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from textwrap import fill
from typing import Any

from api.pictures.kinds import kind_of, lane_order
from api.pictures.text import short
from events.errors import refused

NARROWEST, LOWEST = 40, 8
"""Smallest width of a panel in columns, and height in rows."""
_DAY = 86_400.0


def terminal_curves(comparison: Mapping[str, Any], width: int, height: int) -> str:
    """The curves of `api.pictures.draw.draw_curves` as lines of text with ANSI colours.

    Panels stand side by side where `width` (columns) has room for two; `height` (rows) is for all, and more is used
    where a panel would be too low. A dotted line is the law's normal threshold; a letter on a curve is an event. Raises
    InputError where there is nothing to draw.
    """
    import plotext  # noqa: PLC0415 - only this needs it

    times, laws = comparison["times"], comparison["laws"]
    if not times or not laws:
        raise refused("comparison", f"{len(laws)} laws at {len(times)} instants", "at least one of each")
    instants = [datetime.fromisoformat(text).timestamp() / _DAY for text in times]
    letters = letters_of([kind_of(event) for event in comparison["events"]])
    columns = 2 if width >= 2 * NARROWEST and len(laws) % 2 == 0 else 1
    rows = -(-len(laws) // columns)
    figure = plotext.figure
    plotext.terminal.limit(width=False, height=False)
    try:
        figure.clear()
        figure.plot_size(max(width, NARROWEST), max(height - 2, LOWEST * rows))
        if len(laws) > 1:
            figure.subplots(rows, columns)
        for number, (name, law) in enumerate(laws.items()):
            panel = figure.subplot(number // columns + 1, number % columns + 1) if len(laws) > 1 else figure
            panel.theme("simple")
            _draw_panel(panel, f"{name} (normal from {law['threshold']:g})", law, instants)
            _draw_events(panel, law["weights"], instants, comparison["events"], letters)
        drawn = str(figure.build())
    finally:
        figure.clear()
        plotext.terminal.limit()
    legend = fill("   ".join(f"{letter}\u00a0{kind}" for kind, letter in letters.items()), max(width, NARROWEST))
    title = short(str(comparison.get("title") or ""), max(width, NARROWEST))
    return "\n".join(part for part in (title, drawn.rstrip("\n"), legend.replace("\u00a0", " ")) if part)


def letters_of(kinds: Sequence[str]) -> dict[str, str]:
    """A letter for each kind: the first of its own that is free, else any that is; DECISIONS choose first, in their order."""
    letters: dict[str, str] = {}
    for kind in lane_order(kinds):
        wanted = f"{kind.lower()}{kind.upper()}abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        free = (letter for letter in wanted if letter.isascii() and letter.isalpha() and letter not in letters.values())
        letters[kind] = next(free, "*")
    return letters


def _draw_panel(panel: Any, title: str, law: Mapping[str, Any], instants: Sequence[float]) -> None:
    points = zip(instants, law["weights"], strict=True)
    for is_known, stretch in groupby(points, key=lambda point: point[1] is not None):
        if is_known:
            xs, ys = zip(*stretch, strict=True)
            panel.draw(panel.signal(list(xs), list(ys), marker="braille").lines())
    panel.line(float(law["threshold"]), style="dotted")
    panel.title(title)
    first, last = instants[0], max(instants[-1], instants[0] + 1 / 24)
    panel.ruler("x").lim(first, last)
    threshold = float(law["threshold"])
    highest = max([1.0, threshold, *(y for y in law["weights"] if y is not None)])
    panel.ruler("y").lim(0.0, highest)
    panel.ruler("y").ticks([0.0, threshold, highest], ["0", f"{threshold:g}", f"{highest:.1f}"])
    ticks = [first + (last - first) * step / 3 for step in range(4)]
    form = "%Y-%m-%d" if last - first >= 4 else "%m-%d %H:%M"
    panel.ruler("x").ticks(ticks, [datetime.fromtimestamp(tick * _DAY, UTC).strftime(form) for tick in ticks])


def _draw_events(
    panel: Any,
    weights: Sequence[float | None],
    instants: Sequence[float],
    events: Sequence[Mapping[str, Any]],
    letters: Mapping[str, str],
) -> None:
    """A letter at the first known weight from an event on, or at the bottom where there is none."""
    for event in events:
        at = datetime.fromisoformat(event["time"]).timestamp() / _DAY
        next_one = min(bisect_left(instants, at), len(instants) - 1)
        weight = weights[next_one]
        panel.draw(panel.signal([at], [0.0 if weight is None else float(weight)], marker=letters[kind_of(event)]))
