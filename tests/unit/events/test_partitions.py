"""Owners are spread over partitions, and positions are written and read."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot

from engramlog_server.events.log import AppendReceipt, positions_by_partition
from engramlog_server.events.partitions import (
    DEDUPE_BUCKETS,
    LogKeys,
    crc16,
    dedupe_bucket,
    parse_position,
    partition_of,
    position_text,
    ranges,
)
from tests.rows import each_row


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}"), max_size=40))
def test_the_hash_of_an_owner_is_the_one_of_redis_cluster(owner: str) -> None:
    assert crc16(owner) % 16_384 == key_slot(owner.encode())
    assert partition_of(owner, 16) == crc16(owner) % 16


def test_the_hash_is_crc16_xmodem() -> None:
    assert crc16("123456789") == 0x31C3


def test_owners_are_spread_over_all_partitions() -> None:
    counts = Counter(partition_of(f"user-{i}", 16) for i in range(16_000))
    assert set(counts) == set(range(16))
    assert max(counts.values()) < 2 * min(counts.values())


@given(st.binary(min_size=16, max_size=16))
def test_an_event_has_one_dedupe_bucket(raw_id: bytes) -> None:
    tag, _, bucket = LogKeys("t").dedupe_of(dedupe_bucket(raw_id)).partition(":ids:")
    assert (tag, 0 <= int(bucket) < DEDUPE_BUCKETS) == ("{t}", True)


@given(st.integers(0, 1_023), st.integers(1, 10**15))
def test_a_position_reads_back(partition: int, seq: int) -> None:
    assert parse_position(position_text(partition, seq)) == (partition, seq)


@each_row("text", ["", ":", "3", "3:", ":7", "a:1", "1:b", "1:-1", "1:2:3", " 1:2", "1: 2", "٣:١", "1:²"])
def test_what_is_no_position_is_told_how_one_is_written(text: str) -> None:
    with pytest.raises(ValueError, match=r"a position is written partition:seq, e\.g\. 3:128"):
        parse_position(text)


def test_of_several_positions_the_newest_of_each_partition_counts() -> None:
    assert positions_by_partition(["1:5", "2:1", "1:9", "1:7"]) == {1: 9, 2: 1}


def test_a_receipt_is_written_as_json_with_an_error_only_where_there_is_one() -> None:
    plain = AppendReceipt("e1", "appended", "1:2", True, 1)
    assert plain.as_dict() == {
        "event_id": "e1",
        "status": "appended",
        "position": "1:2",
        "fsynced": True,
        "replicas": 1,
    }
    assert AppendReceipt("e1", "failed", error="full").as_dict()["error"] == "full"
    written = {
        status
        for status in ("appended", "already_appended", "conflict", "head_mismatch", "not_written", "failed")
        if AppendReceipt("e1", status).written
    }  # type: ignore[arg-type]
    assert written == {"appended", "already_appended"}


@each_row(
    ("numbers", "text"), [([], ""), ([3], "3"), ([0, 1, 2], "0-2"), ([9, 5, 4, 4, 0], "0, 4-5, 9"), ([1, 0], "0-1")]
)
def test_numbers_are_told_as_ranges_in_order(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text
