"""`engramlog backup restore FOLDER`: a backup brought into an empty store, up to its moment. `take-over`: it becomes the store.

All of the backup is proved first, with nothing written. Then the store is marked, so that nothing opens it, and says what it is
restored from; each step can be done again. The log is laid page by page, read back and proved equal, byte for byte. Of a sealed
store the keys of their own backup are put into the key store, with the list of what was erased. Then all is folded again.

The store keeps its id, for bodies are bound to it and what is kept outside is found by it; so it reports that it is a copy, and
takes nothing new until an operator has it take over. That gives up what the original said after the backup's moment: heads that
were kept beyond it on this machine are accepted as they are found, and every `verify` reports them from then on; receipts of this
machine that are not met are let go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from engramlog_server.api.services.capacity import info
from engramlog_server.consumers.backup import (
    AT_ONCE,
    NOT_KEPT,
    BackupRow,
    LogProof,
    RowKind,
    begin_partition,
    begin_store,
    end_store,
    lay,
    put,
    put_uses,
    read_entries,
    what_lies_there,
)
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.consumers.fold.rebuild import RebuildRun, rebuild_partition
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import BadSetting, DamagedState, InputError, LogGap, StoreFull, StoreMismatch
from engramlog_server.events.keys import KEYS_FIELD, MasterKey, Seals
from engramlog_server.events.partitions import ACCEPTED_KEY, FORMAT, KEYS_FROM, LogKeys, position_text
from engramlog_server.events.redis.durability import RECEIPT_LOST, NewestReceipt
from engramlog_server.events.redis.log import APPEND_FULL
from engramlog_server.events.redis.secrets import fence_ids
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.ops.backup.folder import (
    MANIFEST,
    STORE,
    BackupFolder,
    check_backup,
    entries_of,
    rows_of_store,
    store_fields,
)
from engramlog_server.ops.clock import now, now_micros
from engramlog_server.ops.erasure.fence_list import FenceList, fence_again
from engramlog_server.ops.kept.heads import HeadFile, accept_changed_log, heads_path, unmet_of
from engramlog_server.ops.keys.backup import SavedKeys, check_keys, restore_keys
from engramlog_server.ops.keys.master import keys_of, master_of
from engramlog_server.ops.processes.life import new_worker_id
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, folder_of, reach_the_store
from engramlog_server.ops.store_replacement import InUse, OldStore, refuse_others
from engramlog_server.projections.redis.create import (
    RESTORING,
    SEALED,
    STORE_RESTORED,
    FromBackup,
    StoreIdentity,
    read_identity,
    refuse_own_server,
    take_over,
)

Progress = Callable[[int, int], None]
Wait = Callable[[str], None]
PASSES = 5
"""How often each entry passes: proved, laid, read back, and, as steps of a bar, folded and opened."""


class BackupRestored(NamedTuple):
    """What became of a restore."""

    folder: str
    backup: str
    store_id: str
    moment: str
    sealed: bool
    partitions: int
    events: int
    gone_on: bool
    """Whether an earlier run was gone on with, or had done all of it."""
    keys: dict[str, Any] | None
    """The answer of bringing the keys back; None if the store is not sealed, or if they were back already."""


def restore_backup(
    settings: Settings,
    folder: BackupFolder,
    keys: Path | None,
    *,
    alone: bool = False,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
    on_wait: Wait = lambda _told: None,
) -> BackupRestored:
    """Bring a backup into the store of these settings, which must be empty, or go on where an earlier run was killed.

    Raises before the first write: BackupUnusable, InputError and BadSetting where keys or master key are missing, StoreMismatch
    where something lies there, InUse, StoreFull. Whatever is raised later leaves a store that another run goes on with.
    """
    told, steps = folder.manifest, _Steps(on_progress, folder.manifest.events)
    if told.log_format != str(FORMAT):
        raise folder.unusable(MANIFEST, f"is of a store of format {told.log_format[:20]}; this release knows {FORMAT}")
    check_backup(folder, steps.within)
    steps.passed()
    fields = store_fields(folder)
    with _reached(settings, on_wait) as store:
        if store.identity is not _NOBODY:
            _refuse_other(store.identity, folder)
        if told.sealed:
            refuse_others(store, alone=alone, on_wait=on_wait)
        with closing(store.wire()) as wire:
            master = _refuse_keys(store, folder, keys) if told.sealed else None
            _refuse_without_room(wire, folder)
            gone_on = _begin(store, wire, folder, fields, probe)
            restored = None
            if store.identity.format == RESTORING:
                _lay_all(wire, folder, steps, probe)
                _prove_all(wire, folder, steps)
                probe("after it was proved")
                ends = dict[str, str | bytes]()
                if master is not None and keys is not None:
                    restored = _restore_keys(store, wire, folder, keys, master)
                    ends = {SEALED: restored.check, KEYS_FIELD: wire.seals.keys.id, KEYS_FROM: restored.save}
                    probe("after the keys")
                else:
                    wire.seals.begin(store.identity.store_id, None)
                _fold_all(store, wire, steps, probe, on_wait)
                probe("before its format is set")
                end_store(wire, ends)
                store.identity = store.identity._replace(format=str(FORMAT))
                probe("after its format is set")
    return BackupRestored(
        str(folder.path),
        told.backup,
        told.store_id,
        told.moment,
        told.sealed,
        len(told.parts),
        told.events,
        gone_on,
        None if restored is None else _keys_answer(folder, keys, restored),
    )


class _Steps:
    """How far all of it is."""

    def __init__(self, tell: Progress, events: int) -> None:
        self._tell, self._events, self._done = tell, events, 0

    def within(self, done: int, _all: int) -> None:
        """So many entries of the pass at hand are done."""
        self._tell(self._done * self._events + min(done, self._events), PASSES * self._events)

    def passed(self) -> None:
        """A pass is over."""
        self._done += 1
        self.within(0, 0)


@contextmanager
def _reached(settings: Settings, on_wait: Wait) -> Iterator[OldStore]:
    """The Redis of these settings, with whatever store lies in it; of an empty one what `identity` tells is not to be used."""
    with reach_the_store(settings, on_wait=on_wait) as (url, embedded, _):
        if embedded is not None and not embedded.owned:
            raise InUse(f"another process runs on {embedded.folder}: a backup is brought into a store that nobody uses")
        with closing(connect(url, timeout=settings.redis_timeout)) as client:
            with closing(open_wire(client)) as wire:
                identity = read_identity(wire)
            yield OldStore(client, identity or _NOBODY, embedded, settings)


_NOBODY = StoreIdentity("", 1, ("e0",), "")


def _refuse_keys(store: OldStore, folder: BackupFolder, keys: Path | None) -> MasterKey:
    """The master key; raises if what opens a sealed backup is not at hand, or is another store's. Reads only."""
    told = folder.manifest
    if keys is None:
        raise InputError(
            "keys: got nothing; allowed: the file that `engramlog backup keys` wrote last (--keys, or ENGRAMLOG_KEYS_BACKUP):"
            " this backup is of a sealed store, and holds no keys. Nothing was written",
            field="keys",
        )
    about = check_keys(keys)
    if about.store_id != told.store_id or len(about.heads) != len(told.parts):
        raise StoreMismatch(
            f"{keys} holds the keys of store {about.store_id} ({len(about.heads)} partitions), and the backup is of store"
            f" {told.store_id} ({len(told.parts)} partitions). Nothing was written",
            file=str(keys),
        )
    master = master_of(store.settings, folder_of(store.embedded))
    if master is None:
        raise BadSetting(
            "sealed_by: got none; allowed: the master key that these keys are wrapped under; set ENGRAMLOG_SEALED_BY, or put the"
            " file master-key into the data folder. Nothing was written",
            setting="ENGRAMLOG_SEALED_BY",
        )
    known = Seals(master)
    known.store = told.store_id.encode()
    known.check_master(about.check)
    return master


def _restore_keys(store: OldStore, wire: Wire, folder: BackupFolder, path: Path, master: MasterKey) -> SavedKeys:
    """Put the keys of their backup into the key store, and the fence list in its place; what opens the store begins."""
    told = folder.manifest
    wire.seals.master, wire.seals.open_keys = master, keys_of(store.settings)
    wire.seals.new_keys(told.store_id)
    refuse_own_server(wire)
    listed = FenceList.of(store.settings, told.store_id)
    restored = restore_keys(path, wire.seals.keys, listed)
    listed.share(wire.seals.keys)
    wire.seals.begin(told.store_id, restored.check, wire.seals.keys.id)
    fence_again(wire, [one.tag for one in told.parts], listed.read())
    return restored


def _keys_answer(folder: BackupFolder, path: Path | None, keys: SavedKeys) -> dict[str, Any]:
    """What a restore tells of the keys."""
    heads = [one.head for one in folder.manifest.parts]
    newer = sum(max(head - covered, 0) for head, covered in zip(heads, keys.heads, strict=True))
    return {
        "file": str(path),
        "save": keys.save,
        "saved_at": keys.saved_at,
        "owners": keys.keys,
        "newer_than_keys": newer,
    }


def _refuse_without_room(wire: Wire, folder: BackupFolder) -> None:
    """Raise StoreFull where the log alone would bring Redis above the level at which appends are refused; of a Cluster all nodes
    together, for its partitions spread over them. A node that has no limit has room."""
    told = [info(server, "memory") for _, server in wire.servers()]
    used, limits = sum(int(one["used_memory"]) for one in told), [int(one["maxmemory"]) for one in told]
    limit = sum(limits) if all(limits) else 0
    raw = sum(one.raw for one in folder.manifest.files)
    if limit and raw > APPEND_FULL * limit:
        raise StoreFull(
            f"the backup's log takes about {raw:,} bytes, with {used:,} in use, and may not pass {APPEND_FULL:.0%} of maxmemory"
            f" ({limit:,}): raise it (ENGRAMLOG_REDIS_MAXMEMORY, or CONFIG SET maxmemory). Nothing was written"
        )


def _begin(store: OldStore, wire: Wire, folder: BackupFolder, fields: dict[bytes, bytes], probe: Probe) -> bool:
    """Mark the store; whether an earlier run was begun there. Raises StoreMismatch where it is not empty."""
    told, tags = folder.manifest, tuple(one.tag for one in folder.manifest.parts)
    begun = store.identity is not _NOBODY
    if not begun:
        if there := what_lies_there(wire, tags):
            more = f", and {len(there) - 1} more keys" if len(there) > 1 else ""
            raise StoreMismatch(
                f"that Redis is not empty: {there[0]} lies there{more}; a backup is brought into an empty one alone. Nothing was"
                " written",
                found=there[:10],
            )
        restored = FromBackup(
            backup=told.backup,
            moment=told.moment,
            at=utc_text(from_micros(now_micros())),
            heads=tuple(one.head for one in told.parts),
        )
        probe("before the mark")
        named = [(name, value) for name, value in fields.items() if name not in (b"format", *NOT_KEPT)]
        if (held := begin_store(wire, named, msgspec.json.encode(restored))) is not None:
            raise StoreMismatch(f"store {held[0].decode('utf-8', 'replace')} lies there by now. Nothing was written")
        probe("after the mark")
    identity = read_identity(wire)
    assert identity is not None
    store.identity = identity
    return begun


def _refuse_other(found: StoreIdentity, folder: BackupFolder) -> None:
    """Raise StoreMismatch where what lies there is not this backup, half restored."""
    told = folder.manifest
    if found.restored is None or found.restored.backup != told.backup or found.store_id != told.store_id:
        begun = "" if found.restored is None else f", restored from backup {found.restored.backup}"
        raise StoreMismatch(
            f"store {found.store_id} lies there ({found.partitions} partitions{begun}): a backup is brought into an empty store"
            " alone, a new data folder (ENGRAMLOG_DATA) or an empty Redis (ENGRAMLOG_REDIS_URL). Nothing was written",
            store_id=found.store_id,
        )
    if not found.restored.stands:
        raise StoreMismatch(
            f"this store is in use: {found.restored.text}. Nothing was written", store_id=found.store_id
        )


def _lay_all(wire: Wire, folder: BackupFolder, steps: _Steps, probe: Probe) -> None:
    done = 0
    for number, part in enumerate(folder.manifest.parts):
        _lay_part(wire, folder, number, probe, lambda seq, base=done: steps.within(base + seq, 0))  # type: ignore[misc]
        done += part.head
        probe("after a partition is laid")
    _lay_rest(wire, folder)
    steps.passed()


def _lay_part(wire: Wire, folder: BackupFolder, number: int, probe: Probe, on_progress: Callable[[int], None]) -> None:
    part, laid = folder.manifest.parts[number], _PartLaid(wire, folder, number, probe)
    proof = LogProof(part.tag)
    for page in entries_of(folder, number, laid.beside):
        reached, stored = laid.reached(), proof.take(page)
        new = [pair for pair in zip(page, stored, strict=True) if pair[1].seq > reached]
        if new:
            lay(wire, part.tag, folder.manifest.backup, new[0][1].seq - 1, new)
            probe("after a page")
        on_progress(proof.seq)
    laid.end()


class _PartLaid:
    """What of a partition is no entry, as its rows come: what its meta tells before the entries, secrets behind them."""

    def __init__(self, wire: Wire, folder: BackupFolder, number: int, probe: Probe) -> None:
        self._wire, self._folder, self._number, self._probe = wire, folder, number, probe
        self._tag = folder.manifest.parts[number].tag
        self._rows = dict[RowKind, list[list[bytes]]]()
        self._reached: int | None = None

    def reached(self) -> int:
        """How far the log was when it was come to; the partition is marked then. Raises StoreMismatch."""
        if self._reached is None:
            told = self._folder.manifest
            self._reached = begin_partition(self._wire, self._tag, told.backup, sealed=told.sealed)
            self._probe("after a partition is begun")
        return self._reached

    def beside(self, row: BackupRow) -> None:
        """Take a row in that is no entry."""
        some = self._rows.setdefault(row.kind, [])
        some.append(row.parts)
        if len(some) == AT_ONCE:
            self.end()

    def end(self) -> None:
        """Write what was not written yet."""
        self.reached()
        keys = LogKeys(self._tag)
        for kind, key in ((RowKind.SECRET, keys.secrets), (RowKind.READMITTED, keys.readmitted)):
            put(self._wire, key, [(owner, line) for owner, line in self._rows.get(kind, ())])
        if gone := [one for (one,) in self._rows.get(RowKind.GONE, ())]:
            fence_ids(self._wire, keys, gone)
        self._rows.clear()


def _lay_rest(wire: Wire, folder: BackupFolder) -> None:
    """What is of no partition's log."""
    tags, today = [one.tag for one in folder.manifest.parts], now().date()
    for (kind, at), rows in groupby(rows_of_store(folder), lambda row: (row.kind, row.parts[0])):
        pairs = ((row.parts[-2], row.parts[-1]) for row in rows)
        if kind is RowKind.DELETION:
            put(wire, LogKeys(tags[int(at)]).deletions, pairs)
        elif kind is RowKind.ACCEPTED:
            put(wire, ACCEPTED_KEY, pairs)
        elif kind is RowKind.MODELS:
            put_uses(wire, _day(folder, at), pairs, today)


def _day(folder: BackupFolder, raw: bytes) -> str:
    try:
        return raw.decode() and date.fromisoformat(raw.decode()).isoformat()
    except ValueError:
        raise folder.unusable(STORE, f"tells of a day {raw[:20]!r} that is none") from None


def _prove_all(wire: Wire, folder: BackupFolder, steps: _Steps) -> None:
    """Read what was laid back from Redis. Raises DamagedState where it is not, byte for byte, what the backup has."""
    done = 0
    for part in folder.manifest.parts:
        proof = LogProof(part.tag)
        for page, stored in read_entries(wire, part.tag, part.head):
            proof.take(page, stored)
            steps.within(done + proof.seq, 0)
        head = int(wire.call("HGET", LogKeys(part.tag).meta, "head") or 0)
        if (head, proof.chain.hex(), proof.digest) != (part.head, part.chain, part.entries):
            raise DamagedState(
                f"partition {{{part.tag}}}: what was laid is not what the backup has; somebody else writes to this Redis, or its"
                " memory fails: empty it, and run it again",
                partition=part.tag,
            )
        done += part.head
    steps.passed()


def _fold_all(store: OldStore, wire: Wire, steps: _Steps, probe: Probe, on_wait: Wait) -> None:
    tags, done = store.identity.tags, 0
    heads = [int(one or 0) for one in wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in tags])]
    run = RebuildRun.begin(wire, list(range(len(tags))), anew=False)
    for number in run.rest:
        rebuild_partition(
            store.client,
            tags[number],
            holder=new_worker_id(),
            probe=probe,
            on_wait=on_wait,
            on_progress=lambda seq, _all, base=done: steps.within(base + seq, 0),  # type: ignore[misc]
        )
        done += heads[number]
        steps.within(done, 0)
        run.finished(wire, number)
    run.end(wire)


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
    with closing(store.wire()) as wire:
        taken = take_over(wire, store.identity.tags, found.restored, utc_text(now()), reason)
    store.alarms.cleared(STORE_RESTORED, "")
    return found.told | {"restored": taken.told, "done": True}


def _is_there(store: OpenStore, partition: int, one: NewestReceipt) -> bool:
    try:
        return any(there.raw_id == one.raw_id for there in store.log.read_at(partition, [one.seq]))
    except LogGap:
        return False
