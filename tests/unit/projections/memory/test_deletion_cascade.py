"""What goes with a memory that somebody deletes, and what comes back with it."""

from __future__ import annotations

from typing import Any

from engramlog_server.projections.lifecycle.extraction import unkept
from engramlog_server.projections.memory.deletion import DeletionCascade, erased_turns, forgotten_turns, turns_behind
from engramlog_server.projections.memory.kind import is_summary, is_turn
from engramlog_server.projections.memory.working_memory import Turn
from tests.given.events import (
    Told,
    created,
    deleted,
    erased,
    folded,
    mentioned,
    merged,
    negated,
    purged,
    revised,
    unmerged,
)
from tests.given.views import viewed
from tests.rows import each_row


def turn(number: int, content: str, **data: Any) -> Told:
    """A turn's memory, as every way of telling turns makes it."""
    name = f"t{number}"
    return created(content, name, number, kind="episode", tier="fact", source_turns=(name,), **data)


def typed(content: str, of: str, *turns: int, **data: Any) -> Told:
    """A memory that extraction made of turns."""
    data = {"source": "judge", "tier": "fact", "source_turns": tuple(f"t{one}" for one in turns)} | data
    return created(content, of, 20, "judge", **data)


def episode(content: str, of: str, *turns: int) -> Told:
    return typed(content, of, *turns, source="system", kind="episode", tier="episode", category="temporary")


TALK = (
    turn(1, "I adopted a hedgehog named Zuleika"), turn(2, "I like tea"), turn(3, "Zuleika likes tea too"),
    turn(4, "I like tea, and nothing else"),
)  # fmt: skip


def retracting(*told: Told) -> DeletionCascade:
    return DeletionCascade(viewed(*told).columns)


def taken(*told: Told, ids: tuple[str, ...] = ("t1",), with_sources: bool = False) -> list[str]:
    """Ids of what goes with these memories, after TALK and this was told; a merge that comes apart has a star."""
    found = retracting(*TALK, *told)
    taking = [found.take(one, with_sources=with_sources) for one in ids]
    return [f"{one.id}{'*' if one.apart else ''}" for each in taking for one in each.also]


@each_row(
    ("told", "ids", "also"),
    [
        ((), ("t1",), []),
        ((typed("User adopted a hedgehog", "m", 1),), ("t1",), ["m"]),
        ((typed("User adopted a hedgehog", "m", 1),), ("t2",), []),
        ((typed("User likes tea", "m", 2, 4),), ("t2",), []),
        ((typed("User likes tea", "m", 2, 4),), ("t2", "t4"), ["m"]),
        ((typed("User likes tea", "m", 2), mentioned("m", 21, turn_id="t4")), ("t2",), []),
        ((typed("User likes tea", "m", 2), mentioned("m", 21, turn_id="t4")), ("t2", "t4"), ["m"]),
        ((typed("User likes tea", "m", 2), mentioned("m", 21, turn_id="t4"), revised("User likes tea and nothing else", "m", 22)),
         ("t4",), ["m"]),
        ((episode("[2024-01-01 08:00] tea", "e", 1, 2, 3),), ("t2",), ["e"]),
        ((episode("[2024-01-01 08:00] tea", "e", 2),), ("t2",), ["e"]),
        ((created("Zuleika the hedgehog", "sum", 21, summarises=("t1", "t2")),), ("t1",), ["sum"]),
        ((created("I like Zuleika", "own", 21),), ("t1",), []),
        ((created("I like Zuleika", "own", 21), mentioned("own", 22, turn_id="t1")), ("t1",), []),
        ((typed("User adopted a hedgehog", "m", 1), negated("m", 21), typed("User gave it away", "n", 2, corrects="m")), ("t1",),
         ["m"]),
        ((typed("User adopted a hedgehog", "m", 1, tier="core"),), ("t1",), ["m"]),
        ((typed("User adopted a hedgehog", "m", 1), deleted("m", 21)), ("t1",), []),
        ((typed("the turn itself is not there", "m", 9),), ("t1",), []),
    ],
)  # fmt: skip
def test_what_was_made_of_a_turn_and_of_nothing_that_stands_goes_with_it(
    told: tuple[Told, ...], ids: tuple[str, ...], also: list[str]
) -> None:
    assert taken(*told, ids=ids) == also


def test_a_turn_that_two_memories_hold_is_retracted_with_the_last_of_them() -> None:
    again = created(
        "I adopted a hedgehog named Zuleika", "imported", 5, kind="episode", tier="fact", source_turns=("t1",)
    )
    made = typed("User adopted a hedgehog", "m", 1)
    assert taken(again, made) == []
    assert taken(again, made, ids=("imported",)) == []
    assert taken(again, made, ids=("t1", "imported")) == ["m"]


def test_what_was_deleted_by_decay_retracts_nothing() -> None:
    told = (typed("User likes tea", "m", 2, 4), deleted("t2", 21, policy="auto_cleanup"))
    assert taken(*told, ids=("t4",)) == []
    assert taken(*told[:1], deleted("t2", 21), ids=("t4",)) == ["m"]


def test_a_turn_that_is_purged_backs_nothing_any_more() -> None:
    told = (typed("User likes tea", "m", 2, 4), deleted("t2", 21), purged("t2", 60))
    assert taken(*told, ids=("t4",)) == ["m"]


@each_row(
    ("told", "also"),
    [
        ((merged("a", "b", into="all", day=30),), ["all"]),
        ((merged("a", "c", into="all", day=30),), ["all*", "a"]),
        ((merged("a", "c", into="in", day=30), merged("in", "d", into="all", day=31)), ["all*", "in*", "a"]),
        ((merged("c", "d", into="in", day=30), merged("a", "in", into="all", day=31)), ["all*", "a"]),
        ((merged("a", "c", into="all", day=30), unmerged("all", 31)), ["a", "all"]),
    ],
)
def test_a_merge_comes_apart_where_only_some_of_its_sources_go(told: tuple[Told, ...], also: list[str]) -> None:
    made = (
        typed("User adopted a hedgehog", "a", 1),
        typed("User has a hedgehog", "b", 1),
        typed("User likes tea", "c", 2),
        created("I like tea leaves", "d", 22),
    )
    rest = [] if "b" in told[0].data.sources else ["b"]
    assert sorted(taken(*made, *told)) == sorted([*also, *rest])


def test_a_verified_or_system_memory_made_of_it_is_left_alone_and_named() -> None:
    found = retracting(
        *TALK, typed("User has a hedgehog", "m", 1, verified=True), typed("Speak of hedgehogs", "n", 1, tier="system")
    ).take("t1")
    assert (found.also, [one.id for one in found.left]) == ((), ["m", "n"])
    assert ["verified" in one.reason for one in found.left] == [True, False]


def test_what_was_merged_into_it_is_hidden_with_it_however_deep_but_not_once_it_came_apart() -> None:
    told = (merged("t2", "t4", into="inner", day=21), merged("inner", "t3", into="outer", day=22))
    found = retracting(*TALK, *told)
    assert sorted(found.hidden_with(["outer", "t1"])) == ["inner", "t2", "t3", "t4"]
    assert sorted(found.hidden_with(["inner", "inner"])) == ["t2", "t4"]
    assert retracting(*TALK, *told, unmerged("outer", 23)).hidden_with(["outer"]) == []


def test_a_typed_memory_tells_which_turns_still_say_it_and_takes_them_where_asked() -> None:
    told = (typed("User likes tea", "m", 2), typed("User likes tea only", "n", 4), mentioned("m", 21, turn_id="t4"))
    found = retracting(*TALK, *told)
    assert found.still_said_in("m") == ["t2", "t4"]
    assert taken(*told, ids=("m",)) == []
    assert taken(*told, ids=("m",), with_sources=True) == ["t2", "t4", "n"]


@each_row(
    ("gone", "restored", "along", "back"),
    [
        (("t1", "m", "e"), "t1", ("m", "e"), ["m", "e"]), (("t1", "t2", "m", "e"), "t1", ("m", "e"), ["m"]),
        (("t1", "t2", "e", "x"), "t2", ("e", "x"), ["x"]), (("t2", "t4", "x"), "t2", ("x",), ["x"]),
    ],
)  # fmt: skip
def test_what_went_along_comes_back_as_soon_as_nothing_that_is_gone_forbids_it(
    gone: tuple[str, ...], restored: str, along: tuple[str, ...], back: list[str]
) -> None:
    made = (
        typed("User adopted a hedgehog", "m", 1),
        episode("a hedgehog, and tea", "e", 1, 2, 3),
        typed("User likes tea", "x", 2, 4),
    )
    found = retracting(*TALK, *made, *(deleted(one, 30) for one in gone))
    assert found.returning(restored, along)[0] == back


def test_an_episode_that_was_made_anew_does_not_come_back_beside_the_new_one() -> None:
    made = (
        episode("a hedgehog, and tea", "old", 1, 2),
        deleted("t1", 30),
        deleted("old", 30),
        episode("tea", "new", 2),
    )
    back, left = retracting(*TALK, *made).returning("t1", ["old"])
    assert (back, [one.id for one in left]) == ([], ["old"])


def test_turns_of_deleted_memories_are_forgotten_only_where_no_turn_stands_that_says_them() -> None:
    told = (typed("User likes tea", "m", 2), deleted("m", 30), typed("no turn is kept of it", "n", 9), deleted("n", 30))
    assert forgotten_turns(viewed(*TALK, *told, deleted("t1", 31)).columns) == {"t1", "t9"}
    gone = (episode("a hedgehog, and tea", "e", 1, 2, 3), deleted("e", 30))
    assert forgotten_turns(viewed(*TALK, *gone).columns) == set()


def test_a_turn_of_which_only_a_deleted_memory_told_does_not_become_a_memory_by_itself() -> None:
    told = (typed("User likes tea", "n", 9), typed("User likes tea", "k", 8), deleted("n", 30))
    said = [Turn(number, f"e{number}", f"t{number}", "user", None, "I like tea", None, None, 0) for number in (8, 9)]
    assert [one.ids for one in unkept(viewed(*told), said)] == [("t8",)]


def test_turns_episodes_and_typed_memories_are_told_apart() -> None:
    told = (
        *TALK,
        typed("User likes tea", "m", 2),
        episode("tea", "e", 2),
        episode("tea", "f", 2, 3),
        created("a note of kind note", "t9", 21, kind="note", source_turns=("t9",)),
    )
    memories = folded(*told).memories
    assert {one for one, memory in memories.items() if is_turn(memory)} == {"t1", "t2", "t3", "t4", "t9"}
    assert {one for one, memory in memories.items() if is_summary(memory)} == {"e", "f"}
    assert turns_behind(memories["f"]) == ("t2", "t3")


def test_what_was_made_since_a_memory_went_is_found_afterwards() -> None:
    told = (deleted("t1", 19), typed("User adopted a hedgehog", "late", 1))
    found = retracting(*TALK, *told)
    assert [one.id for one in found.missed("t1")] == ["late"]
    assert retracting(*TALK, typed("User adopted a hedgehog", "late", 1)).missed("t1") == ()


def test_a_recorded_turn_that_only_asks_does_not_become_a_memory_by_itself() -> None:
    texts = ("Where do I live?", "I live in Graz, where can I swim?", "我住在哪里？", "我住在成都。")
    said = [Turn(n, f"e{n}", f"r{n}", "user", None, text, None, None, 0) for n, text in enumerate(texts, 20)]
    assert [one.ids for one in unkept(viewed(*TALK), said)] == [("r21",), ("r23",)]


def test_what_was_drawn_from_a_turn_whose_words_were_erased_stays() -> None:
    """The turn itself is not told any more; it was not retracted."""
    columns = viewed(*TALK, typed("User has a hedgehog", "pet", 1), erased("t1", 30)).columns
    assert (erased_turns(columns), forgotten_turns(columns)) == (frozenset({"t1"}), frozenset({"t1"}))
    found = DeletionCascade(columns)
    assert not found.is_retracted("t1")
    assert found.missed("t1") == ()


def test_a_turn_that_was_deleted_before_its_words_were_erased_is_retracted() -> None:
    columns = viewed(*TALK, deleted("t1", 25), erased("t1", 30)).columns
    assert erased_turns(columns) == frozenset()
    assert DeletionCascade(columns).is_retracted("t1")
