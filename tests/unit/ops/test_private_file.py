"""Files with secrets: the token, master keys and what is shown to a key service are read by one rule, told by their own names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops.durable import NotPrivate, read_private
from engramlog_server.ops.keys.master import read_key_file
from engramlog_server.ops.keys.vault import token_in
from engramlog_server.ops.token import NAME, read_token
from tests.rows import each_row

READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "master key": (lambda folder: read_key_file(folder / NAME), "ENGRAMLOG_SEALED_BY"),
    "key service": (lambda folder: token_in(folder / NAME), "ENGRAMLOG_VAULT_TOKEN_FILE"),
    "token": (read_token, "engramlog token --rotate"),
}


def laid(folder: Path, mode: int = 0o600, content: bytes = b"x") -> Path:
    path = folder / NAME
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_what_a_private_file_holds_is_read(tmp_path: Path) -> None:
    assert read_private(laid(tmp_path, content=b"12345"), 5) == b"12345"
    assert read_private(laid(tmp_path, 0o400, b"12345"), 9) == b"12345"


@each_row("reader", READERS)
@each_row("mode", [0o640, 0o604, 0o620, 0o611])
def test_one_that_others_could_reach_is_refused_by_the_name_of_its_setting(
    tmp_path: Path, reader: str, mode: int
) -> None:
    read, name = READERS[reader]
    laid(tmp_path, mode)
    with pytest.raises(EngramlogError, match=rf"could be read by others \({mode:04o}\)") as found:
        read(tmp_path)
    assert name in found.value.message
    assert ("make it 0600" in found.value.message) == (reader != "token"), "a token that was seen wants a new one"


@each_row("reader", READERS)
def test_one_that_is_too_large_no_file_or_a_pipe_is_refused_and_nobody_waits(tmp_path: Path, reader: str) -> None:
    read, name = READERS[reader]
    path = laid(tmp_path, content=b"x" * 100_000)
    with pytest.raises(EngramlogError, match=r"has 100,000 bytes; [\d,]+ are allowed") as found:
        read(tmp_path)
    assert name in found.value.message
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(EngramlogError, match="is no plain file"):
        read(tmp_path)


def test_a_link_and_a_file_of_another_user_hold_no_secret_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = laid(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(NotPrivate, match="or is a link"):
        read_private(link, 9)
    assert read_private(link, 9, ours=False) == b"x"
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    with pytest.raises(NotPrivate, match="belongs to user"):
        read_private(path, 9)
    assert read_private(path, 9, ours=False) == b"x"


def test_one_that_is_not_there_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotPrivate) as found:
        read_private(tmp_path / "none", 9)
    assert found.value.missing
    assert read_token(tmp_path) is None
    laid(tmp_path, content=b"")
    with pytest.raises(NotPrivate, match="cannot be read") as found:
        read_private(tmp_path / NAME / "below", 9)
    assert not found.value.missing
