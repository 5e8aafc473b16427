"""What waits for a person is counted by what the records say, in any batches, and only a person lets it grow beyond its bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import ValueRejected
from engramlog_server.events.envelope import decode
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.fold.owner import OwnerState, fold_event, fold_owner
from engramlog_server.projections.fold.trust import things_again, things_waiting
from engramlog_server.projections.memory.record import Memory, decode_memory
from engramlog_server.projections.memory.rejection import Rejections
from engramlog_server.projections.past.folding import fold_records
from tests.examples import examples
from tests.given.events import Told, created, entry, readmitted, rejected, secret_of, stored
from tests.given.histories import FIRST, scenes
from tests.given.partition import Partition

QUICK = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
MOST = 3
trusts: st.SearchStrategy[Trust | None] = st.sampled_from(["proposed", "proposed", "inferred", None])
values = st.sampled_from(
    [rejected("I like coffee", day=5), readmitted("I like coffee", day=40)]
    + [created("I like coffee", f"again{day}", day) for day in (1, 30, 60)]
)
"""What is rejected, said again and readmitted."""


@contextmanager
def small_inboxes() -> Iterator[None]:
    """A bound that a made-up history reaches."""
    with (
        patch("engramlog_server.projections.fold.trust.MOST_WAITING", MOST),
        patch("engramlog_server.projections.fold.partition.MOST_WAITING", MOST),
    ):
        yield


@st.composite
def doubtful(draw: st.DrawFn) -> list[Told]:
    """A history of the user's own word, of what others say of it, and of proposals."""
    told = [*FIRST, *(event for scene in draw(st.lists(scenes, max_size=14)) for event in scene)]
    named = [draw(trusts) for _ in told]
    told = [
        one if trust is None else replace(one, actor="assistant", old=True, extra={**one.extra, "trust": trust})
        for one, trust in zip(told, named, strict=True)
    ]
    for one in draw(st.lists(values, max_size=5)):
        told.insert(draw(st.integers(0, len(told))), one)
    return told


def derived(records: Iterable[Memory], rejections: Rejections) -> int:
    return sum(map(things_waiting, records)) + things_again(rejections)


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
        name: derived(map(decode_memory, whole.records.get(name, {}).values()), owner.state.rejections)
        for name, owner in whole.owners.items()
    }
    assert {name: owner.state.waiting for name, owner in whole.owners.items()} == counts
    full = sum(count >= MOST for count in counts.values())
    assert (whole.checkpoint.waiting, whole.checkpoint.full) == (sum(counts.values()), full)


@QUICK
@given(doubtful())
def test_a_fold_for_answers_counts_as_the_fold_of_the_store_does(told: list[Told]) -> None:
    told = [one for one in told if not isinstance(one.data, ValueRejected)]  # of old entries it knows no digests
    with small_inboxes():
        history = fold_owner(stored(told), secret=secret_of("ada"))
        records = fold_records(stored(told))
    assert history.owner.waiting == derived(history.memories.values(), history.owner.rejections)
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
            again = things_again(step.owner.rejections) - things_again(owner.rejections)
            assert own or step.owner.waiting - again <= max(owner.waiting, MOST)
            owner, memories = step.owner, memories | step.changed
