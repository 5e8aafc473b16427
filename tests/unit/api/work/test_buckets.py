"""Token buckets of keys: who may ask now, and when again."""

from __future__ import annotations

from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.admission import BURST_SECONDS, MOST_BUCKETS, OF_ONE_OWNER, Buckets, Rates
from engramlog_server.events.errors import TooManyRequests


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def asks_until_refused(buckets: Buckets, owner: str | None, most: int = 10_000) -> int:
    for count in range(most):
        try:
            buckets.take("support", owner)
        except TooManyRequests:
            return count
    return most


def test_ten_seconds_worth_may_come_at_once_and_a_quarter_about_one_owner() -> None:
    rates = Rates(requests=8)
    assert asks_until_refused(Buckets(rates, Clock()), None) == 8 * BURST_SECONDS
    assert asks_until_refused(Buckets(rates, Clock()), "alice") == 8 * BURST_SECONDS * OF_ONE_OWNER


def test_what_is_refused_says_of_what_whose_and_when_again() -> None:
    refused, clock = list[str](), Clock()
    buckets = Buckets(Rates(requests=0.5), clock, refused.append)
    asks_until_refused(buckets, None)
    with pytest.raises(
        TooManyRequests, match=r"requests: support took more than 0.5 a second; come again in 2 s"
    ) as found:
        buckets.take("support", None)
    assert found.value.context["retry_after"] == 2
    assert refused == ["requests", "requests"]
    clock.now += 2
    buckets.take("support", None)


def test_bytes_and_cpu_are_charged_afterwards_and_waited_for() -> None:
    clock = Clock()
    buckets = Buckets(Rates(cpu=1.0), clock)
    buckets.take("support", "alice")
    buckets.charge("support", "alice", cpu=12.5)
    with pytest.raises(TooManyRequests, match=r"CPU seconds: support took more than 0.25 a second about one owner"):
        buckets.take("support", "alice")
    with pytest.raises(TooManyRequests, match=r"CPU seconds: support took more than 1 a second;"):
        buckets.take("support", "bob")
    clock.now += 3
    buckets.take("support", "bob")
    with pytest.raises(TooManyRequests):
        buckets.take("support", "alice")
    clock.now += 40
    buckets.take("support", "alice")


def test_one_principal_does_not_wait_for_another() -> None:
    buckets = Buckets(Rates(bytes=10), Clock())
    buckets.charge("support", None, size=1_000)
    with pytest.raises(TooManyRequests, match="bytes"):
        buckets.take("support", None)
    buckets.take("sales", "alice")


def test_without_rates_nothing_is_bounded() -> None:
    buckets = Buckets(clock=Clock())
    buckets.charge("support", None, size=10**15, cpu=10**9)
    assert asks_until_refused(buckets, "alice", 1_000) == 1_000
    assert not buckets.bound


def test_a_clock_that_steps_back_gives_nothing() -> None:
    clock = Clock()
    buckets = Buckets(Rates(requests=1), clock)
    asks_until_refused(buckets, None)
    clock.now -= 50
    assert asks_until_refused(buckets, None) == 0
    clock.now += 51
    assert asks_until_refused(buckets, None) == 1


def test_however_many_owners_are_named_so_many_buckets_are_held() -> None:
    buckets = Buckets(Rates(requests=1e6), Clock())
    for number in range(MOST_BUCKETS + 100):
        buckets.take("support", f"o{number}")
    assert len(buckets._held) == MOST_BUCKETS


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(0, 3)), max_size=60))
def test_never_more_than_the_rate_and_a_burst(steps: list[tuple[float, int]]) -> None:
    clock, taken = Clock(), 0
    buckets, began = Buckets(Rates(requests=2), clock), clock.now
    for passed, asks in steps:
        clock.now += passed
        for _ in range(asks):
            try:
                buckets.take("support", None)
                taken += 1
            except TooManyRequests:
                pass
        assert taken <= 2 * BURST_SECONDS + 2 * (clock.now - began) + 1e-6


def test_threads_that_charge_at_once_lose_nothing() -> None:
    buckets = Buckets(Rates(bytes=1.0), Clock())
    threads = [
        Thread(target=lambda: [buckets.charge("support", "alice", size=1) for _ in range(1_000)]) for _ in range(4)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert buckets._held[("support", None)].left[1] == 10 - 4_000
