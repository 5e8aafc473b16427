"""The weights of one memory by every law as a picture: curves over one axis of time, thresholds, and what touched it below.

Ticks are at round instants and weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from engramlog_server.api.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    SKY,
    YELLOW,
    Look,
    add,
    group,
    line,
    number,
    path_of,
    put,
    root,
    write,
)
from engramlog_server.api.pictures.text import broken, cut, shown, width
from engramlog_server.api.pictures.words import PictureWords, chinese_reason
from engramlog_server.events.errors import refused

Comparison = Mapping[str, Any]
Events = Sequence[Mapping[str, Any]]
DECISIONS: Mapping[str, str] = {
    "create": GREEN,
    "mention": BLUE,
    "reinforce": BLUE,
    "access": GREY,
    "negate": RED,
    "reaffirm": SKY,
    "revise": ORANGE,
    "merge": PINK,
    "compress": PINK,
    "promote": ORANGE,
    "restore": GREEN,
    "delete": RED,
    "purge": GREY,
    "erase": GREY,
}
"""The colour of a kind of decision, in the order of their lanes; others are yellow, and stand last. Each lane has its name."""
OTHERS = "others"
"""The lane of kinds that have no room for one of their own."""
DASHES = (None, "9 4", "2 4", "11 4 2 4")
"""Of the laws' lines, in their order: colour is not the only sign."""
_DOTS = "2 8"
"""Of thresholds, each law's beginning elsewhere: those of two laws may be one."""
_RADIUS, _CLOSE, _COUNT = 5.5, 12.0, 10
MOST_HAIRS = 30
"""Events of a kind that are drawn through the curves too."""
_HALF_A_DAY = timedelta(hours=12)


class LawLine(NamedTuple):
    """One law's curve on the paper."""

    name: str
    told: str
    """In figures: its last weight, and from where on normal mode shows it."""
    threshold: float
    points: list[tuple[float, float, bool] | None]
    """Places and whether normal mode shows it there; None where there is no weight."""
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
    words, lanes = PictureWords(look.language), _lanes(comparison["events"])
    counts = [f"{words.kind(kind)} {len(events):,}" for kind, events in lanes.items()]
    told, titles = _labels_at_ends(words, laws, look), _title_lines(comparison, look, words)
    texts, lower = [*(one for one, _ in told), *counts], (len(titles) - 1) * 18
    frame = frame_of(look, _span(comparison, times), _range(laws), texts, len(lanes), lower)
    lines = _lines(laws, times, frame, look, words)
    span = [instant_name(one, look.language) for one in (frame.start, frame.end)]
    happened = words.told("events_told", ", ".join(counts)) if counts else words.told("no_events")
    picture = root(
        "compare",
        look,
        f"{words.told('by_every_law')}: {_title(comparison, words)}",
        f"{words.told('curves_told', *span, '; '.join(one.told for one in lines))} {happened}",
        data_owner=comparison.get("owner"),
        data_id=comparison.get("id"),
        data_position=comparison.get("position"),
        data_laws=" ".join(laws),
        **frame.scales(),
    )
    _headings(picture, titles, _below_title(comparison, span, look, words), look, frame)
    draw_weight_axis(picture, frame, look)
    draw_time_axis(picture, frame, look)
    _thresholds(picture, lines, frame, words)
    _hairs(picture, lanes, frame)
    _curves(picture, lines)
    _labels(picture, lines, told, frame, look)
    _draw_lanes(picture, lanes, frame, look, words)
    return picture


def _lanes(events: Events) -> dict[str, list[Mapping[str, Any]]]:
    """The events by their kinds, in the order of DECISIONS, others last."""
    known, found = list(DECISIONS), dict[str, list[Mapping[str, Any]]]()
    for one in events:
        found.setdefault(_kind_of(one), []).append(one)
    place = {kind: known.index(kind) if kind in DECISIONS else len(known) for kind in found}
    return {kind: found[kind] for kind in sorted(found, key=lambda kind: (place[kind], kind))}


def _kind_of(event: Mapping[str, Any]) -> str:
    """The decision of an event, else its type."""
    return str(event.get("decision") or event["event"])


def _at(event: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(event["time"])


def _span(comparison: Comparison, times: Sequence[datetime]) -> tuple[datetime, datetime]:
    """The window, with all that is told within; half a day on each side where it is one instant."""
    instants = [*times, *map(_at, comparison["events"])]
    start, end = min(instants), max(instants)
    return (start, end) if start < end else (start - _HALF_A_DAY, end + _HALF_A_DAY)


def _range(laws: Mapping[str, Any]) -> tuple[float, float]:
    weights = [one for law in laws.values() for one in (*law["weights"], law["threshold"]) if one is not None]
    return min(0.0, *weights), max(1.0, *weights)


def _labels_at_ends(words: PictureWords, laws: Mapping[str, Any], look: Look) -> list[tuple[str, str]]:
    """What stands at the end of each line: the law with its last weight, and from where on normal mode shows it."""
    told = []
    for name, law in laws.items():
        last = "–" if law["weights"][-1] is None else f"{law['weights'][-1]:.2f}"
        least = f"{law['threshold']:g}"
        narrow = words.law(name), f"{last} (≥ {least})"
        told.append(narrow if look.is_narrow else (f"{words.law(name)} {last}", words.told("normal_from", least)))
    return told


def _lines(
    laws: Mapping[str, Any], times: Sequence[datetime], frame: Frame, look: Look, words: PictureWords
) -> list[LawLine]:
    lines = []
    for place, (name, law) in enumerate(laws.items()):
        seen = law.get("shown") or [True] * len(times)
        points = [
            None if weight is None else (frame.x(at), frame.y(weight), bool(shows))
            for at, weight, shows in zip(times, law["weights"], seen, strict=True)
        ]
        last = words.told("not_there") if law["weights"][-1] is None else f"{law['weights'][-1]:.3f}"
        told = words.told("law_title", words.law(name), last, f"{law['threshold']:g}")
        colours = look.colours.laws
        style = colours[place % len(colours)], DASHES[place % len(DASHES)]
        lines.append(LawLine(str(name), told, float(law["threshold"]), points, *style))
    return lines


def _title(comparison: Comparison, words: PictureWords) -> str:
    return shown(str(comparison.get("title") or "")) or words.told("by_every_law")


def _title_lines(comparison: Comparison, look: Look, words: PictureWords) -> list[str]:
    size, edge = (15, 12) if look.is_narrow else (17, 20)
    return broken(_title(comparison, words), look.width - 2 * edge, size, 2 if look.is_narrow else 1, bold=True)


def _below_title(comparison: Comparison, span: Sequence[str], look: Look, words: PictureWords) -> list[str]:
    parts = [words.told("span", *span)]
    parts += [words.told(name, comparison[name]) for name in ("as_of", "known") if comparison.get(name)]
    if look.is_narrow:
        return parts
    some_thin = any(not all(law.get("shown") or (True,)) for law in comparison["laws"].values())
    return [words.told("by_every_law"), *parts, *([words.told("thin")] if some_thin else [])]


def _headings(picture: Element, titles: Sequence[str], parts: Sequence[str], look: Look, frame: Frame) -> None:
    size, below = (15, 11) if look.is_narrow else (17, 12)
    for place, title in enumerate(titles):
        y = 18 + size / 2 + (size + 3) * place
        write(picture, title, frame.edge, y, size, look.colours.ink, bold=True, class_="heading")
    told = cut(" · ".join(parts), look.width - 2 * frame.edge, below)
    write(picture, told, frame.edge, y + 12 + size / 2, below, look.colours.pale, class_="subheading")


def _thresholds(picture: Element, lines: Sequence[LawLine], frame: Frame, words: PictureWords) -> None:
    held = group(picture, "thresholds")
    for place, one in enumerate(lines):
        least, y = f"{one.threshold:g}", frame.y(one.threshold)
        title = f"{words.law(one.name)}: {words.told('normal_from', least)}"
        made = group(held, "threshold", title, data_law=one.name, data_weight=least)
        drawn = line(made, frame.left, y, frame.right, y, one.colour, stroke_width=0.8)
        put(drawn, stroke_dasharray=_DOTS, stroke_dashoffset=-2.5 * place)


def _hairs(picture: Element, lanes: Mapping[str, Events], frame: Frame) -> None:
    """A faint upright through the curves at each event, unless a kind has so many that they would hide them."""
    held = group(picture, "hairs")
    for kind, events in lanes.items():
        if len(events) <= MOST_HAIRS and kind != "access":
            for x in sorted({frame.x(_at(one)) for one in events}):
                drawn = line(held, x, frame.top, x, frame.floor, DECISIONS.get(kind, YELLOW), stroke_width=0.8)
                put(drawn, stroke_opacity=0.55)


def _curves(picture: Element, lines: Sequence[LawLine]) -> None:
    held = group(picture, "laws")
    for one in lines:
        made = group(held, "law", one.told, data_law=one.name, fill="none", stroke=one.colour, stroke_linejoin="round")
        for seen, points in _runs(one.points):
            style = "line shown" if seen else "line withheld"
            if len(points) == 1:
                add(made, "circle", class_=style, cx=points[0][0], cy=points[0][1], r=2.5, fill=one.colour)
            else:
                wide = 2.4 if seen else 1.2
                add(made, "path", class_=style, d=path_of(points), stroke_width=wide, stroke_dasharray=one.dash)


def _runs(points: Sequence[tuple[float, float, bool] | None]) -> list[tuple[bool, list[tuple[float, float]]]]:
    """Pieces of a curve that are drawn alike; a piece ends in the point where the next begins."""
    runs: list[tuple[bool, list[tuple[float, float]]]] = []
    before: tuple[float, float, bool] | None = None
    for one in points:
        if one is not None:
            x, y, seen = one
            if before is not None:
                runs[-1][1].append((x, y))
            if before is None or before[2] != seen:
                runs.append((seen, [(x, y)]))
        before = one
    return runs


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
        line(made, end[0] + 2, end[1], frame.gutter - 4, middle, law.colour, stroke_width=1)
        base = middle - height / 2 + size
        write(made, cut(text, room, size, bold=True), frame.gutter, base, size, law.colour, bold=True)
        if two:
            write(made, cut(below, room, small), frame.gutter, base + small + 2, small, look.colours.pale)


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
    begins = [min(max(total / members, least), most) for total, members in blocks for _ in range(members)]
    found = {at: begin + height * place for place, (at, begin) in enumerate(zip(order, begins, strict=True))}
    return [found[at] for at in range(count)]


def _draw_lanes(picture: Element, lanes: Mapping[str, Events], frame: Frame, look: Look, words: PictureWords) -> None:
    """The lanes in their order; the last holds all that have no room for one of their own."""
    rows = dict(lanes)
    if len(rows) > frame.lanes:
        kinds = list(rows)[frame.lanes - 1 :]
        rows[OTHERS] = sorted((one for kind in kinds for one in rows.pop(kind)), key=lambda one: str(one["time"]))
    held = group(picture, "events")
    for place, (kind, events) in enumerate(rows.items()):
        y = frame.bottom + 8 + frame.row * (place + 0.5)
        lane = group(held, "lane", data_kind=kind, data_count=str(len(events)))
        line(lane, frame.left, y, frame.right, y, look.colours.grid, stroke_width=1)
        name = words.told("others") if kind == OTHERS else words.kind(kind)
        size = 11 if look.is_narrow else 12
        text = cut(f"{name} {len(events):,}", look.width - frame.gutter - 2, size)
        write(lane, text, frame.gutter, y + 4, size, look.colours.ink)
        for x, bunch in bunched(events, frame):
            _mark(lane, x, y, bunch, look, words)


def bunched(events: Events, frame: Frame) -> list[tuple[float, Events]]:
    """Events that would stand on each other as one mark with their number, which needs room of its own; and where it stands."""
    places = sorted(((frame.x(_at(one)), place) for place, one in enumerate(events)))
    bunches: list[tuple[float, Events]] = []
    at = 0
    while at < len(places):
        begin, end = places[at][0], at + 1
        while end < len(places) and places[end][0] - begin < _CLOSE + (_room(end - at) if end - at > 1 else 0):
            end += 1
        members = [events[place] for _, place in places[at:end]]
        most = frame.right + 10 - _room(len(members))
        bunches.append((min(begin, most) if len(members) > 1 else begin, members))
        at = end
    return bunches


def _room(count: int) -> float:
    """What the number of a bunch takes beside its mark."""
    return width(f"{count:,}", _COUNT) + 4


def _mark(lane: Element, x: float, y: float, events: Events, look: Look, words: PictureWords) -> None:
    first, several = events[0], len(events) > 1
    kinds = sorted({_kind_of(one) for one in events})
    title = _mark_title(first, look, words)
    if several:
        span = [instant_name(_at(one), look.language) for one in (first, events[-1])]
        title = words.told("marks_title", f"{len(events):,}", ", ".join(map(words.kind, kinds)), *span)
    made = group(
        lane,
        "mark",
        title,
        data_kind=" ".join(kinds),
        data_event=" ".join(sorted({str(one["event"]) for one in events})),
        data_position=" ".join(str(one.get("position") or "") for one in events),
        data_at=spelled_instant(_at(first)),
        data_count=str(len(events)),
        data_x=number(x),
    )
    fill = DECISIONS.get(kinds[0], YELLOW)
    add(made, "circle", cx=x, cy=y, r=_RADIUS, fill=fill, stroke=look.colours.ink, stroke_width=0.8)
    if several:
        write(made, f"{len(events):,}", x + _RADIUS + 2, y + 3.5, _COUNT, look.colours.ink)


def _mark_title(event: Mapping[str, Any], look: Look, words: PictureWords) -> str:
    at = instant_name(_at(event), look.language)
    lines = [words.told("mark_title", words.kind(_kind_of(event)), at, event["event"], event.get("position") or "?")]
    if reason := event.get("reason"):
        lines.append(chinese_reason(str(reason)) if look.language == "zh" else str(reason))
    for law, jump in (event.get("weights") or {}).items():
        before, after = (("–" if jump[name] is None else f"{jump[name]:.3f}") for name in ("before", "after"))
        same = words.told("weights_then", words.law(law), after)
        lines.append(same if before == after else words.told("changes", words.law(law), before, after))
    return "\n".join(lines)


_DAY = timedelta(days=1)
_WEEKDAY = datetime(2024, 1, 1, tzinfo=UTC)
"""A Monday, from which days are counted."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SECONDS = (1, 2, 5, 15, 30, 60, 120, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600)
_STEPS: tuple[timedelta | int, ...] = (
    *(timedelta(seconds=one) for one in _SECONDS),
    *(1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000),
)
"""Between two ticks: up to two weeks as they are, beyond in months."""


class Tick(NamedTuple):
    """An instant, what is written there, and below it the larger unit where it begins."""

    at: datetime
    text: str
    below: str


def time_ticks(start: datetime, end: datetime, most: int, language: str) -> list[Tick]:
    """At most so many ticks from `start` to `end`, at round instants; both ends where the span is under two seconds."""
    span, most = end - start, max(most, 2)
    for step in _STEPS:
        about = step if isinstance(step, timedelta) else 31 * step * _DAY
        if span > about * (most + 1):
            continue
        found = list(_round_instants(start, end, step))
        if 2 <= len(found) <= most or (found and len(found) <= most and span >= _DAY):
            return _told(found, step, language)
    return [Tick(one, f"{one:%H:%M:%S.%f}", day_name(one, language)) for one in dict.fromkeys((start, end))]


def _round_instants(start: datetime, end: datetime, step: timedelta | int) -> Iterable[datetime]:
    if isinstance(step, timedelta):
        first = _WEEKDAY + ceil((start - _WEEKDAY) / step) * step
        return (first + place * step for place in range((end - first) // step + 1))
    begin = ceil((start.year * 12 + start.month - 1) / step) * step
    months = range(begin, end.year * 12 + end.month, step)
    found = (datetime(one // 12, one % 12 + 1, 1, tzinfo=UTC) for one in months)
    return (one for one in found if start <= one <= end)


def _told(found: list[datetime], step: timedelta | int, language: str) -> list[Tick]:
    """Each with the day below it where a day begins, or the year where a year does, and the first with what it is in."""
    ticks: list[Tick] = []
    before = ""
    is_time = isinstance(step, timedelta) and step < _DAY
    for at in found:
        text = _name(at, step, language)
        larger = day_name(at, language) if is_time else year_name(at, language)
        ticks.append(Tick(at, text, larger if larger not in (before, text) else ""))
        before = larger
    return ticks


def _name(at: datetime, step: timedelta | int, language: str) -> str:
    """An instant as a tick of such steps tells it."""
    if isinstance(step, timedelta):
        if step >= _DAY:
            return f"{at.month}月{at.day}日" if language == "zh" else f"{at.day} {_MONTHS[at.month - 1]}"
        return f"{at:%H:%M}" if step.seconds >= 60 else f"{at:%H:%M:%S}"
    if step >= 12:
        return year_name(at, language)
    return f"{at.month}月" if language == "zh" else _MONTHS[at.month - 1]


def year_name(at: datetime, language: str) -> str:
    """The year of an instant."""
    return f"{at.year}年" if language == "zh" else f"{at.year}"


def day_name(at: datetime, language: str) -> str:
    """The day of an instant."""
    if language == "zh":
        return f"{at.year}年{at.month}月{at.day}日"
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def instant_name(at: datetime, language: str) -> str:
    """An instant to the minute."""
    return f"{day_name(at, language)} {at:%H:%M}"


LETTERS = 11
"""Size of a tick's letters."""
_BELOW = 38
"""Height of the dates under the lanes."""


class Frame(NamedTuple):
    """A box in pixels, and what its sides stand for."""

    left: float
    top: float
    right: float
    bottom: float
    gutter: float
    """Left edge of the texts on the right."""
    edge: float
    start: datetime
    end: datetime
    low: float
    high: float
    step: float
    """Weight from tick to tick."""
    row: float
    """Height of a lane."""
    lanes: int

    def x(self, at: datetime) -> float:
        """The x coordinate of an instant."""
        return self.left + (at - self.start) / (self.end - self.start) * (self.right - self.left)

    def y(self, weight: float) -> float:
        """The y coordinate of a weight."""
        return self.bottom - (weight - self.low) / (self.high - self.low) * (self.bottom - self.top)

    @property
    def floor(self) -> float:
        """The y coordinate below the last lane."""
        return self.bottom + (8 + self.row * self.lanes if self.lanes else 0)

    def weight(self, weight: float) -> str:
        """A weight at a tick."""
        return f"{weight:.{max(0, -floor(log10(self.step) + 1e-9))}f}"

    def scales(self) -> dict[str, str]:
        """Attributes by which a page maps a pointer to an instant and a weight."""
        return {
            "data_plot": " ".join(map(number, (self.left, self.top, self.right - self.left, self.bottom - self.top))),
            "data_x_from": spelled_instant(self.start),
            "data_x_to": spelled_instant(self.end),
            "data_y_from": f"{self.low:g}",
            "data_y_to": f"{self.high:g}",
        }


def spelled_instant(at: datetime) -> str:
    """An instant in UTC as answers spell it."""
    return at.isoformat().replace("+00:00", "Z")


def frame_of(
    look: Look,
    span: tuple[datetime, datetime],
    weights: tuple[float, float],
    texts: Sequence[str],
    lanes: int,
    lower: float = 0.0,
) -> Frame:
    """The frame for a span of time and of weights; `texts` stand on the right, `lower` is what a longer title takes."""
    narrow = look.is_narrow
    edge, row = (12, 18) if narrow else (20, 20)
    top = (64 if narrow else 70) + lower
    lanes = min(lanes, max(int(0.32 * look.height / row), 1))  # lanes never take the curves' own room
    bottom = look.height - _BELOW - (8 + row * lanes if lanes else 0)
    beside = max((width(one, 12 if narrow else 13, bold=True) for one in texts), default=0.0)
    gutter = look.width - min(max(beside, 72 if narrow else 96) + 8, 0.34 * look.width)
    step = weight_step(weights[1] - weights[0], max(int((bottom - top) / 44), 2))
    low, high = floor(weights[0] / step + 1e-9) * step, ceil(weights[1] / step - 1e-9) * step
    found = Frame(0, top, gutter - 22, bottom, gutter, edge, *span, low, high, step, row, lanes)
    return found._replace(left=edge + 8 + max(width(found.weight(one), LETTERS) for one in (low, high)))


def weight_step(span: float, most: int) -> float:
    """The smallest round step (1, 2 or 5 times a power of ten) that divides a span into at most `most` parts."""
    raw = span / max(most, 1)
    power = 10.0 ** floor(log10(raw))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))


def draw_weight_axis(picture: Element, frame: Frame, look: Look) -> None:
    """Faint lines at round weights, and their figures on the left."""
    held = group(picture, "axis weights")
    for place in range(round((frame.high - frame.low) / frame.step) + 1):
        weight = frame.low + place * frame.step
        is_zero = abs(weight) < frame.step / 2
        tick, y = group(held, "tick"), frame.y(weight)
        line(tick, frame.left, y, frame.right, y, look.colours.rule if is_zero else look.colours.grid, stroke_width=1)
        text = frame.weight(0.0 if is_zero else weight)
        write(tick, text, frame.left - 8, y + 4, LETTERS, look.colours.pale, anchor="end")


def draw_time_axis(picture: Element, frame: Frame, look: Look) -> None:
    """Faint lines at round instants through curves and lanes, and dates below."""
    most = int((frame.right - frame.left) / (46 if look.is_narrow else 64))
    ticks = time_ticks(frame.start, frame.end, most, look.language)
    while most > 1 and not _apart(ticks, frame, look):
        most -= 1
        ticks = time_ticks(frame.start, frame.end, most, look.language)
    held = group(picture, "axis times")
    below = _that_fit(ticks, frame, look)
    for tick in ticks:
        x = frame.x(tick.at)
        made = group(held, "tick", data_at=spelled_instant(tick.at))
        line(made, x, frame.top, x, frame.floor + 4, look.colours.grid, stroke_width=1)
        for text, down in ((tick.text, 17), (tick.below if tick in below else "", 31)):
            if text:
                at = sum(_ends(x, text, look)) / 2
                write(made, text, at, frame.floor + down, LETTERS, look.colours.pale, anchor="middle")


def _ends(x: float, text: str, look: Look) -> tuple[float, float]:
    """Left and right end of a text centred at `x`, moved so that it is inside the picture."""
    half = width(text, LETTERS) / 2
    middle = min(max(x, half + 2), look.width - half - 2)
    return middle - half, middle + half


def _apart(ticks: Sequence[Tick], frame: Frame, look: Look) -> bool:
    """Whether no tick's text meets that of the next one."""
    ends = [_ends(frame.x(one.at), one.text, look) for one in ticks]
    return all(one[1] + 1 <= other[0] for one, other in pairwise(ends))


def _that_fit(ticks: Sequence[Tick], frame: Frame, look: Look) -> list[Tick]:
    """The ticks whose larger unit does not overlap that of the next tick."""
    fitting: list[Tick] = []
    free = float(look.width)
    for tick in reversed([one for one in ticks if one.below]):
        begin, end = _ends(frame.x(tick.at), tick.below, look)
        if end + 4 <= free:
            fitting.append(tick)
            free = begin
    return fitting
