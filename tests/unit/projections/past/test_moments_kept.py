"""A past that is begun at a kept moment is the one that is folded from the first event on, whatever was kept by whom before."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace as replaced

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engramlog_server.events.catalogue import EventDiscarded, TurnsExtracted
from engramlog_server.events.envelope import Stored
from engramlog_server.projections.fold.owner import OwnerHistory, OwnerState, fold_owner
from engramlog_server.projections.memory.record import Memory, encode_memory
from engramlog_server.projections.past.folding import (
    Added,
    FoldedPast,
    Lines,
    MomentKeeper,
    OwnerEvents,
    Passage,
    begin_at,
    behind,
    events_of,
    fold_from,
    nothing_folded,
    to_fold,
)
from engramlog_server.projections.past.moments import (
    KeptMemories,
    KeptMoment,
    KeptPart,
    MomentsHead,
    NotKept,
    Start,
    _without,
    read_head,
    read_part,
    started,
    stored_head,
    stored_part,
)
from engramlog_server.projections.views.view import as_hidden_today, hidden_in
from tests.examples import examples
from tests.given.events import (
    Told,
    at,
    created,
    deleted,
    linked,
    mentioned,
    negated,
    parameters,
    purged,
    secret_of,
    stored,
)
from tests.given.histories import creations, days, histories, ids, mentions, negations

QUICK = settings(deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
SECRET = secret_of("ada")
Question = tuple[int | None, float]
"""What had happened by an instant, of the first so large a share."""
questions = st.lists(
    st.tuples(st.none() | st.integers(at(0), at(82)), st.floats(0, 1)),
    min_size=1,
    max_size=6,
)


ENDS: list[list[Told]] = [[], [deleted("a", 20), purged("a", 70)], [deleted("b", 3), purged("b", 40)]]


@st.composite
def logs(draw: st.DrawFn) -> list[Stored]:
    """An owner's events of which some were parked, and perhaps one memory purged, before or after others came."""
    first, last = draw(histories), draw(histories)
    told = [*first, *draw(st.sampled_from(ENDS)), *last]
    for number in draw(st.sets(st.integers(3, max(len(told), 3)), max_size=3)):
        told.insert(
            number, Told(EventDiscarded(position=f"0:{draw(st.integers(1, number))}"), draw(st.integers(0, 80)))
        )
    entries = stored(told)
    named = [one.data.position for one in told if isinstance(one.data, EventDiscarded)]
    parked = {int(one.partition(":")[2]) for one in named if draw(st.booleans())}
    return [one for one in entries if one.seq not in parked]


def held(position: str) -> bool:
    return int(position.partition(":")[2]) % 3 > 0


class Kept:
    """What a store keeps of one owner."""

    def __init__(self, log: Sequence[Stored], room: int) -> None:
        self.log = {one.seq: one for one in log}
        self.times = replaced(events_of(log, held), size=room)
        self.head, self.parts = MomentsHead(1), dict[int, bytes]()
        today = fold_owner(log, held=held, secret=SECRET)
        self.hidden = hidden_in(today.memories.values())
        self.purged = frozenset(one.id for one in self.hidden.values() if one.purged_at is not None)

    def read(self, seqs: Sequence[int]) -> Iterator[Stored]:
        return (self.log[seq] for seq in seqs)

    def write(self, before: MomentsHead, added: Added) -> bool:
        assert before == self.head
        self.head = read_head(MomentsHead, stored_head(added.head))
        self.parts[added.number] = added.part
        for number in added.gone:
            del self.parts[number]
        assert {one.number for one in self.head.kept} == self.parts.keys()
        return True

    def start(self, happened: int | None, upto: int, first: int = 0) -> Start:
        kept = begin_at(self.head, self.times, happened, upto, first)
        path = self.head.path(kept.number) if kept else []
        return started(kept, [read_part(self.parts[one.number]) for one in path])

    def answered(self, happened: int | None, upto: int, first: int = 0) -> FoldedPast | None:
        start = self.start(happened, upto, first)
        numbers = to_fold(start, self.times, happened, upto, first)
        passage = Passage(self.times, happened, numbers, OwnerState(), self.purged, True, first)
        keeping = MomentKeeper(self.head, start, passage, self.write, every=2)
        try:
            return fold_from(start, self.times, numbers, self.read, secret=SECRET, keeping=keeping)
        except NotKept:
            return None

    def apart(self, happened: int | None, upto: int, first: int) -> FoldedPast | None:
        numbers = self.times.counting(happened, min(first, upto))
        before = fold_from(nothing_folded(), self.times, numbers, self.read, secret=SECRET)
        after = self.answered(happened, upto, first)
        return None if after is None else behind(before, after)

    def expected(self, happened: int | None, upto: int) -> OwnerHistory:
        """All that counts, folded from the first event on."""
        lines, log = Lines(happened), list(self.log.values())
        return fold_owner(log[:upto], keep=lines.counts, held=held, secret=SECRET)

    def told(self, memories: Mapping[str, Memory]) -> list[bytes]:
        found = memories
        if isinstance(found, KeptMemories):
            found.folds = False
        return self.shown(list(found.values()))

    def shown(self, memories: Sequence[Memory]) -> list[bytes]:
        """As a view shows them: what is hidden today stays so."""
        hidden = self.hidden
        told = (as_hidden_today(one, hidden[one.id]) if one.id in hidden else one for one in memories)
        return [encode_memory(_without(one, self.purged)) for one in told]


@QUICK
@given(logs(), questions, st.sampled_from([2_000, 10_000, 1 << 30]))
def test_a_past_from_a_kept_moment_is_the_one_from_the_first_event(
    log: list[Stored], asked: list[Question], room: int
) -> None:
    kept = Kept(log, room)
    for happened, share in [*asked, *asked]:
        upto = round(share * len(log))
        found, expected = kept.answered(happened, upto), kept.expected(happened, upto)
        assert kept.head.size <= room
        if found is None:
            assert kept.purged
            continue
        assert found.owner == expected.owner
        assert kept.told(found.memories) == kept.told(expected.memories)


NEW = st.sampled_from(["p", "q", "r"])
RECENT = st.one_of(
    st.builds(created, st.sampled_from(["I like tea", "我喜欢茶"]), of=NEW, day=st.integers(60, 80)),
    st.builds(mentioned, NEW, day=st.integers(60, 80)),
    st.builds(negated, NEW, day=st.integers(60, 80), replaced_by=NEW),
    st.just(Told(TurnsExtracted(up_to="t1", turns=1, by="rules"), 61, "system")),
    st.just(parameters(62, frequent_threshold=2)),
)
OLD = st.one_of(
    creations,
    mentions,
    negations,
    st.builds(lambda of, day: linked(of, "p", day=day), ids, days),
    st.builds(mentioned, NEW, day=days),
    st.builds(deleted, ids, day=days),
)


CALM = st.one_of(creations, mentions, negations)


@QUICK
@given(st.lists(RECENT, max_size=5), st.lists(CALM, max_size=12), st.lists(OLD, max_size=3), questions)
@example([created("tea", of="p", day=60)], [created("old", of="a", day=1)], [mentioned("p", day=70)], [(None, 1.0)])
@example([parameters(62, frequent_threshold=2)], [created("old", of="a", day=1)], [], [(None, 1.0)])
def test_what_was_imported_last_is_put_behind_what_was_told_before_or_is_not(
    recent: list[Told], old: list[Told], mixed: list[Told], asked: list[Question]
) -> None:
    log = stored([*recent, *old, *mixed])
    kept = Kept(log, 1 << 30)
    for happened, share in [*asked, *asked]:
        upto = round(share * len(log))
        found, expected = kept.apart(happened, upto, len(recent)), kept.expected(happened, upto)
        if found is None:
            continue
        assert (found.owner if found.owner.chain else with_chain(found.owner, expected.owner.chain)) == expected.owner
        assert kept.told(found.memories) == kept.told(expected.memories)


def with_chain(owner: OwnerState, chain: bytes) -> OwnerState:
    return replace(owner, chain=chain)


@QUICK
@given(st.lists(st.integers(0, 5), max_size=12), st.data())
def test_a_moment_fits_if_and_only_if_both_count_the_same_of_its_first_events(
    happened: list[int], data: st.DataObject
) -> None:
    many = len(happened)
    instants = np.array(happened, np.int64)
    times = OwnerEvents(np.arange(many), instants, instants, np.zeros(many, np.uint8))
    bounds, places = st.none() | st.integers(-1, 6), st.integers(0, many)
    one, other, upto, wanted = (data.draw(each) for each in (bounds, bounds, places, places))
    kept = KeptMoment(1, 0, upto, one, 0)
    same = times.counting(one, upto).tolist() == times.counting(other, upto).tolist()
    assert (begin_at(MomentsHead(1, 1, (kept,)), times, other, wanted) == kept) == (same and upto <= wanted)


def test_the_states_of_a_large_record_are_not_held_at_once() -> None:
    size, many = 1 << 20, 24
    parts = [stored_part(KeptPart(b"", ("m",), (bytes(size),))) for _ in range(many)]
    tracemalloc.start()
    found = KeptMemories(map(read_part, parts))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.raw("m") == bytes(size)
    assert most < many * size / 3
