"""Words that are erased take nothing else along: every other memory is folded as it was."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.envelope import Stored, decode, encode, without_words
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.reports.erasure import OwnersLog
from tests.examples import examples
from tests.given.events import Told, differences, erased, of_old, secret_of, stored
from tests.given.histories import IDS, MERGES, histories

QUICK = settings(deadline=None, max_examples=examples(80))


def wiped(entries: list[Stored], seqs: set[int]) -> list[Stored]:
    """The same log, without the words of these entries."""
    return [
        one._replace(body=encode(without_words(decode(one.kind, one.body)))) if one.seq in seqs else one
        for one in entries
    ]


def unworded(memory: Memory) -> Memory:
    """A memory without the words of its negations, which may be what something erased said."""
    told = tuple(msgspec.structs.replace(one, reason="", new_preference=None) for one in memory.negations)
    return msgspec.structs.replace(memory, negations=told)


@QUICK
@given(histories, st.sets(st.sampled_from(IDS + MERGES), min_size=1, max_size=2))
def test_every_other_memory_weighs_what_it_weighed(told: list[Told], named: set[str]) -> None:
    entries, log = stored(map(of_old, told)), OwnersLog()
    for one in entries:
        log.take(one, decode(one.kind, one.body))
    reach = log.reach(sorted(named), {})
    left = wiped(entries, {one.seq for one in reach.entries})
    before, after = (fold_owner(each, secret=secret_of("ada")) for each in (entries, left))
    assert set(before.memories) == set(after.memories)
    for memory_id, memory in before.memories.items():
        if memory_id not in reach.memories:
            assert differences(unworded(memory), unworded(after.memories[memory_id])) == {}
    changed = [(one.seq, one.memory_id, one.decision) for one in before.entries if one.memory_id not in reach.memories]
    assert changed == [
        (one.seq, one.memory_id, one.decision) for one in after.entries if one.memory_id not in reach.memories
    ]


@QUICK
@given(histories, st.sampled_from(IDS + MERGES))
def test_of_what_is_erased_no_record_has_a_word(told: list[Told], named: str) -> None:
    entries, log = stored(map(of_old, told)), OwnersLog()
    for one in entries:
        log.take(one, decode(one.kind, one.body))
    reach = log.reach([named], {})
    said = stored([erased(one, day=90) for one in reach.memories], after=len(entries))
    history = fold_owner([*wiped(entries, {one.seq for one in reach.entries}), *said], secret=secret_of("ada"))
    for memory_id in reach.memories.keys() & history.memories.keys():
        memory = history.memories[memory_id]
        assert memory.purged_at is not None
        assert (memory.content, memory.summary, memory.keywords, memory.tags, memory.versions) == ("", None, (), (), ())
        assert (memory.edges, memory.facts, memory.speaker) == ((), (), None)
