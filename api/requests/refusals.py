"""Why a call is not carried out: its key, what it says, or an event of it that was not written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engramlog_server.api.requests.snapshots import Snapshot
from engramlog_server.events.catalogue import MemoryCreated, MemoryMerged, MemoryRevised
from engramlog_server.events.envelope import Prepared, decode, micros
from engramlog_server.events.errors import (
    ConcurrencyError,
    EngramlogError,
    EventIdTaken,
    KeyTaken,
    StoreUnavailable,
    refused,
)
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.partitions import partition_of, position_text
from engramlog_server.events.statement_digests import digest
from engramlog_server.events.text.saying import is_text
from engramlog_server.projections.language.statements import statements_of
from engramlog_server.projections.memory.rejection import Rejections, refusing
from engramlog_server.projections.redis.view import RedisViews

MOST_KEY = 200
"""Longest key, in characters."""


def refuse_rejected(snapshot: Snapshot, value: bytes, when: int) -> None:
    """Raises InputError where a person rejected a value, and evidence of this time does not count."""
    found = refusing(snapshot.view.state.rejections, (value,), when)
    if found is not None:
        got = f"what was rejected, at {position_text(snapshot.partition, found.seq)}"
        raise refused("content", got, "what was not; `confirm` says that it holds after all, where its owner does")


def checked_key(key: str) -> str:
    """The key of a call, or InputError."""
    if not is_text(key, MOST_KEY):
        shown = key[:80].encode("utf-8", "replace").decode()
        raise refused("key", shown, f"some text of at most {MOST_KEY} characters")
    return key


def taken(key: str | None, position: str) -> KeyTaken:
    """The refusal of a key that stands for something else."""
    allowed = f"a new key: something else was said under this one, at {position}"
    shown = str(key)[:80]
    return KeyTaken(
        f"key: got {shown!r}; allowed: {allowed}", field="key", got=shown, allowed=allowed, position=position
    )


def refusal_of(receipt: AppendReceipt) -> EngramlogError:
    """Why an event was not written."""
    if receipt.status == "head_mismatch":
        return ConcurrencyError(
            f"event {receipt.event_id}: the owner's head is {receipt.position}", event_id=receipt.event_id
        )
    if receipt.status == "conflict":
        return EventIdTaken(receipt.event_id, receipt.position)
    return StoreUnavailable(receipt.error or f"event {receipt.event_id} was not written", event_id=receipt.event_id)


_STATING = tuple(f"{one.__name__}." for one in (MemoryCreated, MemoryRevised, MemoryMerged))
"""How the kinds begin of events of which a memory's words may come."""


class _Known(NamedTuple):
    """What one owner rejected, and what keys it."""

    rejections: Rejections
    secret: bytes


class RefusedValues:
    """Tells what the fold will pass over. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews) -> None:
        self._log = log
        self._views = views

    def of(self, events: Sequence[Prepared]) -> Mapping[str, str]:
        """Event id -> position at which a person rejected what it says; costs two round trips a partition that is told of."""
        stating = [one for one in events if one.kind.startswith(_STATING)]
        try:
            rejections = self._views.rejections({one.owner for one in stating}) if stating else {}
        except EngramlogError:  # a damaged build hinders no producer
            return {}
        secrets = self._log.secrets_of(list(rejections)) if rejections else {}
        known = {owner: _Known(told, secrets[owner]) for owner, told in rejections.items() if secrets.get(owner)}
        found = ((one, self._refused(one, known[one.owner])) for one in stating if one.owner in known)
        return {one.event_id: position for one, position in found if position is not None}

    def _refused(self, event: Prepared, known: _Known) -> str | None:
        told = decode(event.kind, event.body)
        if isinstance(told.data, MemoryCreated) and told.data.source_turns == (told.data.memory_id,):
            return None  # a turn was said all the same
        digests = [digest(known.secret, one) for one in statements_of(told)]
        found = refusing(known.rejections, digests, micros(told.occurred_at))
        partition = partition_of(event.owner, self._log.partitions)
        return None if found is None else position_text(partition, found.seq)
