"""The scenes that are played for real and simulated, and what is told of each in both worlds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, NamedTuple

import redis

from events.redis.wire import connect
from ops.planning.simulation.asked import DAY, Happening, SimulationAsked
from ops.planning.simulation.running import Simulated, simulate
from tests.chaos.cast import Server
from tests.given.clusters.beside import queue_beside
from tests.given.clusters.cluster import GivenCluster
from tests.servers import newer_server, wheel_server
from tests.simulated.looking import between
from tests.simulated.played import BATCH_SECONDS, Producer, Scene, Seen

WARM = 3.0
"""Seconds of events before anything is looked at."""
TRIED = 100
"""Writes that tell how long the disk takes."""
LOADED = 30.0
"""Seconds that a simulated scene begins before what is compared."""
Rows = dict[str, float]


class Place(NamedTuple):
    """Where a scene is played."""

    scene: Scene
    servers: list[redis.Redis]
    processes: list[int]
    cluster: GivenCluster | None
    fsync_ms: float


@contextmanager
def on_one(partitions: int, workers: int) -> Iterator[Place]:
    """One Redis that syncs every write, and workers that share it."""
    with ExitStack() as last:
        folder = Path(last.enter_context(TemporaryDirectory()))
        server = Server(folder, binary=newer_server() or wheel_server())
        last.callback(server.close)
        server.start()
        client = last.enter_context(server.client())
        environment = {"ENGRAMLOG_REDIS_URL": server.url, "ENGRAMLOG_DATA": str(folder / "data")}
        scene = Scene(client, environment, folder, partitions)
        last.callback(scene.end)
        for _ in range(workers):
            scene.worker()
        scene.await_shared()
        yield Place(scene, [client], [server.pid], None, written_ms(client))


@contextmanager
def on_many(partitions: int, workers: int, *, replicas: int) -> Iterator[Place]:
    """A cluster of three primaries, and workers that share it."""
    with ExitStack() as last:
        folder = Path(last.enter_context(TemporaryDirectory()))
        cluster = last.enter_context(GivenCluster(newer_server() or wheel_server(), primaries=3, replicas=replicas))
        queue = last.enter_context(queue_beside(cluster))
        environment = {
            "ENGRAMLOG_REDIS_URL": cluster.url,
            "ENGRAMLOG_QUEUE_URL": f"redis://{queue.host}:{queue.port}/0",
            "ENGRAMLOG_DATA": str(folder / "data"),
        }
        scene = Scene(connect(cluster.url), environment, folder, partitions)
        last.callback(scene.end)
        for _ in range(workers):
            scene.worker()
        scene.await_shared()
        nodes = cluster.primaries()
        servers = [last.enter_context(node.client()) for node in nodes]
        yield Place(scene, servers, [node.pid for node in nodes], cluster, written_ms(servers[0], "{e0}:tried"))


def written_ms(server: redis.Redis, key: str = "tried") -> float:
    """How long an answer to one small write takes, on the average: on a busy disk some take very long."""
    taken = []
    for number in range(TRIED):
        began = monotonic()
        try:
            server.execute_command("SETEX", key, 1, number)
        except redis.ResponseError:
            return 1.0  # of a cluster, where another node has the key
        taken.append((monotonic() - began) * 1_000.0)
    return sum(taken) / len(taken)


def asked(place: Place, rate: float, seconds: float, *happenings: Happening, **more: Any) -> SimulationAsked:
    """The same scene for the simulation: all owners alike, events at one rate, no network between."""
    scene = place.scene
    at_once = max(rate * BATCH_SECONDS / scene.partitions, 1.0)
    return SimulationAsked(
        events_per_day=max(rate, 0.001) * DAY, peak=0.0, owners=40 * scene.partitions, zipf=0.0, at_once=at_once,
        request=max(rate * BATCH_SECONDS, 1.0),
        partitions=scene.partitions, primaries=len(place.servers), workers=len(scene.workers), hours=(LOADED + seconds) / 3_600,
        happenings=happenings, rtt_ms=0.1, fsync_ms=place.fsync_ms, **more,
    )  # fmt: skip


def idle(place: Place, seconds: float) -> tuple[Rows, Rows]:
    """Commands a second and CPU of workers that have nothing to do: real, and simulated."""
    scene = place.scene
    before = scene.looked(place.servers, place.processes)
    scene.rest(seconds)
    taken = between(before, scene.looked(place.servers, place.processes))
    found, samples = simulate(asked(place, 0.0, seconds))
    last = samples[-1]
    real = {
        "lease scripts/s": taken.top("evalsha"),
        "workers' commands/s": taken.top("evalsha", "hgetall", "xread", "time"),
        "busiest server, % of a core": 100 * max(taken.cpu[one] for one in place.processes),
    }
    return real, {
        "lease scripts/s": last.lease_commands,
        "workers' commands/s": last.commands,
        "busiest server, % of a core": 100 * found.node_cpu_half,
    }


def flowing(place: Place, rate: float, seconds: float) -> tuple[Rows, Rows]:
    """Events at a rate, nothing breaks."""
    scene = place.scene
    producer = Producer(scene.log(), rate, scene.partitions, seconds + 2 * WARM)
    producer.start()
    scene.watch(producer, WARM)
    scene.seen.clear()
    before, appended = scene.looked(place.servers, place.processes), producer.appended
    scene.watch(producer, seconds)
    taken = between(before, scene.looked(place.servers, place.processes))
    came = (producer.appended - appended) / taken.seconds
    producer.end()
    workers = [taken.cpu[worker.pid] for worker in scene.workers]
    found, _ = simulate(asked(place, came, seconds))
    real = {
        "events/s": came,
        "busiest worker, % of a core": 100 * max(workers),
        "busiest server, % of a core": 100 * max(taken.cpu[one] for one in place.processes),
        "lag, mean, ms": 1_000 * sum(one.waiting for one in scene.seen) / len(scene.seen) / came,
    }
    return real, {
        "events/s": found.rate_mean,
        "busiest worker, % of a core": 100 * found.worker_cpu_half,
        "busiest server, % of a core": 100 * found.node_cpu_half,
        "lag, mean, ms": 1_000 * found.lag_half,
    }


def worker_killed(place: Place, rate: float, seconds: float) -> tuple[Rows, Rows]:
    """A worker is killed under load: until others hold what it held, and how far that fell behind."""
    scene, victim = place.scene, place.scene.workers[0]
    producer = Producer(scene.log(), rate, scene.partitions, seconds + 2 * WARM)
    producer.start()
    scene.watch(producer, WARM)
    scene.seen.clear()
    mine = victim_of(scene, victim.pid)
    at = scene.watch(producer, seconds, victim.kill, 2.0)
    producer.end()
    found, _ = simulate(asked(place, rate, seconds, Happening("worker-killed", LOADED)))
    return _told_real(scene.seen, at, lambda one: mine in one.holders), _told_simulated(found)


def primary_killed(place: Place, rate: float, seconds: float) -> tuple[Rows, Rows]:
    """A primary is killed under load, and its replica takes its place."""
    scene, cluster = place.scene, place.cluster
    assert cluster is not None
    producer = Producer(scene.log(), rate, scene.partitions, seconds + 2 * WARM)
    producer.start()
    scene.watch(producer, WARM)
    scene.seen.clear()
    struck = cluster.primaries()[0]
    mine = [p for p, tag in enumerate(scene.tags) if cluster.node_of(f"{{{tag}}}") is struck]
    at = scene.watch(producer, seconds, lambda: cluster.kill(struck), 2.0)
    producer.end()
    more = {"node_timeout": cluster.node_timeout_ms / 1_000.0}
    found, _ = simulate(asked(place, rate, seconds, Happening("primary-killed", LOADED), **more))
    before = [one for one in scene.seen if one.at <= at][-1].epochs
    after = [one for one in scene.seen if one.at > at]
    again = [one.at - at for one in after if all(one.epochs[p] > before[p] for p in mine)]
    real = {"longest append, s": producer.longest, "folded again after, s": min(again, default=float("nan"))}
    (moved,) = found.happened
    return real, {"longest append, s": moved.stalled_seconds, "folded again after, s": moved.taken_over_seconds or 0.0}


def victim_of(scene: Scene, process: int) -> str:
    """The id of a worker, as leases have it."""
    return next(name for name in scene.names() if f"-{process}-" in name)


def _told_real(seen: list[Seen], at: float, lacks: Any) -> Rows:
    after = [one for one in seen if one.at > at]
    held = next((one.at - at for one in after if not lacks(one)), float("nan"))
    worst = max(one.lag_worst for one in after)
    behind = [one.at - at for one in after if one.lag_worst > 1.0]
    return {"taken over after, s": held, "worst lag, s": worst, "level again after, s": max(behind, default=0.0)}


def _told_simulated(found: Simulated) -> Rows:
    (moved,) = found.happened
    return {
        "taken over after, s": moved.taken_over_seconds or 0.0,
        "worst lag, s": moved.worst_lag_seconds,
        "level again after, s": moved.caught_up_seconds or 0.0,
    }
