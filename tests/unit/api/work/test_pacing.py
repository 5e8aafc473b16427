"""A log for whoever appends much: its own lag stays bounded, and a full store folds before it gives up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from engramlog_server.api.exchange.turns import HALF, PacedLog
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import NotYetFolded, StoreFull
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import partition_of
from tests.given.records import new_log
from tests.given.samples import mention


class Folding:
    """A log of which so much may be unfolded, and its fold."""

    def __init__(self, log: InMemoryEventLog, most_unfolded: int = 10**9, most: int = 10**9) -> None:
        self._log, self._most_unfolded, self._most = log, most_unfolded, most
        self.folded = dict.fromkeys(range(log.partitions), 0)
        self.greatest_lag = 0
        self.stands_still = False

    @property
    def lag(self) -> int:
        return sum(self._log.head(p) - seq for p, seq in self.folded.items())

    def settle(self, until: Mapping[int, int]) -> None:
        if self.stands_still:
            raise NotYetFolded("nothing was folded")
        self.folded |= {p: max(seq, self.folded[p]) for p, seq in until.items()}

    def append(
        self, events: Sequence[Prepared], *, expected_heads: Any = None, principal: str | None = None
    ) -> list[AppendReceipt]:
        there = sum(self._log.head(p) for p in self.folded)
        if self.lag + len(events) > self._most_unfolded or there + len(events) > self._most:
            raise StoreFull("full", unfolded=self.lag)
        receipts = self._log.append(events, expected_heads=expected_heads, principal=principal)
        self.greatest_lag = max(self.greatest_lag, self.lag)
        return receipts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


def sent(store: Folding, requests: int, told: list[bool] | None = None) -> int:
    """Append so many requests of 1,000 events; how many events went in before the first refusal."""
    log = PacedLog(store, store.settle, (told if told is not None else []).append)  # type: ignore[arg-type]
    for number in range(requests):
        events = [mention(number * 1_000 + n, f"o{n % 7}") for n in range(1_000)]
        try:
            assert all(receipt.written for receipt in log.append(events))
        except StoreFull:
            return number * 1_000
    return requests * 1_000


def test_no_more_than_two_halves_of_an_import_wait_to_be_folded() -> None:
    store = Folding(new_log())
    assert sent(store, 30) == 30_000
    assert HALF < store.greatest_lag <= 2 * HALF


def test_a_store_that_is_full_of_what_waits_folds_and_takes_the_same_request_again() -> None:
    told: list[bool] = []
    store = Folding(new_log(), most_unfolded=2_500)
    assert sent(store, 12, told) == 12_000
    assert told[:2] == [True, False], "whoever looks on is told that it folds, and that it goes on"


def test_a_store_that_is_full_of_what_is_folded_refuses() -> None:
    assert sent(Folding(new_log(), most=6_000), 12) == 6_000


def test_where_nobody_folds_the_refusal_says_full_and_not_that_nothing_was_folded() -> None:
    store = Folding(new_log(), most_unfolded=2_500)
    store.stands_still = True
    assert sent(store, 12) == 2_000


def test_what_stands_still_stops_an_import_before_anything_more_is_appended() -> None:
    store = Folding(new_log())
    store.stands_still = True
    log = PacedLog(store, store.settle)  # type: ignore[arg-type]
    for number in range(2 * HALF // 1_000):
        log.append([mention(number * 1_000 + n, "ada") for n in range(1_000)])
    with pytest.raises(NotYetFolded):
        log.append([mention(-1, "ada")])
    assert store.lag == 2 * HALF


class HalfFull(Folding):
    """A store of two nodes, of which that of the odd partitions is full until what waits there is folded."""

    def append(
        self, events: Sequence[Prepared], *, expected_heads: Any = None, principal: str | None = None
    ) -> list[AppendReceipt]:
        odd = {one.event_id for one in events if partition_of(one.owner, self.partitions) % 2}
        is_full = any(self._log.head(p) - seq > 100 for p, seq in self.folded.items() if p % 2)
        fits = [one for one in events if not (is_full and one.event_id in odd)]
        told = iter(self._log.append(fits, expected_heads=expected_heads, principal=principal))
        return [
            next(told) if one in fits else AppendReceipt(one.event_id, "failed", error="Redis is full")
            for one in events
        ]


def test_a_part_that_a_full_node_refused_is_sent_again_once_all_is_folded() -> None:
    store = HalfFull(new_log())
    assert any(partition_of(f"o{n}", store.partitions) % 2 for n in range(7))
    assert sent(store, 4) == 4_000


def test_a_part_that_is_refused_for_good_is_told() -> None:
    store = HalfFull(new_log())
    sent(store, 1)
    store.stands_still = True
    log = PacedLog(store, store.settle)  # type: ignore[arg-type]
    told = log.append([mention(10_000 + n, f"o{n % 7}") for n in range(1_000)])
    assert {one.status for one in told} == {"appended", "failed"}
