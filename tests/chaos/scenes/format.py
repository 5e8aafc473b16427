"""Scenes about the log's own format: recorded times where a clock ran ahead."""

from __future__ import annotations

from pathlib import Path

from engramlog_server.events.partitions import LogKeys
from tests.chaos.cast import wait_until
from tests.chaos.scene import on_a_redis
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict

AHEAD_MICROS = 8_000_000


def a_clock_behind_the_log(folder: Path, seed: int) -> Verdict:
    """The newest recorded time of every partition is ahead of the clock, as a clock leaves it that ran ahead and was mended."""
    with on_a_redis(folder, seed) as (ground, traffic):
        ground.worker()
        traffic.flows()
        ahead = [int(traffic.wire.call("HINCRBY", LogKeys(tag).meta, "rec", AHEAD_MICROS)) for tag in traffic.tags]
        alarm = traffic.alarmed("clock_back")
        assert "is recorded at that time" in alarm.text
        traffic.goes_on(traffic.partitions)
        held = [_clocks(traffic, tag) for tag in traffic.tags]
        assert all(held), "each partition has events with what the clock said"
        wait_until(lambda: not traffic.alarms(), "the clock has caught up, and the alarm is over")
        traffic.goes_on(traffic.partitions)
        verdict = traffic.settled()
        for tag, reached in zip(traffic.tags, ahead, strict=True):
            clocks = _clocks(traffic, tag)
            assert {recorded for recorded, _ in clocks} == {reached}, (
                "as long as the clock is behind, time stands still"
            )
            assert [clock for _, clock in clocks] == sorted(clock for _, clock in clocks)
            assert max(clock for _, clock in clocks) < reached
        code, told = ground.command("verify")
        assert (code, told["ok"]) == (0, True), told
        return verdict


def _clocks(traffic: Traffic, tag: str) -> list[tuple[int, int]]:
    """Recorded time and clock of the entries that tell both."""
    partition = traffic.tags.index(tag)
    found, after = [], 0
    while batch := traffic.log.read(partition, after):
        found += [(int(one.beside[0]), int(one.beside[5])) for one in batch if len(one.beside) > 5]
        after = batch[-1].seq
    return found
