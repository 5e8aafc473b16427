"""Which turns are read, and from where: whatever became of their memories, each is read once and none is left out."""

from __future__ import annotations

from engramlog_server.events.catalogue import MemoryMerged, TurnsExtracted
from engramlog_server.projections.lifecycle.extraction import extractions, turns_heard, unread_turns
from engramlog_server.projections.lifecycle.judge.proposals import still_standing
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, deleted
from tests.given.views import viewed
from tests.unit.projections.lifecycle.judge.test_proposing import talk_of, turn


def view_of(*events: Told) -> OwnerView:
    return viewed(*events)


def read(up_to: str, turns: int = 1) -> Told:
    return Told(TurnsExtracted(up_to=up_to, turns=turns, by="rules"), actor="system")


def unread(view: OwnerView) -> list[str]:
    found = [one.turn.turn_id for one in unread_turns(view)]
    assert found == [one.turn.turn_id for one in turns_heard(view) if one.unread]
    return found


def merged(into: str, *sources: str) -> Told:
    return Told(MemoryMerged(sources=sources, into=into, summary="I like tea"), 1, "system")


def test_a_turn_that_a_job_merged_before_anybody_read_it_is_read_all_the_same() -> None:
    view = view_of(
        turn("I like tea", "t1"), turn("I like tea!", "t2"), turn("I play go", "t3"), merged("m", "t1", "t2")
    )
    assert unread(view) == ["t1", "t2", "t3"]
    assert (
        unread(view_of(turn("I like tea", "t1"), turn("I like tea!", "t2"), merged("m", "t1", "t2"), deleted("m", 6)))
        == []
    )


def test_a_mark_of_an_unknown_turn_has_all_read_once_more_under_marks_of_their_own() -> None:
    once = view_of(turn("I like tea", "t1"))
    twice = view_of(turn("I like tea", "t1"), read("t1"), read("elsewhere"))
    assert unread(twice) == ["t1"]
    marks = [extractions(view, 0)[-1] for view in (once, twice)]
    assert [one.action for one in marks] == ["read", "read"]
    assert marks[0].event_id("ada") != marks[1].event_id("ada")


def test_nothing_rests_on_a_turn_that_was_deleted_while_a_model_thought() -> None:
    view = view_of(turn("I like tea", "t1"), turn("I have a secret lover", "t2"))
    talk = talk_of(view)
    left = still_standing(talk, {"t1"}, frozenset())
    assert [one.turn_id for one in left.shown] == [one.turn.turn_id for one in left.unread] == ["t1"]
