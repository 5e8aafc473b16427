"""A past that is begun at a kept moment is the one that is folded from the first event on, whatever was kept by whom before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.catalogue import EventDiscarded
from events.envelope import Stored, decode, micros
from projections.fold.owner import OwnerState, fold_owner
from projections.memory.record import Memory, encode_memory
from projections.past.event_times import EventTimes, TimesHead, blocks_of, read_blocks, stored_block, times_of
from projections.past.folding import fold_from, to_fold
from projections.past.keeping import Added, Keeping, Passage
from projections.past.moments import (
    KeptMoment,
    MomentsHead,
    NotKept,
    Start,
    begin_at,
    read_moments,
    read_part,
    started,
    stored_moments,
)
from projections.views.view import as_hidden_today, hidden_in
from tests.examples import examples
from tests.given.events import Told, at, deleted, purged, secret_of, stored
from tests.given.histories import histories

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
        self.times = times_of(log, held, lambda: ((), ()))
        self.times = EventTimes(self.times.seqs, self.times.happened, self.times.kinds, room)
        self.head, self.parts = MomentsHead(1), dict[int, bytes]()
        today = fold_owner(log, held=held, secret=SECRET)
        self.hidden = hidden_in(today.memories.values())
        self.purged = frozenset(one.id for one in self.hidden.values() if one.purged_at is not None)

    def read(self, seqs: Sequence[int]) -> Iterator[Stored]:
        return (self.log[seq] for seq in seqs)

    def write(self, before: MomentsHead, added: Added) -> bool:
        assert before == self.head
        self.head = read_moments(stored_moments(added.head))
        self.parts[added.number] = added.part
        for number in added.gone:
            del self.parts[number]
        assert {one.number for one in self.head.kept} == self.parts.keys()
        return True

    def start(self, happened: int | None, upto: int) -> Start:
        kept = begin_at(self.head, self.times, happened, upto)
        path = self.head.path(kept.number) if kept else []
        return started(kept, [read_part(self.parts[one.number]) for one in path])

    def answered(self, happened: int | None, upto: int) -> tuple[OwnerState, list[Memory]] | None:
        start = self.start(happened, upto)
        numbers = to_fold(start, self.times, happened, upto)
        passage = Passage(self.times, happened, numbers, OwnerState(), self.purged, True)
        keeping = Keeping(self.head, start, passage, self.write, every=2)
        try:
            found = fold_from(start, self.times, numbers, self.read, secret=SECRET, keeping=keeping)
        except NotKept:
            return None
        return found.owner, list(found.memories.values())

    def shown(self, memories: Sequence[Memory]) -> list[bytes]:
        """As a view shows them: what is hidden today stays so."""
        hidden = self.hidden
        told = (as_hidden_today(one, hidden[one.id]) if one.id in hidden else one for one in memories)
        return [encode_memory(one) for one in told]


@QUICK
@given(logs(), questions, st.sampled_from([2_000, 10_000, 1 << 30]))
def test_a_past_from_a_kept_moment_is_the_one_from_the_first_event(
    log: list[Stored], asked: list[Question], room: int
) -> None:
    kept = Kept(log, room)
    for happened, share in [*asked, *asked]:
        upto = round(share * len(log))
        lines = [one for one in log[:upto] if happened is None or happened_at(one) <= happened]
        expected = fold_owner(
            log[:upto],
            keep=lambda one, _event, counting=frozenset(one.seq for one in lines): one.seq in counting,  # type: ignore[misc]
            held=held,
            secret=SECRET,
        )
        found = kept.answered(happened, upto)
        if found is None:
            assert kept.purged
            continue
        assert found[0] == expected.owner
        assert kept.shown(found[1]) == kept.shown(list(expected.memories.values()))
        assert kept.head.size <= max(room, 0)


@QUICK
@given(st.lists(st.integers(0, 5), max_size=12), st.data())
def test_a_moment_fits_if_and_only_if_both_count_the_same_of_its_first_events(
    happened: list[int], data: st.DataObject
) -> None:
    many = len(happened)
    times = EventTimes(np.arange(many), np.array(happened, np.int64), np.zeros(many, np.uint8))
    bounds, places = st.none() | st.integers(-1, 6), st.integers(0, many)
    one, other, upto, wanted = (data.draw(each) for each in (bounds, bounds, places, places))
    kept = KeptMoment(1, 0, upto, one, 0)
    same = times.counting(one, upto).tolist() == times.counting(other, upto).tolist()
    assert (begin_at(MomentsHead(1, 1, (kept,)), times, other, wanted) == kept) == (same and upto <= wanted)


@QUICK
@given(st.lists(st.tuples(st.integers(1, 1 << 20), st.integers(-(1 << 60), 1 << 60), st.integers(0, 3)), max_size=30))
def test_times_are_read_as_they_were_stored(told: list[tuple[int, int, int]]) -> None:
    seqs, happened, kinds = (np.array([one[at] for one in told], np.int64) for at in range(3))
    times = EventTimes(seqs.cumsum(), happened, kinds.astype(np.uint8), 7)
    blocks = [stored_block(times, number) for number in range(blocks_of(len(told)))]
    found = read_blocks(TimesHead(len(told), 7), blocks)
    assert all((getattr(found, name) == getattr(times, name)).all() for name in ("seqs", "happened", "kinds"))


def happened_at(one: Stored) -> int:
    return micros(decode(one.kind, one.body).occurred_at)
