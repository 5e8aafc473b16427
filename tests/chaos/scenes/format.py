"""Scenes about the log's own format: recorded times where a clock ran ahead, and an upgrade that is killed again and again."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from random import Random

import orjson

from events.partitions import LogKeys
from tests.chaos.cast import Server, wait_until
from tests.chaos.held import HeldDoor
from tests.chaos.ledger import Line
from tests.chaos.scene import Ground, on_a_redis
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict
from tests.integration.brought import again
from tests.release_0_2_0 import pinned, restore

AHEAD_MICROS = 8_000_000
KILLS = 5
STEPS = 160
"""Requests of an upgrade of the pinned store, about; one is killed before one of them."""


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


def an_upgrade_killed(folder: Path, seed: int) -> Verdict:
    """SIGKILL at requests drawn by the seed; nothing can be appended meanwhile, and the next run goes on."""
    rng = Random(f"{seed}:upgrade")
    with ExitStack() as stack:
        server = Server(folder)
        stack.callback(server.close)
        server.start()
        client = server.client()
        restore(client, pinned()["keys"])
        ground = Ground(folder, server)
        stack.callback(ground.close)
        before = {name: client.xrange(name) for name in client.scan_iter("*:ev")}
        killed = [_killed(ground, rng.randrange(1, STEPS), rng, folder) for _ in range(KILLS)]
        assert any(killed), "some runs were killed before they were done"
        code, told = ground.command("upgrade", "--yes", "--alone")
        assert (code, told["done"]) == (0, True), told
        assert {name: client.xrange(name) for name in client.scan_iter("*:ev")} == before
        traffic = Traffic(client, seed, busy=3)
        stack.callback(traffic.close)
        old = _take_in(traffic)
        for tag in traffic.tags:  # the build that 0.2.0 folded is no work of this release: nobody judges it
            for name in client.hkeys(LogKeys(tag).meta):
                if name.startswith(b"old:"):
                    client.hdel(LogKeys(tag).meta, name)
                    client.delete(*client.scan_iter(f"{{{tag}}}:{name[4:].decode()}:*"))
        ground.worker()
        traffic.flows()
        for line in old:  # sent once more, each is known where it lies
            traffic.delivered([line])
        verdict = traffic.settled(parked=1)
        code, told = ground.command("verify")
        assert (code, told["ok"]) == (0, True), told
        return verdict


def _killed(ground: Ground, at: int, rng: Random, folder: Path) -> bool:
    """An upgrade that is killed before its request of that number; whether it was not done before. Nothing can be appended then."""
    left = at

    def reached(_sent: bytes) -> bool:
        nonlocal left
        left -= 1
        return left <= 0

    with closing(HeldDoor(ground.server.socket, reached)) as door:
        upgrade = ground.beside("upgrade", "--yes", "--alone", "--json", url=door.url)
        wait_until(lambda: door.closed.is_set() or upgrade.code is not None, "the upgrade stands before a request")
        done = upgrade.code is not None
        assert upgrade.code in (0, None), upgrade.told()
        upgrade.kill()
    if done:
        return False
    event = folder / "event.jsonl"
    event.write_bytes(orjson.dumps(_said(rng)) + b"\n")
    code, told = ground.command("append", str(event))
    assert code != 0, told
    return True


def _said(rng: Random) -> dict[str, object]:
    number = f"{rng.getrandbits(48):012x}"
    return {
        "event_id": f"00000000-0000-7000-8000-{number}",
        "type": "MemoryCreated",
        "schema_version": 1,
        "owner": "ada",
        "actor": "user",
        "occurred_at": "2026-01-02T08:00:00Z",
        "data": {"memory_id": f"m{number}", "content": "tea", "category": "fact", "kind": "note", "source": "user"},
    }


def _take_in(traffic: Traffic) -> list[Line]:
    """What 0.2.0 had appended, as lines of the ledger: acknowledged where it lies."""
    lines = []
    for partition in range(len(traffic.tags)):
        after = 0
        while batch := traffic.log.read(partition, after):
            for one in batch:
                line = traffic.ledger.enter("0.2.0", again(one))
                line.position = (partition, one.seq)
                lines.append(line)
            after = batch[-1].seq
    return lines
