"""The jobs page: each job of RQ's registries with its state, when it is tried again, and why it failed.

Anybody who can write to the queue's Redis may have written it. So nothing is imported by a name found there, every field is bounded
in Redis, and ids that are not ours are skipped: workers refuse those jobs.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from engramlog_server.consumers.jobs.leader import queue_name, schedule_key
from engramlog_server.consumers.jobs.status import Schedule, instant
from engramlog_server.events import errors
from engramlog_server.events.alarms import one_line
from engramlog_server.events.envelope import utc_text
from engramlog_server.events.errors import EngramlogError, StoreError
from engramlog_server.events.redis.clock import redis_ms
from engramlog_server.events.redis.wire import Script, Wire
from engramlog_server.events.sealing.untold import OF_THE_STORE
from engramlog_server.events.text.digits import whole

MOST_JOBS = 200
MOST_ERROR = 300
"""Characters of an error that are shown."""
_MOST_PACKED, _MOST_UNPACKED = 64 * 1024, 512 * 1024
"""Bytes of a traceback, packed and unpacked."""
_MOST_FIELD = 64
_FIELDS = ("enqueued_at", "started_at", "ended_at", "retries_left")
_ABANDONED = "Moved to FailedJobRegistry, due to AbandonedJobError"
"""What RQ records of a job whose worker sent no heartbeat."""
_PASSWORD = re.compile(r"://[^\s/@]*@")
State = Literal["running", "again", "failed", "queued"]
WHAT: Mapping[str, str] = {
    "upkeep": "levels, deletions that fell due, purges and reviews, of every owner",
    "daily": "merges, associations and replays, of every owner",
    "extract": "turns become typed memories",
    "sessions": "sessions that ended become episodes, and what replies rest on is noted",
    "links": "what is new is linked with what is related to it",
    "judge": "memories that were appended raw are judged beside what is known",
    "embed": "vectors of memories that have none",
}
_READ = Script(
    "engramlog-board",
    """
-- KEYS: the job, its results. ARGV: most bytes of a field, most of a traceback, the fields
local function typed(key, wanted)
  local kind = redis.call('TYPE', key)
  if type(kind) == 'table' then kind = kind['ok'] end
  return kind == wanted
end
local told = {}
for i = 3, #ARGV do
  local value = ''
  if typed(KEYS[1], 'hash') and redis.call('HSTRLEN', KEYS[1], ARGV[i]) <= tonumber(ARGV[1]) then
    value = redis.call('HGET', KEYS[1], ARGV[i]) or ''
  end
  told[#told + 1] = value
end
local trace = ''
if typed(KEYS[2], 'stream') then
  local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', '1')[1]
  if last then
    for i = 1, #last[2], 2 do
      if last[2][i] == 'exc_string' and #last[2][i + 1] <= tonumber(ARGV[2]) then trace = last[2][i + 1] end
    end
  end
end
told[#told + 1] = trace
return told
""",
)


class _Name(NamedTuple):
    """The parts of a job's id."""

    kind: str
    partition: int
    tick: str


class _Entry(NamedTuple):
    """An entry of a registry."""

    id: str
    name: _Name
    state: State
    score: float | None


def job_board(wire: Wire, store_id: str, partitions: int) -> dict[str, Any]:
    """Every kind of job and every job, JSON-ready, by a connection to the queue's Redis.

    If the queue's Redis does not answer, all is null and `problem` says why.
    """
    try:
        now = redis_ms(wire)
        schedule = Schedule(wire.call("HGETALL", schedule_key(store_id)), now)
        entries, counts = _entries(wire, store_id, partitions)
        jobs = _jobs(wire, entries[:MOST_JOBS])
    except StoreError as error:
        unknown = dict.fromkeys(("at", "leader", "queued", "running", "again", "failed", "refused"))
        return unknown | {
            "problem": _shown(error.message), "partitions": partitions, "kinds": [], "jobs": [], "left_out": 0
        }  # fmt: skip
    return {
        "at": instant(now),
        "leader": schedule.leader,
        "problem": None,
        "partitions": partitions,
        **counts,
        "refused": schedule.refused,
        "kinds": [
            _kind(kind, schedule, partitions, [entry.state for entry in entries if entry.name.kind == kind])
            for kind in sorted({*schedule.every, *(entry.name.kind for entry in entries)})
        ],
        "jobs": jobs,
        "left_out": max(sum(counts.values()) - len(jobs), 0),
    }


def _entries(wire: Wire, store_id: str, partitions: int) -> tuple[list[_Entry], dict[str, int]]:
    """Jobs of all registries, the most important first; and the size of each registry, foreign entries included."""
    name = queue_name(store_id)
    registries: Sequence[tuple[State, str]] = (("running", "wip"), ("again", "scheduled"), ("failed", "failed"))
    commands: list[list[str | int]] = [["ZCARD", f"rq:{key}:{name}"] for _, key in registries]
    commands += [["ZRANGE", f"rq:{key}:{name}", 0, MOST_JOBS - 1, "REV", "WITHSCORES"] for _, key in registries]
    queue = f"rq:queue:{name}"
    *answers, length, waiting = wire.answers([*commands, ["LLEN", queue], ["LRANGE", queue, 0, MOST_JOBS - 1]])
    counts: dict[str, int] = {state: int(many) for (state, _), many in zip(registries, answers, strict=False)}
    counts["queued"] = int(length)
    found: list[_Entry] = []
    for (state, _), flat in zip(registries, answers[len(registries) :], strict=True):
        for member, score in zip(flat[::2], flat[1::2], strict=True):
            _take(found, member.partition(b":")[0], state, float(score), store_id, partitions)
    for member in waiting:
        _take(found, member, "queued", None, store_id, partitions)
    return found, counts


def _take(found: list[_Entry], raw: bytes, state: State, score: float | None, store_id: str, partitions: int) -> None:
    name = _named(raw, store_id, partitions)
    if name is not None:
        found.append(_Entry(raw.decode(), name, state, score))


def _named(raw: bytes, store_id: str, partitions: int) -> _Name | None:
    """The parts of an id; None if no scheduler of this store made it."""
    match = re.fullmatch(rb"([a-z]{1,20})-(.{1,64})-p([0-9]{1,4})-([0-9]{8}T[0-9]{4}(?:[0-9]{2})?)", raw)
    if match is None or match[2] != store_id.encode() or match[1].decode() not in WHAT:
        return None
    partition = int(match[3])
    try:
        form = "%Y%m%dT%H%M%S" if len(match[4]) == 15 else "%Y%m%dT%H%M"
        tick = datetime.strptime(match[4].decode(), form).replace(tzinfo=UTC)
    except ValueError:
        return None
    return _Name(match[1].decode(), partition, utc_text(tick)) if partition < partitions else None


def _jobs(wire: Wire, entries: Sequence[_Entry]) -> list[dict[str, Any]]:
    bounds = (_MOST_FIELD, _MOST_PACKED, *_FIELDS)
    commands = [wire.evalsha(_READ, [f"rq:job:{one.id}", f"rq:results:{one.id}"], bounds) for one in entries]
    return [_job(one, answer) for one, answer in zip(entries, wire.answers(commands), strict=True)]


def _job(one: _Entry, answer: Sequence[bytes]) -> dict[str, Any]:
    enqueued, started, ended, left, trace = answer
    return {
        "id": one.id,
        "kind": one.name.kind,
        "partition": one.name.partition,
        "tick": one.name.tick,
        "state": one.state,
        "enqueued": _instant(enqueued),
        "started": _instant(started),
        "ended": _instant(ended),
        "next_try": instant(one.score * 1_000) if one.state == "again" and one.score is not None else None,
        "tries_left": whole(left.decode("utf-8", "replace")),
        "error": _error(trace) if one.state in ("again", "failed") else None,
    }


def _kind(kind: str, schedule: Schedule, partitions: int, states: Sequence[State]) -> dict[str, Any]:
    runs = schedule.runs(kind, partitions) if kind in schedule.every else {}
    return {
        "kind": kind,
        "what": WHAT.get(kind, ""),
        "every_minutes": runs.get("every_minutes"),
        "last_tick": instant(schedule.ticks.get(kind)),
        "next_tick": instant(schedule.next_tick(kind)),
        "last_done": runs.get("newest"),
        "oldest_done": runs.get("oldest"),
        "waiting_since": runs.get("waiting_since"),
        "seconds": runs.get("seconds"),
        "done_partitions": runs.get("partitions", 0),
        "queued": states.count("queued"),
        "running": states.count("running"),
        "again": states.count("again"),
        "failed": states.count("failed"),
        "stopped": _stopped(schedule.stopped.get(kind, {})),
    }


def _stopped(reasons: Mapping[int, str]) -> list[dict[str, Any]]:
    """Why a kind stopped, with the partitions of each reason; the reason of most partitions first."""
    by_reason: dict[str, list[int]] = {}
    for partition, reason in sorted(reasons.items()):
        by_reason.setdefault(_shown(reason), []).append(partition)
    ordered = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    return [{"partitions": partitions, "reason": reason} for reason, partitions in ordered]


def _error(packed: bytes) -> str | None:
    """The last line of a traceback: type and message of our own errors about the store, else only the type."""
    lines = _unpacked(packed, b64decode).rstrip().splitlines() if packed else []
    if not lines:
        return None
    kind, _, words = lines[-1].partition(": ")
    if kind.startswith(_ABANDONED):
        return "its worker died"
    if "." not in kind and " " in kind:
        return "a job that failed without an error's name"
    name = kind.rpartition(".")[2]
    known = getattr(errors, name, None)
    ours = False
    if isinstance(known, type) and issubclass(known, EngramlogError):
        ours = issubclass(known, StoreError) or known.status in OF_THE_STORE
    return _shown(f"{name}: {words}" if ours and words else name)


def _unpacked(packed: bytes, decode: Callable[[bytes], bytes]) -> str:
    try:
        return zlib.decompressobj().decompress(decode(packed), _MOST_UNPACKED).decode("utf-8", "replace")
    except (zlib.error, NotBase64, ValueError):
        return ""


def _shown(text: str) -> str:
    return one_line(_PASSWORD.sub("://", text), MOST_ERROR)


def _instant(raw: bytes) -> str | None:
    """A time as RQ writes it, in our form; None if it is none."""
    try:
        found = datetime.fromisoformat(raw.decode("ascii"))
    except ValueError:
        return None
    return utc_text(found if found.tzinfo else found.replace(tzinfo=UTC))
