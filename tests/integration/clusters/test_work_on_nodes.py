"""What goes on by itself in a store on a cluster: folding anew under traffic, and jobs, whose queue lies in a Redis of its own."""

from __future__ import annotations

from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.partitions import spread_tags
from tests.given.clusters.cluster import GivenCluster
from tests.integration.clusters.on_nodes import PARTITIONS, owners_by_node
from tests.integration.live import Live, live_store, wait_until
from tests.integration.ops.test_up import EVENT, get, post, running
from tests.servers import Servers


def test_partitions_of_every_node_are_folded_anew_while_others_append_and_fold(any_redis_cluster: GivenCluster) -> None:
    owners = owners_by_node(any_redis_cluster, spread_tags(PARTITIONS))
    with live_store(any_redis_cluster.url) as live:
        for owner in owners.values():
            live.append(*(live.created(owner, f"m{number}") for number in range(50)))
        live.start_worker("folder")
        stop = Flag()
        said = Thread(target=_says, args=(live, list(owners.values()), stop))
        said.start()
        try:
            done = [rebuild_partition(live.client, tag, holder=f"rebuild {tag}") for tag in live.identity.tags]
        finally:
            stop.set()
            said.join()
        assert {one.tag for one in done} == set(live.identity.tags)
        assert all(one.new != one.old for one in done)
        wait_until(live.folded)
        assert live.differences() == []


def _says(live: Live, owners: list[str], stop: Flag) -> None:
    number = 0
    while not stop.is_set():
        live.append(*(live.mentioned(owner, f"m{number % 50}") for owner in owners))
        number += 1


def test_jobs_of_every_kind_are_done_in_every_partition_by_a_queue_of_its_own(
    redis_cluster: GivenCluster, redis_servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = redis_servers.get("redis-7")
    monkeypatch.setenv("ENGRAMLOG_QUEUE_URL", queue.url)
    owners = owners_by_node(redis_cluster, spread_tags(PARTITIONS))
    with running(tmp_path / "store", redis_url=redis_cluster.url) as up:
        up.ready()
        said = [
            EVENT | {"event_id": f"00000000-0000-7000-8000-{number:012d}", "owner": owner}
            for number, owner in enumerate(owners.values())
        ]
        assert {one["status"] for one in post(up, said)["receipts"]} == {"appended"}
        told = wait_until(lambda: _done(get(up, "/v1/jobs")))
        assert {one["done_partitions"] for one in told["kinds"]} == {PARTITIONS}
        assert (told["failed"], told["refused"], told["problem"]) == (0, 0, None)
    with queue.client() as client:
        assert client.keys("rq:*")
    for node in redis_cluster.primaries():
        assert node.ask("KEYS", "rq:*") == []


def _done(told: Any) -> Any:
    """What is told of jobs, once each kind that is scheduled was done everywhere."""
    kinds = [one for one in told["kinds"] if one["every_minutes"]]
    return told if kinds and all(one["done_partitions"] == PARTITIONS for one in kinds) else None
