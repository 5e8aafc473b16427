"""The weights of one memory by every law as a picture: curves over one axis of time, thresholds, and what touched it below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from math import cos, pi, sin
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from engramlog_server.api.pictures.axes import (
    Frame,
    draw_time_axis,
    draw_weight_axis,
    frame_of,
    instant_name,
    spelled_instant,
)
from engramlog_server.api.pictures.look import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, YELLOW, Look
from engramlog_server.api.pictures.svg import add, group, line, number, path_of, put, root, write
from engramlog_server.api.pictures.text import broken, cut, shown, width
from engramlog_server.api.pictures.words import WORDS, PictureWords, chinese_reason
from engramlog_server.events.errors import refused

Points = tuple[tuple[float, float], ...]


def _polygon(corners: int, turn: float = -0.25, inner: float = 1.0) -> Points:
    """Corners on a circle, from the upper one on; every second one nearer to the middle where `inner` says so."""
    angles = [2 * pi * (corner / corners + turn) for corner in range(corners)]
    return tuple(
        (cos(one) * (inner if number % 2 else 1.0), sin(one) * (inner if number % 2 else 1.0))
        for number, one in enumerate(angles)
    )


def _cross(turn: float) -> Points:
    """A cross with arms as wide as a third of it."""
    arm = ((1.0, -0.35), (1.0, 0.35), (0.35, 0.35), (0.35, 1.0))
    corners = [
        (x * cos(a) - y * sin(a), x * sin(a) + y * cos(a)) for a in (0, pi / 2, pi, 1.5 * pi) for x, y in arm[:3]
    ]
    return tuple((x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn)) for x, y in corners)


_UP, _DOWN, _LEFT = _polygon(3), _polygon(3, 0.25), _polygon(3, 0.5)
_DIAMOND, _SQUARE, _PENTAGON, _HEXAGON = _polygon(4), _polygon(4, 0.125), _polygon(5), _polygon(6)
_STAR, _DISC, _PLUS, _TIMES = _polygon(10, inner=0.45), _polygon(16), _cross(0), _cross(pi / 4)

DECISIONS: Mapping[str, tuple[str, Points]] = {
    "create": (GREEN, _DISC),
    "mention": (BLUE, _UP),
    "reinforce": (BLUE, _UP),
    "access": (GREY, _DIAMOND),
    "negate": (RED, _DOWN),
    "reaffirm": (SKY, _PLUS),
    "revise": (ORANGE, _HEXAGON),
    "merge": (PINK, _DIAMOND),
    "compress": (PINK, _SQUARE),
    "promote": (ORANGE, _STAR),
    "restore": (GREEN, _LEFT),
    "delete": (RED, _TIMES),
    "purge": (GREY, _TIMES),
    "erase": (GREY, _TIMES),
}
"""Fill and shape of a kind of decision; others are yellow pentagons."""
_OTHER = (YELLOW, _PENTAGON)


def kind_of(event: Mapping[str, Any]) -> str:
    """The decision of an event, else its type."""
    return str(event.get("decision") or event["event"])


def lane_order(kinds: Iterable[str]) -> list[str]:
    """The different kinds, in the order of DECISIONS, others last."""
    known = list(DECISIONS)
    return sorted(set(kinds), key=lambda kind: (known.index(kind) if kind in DECISIONS else len(known), kind))


def fill_of(kind: str) -> str:
    """The colour of a kind."""
    return DECISIONS.get(kind, _OTHER)[0]


def shape_of(kind: str, x: float, y: float, radius: float) -> str:
    """The path of a kind's shape around a point."""
    return path_of((x + radius * dx, y + radius * dy) for dx, dy in DECISIONS.get(kind, _OTHER)[1]) + "Z"


Events = Sequence[Mapping[str, Any]]
_RADIUS, _CLOSE, _COUNT = 5.5, 12.0, 10
MOST_HAIRS = 30
"""Events of a kind that are drawn through the curves too."""
OTHERS = "others"
"""The lane of kinds that have no room for one of their own."""


class Bunch(NamedTuple):
    """Events of a lane that stand at one place."""

    x: float
    events: Events


def draw_hairs(picture: Element, lanes: Mapping[str, Events], frame: Frame) -> None:
    """A faint upright through the curves at each event, unless a kind has so many that they would hide them."""
    held = group(picture, "hairs")
    for kind, events in lanes.items():
        if len(events) > MOST_HAIRS or kind == "access":
            continue
        for at in sorted({datetime.fromisoformat(one["time"]) for one in events}):
            x = frame.x(at)
            drawn = line(held, x, frame.top, x, frame.floor, fill_of(kind), class_="hair", stroke_width=0.8)
            put(drawn, stroke_opacity=0.55, data_at=spelled_instant(at), data_kind=kind)


def draw_lanes(picture: Element, lanes: Mapping[str, Events], frame: Frame, look: Look, words: PictureWords) -> None:
    """The lanes in their order; the last holds all that have no room for one of their own."""
    rows = _rows(lanes, frame.lanes)
    held = group(picture, "events", data_lanes=" ".join(rows))
    for place, (kind, events) in enumerate(rows.items()):
        y = frame.bottom + 8 + frame.row * (place + 0.5)
        lane = group(held, "lane", data_kind=kind, data_count=str(len(events)))
        line(lane, frame.left, y, frame.right, y, look.colours.grid, stroke_width=1)
        name = words.others if kind == OTHERS else words.kind(kind)
        size = 11 if look.is_narrow else 12
        text = cut(f"{name} {len(events):,}", look.width - frame.gutter - 2, size)
        write(lane, text, frame.gutter, y + 4, size, look.colours.ink)
        for bunch in bunched(events, frame):
            _mark(lane, bunch, y, look, words)


def _rows(lanes: Mapping[str, Events], most: int) -> dict[str, Events]:
    if len(lanes) <= most:
        return dict(lanes)
    kinds = list(lanes)
    rest = sorted((one for kind in kinds[most - 1 :] for one in lanes[kind]), key=lambda one: str(one["time"]))
    return {kind: lanes[kind] for kind in kinds[: most - 1]} | {OTHERS: rest}


def bunched(events: Events, frame: Frame) -> list[Bunch]:
    """Events that would stand on each other as one mark with their number, which needs room of its own."""
    places = sorted(((frame.x(datetime.fromisoformat(one["time"])), place) for place, one in enumerate(events)))
    bunches: list[Bunch] = []
    at = 0
    while at < len(places):
        begin, end = places[at][0], at + 1
        while end < len(places) and places[end][0] - begin < _CLOSE + (_room(end - at) if end - at > 1 else 0):
            end += 1
        members = [events[place] for _, place in places[at:end]]
        most = frame.right + 10 - _room(len(members))
        bunches.append(Bunch(min(begin, most) if len(members) > 1 else begin, members))
        at = end
    return bunches


def _room(count: int) -> float:
    """What the number of a bunch takes beside its mark."""
    return width(f"{count:,}", _COUNT) + 4


def _mark(lane: Element, bunch: Bunch, y: float, look: Look, words: PictureWords) -> None:
    first, last = bunch.events[0], bunch.events[-1]
    kinds = sorted({kind_of(one) for one in bunch.events})
    told = {
        "data_kind": " ".join(kinds),
        "data_event": " ".join(sorted({str(one["event"]) for one in bunch.events})),
        "data_position": first.get("position"),
        "data_at": str(first["time"]),
        "data_count": str(len(bunch.events)),
        "data_x": number(bunch.x),
        "data_y": number(y),
    }
    if len(bunch.events) == 1:
        made = group(lane, "mark", _mark_title(first, look, words), **told)
    else:
        span = [instant_name(datetime.fromisoformat(one["time"]), look.language) for one in (first, last)]
        title = words.marks_title.format(f"{len(bunch.events):,}", ", ".join(map(words.kind, kinds)), *span)
        told |= {
            "data_until": str(last["time"]),
            "data_positions": " ".join(str(one.get("position") or "") for one in bunch.events),
        }
        made = group(lane, "mark group", title, **told)
    shape = shape_of(kinds[0], bunch.x, y, _RADIUS)
    add(made, "path", d=shape, fill=fill_of(kinds[0]), stroke=look.colours.ink, stroke_width=0.8)
    if len(bunch.events) > 1:
        write(made, f"{len(bunch.events):,}", bunch.x + _RADIUS + 2, y + 3.5, _COUNT, look.colours.ink)


def _mark_title(event: Mapping[str, Any], look: Look, words: PictureWords) -> str:
    at = instant_name(datetime.fromisoformat(event["time"]), look.language)
    lines = [words.mark_title.format(words.kind(kind_of(event)), at, event["event"], event.get("position") or "?")]
    if reason := event.get("reason"):
        lines.append(chinese_reason(str(reason)) if look.language == "zh" else str(reason))
    for law, jump in (event.get("weights") or {}).items():
        before, after = (("–" if jump[name] is None else f"{jump[name]:.3f}") for name in ("before", "after"))
        same = words.weights_then.format(words.law(law), after)
        lines.append(same if before == after else words.changes.format(words.law(law), before, after))
    return "\n".join(lines)


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
