"""`engramlog backup check FOLDER`: all of a backup read and proved, without a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from engramlog_server.consumers.backup.proof import HeldEntry, LogProof
from engramlog_server.consumers.backup.rows import BackupRow, RowKind
from engramlog_server.events.errors import DamagedState, LogGap
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.backup.folder import BackupFolder
from engramlog_server.ops.backup.manifest import NAMES, BackupManifest
from engramlog_server.ops.keys.backup import KeysUnusable, check_keys, known_keys

Progress = Callable[[int, int], None]
EVERY, PAGE_BYTES = 500, 4 << 20
"""Entries that are proved, and laid, together; and bytes of them, with one entry more at most."""
MOST_FIELDS, MOST_FIELD = 64, 1 << 20
"""Fields of a store, and bytes of one; there are eight, and the longest tells 1,024 partitions."""
_STORE_ROWS = {RowKind.STORE: 2, RowKind.DELETION: 3, RowKind.ACCEPTED: 2, RowKind.MODELS: 3}


class BackupChecked(NamedTuple):
    """What a backup is, once all of it was proved."""

    folder: str
    backup: str
    store_id: str
    moment: str
    made_at: str
    release: str
    sealed: bool
    events: int
    bytes: int
    raw_bytes: int
    open_to_others: bool
    heads: list[dict[str, Any]]
    """Partition, seq and chain, as kept heads have them."""
    incomplete: str | None
    """Why nobody could open all of it; None of a store that lies open, or where its keys are at hand."""


def check_backup(
    folder: BackupFolder, on_progress: Progress = lambda _done, _all: None, keys: Path | None = None
) -> BackupChecked:
    """Prove every file of a backup: its hash, that no entry is missing, every body against its commitment, the chain; and look
    whether a file of keys covers it.

    Raises BackupUnusable, which names the file.
    """
    told, done = folder.manifest, 0
    fields = store_fields(folder)
    refuse_fields(folder, fields)
    for number in range(len(told.parts)):
        for page in entries_of(folder, number, lambda _row: None):
            done += len(page)
            on_progress(done, told.events)
    return BackupChecked(
        str(folder.path),
        told.backup,
        told.store_id,
        told.moment,
        told.made_at,
        told.release,
        told.sealed,
        told.events,
        sum(one.bytes for one in told.files),
        sum(one.raw for one in told.files),
        folder.open_to_others,
        [
            {"partition": number, "seq": one.head, "chain": one.chain}
            for number, one in enumerate(told.parts)
            if one.head
        ],
        _lacking(told, keys) if told.sealed else None,
    )


def _lacking(told: BackupManifest, path: Path | None) -> str | None:
    """Why a backup of the keys does not open all of a backup, in a sentence; None if it does."""
    try:
        found = None if path is None or known_keys(path) is None else check_keys(path)
    except KeysUnusable as error:
        return error.message
    if found is None:
        return "its keys are not at hand: without what `engramlog backup keys` wrote nobody opens it"
    heads = [one.head for one in told.parts]
    if found.store_id != told.store_id or len(found.heads) != len(heads):
        return f"{path} holds the keys of store {found.store_id}, and this is of {told.store_id}"
    if newer := sum(max(head - covered, 0) for head, covered in zip(heads, found.heads, strict=True)):
        return f"{path} was saved at {found.saved_at}, and does not open the {newer:,} newest of its events"
    return None


def entries_of(folder: BackupFolder, number: int, on_row: Callable[[BackupRow], None]) -> Iterator[list[HeldEntry]]:
    """The entries of a partition in pages, each proved as it passes; other rows go to `on_row`. Raises BackupUnusable."""
    part, name = folder.manifest.parts[number], NAMES.part(number)
    proof, page, size = LogProof(part.tag), list[HeldEntry](), 0
    try:
        for row, raw in folder.part(number):
            if row.kind is RowKind.ENTRY and len(row.parts) > 1:
                page.append(HeldEntry(row.parts[0], row.parts[1:]))
                size += len(raw)
                if len(page) == EVERY or size >= PAGE_BYTES:
                    proof.take(page)
                    yield page
                    page, size = [], 0
                if proof.seq + len(page) > part.head:
                    raise folder.unusable(name, f"has more than the {part.head:,} entries that its manifest tells")
            elif _PART_ROWS.get(row.kind) == len(row.parts):
                on_row(row)
            else:
                raise folder.unusable(name, "has a row that no file of a partition has")
        proof.take(page)
    except (LogGap, DamagedState) as error:
        raise folder.unusable(name, f"is not what was written: {error.message}") from None
    if (proof.seq, proof.chain.hex(), proof.digest, proof.newest.hex()) != (
        part.head,
        part.chain,
        part.entries,
        part.newest,
    ):
        raise folder.unusable(
            name,
            f"ends at entry {proof.seq} with the chain {proof.chain.hex()[:16]}..., and its manifest tells another",
        )
    if page:
        yield page


def rows_of_store(folder: BackupFolder) -> Iterator[BackupRow]:
    """What is of no partition. Raises BackupUnusable."""
    for row, _ in folder.store():
        if _STORE_ROWS.get(row.kind) != len(row.parts):
            raise folder.unusable(NAMES.store, "has a row that no such file has")
        if row.kind is RowKind.DELETION and not (
            row.parts[0].isdigit() and int(row.parts[0]) < len(folder.manifest.parts)
        ):
            raise folder.unusable(NAMES.store, "tells of a partition that its manifest has not")
        yield row


def store_fields(folder: BackupFolder) -> dict[bytes, bytes]:
    """The fields of the store. All of the file is read. Raises BackupUnusable."""
    found = dict[bytes, bytes]()
    for row in rows_of_store(folder):
        if row.kind is RowKind.STORE:
            found[row.parts[0]] = row.parts[1]
            if len(found) > MOST_FIELDS or max(map(len, row.parts)) > MOST_FIELD:
                raise folder.unusable(NAMES.store, "has more, or longer, fields of a store than there are")
    return found


def refuse_fields(folder: BackupFolder, fields: Mapping[bytes, bytes]) -> None:
    """Raise BackupUnusable where the store's own fields say something else than the manifest."""
    told = folder.manifest
    try:
        tags = msgspec.json.decode(fields.get(b"tags", b""), type=list[str])
    except UNREADABLE:
        tags = []
    mine = {
        b"store_id": told.store_id,
        b"format": told.log_format,
        b"parameter_set": told.parameter_set,
        b"partitions": str(len(told.parts)),
    }
    wrong = [name for name, value in mine.items() if fields.get(name) != value.encode()]
    if wrong or tags != [one.tag for one in told.parts] or (b"sealed" in fields) != told.sealed:
        name = wrong[0].decode() if wrong else "tags or sealed"
        raise folder.unusable(NAMES.store, f"tells another {name} than its manifest")


_PART_ROWS = {RowKind.SECRET: 2, RowKind.READMITTED: 2, RowKind.GONE: 1}
