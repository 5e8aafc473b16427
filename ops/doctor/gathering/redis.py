"""What Redis tells of itself, and who it lets in."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis

from api.services.auditing.supervision import OK, Supervision, info
from api.work.outlook import outlook
from events.partitions import LogKeys
from events.redis.admission import read_room
from events.redis.durability import read_settings
from events.redis.wire import Wire, connect
from ops.doctor.deciding import redis as decide
from ops.doctor.deciding.redis import MemoryFacts, WayFacts, WritesFacts
from ops.doctor.finding import CheckFinding
from ops.doctor.reaching import SECONDS, ReachedStore
from projections.redis.debt import FoldDebt

SECRETS = frozenset({"username", "password"})
"""What a URL may tell behind its `?` of who one is."""


def look_at_redis(reached: ReachedStore) -> list[CheckFinding]:
    """Version, durability, how the last writes ended, memory and replicas. Raises StoreError."""
    kept = Supervision(reached.wire).kept()
    wire = reached.wire()
    try:
        settings, saved = read_settings(wire), info(wire, "persistence").get("rdb_last_bgsave_status", OK)
        replication = info(wire, "replication")
        memory = _memory(wire, reached)
    finally:
        wire.close()
    online = sum(1 for name, value in replication.items() if name.startswith("slave") and "state=online" in value)
    return [
        decide.version(kept.redis_version),
        *decide.durability(settings, memory.limit is not None),
        decide.writes(WritesFacts(kept.aof.write_ok, kept.aof.rewrite_ok, saved == OK)),
        decide.memory(memory),
        decide.replicas(replication.get("role", "master"), online, reached.settings.min_replicas),
    ]


def _memory(wire: Wire, reached: ReachedStore) -> MemoryFacts:
    identity, told = reached.identity, info(wire, "memory")
    if identity is None:
        room, events = read_room(wire), 0
    else:
        room = read_room(wire, FoldDebt(identity.tags))
        heads = wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in identity.tags])
        events = sum(int(one or 0) for one in heads)
    warning = outlook(room, events).get("warning")
    return MemoryFacts(warning, room.used, int(told.get("used_memory_rss", "0")), room.limit)


def look_at_way(reached: ReachedStore) -> list[CheckFinding]:
    """Who else can reach a Redis of one's own over TCP, and who reads what passes."""
    url = reached.settings.redis_url
    if url is None or url.startswith("unix:"):
        return []
    sealed = reached.identity is not None and reached.identity.sealed is not None
    host = urlsplit(url).hostname or "localhost"
    return decide.way(WayFacts(host, url.startswith("rediss:"), _lets_anybody_in(url), sealed))


def without_password(url: str) -> str:
    """The address of a Redis without who one is."""
    parts = urlsplit(url)
    query = urlencode([one for one in parse_qsl(parts.query) if one[0] not in SECRETS])
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query))


def _lets_anybody_in(url: str) -> bool | None:
    """Whether Redis answers who shows nothing; None where it does not answer at all."""
    client = connect(without_password(url), timeout=SECONDS)
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
