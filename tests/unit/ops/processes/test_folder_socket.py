"""The socket in the data folder: one process has it, what a dead one left is replaced, and an `up` can say that it waits."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import closing
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from time import sleep

import pytest

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.ops.embedded.lock import is_wanted, may_be_used, using, wanting
from engramlog_server.ops.listeners import NAME, FolderSocket, Stay
from tests.patience import PATIENCE
from tests.rows import each_row


def claimed(folder: Path) -> FolderSocket:
    found = FolderSocket.claim(folder)
    assert found is not None
    return found


def test_one_process_has_it_and_the_next_one_after_that(tmp_path: Path) -> None:
    with closing(claimed(tmp_path)) as first:
        assert FolderSocket.claim(tmp_path) is None
        assert stat.S_IMODE(first.path.stat().st_mode) == 0o600
    assert not (tmp_path / NAME).exists()
    claimed(tmp_path).close()


def test_nobody_is_let_in_before_somebody_listens(tmp_path: Path) -> None:
    with closing(claimed(tmp_path)), socket.socket(socket.AF_UNIX) as asks, pytest.raises(ConnectionRefusedError):
        asks.connect(str(tmp_path / NAME))


@each_row("left", ["socket", "file"])
def test_what_a_dead_process_left_is_replaced(tmp_path: Path, left: str) -> None:
    if left == "file":
        (tmp_path / NAME).write_text("left")
    else:
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(tmp_path / NAME))
    with closing(claimed(tmp_path)) as found:
        assert stat.S_ISSOCK(found.path.stat().st_mode)


def test_a_removed_one_is_noticed_and_anothers_is_left_alone(tmp_path: Path) -> None:
    with closing(claimed(tmp_path)) as found:
        assert found.is_there()
        (tmp_path / NAME).unlink()
        assert not found.is_there()
        (tmp_path / NAME).write_text("another's")
    assert (tmp_path / NAME).read_text() == "another's"


def test_closing_it_twice_gives_no_other_process_its_place_away(tmp_path: Path) -> None:
    first = claimed(tmp_path)
    first.close()
    with closing(claimed(tmp_path)):
        first.close()
        assert FolderSocket.claim(tmp_path) is None


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(EmbeddedRedisError, match="file cannot be used"):
        FolderSocket.claim(tmp_path / "file")


def test_an_up_that_waits_for_the_folder_is_heard_until_it_has_it(tmp_path: Path) -> None:
    assert not is_wanted(tmp_path)
    with wanting(tmp_path), wanting(tmp_path):
        assert is_wanted(tmp_path)
    assert not is_wanted(tmp_path)


def test_who_wants_it_has_it_once_a_service_that_a_client_started_has_left(tmp_path: Path) -> None:
    stays = claimed(tmp_path)
    stay = Stay(tmp_path, stays, 600.0)

    def serves() -> None:
        while stay.over(lambda: 0.0) is None:
            sleep(0.001)
        stays.close()

    leaving = Thread(target=serves, daemon=True)
    leaving.start()
    found = FolderSocket.claim_when_free(tmp_path, Flag(), PATIENCE)
    leaving.join(PATIENCE)
    assert found is not None
    found.close()
    assert not is_wanted(tmp_path)


def test_who_wants_it_waits_no_longer_than_it_may_nor_once_it_is_told_to_end(tmp_path: Path) -> None:
    told = Flag()
    with closing(claimed(tmp_path)):
        assert FolderSocket.claim_when_free(tmp_path, told, 0.0) is None
        told.set()
        assert FolderSocket.claim_when_free(tmp_path, told, PATIENCE) is None


def test_it_stays_while_it_is_asked_and_nobody_else_wants_the_store(tmp_path: Path) -> None:
    with closing(claimed(tmp_path)) as found:
        stay = Stay(tmp_path, found, 600.0)
        assert stay.over(lambda: 600.0) is None
        assert stay.over(lambda: 600.1) == "nobody has asked for 600 s"
        with wanting(tmp_path):
            assert stay.over(lambda: 0.0) == "an `engramlog up` wants the store"
        (tmp_path / NAME).unlink()
        assert "was removed" in str(stay.over(lambda: 0.0))


def test_it_stays_while_a_command_uses_its_redis(tmp_path: Path) -> None:
    with closing(claimed(tmp_path)) as found:
        stay = Stay(tmp_path, found, 600.0)
        assert using(tmp_path) is None
        may_be_used(tmp_path)
        used = using(tmp_path)
        assert used is not None
        assert stay.over(lambda: 601.0) is None
        os.close(used)
        assert stay.over(lambda: 601.0) == "nobody has asked for 600 s"
