"""Curves as SVG: the figures are those of JSON, every part says what it is, and nothing in it can do anything."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramlog_server.api.pictures.curves import curves_picture
from engramlog_server.api.pictures.svg import COLOURS, Look, checked_look, written
from engramlog_server.events.errors import InputError
from tests.drawn import HOSTILE, START, SVG, all_of, box_of, comparison_of, plot_of, points_of, read, texts_of, title_of
from tests.rows import each_row

SIZES = [(1200, 700), (390, 500), (320, 240), (2400, 1600)]
ALLOWED = {"svg", "title", "desc", "g", "rect", "text", "line", "path", "circle"}


def drawn(comparison: dict[str, Any], **look: Any) -> Any:
    return read(written(curves_picture(comparison, Look(**look))))


def event(day: float, decision: str | None = "reinforce", number: int = 0, **more: Any) -> dict[str, Any]:
    at = (START + timedelta(days=day)).isoformat()
    return {"time": at, "event": "MemoryMentioned", "decision": decision, "position": f"3:{number}", **more}


def shown_instant(picture: Any, x: float) -> datetime:
    left, _, wide, _ = plot_of(picture)
    start, end = (datetime.fromisoformat(picture.get(f"data-x-{name}")) for name in ("from", "to"))
    return start + (x - left) / wide * (end - start)


def shown_weight(picture: Any, y: float) -> float:
    _, top, _, high = plot_of(picture)
    low, most = float(picture.get("data-y-from")), float(picture.get("data-y-to"))
    return most - (y - top) / high * (most - low)


@each_row("size", SIZES)
def test_points_of_the_curves_mapped_back_are_the_figures_of_json(size: tuple[int, int]) -> None:
    told = comparison_of()
    picture = drawn(told, width=size[0], height=size[1])
    for law in all_of(picture, "law"):
        weights = told["laws"][law.get("data-law")]["weights"]
        (path,) = law.iter(f"{SVG}path")
        wanted = [
            (datetime.fromisoformat(at), weight) for at, weight in zip(told["times"], weights, strict=True) if weight
        ]
        found = points_of(path)
        assert len(found) == len(wanted)
        for (x, y), (at, weight) in zip(found, wanted, strict=True):
            assert abs(shown_instant(picture, x) - at) < timedelta(hours=3)
            assert shown_weight(picture, y) == pytest.approx(weight, abs=0.005)


def test_thresholds_and_last_weights_are_told_in_figures() -> None:
    picture = drawn(comparison_of())
    thresholds = {one.get("data-law"): one for one in all_of(picture, "threshold")}
    assert {name: one.get("data-weight") for name, one in thresholds.items()} == {"weighted": "0.3", "tiered": "0.2"}
    (line,) = thresholds["weighted"].iter(f"{SVG}line")
    assert shown_weight(picture, float(line.get("y1") or 0)) == pytest.approx(0.3, abs=0.005)
    assert {f"weighted {0.98**99:.2f}", "normal from 0.3", "coffee in the morning"} <= texts_of(picture)
    assert "weighted: 0.135 at the end; normal mode from 0.3" in [title_of(one) for one in all_of(picture, "law")]


def test_a_curve_is_thin_where_normal_mode_withholds_it() -> None:
    told = comparison_of()
    told["laws"]["weighted"]["shown"] = [day < 40 for day in range(100)]
    picture = drawn(told)
    law = next(one for one in all_of(picture, "law") if one.get("data-law") == "weighted")
    thick, thin = all_of(law, "shown"), all_of(law, "withheld")
    assert [len(points_of(one)) for one in (*thick, *thin)] == [41, 60]
    assert points_of(thick[0])[-1] == points_of(thin[0])[0]
    assert float(thick[0].get("stroke-width") or 0) > float(thin[0].get("stroke-width") or 0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7), st.sampled_from(SIZES))
def test_labels_at_the_ends_of_lines_never_meet(ends: list[float], size: tuple[int, int]) -> None:
    laws = {f"law {n}": {"threshold": 0.3, "weights": [0.9] * 99 + [end]} for n, end in enumerate(ends)}
    picture = drawn(comparison_of(laws=laws), width=size[0], height=size[1])
    firsts = [box_of(next(one.iter(f"{SVG}text"))) for one in all_of(picture, "label")]
    if size != (320, 240):
        assert not any(one.meets(other) for one, other in combinations(firsts, 2))
    assert all(box.right <= size[0] and box.bottom <= size[1] for box in firsts)


def test_an_event_is_a_mark_that_says_what_when_and_why() -> None:
    jump = {"weighted": {"before": 0.5, "after": 1.25}, "tiered": {"before": None, "after": None}}
    told = comparison_of(events=[event(30, "negate", 7, reason="it is <no> more so", weights=jump)])
    picture = drawn(told)
    (mark,) = all_of(picture, "mark")
    assert {name: mark.get(f"data-{name}") for name in ("kind", "event", "position", "count")} == {
        "kind": "negate",
        "event": "MemoryMentioned",
        "position": "3:7",
        "count": "1",
    }
    assert abs(shown_instant(picture, float(mark.get("data-x") or 0)) - (START + timedelta(days=30))) < timedelta(
        hours=1
    )
    assert title_of(mark).split("\n") == [
        "negate, 2 Apr 2025 08:00 UTC",
        "MemoryMentioned at 3:7",
        "it is <no> more so",
        "weighted: 0.500 → 1.250",
        "tiered: –",
    ]


@given(st.lists(st.floats(0, 99), max_size=60), st.sampled_from(SIZES))
def test_every_event_is_in_one_mark_and_no_two_marks_meet(days: list[float], size: tuple[int, int]) -> None:
    events = [event(day, "access", number) for number, day in enumerate(sorted(days))]
    picture = drawn(comparison_of(events=events), width=size[0], height=size[1])
    marks = all_of(picture, "mark")
    told = [one for mark in marks for one in (mark.get("data-position") or "").split()]
    assert told == [one["position"] for one in events]
    places = [float(mark.get("data-x") or 0) for mark in marks]
    assert all(b - a > 11 for a, b in pairwise(places))
    numbers = [box_of(one) for mark in marks for one in mark.iter(f"{SVG}text")]
    assert all(box.right <= size[0] for box in numbers)
    assert not any(box.left < x - 5.5 < box.right for box in numbers for x in places)


@each_row(
    ("days", "texts"),
    [
        (0.01, {"08:05", "08:10", "3 Mar 2025"}),
        (2, {"12:00", "18:00", "4 Mar 2025"}),
        (20, {"6 Mar", "8 Mar", "2025"}),
        (300, {"May", "Jul", "2025"}),
        (4000, {"2026", "2030"}),
    ],
)
def test_ticks_are_at_round_instants_by_the_length_of_the_span(days: float, texts: set[str]) -> None:
    times = [(START + timedelta(days=days * part / 10)).isoformat() for part in range(11)]
    laws = {"weighted": {"threshold": 0.3, "weights": [0.5] * 11}}
    picture = drawn(comparison_of(times=times, laws=laws, events=[]))
    ticks = [one for axis in all_of(picture, "times") for one in all_of(axis, "tick")]
    written_ones = {"".join(text.itertext()) for one in ticks for text in one.iter(f"{SVG}text")}
    assert texts <= written_ones
    assert 2 <= len(ticks) <= 16
    boxes = [[box_of(text) for text in one.iter(f"{SVG}text")][:1] for one in ticks]
    assert not any(one[0].meets(other[0]) for one, other in combinations(boxes, 2))


@example(datetime(2000, 1, 6, 0, 0, 0, 1), 5.5, "zh", SIZES[0])
@example(datetime(2000, 1, 6, 0, 0, 0, 1), 5.5, "zh", SIZES[1])
@given(
    st.datetimes(datetime(1970, 1, 2), datetime(2199, 1, 1)),
    st.floats(1e-6, 80_000),
    st.sampled_from(["en", "zh"]),
    st.sampled_from(SIZES[:2]),
)
def test_any_span_has_ticks_that_do_not_meet(
    start: datetime, days: float, language: str, size: tuple[int, int]
) -> None:
    begin = start.replace(tzinfo=START.tzinfo)
    times = [(begin + timedelta(days=days * part / 4)).isoformat() for part in range(5)]
    laws = {"weighted": {"threshold": 0.3, "weights": [0.5] * 5}}
    picture = drawn(comparison_of(times=times, laws=laws, events=[]), width=size[0], height=size[1], language=language)
    ticks = [one for axis in all_of(picture, "times") for one in all_of(axis, "tick")]
    assert 1 <= len(ticks) <= 20
    rows: dict[str, list[Any]] = {}
    for one in ticks:
        for text in one.iter(f"{SVG}text"):
            rows.setdefault(text.get("y") or "", []).append(box_of(text))
    if days > 1:
        for boxes in rows.values():
            assert not any(one.meets(other) for one, other in combinations(boxes, 2))
    assert all(box.left >= 0 and box.right <= size[0] for boxes in rows.values() for box in boxes)


@each_row("text", HOSTILE)
def test_hostile_texts_are_texts(text: str) -> None:
    told = comparison_of(title=text, events=[event(5, reason=text), event(6, text or None)], owner=text, id=text)
    for language in ("en", "zh"):
        picture = drawn(told, width=390, height=500, language=language)
        assert {one.tag.removeprefix(SVG) for one in picture.iter()} <= ALLOWED
        for one in picture.iter():
            assert not any(
                name == "style" or name == "id" or name.startswith("on") or "href" in name for name in one.attrib
            )
        for markdown_pieces in texts_of(picture):
            assert not any(char in markdown_pieces for char in "\u202e\u200b\x1b\x00\n")


@each_row("theme", COLOURS)
@each_row("language", ["en", "zh"])
def test_the_same_picture_in_every_theme_and_language(theme: str, language: str) -> None:
    picture = drawn(comparison_of(), theme=theme, language=language)
    assert (picture.get("data-theme"), picture.get("data-language")) == (theme, language)
    assert all_of(picture, "paper")[0].get("fill") == COLOURS[theme].paper
    assert (f"加权 {0.98**99:.2f}" if language == "zh" else f"weighted {0.98**99:.2f}") in texts_of(picture)
    assert [one.get("data-law") for one in all_of(picture, "law")] == ["weighted", "tiered"]
    assert picture.get("role") == "img"
    assert picture[0].tag == f"{SVG}title"
    assert picture[1].tag == f"{SVG}desc"


@each_row(
    "wrong",
    [{"width": 319}, {"width": 2401}, {"height": 239}, {"height": 1601}, {"language": "fr"}, {"theme": "sepia"}],
)
def test_another_look_is_refused_with_what_is_allowed(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"^{name}: got"):
        checked_look(**wrong)
