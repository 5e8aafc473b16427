"""Rows and manifests of backups: what was written is read, whatever is cut or changed is told."""

from __future__ import annotations

import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.consumers import backup as backup_rows
from engramlog_server.consumers.backup import DamagedRows, RowKind, frame, rows
from engramlog_server.ops.backup.folder import (
    BACKUP_FORMAT,
    BackupFile,
    BackupManifest,
    BackupPart,
    DamagedManifest,
    read_manifest,
    write_manifest,
)

ROWS = st.lists(st.tuples(st.sampled_from(RowKind), st.lists(st.binary(max_size=40), max_size=4)), max_size=6)
FILE = BackupFile(bytes=7, sha256="a" * 64, raw=9)
TOLD = BackupManifest(
    format=BACKUP_FORMAT,
    backup="51" * 8,
    release="0.3.0",
    store_id="6d0f3b1c-2f7e-4a52-9a3e-0d8c3c8b7f11",
    log_format="2",
    parameter_set="2026-11.3",
    sealed=True,
    moment="2026-11-27T12:00:00.5Z",
    made_at="2026-11-27T12:00:01Z",
    store=FILE,
    parts=[
        BackupPart(
            tag=f"e{n}", head=n, newest="0" * 32 if n else "", chain="b" * 64, folded=0, entries="c" * 64, file=FILE
        )
        for n in range(3)
    ],
)


@given(ROWS, st.integers(5, 64))
def test_rows_are_read_as_they_were_written_in_whatever_pieces(
    told: list[tuple[RowKind, list[bytes]]], chunk: int
) -> None:
    raw = b"".join(frame(kind, parts) for kind, parts in told)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(backup_rows, "CHUNK", chunk)
        found = list(rows(io.BytesIO(raw)))
    assert [(row.kind, row.parts) for row, _ in found] == told
    assert b"".join(one for _, one in found) == raw


@given(ROWS.filter(bool), st.data())
def test_rows_that_are_cut_end_at_a_whole_one_or_are_told(
    told: list[tuple[RowKind, list[bytes]]], data: st.DataObject
) -> None:
    ends = [0]
    for kind, parts in told:
        ends.append(ends[-1] + len(frame(kind, parts)))
    cut = data.draw(st.integers(0, ends[-1]))
    raw = b"".join(frame(kind, parts) for kind, parts in told)[:cut]
    if cut in ends:
        assert len(list(rows(io.BytesIO(raw)))) == ends.index(cut)
    else:
        with pytest.raises(DamagedRows, match="breaks off"):
            list(rows(io.BytesIO(raw)))


@given(st.binary(max_size=200))
def test_bytes_of_anybody_raise_nothing_else(raw: bytes) -> None:
    with suppress(DamagedRows):
        assert b"".join(one for _, one in rows(io.BytesIO(raw))) == raw
    with pytest.raises(DamagedManifest):
        read_manifest(raw)


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert read_manifest(write_manifest(TOLD)) == TOLD
    assert TOLD.events == 3
    assert len(TOLD.files) == 4


def test_a_manifest_of_which_any_byte_was_changed_is_told() -> None:
    raw = write_manifest(TOLD)
    changed = 0
    for at in range(len(raw) - 1):
        for bit in (1, 32):
            other = raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :]
            try:
                assert read_manifest(other) == TOLD
            except DamagedManifest:
                changed += 1
    assert changed > 1.9 * (len(raw) - 1)
