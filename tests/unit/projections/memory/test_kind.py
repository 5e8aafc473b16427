"""What a memory is, decided once: whoever shows, judges, reviews or deletes it goes by the same answer."""

from __future__ import annotations

from functools import partial
from typing import Any

from engramlog_server.projections.lifecycle.extraction import TurnIndex
from engramlog_server.projections.lifecycle.judge.known import Candidates
from engramlog_server.projections.lifecycle.review import ReviewQuestion, choices
from engramlog_server.projections.memory.kind import Form, form_of
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.prompt.lines import Rules, memory_line, why_not
from engramlog_server.projections.views.query import corrections_in
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, created, folded, negated
from tests.rows import each_row

KINDS = ["episode", "message", "fact", "lesson"]


def memory(kind: str = "fact", turns: tuple[str, ...] = ("t1",), memory_id: str = "m", **more: Any) -> Memory:
    told = {"tier": "fact", "source": "user"} | more
    times = dict.fromkeys(("created_at", "updated_at", "last_activated_at", "stamp"), 0)
    return Memory(
        id=memory_id, content="x", category="fact", kind=kind, source_turns=turns, created_seq=1, **times, **told
    )


def said(kind: str, content: str = "I like tea") -> Told:
    """The memory of turn t1, as an import makes it."""
    return created(content, "t1", kind=kind, source_turns=("t1",))


@each_row(
    ("expected", "one"),
    [
        *(("turn", memory(kind, memory_id="t1")) for kind in KINDS),
        ("turn", memory("episode")),
        ("turn", memory("episode", tier="episode")),
        ("turn", memory("episode", memory_id="t1", tier="episode", source="system")),
        ("summary", memory("episode", ("t1", "t2"))),
        ("summary", memory("episode", tier="episode", source="system")),
        ("summary", memory("note", tier="episode", source="judge")),
        ("summary", memory("fact", (), summarises=("a", "b"))),
        ("summary", memory("episode", summarises=("a",))),
        ("merge", memory("episode", ("t1", "t2"), merged_from=("t1", "t2"))),
        ("merge", memory("message", ("t1", "t2"), merged_from=("t1", "t2"))),
        ("statement", memory("fact", ("t1", "t2"), merged_from=("a", "b"))),
        ("statement", memory("fact", ("t1", "t2"))),
        ("summary", memory("fact", tier="episode")),
        ("statement", memory("fact", (), tier="episode")),
        ("statement", memory("episode", ())),
        ("statement", memory("fact", ())),
    ],
)
def test_a_memory_is_one_of_four_things(expected: Form, one: Memory) -> None:
    assert form_of(one) == expected


@each_row("kind", KINDS)
def test_a_turn_imported_under_any_kind_tells_what_of_it_no_longer_holds(kind: str) -> None:
    view = OwnerView.of_history(
        "ada", folded(said(kind), created("tea", "m", 1, source_turns=("t1",)), negated("m", 2))
    )
    rules = Rules("UTC", "en", 1, frozenset(), partial(corrections_in, view))
    assert "no longer" in memory_line(view.columns.memories[0], rules).note


@each_row("kind", KINDS)
def test_a_turn_imported_under_any_kind_is_not_told_where_it_was_retracted(kind: str) -> None:
    view = OwnerView.of_history("ada", folded(said(kind)))
    assert why_not(view.columns.memories[0], Rules("UTC", "en", 1, frozenset({"t1"}))) == "deleted"


@each_row("kind", KINDS)
def test_a_turn_imported_under_any_kind_is_read_as_a_turn_and_known_as_no_statement(kind: str) -> None:
    view = OwnerView.of_history("ada", folded(said(kind)))
    assert "t1" in view.index(TurnIndex)
    assert Candidates(view).of_kind(kind) == []


@each_row("kind", KINDS)
def test_no_model_lifts_a_turn_imported_under_any_kind_into_every_prompt(kind: str) -> None:
    view = OwnerView.of_history("ada", folded(said(kind, "My sister is called Ann")))
    (turn,) = view.columns.memories
    assert choices(ReviewQuestion(turn, "promotion", 0, "asked")) == ("KEEP",)
