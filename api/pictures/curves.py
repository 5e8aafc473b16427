"""The weights of one memory by every law as a picture: curves over one axis of time, thresholds, and what touched it below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from api.pictures.frame import Frame, draw_time_axis, draw_weight_axis, frame_of
from api.pictures.kinds import kind_of, lane_order
from api.pictures.lanes import draw_hairs, draw_lanes
from api.pictures.look import Look
from api.pictures.svg import add, group, line, path_of, root, write
from api.pictures.text import broken, cut, shown
from api.pictures.ticks import instant_name
from api.pictures.words import WORDS, PictureWords
from events.errors import refused

DASHES = (None, "9 4", "2 4", "11 4 2 4")
"""Of the laws' lines, in their order: colour is not the only sign."""
_DOTS = "2 8"
"""Of thresholds, each law's beginning elsewhere: those of two laws may be one."""
_HALF_A_DAY = timedelta(hours=12)
Comparison = Mapping[str, Any]


class LawLine(NamedTuple):
    """One law's curve on the paper."""

    name: str
    threshold: float
    points: list[tuple[float, float, bool] | None]
    """Places and whether normal mode shows it there; None where there is no weight."""
    last: float | None
    colour: str
    dash: str | None


def curves_picture(comparison: Comparison, look: Look) -> Element:
    """The picture as an SVG; `comparison` is an answer of `compare` about one memory.

    Raises InputError where there is nothing to draw.
    """
    times = [datetime.fromisoformat(text) for text in comparison["times"]]
    laws = comparison["laws"]
    if not times or not laws:
        got = f"{len(laws)} laws at {len(times)} instants"
        raise refused("comparison", got, "at least one of each; nothing was drawn")
    words = WORDS[look.language]
    start, end = _span(comparison, times)
    lanes = {kind: [one for one in comparison["events"] if kind_of(one) == kind] for kind in _kinds(comparison)}
    told = _told_at_ends(words, laws, look)
    texts = [*(one for one, _ in told), *(f"{words.kind(kind)} {len(events):,}" for kind, events in lanes.items())]
    more = (len(heading_of(comparison, look, words)) - 1) * 18
    frame = frame_of(look, start, end, _range(laws), texts, len(lanes), more)
    lines = _lines(laws, times, frame, look)
    picture = _root(comparison, look, words, frame, lanes)
    _headings(picture, comparison, look, words, frame)
    draw_weight_axis(picture, frame, look)
    draw_time_axis(picture, frame, look)
    _thresholds(picture, lines, frame, words)
    draw_hairs(picture, lanes, frame)
    _curves(picture, lines, words)
    _labels(picture, lines, told, frame, look)
    draw_lanes(picture, lanes, frame, look, words)
    return picture


def _span(comparison: Comparison, times: Sequence[datetime]) -> tuple[datetime, datetime]:
    """The window, with all that is told within; half a day on each side where it is one instant."""
    instants = [*times, *(datetime.fromisoformat(one["time"]) for one in comparison["events"])]
    start, end = min(instants), max(instants)
    return (start, end) if start < end else (start - _HALF_A_DAY, end + _HALF_A_DAY)


def _kinds(comparison: Comparison) -> list[str]:
    return lane_order(map(kind_of, comparison["events"]))


def _range(laws: Mapping[str, Any]) -> tuple[float, float]:
    weights = [one for law in laws.values() for one in (*law["weights"], law["threshold"]) if one is not None]
    return min(0.0, *weights), max(1.0, *weights)


def _told_at_ends(words: PictureWords, laws: Mapping[str, Any], look: Look) -> list[tuple[str, str]]:
    """What stands at the end of each line: the law with its last weight, and from where on normal mode shows it."""
    told = []
    for name, law in laws.items():
        last = "–" if law["weights"][-1] is None else f"{law['weights'][-1]:.2f}"
        least = f"{law['threshold']:g}"
        short = words.law(name), f"{last} (≥ {least})"
        told.append(short if look.is_narrow else (f"{words.law(name)} {last}", words.normal_from.format(least)))
    return told


def _lines(laws: Mapping[str, Any], times: Sequence[datetime], frame: Frame, look: Look) -> list[LawLine]:
    lines = []
    colours = look.colours.laws
    for place, (name, law) in enumerate(laws.items()):
        shown = law.get("shown") or [True] * len(times)
        points = [
            None if weight is None else (frame.x(at), frame.y(weight), bool(seen))
            for at, weight, seen in zip(times, law["weights"], shown, strict=True)
        ]
        style = colours[place % len(colours)], DASHES[place % len(DASHES)]
        lines.append(LawLine(str(name), float(law["threshold"]), points, law["weights"][-1], *style))
    return lines


def _root(
    comparison: Comparison, look: Look, words: PictureWords, frame: Frame, lanes: Mapping[str, Sequence[Any]]
) -> Element:
    told = words.curves_told.format(
        instant_name(frame.start, look.language),
        instant_name(frame.end, look.language),
        "; ".join(
            words.law_title.format(
                words.law(name),
                words.not_there if law["weights"][-1] is None else f"{law['weights'][-1]:.3f}",
                f"{law['threshold']:g}",
            )
            for name, law in comparison["laws"].items()
        ),
    )
    counts = ", ".join(f"{words.kind(kind)} {len(events):,}" for kind, events in lanes.items())
    return root(
        "compare",
        look,
        f"{words.by_every_law}: {_title(comparison, words)}",
        f"{told} {words.events_told.format(counts) if counts else words.no_events}",
        data_owner=comparison.get("owner"),
        data_id=comparison.get("id"),
        data_position=comparison.get("position"),
        data_laws=" ".join(comparison["laws"]),
        **frame.scales(),
    )


def _title(comparison: Comparison, words: PictureWords) -> str:
    return shown(str(comparison.get("title") or "")) or words.by_every_law


def heading_of(comparison: Comparison, look: Look, words: PictureWords) -> list[str]:
    """The lines of the title."""
    size, edge = (15, 12) if look.is_narrow else (17, 20)
    return broken(_title(comparison, words), look.width - 2 * edge, size, 2 if look.is_narrow else 1, bold=True)


def _headings(picture: Element, comparison: Comparison, look: Look, words: PictureWords, frame: Frame) -> None:
    size, below = (15, 11) if look.is_narrow else (17, 12)
    lines = heading_of(comparison, look, words)
    for place, title in enumerate(lines):
        y = 18 + size / 2 + (size + 3) * place
        write(picture, title, frame.edge, y, size, look.colours.ink, bold=True, class_="heading")
    parts = [words.span.format(instant_name(frame.start, look.language), instant_name(frame.end, look.language))]
    parts += [getattr(words, name).format(comparison[name]) for name in ("as_of", "known") if comparison.get(name)]
    if not look.is_narrow:
        parts.insert(0, words.by_every_law)
        parts += (
            [words.thin] if any(not all(law.get("shown") or (True,)) for law in comparison["laws"].values()) else []
        )
    told = cut(" · ".join(parts), look.width - 2 * frame.edge, below)
    write(picture, told, frame.edge, y + 12 + size / 2, below, look.colours.pale, class_="subheading")


def _thresholds(picture: Element, lines: Sequence[LawLine], frame: Frame, words: PictureWords) -> None:
    held = group(picture, "thresholds")
    for place, one in enumerate(lines):
        title = f"{words.law(one.name)}: {words.normal_from.format(f'{one.threshold:g}')}"
        made = group(held, "threshold", title, data_law=one.name, data_weight=f"{one.threshold:g}")
        y = frame.y(one.threshold)
        line(
            made,
            frame.left,
            y,
            frame.right,
            y,
            one.colour,
            stroke_width=0.8,
            stroke_dasharray=_DOTS,
            stroke_dashoffset=-2.5 * place,
        )


def _curves(picture: Element, lines: Sequence[LawLine], words: PictureWords) -> None:
    held = group(picture, "laws")
    for one in lines:
        told = words.not_there if one.last is None else f"{one.last:.3f}"
        made = group(
            held,
            "law",
            words.law_title.format(words.law(one.name), told, f"{one.threshold:g}"),
            data_law=one.name,
            data_threshold=f"{one.threshold:g}",
            data_weight=None if one.last is None else f"{one.last:g}",
            fill="none",
            stroke=one.colour,
            stroke_linejoin="round",
        )
        for seen, points in _runs(one.points):
            style = "line shown" if seen else "line withheld"
            if len(points) == 1:
                add(made, "circle", class_=style, cx=points[0][0], cy=points[0][1], r=2.5, fill=one.colour)
                continue
            add(
                made,
                "path",
                class_=style,
                d=path_of(_thinned(points)),
                stroke_width=2.4 if seen else 1.2,
                stroke_dasharray=one.dash,
            )


def _runs(points: Sequence[tuple[float, float, bool] | None]) -> list[tuple[bool, list[tuple[float, float]]]]:
    """Pieces of a curve that are drawn alike; a piece ends in the point where the next begins."""
    runs: list[tuple[bool, list[tuple[float, float]]]] = []
    going = False
    for one in points:
        if one is None:
            going = False
            continue
        x, y, seen = one
        if going:
            runs[-1][1].append((x, y))
        if not going or runs[-1][0] != seen:
            runs.append((seen, [(x, y)]))
        going = True
    return [run for run, after in pairwise([*runs, None]) if run and not _is_end(run, after)]


def _is_end(run: tuple[bool, list[tuple[float, float]]], after: Any) -> bool:
    """Whether a piece is only the last point of the one before, and goes on nowhere."""
    return False if len(run[1]) > 1 else after is not None and after[1][0] == run[1][0]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of more points than can be seen, in each pixel's column the first, the lowest, the highest and the last."""
    if len(points) < 4 * (points[-1][0] - points[0][0]) + 100:
        return points
    kept: list[tuple[float, float]] = []
    column: list[tuple[float, float]] = []
    for one in [*points, (points[-1][0] + 2, 0.0)]:
        if column and int(one[0]) != int(column[0][0]):
            extremes = {0, len(column) - 1}
            extremes |= {pick(range(len(column)), key=lambda at: column[at][1]) for pick in (min, max)}
            kept += [column[at] for at in sorted(extremes)]
            column = []
        column.append(one)
    return kept


def _labels(
    picture: Element, lines: Sequence[LawLine], told: Sequence[tuple[str, str]], frame: Frame, look: Look
) -> None:
    """Each law's name and last weight at the end of its line, moved apart where they would meet."""
    size, small = (12, 10.5) if look.is_narrow else (13, 11)
    two = (frame.bottom - frame.top) / len(lines) >= 2.3 * size
    room, height = look.width - frame.gutter - 2, size + (small + 6 if two else 3)
    ends = [next((one for one in reversed(law.points) if one), (frame.right, frame.bottom, True)) for law in lines]
    middles = apart([end[1] for end in ends], height, frame.top, frame.bottom)
    held = group(picture, "labels")
    for law, (text, below), end, middle in zip(lines, told, ends, middles, strict=True):
        made = group(held, "label", data_law=law.name)
        line(made, end[0] + 2, end[1], frame.gutter - 4, middle, law.colour, class_="leader", stroke_width=1)
        base = middle - height / 2 + size
        write(made, cut(text, room, size, bold=True), frame.gutter, base, size, law.colour, bold=True)
        if two:
            told_small = cut(below, room, small)
            write(made, told_small, frame.gutter, base + small + 2, small, look.colours.pale, class_="small")


def apart(wanted: Sequence[float], height: float, low: float, high: float) -> list[float]:
    """Middles of things of one height, as near to where they are wanted as may be without meeting, between two bounds.

    Where they have no room together they stand evenly.
    """
    count = len(wanted)
    height = min(height, (high - low) / max(count, 1))
    order = sorted(range(count), key=lambda at: (wanted[at], at))
    blocks: list[tuple[float, int]] = []  # sum of the wanted upper ends, and how many
    for place, at in enumerate(order):
        blocks.append((wanted[at] - height * place, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, members = blocks.pop()
            blocks[-1] = (blocks[-1][0] + total, blocks[-1][1] + members)
    least, most = low + height / 2, high - height / 2 - height * (count - 1)
    middles = [0.0] * count
    place = 0
    for total, members in blocks:
        begin = min(max(total / members, least), most)
        for _ in range(members):
            middles[order[place]] = begin + height * place
            place += 1
    return middles
