"""What goes when words are erased, by links: versions, merges, summaries, turns by their session; and what stays, and is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.envelope import decode, encode, is_wordless, without_words
from engramlog_server.projections.reports.erasure import OwnersLog, Reach, turn_name
from tests.examples import examples
from tests.given.events import (
    Told,
    asserted,
    compressed,
    created,
    deleted,
    graded,
    in_session,
    mentioned,
    merged,
    negated,
    purged,
    restored,
    retracted,
    revised,
    stored,
)
from tests.given.histories import IDS, MERGES, histories
from tests.given.said import found, said


def drawn(of: str, *turns: str, session: str | None = "s1", text: str = "likes tea", **data: object) -> Told:
    """What a job read in turns."""
    told = created(text, of, source="judge", actor="judge", source_turns=turns, **data)
    return in_session(told, session)


def as_memory(turn: str, of: str, session: str | None = "s1") -> Told:
    """A turn by which it can be found as a memory."""
    return in_session(created("I like tea", of, kind="episode", source_turns=(turn,)), session)


def reached(events: Iterable[Told], *named: str, unread: Iterable[int] = (), **also: str) -> Reach:
    log = OwnersLog()
    for one in stored(events):
        log.take(one, None if one.seq in unread else decode(one.kind, one.body))
    return log.reach(named, also)


def seqs(reach: Reach) -> list[int]:
    return [one.seq for one in reach.entries]


def test_all_that_was_said_of_a_memory_goes_and_what_has_no_words_is_not_among_it() -> None:
    told = [
        created("I like tea", "m"),
        created("I have a dog", "n"),
        revised("I like green tea", "m"),
        mentioned("m"),
        graded("m"),
        compressed("tag", "m", content="tea"),
        compressed("trace", "m"),
        deleted("m", reason="he asked for it"),
        restored("m"),
        purged("m"),
        negated("n", reason="it died"),
    ]
    reach = reached(told, "m")
    assert dict(reach.memories) == {"m": "it is named"}
    assert reach.named == ("m",)
    assert seqs(reach) == [1, 3, 6, 8]
    assert reach.counts == {"MemoryCreated": 1, "MemoryRevised": 1, "MemoryCompressed": 1, "MemoryDeleted": 1}
    assert (reach.turns, reach.siblings, reach.corrections, reach.triples, reach.unread) == ({}, (), (), (), ())


def test_what_was_merged_and_what_it_was_merged_into_goes_to_any_depth_and_others_of_the_merge_stay() -> None:
    told = [
        *(created(f"tea {name}", name) for name in ("a", "b", "c", "d", "e")),
        merged("a", "b", into="x"),
        merged("x", "c", into="y"),
        created("of all", "s", summarises=("y", "d")),
        created("of all that", "t", summarises=("s", "e")),
    ]
    assert dict(reached(told, "a").memories) == {
        "a": "it is named",
        "x": "it was merged from a",
        "y": "it was merged from x",
        "s": "it sums up y",
        "t": "it sums up s",
    }
    assert seqs(reached(told, "a")) == [1, 6, 7, 8, 9]
    assert list(reached(told, "y").memories) == ["y", "x", "c", "a", "b", "s", "t"]
    assert list(reached(told, "d").memories) == ["d", "s", "t"]


def test_a_merge_that_names_itself_in_a_ring_comes_to_an_end() -> None:
    told = [created("tea", "a"), merged("a", "x", into="y"), merged("a", "y", into="x")]
    assert set(reached(told, "a").memories) == {"a", "x", "y"}
    assert set(reached(told, "y").memories) == {"a", "x", "y"}


def test_turns_that_say_it_go_with_all_that_they_say_and_what_else_was_read_there_stays_and_is_told() -> None:
    told = [
        said("t1", "I like tea, and my dog is Rex"),
        as_memory("t1", "turn"),
        found("tea: 3 kinds", turn_id="t1"),
        drawn("m", "t1"),
        drawn("n", "t1", text="has a dog called Rex"),
        said("t2", "good morning"),
    ]
    reach = reached(told, "m")
    assert dict(reach.memories) == {"m": "it is named", "turn": "it says turn t1"}
    assert dict(reach.turns) == {("t1", "s1"): "m was said there"}
    assert seqs(reach) == [1, 2, 3, 4]
    assert reach.siblings == ("n",)


def test_a_summary_of_turns_goes_with_one_of_them() -> None:
    told = [
        said("t1", "I like tea"),
        said("t2", "good morning"),
        drawn("sum", "t1", "t2", text="of tea and mornings", kind="episode", tier="episode"),
        drawn("m", "t1"),
        drawn("n", "t2", text="gets up early"),
    ]
    reach = reached(told, "m")
    assert reach.memories["sum"] == "it sums up turn t1"
    assert set(reach.memories) == {"m", "sum"}
    assert seqs(reach) == [1, 3, 4]
    # the summary alone takes no turn along: it is of others' words
    assert dict(reached(told, "sum").turns) == {}


def test_a_turn_of_another_session_under_the_same_id_is_another_turn() -> None:
    told = [
        said("t1", "I like tea", session="s1"),
        said("t1", "my dog is Rex", session="s2"),
        drawn("m", "t1", session="s1"),
        drawn("n", "t1", session="s2"),
        as_memory("t1", "other", session="s2"),
    ]
    reach = reached(told, "m")
    assert dict(reach.turns) == {("t1", "s1"): "m was said there"}
    assert (seqs(reach), reach.siblings) == ([1, 3], ())
    # said in no session of its own, it may be either: both go
    anywhere = reached([*told, drawn("k", "t1", session="s3")], "k")
    assert list(anywhere.turns) == [("t1", "s1"), ("t1", "s2")]


def test_a_turn_without_a_memory_is_erased_by_its_id_and_what_was_drawn_from_it_stays_unless_it_goes_along() -> None:
    told = [
        said("t1", "I like tea"),
        found("tea: 3 kinds", turn_id="t1"),
        drawn("m", "t1"),
        as_memory("t1", "turn"),
        said("t2", "good morning"),
    ]
    reach = reached(told, "t1")
    assert dict(reach.turns) == {("t1", "s1"): "it is named"}
    assert dict(reach.memories) == {"turn": "it is turn t1"}
    assert (reach.named, reach.siblings) == (("turn",), ("m",))
    assert seqs(reach) == [1, 2, 4]
    along = reached(told, "t1", m="it went with turn")
    assert dict(along.memories) == {"turn": "it is turn t1", "m": "it went with turn"}
    assert (seqs(along), along.siblings) == ([1, 2, 3, 4], ())
    alone = reached(told, "t2")
    assert (dict(alone.memories), alone.named, seqs(alone)) == ({}, (), [5])


def test_of_turns_of_several_sessions_one_is_named_with_its_session() -> None:
    told = [
        said("t1", "tea", session="s1"),
        said("t1", "dog", session="s2"),
        said("t1", "cat", session=None),
        said("s1/t1", "a name with a stroke", session="s3"),
    ]
    asked = reached(told, "t1")
    assert asked.several == {"t1": ("/t1", "s1/t1", "s2/t1")}
    assert (asked.unknown, seqs(asked), dict(asked.turns)) == ((), [], {})
    assert seqs(reached(told, "s2/t1")) == [2]
    assert seqs(reached(told, "/t1")) == [3]
    assert seqs(reached(told, "s1/t1")) == [4]  # an id as it stands comes first
    assert turn_name("t1", None) == "/t1"


def test_a_triple_stays_while_a_memory_that_stays_backs_it() -> None:
    told = [
        created("tea", "m"),
        created("also tea", "n"),
        asserted("m"),
        asserted("m", "n"),
        retracted("m"),
        retracted("n", "m"),
        asserted("n"),
    ]
    reach = reached(told, "m")
    assert (seqs(reach), reach.triples) == ([1, 3, 5], (4, 6))
    both = reached(told, "m", "n")
    assert (seqs(both), both.triples) == ([1, 2, 3, 4, 5, 6, 7], ())


def test_corrections_on_either_side_stay_and_are_told_and_the_negation_between_loses_its_words() -> None:
    told = [
        created("tea", "old"),
        created("coffee now", "m", corrects="old"),
        created("water now", "new", corrects="m"),
        created("juice", "other"),
        negated("m", replaced_by="new", correction="water"),
        negated("other", replaced_by="m", correction="coffee"),
        negated("other", correction="nothing"),
    ]
    reach = reached(told, "m")
    assert set(reach.corrections) == {"old", "new", "other"}
    assert (list(reach.memories), seqs(reach)) == (["m"], [2, 5, 6])
    assert reached(told, "m", "new", "old", "other").corrections == ()


def test_entries_that_nobody_can_read_are_told() -> None:
    told = [created("tea", "m"), revised("green tea", "m"), created("dog", "n")]
    reach = reached(told, "m", unread=[2])
    assert (seqs(reach), reach.unread) == ([1], (2,))


def test_what_has_no_words_any_more_is_not_reached_again() -> None:
    told = [said("t1", "tea"), drawn("m", "t1"), as_memory("t1", "turn"), merged("m", "n", into="x")]
    first, again = OwnersLog(), OwnersLog()
    for one in stored(told):
        event = decode(one.kind, one.body)
        first.take(one, event)
        again.take(one, decode(one.kind, encode(without_words(event))))
    before, after = first.reach(["m"], {}), again.reach(["m"], {})
    assert len(before.entries) == 4
    assert (after.entries, dict(after.memories), dict(after.turns)) == ((), dict(before.memories), dict(before.turns))


@settings(deadline=None, max_examples=examples(60))
@given(histories, st.sets(st.sampled_from(IDS + MERGES), min_size=1, max_size=3))
def test_of_any_history_what_goes_is_all_that_tells_it_and_naming_it_all_again_reaches_no_more(
    told: list[Told], named: set[str]
) -> None:
    log, entries = OwnersLog(), stored([replace(one, old=True) for one in told])
    events = {one.seq: decode(one.kind, one.body) for one in entries}
    for one in entries:
        log.take(one, events[one.seq])
    reach = log.reach(sorted(named), {})
    going, known = set(reach.memories), named - set(reach.unknown)
    assert known <= going
    reached_seqs = set(seqs(reach))
    assert not any(is_wordless(events[seq]) for seq in reached_seqs)
    left = {seq: event for seq, event in events.items() if seq not in reached_seqs}
    told_of = ("memory_id", "into")
    assert not any(
        getattr(event.data, field, None) in going
        for event in left.values()
        for field in told_of
        if not is_wordless(event)
    )
    assert reached_seqs <= set(seqs(log.reach(sorted(going), {})))


def test_a_turn_that_mentions_or_negates_it_goes() -> None:
    told = [
        created("tea", "m"),
        said("t1", "tea again"),
        said("t2", "no tea any more"),
        in_session(mentioned("m", turn_id="t1")),
        in_session(negated("m", turn_id="t2", reason="no more")),
    ]
    assert dict(reached(told, "m").turns) == {
        ("t1", "s1"): "m was said there",
        ("t2", "s1"): "m was said there",
    }
    assert seqs(reached(told, "m")) == [1, 2, 3, 5]
