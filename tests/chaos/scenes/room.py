"""Scenes where there is no more room: in memory, on the disk."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.envelope import Prepared, derived_id, prepare
from engramlog_server.events.errors import StoreFull
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.validation import make_event
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.redis.usage import FoldDebt
from tests.chaos.cast import wait_until
from tests.chaos.ledger import Line
from tests.chaos.scene import grown_file, no_room_beyond, on_a_redis, on_up
from tests.chaos.story import BEGIN, CLOCK
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict

MIB = 1 << 20
ROOM = 8 * MIB
"""Bytes above what is there that the log, and all that is folded of it, may take."""
TEXT = "tea in the morning, 早上喝茶; " * 40
A_FEW_REQUESTS = 8_192
"""Bytes by which the file may grow still, so that it ends in the middle of some request."""


def full_memory_with_lag(folder: Path, seed: int) -> Verdict:
    """Nobody folds, producers go on until they are refused; then the worker wakes, under the same limit."""
    with on_a_redis(folder, seed) as (ground, traffic):
        worker = ground.worker()
        traffic.flows()
        worker.stop()
        used = int(traffic.client.info("memory")["used_memory"])
        traffic.client.config_set("maxmemory", used + ROOM)
        refused = _filled(traffic, seed)
        accepted = traffic.ledger.highest()
        worker.wake()
        wait_until(
            lambda: all(traffic.checkpoint(p) >= seq for p, seq in accepted.items()), "what was accepted is folded"
        )
        assert "maxmemory" not in worker.told(), "no commit was refused for want of memory"
        assert int(traffic.client.info("stats").get("evicted_keys", 0)) == 0
        traffic.client.config_set("maxmemory", 0)
        traffic.delivered(refused)
        traffic.goes_on(traffic.partitions)
        return traffic.settled()


def _filled(traffic: Traffic, seed: int) -> list[Line]:
    """Append large memories until it is refused; gives the request that was.

    By another process: one that is there looks at the limit once a second, and may have looked before it was set.
    """
    log = RedisEventLog(traffic.client, traffic.tags, read_debt=FoldDebt(traffic.tags), marker=MARKER)
    try:
        return _refused(traffic, log, seed)
    finally:
        log.close()


def _refused(traffic: Traffic, log: RedisEventLog, seed: int) -> list[Line]:
    owners = [traffic.owner_of(p, 2) for p in traffic.partitions]
    for request in count():
        lines = [traffic.ledger.enter("filler", _large(seed, owner, request, n)) for owner in owners for n in range(25)]
        try:
            receipts = log.append([line.event for line in lines])
        except StoreFull as error:
            assert error.context["retry_after"] > 0
            return lines
        traffic.ledger.answered(lines, receipts)
        assert all(line.acknowledged for line in lines), "a request is accepted whole, or refused whole"
    raise AssertionError("unreachable")


def _large(seed: int, owner: str, request: int, number: int) -> Prepared:
    data = MemoryCreated(memory_id=f"r{request}n{number}", content=TEXT, category="fact", kind="fact", source="user")
    event_id = derived_id("filler", str(seed), owner, str(request), str(number))
    return prepare(make_event(data, owner=owner, occurred_at=BEGIN, actor="user", now=CLOCK, event_id=event_id))


def a_full_disk(folder: Path, seed: int) -> Verdict:
    """The append-only file of `up`'s Redis cannot grow; when there is room again, somebody starts `up` anew."""
    with on_up(folder, seed) as (up, traffic, start):
        traffic.flows()
        no_room_beyond(up.redis_pid, grown_file(up.data).stat().st_size + A_FEW_REQUESTS)
        wait_until(lambda: up.code is not None, "up ends")
        assert up.code == 1, up.told()
        assert "the private Redis died" in up.told()
        assert "AOF write error" in up.told(), "Redis's own last lines"
        acknowledged = traffic.ledger.highest()
        again = start()
        wait_until(lambda: all(traffic.checkpoint(p) >= seq for p, seq in acknowledged.items()), "all is folded again")
        traffic.goes_on(traffic.partitions)
        verdict = traffic.settled()
        code, answer = again.command("verify")
        assert (code, answer["ok"]) == (0, True), answer
        return verdict
