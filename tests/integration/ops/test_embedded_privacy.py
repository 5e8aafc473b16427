"""The socket of the embedded Redis: where only this user can reach it, whoever else was there first."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engramlog_server.ops.embedded import process as embedded_socket
from engramlog_server.ops.embedded.folder import read_server_file
from engramlog_server.ops.embedded.process import answers, connect, is_ours, shut_down, socket_path
from engramlog_server.ops.embedded.server import open_folder
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder whose path is too long for a socket, and a short temporary folder that everybody may write to."""
    with tempfile.TemporaryDirectory(prefix="eg-", dir="/tmp") as short:
        Path(short).chmod(0o1777)
        monkeypatch.setattr(tempfile, "tempdir", short)
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
        monkeypatch.setattr(embedded_socket, "FALLBACK", short)
        yield tmp_path / ("x" * 120)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_the_socket_and_every_folder_that_leads_to_it_are_this_users_alone(far: Path, tmp_path: Path) -> None:
    for folder in (tmp_path / "near", far):
        with open_the_store(Settings(data=folder, redis_url=None)) as store:
            assert store.embedded is not None
            socket = store.embedded.socket_path
            assert (mode(folder), mode(socket.parent), mode(socket) & 0o077) == (0o700, 0o700, 0)
            assert mode(folder / "redis.log") == 0o600
            assert socket.parent == folder or not socket.is_relative_to(folder)


def as_a_file(place: Path) -> None:
    place.write_text("first")


def as_a_link(place: Path) -> None:
    (place.parent / "elsewhere").mkdir(mode=0o700)
    place.symlink_to(place.parent / "elsewhere")


def as_an_open_folder(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)


@pytest.mark.parametrize("take", [as_a_file, as_a_link, as_an_open_folder])
def test_whoever_takes_the_place_of_the_socket_first_neither_gets_it_nor_keeps_us_out(
    far: Path, take: Callable[[Path], None]
) -> None:
    place = socket_path(far).parent
    place.rmdir()
    take(place)
    found = socket_path(far)
    assert found.parent != place
    assert (mode(found.parent), is_ours(found.parent)) == (0o700, True)
    with open_folder(far, "command") as opened, connect(opened.socket_path) as client:
        assert client.ping()
        assert opened.socket_path.parent != place


def test_a_place_of_another_user_is_passed_over(far: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = socket_path(far).parent
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert not is_ours(place)
    assert socket_path(far).parent != place


def test_nobody_is_asked_for_a_store_behind_a_socket_that_others_could_have_put_there(tmp_path: Path) -> None:
    with open_folder(tmp_path / "data", "up") as up:
        running = read_server_file(tmp_path / "data")
        assert running is not None
        assert answers(up.socket_path, running.pid)
        (tmp_path / "data").chmod(0o777)
        assert not answers(up.socket_path, running.pid)
        shut_down(up.socket_path, running.pid)
        (tmp_path / "data").chmod(0o700)
        assert answers(up.socket_path, running.pid)
