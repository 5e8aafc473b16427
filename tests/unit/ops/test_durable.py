"""Files that survive a crash: whole or unchanged, without half lines, and in their folder whatever a store calls itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from engramlog_server.ops.durable import FileFull, FileLock, append_lines, new_file_beside, replace_file
from engramlog_server.ops.erasure.fence_list import list_path
from engramlog_server.ops.kept.heads import heads_path
from engramlog_server.ops.kept.receipts import receipts_path
from engramlog_server.ops.kept.rejections import values_path
from engramlog_server.ops.settings import Settings
from tests.rows import each_row


@each_row("path_of", [heads_path, values_path, list_path, receipts_path])
def test_no_store_id_leads_out_of_the_data_folder(path_of: Callable[[Settings, str], Path]) -> None:
    settings = Settings(data=Path("/data"), redis_url="redis://host")
    for store_id in ("../../etc/x", "/etc/x", "a/b", "..", "x" * 5_000, "5f0c7d0e-8f0c-4f47-8b7f-3a1e5c1d2a90"):
        path = path_of(settings, store_id)
        assert path.parent == Path("/data"), store_id
        assert len(path.name) < 200


@each_row(
    ("before", "after"),
    [
        (b"", b"new\n"),
        (b"old\n", b"old\nnew\n"),
        (b"old\nha", b"old\nnew\n"),
        (b"ha", b"new\n"),
        (b"old\n" + b"x" * 9_000, b"old\nnew\n"),
        (b"y" * 4_095 + b"\n", b"y" * 4_095 + b"\nnew\n"),
    ],
    ids=["empty", "whole", "torn", "only torn", "torn over blocks", "ends at a block"],
)
def test_lines_are_appended_after_an_unfinished_one_is_cut_off(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "lines"
    path.write_bytes(before)
    append_lines(path, b"new\n")
    assert path.read_bytes() == after


def test_a_full_file_takes_no_line_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_lines(path, b"1234\n", 8)
    with pytest.raises(FileFull) as full:
        append_lines(path, b"5678\n", 8)
    assert full.value.size == 5
    assert path.read_bytes() == b"1234\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_whole_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert replace_file(path, b"old") == 3

    def breaks(file: IO[bytes]) -> None:
        file.write(b"half")
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        replace_file(path, breaks)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_under_the_lock_is_replaced_and_no_link_is_followed(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "file", tmp_path / "elsewhere"
    elsewhere.write_bytes(b"mine")
    (tmp_path / ".file.new").symlink_to(elsewhere)
    with FileLock(path):
        replace_file(path, b"new", locked=True)
    assert (path.read_bytes(), elsewhere.read_bytes()) == (b"new", b"mine")
    with new_file_beside(path, b"more") as fresh:
        assert fresh.read_bytes() == b"more"
    assert not fresh.exists()
