"""What is known is found by words, triples and turns; kept level with a view, it is as if it were made anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import FactAsserted
from engramlog_server.projections.language.extraction.shape import StatedTriple
from engramlog_server.projections.lifecycle.judge.known import COMMON, LOOKED_AT, Candidates, KnownMemory
from engramlog_server.projections.lifecycle.judge.proposals import AROUND, said_around
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, created, deleted, folded, mentioned, negated, restored, revised
from tests.given.said import reply
from tests.rows import each_row
from tests.unit.projections.lifecycle.judge.test_proposing import talk_of, turn

LIKES = StatedTriple("User", "likes", "Tea", True)


def fact(of: str, day: float) -> Told:
    return Told(FactAsserted(subject="User", predicate="likes", object="tea", evidence=(of,)), day, "judge")


def told_more(of: str, day: float) -> Told:
    return revised("User likes tea a lot", of, day)


CHANGES = [deleted, restored, negated, mentioned, told_more, fact]


def found(view: OwnerView) -> list[object]:
    shelf = Candidates(view)
    denied = shelf.denied(LIKES, None)
    return [
        [(round(alike, 6), one.id, one.content) for alike, one in shelf.near("User likes green tea", None)],
        [one.id for one, _ in shelf.in_slot(StatedTriple("User", "likes", "gin"), None)],
        None if denied is None else denied.id,
        sorted(one.id for one in shelf.of_kind("fact")),
        sorted(shelf.contents_of("t1")),
    ]


@given(st.lists(st.tuples(st.sampled_from(CHANGES), st.sampled_from("abc")), max_size=8))
def test_an_index_that_followed_every_change_finds_what_a_new_one_finds(changes: list[tuple[object, str]]) -> None:
    begun = [
        created(f"User likes {one} tea", one, kind="fact", category="stable_preference", source="judge", source_turns=("t1",))
        for one in "abc"
    ]  # fmt: skip
    events = [*begun, *(change(of, 2 + at) for at, (change, of) in enumerate(changes))]  # type: ignore[operator]
    first = folded(*begun)
    view = OwnerView("ada", first.owner, first.memories.values())
    found(view)
    for end in range(len(begun), len(events) + 1):
        now = folded(*events[:end])
        view.follow(now.owner, now.memories.values())
    assert found(view) == found(OwnerView.of_history("ada", folded(*events)))


@each_row("size", [30, COMMON - 1])
def test_of_a_large_owner_no_more_memories_are_read_than_are_compared(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = OwnerView.of_history("ada", folded(*(created(f"User likes tea {n}", f"m{n}") for n in range(size))))
    read: list[str] = []
    whole = KnownMemory.of

    def of(memory: object) -> KnownMemory:
        read.append("read")
        return whole(memory)  # type: ignore[arg-type]

    monkeypatch.setattr(KnownMemory, "of", of)
    Candidates(view).near("User likes tea", None)
    assert len(read) == LOOKED_AT


def test_of_all_that_was_said_only_what_lies_around_the_turns_is_looked_at() -> None:
    view = OwnerView.of_history("ada", folded(turn("I like tea")))
    unread = talk_of(view).unread
    said = [reply(n, f"r{n}") for n in range(10 * AROUND)]
    near = said_around(said, {"t1": 5 * AROUND}, unread)
    assert (near[0].seq, len(near)) == (4 * AROUND, 2 * AROUND)
    assert len(said_around(said, {}, unread)) <= 2 * AROUND
