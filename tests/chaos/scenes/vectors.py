"""The scene in which the embedding job was last scheduled by a clock an hour ahead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engramlog_server.consumers.jobs.run import EMBED, usual
from engramlog_server.consumers.jobs.schedule import BESIDE, has_work, schedule_key
from engramlog_server.events.redis.server import redis_ms
from tests.chaos.cast import wait_until
from tests.chaos.scene import STORE_ID, Ground, on_a_redis
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict
from tests.integration.served import scheduled

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
EMBEDDER = {"ENGRAMLOG_EMBEDDER": "tests.doubles.embedding:WordEmbedder"}
TICK = f"{BESIDE}tick:{EMBED}"


def an_hour_with_vectors(folder: Path, seed: int) -> Verdict:
    """The schedule is as a leader left it whose clock was an hour ahead: the embedding job was done then."""
    with on_a_redis(folder, seed) as (ground, traffic):
        ground.worker()
        traffic.flows()
        verdict = traffic.settled()  # before there are events of jobs, which no producer sent
        ahead = redis_ms(traffic.wire) // MINUTE_MS * MINUTE_MS + HOUR_MS
        traffic.wire.call("HSET", schedule_key(STORE_ID), TICK, ahead)
        worker = ground.actor("engramlog_server.ops.job_worker", "--url", ground.server.url, environment=EMBEDDER)
        with scheduled(ground.server.url, STORE_ID, len(traffic.tags), usual(EMBED)):
            wait_until(lambda: _tick(traffic) != ahead, "it is scheduled by the clock of now")
        wait_until(lambda: not has_work(traffic.wire, STORE_ID, redis_ms(traffic.wire)), "no job waits or runs")
        worker.end()
        code, told = _command(ground, "cleanup", "--all", "--job", "embed")
        assert code == 0, told
        assert (told["embedded"], told["left"], told["failed"]) == (0, 0, []), f"memories without a vector: {told}"
        assert told["already"] > 0
        assert _command(ground, "verify")[1]["ok"]
        return verdict


def _command(ground: Ground, *words: str) -> tuple[int, dict[str, Any]]:
    return ground.command(*words, environment=EMBEDDER)


def _tick(traffic: Traffic) -> int:
    return int(traffic.wire.call("HGET", schedule_key(STORE_ID), TICK) or 0)
