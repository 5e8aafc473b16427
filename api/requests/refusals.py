"""Why a call is not carried out: its key, what it says, or an event of it that was not written."""

from __future__ import annotations

from api.requests.snapshots import Snapshot
from events.errors import ConcurrencyError, EngramlogError, EventIdTaken, KeyTaken, StoreUnavailable, refused
from events.log import AppendReceipt
from events.partitions import position_text
from events.text.saying import is_text
from projections.memory.rejection import refusing

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
