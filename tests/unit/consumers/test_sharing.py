"""How workers share partitions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.consumers.fold.worker import (
    even_most,
    is_free,
    next_aside,
    order_of_tries,
    renewal_seconds,
    surplus,
)
from engramlog_server.events.redis.cluster import poll_seconds
from tests.rows import each_row


def test_what_is_above_the_share_is_given_up_and_the_same_by_all() -> None:
    assert surplus({5, 1, 3}, 2) == [5]
    assert surplus([5, 1, 3], 3) == surplus([], 4) == []


def test_every_partition_is_tried_once_and_workers_of_one_host_begin_far_apart() -> None:
    names = [f"worker-7f9c-{process}-{process * 7919 % 16**6:06x}" for process in range(1_000, 1_008)]
    orders = [list(order_of_tries(name, 1_024)) for name in names]
    assert all(sorted(order) == list(range(1_024)) for order in orders)
    firsts = sorted(order[0] for order in orders)
    assert firsts[-1] - firsts[0] > 512  # by the sum of their letters, all began within some two hundred
    assert list(order_of_tries("any", 1)) == [0]


@each_row(
    ("holder", "ends", "free"),
    [
        (None, 0, True),
        ("me", 1_900, True),
        ("other", 1_900, False),
        ("other", 1_000, True),
        ("other", 999, True),
        ("other", 1_000 + 4 * 300, False),
        ("other", 1_001 + 4 * 300, True),
    ],
)
def test_a_lease_is_free_where_nobody_has_it_or_it_ended_or_is_of_before_the_clock_went_back(
    holder: str | None, ends: float, free: bool
) -> None:
    assert is_free(holder, ends, "me", 1_000, 300) is free


def test_what_cannot_be_served_is_left_alone_longer_each_time() -> None:
    waits: list[float] = []
    while len(waits) < 5:
        waits.append(next_aside(waits[-1] if waits else None))
    assert waits == [0.25, 0.5, 1.0, 2.0, 2.0]


def test_leases_are_renewed_three_times_and_streams_looked_at_seldomer_where_there_are_many() -> None:
    assert renewal_seconds(3_000) == 1.0
    assert [poll_seconds(many) for many in (1, 20, 128)] == [0.02, 0.02, 0.128]


@given(st.lists(st.integers(0, 1_000), max_size=30), st.integers(-5, 20_000))
def test_what_is_kept_is_shared_out_so_that_small_ones_keep_all_and_nothing_is_wasted(
    kept: list[int], most: int
) -> None:
    each = even_most(kept, most)
    after = [min(one, each) for one in kept]
    assert sum(after) <= max(most, 0)
    assert after == kept or sum(after) > most - len(kept)  # less than one each is left over
