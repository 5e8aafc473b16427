"""The scene in which `engramlog rebuild` is killed in the middle of a partition, while traffic goes on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from engramlog_server.projections.redis.builds import next_build
from engramlog_server.projections.redis.store import COMMIT
from tests.chaos.attendants import live_keys
from tests.chaos.cast import wait_until
from tests.chaos.held import HeldDoor
from tests.chaos.scene import Ground, on_a_redis
from tests.chaos.story import OwnerStory
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict

STRUCK = 1
"""The second partition of four: one is done before, two are left."""
EVENTS = 600
"""More than one piece of a rebuild holds, and fewer than two."""


def a_rebuild_killed(folder: Path, seed: int) -> Verdict:
    """SIGKILL while its second piece of a partition is on its way: the first one stands, the rest is not there."""
    with on_a_redis(folder, seed) as (ground, traffic):
        ground.worker()
        traffic.flows()
        _much(traffic)
        builds = [live_keys(traffic.wire, tag).build for tag in traffic.tags]
        _killed(ground, traffic)
        left = next_build(builds[STRUCK])
        alarm = traffic.alarmed("rebuild_left", f"partition {STRUCK}")
        assert alarm.text == f"build {left} was folded up to 0", "of what follows, one owner is written"
        _, status = ground.command("status")
        assert [one["rebuild"] and one["rebuild"]["build"] for one in status["partitions"]] == [None, left, None, None]
        traffic.goes_on(traffic.partitions)
        answers = "a build that is neither live nor being made"
        assert {one["what"] for one in ground.command("verify")[1]["differences"]} == {answers}
        code, told = ground.command("rebuild")
        assert (code, told["done_before"]) == (0, [0])
        assert [one["partition"] for one in told["switched"]] == [1, 2, 3]
        now_live = [live_keys(traffic.wire, tag).build for tag in traffic.tags]
        assert now_live == [next_build(build) for build in builds], "each was switched once"
        code, told = ground.command("verify")
        assert (code, told["ok"]) == (0, True), told
        traffic.goes_on(traffic.partitions)
        return traffic.settled()


def _much(traffic: Traffic) -> None:
    """One owner of the struck partition has more events than a piece holds."""
    story = OwnerStory(0, traffic.owner_of(STRUCK, 2))
    for _ in range(EVENTS // 100):
        traffic.delivered([traffic.ledger.enter("scene", story.next()) for _ in range(100)])
    reached = traffic.ledger.highest()[STRUCK]
    wait_until(lambda: traffic.checkpoint(STRUCK) >= reached, "all of it is folded")


def _killed(ground: Ground, traffic: Traffic) -> None:
    """A rebuild of its own process, held at that commit and killed there."""
    commits = 0
    sha, tag = COMMIT.sha.encode(), f"{{{traffic.tags[STRUCK]}}}:".encode()

    def second(sent: bytes) -> bool:
        nonlocal commits
        commits += sha in sent and tag in sent and b"EVALSHA" in sent
        return commits == 2

    with closing(HeldDoor(ground.server.socket, second)) as door:
        rebuild = ground.beside("rebuild", "--json", url=door.url)
        wait_until(door.closed.is_set, "the rebuild is in the middle of a partition")
        assert rebuild.code is None, rebuild.told()
        rebuild.kill()
