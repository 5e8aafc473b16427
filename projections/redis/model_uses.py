"""What asking models took, kept in the store: since counting began, and by day. Counting fails no question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from threading import Lock
from typing import NamedTuple

from engramlog_server.events.errors import StoreError
from engramlog_server.events.partitions import MODELS_KEY
from engramlog_server.events.redis.wire import Argument, Wire, WirePool
from engramlog_server.events.text import whole
from engramlog_server.projections.models.chat import ModelAsked

KEPT_DAYS = 400
MOST_FIELDS = 4_096
"""Fields of one hash: uses times models times counts. What would be beyond is not counted by day or in all, but told as lost."""
COUNTS = ("asked", "failed", "requests", "input_tokens", "output_tokens")
FIRST, LAST = "first", "last"


class UseCounted(NamedTuple):
    """What one model took for one use."""

    model: str
    use: str
    counts: Mapping[str, int]
    """By the names of `COUNTS`."""
    first: str = ""
    last: str = ""


def day_key(day: str) -> str:
    """The hash of one day, `2026-11-22`."""
    return f"{MODELS_KEY}:{day}"


def is_day_key(key: str) -> bool:
    """Whether a key is one of a day."""
    try:
        return key == day_key(date.fromisoformat(key.removeprefix(f"{MODELS_KEY}:")).isoformat())
    except ValueError:
        return False


class ModelLedger:
    """Counts questions to models. Safe for threads. `now`: a clock, in any zone."""

    def __init__(self, wires: WirePool, now: Callable[[], datetime]) -> None:
        self._wires = wires
        self._now = now
        self._lock = Lock()
        self.lost = 0
        """Questions that could not be counted: the store did not take it."""

    def note(self, asked: ModelAsked) -> None:
        """Count one question. A store that does not take it is told in `lost`, and nothing else: the question was answered."""
        try:
            with self._wires.wire() as wire:
                self._put(wire, asked)
        except StoreError:
            with self._lock:
                self.lost += 1

    def _put(self, wire: Wire, asked: ModelAsked) -> None:
        day = self._now().strftime("%Y-%m-%d")
        of, daily = f"{asked.use}|{asked.model}", day_key(day)
        counts = (1, int(asked.failed), *asked.usage)
        many, known = wire.answers([["HLEN", MODELS_KEY], ["HEXISTS", MODELS_KEY, f"{COUNTS[0]}|{of}"]])
        if not known and int(many) >= MOST_FIELDS:
            with self._lock:
                self.lost += 1
            return
        commands: list[list[Argument]] = [
            ["HINCRBY", key, f"{name}|{of}", count]
            for key in (MODELS_KEY, daily)
            for name, count in zip(COUNTS, counts, strict=True)
        ]
        commands += [["HSETNX", MODELS_KEY, f"{FIRST}|{of}", day], ["HSET", MODELS_KEY, f"{LAST}|{of}", day]]
        wire.answers([*commands, ["EXPIRE", daily, KEPT_DAYS * 86_400]])

    def close(self) -> None:
        """Close idle connections."""
        self._wires.close()


def read_uses(wire: Wire, days: Sequence[str] = ()) -> tuple[list[UseCounted], dict[str, list[UseCounted]]]:
    """What was counted in all, and of each of these days. Raises StoreError."""
    in_all, *by_day = wire.answers([["HGETALL", MODELS_KEY], *(["HGETALL", day_key(day)] for day in days)])
    return list(_uses(in_all)), {day: list(_uses(flat)) for day, flat in zip(days, by_day, strict=True)}


def last_days(now: datetime, many: int) -> list[str]:
    """So many days until now, the newest first."""
    return [(now - timedelta(days=back)).strftime("%Y-%m-%d") for back in range(many)]


def _uses(flat: Sequence[bytes]) -> Iterator[UseCounted]:
    """What a hash tells, by model and use; fields that nothing writes are passed over."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for field, value in zip(flat[::2], flat[1::2], strict=True):
        name, _, rest = field.decode("utf-8", "replace").partition("|")
        use, between, model = rest.partition("|")
        if between and name in (*COUNTS, FIRST, LAST):
            found.setdefault((model, use), {})[name] = value.decode("utf-8", "replace")
    for (model, use), told in sorted(found.items()):
        counts = {name: whole(told.get(name, "")) or 0 for name in COUNTS}
        yield UseCounted(model, use, counts, told.get(FIRST, ""), told.get(LAST, ""))
