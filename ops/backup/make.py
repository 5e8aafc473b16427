"""`engramlog backup make DEST`: a store as it stood at one moment, in a folder of its own, while it is used.

The heads of all partitions are the moment. The log of each partition up to its head is copied as it lies in Redis, byte for byte,
by the partition's own keys, in pages. Then all of it is read back from the files and proved. Memories and vectors are made
again when it is restored. Of a sealed store no key is in it, so nobody opens it without the backup of the keys, which is saved
into a place of its own, and the master key.

With `--keep N`, for a timer, the keys are saved again too, and backups beyond the newest N that the new one holds are removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any, NamedTuple, TypedDict

from engramlog_server.api.choices import program_version
from engramlog_server.consumers.backup import LogProof, PartitionHead, heads_now, read_entries, read_owners, read_store
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import InputError, StoreError, StoreMismatch, StoreUnavailable, refused
from engramlog_server.events.partitions import STORE_KEY
from engramlog_server.events.redis.server import redis_micros
from engramlog_server.events.redis.wire import Wire
from engramlog_server.ops.backup.folder import (
    BACKUP_FORMAT,
    MANIFEST,
    STORE,
    BackupFolder,
    BackupManifest,
    BackupPart,
    BackupUnusable,
    RowsOut,
    about,
    check_backup,
    drop_backup,
    made_whole,
    open_backup,
    part_name,
    refuse_destination,
    write_file,
    write_manifest,
)
from engramlog_server.ops.clock import now, now_micros
from engramlog_server.ops.keys.backup import refuse_place, save_keys
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, folder_of
from engramlog_server.projections.redis.create import BACKED_UP, WITH_KEYS, StoreIdentity, read_identity, refuse_copy
from engramlog_server.projections.redis.usage import KEPT_DAYS, last_days

Progress = Callable[[int, int], None]
"""Hears of how many entries are done, of how many: each is written, and read back."""


class OlderBackups:
    """Backups of one store that are to go, and up to where a new one holds the same log: by the chain, as that one is read."""

    def __init__(self, found: Sequence[BackupFolder] = ()) -> None:
        self.found, self._ends = found, dict[str, set[int]]()
        for part in (part for one in found for part in one.manifest.parts):
            self._ends.setdefault(part.tag, set()).add(part.head)
        self._heads, self._links = dict[str, int](), dict[tuple[str, int], str]()

    def heads(self, tag: str) -> set[int]:
        """The seqs at which they end in a partition."""
        return self._ends.get(tag, set())

    def passed(self, proof: LogProof) -> None:
        """Hear of a partition of the new one, all of which passed."""
        self._heads[proof.tag] = proof.seq
        self._links.update({(proof.tag, seq): link.hex() for seq, link in proof.links.items()})

    def beyond(self, one: BackupFolder) -> str | None:
        """Say, after its name, what an older backup holds that the new one does not; None if the new one holds all of it."""
        for number, part in enumerate(one.manifest.parts):
            if part.head > (now := self._heads.get(part.tag, 0)):
                return f"holds {part.head:,} entries of partition {number}, and the newest {now:,}"
            if part.head and self._links.get((part.tag, part.head)) != part.chain:
                return f"holds other entries of partition {number} than the newest"
        return None


class BackupMade(NamedTuple):
    """What was made."""

    folder: str
    backup: str
    store_id: str
    moment: str
    sealed: bool
    partitions: int
    events: int
    bytes: int
    raw_bytes: int
    """Bytes before they were packed."""
    seconds: float
    noted: bool
    """Whether the store tells that it was made."""
    keys: dict[str, Any] | None
    """The answer of `engramlog backup keys`; None if no keys were saved: then the backup of a sealed store is incomplete."""


def keys_asked(store: OpenStore, settings: Settings, keys: Path | None, *, without: bool) -> Path | None:
    """The file in which the keys of a backup are saved: the named one, or the setting's. None `without` keys, or if the store
    is not sealed.

    Raises InputError if a sealed store has no such file.
    """
    if keys is not None and (without or store.identity.sealed is None):
        why = "nothing with --without-keys" if without else "nothing: this store lies open, and has no keys"
        raise InputError(f"--keys: got '{keys}'; allowed: {why}", field="keys")
    if without or store.identity.sealed is None:
        return None
    if (path := keys or settings.keys_backup) is None:
        raise InputError(
            "--keys: got nothing; allowed: a file apart from the backups, in which its keys are saved (or ENGRAMLOG_KEYS_BACKUP"
            " that names one): without them nobody opens the backup; or --without-keys. Nothing was made",
            field="keys",
        )
    return refuse_place(path, folder_of(store.embedded) or settings.data, "keys")


def make_backup(
    store: OpenStore,
    settings: Settings,
    destination: Path,
    *,
    keys: Path | None = None,
    older: OlderBackups | None = None,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
) -> BackupMade:
    """Write a backup of a store into a folder that is not there yet, and prove it; save its keys in a file (`keys_asked`).
    `older` hears what of those of before is in it.

    Raises InputError for a place that cannot be used, StoreMismatch where the store was restored and nobody took it over, or was
    replaced meanwhile, LogGap and DamagedState where it is damaged, StoreUnavailable where it cannot be read or written, and what
    `save_keys` raises: then nothing is there.
    """
    refuse_copy(store.identity.restored, "no backup is made of a copy")
    path = refuse_destination(destination, folder_of(store.embedded) or settings.data)
    began = monotonic()
    with closing(store.wire()) as wire:
        with made_whole(path, probe) as folder:
            _write(wire, store.identity, folder, older or OlderBackups(), probe, on_progress)
            probe("before it is proved")
            made = open_backup(folder)
            all_of_it = made.manifest.events
            check_backup(made, lambda done, _all: on_progress(all_of_it + done, 2 * all_of_it))
            saved = None if keys is None else save_keys(store, settings, keys)._asdict()
        noted = _noted(wire, made.manifest, with_keys=saved is not None)
    told = made.manifest
    return BackupMade(
        str(path),
        told.backup,
        told.store_id,
        told.moment,
        told.sealed,
        len(told.parts),
        told.events,
        sum(one.bytes for one in told.files),
        sum(one.raw for one in told.files),
        round(monotonic() - began, 3),
        noted,
        saved,
    )


def _write(
    wire: Wire, identity: StoreIdentity, folder: Path, older: OlderBackups, probe: Probe, on_progress: Progress
) -> None:
    backup, sealed = token_hex(8), identity.sealed is not None
    with closing(RowsOut(folder / STORE, about(backup, identity.store_id, ""))) as beside:
        for row in read_store(wire, identity.tags, last_days(now(), KEPT_DAYS)):
            beside.put(row.kind, row.parts)
        told = beside.end()
    probe("before the heads are read")
    moment = utc_text(from_micros(redis_micros(wire)))  # whatever was acknowledged before is in the backup
    heads = heads_now(wire, identity.tags)
    probe("after the heads are read")
    total, parts = sum(one.head for one in heads), list[BackupPart]()
    for number, one in enumerate(heads):
        done = sum(part.head for part in parts)
        with closing(RowsOut(folder / part_name(number), about(backup, identity.store_id, one.tag))) as out:
            parts.append(_part(wire, one, out, older, probe, partial(_within, on_progress, done, 2 * total)))
        probe("after a partition")
    again = read_identity(wire)
    if again is None or _fixed(again) != _fixed(identity):
        raise StoreMismatch(
            "this store was replaced, sealed or brought over while it was read: make the backup again. Nothing was kept of it"
        )
    manifest = BackupManifest(
        format=BACKUP_FORMAT,
        backup=backup,
        release=program_version(),
        store_id=identity.store_id,
        log_format=identity.format,
        parameter_set=identity.parameter_set,
        sealed=sealed,
        moment=moment,
        made_at=utc_text(from_micros(now_micros())),
        store=told,
        parts=parts,
    )
    probe("before the manifest")
    write_file(folder / MANIFEST, write_manifest(manifest))


def _within(on_progress: Progress, before: int, total: int, seq: int) -> None:
    on_progress(before + seq, total)


def _fixed(identity: StoreIdentity) -> tuple[object, ...]:
    """The parts of a store that never change; the line by which its master key is known does, if that is replaced."""
    return identity.store_id, identity.tags, identity.parameter_set, identity.format, identity.sealed is None


def _part(
    wire: Wire,
    at: PartitionHead,
    out: RowsOut,
    older: OlderBackups,
    probe: Probe,
    on_progress: Callable[[int], None],
) -> BackupPart:
    """A partition's file."""
    proof = LogProof(at.tag, {at.folded: at.chain} if at.folded else None, older.heads(at.tag))
    for page, stored in read_entries(wire, at.tag, at.head):
        proof.take(page, stored)
        out.write(proof.rows)
        probe("after a page")
        on_progress(proof.seq)
    older.passed(proof)
    for row in read_owners(wire, at.tag):
        out.put(row.kind, row.parts)
    return BackupPart(
        tag=at.tag,
        head=proof.seq,
        newest=proof.newest.hex(),
        chain=proof.chain.hex(),
        folded=at.folded,
        entries=proof.digest,
        file=out.end(),
    )


def _noted(wire: Wire, told: BackupManifest, *, with_keys: bool) -> bool:
    """Have the store tell when its last backup was made, and whether its keys were saved; whether it took that."""
    with suppress(StoreError):
        wire.call("HSET", STORE_KEY, BACKED_UP, f"{told.moment} {told.backup}{f' {WITH_KEYS}' if with_keys else ''}")
        return True
    return False


_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_FORM = "%Y-%m-%dT%H-%M-%SZ"
MOST_KEPT = 1_000
"""Backups that may be kept of one store in one folder."""
AT_ONCE = 100
"""Backups that one rotation removes at most: their manifests are in memory together."""


def name_of(at: datetime) -> str:
    """How a backup of this second is called, such as `2026-11-28T03-00-00Z`. `at` is of UTC."""
    return at.strftime(_FORM)


class LeftBackup(TypedDict):
    """A backup beyond those that are to be kept, and why it stays."""

    name: str
    why: str


class BackupRotated(NamedTuple):
    """The new backup, those that are kept (the newest first) and those that went (the oldest first); names in the folder."""

    made: BackupMade
    kept: list[str]
    removed: list[str]
    left: list[LeftBackup]


def rotate_backups(
    store: OpenStore,
    settings: Settings,
    folder: Path,
    keep: int,
    *,
    keys: Path | None = None,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
    name: Callable[[], str] = lambda: name_of(now()),
) -> BackupRotated:
    """Make a backup in a folder, named by its second, and remove the oldest of this store beyond `keep` that a rotation made there,
    `AT_ONCE` at most.

    Nothing goes before the new one is proved and has its name, and its keys are saved in a file (`keys_asked`); nothing that
    holds what it does not; none that somebody checks or restores. Raises what `make_backup` raises: then nothing went.
    """
    if not 1 <= keep <= MOST_KEPT:
        raise refused("keep", keep, f"1 to {MOST_KEPT:,}")
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise refused("folder", str(folder), "a folder that is there, and that this user may write to")
    unusable = dict[str, str]()
    try:
        found = sorted(rotated_in(folder, store.identity.store_id, unusable))
        going = max(len(found) + 1 - keep, 0)
        older = OlderBackups([open_backup(path) for _, path in found[: min(going, AT_ONCE)]])
    except OSError as error:
        raise StoreUnavailable(
            f"{folder} cannot be looked through: {error.strerror or error}", file=str(folder)
        ) from None
    made = make_backup(store, settings, folder / name(), keys=keys, older=older, probe=probe, on_progress=on_progress)
    kept = [Path(made.folder).name, *(path.name for _, path in reversed(found[going:]))]
    removed = list[str]()
    left = [LeftBackup(name=unread, why=why) for unread, why in unusable.items()]
    for one in older.found:
        probe("before one goes")
        if (why := older.beyond(one) or drop_backup(one.path)) is None:
            removed.append(one.path.name)
        else:
            left.append(LeftBackup(name=one.path.name, why=why))
    return BackupRotated(made, kept, removed, left)


def rotated_in(folder: Path, store_id: str, unusable: dict[str, str]) -> Iterator[tuple[str, Path]]:
    """The moments and places of a store's backups in a folder that are called as a rotation calls them; others are none of its.
    `unusable` gets the names of what cannot be read, and why. Raises OSError."""
    for path in sorted(folder.iterdir()):
        if _NAME.fullmatch(path.name) and not path.is_symlink():
            try:
                found = open_backup(path)
            except BackupUnusable as error:
                unusable[path.name] = error.message
                continue
            if found.manifest.store_id == store_id:
                yield found.manifest.moment, path
