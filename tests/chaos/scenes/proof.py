"""The scene in which somebody writes a number into what is stored."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec

from engramlog_server.events.envelope import Stored
from engramlog_server.projections.fold.changelog import unpack
from engramlog_server.projections.redis.builds import BuildKeys, drop_build
from tests.chaos.attendants import live_keys
from tests.chaos.build import judge_build
from tests.chaos.scene import on_a_redis
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict


def a_tampered_number(folder: Path, seed: int) -> Verdict:
    """Somebody sets a weight in the change log of an owner who is told of no more: nothing is written over it."""
    rng = Random(f"{seed}:tampered")
    with on_a_redis(folder, seed) as (ground, traffic):
        ground.worker()
        traffic.flows()
        partition = rng.choice(traffic.partitions)
        owner = traffic.owner_of(partition, 2)
        traffic.tells(owner, 6)
        build = live_keys(traffic.wire, traffic.tags[partition])
        _tamper(traffic, build, owner, rng)
        code, told = ground.command("verify")
        assert (code, told["ok"]) == (1, False)
        assert {(one["partition"], one.get("owner")) for one in told["differences"]} == {(partition, owner)}, told
        traffic.goes_on(traffic.partitions)
        assert ground.command("rebuild", "--partition", str(partition))[0] == 0
        assert ground.command("verify")[1]["ok"]
        traffic.goes_on(traffic.partitions)
        _forget_the_forged_build(traffic, partition, build, owner)
        return traffic.settled()


def _tamper(traffic: Traffic, build: BuildKeys, owner: str, rng: Random) -> None:
    """Another number in the middle of the packed bytes: nothing else differs, not even their length."""
    key = build.tail(owner)
    raw = traffic.wire.call("GET", key)
    entry = rng.choice([one for one in unpack(raw)[1] if one.new_weight])
    forged = msgspec.structs.replace(entry, new_weight=0.0111)
    pack = msgspec.msgpack.Encoder()
    assert raw.count(pack.encode(entry)) == 1
    traffic.wire.call("SET", key, raw.replace(pack.encode(entry), pack.encode(forged)))


def _forget_the_forged_build(traffic: Traffic, partition: int, build: BuildKeys, owner: str) -> None:
    """The build that was replaced still has the number, and the verdict can tell; then it is dropped."""
    written: list[Stored] = []
    while batch := traffic.log.read(partition, len(written)):
        written += batch
    found = judge_build(traffic.wire, build, written).differences
    assert len(found) == 1, found
    assert f"{build.log.tag} {owner}: change log" in found[0]
    drop_build(traffic.wire, build)
    traffic.wire.call("HDEL", build.log.meta, f"old:{build.build}")
