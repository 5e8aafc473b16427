"""A view up to a ceiling, and one by a mode: what is left out is nowhere, in texts, numbers, words beside others or by its id."""

from __future__ import annotations

import orjson

from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery, detail, shown_by, up_to
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import at, compressed, created, deleted, merged, negated, rejected
from tests.given.views import asked, viewed

ADDRESS = "I live at 12 Rose Street, 10115 Berlin"


def ids(view: OwnerView) -> set[str]:
    return {one.id for one in view.columns}


def test_what_is_above_the_ceiling_is_not_there() -> None:
    view = viewed(*(created(f"I like garden number{level}", of=f"m{level}", sensitivity=level) for level in range(4)))

    for most in range(3):
        found = up_to(view, most)
        assert ids(found) == {f"m{level}" for level in range(most + 1)}
        answer = asked(found, "garden", limit=10)
        assert {one["id"] for one in answer["results"]} == ids(found)
        assert answer["withheld"] == []
        assert listing(ViewQuery(found, at(0), "debug"), 10, 0)["total"] == most + 1
    assert ids(view) == {"m0", "m1", "m2", "m3"}


def test_words_beside_a_memory_are_told_up_to_the_ceiling() -> None:
    view = viewed(
        created("I like the garden", of="m0", sensitivity=0),
        negated("m0", reason=ADDRESS, day=1),
    )
    for most, there in ((1, False), (2, True)):
        found = up_to(view, most)
        memory = found.get("m0")
        assert memory is not None
        told = orjson.dumps(detail(found, memory, at(2))).decode()
        assert ("Rose Street" in told) is there


def test_what_replaced_a_memory_takes_its_words_with_it() -> None:
    view = viewed(
        created("I like tea", of="old", sensitivity=0),
        created("I like mate number7", of="new", sensitivity=2),
        negated("old", correction="I like mate number7", replaced_by="new", day=1),
    )
    found = up_to(view, 1)
    memory = found.get("old")
    assert memory is not None

    (told,) = detail(found, memory, at(2))["correction_history"]

    assert told["new_preference"] is None
    assert told["reason"] is None


def test_what_is_more_sensitive_today_is_not_told_of_then() -> None:
    then = viewed(created("I like the garden", of="m", sensitivity=0), created("I like tea", of="n", sensitivity=0))
    today = viewed(created("I like the garden", of="m", sensitivity=2), created("I like tea", of="n", sensitivity=0))

    assert ids(up_to(then, 1, today)) == {"n"}


def test_by_a_mode_what_it_hides_has_no_id_and_the_rest_is_the_same_object() -> None:
    view = viewed(
        created("I like the garden", of="stands"),
        created("I like the river", of="gone"),
        deleted("gone", day=1),
        created("I like one", of="a"),
        created("I like two", of="b"),
        merged("a", "b", into="ab", summary="I like both", day=1),
    )
    normal, review, debug = (shown_by(view, at(2), mode) for mode in ("normal", "review", "debug"))

    told = [
        [name for name in ("stands", "gone", "a", "ab") if one.get(name) is not None] for one in (normal, review, debug)
    ]

    assert told == [["stands", "ab"], ["stands", "a", "ab"], ["stands", "gone", "a", "ab"]]
    assert normal.hidden() == {"gone", "a", "b"}
    assert normal.get("stands") is view.get("stands")
    assert normal.columns is view.columns
    assert len(normal) == len(view)


def test_what_is_looked_up_alone_is_hidden_as_among_all() -> None:
    events = [created(f"I like garden number{at}", of=f"m{at}", category="fact", confidence=0.2) for at in range(9)]
    told = [
        deleted("m1", day=1),
        negated("m2", day=1),
        merged("m3", "m4", into="ab", day=1),
        compressed("tag", of="m5", day=1),
    ]
    told += [rejected("I like garden number6", day=1), negated("m7", resolution="version_keep", day=1)]
    view = viewed(*events, *told)

    for mode in ("normal", "review", "debug"):
        for day in (2, 4_000):
            together = shown_by(view, at(day), mode).hidden()
            alone = {name for name in view.columns.ids if shown_by(view, at(day), mode).hides(name)}
            assert alone == together
            assert "m0" not in together
