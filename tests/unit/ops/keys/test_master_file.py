"""The file of master keys: made once, read only where nobody else can have touched it."""

from __future__ import annotations

import os
from errno import ENOSPC
from pathlib import Path

import pytest

from engramlog_server.events.errors import KeyUnavailable
from engramlog_server.events.keys import KeyRing, Wrapped, key_id
from engramlog_server.ops.keys.master import (
    NAME,
    KeyFile,
    KeyFileUnusable,
    drop_key,
    key_in,
    line_of,
    make_key_file,
    read_key_file,
    rotate_key_file,
)
from engramlog_server.ops.settings import Settings
from tests.rows import each_row

KEY, NEXT = b"k" * 32, b"n" * 32


def written(path: Path, *lines: str, mode: int = 0o600) -> Path:
    path.write_text("\n".join(["# a comment", "", *lines, ""]))
    path.chmod(mode)
    return path


def test_a_new_file_is_this_users_alone_and_is_never_made_over(tmp_path: Path) -> None:
    path = tmp_path / "key"
    make_key_file(path)
    first = path.read_text()
    make_key_file(path)
    assert path.read_text() == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(read_key_file(path).names) == 1


def test_the_last_line_wraps_and_a_key_that_was_added_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "key", line_of(KEY))
    held = KeyFile(path)
    assert held.ring.name == key_id(KEY)
    line = KeyRing([NEXT]).wrap([(b"about", b"s" * 32)])[0]
    assert isinstance(held.unwrap([Wrapped(b"about", line)])[0], KeyUnavailable)
    written(path, line_of(KEY), line_of(NEXT))
    assert held.unwrap([Wrapped(b"about", line)]) == [b"s" * 32]
    assert held.is_current(line)


@each_row(
    ("lines", "why"),
    [
        ((), "holds no master key"),
        (("egm1 x y",), "line 3"),
        (("egm2 " + line_of(KEY)[5:],), "line 3"),
        ((line_of(KEY), line_of(KEY)[:-4]), "line 4"),
        ((line_of(KEY) + " more",), "line 3"),
        (("早",), "line 3"),
    ],
)
def test_a_line_that_is_no_key_is_named_and_none_of_it_told(tmp_path: Path, lines: tuple[str, ...], why: str) -> None:
    path = written(tmp_path / "key", *lines)
    with pytest.raises(KeyFileUnusable, match=why) as refused:
        read_key_file(path)
    assert not any(line.split()[-1] in refused.value.message for line in lines if len(line) > 20)


def test_a_file_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    with pytest.raises(KeyFileUnusable, match="could be read by others"):
        read_key_file(written(tmp_path / "key", line_of(KEY), mode=0o640))


def test_a_file_that_goes_away_is_no_other_key(tmp_path: Path) -> None:
    path = written(tmp_path / "key", line_of(KEY))
    held = KeyFile(path)
    path.unlink()
    (found,) = held.unwrap([Wrapped(b"about", b"x")])
    assert isinstance(found, KeyUnavailable)
    assert found.passes


def test_a_disk_that_is_full_leaves_no_file_and_is_told_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file without a key would keep the folder from ever having one."""

    def full(_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("engramlog_server.ops.keys.master.os.fsync", full)
    with pytest.raises(
        KeyFileUnusable, match=r"^no master key file can be made at .*No space left on device\); nothing was made$"
    ):
        make_key_file(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    assert make_key_file(tmp_path / "key")


def test_a_new_file_is_never_seen_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who makes a store of the same folder at the same time finds no file, or a whole one."""
    seen, sync = list[bool](), os.fsync

    def looked(descriptor: int) -> None:
        seen.append((tmp_path / "key").exists())
        sync(descriptor)

    monkeypatch.setattr("engramlog_server.ops.keys.master.os.fsync", looked)
    assert make_key_file(tmp_path / "key")
    assert seen == [False, True]
    assert [one.name for one in tmp_path.iterdir()] == ["key"]


def test_a_link_that_leads_nowhere_is_something_that_lies_there(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.symlink_to(tmp_path / "nowhere")
    assert not make_key_file(path)
    assert [one.name for one in tmp_path.iterdir()] == ["key"]


def test_a_comment_in_any_language_outlives_rotation_and_dropping(tmp_path: Path) -> None:
    path = written(tmp_path / "key", "# 备份在保险箱里", line_of(KEY))
    made = rotate_key_file(path)
    drop_key(path, key_id(KEY))
    assert read_key_file(path).names == [made]
    assert "# 备份在保险箱里" in path.read_text(encoding="utf-8")


def test_a_new_store_is_not_made_open_where_the_key_of_its_folder_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / NAME).symlink_to(tmp_path / "nowhere")
    assert key_in(tmp_path, Settings(data=tmp_path)) == tmp_path / NAME
