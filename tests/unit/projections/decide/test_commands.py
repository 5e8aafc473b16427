"""What a command leads to, by what it says and how the memories that it is about stand; and whether events are its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from engramlog_server.events.catalogue import MemoryCreated, MemoryMentioned, MemoryNegated, MemoryRevised, TurnRecorded
from engramlog_server.events.errors import InputError
from engramlog_server.projections.decide.commands import (
    BESIDE,
    Command,
    Consequence,
    Contested,
    Edit,
    Merge,
    Negate,
    NewTurn,
    Promote,
    RecordTurns,
    Remember,
    Tell,
    decide,
)
from engramlog_server.projections.memory.record import Memory
from tests.given.events import created, folded, mentioned, revised
from tests.rows import each_row


def ids(name: str) -> str:
    return f"id of {name}"


def view() -> dict[str, Memory]:
    told = created(
        "I drink coffee", "coffee", kind="core", category="identity", speaker="Lin", project="p", tier="fact"
    )
    return dict(folded(told, created("I drink tea", "tea", 1)).memories)


COMMANDS: list[Command] = [
    Negate("coffee", reason="no more"), Negate("coffee", correction="I drink water", turn_id="t1"),
    Negate("coffee", replaced_by="tea"), Merge(("coffee", "tea")), Merge(("coffee", "tea"), summary="drinks", into="both"),
    Promote("coffee", "core"), Edit(MemoryRevised(memory_id="coffee", content="I drink coffee at eight")),
    Tell((MemoryMentioned(memory_id="coffee"), MemoryMentioned(memory_id="tea"))),
    Remember("I live in Porto", fields={"tags": ("home",)}),
    RecordTurns((NewTurn("user", "hello", "Lin"), NewTurn("tool", "18 °C"))),
]  # fmt: skip


@each_row("command", COMMANDS, ids=repr)
def test_a_command_decides_the_same_for_the_same_and_names_each_of_its_events(command: Command) -> None:
    made = decide(command, view(), ids)
    assert made == decide(command, view(), ids)
    assert [one.event_id for one in made] == [ids(name) for name in command.names if name not in BESIDE]
    assert {one.causation_id for one in made} <= {None, *(one.event_id for one in made)}


@each_row("command", COMMANDS, ids=repr)
def test_a_command_knows_its_events_again_whatever_the_memories_are_like_then(command: Command) -> None:
    told = [one.data for one in decide(command, view(), ids)]
    assert command.agrees(told, ids)
    assert command.answer(told) == command.answer(told)


@each_row("command", COMMANDS, ids=repr)
def test_no_command_takes_another_s_events_for_its_own(command: Command) -> None:
    told = [one.data for one in decide(command, view(), ids)]
    assert [other for other in COMMANDS if other is not command and other.agrees(told, ids)] == []


def test_a_correction_is_like_the_memory_but_for_its_words_and_never_holds_always() -> None:
    new, negated = decide(Negate("coffee", correction="I drink water", turn_id="t1"), view(), ids)
    assert isinstance(new.data, MemoryCreated)
    assert isinstance(negated.data, MemoryNegated)
    assert (new.data.content, new.data.corrects, new.data.source_turns) == ("I drink water", "coffee", ("t1",))
    assert (new.data.category, new.data.kind, new.data.tier) == ("identity", "fact", None)
    assert (new.data.speaker, new.data.project) == ("Lin", "p")
    assert negated.data.replaced_by == new.data.memory_id
    assert new.causation_id == negated.event_id


@each_row(
    "command",
    [
        Negate("coffee", correction="x", replaced_by="tea"), Negate("coffee", replaced_by="coffee"), Merge(()),
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_is_refused(command: Command) -> None:
    with pytest.raises(InputError):
        decide(command, view(), ids)


def test_saying_what_a_memory_says_already_leads_to_nothing() -> None:
    same = MemoryRevised(memory_id="coffee", content="I drink coffee")
    assert decide(Edit(same), view(), ids) == []
    assert decide(Edit(structs.replace(same, because="asked")), view(), ids) != []


def test_a_merge_without_a_summary_is_the_same_merge_once_its_sources_say_something_else() -> None:
    command = Merge(("coffee", "tea"))
    told = [one.data for one in decide(command, view(), ids)]
    now = dict(
        folded(
            created("I drink coffee", "coffee"), created("a", "tea", 1), revised("b", "coffee", 2), mentioned("tea", 3)
        ).memories
    )
    assert [one.data for one in decide(command, now, ids)] != told
    assert command.agrees(told, ids)


def test_a_turn_and_its_memory_have_one_id_and_the_memory_follows_from_the_turn() -> None:
    command = RecordTurns((NewTurn("user", "hello", "Lin", "2026-01-01T00:00:00Z"),))
    said, kept = decide(command, {}, ids)
    assert isinstance(said.data, TurnRecorded)
    assert isinstance(kept.data, MemoryCreated)
    assert (said.data.turn_id, kept.data.source_turns) == (kept.data.memory_id, (kept.data.memory_id,))
    assert (kept.causation_id, said.actor, said.occurred_at) == (said.event_id, "user", "2026-01-01T00:00:00Z")


def test_fewer_turns_under_the_same_ids_are_another_command() -> None:
    command: Any = COMMANDS[-1]
    shorter = replace(command, turns=command.turns[:1])
    assert shorter.beyond in command.names


def test_what_is_told_takes_what_it_led_to_for_its_own_however_many_it_bears_upon() -> None:
    plain = Remember("I live in Porto")
    others = tuple(Contested(f"m{number}", "flags" if number else "ends", "two homes") for number in range(3))
    judged = replace(plain, judged=Consequence(beside=others))
    made = [one.data for one in decide(judged, view(), ids)]
    assert [type(one).__name__ for one in made] == [
        "MemoryCreated",
        "MemoryNegated",
        "MemoriesLinked",
        "MemoriesLinked",
    ]
    assert plain.agrees(made, ids)
    assert plain.answer(made)["ended"] == ["m0"]
    assert not replace(plain, content="I live in Rome").agrees(made, ids)


def test_a_mention_is_its_own_where_the_memory_says_so() -> None:
    again = Remember("I live in Porto", judged=Consequence(again="porto"), says=lambda memory_id: memory_id == "porto")
    made = [one.data for one in decide(again, view(), ids)]
    assert again.agrees(made, ids)
    others = {name: [] for name in ("ended", "ended_by", "conflicting", "related")}
    assert again.answer(made) == {"id": "porto", "mentioned": "porto", **others}
    assert not replace(again, says=lambda _: False).agrees(made, ids)
