"""Who looked at what, and who was refused: an event of `:reads` each, without contents, in the log's own chain.

What is shown is recorded first: where that fails nothing is shown. What is refused again and again is told once in a while, with
how often: nobody fills the log by asking.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import NamedTuple

from engramlog_server.api.services.auditing.events import Events
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.shapes import LoggedEvent, ReadsTold, ReadTold
from engramlog_server.events.catalogue import ReadRecorded
from engramlog_server.events.catalogue.access import Looked
from engramlog_server.events.door.of_the_store import READS
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.log import EventLog
from engramlog_server.events.standing import Speaker
from engramlog_server.events.validation import make_event, ready
from engramlog_server.events.vocabulary import is_id
from engramlog_server.projections.access.caller import Caller

DENIED_SECONDS = 60.0
"""A refusal like another is told after so long at the soonest."""
MOST_DENIED = 1_000
"""Kinds of refusals that are held; of more the oldest is told and forgotten."""
EACH_WINDOW = 20
"""Of one principal so many refusals are told one by one in a window, of whatever kind; the rest together."""


class _Kind(NamedTuple):
    """A refusal, as others like it."""

    principal: str
    key_id: str | None
    token: str | None
    call: str
    whose: str | None


class Reads:
    """Records who looked at what in one store, and tells it. Safe for threads."""

    def __init__(self, log: EventLog, writer: Writer, events: Events, clock: Callable[[], float] = monotonic) -> None:
        """`clock`: seconds, never backwards."""
        self._log = log
        self._writer = writer
        self._events = events
        self._clock = clock
        self._lock = Lock()
        self._held: OrderedDict[_Kind, list[float]] = OrderedDict()
        """When a kind was told last, and how often it came since."""
        self._over = set[str]()
        """Dead keys whose use was recorded: once each while the process lives."""
        self._window: dict[str, list[float]] = {}
        """By principal: when its window began, and how many kinds were told in it."""

    def record(self, caller: Caller, what: Looked, call: str, owner: str | None) -> None:
        """Record that somebody looks, or was refused. Raises StoreError where a look could not be recorded."""
        whose = owner if owner is not None and is_id(owner) else None
        kind = _Kind(caller.name, caller.key_id, caller.token, call, whose)
        if what == "denied":
            with suppress(EngramlogError):  # refused it is all the same
                for one, times in self._due(kind):
                    self._append(one, what, times)
            return
        self._append(kind, what, 1)

    def record_over(self, caller: Caller, call: str) -> None:
        """Record, once, that somebody shows a key that is over: who has one does not grow the log."""
        key = caller.key_id or caller.name
        with self._lock:
            if key in self._over:
                return
            self._over.add(key)
        with suppress(EngramlogError):
            self._append(_Kind(caller.name, caller.key_id, None, call, None), "denied", 1)

    def reads(
        self, *, limit: int = 100, cursor: str | None = None, order: str = "newest", **spans: str | None
    ) -> ReadsTold:
        """Who looked at what, page by page, newest first."""
        page = self._events.events(READS, limit=limit, cursor=cursor, order=order, **spans)  # type: ignore[arg-type]
        reads = [_read_told(one) for one in page["events"] if one["type"] == ReadRecorded.__name__]
        return {"reads": reads, "next": page["next"], "position": page["head"]}

    def flush(self) -> None:
        """Tell what was refused since it was told last."""
        with self._lock:
            due = [(kind, int(held[1])) for kind, held in self._held.items() if held[1]]
            self._held.clear()
        with suppress(EngramlogError):
            for kind, times in due:
                self._append(kind, "denied", times)

    def _due(self, kind: _Kind) -> list[tuple[_Kind, int]]:
        now, due = self._clock(), list[tuple[_Kind, int]]()
        with self._lock:
            window = self._window.get(kind.principal)
            if window is None or now - window[0] >= DENIED_SECONDS:
                if len(self._window) >= MOST_DENIED:
                    self._window.clear()
                window = self._window[kind.principal] = [now, 0]
            if window[1] >= EACH_WINDOW and self._is_due(kind, now):
                kind = kind._replace(token=None, call="any", whose=None)
            held = self._held.get(kind)
            if not self._is_due(kind, now) and held is not None:
                held[1] += 1
                return due
            due.append((kind, 1 + int(held[1] if held else 0)))
            self._held[kind] = [now, 0]
            while len(self._held) > MOST_DENIED:
                oldest, (_, times) = self._held.popitem(last=False)
                if times:
                    due.append((oldest, int(times)))
            window[1] += len(due)
        return due

    def _is_due(self, kind: _Kind, now: float) -> bool:
        held = self._held.get(kind)
        return held is None or now - held[0] >= DENIED_SECONDS

    def _append(self, kind: _Kind, what: Looked, times: int) -> None:
        now = self._log.now()
        data = ReadRecorded(
            principal=kind.principal, key_id=kind.key_id, token=kind.token, what=what, call=kind.call, whose=kind.whose,
            times=times,
        )  # fmt: skip
        by = Speaker("job", kind.principal)
        event = make_event(data, owner=READS, occurred_at=from_micros(now), actor="system", now=now, by=by)
        self._writer.append_all([ready(event, by)])


def _read_told(one: LoggedEvent) -> ReadTold:
    data = one["data"] or {}
    return {
        "position": one["position"],
        "recorded_at": one["recorded_at"],
        "principal": data.get("principal"),
        "key_id": data.get("key_id"),
        "token": data.get("token"),
        "what": data.get("what"),
        "call": data.get("call"),
        "whose": data.get("whose"),
        "times": data.get("times", 1),
    }
