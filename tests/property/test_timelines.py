"""What had happened, as it was known: both time lines crossed over events that came late, against a plain list that is filtered."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.api.checks import PRESENT, AsOf, Counted, Owned, RequestedTimes, counted_of
from engramlog_server.events.envelope import Stored, decode, micros
from engramlog_server.projections.fold.owner import OwnerHistory, fold_owner
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.memory.record import DAY
from engramlog_server.projections.past.folding import fold_records
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import Told, at, profile, stored
from tests.given.histories import histories

QUICK = settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
FIRST_RECORDED = at(100)
"""After all that is told happened, so that whatever came out of order came late."""
GAPS = st.lists(st.sampled_from([0, 0, 1, DAY]), min_size=60, max_size=60)
"""Between one recorded time and the next, microseconds: often none, as within one request."""


class Log(NamedTuple):
    """An owner's entries as the log holds them."""

    entries: list[Stored]

    def recorded(self, one: Stored) -> int:
        return one.recorded

    def counted(self, as_of: AsOf = PRESENT, known: AsOf = PRESENT) -> Counted:
        owned = Owned(lambda: [one.seq for one in self.entries], "UTC", lambda seq: self.entries[seq - 1])
        return counted_of(RequestedTimes(as_of, known, None, 0), owned)

    def answered(self, counted: Counted) -> OwnerHistory:
        """What a question is answered from, by the way that questions take."""
        wanted = self.entries if counted.seqs is None else [self.entries[seq - 1] for seq in counted.seqs]
        return fold_owner(wanted, keep=counted.lines.counts, held=lambda _: False)


@st.composite
def logs(draw: st.DrawFn, law: str) -> Log:
    told: list[Told] = [profile(law), *draw(histories)][:60]  # type: ignore[arg-type]
    recorded, entries = FIRST_RECORDED, list[Stored]()
    for one, gap in zip(stored(told), draw(GAPS), strict=False):
        recorded += gap
        entries.append(one._replace(beside=(b"%d" % recorded, b"local", b"0:0", b"", bytes(32))))
    return Log(entries)


def told(history: OwnerHistory, now: int) -> tuple[Any, Any]:
    """Every weight, and what each mode shows."""
    view = OwnerView.of_history("ada", history)
    return history.memories, [listing(ViewQuery(view, now, mode), 100, 0) for mode in ("normal", "review")]


@pytest.mark.parametrize("law", LAWS)
@QUICK
@given(data=st.data())
def test_an_answer_on_both_lines_is_the_fold_of_a_list_of_what_was_recorded_and_had_happened(
    law: str, data: st.DataObject
) -> None:
    log: Log = data.draw(logs(law))
    instants = sorted({log.recorded(one) for one in log.entries})
    happened = sorted({micros(decode(one.kind, one.body).occurred_at) for one in log.entries})
    known = data.draw(st.none() | st.sampled_from(instants).flatmap(lambda one: st.sampled_from([one, one + 1])))
    as_of = data.draw(st.none() | st.sampled_from(happened).flatmap(lambda one: st.sampled_from([one - 1, one])))
    plain = [
        one
        for one in log.entries
        if (known is None or log.recorded(one) <= known)
        and (as_of is None or micros(decode(one.kind, one.body).occurred_at) <= as_of)
    ]
    expected = fold_owner(plain, held=lambda _: False)
    counted = log.counted(AsOf(as_of), AsOf(known))
    found = log.answered(counted)
    assert counted.now == (as_of if as_of is not None else known)
    assert found == expected
    now = counted.now if counted.now is not None else found.newest
    assert told(found, now) == told(expected, now)
    # What is left out because it need not be read is left out of all that is read, too.
    assert fold_owner(log.entries, keep=counted.lines.counts, held=lambda _: False) == expected
    assert fold_records(log.entries, keep=counted.lines.counts).memories.keys() == expected.memories.keys()


@pytest.mark.parametrize("law", LAWS)
@QUICK
@given(data=st.data())
def test_a_position_and_the_time_at_which_it_was_recorded_give_one_answer(law: str, data: st.DataObject) -> None:
    log: Log = data.draw(logs(law))
    seq = data.draw(st.sampled_from([one.seq for one in log.entries]))
    instant = log.recorded(log.entries[seq - 1])
    last = bisect_right(log.entries, instant, key=log.recorded)  # the last of those recorded within one microsecond
    as_of = AsOf(data.draw(st.none() | st.integers(at(0), at(80))))
    by_time, by_place = log.counted(as_of, AsOf(instant)), log.counted(as_of, AsOf(seq=last))
    assert (by_time.seqs, by_time.now) == (by_place.seqs, by_place.now)
    assert log.answered(by_time) == log.answered(by_place)


@QUICK
@given(logs("weighted"))
def test_nothing_counts_of_an_instant_before_the_first_recorded_time(log: Log) -> None:
    assert log.counted(known=AsOf(FIRST_RECORDED - 1)).seqs == []
