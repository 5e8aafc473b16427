"""What every event log promises: one suite for the log in memory and for Redis Streams."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import RequestTooLarge
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import parse_position, partition_of, position_text, spread_tags
from engramlog_server.events.redis.log import RedisEventLog
from tests.given.clusters.named import client_named
from tests.given.samples import NOW, mention, owner_in, side_events
from tests.patience import PATIENCE
from tests.rows import each_row

PARTITIONS = 4
HERE, THERE = owner_in(1, PARTITIONS), owner_in(2, PARTITIONS)
BESIDE = owner_in(1, PARTITIONS, nth=1)
"""Two owners of one partition, and one of another."""


@pytest.fixture(params=["memory", "fakeredis", "valkey", "redis-7", "redis-8", "redis-cluster"])
def log(request: pytest.FixtureRequest) -> Iterator[EventLog]:
    if request.param == "memory":
        yield InMemoryEventLog(lambda: NOW, PARTITIONS)
        return
    name = request.param
    client = client_named(name, request)
    adapter = RedisEventLog(client, spread_tags(PARTITIONS))
    yield adapter
    adapter.close()
    client.close()


def told(receipts: list[AppendReceipt]) -> list[tuple[str, str | None]]:
    return [(receipt.status, receipt.position) for receipt in receipts]


def whole(log: EventLog, partition: int) -> list[Prepared]:
    """Everything in a partition, without what only the log knows."""
    return [(entry.seq, entry.kind, entry.raw_id, entry.owner, entry.body) for entry in log.read(partition, 0, 100_000)]


def as_stored(events: list[Prepared]) -> list[tuple[int, str, bytes, str, bytes]]:
    return [(i, event.kind, event.raw_id, event.owner, event.body) for i, event in enumerate(events, 1)]


def test_seqs_have_no_gap_and_entries_keep_the_order_and_bytes_in_which_they_were_sent(log: EventLog) -> None:
    events = [mention(i, HERE, f"m{i}") for i in range(9)]
    for start in (0, 1, 4):
        log.append(events[start : {0: 1, 1: 4, 4: 9}[start]])
    assert whole(log, 1) == as_stored(events)


def test_receipts_stand_in_input_order_each_with_the_position_in_its_own_partition(log: EventLog) -> None:
    events = [mention(i, owner) for i, owner in enumerate([HERE, THERE, HERE, BESIDE, THERE])]
    receipts = log.append(events)
    assert [receipt.event_id for receipt in receipts] == [event.event_id for event in events]
    assert told(receipts) == [
        ("appended", "1:1"),
        ("appended", "2:1"),
        ("appended", "1:2"),
        ("appended", "1:3"),
        ("appended", "2:2"),
    ]


def test_sending_again_gives_the_first_positions_and_adds_nothing_also_after_other_events(log: EventLog) -> None:
    batch = [mention(1, HERE), mention(2, THERE), mention(3, HERE)]
    first = log.append(batch)
    log.append([mention(4, HERE), mention(5, THERE)])
    again = log.append(batch)
    assert told(again) == [("already_appended", receipt.position) for receipt in first]
    assert [log.head(1), log.head(2)] == [3, 2]


def test_one_event_twice_in_a_request_is_written_once(log: EventLog) -> None:
    receipts = log.append([mention(1, HERE), mention(2, HERE), mention(1, HERE)])
    assert told(receipts) == [("appended", "1:1"), ("appended", "1:2"), ("already_appended", "1:1")]
    assert log.head(1) == 2


def test_an_id_reused_with_other_content_leaves_its_partition_unwritten_and_other_partitions_written(
    log: EventLog,
) -> None:
    log.append([mention(1, HERE), mention(2, HERE)])
    before = whole(log, 1)
    receipts = log.append(
        [mention(3, HERE), mention(1, HERE, "other"), mention(2, HERE), mention(4, THERE), mention(5, BESIDE)]
    )
    assert told(receipts) == [
        ("not_written", None),
        ("conflict", "1:1"),
        ("already_appended", "1:2"),
        ("appended", "2:1"),
        ("not_written", None),
    ]
    assert whole(log, 1) == before
    assert log.owner_head(BESIDE) == 0


def test_an_id_used_twice_with_different_contents_in_one_request_writes_neither(log: EventLog) -> None:
    receipts = log.append([mention(1, HERE), mention(1, HERE, "other")])
    assert told(receipts) == [("not_written", None), ("conflict", None)]
    assert log.head(1) == 0
    assert told(log.append([mention(1, HERE)])) == [("appended", "1:1")]


def test_nobody_can_take_an_id_from_another_owner_of_the_partition(log: EventLog) -> None:
    log.append([mention(1, HERE)])
    assert told(log.append([mention(1, BESIDE), mention(1, HERE)])) == [
        ("appended", "1:2"),
        ("already_appended", "1:1"),
    ]


def test_an_expected_head_that_holds_lets_the_request_in(log: EventLog) -> None:
    assert told(log.append([mention(1, HERE), mention(2, HERE)], expected_heads={HERE: 0})) == [
        ("appended", "1:1"),
        ("appended", "1:2"),
    ]
    assert told(log.append([mention(3, HERE)], expected_heads={HERE: 2})) == [("appended", "1:3")]


def test_a_wrong_expected_head_leaves_its_partition_unwritten_and_tells_the_head(log: EventLog) -> None:
    log.append([mention(1, HERE), mention(2, HERE)])
    before = whole(log, 1)
    receipts = log.append(
        [mention(3, HERE), mention(4, BESIDE), mention(5, THERE)], expected_heads={HERE: 1, BESIDE: 0, THERE: 0}
    )
    assert told(receipts) == [("head_mismatch", "1:2"), ("not_written", None), ("appended", "2:1")]
    assert whole(log, 1) == before


def test_duplicates_are_recognised_before_the_head_is_compared(log: EventLog) -> None:
    batch = [mention(1, HERE), mention(2, HERE)]
    log.append(batch, expected_heads={HERE: 0})
    log.append([mention(3, HERE)])
    assert told(log.append(batch, expected_heads={HERE: 0})) == [
        ("already_appended", "1:1"),
        ("already_appended", "1:2"),
    ]
    assert told(log.append([*batch, mention(4, HERE)], expected_heads={HERE: 0})) == [
        ("already_appended", "1:1"),
        ("already_appended", "1:2"),
        ("head_mismatch", "1:3"),
    ]


def test_a_conflict_is_told_before_a_wrong_head(log: EventLog) -> None:
    log.append([mention(1, HERE)])
    receipts = log.append([mention(1, HERE, "other"), mention(2, HERE)], expected_heads={HERE: 9})
    assert told(receipts) == [("conflict", "1:1"), ("not_written", None)]


def test_a_head_expected_of_an_owner_who_is_not_in_the_request_is_of_no_matter(log: EventLog) -> None:
    assert told(log.append([mention(1, HERE)], expected_heads={BESIDE: 5, THERE: 9})) == [("appended", "1:1")]


def test_accesses_turns_and_tool_results_do_not_move_the_owners_head(log: EventLog) -> None:
    log.append([mention(1, HERE)])
    log.append(side_events(HERE))
    assert (log.head(1), log.owner_head(HERE)) == (4, 1)
    assert told(log.append([mention(2, HERE)], expected_heads={HERE: 1})) == [("appended", "1:5")]
    assert log.owner_head(HERE) == 5


def test_an_expected_head_holds_for_an_access_too(log: EventLog) -> None:
    log.append([mention(1, HERE)])
    access = side_events(HERE)[0]
    assert told(log.append([access], expected_heads={HERE: 0})) == [("head_mismatch", "1:1")]
    assert told(log.append([access], expected_heads={HERE: 1})) == [("appended", "1:2")]


def test_owners_of_one_partition_have_heads_of_their_own(log: EventLog) -> None:
    log.append([mention(1, HERE), mention(2, BESIDE), mention(3, HERE)])
    assert (log.owner_head(HERE), log.owner_head(BESIDE), log.owner_head(THERE)) == (3, 2, 0)


def test_reading_goes_on_after_a_seq_and_stops_at_the_limit(log: EventLog) -> None:
    log.append([mention(i, HERE) for i in range(7)])
    assert [entry.seq for entry in log.read(1, 0, 3)] == [1, 2, 3]
    assert [entry.seq for entry in log.read(1, 3, 3)] == [4, 5, 6]
    assert [entry.seq for entry in log.read(1, 6, 3)] == [7]
    assert [log.read(1, 7), log.read(1, 100), log.read(0, 0)] == [[], [], []]


def test_single_entries_are_read_in_the_order_asked_and_those_that_do_not_exist_are_left_out(log: EventLog) -> None:
    log.append([mention(i, HERE) for i in range(5)])
    assert [entry.seq for entry in log.read_at(1, [5, 1, 2, 9, 4])] == [5, 1, 2, 4]
    assert log.read_at(1, []) == []
    assert log.read_at(0, [1]) == []


def test_more_single_entries_than_one_read_holds_are_all_there(log: EventLog) -> None:
    log.append([mention(i, HERE) for i in range(1_000)])
    log.append([mention(i, HERE) for i in range(1_000, 1_300)])
    every_second = list(range(1, 1_301, 2))
    assert [entry.seq for entry in log.read_at(1, every_second)] == every_second
    assert [entry.seq for entry in log.read_at(1, range(1, 1_301))] == list(range(1, 1_301))


def test_a_thousand_events_are_one_request_and_one_more_is_too_large(log: EventLog) -> None:
    events = [mention(i, f"o{i}") for i in range(1_001)]
    with pytest.raises(RequestTooLarge, match="1001 events; at most 1000"):
        log.append(events)
    assert [log.head(partition) for partition in range(PARTITIONS)] == [0] * PARTITIONS
    assert Counter(receipt.status for receipt in log.append(events[:1_000])) == {"appended": 1_000}


@each_row("owner", ["小明", "Ünïcode", "мария", "ذاكرة", "हिन्दी", "o/ops@example.org:+1", "𝒜", "a" * 128])
def test_owners_of_any_script_are_kept_as_they_are(log: EventLog, owner: str) -> None:
    partition = partition_of(owner, PARTITIONS)
    seq = log.head(partition) + 1
    receipts = log.append([mention(1, owner)], expected_heads={owner: 0})
    assert told(receipts) == [("appended", position_text(partition, seq))]
    assert [entry.owner for entry in log.read(partition, seq - 1)] == [owner]
    assert log.owner_head(owner) == seq
    assert told(log.append([mention(2, owner)], expected_heads={owner: 99})) == [
        ("head_mismatch", position_text(partition, seq))
    ]


def test_appenders_at_once_lose_nothing_and_double_nothing(log: EventLog) -> None:
    """Six threads send forty requests each; every request is sent by two of them."""
    owners = [HERE, BESIDE, THERE]
    requests = [[mention(f"{n} {i}", owners[(n + i) % 3], f"m{n}") for i in range(3)] for n in range(120)]
    start = threading.Barrier(6)

    def send(thread: int) -> list[tuple[Prepared, AppendReceipt]]:
        start.wait(PATIENCE)
        mine = [request for n, request in enumerate(requests) if thread in (n % 6, (n + 1) % 6)]
        return [pair for request in mine for pair in zip(request, log.append(request), strict=True)]

    with ThreadPoolExecutor(6) as pool:
        answered = [pair for answers in pool.map(send, range(6)) for pair in answers]

    for partition in (1, 2):
        sent = {event.raw_id: event for request in requests for event in request if event.owner in owners}
        entries = log.read(partition, 0, 10_000)
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        assert Counter(entry.raw_id for entry in entries) == Counter(
            raw_id for raw_id, event in sent.items() if partition_of(event.owner, PARTITIONS) == partition
        )
        places = {entry.raw_id: entry.seq for entry in entries}
        mine = [(event, receipt) for event, receipt in answered if event.raw_id in places]
        assert {receipt.position for _, receipt in mine} == {position_text(partition, seq) for seq in places.values()}
        assert all(parse_position(receipt.position or "")[1] == places[event.raw_id] for event, receipt in mine)
    assert Counter(receipt.status for _, receipt in answered) == {"appended": 360, "already_appended": 360}


def test_of_appenders_that_expect_the_same_head_exactly_one_wins(log: EventLog) -> None:
    start = threading.Barrier(4)

    def send(thread: int) -> str:
        start.wait(PATIENCE)
        return log.append([mention(f"rival {thread}", HERE)], expected_heads={HERE: 0})[0].status

    with ThreadPoolExecutor(4) as pool:
        statuses = Counter(pool.map(send, range(4)))
    assert statuses == {"appended": 1, "head_mismatch": 3}
    assert log.head(1) == 1


def test_a_wait_tells_which_partitions_hold_more_and_ends_with_nothing_where_none_does(log: EventLog) -> None:
    assert log.wait_beyond({1: 0, 2: 0}, 0.01) == []
    log.append([mention(1, HERE, "m1"), mention(2, THERE, "m2")])
    assert sorted(log.wait_beyond({0: 0, 1: 0, 2: 0}, 0.01)) == [1, 2]
    assert log.wait_beyond({1: 1, 2: 0}, 0.01) == [2]
    assert log.wait_beyond({}, 0.01) == []


def test_a_wait_ends_as_soon_as_something_is_appended(log: EventLog) -> None:
    if type(log).__name__ == "RedisEventLog" and type(log._wires._client).__name__.startswith("Fake"):  # type: ignore[attr-defined]
        pytest.skip("the stand-in for Redis does not wake who waits")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(log.wait_beyond, {1: 0}, PATIENCE)
        log.append([mention(1, HERE, "m1")])
        assert waiting.result(PATIENCE) == [1]
