"""Reaching a store to look at it, and checks of its Redis: version, durability, memory, replicas, clock, access, Cluster nodes.

Nothing is made or repaired, and a store that cannot be reached is reported as such. Where nothing runs on a data folder its private
Redis is started for as long as it is looked at, as every command does.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis

from engramlog_server.api.services.capacity import OK, info, outlook, read_aof, replicas_online
from engramlog_server.events.errors import EngramlogError, StoreError, StoreMismatch, StoreUnavailable
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.address import read_address
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.durability import KEPT_BY, read_settings
from engramlog_server.events.redis.log import RedisEventLog, read_room
from engramlog_server.events.redis.server import (
    APART_MICROS,
    OLDEST,
    WAITS_FROM,
    Release,
    await_loaded,
    connect,
    refuse_kind,
    release_of,
)
from engramlog_server.events.redis.slot_map import KnownNode, known_nodes, moving_slots
from engramlog_server.events.redis.wire import StoreClient, Wire, WirePool, open_wire
from engramlog_server.events.text import is_loopback, many
from engramlog_server.ops.clock import now_micros, silent
from engramlog_server.ops.doctor.findings import (
    CLOCK,
    CLUSTER,
    REDIS,
    WORST_FIRST,
    CheckFinding,
    folder_of,
    is_safe_to_open,
    named,
)
from engramlog_server.ops.embedded.aof import holds_store
from engramlog_server.ops.embedded.process import url_of
from engramlog_server.ops.embedded.server import EmbeddedRedis, find_redis_server, open_folder
from engramlog_server.ops.keys.master import keys_of, master_of
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.redis.create import StoreIdentity, known_identity, read_identity
from engramlog_server.projections.redis.usage import FoldDebt

Findings = list[CheckFinding]
POLICY = "maxmemory-policy"
NO_EVICTION = "noeviction"
MUCH_FRAGMENTED = 1.5
"""Memory of the process over that of its data, from which it is reported if it is also large."""
LARGE = 256 << 20
FAR_MICROS = 2_500_000
"""Clocks further from this machine's are advised about; so no two nodes of a Cluster are twice that apart unnoticed."""
SLOTS = 16_384
LOST = {
    "appendonly": "what was answered is gone with Redis's end",
    "appendfsync": "after a crash of the machine what was answered last is gone, and receipts say so (`fsynced: false`)",
    "no-appendfsync-on-rewrite": "while its file is rewritten what was answered is not on disk yet",
    "aof-load-truncated": "a torn file is cut at the next start without a message",
    POLICY: "a full Redis drops keys",
}
"""What is lost by each setting that is not one of `KEPT_BY`."""
GRAVE = frozenset({("appendonly", "no"), ("appendfsync", "no")})
"""Settings that lose data without a crash of the machine, or more than the last second."""
SECRETS = frozenset({"username", "password"})
"""What a URL may hold of credentials behind its `?`."""


# One server


def look_at_redis(reached: ReachedStore, own: Callable[[], int] = now_micros) -> Findings:
    """Version, durability, the last writes, memory, replicas and clock; of a Cluster by node. Raises StoreError.

    `own`: this machine's clock, microseconds since 1970.
    """
    findings = dict[str, Findings]()
    with closing(reached.wire()) as wire:
        for name, server in wire.servers():
            try:
                findings[name] = _look_at_server(server, reached, _tags_on(wire, name, reached), own)
            except StoreUnavailable as error:
                if not wire.many:
                    raise
                cure = "nothing of that node was looked at until it does"
                findings[name] = [REDIS.wrong("answers", error.message, cure)]
        return joined(findings) if wire.many else findings[""]


def _tags_on(wire: Wire, name: str, reached: ReachedStore) -> list[str]:
    """The partitions on a server."""
    tags = () if reached.identity is None else reached.identity.tags
    return [tag for tag in tags if wire.node_of(LogKeys(tag).meta) == name]


def _look_at_server(wire: Wire, reached: ReachedStore, tags: Sequence[str], own: Callable[[], int]) -> Findings:
    settings, persistence, told = read_settings(wire), info(wire, "persistence"), info(wire, "memory")
    room = read_room(wire, FoldDebt(tags)) if tags else read_room(wire)
    positions = wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in tags]) if tags else []
    warning = outlook(room, sum(int(one or 0) for one in positions) or 1).get(
        "warning"
    )  # also of a node without events
    aof, saved = read_aof(persistence), persistence.get("rdb_last_bgsave_status", OK)
    replication, release = info(wire, "replication"), release_of(info(wire, "server"))
    before = own()
    seconds, micros = wire.call("TIME")
    apart = int(seconds) * 1_000_000 + int(micros) - (before + own()) // 2
    return [
        version(release),
        *durability(settings, room.limit is not None, told.get("maxmemory_policy", "")),
        writes(append_ok=aof.write_ok, rewrite_ok=aof.rewrite_ok, save_ok=saved == OK),
        memory(warning, room.used, int(told.get("used_memory_rss", "0")), room.limit),
        replicas(replication.get("role", "master"), replicas_online(replication), reached.settings.min_replicas),
        *([waits(release)] if reached.settings.wait_fsync else []),
        clock(apart),
    ]


def version(release: Release) -> CheckFinding:
    """Which server."""
    try:
        known = release.is_supported
    except ValueError:
        return REDIS.failed("version", f"it calls itself {str(release)[:40]!r}")
    if not known:
        oldest = ".".join(map(str, OLDEST[release.product]))
        return REDIS.wrong("version", f"{release} is too old", f"{release.product} {oldest} or newer")
    return REDIS.ok("version", str(release))


def durability(settings: Mapping[str, str] | None, limited: bool, policy: str = "") -> Findings:
    """Whether an answered write is on disk and stays (`events.redis.durability`).

    `settings`: None if Redis does not show them. `limited`: whether it has a maxmemory. `policy`: its eviction, which it also shows
    to users who may not read its settings.
    """
    findings = Findings()
    if settings is None:
        text = "Redis does not show its settings (CONFIG GET is not allowed): whether an answered write is on disk is not known"
        cure = f"let this user read them, or look there yourself: {', '.join(KEPT_BY)}"
        findings.append(REDIS.unseen("durability", text, cure))
        settings = {POLICY: policy} if policy else {}
    for name, value in settings.items():
        allowed = NO_EVICTION if name == POLICY else "".join(KEPT_BY[name])
        if value == allowed:
            continue
        cure = f"`CONFIG SET {name} {allowed}`, and in its file"
        if value in KEPT_BY[name]:  # an eviction that spares the store
            text = f"{value}: a full Redis keeps the store, and forgets results of jobs"
            findings.append(REDIS.advice(name, text, cure))
            continue
        judge = REDIS.wrong if (name, value) in GRAVE or (name == POLICY and limited) else REDIS.advice
        findings.append(judge(name, f"{name} is {value}: {LOST[name]}", cure))
    return findings or [REDIS.ok("durability", "every answered write is on disk, and nothing is evicted")]


def writes(*, append_ok: bool, rewrite_ok: bool, save_ok: bool) -> CheckFinding:
    """How the last writes to disk ended."""
    check, cure = "last writes", "look at Redis's log and its disk: full, read-only, or another user's"
    ended = {
        "the last write to the append-only file": append_ok,
        "the last rewrite of it": rewrite_ok,
        "the last snapshot (RDB)": save_ok,
    }
    if failed := [what for what, fine in ended.items() if not fine]:
        return REDIS.wrong(check, f"{' and '.join(failed)} failed", cure)
    return REDIS.ok(check, "the last write, rewrite and snapshot succeeded")


def memory(warning: str | None, used: int, held: int, limit: int | None) -> CheckFinding:
    """How much is left. `warning`: of `api.services.capacity.outlook`. `held`: bytes of the process (RSS)."""
    check = "memory"
    if warning:
        cure = "raise maxmemory (ENGRAMLOG_REDIS_MAXMEMORY), or `engramlog status --capacity`"
        return REDIS.advice(check, warning, cure)
    if used and held - used > LARGE and held > MUCH_FRAGMENTED * used:
        text = f"Redis holds {held / 1e6:,.0f} MB for {used / 1e6:,.0f} MB of data"
        return REDIS.advice(check, text, "`CONFIG SET activedefrag yes`, or restart it when it is quiet")
    of = "without a limit" if limit is None else f"of {limit / 1e6:,.0f} MB"
    return REDIS.ok(check, f"{used / 1e6:,.1f} MB in use, {of}")


def replicas(role: str, online: int, wanted: int) -> CheckFinding:
    """Whether it is the primary, and as many replicas follow as appends wait for."""
    check = "replicas"
    if role != "master":
        cure = "let ENGRAMLOG_REDIS_URL lead to the primary"
        return REDIS.wrong(check, "this Redis is a replica: nothing can be written", cure)
    if online < wanted:
        follow = "follows" if online == 1 else "follow"
        text = f"{many(online, 'replica')} {follow}, and appends wait for {wanted:,}"
        cure = (
            "bring the others back, or lower ENGRAMLOG_MIN_REPLICAS: until then each append waits a second for nothing"
        )
        return REDIS.wrong(check, text, cure)
    if not wanted and not online:
        return REDIS.ok(check, "none, and none is required")
    wait = ", as appends wait for" if wanted else "; no append waits for one (ENGRAMLOG_MIN_REPLICAS)"
    return REDIS.ok(check, f"{many(online, 'replica')} online{wait}")


def waits(release: Release) -> CheckFinding:
    """Whether the server knows the command by which an append waits for the disk."""
    check = "wait for the disk"
    try:
        waits_for_disk = release.waits_for_disk
    except ValueError:
        return REDIS.failed(check, f"it calls itself {str(release)[:40]!r}")
    if waits_for_disk:
        return REDIS.ok(check, "each append waits until it is on disk (WAITAOF)")
    text = f"{release} cannot wait for the disk: ENGRAMLOG_WAIT_FSYNC does nothing there, receipts say what the settings promise"
    newer = f"Redis {'.'.join(map(str, WAITS_FROM))} or Valkey"
    return REDIS.advice(check, text, f"{newer}, or `appendfsync always` without ENGRAMLOG_WAIT_FSYNC")


def clock(apart: int) -> CheckFinding:
    """Redis's clock. `apart`: microseconds that it is ahead of this machine's."""
    check = "redis clock"
    text = f"Redis's clock is {abs(apart) / 1e6:,.1f} s {'ahead of' if apart > 0 else 'behind'} this machine's"
    if abs(apart) > APART_MICROS:
        cure = "set the one that is wrong by NTP: events are refused as of the future, or hidden"
        return CLOCK.wrong(check, text, cure)
    if abs(apart) > FAR_MICROS:
        return CLOCK.advice(check, text, "is NTP running on both?")
    return CLOCK.ok(check, "Redis's clock and this machine's agree")


# The way to a Redis of one's own, over TCP


def way(host: str, *, encrypted: bool, lets_anybody_in: bool | None, sealed: bool) -> Findings:
    """Who else can reach it, and who reads what passes. `lets_anybody_in`: without a password; None if that could not be tried."""
    check, near = "password", is_loopback(host)
    cure = "an ACL user or `requirepass`, and the user and password in ENGRAMLOG_REDIS_URL"
    if lets_anybody_in is None:
        found = REDIS.failed(check, "it could not be tried whether Redis answers without one")
    elif not lets_anybody_in:
        found = REDIS.ok(check, "Redis asks for one")
    elif near:
        text = "Redis answers without one: every program and user of this machine can read and write"
        found = REDIS.advice(check, text, cure)
    else:
        text = f"Redis at {host} answers without one: anyone who reaches it can read and write"
        found = REDIS.wrong(check, text, cure)
    if near:
        return [found]
    check = "tls"
    if encrypted:
        return [found, REDIS.ok(check, "what passes is encrypted (rediss://)")]
    cure = "TLS in Redis, and rediss:// in ENGRAMLOG_REDIS_URL; or a private network without other users"
    if sealed:
        text = f"what passes to {host} is not encrypted; contents are sealed, the password is not"
        return [found, REDIS.advice(check, text, cure)]
    return [found, REDIS.wrong(check, f"what passes to {host} can be read on the way, contents and password", cure)]


def look_at_way(reached: ReachedStore) -> Findings:
    """The same of a Redis of one's own; of a Cluster of each node. Raises StoreError."""
    url = reached.settings.redis_url
    if url is None or url.startswith("unix:"):
        return []
    bare, address = without_password(url), read_address(url)
    ways = {urlsplit(url).hostname or "localhost": bare}
    if address.kind != "server":
        query = bare.partition("?")[2]
        with closing(reached.wire()) as wire:
            names = [name for name, _ in wire.servers()]
        scheme = "rediss" if address.tls else "redis"
        ways = {name: f"{scheme}://{name}{f'?{query}' if query else ''}" for name in names}
    sealed = reached.identity is not None and reached.identity.sealed is not None
    findings = {
        name: way(
            urlsplit(to).hostname or name, encrypted=address.tls, lets_anybody_in=_needs_no_password(to), sealed=sealed
        )
        for name, to in ways.items()
    }
    return joined(findings) if len(findings) > 1 else next(iter(findings.values()))


def without_password(url: str) -> str:
    """The address of a Redis without credentials."""
    parts = urlsplit(url)
    query = urlencode([one for one in parse_qsl(parts.query) if one[0] not in SECRETS])
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query))


def _needs_no_password(url: str) -> bool | None:
    """Whether Redis answers without credentials; None if it does not answer at all. `url`: without credentials."""
    client = connect(url, timeout=SECONDS)
    try:
        client.ping()
    except redis.ConnectionError as error:
        return False if isinstance(error, redis.AuthenticationError) else None
    except redis.ResponseError:
        return False
    except redis.RedisError:
        return None
    finally:
        client.close()
    return True


# A Cluster: whether its nodes hold a store together


def look_at_cluster(reached: ReachedStore) -> Findings:
    """Slots, nodes and replicas; nothing if the store is on one server. Raises StoreError."""
    with closing(reached.wire()) as wire:
        if not wire.many:
            return []
        nodes, moving, strict = known_nodes(wire), 0, dict[str, str | None]()
        for name, server in wire.servers():
            with suppress(StoreUnavailable):  # the check of that node reports that it does not answer
                moving += moving_slots(server)
                (told,) = server.pipeline([["CONFIG", "GET", "cluster-require-full-coverage"]])
                strict[name] = told[1].decode() if isinstance(told, list) and len(told) == 2 else None
    return [nodes_there(nodes), slots(nodes, moving), followed(nodes), covered(strict)]


def joined(by_node: Mapping[str, Sequence[CheckFinding]]) -> Findings:
    """Findings of all nodes, one a check: the worst result, with the nodes that have it."""
    checks: dict[tuple[str, str], dict[str, CheckFinding]] = {}
    for name, findings in by_node.items():
        for one in findings:
            checks.setdefault((one.group, one.check), {})[name] = one
    return [_worst(found, nodes=len(by_node)) for found in checks.values()]


def _worst(found: Mapping[str, CheckFinding], *, nodes: int) -> CheckFinding:
    worst = min((one.result for one in found.values()), key=WORST_FIRST.index)
    bad = {name: one for name, one in found.items() if one.result == worst}
    texts: dict[str, list[str]] = {}
    for name, one in bad.items():
        texts.setdefault(one.found, []).append(name)
    first = next(iter(bad.values()))
    if len(texts) == 1 and len(bad) == nodes:
        return first._replace(found=f"{first.found}, on each of {many(nodes, 'node')}")
    text = "; ".join(f"{named(names)}: {text}" for text, names in texts.items())
    return first._replace(found=text, failed=any(one.failed for one in bad.values()))


def slots(nodes: Iterable[KnownNode], moving: int) -> CheckFinding:
    """Whether every slot has a node that serves it. `moving`: how many are on their way."""
    check = "slots"
    missing = SLOTS - sum(one.slots for one in nodes if not one.gone)
    if missing > 0:
        text = f"{missing:,} of {SLOTS:,} slots have no node that serves them: partitions there wait"
        return CLUSTER.wrong(check, text, "bring their node back, or `redis-cli --cluster fix`")
    if moving:
        way_ = "is on its way" if moving == 1 else "are on their way"
        cure = "let the move end; if no move is running, `redis-cli --cluster fix`"
        return CLUSTER.advice(check, f"{many(moving, 'slot')} {way_} to another node", cure)
    return CLUSTER.ok(check, f"all {SLOTS:,} slots have a node")


def nodes_there(nodes: Sequence[KnownNode]) -> CheckFinding:
    """Whether a node counts as gone."""
    check = "nodes"
    if gone := [one.name for one in nodes if one.gone]:
        cure = "start it again, or `redis-cli --cluster del-node`"
        return CLUSTER.wrong(check, f"the others take {named(gone)} for gone", cure)
    serving = sum(1 for one in nodes if one.slots)
    return CLUSTER.ok(check, f"{many(serving, 'primary', 'primaries')} and {many(len(nodes) - serving, 'other node')}")


def followed(nodes: Sequence[KnownNode]) -> CheckFinding:
    """Whether each primary has a replica that can take its place."""
    check = "failover"
    followed_ids = {one.follows for one in nodes if one.follows and not one.gone}
    if alone := [one.name for one in nodes if one.slots and one.node_id not in followed_ids]:
        text = f"no replica follows {named(alone)}: its partitions wait until it is back"
        return CLUSTER.advice(check, text, "`redis-cli --cluster add-node ... --cluster-slave`")
    return CLUSTER.ok(check, "each primary has a replica")


def covered(by_node: Mapping[str, str | None]) -> CheckFinding:
    """`cluster-require-full-coverage` by node; None if a node does not show it."""
    check, setting = "coverage", "cluster-require-full-coverage"
    if strict := [name for name, value in by_node.items() if value == "yes"]:
        text = f"{setting} is yes on {named(strict)}: where one node's slots are lost, all the others stop too"
        return CLUSTER.advice(check, text, f"`CONFIG SET {setting} no` on every node, and in its file")
    if any(value is None for value in by_node.values()):
        text = f"nodes do not show {setting} (CONFIG GET is not allowed)"
        return CLUSTER.unseen(check, text, "let it be `no` on every node")
    return CLUSTER.ok(check, "where one node's slots are lost, the others go on")


SECONDS = 5.0
"""How long a check, or an answer of Redis, is waited for."""
OPENING_SECONDS = 15.0
"""How long another process that uses the folder is waited for, or a server that loads without getting on."""
FIRST = "`engramlog up` or the first write makes it; nothing was made now"


class NothingToCheck(StoreMismatch):
    """There is no store where the settings say."""

    exit_code = 3


@dataclass(slots=True)
class ReachedStore:
    """A store that was reached, as far as it was."""

    settings: Settings
    folder: Path | None
    """The data folder of an embedded store."""
    client: StoreClient | None = None
    """None where Redis was not reached."""
    embedded: EmbeddedRedis | None = None
    identity: StoreIdentity | None = None
    """None if it could not be read."""
    trouble: EngramlogError | None = None
    """Why Redis was not reached, or the store not opened."""

    def wire(self) -> Wire:
        """A connection of one's own. Raises StoreError where Redis was not reached."""
        return open_wire(self.reached)

    @property
    def reached(self) -> StoreClient:
        """The client. Raises StoreError where Redis was not reached."""
        if self.client is None:
            raise StoreError("Redis was not reached")
        return self.client

    @property
    def known(self) -> StoreIdentity:
        """The identity. Raises StoreError where it could not be read."""
        if self.identity is None:
            raise StoreError("the store could not be opened")
        return self.identity

    @property
    def opened(self) -> StoreIdentity:
        """The same of a store that was opened, so that what is sealed can be read. Raises StoreError where it was not."""
        if self.trouble is not None:
            raise StoreError("the store could not be opened")
        return self.known

    def log(self) -> RedisEventLog:
        """The log, for reading. Raises StoreError where the store was not opened."""
        return RedisEventLog(self.reached, self.opened.tags, own_clock=now_micros)


@contextmanager
def reach(
    settings: Settings,
    *,
    on_wait: Callable[[str], None] | None = None,
    loading_seconds: float = OPENING_SECONDS,
    may_be_new: bool = False,
) -> Iterator[ReachedStore]:
    """The store of these settings as far as it can be reached. Raises NothingToCheck if there is none.

    `loading_seconds`: how long a Redis of one's own may load without getting on. `may_be_new`: one that holds no store yet is
    reached too, with neither identity nor trouble.
    """
    if settings.redis_url is not None:
        reached = ReachedStore(settings, None)
        try:
            _open(reached, settings.redis_url, on_wait, loading_seconds, may_be_new=may_be_new)
            yield reached
        finally:
            _close(reached)
        return
    folder = folder_of(settings)
    reached = ReachedStore(settings, folder)
    embedded = _served(reached, folder, on_wait)
    if embedded is None:
        yield reached
        return
    with embedded:
        reached.embedded = embedded
        try:
            _open(reached, url_of(embedded.socket_path), on_wait)
            if embedded.recovery and reached.client is not None:  # recorded, since only this start knows it
                by = f"{socket.gethostname()}-{os.getpid()}"
                RedisAlarms(WirePool(reached.client), by, silent).raised("log_cut", "", embedded.recovery)
            yield reached
        finally:
            _close(reached)


def _served(reached: ReachedStore, folder: Path, on_wait: Callable[[str], None] | None) -> EmbeddedRedis | None:
    """The folder's Redis; None if it cannot be opened, for the reason in `reached`. Raises NothingToCheck."""
    settings = reached.settings
    try:
        exists = folder.exists()
        is_safe = exists and is_safe_to_open(folder)
        is_there = exists and (not is_safe or holds_store(folder))
    except OSError as error:
        reached.trouble = StoreError(f"the data folder {folder} cannot be read: {error.strerror}")
        return None
    if not is_there:
        raise NothingToCheck(f"{folder} holds no store yet (ENGRAMLOG_DATA): {FIRST}", folder=str(folder))
    if not is_safe:
        reached.trouble = StoreError("the data folder is not this user's alone, so nothing in it was opened")
        return None
    try:
        return open_folder(
            folder,
            "command",
            binary=find_redis_server(settings.redis_server),
            maxmemory=settings.redis_maxmemory,
            wait_seconds=OPENING_SECONDS,
            on_wait=on_wait,
            create=False,
        )
    except EngramlogError as error:
        reached.trouble = error
    except OSError as error:
        reached.trouble = StoreError(f"the data folder {folder} cannot be used: {error.strerror}")
    return None


def _open(
    reached: ReachedStore,
    url: str,
    on_wait: Callable[[str], None] | None,
    loading_seconds: float = OPENING_SECONDS,
    *,
    may_be_new: bool = False,
) -> None:
    """Read which store it is, and have what opens it begin. Raises NothingToCheck."""
    settings = reached.settings
    try:
        master = master_of(settings, reached.folder)
        client = connect(url, timeout=min(settings.redis_timeout, SECONDS), master=master, keys=keys_of(settings))
        wire = open_wire(client)
        try:
            if reached.embedded is None:
                await_loaded(wire, loading_seconds, on_wait)
                refuse_kind(wire, "ENGRAMLOG_REDIS_URL")
            reached.client = client
            reached.identity = read_identity(wire)
            if reached.identity is None and not may_be_new:
                raise NothingToCheck(f"this Redis holds no store yet (ENGRAMLOG_REDIS_URL): {FIRST}")
            known_identity(wire)
        finally:
            wire.close()
            if reached.client is None:
                client.close()
    except NothingToCheck:
        raise
    except EngramlogError as error:
        reached.trouble = error


def _close(reached: ReachedStore) -> None:
    if reached.client is not None:
        reached.client.close()
