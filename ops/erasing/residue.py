"""The audit of an erasure: looks everywhere for what is to be gone, by probes that were taken before, and asks nobody who erased.

It looks through Redis and the queue's Redis, the files that these write, the data folder with all that is kept beside a store, and
whatever copies it is told of. Three ends: nothing is there (0), something is (1), or something could not be looked through (3).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import redis

from events.errors import BadSetting, EmbeddedRedisError, StoreError
from events.redis.cluster.client import ClusterClient
from events.redis.cluster.nodes import known_nodes, others
from events.redis.wire import Wire, connect
from ops.embedded.binary import RedisBinary, find_redis_server
from ops.erasing.in_files import FileLook
from ops.erasing.needles import Needles
from ops.erasing.probes import Probes
from ops.erasing.report import MOST_TOLD, Audit, AuditReport, exit_code
from ops.erasing.words_in_files import WordsFileLook
from ops.settings import Settings

STORE, QUEUE = "redis", "queue"
_HERE = ("localhost", "127.0.0.1", "::1")
_BUSY = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")


@dataclass(slots=True)
class Places:
    """Where an audit looks."""

    client: redis.Redis
    """The store's Redis, or a client of its Cluster; its replies are bytes."""
    queue_url: str | None = None
    """Of the Redis in which the queue lies, where that is another."""
    folders: list[Path] = field(default_factory=list)
    """Of this store on this machine; those that are not there hold nothing."""
    backups: list[Path] = field(default_factory=list)
    """Files and folders that are named besides: one that is not there is told as not reached."""
    replicas: dict[str, Path] = field(default_factory=dict)
    """By `ip:port`, as the primary tells it: the folder of a replica."""
    binary: RedisBinary | None = None
    """What loads files of Redis."""
    timeout: float = 10.0


def places_of(
    settings: Settings,
    client: redis.Redis,
    *,
    backups: Sequence[Path] = (),
    replicas: Mapping[str, Path] | None = None,
) -> Places:
    """Where a store of these settings leaves anything. Raises nothing: without a redis-server its files are told as not reached."""
    folders = [settings.data.expanduser()]
    if settings.rejections is not None:
        folders.append(settings.rejections.expanduser())
    try:
        binary = find_redis_server(settings.redis_server)
    except (BadSetting, EmbeddedRedisError):
        binary = None
    return Places(
        client,
        settings.queue_url or None,
        folders,
        [one.expanduser() for one in backups],
        {name: path.expanduser() for name, path in (replicas or {}).items()},
        binary,
        settings.redis_timeout,
    )


def audit(probes: Probes, places: Places) -> Audit:
    """Look everywhere. Reads only; raises nothing of Redis or of files: what cannot be reached is told."""
    began, needles = monotonic(), probes.needles()
    report = AuditReport(needles)
    files = _file_look(probes, needles, report, places.binary)
    if isinstance(places.client, ClusterClient):
        _look_at_nodes(places.client, places, report, files)
    else:
        _look(STORE, places.client, places, report, files)
    if places.queue_url:
        with connect(places.queue_url, timeout=places.timeout) as queue:
            _look(QUEUE, queue, places, report, files)
    for folder in places.folders:
        if os.path.lexists(folder):
            files.look(folder)
    for path in [*places.backups, *places.replicas.values()]:
        files.look(path)
    if probes.unopened:
        report.unreached(
            "probes", f"{probes.unopened:,} entries did not open before the erasure: their words are not looked for"
        )
    findings, unreached = report.findings, report.not_reached
    return Audit(
        exit_code=exit_code(findings, unreached),
        erasure_id=probes.erasure_id,
        what="words" if probes.is_of_words else "owner",
        owner=probes.owner,
        needles=len(needles) + len(probes.short),
        events=probes.events,
        untold=probes.untold,
        findings=findings[:MOST_TOLD],
        more_findings=max(len(findings) - MOST_TOLD, 0),
        unreached=unreached[:MOST_TOLD],
        more_unreached=max(len(unreached) - MOST_TOLD, 0),
        looked=report.looked_through,
        seconds=round(monotonic() - began, 3),
    )


def _file_look(probes: Probes, needles: Needles, report: AuditReport, binary: RedisBinary | None) -> FileLook:
    """What looks for an owner who is gone, or for words whose owner stays."""
    kind = WordsFileLook if probes.is_of_words else FileLook
    return kind(probes, needles, report, binary)


def _look_at_nodes(client: ClusterClient, places: Places, report: AuditReport, files: FileLook) -> None:
    """Every node of a Cluster that holds slots, and the files of all others, as far as they can be seen from here."""
    wire = Wire(client)
    try:
        primaries, beside = client.slots.primaries(), others(known_nodes(wire))
    except StoreError as error:
        report.unreached(STORE, f"the nodes of the cluster could not be asked for ({error.message})")
        return
    finally:
        wire.close()
    holders = 0
    for node in primaries:
        where = f"{STORE} {node.name}"
        look = files.redis_look(where, node.client)
        look.look()
        holders += look.holds_places
        _look_at_files(where, node.client, report, files)
    if not holders:
        report.unreached(STORE, "no node of the cluster told that it holds the owner's partition")
    for one in beside:
        if one.name not in places.replicas:
            with client.slots.beside(one.name) as of_it:
                _look_beside(f"{STORE} {one.name}", one.what, of_it, report, files)


def _look_beside(where: str, what: str, client: redis.Redis, report: AuditReport, files: FileLook) -> None:
    """The files, and the slow log, of a node that holds no slots: a replica has in memory what its primary has."""
    try:
        client.ping()
    except (redis.RedisError, OSError) as error:
        report.unreached(
            where, f"it is {what} and does not answer ({type(error).__name__}): its files were not searched"
        )
        return
    files.redis_look(where, client).look_at_slow_log()
    _look_at_files(where, client, report, files)


def _look(where: str, client: redis.Redis, places: Places, report: AuditReport, files: FileLook) -> None:
    """One Redis, its files, and who else has what it has."""
    files.redis_look(where, client).look()
    try:
        _copies(where, client, places, report)
    except (redis.RedisError, OSError) as error:
        report.unreached(where, f"its replicas could not be asked for ({type(error).__name__})")
        return
    _look_at_files(where, client, report, files)


def _look_at_files(where: str, client: redis.Redis, report: AuditReport, files: FileLook) -> None:
    """What a Redis writes, where it can be seen from here."""
    try:
        paths = _files(where, client, report)
    except (redis.RedisError, OSError) as error:
        report.unreached(where, f"its files could not be asked for ({type(error).__name__})")
        return
    for path in paths:
        files.look(path)


def _copies(where: str, client: redis.Redis, places: Places, report: AuditReport) -> None:
    """Redis servers that have the same, and write files of their own."""
    told = client.info("replication")
    if told.get("role") != "master":
        primary = f"{told.get('master_host')}:{told.get('master_port')}"
        report.unreached(where, f"it is a replica of {primary}: audit the store through its primary")
    for number in range(int(told.get("connected_slaves", 0))):
        one = told.get(f"slave{number}")
        name = f"{one.get('ip')}:{one.get('port')}" if isinstance(one, dict) else "one that is not told"
        if name not in places.replicas:
            report.unreached(
                where, f"replica {name} writes files of its own: name the folder of its files as that replica's"
            )
    if client.info("cluster").get("cluster_enabled"):
        report.unreached(where, "it is one node of a cluster, and the others were not looked through")


def _files(where: str, client: redis.Redis, report: AuditReport) -> list[Path]:
    """What it writes: its append-only files, its dump, what it was writing when it was killed, and its log; none where these cannot
    be seen from here."""
    persists: dict[str, Any] = client.info("persistence")
    if any(persists.get(one) for one in _BUSY):
        report.unreached(where, "it is writing its files anew: audit again once it has")
    told = {name: _text(value or "") for name, value in client.config_get("*").items()}
    folder = Path(told.get("dir", ""))
    if not _is_here(client, folder):
        report.unreached(
            where, f"its folder {folder} is of another machine, as far as can be told, and was not looked through"
        )
        return []
    log = [folder / told[one] for one in ("appenddirname", "appendfilename") if told.get(one)]
    there = [one for one in log if one.exists()]
    if not folder.is_dir() or (persists.get("aof_enabled") and not there):
        report.unreached(where, f"its folder {folder} cannot be seen from here, or its append-only file is not in it")
        return []
    others = [folder / told[one] for one in ("dbfilename", "logfile") if told.get(one)]
    return [*there, *(one for one in others if one.exists()), *sorted(folder.glob("temp-*"))]


def _is_here(client: redis.Redis, folder: Path) -> bool:
    """Whether a Redis runs on this machine, with the same files: by its address, and by its process where that can be seen."""
    options = client.connection_pool.connection_kwargs
    if not (options.get("path") or options.get("host", _HERE[0]) in _HERE):
        return False
    processes = Path("/proc")
    if not processes.is_dir():
        return True
    try:
        pid = client.info("server")["process_id"]
        return (processes / str(pid) / "cwd").resolve(strict=True) == folder.resolve()
    except PermissionError:
        return True  # another user's: its folder is known by the files in it
    except OSError:
        return False


def _text(told: Any) -> str:
    return told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
