"""What Redis tells of itself, of a Cluster each of its nodes, and who it lets in."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis

from api.services.auditing.supervision import OK, info, read_aof, replicas_online
from api.work.outlook import outlook
from events.errors import StoreUnavailable
from events.partitions import LogKeys
from events.redis.address import read_address
from events.redis.admission import read_room
from events.redis.durability import read_settings
from events.redis.wire import Wire, connect
from ops.doctor.deciding import redis as decide
from ops.doctor.deciding.cluster import joined
from ops.doctor.deciding.redis import MemoryFacts, WayFacts, WritesFacts
from ops.doctor.finding import REDIS, CheckFinding
from ops.doctor.reaching import SECONDS, ReachedStore
from projections.redis.debt import FoldDebt

SECRETS = frozenset({"username", "password"})
"""What a URL may tell behind its `?` of who one is."""


def look_at_redis(reached: ReachedStore) -> list[CheckFinding]:
    """Version, durability, how the last writes ended, memory and replicas; of a Cluster by node. Raises StoreError."""
    wire, found = reached.wire(), dict[str, list[CheckFinding]]()
    try:
        for name, server in wire.servers():
            try:
                found[name] = _look_at_server(server, reached, tags_on(wire, name, reached))
            except StoreUnavailable as error:
                if not wire.many:
                    raise
                found[name] = [
                    REDIS.wrong("answers", error.message, "nothing of that node was looked at until it does")
                ]
    finally:
        wire.close()
    return joined(found) if wire.many else found[""]


def tags_on(wire: Wire, name: str, reached: ReachedStore) -> list[str]:
    """The partitions that a server holds."""
    tags = () if reached.identity is None else reached.identity.tags
    return [tag for tag in tags if wire.node_of(LogKeys(tag).meta) == name]


def _look_at_server(wire: Wire, reached: ReachedStore, tags: Sequence[str]) -> list[CheckFinding]:
    settings, persistence = read_settings(wire), info(wire, "persistence")
    version = info(wire, "server").get("redis_version", "unknown")
    aof, saved = read_aof(persistence), persistence.get("rdb_last_bgsave_status", OK)
    replication, memory = info(wire, "replication"), _memory(wire, tags)
    return [
        decide.version(version),
        *decide.durability(settings, memory.limit is not None, info(wire, "memory").get("maxmemory_policy", "")),
        decide.writes(WritesFacts(aof.write_ok, aof.rewrite_ok, saved == OK)),
        decide.memory(memory),
        decide.replicas(replication.get("role", "master"), replicas_online(replication), reached.settings.min_replicas),
    ]


def _memory(wire: Wire, tags: Sequence[str]) -> MemoryFacts:
    """Of the server that holds these partitions."""
    told = info(wire, "memory")
    if not tags:
        room, events = read_room(wire), 0
    else:
        room = read_room(wire, FoldDebt(tags))
        heads = wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in tags])
        events = sum(int(one or 0) for one in heads)
    warning = outlook(room, events or 1).get("warning")  # a node without events is full all the same
    return MemoryFacts(warning, room.used, int(told.get("used_memory_rss", "0")), room.limit)


def look_at_way(reached: ReachedStore) -> list[CheckFinding]:
    """Who else can reach a Redis of one's own over TCP, and who reads what passes; of a Cluster each of its nodes. Raises
    StoreError."""
    url = reached.settings.redis_url
    if url is None or url.startswith("unix:"):
        return []
    sealed = reached.identity is not None and reached.identity.sealed is not None
    address = read_address(url)
    if address.kind == "server":
        host = urlsplit(url).hostname or "localhost"
        return decide.way(WayFacts(host, address.tls, _lets_anybody_in(without_password(url)), sealed))
    wire = reached.wire()
    try:
        hosts = [name for name, _ in wire.servers()]
    finally:
        wire.close()
    query = without_password(url).partition("?")[2]
    found = dict[str, list[CheckFinding]]()
    for name in hosts:
        way = f"{'rediss' if address.tls else 'redis'}://{name}{f'?{query}' if query else ''}"
        host = urlsplit(way).hostname or name
        found[name] = decide.way(WayFacts(host, address.tls, _lets_anybody_in(way), sealed))
    return joined(found) if len(hosts) > 1 else found[hosts[0]]


def without_password(url: str) -> str:
    """The address of a Redis without who one is."""
    parts = urlsplit(url)
    query = urlencode([one for one in parse_qsl(parts.query) if one[0] not in SECRETS])
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query))


def _lets_anybody_in(url: str) -> bool | None:
    """Whether Redis answers who shows nothing; None where it does not answer at all. `url`: without who one is."""
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
