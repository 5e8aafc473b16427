"""What holds for every history: folding is total, deterministic, and does not depend on batches or on neighbours."""

from __future__ import annotations

from itertools import pairwise, repeat

import msgspec
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import EventDiscarded, MemoriesAccessed, MemoryCreated, MemoryErased
from engramlog_server.events.envelope import Stored, decode
from engramlog_server.projections.fold.changelog import DECISIONS, pack, unpack
from engramlog_server.projections.fold.owner import (
    OwnerHistory,
    OwnerState,
    decode_owner,
    encode_owner,
    fold_event,
    fold_owner,
)
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.memory.record import Memory, decode_memory, encode_memory
from tests.examples import examples
from tests.given.events import (
    Told,
    created,
    differences,
    entry,
    folded,
    mentioned,
    merged,
    negated,
    secret_of,
    stored,
    unmerged,
)
from tests.given.histories import FIRST, IDS, days, events, histories, scenes, turns
from tests.given.partition import Partition

QUICK = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
TIMES = (
    "created_at", "updated_at", "last_activated_at", "last_mentioned_at", "last_accessed_at", "stamp",
)  # fmt: skip


def steps(told: list[Told]) -> list[dict[str, Memory]]:
    """The memories after every event, first none."""
    owner, memories, found = OwnerState(), dict[str, Memory](), [dict[str, Memory]()]
    for one in stored(told):
        step = fold_event(owner, memories, decode(one.kind, one.body), one)
        owner, memories = step.owner, memories | step.changed
        found.append(memories)
    return found


@QUICK
@given(histories)
def test_folding_is_total_and_tells_once_of_every_memory_that_an_event_names(told: list[Told]) -> None:
    history = folded(*told)
    by_event: dict[int, list[str]] = {}
    for one in history.entries:
        by_event.setdefault(one.seq, []).append(one.memory_id)
    for seq, event in enumerate(told, 1):
        found = by_event.get(seq, [])
        assert len(set(found)) == len(found)
        if isinstance(event.data, MemoriesAccessed):
            assert found == []
        else:
            assert set(found) >= set(names(event.data))


@QUICK
@given(histories)
def test_an_event_that_was_ignored_changed_nothing(told: list[Told]) -> None:
    entries = folded(*told).entries
    for seq, (before, after) in enumerate(pairwise(steps(told)), 1):
        mine = [one for one in entries if one.seq == seq]
        if mine and all(DECISIONS[one.decision] in ("ignored", "named") for one in mine):
            assert after == before


@QUICK
@given(histories)
def test_no_event_moves_a_time_stamp_backwards_or_forgets_that_something_was_said(told: list[Told]) -> None:
    for before, after in pairwise(steps(told)):
        assert set(after) >= set(before)
        for memory_id, old in before.items():
            new = after[memory_id]
            assert new.created_at == old.created_at
            assert new.mention_count >= old.mention_count
            assert new.access_count >= old.access_count
            for name in TIMES:
                assert (getattr(new, name) or 0) >= (getattr(old, name) or 0)


@QUICK
@given(histories)
def test_a_tombstone_never_changes_again_but_that_its_words_are_erased_is_noted(told: list[Told]) -> None:
    for event, (before, after) in zip(told, pairwise(steps(told)), strict=True):
        erased = event.data.memory_id if isinstance(event.data, MemoryErased) else None
        for memory_id, tombstone in before.items():
            if tombstone.purged_at and memory_id == erased:
                assert differences(tombstone, after[memory_id]) == {}
            elif tombstone.purged_at:
                assert after[memory_id] == tombstone


@QUICK
@given(histories)
def test_a_possible_conflict_is_flagged_on_both_sides_or_on_none(told: list[Told]) -> None:
    memories = folded(*told).memories
    one_sided = [
        (memory.id, other)
        for memory in memories.values()
        for other in memory.conflicts
        if memory.id not in memories[other].conflicts
    ]
    assert one_sided == []


@QUICK
@given(histories)
def test_what_was_merged_and_what_it_was_merged_into_name_each_other(told: list[Told]) -> None:
    memories = folded(*told).memories
    merges = {(m.id, m.merged_into) for m in memories.values() if m.merged_into}
    assert merges <= {(source, m.id) for m in memories.values() if m.retired_at is None for source in m.merged_from}


@QUICK
@given(histories)
def test_records_owners_and_logs_survive_their_bytes(told: list[Told]) -> None:
    history = folded(*told)
    for memory in history.memories.values():
        assert decode_memory(encode_memory(memory)) == memory
        assert encode_memory(decode_memory(encode_memory(memory))) == encode_memory(memory)
    assert decode_owner(encode_owner(history.owner)) == history.owner
    seqs = list(range(1, len(told) + 1))
    assert unpack(pack(1, seqs, history.entries)) == (seqs, history.entries)


@QUICK
@given(histories, st.data())
def test_a_second_creation_with_a_known_id_changes_nothing(told: list[Told], data: st.DataObject) -> None:
    again = data.draw(st.sampled_from([event for event in told if isinstance(event.data, MemoryCreated)]))
    once, twice = folded(*told), folded(*told, again)
    assert twice.memories == once.memories
    new = twice.entries[len(once.entries) :]
    assert [DECISIONS[one.decision] for one in new if one.memory_id == again.data.memory_id] == ["ignored"]


# --- batches, owners, restarts --------------------------------------------------------------------------------------

POISON = b'{"damaged": true'


@st.composite
def logs(draw: st.DrawFn) -> list[Stored]:
    """A partition of three owners, with damaged events and with discards that may or may not name one."""
    owners = ("ada", "bob", "cy")
    told = [(owner, event) for owner in owners for event in FIRST]
    for owner, scene in draw(st.lists(st.tuples(st.sampled_from(owners), scenes | st.just([None])), max_size=12)):
        told += [(owner, event) for event in scene]
    log: list[Stored] = []
    for seq, (owner, event) in enumerate(told, 1):
        if event is None:
            log.append(entry(mentioned(), owner, seq)._replace(body=POISON))
        elif isinstance(event.data, EventDiscarded):
            damaged = [one.seq for one in log if one.owner == owner and one.body == POISON]
            position = f"0:{damaged[0] if damaged else 1}"
            log.append(entry(Told(EventDiscarded(position=position)), owner, seq))
        else:
            log.append(entry(event, owner, seq))
    return log


@QUICK
@given(logs(), st.lists(st.integers(1, 9), min_size=80, max_size=80), st.booleans())
def test_the_same_log_cut_into_any_batches_folds_into_the_same(
    log: list[Stored], sizes: list[int], restarts: bool
) -> None:
    whole = Partition(log).fold()
    cut = Partition(log).fold(iter(sizes), restarts=restarts)
    assert cut.facts == whole.facts


@QUICK
@given(logs())
def test_every_event_is_applied_parked_or_discarded_and_each_once(log: list[Stored]) -> None:
    folded_log = Partition(log).fold(repeat(3))
    for owner, state in folded_log.owners.items():
        seqs, entries = folded_log.history(owner)
        mine = [one.seq for one in log if one.owner == owner]
        parked = folded_log.parked.get(owner, [])
        assert len({*seqs, *parked}) == len(seqs) + len(parked)
        assert {*seqs, *parked} <= set(mine)
        assert all(log[seq - 1].body == POISON for seq in set(mine) - {*seqs, *parked})
        assert (state.quarantine is None) == (parked == [])
        held = {f"0:{one.seq}" for one in log if one.owner == owner}
        replay = fold_owner((log[seq - 1] for seq in seqs), held=held.__contains__, secret=secret_of(owner))
        assert (replay.owner, replay.entries) == (state.state, entries)
        assert {i: encode_memory(m) for i, m in replay.memories.items()} == folded_log.records.get(owner, {})


# --- order ----------------------------------------------------------------------------------------------------------


def bare(history: OwnerHistory) -> list[Memory]:
    """Records without the places in the log that they remember."""
    return [
        msgspec.structs.replace(
            memory,
            created_seq=0,
            changed_seq=0,
            negations=tuple(msgspec.structs.replace(n, position=0) for n in memory.negations),
        )
        for _, memory in sorted(history.memories.items())
    ]


def about(memory_id: str) -> st.SearchStrategy[list[Told]]:
    """A memory that has nothing to do with any other."""
    alone = st.one_of(
        st.builds(mentioned, st.just(memory_id), day=days, turn_id=turns),
        st.builds(negated, st.just(memory_id), day=days, turn_id=turns),
    )
    return st.lists(alone, max_size=8).map(lambda told: [created(of=memory_id), *told])


@QUICK
@given(about("a"), about("b"), st.randoms(use_true_random=False))
def test_memories_that_have_nothing_to_do_with_each_other_may_fold_in_any_order(
    a: list[Told], b: list[Told], chance: object
) -> None:
    which = [0] * len(a) + [1] * len(b)
    chance.shuffle(which)
    queues = [list(a), list(b)]
    mixed = [queues[n].pop(0) for n in which]
    assert bare(folded(*mixed)) == bare(folded(*a, *b))


@QUICK
@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans(), turns), min_size=1, max_size=10, unique_by=lambda e: e[:2]),
    st.randoms(use_true_random=False),
)
def test_whether_a_memory_is_negated_does_not_depend_on_the_order_in_which_it_is_told(
    told: list[tuple[int, bool, str | None]], chance: object
) -> None:
    there = [(negated if negative else mentioned)(day=day, turn_id=turn) for day, negative, turn in told]
    back = list(there)
    chance.shuffle(back)
    found = [folded(created(), *order).memories["m"] for order in (there, back)]
    kept = [
        (m.negated_at, m.resolution, m.superseded_by, m.mentions, m.mention_count, m.user_mentions, m.last_activated_at)
        for m in found
    ]
    assert kept[0] == kept[1]


BETWEEN = events.filter(
    lambda told: (
        type(told.data).__name__
        not in ("MemoryDeleted", "MemoryMerged", "MemoryUnmerged", "MemoryPurged", "MemoryErased")
        and {*names(told.data)} <= {"a", "b", "x"}
    )
)


@QUICK
@given(histories, st.lists(BETWEEN, max_size=8), days)
def test_an_unmerge_gives_the_sources_back_as_they_were(told: list[Told], between: list[Told], day: float) -> None:
    hides = ("MemoryDeleted", "MemoryMerged", "MemoryErased")
    told = [event for event in told if "x" not in names(event.data) and type(event.data).__name__ not in hides]
    before = folded(*told).memories
    assume(all(before[i].merged_into is None and before[i].deleted_at is None for i in IDS[:2]))
    after = folded(*told, merged("a", "b", into="x", day=day), *between, unmerged("x", day=day)).memories
    assert after["x"].retired_at is not None
    assert [differences(before[i], after[i]) for i in IDS[:2]] == [{}, {}]
