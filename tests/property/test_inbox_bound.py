"""What waits for a person is counted by what the records say, in any batches, and only a person lets it grow beyond its bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.envelope import decode
from events.trust import ASSERTED
from events.vocabulary import Trust
from projections.fold.inbox import things_waiting
from projections.fold.owner import OwnerState, fold_event, fold_owner, fold_records
from projections.memory.record import Memory, decode_memory
from tests.examples import examples
from tests.given.events import Told, entry, secret_of, stored
from tests.given.histories import FIRST, scenes
from tests.given.partition import Partition

QUICK = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
MOST = 3
trusts: st.SearchStrategy[Trust | None] = st.sampled_from(["proposed", "proposed", "inferred", None])


@contextmanager
def small_inboxes() -> Iterator[None]:
    """A bound that a made-up history reaches."""
    with patch("projections.fold.inbox.MOST_WAITING", MOST), patch("projections.fold.partition.MOST_WAITING", MOST):
        yield


@st.composite
def doubtful(draw: st.DrawFn) -> list[Told]:
    """A history of the user's own word, of what others say of it, and of proposals."""
    told = [*FIRST, *(event for scene in draw(st.lists(scenes, max_size=14)) for event in scene)]
    named = [draw(trusts) for _ in told]
    return [
        one if trust is None else replace(one, actor="assistant", old=True, extra={**one.extra, "trust": trust})
        for one, trust in zip(told, named, strict=True)
    ]


def derived(records: Sequence[Memory]) -> int:
    return sum(map(things_waiting, records))


@QUICK
@given(
    st.lists(doubtful(), min_size=2, max_size=2), st.lists(st.integers(1, 9), min_size=200, max_size=200), st.booleans()
)
def test_the_count_is_what_the_records_say_however_the_log_is_cut(
    told: list[list[Told]], sizes: list[int], restarts: bool
) -> None:
    both = [("ada", one) for one in told[0]] + [("bob", one) for one in told[1]]
    log = [entry(one, owner, seq) for seq, (owner, one) in enumerate(both, 1)]
    with small_inboxes():
        whole, cut = Partition(log).fold(), Partition(log).fold(iter(sizes), restarts=restarts)
    assert cut.facts == whole.facts
    counts = {
        name: derived([decode_memory(raw) for raw in whole.records.get(name, {}).values()]) for name in whole.owners
    }
    assert {name: owner.state.waiting for name, owner in whole.owners.items()} == counts
    full = sum(count >= MOST for count in counts.values())
    assert (whole.checkpoint.waiting, whole.checkpoint.full) == (sum(counts.values()), full)


@QUICK
@given(doubtful())
def test_a_fold_for_answers_counts_as_the_fold_of_the_store_does(told: list[Told]) -> None:
    with small_inboxes():
        history = fold_owner(stored(told), secret=secret_of("ada"))
        records = fold_records(stored(told))
    assert history.owner.waiting == derived(list(history.memories.values()))
    assert records.memories.keys() == history.memories.keys()


@QUICK
@given(doubtful())
def test_beyond_the_bound_only_a_persons_word_lets_more_wait_and_what_is_refused_changes_nothing(
    told: list[Told],
) -> None:
    owner, memories = OwnerState(), dict[str, Memory]()
    with small_inboxes():
        for one in stored(told):
            event = decode(one.kind, one.body)
            step = fold_event(owner, memories, event, one, secret=secret_of("ada"))
            own = (event.trust or ASSERTED) == ASSERTED
            assert own or step.owner.waiting <= max(owner.waiting, MOST)
            owner, memories = step.owner, memories | step.changed
