"""The state of the lifecycle jobs as `status` and the jobs page show it, read from the schedule's hash and RQ's registries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramlog_server.consumers.fold.presence import LEASE_MS
from engramlog_server.consumers.jobs.leader import BESIDE, REFUSED, queue_name, schedule_key
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import StoreError
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.text.digits import whole

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

    `refused` counts the jobs that were not ours (`consumers.jobs.job`), since the store was made.

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
