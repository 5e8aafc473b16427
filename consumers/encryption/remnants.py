"""Remove what lay open and must not stay: builds but the live one, vectors, and the files that Redis wrote before.

Redis keeps what is gone until its append-only file is written again, and a dump until it is dumped again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from glob import escape
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

import msgspec

from engramlog_server.events.errors import StoreError, StoreUnavailable
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.cluster.slot_map import OtherNode, SlotMap, known_nodes, others
from engramlog_server.events.redis.cluster.wire import ClusterWire
from engramlog_server.events.redis.scan import PAGE, keys_like
from engramlog_server.events.redis.wire import ServerWire, Wire
from engramlog_server.projections.redis.builds import is_build

LOOK_SECONDS = 0.05
GONE_SECONDS = 60.0
"""How long files that Redis replaced may take to be deleted."""
CATCH_UP_SECONDS = 60.0
"""How long a replica of a Cluster is waited for."""
BUSY = "already in progress"
OnWait = Callable[[str], None]


class Rewritten(msgspec.Struct, frozen=True):
    """The result of writing the files of a Redis again."""

    aof: str
    """`rewritten`; `off` where it keeps none; else why not. Of a Cluster whose nodes differ: each by its name."""
    dump: str
    """`written`; `off` where it makes none; else why not. Of a Cluster as above."""
    replicas: list[str]
    """Replicas that follow; each writes its own files. Of a Cluster every node that holds no slots."""
    not_proven: list[str]
    """What could not be seen from here, and what to do about it, a sentence each."""


class _Served(NamedTuple):
    keeps_aof: bool
    files: set[tuple[int, Path]]
    """Its append-only files that can be seen from here, each with its inode."""
    dumps: bool
    """Whether it makes dumps, or made one that would stay as it is."""
    unseen: str | None = None
    """Places that could not be looked at."""


def drop_other_builds(wire: Wire, tag: str) -> int:
    """Drop every build but the live one, and what a partition tells of those that were replaced; how many keys went.

    By their names in the whole store, and not by the owners that a build names: nothing that lies open may be left.
    """
    meta = LogKeys(tag).meta
    answer = wire.call("HGETALL", meta)
    fields = dict(zip(answer[::2], answer[1::2], strict=True))
    live, dropped = fields.get(b"live", b"").decode(), 0
    names = _of_others(wire, tag, live)
    while some := list(islice(names, PAGE)):
        dropped += wire.call("UNLINK", *some)
    if old := [name for name in fields if name.startswith(b"old:")]:
        wire.call("HDEL", meta, *old)
    return dropped


def drop_failures(wire: Wire, queue: str) -> int:
    """Drop what RQ keeps of how a queue's jobs ended: of before it may quote what somebody said. How many jobs had any.

    Jobs of other queues in that Redis are not touched, nor whether a job failed and when.
    """
    dropped, jobs = 0, keys_like(wire, "rq:job:*")
    while page := list(islice(jobs, PAGE)):
        some = [key for key, kind in page if kind == b"hash"]
        origins = wire.answers([["HGET", key, "origin"] for key in some])
        mine = [key for key, origin in zip(some, origins, strict=True) if origin == queue.encode()]
        for key in mine:
            job_id = key.removeprefix(b"rq:job:")
            dropped += any(wire.answers([["HDEL", key, "exc_info", "result"], ["UNLINK", b"rq:results:" + job_id]]))
    return dropped


def _of_others(wire: Wire, tag: str, live: str) -> Iterator[bytes]:
    prefix = f"{{{tag}}}:"
    for key, _ in keys_like(wire, f"{prefix}v*"):
        name = key.removeprefix(prefix.encode()).partition(b":")[0].decode("utf-8", "replace")
        if is_build(name) and name != live:
            yield key


def rewrite_files(wire: Wire, *, on_wait: OnWait = lambda _told: None, again: str = "engramlog seal") -> Rewritten:
    """Have Redis write its files again, and wait until it has. `again`: the command that goes on where that fails.

    Of a Cluster each node does, one after the other; a replica once it has all that its primary has, as far as it can be reached.
    Raises StoreUnavailable where it began and could not end, for want of disk say: what was there before is still there then.
    """
    if not isinstance(wire, ClusterWire):
        found, replicas = _rewritten(wire, on_wait, again), _replicas(wire)
        unproven = [
            f"replica {one} writes its own files: run BGREWRITEAOF there, and BGSAVE where it dumps, once it has caught up"
            for one in replicas
        ]
        return Rewritten(found.aof, found.dump, replicas, [*found.not_proven, *unproven])
    done = dict[str, Rewritten]()
    offsets = dict[str, int]()
    for name, server in wire.servers():
        try:
            offsets[name] = int(_info(server, "replication").get("master_repl_offset", "0"))
            done[name] = _rewritten(server, on_wait, again)
        except StoreUnavailable as error:
            told = {**error.context, "node": name}
            raise StoreUnavailable(f"node {name} of the cluster: {error.message}", **told) from error
    unproven = [f"node {name}: {one}" for name, of in done.items() for one in of.not_proven]
    beside = others(known_nodes(wire))
    for one in beside:
        unproven += _rewritten_beside(wire.cluster, one, offsets.get(one.primary), on_wait, again)
    aof, dump = ({name: getattr(of, field) for name, of in done.items()} for field in ("aof", "dump"))
    return Rewritten(_of_all(aof), _of_all(dump), [f"{one.name} ({one.what})" for one in beside], unproven)


def _rewritten_beside(cluster: SlotMap, node: OtherNode, offset: int | None, on_wait: OnWait, again: str) -> list[str]:
    """Have a node that holds no slots write its files again; returns what could not be done. `offset`: up to where a replica
    must have followed first."""
    link = ServerWire(cluster.beside(node.name))
    try:
        if offset is not None and not _has_caught_up(link, offset, on_wait):
            why = "it does not catch up with its primary"
        else:
            return [f"node {node.name}: {one}" for one in _rewritten(link, on_wait, again).not_proven]
    except StoreError as error:
        why = error.message
    finally:
        link.close()
    cure = "run BGREWRITEAOF there, and BGSAVE where it dumps, once it follows and has caught up"
    return [
        f"{node.name}, {node.what}, did not rewrite its files ({why}): {cure}; or delete them where it is gone for good"
    ]


def _has_caught_up(replica: Wire, offset: int, on_wait: OnWait) -> bool:
    """Whether a replica has all up to an offset of its primary, waited for as long as one may take."""
    end = monotonic() + CATCH_UP_SECONDS
    while True:
        facts = _info(replica, "replication")
        if facts.get("master_link_status") == "up" and int(facts.get("slave_repl_offset", "0")) >= offset:
            return True
        if monotonic() > end:
            return False
        on_wait("waiting for a replica to catch up")
        sleep(LOOK_SECONDS)


def _of_all(told: Mapping[str, str]) -> str:
    """The results of all nodes in one phrase, if they are the same."""
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{name}: {what}" for name, what in told.items())


def _rewritten(wire: Wire, on_wait: OnWait, again: str) -> Rewritten:
    """The same of one server, without its replicas."""
    served, unproven = _served(wire), list[str]()
    aof = _aof_rewritten(wire, on_wait, again) if served.keeps_aof else "off"
    if aof == "rewritten" and (path := _left(wire, served.files, on_wait)) is not None:
        unproven.append(f"{path} was to go when Redis rewrote its append-only file, and may hold words: delete it")
    dump = _dumped(wire, on_wait, again) if served.dumps else "off"
    if served.unseen is not None:
        unproven.append(served.unseen)
    if aof not in ("rewritten", "off"):
        unproven.append(
            f"the append-only file was not rewritten ({aof}): run BGREWRITEAOF as a user who may; until then it contains words"
        )
    if dump not in ("written", "off"):
        unproven.append(f"no new dump was written ({dump}): run BGSAVE as a user who may, or delete the old one")
    wire.pipeline([["SLOWLOG", "RESET"]])  # it shows the first words of slow commands
    return Rewritten(aof, dump, [], unproven)


def _served(wire: Wire) -> _Served:
    facts = _persistence(wire)
    keeps = facts.get("aof_enabled") == "1"
    dumped = facts.get("rdb_last_bgsave_time_sec", "-1") != "-1" or facts.get("rdb_saves", "0") != "0"
    files = _append_only_files(wire) if keeps else set()
    told = wire.pipeline([["CONFIG", "GET", one] for one in ("save", "dir", "dbfilename")])
    if not all(isinstance(one, list) and len(one) == 2 for one in told):
        unseen = "whether Redis dumps could not be seen (CONFIG GET is refused): where an old dump lies, run BGSAVE or delete it"
        return _Served(keeps, files, dumped, None if dumped else unseen)
    points, folder, name = (one[1].decode("utf-8", "replace") for one in told)
    if points or dumped or (Path(folder) / name).exists():
        return _Served(keeps, files, dumps=True)
    if Path(folder).is_dir():
        return _Served(keeps, files, dumps=False)
    unseen = (
        f"the folder of Redis cannot be seen from here: where an old {name} lies in {folder} of its machine, delete it"
    )
    return _Served(keeps, files, dumps=False, unseen=unseen)


def _append_only_files(wire: Wire) -> set[tuple[int, Path]]:
    """Append-only files of a Redis that are on this machine, by inode and path. Manifests hold nothing of the log."""
    told = wire.pipeline([["CONFIG", "GET", one] for one in ("dir", "appendfilename", "appenddirname")])
    folder, name, *parts = (
        one[1].decode("utf-8", "replace") if isinstance(one, list) and len(one) == 2 else "" for one in told
    )
    found = set[tuple[int, Path]]()
    for path in (
        [Path(folder) / name, *(Path(folder) / parts[0]).glob(f"{escape(name)}.*.*.*")] if folder and name else []
    ):
        with suppress(OSError):
            found.add((path.stat().st_ino, path))
    return found


def _left(wire: Wire, before: set[tuple[int, Path]], on_wait: OnWait) -> Path | None:
    """One of the files of before that Redis did not delete in time; it deletes them in the background."""
    end = monotonic() + GONE_SECONDS
    while left := sorted(path for _, path in before & _append_only_files(wire)):
        if monotonic() > end:
            return left[0]
        on_wait("waiting for Redis to delete its old append-only files")
        sleep(LOOK_SECONDS)
    return None


def _aof_rewritten(wire: Wire, on_wait: OnWait, again: str) -> str:
    refused = _begun(wire, "BGREWRITEAOF", on_wait)
    if refused is not None:
        return refused
    facts = _settled(wire, on_wait)
    if facts.get("aof_last_bgrewrite_status") != "ok":
        raise StoreUnavailable(
            "Redis could not rewrite its append-only file, and the one before still holds words; look at its log and its disk, and"
            f" run `{again}` again",
            retry_after=10,
        )
    return "rewritten"


def _dumped(wire: Wire, on_wait: OnWait, again: str) -> str:
    refused = _begun(wire, "BGSAVE", on_wait)
    if refused is not None:
        return refused
    if _settled(wire, on_wait).get("rdb_last_bgsave_status") != "ok":
        raise StoreUnavailable(
            "Redis could not write its dump, and the one before may still hold words; look at its log and its disk, and run"
            f" `{again}` again",
            retry_after=10,
        )
    return "written"


def _begun(wire: Wire, command: str, on_wait: OnWait) -> str | None:
    """Have Redis begin once nothing of the kind runs; why not where it refuses, None where it began."""
    while True:
        _settled(wire, on_wait)
        try:
            wire.call(command)
        except StoreUnavailable as error:
            if wire.is_open and BUSY in error.message:
                continue  # one that Redis began by itself came between
            if not wire.is_open:
                raise
            return error.message
        except StoreError as error:
            return error.message
        return None


def _settled(wire: Wire, on_wait: OnWait) -> dict[str, str]:
    """What Redis tells of its files once it writes none."""
    while True:
        facts = _persistence(wire)
        busy = [
            name
            for name in ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
            if facts.get(name, "0") != "0"
        ]
        if not busy:
            return facts
        on_wait("waiting for Redis to rewrite its files")
        sleep(LOOK_SECONDS)


def _persistence(wire: Wire) -> dict[str, str]:
    return _info(wire, "persistence")


def _info(wire: Wire, section: str) -> dict[str, str]:
    lines = wire.call("INFO", section).decode("utf-8", "replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _replicas(wire: Wire) -> list[str]:
    facts = _info(wire, "replication")
    told = [facts[name] for name in sorted(facts) if name.startswith("slave") and name[5:].isdigit()]
    parts = [dict(one.partition("=")[::2] for one in text.split(",")) for text in told]
    return [f"{one.get('ip', '?')}:{one.get('port', '?')} ({one.get('state', 'unknown')})" for one in parts]


VECTOR_TABLES = (b"vec", b"vep", b"ven", b"vea", b"vem")


def count_vectors(wire: Wire, tags: Sequence[str]) -> int:
    """How many texts have vectors, each once for every owner and model."""
    found, names = 0, (key for key, table in _vector_keys(wire, tags) if table == b"vec")
    while some := list(islice(names, PAGE)):
        found += sum(wire.answers([["HLEN", key] for key in some]))
    return found


def drop_vectors(wire: Wire, tags: Sequence[str]) -> None:
    """Drop every vector, under every model, with the marks of the embedding job: it looks at all owners again."""
    names = (key for key, _ in _vector_keys(wire, tags))
    while some := list(islice(names, PAGE)):
        wire.answers([["UNLINK", *some]])


def _vector_keys(wire: Wire, tags: Sequence[str]) -> Iterator[tuple[bytes, bytes]]:
    """Keys of the vectors of all partitions, and what table each is of; one pass over all keys that there are."""
    prefixes = {f"{{{tag}}}".encode() for tag in tags}
    for key, _ in keys_like(wire, "*:ve?*"):
        prefix, _, name = key.partition(b":")
        table = name.partition(b":")[0]
        if prefix in prefixes and table in VECTOR_TABLES:
            yield key, table
