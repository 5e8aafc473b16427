"""Which process schedules, and what it has scheduled: a lease and the last ticks, beside the queue they are about.

The lease spares work, it decides nothing: a tick's jobs have ids made of their kind, partition and tick, so that two leaders
at once, one of them paused beyond its lease, still enqueue each job once. It lies where the queue lies, in one hash a store:
who cannot reach the queue cannot lead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import redis

from consumers.fold.presence import LEASE_MS
from events.envelope import from_micros, utc_text
from events.errors import StoreError
from events.redis.wire import Wire
from projections.redis.scripts import LEASE

STOPPED = "stopped:"
"""What the fields begin with that say why a kind of job stopped for a partition."""
DONE = "done:"
"""What the fields begin with that say when a kind of job last ran through for a partition, and how long it took, milliseconds."""
SINCE = "since:"
"""What the fields begin with that say since when a kind of job is scheduled."""
REFUSED = "refused"
"""The field that counts what lay in the queue and was no job of ours."""
BESIDE = "beside-"
"""What the fields of a kind begin with that is no part of the lifecycle."""


def queue_name(store_id: str) -> str:
    """The name of a store's RQ queue: several stores may share a Redis for their queues."""
    return f"engramlog-{store_id}"


def schedule_key(store_id: str) -> str:
    """The hash with the leader's lease and, by kind of job, the last tick and the time between two, milliseconds."""
    return f"engramlog-jobs:{store_id}"


class Leader:
    """One candidate. `tend` it well within the lease time; whoever stops doing so is replaced when the lease ends."""

    def __init__(self, wire: Wire, store_id: str, holder: str, lease_ms: int = LEASE_MS) -> None:
        self._wire = wire
        self._key = schedule_key(store_id)
        self._holder = holder
        self._lease_ms = lease_ms
        self._epoch: int | None = None

    @property
    def leads(self) -> bool:
        """Whether it held the lease when it last asked."""
        return self._epoch is not None

    def tend(self, now_ms: int) -> bool:
        """Renew the lease, or take it where nobody holds it; whether it leads now. Raises StoreError."""
        if self._epoch is not None and not self._ask("renew", now_ms, self._epoch)[0]:
            self._epoch = None
        if self._epoch is None:
            taken, epoch, _ = self._ask("take", now_ms, 0)
            self._epoch = int(epoch) if taken else None
        return self.leads

    def leave(self, wire: Wire | None = None) -> None:
        """Let the next one lead at once; nothing happens where it does not lead. Raises StoreError.

        `wire` is for a thread that is not the one which tends.
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
    """Whether a job waits, runs, lies on its way to a worker or is to be tried again by now. Raises StoreError."""
    name, soon = queue_name(store_id), now_ms // 1_000 + 1
    queue = f"rq:queue:{name}"
    return bool(
        wire.call("LLEN", queue)
        or wire.call("LLEN", f"{queue}:intermediate")
        or wire.call("ZCARD", f"rq:wip:{name}")
        or wire.call("ZCOUNT", f"rq:scheduled:{name}", "-inf", soon)
    )


def lifecycle_status(client: redis.Redis, store_id: str, partitions: int) -> dict[str, Any]:
    """Who schedules, the last and the next tick, and how many jobs wait, run or have failed; JSON-ready.

    `beside` has the ticks of what is scheduled beside the lifecycle, by kind: embedding, extraction. `stopped` says why a kind
    of job stopped when it last ran, until it runs through: a model that is down, a setting that is missing.

    `done` says of each kind that is scheduled how often it is due, when the partition that waits longest last had it done, and
    how long the slowest partition's took; `waiting_since` counts those of the store's `partitions` too that never had it done:
    from when the kind is scheduled.

    `refused` counts what lay in the queue and was no job of ours (`consumers.jobs.rq.validation`), since the store was made.

    `leader` is null where no job worker runs: then nothing is scheduled, and there is no next tick. Where the queue's Redis
    does not answer, all is null and `problem` says why.
    """
    wire = Wire(client)
    try:
        return schedule_told(wire, store_id, partitions)
    finally:
        wire.close()


def schedule_told(wire: Wire, store_id: str, partitions: int) -> dict[str, Any]:
    """The same as `lifecycle_status`, on a connection to the queue's Redis: one round trip."""
    name = queue_name(store_id)
    registries = [["ZCARD", f"rq:{registry}:{name}"] for registry in ("wip", "failed")]
    try:
        (seconds, micros), flat, queued, running, failed = wire.answers(
            [["TIME"], ["HGETALL", schedule_key(store_id)], ["LLEN", f"rq:queue:{name}"], *registries]
        )
        now_ms = int(seconds) * 1_000 + int(micros) // 1_000
    except StoreError as error:
        unknown = dict.fromkeys(
            ("leader", "last_tick", "next_tick", "queued", "running", "failed", "refused", "beside", "stopped", "done")
        )
        return unknown | {"problem": error.message}
    told = {field.decode(): value.decode() for field, value in zip(flat[::2], flat[1::2], strict=True)}
    # One that ends far ahead was taken before the clock went back.
    leader = told.get("holder") if 0 < int(told.get("until", 0)) - now_ms <= 4 * LEASE_MS else None
    ticks = {kind: int(value) for kind, value in _by_kind(told, "tick:").items()}
    following = [tick + int(told[f"every:{kind}"]) for kind, tick in ticks.items()]
    return {
        "leader": leader,
        "last_tick": _told(max(ticks.values())) if ticks else None,
        "next_tick": _told(min(following)) if following and leader else None,
        "queued": int(queued),
        "running": int(running),
        "failed": int(failed),
        "refused": int(told.get(REFUSED, 0)),
        "beside": _beside(told, leader is not None),
        "stopped": {
            kind.partition(":")[0]: reason for kind, reason in sorted(_by_kind(told, STOPPED).items(), reverse=True)
        },
        "done": _done(told, partitions),
    }


def done_field(kind: str, partition: int) -> str:
    """The field that says when a kind of job last ran through for a partition."""
    return f"{DONE}{kind}:{partition}"


def _done(told: Mapping[str, str], partitions: int) -> dict[str, Any]:
    """By kind: how often it is due, and when its partitions last had it done."""
    by_kind: dict[str, list[tuple[int, int]]] = {}
    for name, value in _by_kind(told, DONE).items():
        at, took = value.split()
        by_kind.setdefault(name.partition(":")[0], []).append((int(at), int(took)))
    every = _by_kind(told, "every:") | _by_kind(told, f"{BESIDE}every:")
    since = _by_kind(told, SINCE) | _by_kind(told, f"{BESIDE}{SINCE}")
    found: dict[str, Any] = {}
    for kind, milliseconds in sorted(every.items()):
        runs = by_kind.get(kind, [])
        ends = [at for at, _ in runs]
        found[kind] = {
            "every_minutes": _minutes(int(milliseconds)),
            "oldest": _told(min(ends)) if runs else None,
            "newest": _told(max(ends)) if runs else None,
            "waiting_since": _waiting_since(ends, partitions, int(since.get(kind, 0))),
            "seconds": max(took for _, took in runs) / 1_000 if runs else None,
            "partitions": len(runs),
        }
    return found


def _waiting_since(ends: Sequence[int], partitions: int, since: int) -> str | None:
    """Since when the partition waits that waits longest. `since`: from when the kind is scheduled, 0 where nobody noted that:
    what ran before it, while the kind was scheduled once before, does not count."""
    waits = [max(at, since) for at in ends] + [since] * (len(ends) < partitions and since > 0)
    return _told(min(waits)) if waits else None


def _beside(told: Mapping[str, str], led: bool) -> dict[str, Any]:
    """The last and the next tick of each kind that is no part of the lifecycle, and the minutes between two."""
    found: dict[str, Any] = {}
    for kind, last in sorted(_by_kind(told, f"{BESIDE}tick:").items()):
        tick, every = int(last), int(told[f"{BESIDE}every:{kind}"])
        ticks = {"last_tick": _told(tick), "next_tick": _told(tick + every) if led else None}
        found[kind] = ticks | {"every_minutes": _minutes(every)}
    return found


def _minutes(milliseconds: int) -> float:
    return milliseconds // 60_000 if milliseconds % 60_000 == 0 else round(milliseconds / 60_000, 2)


def _by_kind(told: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in told.items() if name.startswith(prefix)}


def _told(ms: int) -> str:
    return utc_text(from_micros(ms * 1_000))
