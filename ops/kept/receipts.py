"""Receipts that outlive the process: the highest event of each partition that processes of this data folder had a receipt for.

Kept heads are written every ten seconds, and of what is folded; a receipt is given before. So the highest (seq, event id) of each
partition goes into one small file, each second while it moves and when the process ends. The next process that opens the store
asks for those events as for its own (`events.redis.durability`): what is gone is an alarm, whoever had the receipt.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from uuid import UUID

import msgspec

from engramlog_server.events.alarms import Alarms
from engramlog_server.events.errors import StoreError, StoreUnavailable
from engramlog_server.events.redis.durability import NewestReceipt
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.clock import Every
from engramlog_server.ops.durable import FileLock, replace_file, store_file
from engramlog_server.ops.settings import Settings

EVERY_SECONDS = 1.0
STOP_SECONDS = 1.0
MOST_BYTES = 1024 * 1024
"""What is read at most; an entry takes less than 70 bytes, and a store has at most 1,024 partitions."""
NOT_KEPT = "receipts_not_kept"


class _Held(msgspec.Struct, frozen=True):
    """What the file says."""

    store: str
    kept: dict[int, tuple[int, UUID]]
    """Partition -> seq, event id."""


def receipts_path(settings: Settings, store_id: str) -> Path:
    """Where a store's receipts are kept on this machine."""
    return store_file(settings.data, "receipts.json", None if settings.redis_url is None else store_id)


class ReceiptFile:
    """The file, in a data folder. Several processes may write it: each does under its lock, and only what it knows better."""

    def __init__(self, path: Path, store_id: str) -> None:
        self.path = path
        self._store_id = store_id

    def read(self) -> dict[int, NewestReceipt]:
        """What is kept of this store, by partition. Raises StoreUnavailable where it cannot be read."""
        try:
            with self.path.open("rb") as file:
                held = msgspec.json.decode(file.read(MOST_BYTES), type=_Held)
        except FileNotFoundError:
            return {}
        except (OSError, *UNREADABLE) as error:
            raise StoreUnavailable(f"kept receipts cannot be read: {error}", file=str(self.path)) from error
        if held.store != self._store_id:
            return {}  # of another store, whose receipts say nothing of this one; its kept heads tell of it
        return {partition: NewestReceipt(seq, key.bytes) for partition, (seq, key) in held.kept.items()}

    def merge(self, moved: Mapping[int, NewestReceipt], gone: Mapping[int, NewestReceipt]) -> None:
        """Take in receipts, where none is there that reaches farther; take out those that were let go. On disk when it returns.

        Raises StoreUnavailable where the disk refuses.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path):
                kept = {p: one for p, one in self._read_what_can_be().items() if gone.get(p) != one}
                kept |= {p: one for p, one in moved.items() if p not in kept or kept[p].seq < one.seq}
                self._write(kept)
        except OSError as error:
            raise StoreUnavailable(f"receipts cannot be kept: {error}", file=str(self.path)) from error

    def _read_what_can_be(self) -> dict[int, NewestReceipt]:
        try:
            return self.read()
        except StoreUnavailable:
            return {}  # it was told when the store was opened; from here on it is a file again

    def _write(self, kept: Mapping[int, NewestReceipt]) -> None:
        held = _Held(self._store_id, {p: (one.seq, UUID(bytes=one.raw_id)) for p, one in sorted(kept.items())})
        replace_file(self.path, msgspec.json.encode(held), locked=True, keep_name=False)


class ReceiptKeeper:
    """Gives a log the receipts that were kept, and keeps those that it gets: each second while they move, and at its end."""

    def __init__(self, log: RedisEventLog, file: ReceiptFile, alarms: Alarms) -> None:
        self.file = file
        self._log = log
        self._alarms = alarms
        self._saved: dict[int, NewestReceipt] = {}
        self._lock = Lock()
        self._every = Every(EVERY_SECONDS, self.save, "receipts", at_once=False)
        self._unclear = True
        """Whether an alarm of ours, or of a process before us, may stand."""
        self.moved = False
        """Whether this process had a receipt."""

    def start(self) -> None:
        """Have the log know what was kept before, and keep what follows."""
        try:
            self._saved = self.file.read()
        except StoreError as error:
            self._alarms.raised(NOT_KEPT, str(self.file.path), error.message)
        self._log.remember(self._saved)
        self._every.start()

    def stop(self) -> None:
        """Keep what moved since, and end."""
        self._every.stop(STOP_SECONDS)
        self.save()

    def save(self) -> None:
        """Write down what moved since it was written last; an alarm where that cannot be done, and it is tried again."""
        with self._lock:
            now = self._log.kept_receipts()
            moved = {p: one for p, one in now.items() if self._saved.get(p) != one}
            gone = {p: one for p, one in self._saved.items() if p not in now or now[p].seq < one.seq}
            if not (moved or gone):
                return
            self.moved = self.moved or bool(moved)
            try:
                self.file.merge(moved, gone)
            except StoreError as error:
                self._unclear = True
                self._alarms.raised(NOT_KEPT, str(self.file.path), error.message)
                return
            self._saved = now
            unclear, self._unclear = self._unclear, False
        if unclear:
            self._alarms.cleared(NOT_KEPT, str(self.file.path))
