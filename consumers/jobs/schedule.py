"""The schedule of a store's jobs: one hash next to the queue with the leader's lease, the last ticks and how each kind ended.

The lease only saves work. A tick's jobs have ids made of kind, partition and tick, so two leaders at once, one of them paused
beyond its lease, still enqueue each job once. A process that cannot reach the queue cannot lead.

The hash and RQ's registries are read for `status` and for the jobs page. Anybody who can write to the queue's Redis may have
written them. So nothing is imported by a name found there, every field is bounded in Redis, and foreign ids are skipped: workers
refuse those jobs.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from engramlog_server.consumers.fold.presence import LEASE_MS
from engramlog_server.events import errors
from engramlog_server.events.alarms import one_line
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import OF_THE_STORE, EngramlogError, StoreError
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Script, Wire
from engramlog_server.events.text import whole
from engramlog_server.projections.redis.store import LEASE

STOPPED = "stopped:"
"""Prefix of the fields that say why a kind of job stopped for a partition."""
_DONE = "done:"
"""Prefix of the fields that say when a kind of job was last done for a partition, and how long it took, milliseconds."""
SINCE = "since:"
"""Prefix of the fields that say since when a kind of job is scheduled."""
REFUSED = "refused"
"""The field that counts refused jobs."""
BESIDE = "beside-"
"""Prefix of the fields of optional kinds, which are not part of the lifecycle."""


def queue_name(store_id: str) -> str:
    """The name of a store's RQ queue: several stores may share a Redis for their queues."""
    return f"engramlog-{store_id}"


def schedule_key(store_id: str) -> str:
    """The hash with the leader's lease and, by kind of job, the last tick and the time between two, milliseconds."""
    return f"engramlog-jobs:{store_id}"


class Leader:
    """One candidate. Call `tend` well within the lease time; a leader that stops doing so is replaced when the lease ends."""

    def __init__(self, wire: Wire, store_id: str, holder: str, lease_ms: int = LEASE_MS) -> None:
        self._wire = wire
        self._key = schedule_key(store_id)
        self._holder = holder
        self._lease_ms = lease_ms
        self._epoch: int | None = None

    @property
    def leads(self) -> bool:
        """Whether it held the lease at the last `tend`."""
        return self._epoch is not None

    def tend(self, now_ms: int) -> bool:
        """Renew the lease, or take it if it is free; returns whether it leads now. Raises StoreError."""
        if self._epoch is not None and not self._ask("renew", now_ms, self._epoch)[0]:
            self._epoch = None
        if self._epoch is None:
            taken, epoch, _ = self._ask("take", now_ms, 0)
            self._epoch = int(epoch) if taken else None
        return self.leads

    def leave(self, wire: Wire | None = None) -> None:
        """Release the lease if it leads. Raises StoreError.

        `wire`: the connection of a thread other than the one that tends.
        """
        if self._epoch is not None:
            self._ask("release", 0, self._epoch, wire)
            self._epoch = None

    def _ask(self, mode: str, now_ms: int, epoch: int, wire: Wire | None = None) -> list[Any]:
        answer: list[Any] = (wire or self._wire).run(
            LEASE, [self._key, self._key], [mode, self._holder, now_ms, self._lease_ms, epoch, ""]
        )
        return answer


def has_work(wire: Wire, store_id: str, now_ms: int) -> bool:
    """Whether a job waits, runs, is being taken, or is due to be tried again. Raises StoreError."""
    name, soon = queue_name(store_id), now_ms // 1_000 + 1
    queue = f"rq:queue:{name}"
    return bool(
        wire.call("LLEN", queue)
        or wire.call("LLEN", f"{queue}:intermediate")
        or wire.call("ZCARD", f"rq:wip:{name}")
        or wire.call("ZCOUNT", f"rq:scheduled:{name}", "-inf", soon)
    )


def done_field(kind: str, partition: int) -> str:
    """The field that says when a kind of job was last done for a partition."""
    return f"{_DONE}{kind}:{partition}"


def folded_field(kind: str, partition: int) -> str:
    """The field with the seq up to which a kind of job is done for a partition."""
    return f"{kind}-to:{partition}"


UNKNOWN = ("leader", "last_tick", "next_tick", "queued", "running", "failed", "refused", "beside", "stopped", "done")


class Schedule:
    """What the schedule's hash says of each kind of job. Times in milliseconds since 1970; invalid numbers are left out."""

    def __init__(self, flat: Sequence[bytes], now_ms: int) -> None:
        """`flat`: fields and values in turn. Anybody who can write to the queue's Redis may have written them."""
        text = [value.decode("utf-8", "replace") for value in flat]
        fields = dict(zip(text[::2], text[1::2], strict=True))
        until = whole(fields.get("until", "")) or 0
        # A lease that ends far ahead was taken before the clock went back.
        self.leader = fields.get("holder") if 0 < until - now_ms <= 4 * LEASE_MS else None
        self.refused = whole(fields.get(REFUSED, "")) or 0
        self.ticks: dict[str, int] = {}
        self.every: dict[str, int] = {}
        self.since: dict[str, int] = {}
        self.done: dict[str, list[tuple[int, int]]] = {}
        """By kind: when each partition last had it done, and how long that took."""
        self.stopped: dict[str, dict[int, str]] = {}
        """By kind and partition: why it stopped."""
        self.optional: set[str] = set()
        """Kinds that are not part of the lifecycle."""
        for field, value in fields.items():
            self._read(field, value)

    def _read(self, field: str, value: str) -> None:
        part, _, name = field.removeprefix(BESIDE).partition(":")
        kind, _, partition = name.partition(":")
        numbers = {"tick": self.ticks, "every": self.every, "since": self.since}
        if part in numbers and (number := whole(value)) is not None:
            numbers[part][kind] = number
            if field.startswith(BESIDE):
                self.optional.add(kind)
        elif part == "done":
            at, took = (whole(number) for number in (*value.split(), "", "")[:2])
            if at is not None and took is not None:
                self.done.setdefault(kind, []).append((at, took))
        elif part == "stopped" and (number := whole(partition)) is not None:
            self.stopped.setdefault(kind, {})[number] = value

    def next_tick(self, kind: str) -> int | None:
        """None if nothing is scheduled now."""
        tick, every = self.ticks.get(kind), self.every.get(kind)
        return None if self.leader is None or tick is None or every is None else tick + every

    def runs(self, kind: str, partitions: int) -> dict[str, Any]:
        """How often a kind is due, and when its partitions last had it done."""
        runs, since = self.done.get(kind, []), self.since.get(kind, 0)
        ends = [at for at, _ in runs]
        # A run before `since` does not count: the kind was scheduled once before.
        waits = [max(at, since) for at in ends] + [since] * (len(ends) < partitions and since > 0)
        return {
            "every_minutes": minutes(self.every[kind]),
            "oldest": instant(min(ends, default=None)),
            "newest": instant(max(ends, default=None)),
            "waiting_since": instant(min(waits, default=None)),
            "seconds": max(took for _, took in runs) / 1_000 if runs else None,
            "partitions": len(runs),
        }


def lifecycle_status(wire: Wire, store_id: str, partitions: int) -> dict[str, Any]:
    """Who schedules, the last and the next tick, and how many jobs wait, run or have failed; JSON-ready, in one round trip.

    `wire` is a connection to the queue's Redis. `beside` has the ticks of the optional kinds, such as embedding and extraction.
    `stopped` says why a kind of job stopped when it last ran, until it completes: a model that is down, a missing setting.

    `done` has each scheduled kind: how often it is due, when its partitions last had it done, and how long the slowest took.
    `waiting_since` also counts those of the store's `partitions` that never had it done, from when the kind is scheduled.

    `refused` counts the jobs that were not ours (`consumers.jobs.queue`), since the store was made.

    `leader` is null if no job worker runs: nothing is scheduled, and there is no next tick. If the queue's Redis does not
    answer, all is null and `problem` says why.
    """
    name = queue_name(store_id)
    registries = [["ZCARD", f"rq:{registry}:{name}"] for registry in ("wip", "failed")]
    try:
        (seconds, micros), flat, queued, running, failed = wire.answers(
            [["TIME"], ["HGETALL", schedule_key(store_id)], ["LLEN", f"rq:queue:{name}"], *registries]
        )
    except StoreError as error:
        return dict.fromkeys(UNKNOWN) | {"problem": error.message}
    schedule = Schedule(flat, int(seconds) * 1_000 + int(micros) // 1_000)
    lifecycle = [kind for kind in schedule.ticks if kind not in schedule.optional]
    following = [tick for kind in lifecycle if (tick := schedule.next_tick(kind)) is not None]
    return {
        "leader": schedule.leader,
        "last_tick": instant(max((schedule.ticks[kind] for kind in lifecycle), default=None)),
        "next_tick": instant(min(following, default=None)),
        "queued": int(queued),
        "running": int(running),
        "failed": int(failed),
        "refused": schedule.refused,
        "beside": {
            kind: {
                "last_tick": instant(schedule.ticks[kind]),
                "next_tick": instant(schedule.next_tick(kind)),
                "every_minutes": minutes(schedule.every[kind]),
            }
            for kind in sorted(schedule.optional & schedule.ticks.keys() & schedule.every.keys())
        },
        "stopped": {kind: reasons[min(reasons)] for kind, reasons in sorted(schedule.stopped.items())},
        "done": {kind: schedule.runs(kind, partitions) for kind in sorted(schedule.every)},
    }


def minutes(milliseconds: int) -> float:
    """Minutes for display: whole if they are, else with two decimals."""
    return milliseconds // 60_000 if milliseconds % 60_000 == 0 else round(milliseconds / 60_000, 2)


def instant(milliseconds: float | None) -> str | None:
    """Milliseconds since 1970 as text; None for None and for a time that no calendar has."""
    try:
        return None if milliseconds is None else utc_text(from_micros(int(milliseconds * 1_000)))
    except (OverflowError, ValueError):
        return None


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
    "daily": "merges, associations, replays and patterns, of every owner",
    "extract": "turns become typed memories",
    "sessions": "sessions that ended become episodes, and what replies rest on is noted",
    "judge": "memories that were appended raw are compared with known ones",
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
    lines = _unpacked(packed).rstrip().splitlines() if packed else []
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


def _unpacked(packed: bytes) -> str:
    try:
        return zlib.decompressobj().decompress(b64decode(packed), _MOST_UNPACKED).decode("utf-8", "replace")
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
