"""One event of the log as it is told: its envelope, what the log knows beside it, its words as far as they may be told. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

from engramlog_server.events.catalogue import LATEST_VERSION
from engramlog_server.events.entry import bringer
from engramlog_server.events.envelope import AnyEvent, Stored, decode, from_micros, lateness, micros, utc_text
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.events.partitions import position_text
from engramlog_server.events.sealing.cipher import BODY_MARK
from engramlog_server.events.trust import lowest
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.views.event_words import OwnerToday, words_of


class LoggedEvent(TypedDict):
    """One event of the log. Words that may not be told stand as `[withheld: ...]`; ids, numbers and times stay."""

    position: str
    event_id: str
    type: str
    schema_version: int | None
    owner: str
    occurred_at: str | None
    recorded_at: str | None
    late_by: float | None
    actor: str | None
    principal: str | None
    model: str | None
    trust: str | None
    session_id: str | None
    causation_id: str | None
    correlation_id: str | None
    data: dict[str, Any] | None
    withheld: str | None
    folded: bool | None
    problem: str | None
    bytes: int


MODELS_DECIDE = frozenset({"extract", "review", "sessions"})
"""What a correlation begins with that names the model behind it."""
UNKNOWN, DAMAGED, SHUT = (
    "of no type or version that this release knows",
    "its bytes cannot be read",
    "it is sealed, and its key was destroyed or cannot be had now",
)
UNDECODABLE = "undecodable"


def event_of(stored: Stored) -> AnyEvent | None:
    """The event in an entry; None where it cannot be read."""
    try:
        return decode(stored.kind, stored.body)
    except UndecodableEvent:
        return None


def event_told(stored: Stored, partition: int, today: Callable[[], OwnerToday], *, folded: bool | None) -> LoggedEvent:
    """An entry of the log. `today` is asked where it can be read; `folded`: whether it is, None where nobody looked."""
    recorded, principal = _beside(stored)
    kind, _, version = stored.kind.rpartition(".")
    told: LoggedEvent = {
        "position": position_text(partition, stored.seq),
        "event_id": id_text(stored.raw_id),
        "type": kind or stored.kind,
        "schema_version": int(version) if version.isdigit() else None,
        "owner": stored.owner,
        "occurred_at": None,
        "recorded_at": None if recorded is None else utc_text(from_micros(recorded)),
        "late_by": None,
        "actor": None,
        "principal": principal,
        "model": _model(principal, None),
        "trust": None,
        "session_id": None,
        "causation_id": None,
        "correlation_id": None,
        "data": None,
        "withheld": UNDECODABLE,
        "folded": folded,
        "problem": _problem(stored, kind, version),
        "bytes": len(stored.body),
    }
    event = event_of(stored)
    if event is None:
        return told
    words = words_of(stored, event, today())
    return {
        **told,
        "occurred_at": utc_text(event.occurred_at),
        "late_by": None if recorded is None else lateness(micros(event.occurred_at), recorded),
        "actor": event.actor,
        "model": _model(principal, event.correlation_id),
        "trust": lowest(stored.trust, event.trust),
        "session_id": event.session_id,
        "causation_id": event.causation_id,
        "correlation_id": event.correlation_id,
        "data": words.data,
        "withheld": words.withheld,
        "problem": None,
    }


def _problem(stored: Stored, kind: str, version: str) -> str:
    """Why an entry cannot be read."""
    if stored.body[:1] == BODY_MARK:
        return SHUT
    return UNKNOWN if version.isdigit() and _unknown(kind, int(version)) else DAMAGED


def _unknown(kind: str, version: int) -> bool:
    return not 1 <= version <= LATEST_VERSION.get(kind, 0)


def _beside(stored: Stored) -> tuple[int | None, str | None]:
    """Recorded time and principal; None of what cannot be read."""
    try:
        return stored.recorded, stored.principal
    except (ValueError, IndexError):
        return None, None


def _model(principal: str | None, correlation: str | None) -> str | None:
    """The language model that decided it, where that is known."""
    if principal is not None and bringer(principal) == "model":
        return principal.partition(" model:")[2]
    job, _, model = (correlation or "").partition(":")
    return model if model and job in MODELS_DECIDE else None
