"""What touched a memory, under its curves: a lane for each kind of event, marks on the axis of time, dense ones as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from api.pictures.frame import Frame, spelled_instant
from api.pictures.kinds import fill_of, kind_of, shape_of
from api.pictures.look import Look
from api.pictures.reason_words import chinese_reason
from api.pictures.svg import add, group, line, number, put, write
from api.pictures.text import cut, width
from api.pictures.ticks import instant_name
from api.pictures.words import PictureWords

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
        made = group(lane, "mark", _title(first, look, words), **told)
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


def _title(event: Mapping[str, Any], look: Look, words: PictureWords) -> str:
    at = instant_name(datetime.fromisoformat(event["time"]), look.language)
    lines = [words.mark_title.format(words.kind(kind_of(event)), at, event["event"], event.get("position") or "?")]
    if reason := event.get("reason"):
        lines.append(chinese_reason(str(reason)) if look.language == "zh" else str(reason))
    for law, jump in (event.get("weights") or {}).items():
        before, after = (("–" if jump[name] is None else f"{jump[name]:.3f}") for name in ("before", "after"))
        same = words.weights_then.format(words.law(law), after)
        lines.append(same if before == after else words.changes.format(words.law(law), before, after))
    return "\n".join(lines)
