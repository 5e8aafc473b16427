"""`engramlog backup take-over`: a restored store takes the place of the original, by an operator's word.

What the original said after the backup's moment is given up: heads that were kept beyond it on this machine are accepted as they
are found, and told by every `verify` from then on; receipts of this machine that are not met are let go. Then it takes what is new.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engramlog_server.events.envelope import utc_text
from engramlog_server.events.errors import LogGap, StoreMismatch
from engramlog_server.events.partitions import position_text
from engramlog_server.events.redis.durability import RECEIPT_LOST, NewestReceipt
from engramlog_server.ops.clock import now
from engramlog_server.ops.kept.head_file import HeadFile, heads_path
from engramlog_server.ops.kept.heads import accept_changed_log, unmet_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.redis.create import STORE_RESTORED, FromBackup, take_over


class LeftBehind(NamedTuple):
    """What this machine knows of the original that the store does not have."""

    restored: FromBackup
    heads: list[str]
    """Positions of kept heads that the log does not meet, the first of each partition."""
    receipts: dict[int, NewestReceipt]
    """Events that were acknowledged and are not there, by partition."""

    @property
    def told(self) -> dict[str, Any]:
        """The same, JSON-ready."""
        return {
            "restored": self.restored.told,
            "done": not self.restored.stands,
            "heads": self.heads,
            "receipts": [position_text(partition, one.seq) for partition, one in sorted(self.receipts.items())],
        }


def left_behind(store: OpenStore, settings: Settings) -> LeftBehind:
    """What taking it over would give up. Reads only. Raises StoreMismatch where the store never was restored."""
    restored = store.identity.restored
    if restored is None:
        raise StoreMismatch("this store was not restored from a backup: there is nothing to take over")
    file = HeadFile(heads_path(settings, store.identity.store_id))
    unmet = unmet_of(store, file, range(store.identity.partitions))
    lost = {
        partition: one for partition, one in store.log.kept_receipts().items() if not _is_there(store, partition, one)
    }
    return LeftBehind(restored, [position_text(one.partition, one.seq) for one in unmet], lost)


def take_store_over(store: OpenStore, settings: Settings, reason: str | None) -> dict[str, Any]:
    """Have it take what is new; what was given up, JSON-ready. Killed anywhere, it is run again. Raises as `left_behind`."""
    found = left_behind(store, settings)
    if not found.restored.stands:
        return found.told
    told = found.restored
    why = f"restored from backup {told.backup}, up to {told.moment}, and taken over" + (f": {reason}" if reason else "")
    file = HeadFile(heads_path(settings, store.identity.store_id))
    accept_changed_log(store, file, range(store.identity.partitions), why, now())
    for partition in found.receipts:
        store.log.let_go(partition)
        store.alarms.cleared(RECEIPT_LOST, str(partition))
    store.receipts.save()
    wire = store.wire()
    try:
        taken = take_over(wire, store.identity.tags, found.restored, utc_text(now()), reason)
    finally:
        wire.close()
    store.alarms.cleared(STORE_RESTORED, "")
    return found.told | {"restored": taken.told, "done": True}


def _is_there(store: OpenStore, partition: int, one: NewestReceipt) -> bool:
    try:
        return any(there.raw_id == one.raw_id for there in store.log.read_at(partition, [one.seq]))
    except LogGap:
        return False
