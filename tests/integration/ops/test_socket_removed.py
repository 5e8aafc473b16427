"""The socket's file removed under a running store: put back, or an end in order with the reason; never 503 for ever."""

from __future__ import annotations

import signal
import socket as sockets
from contextlib import closing
from pathlib import Path

import pytest

from engramlog_server.ops.embedded.process import KEPT, KeptSocket
from tests.integration.live import wait_until
from tests.integration.ops.test_up import EVENT, Up, get, post, running
from tests.patience import PATIENCE


def _listening(path: Path) -> sockets.socket:
    listener = sockets.socket(sockets.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


def _reaches(path: Path, listener: sockets.socket) -> bool:
    with closing(sockets.socket(sockets.AF_UNIX)) as caller:
        caller.connect(str(path))
        listener.accept()[0].close()
    return True


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("s")


@pytest.mark.parametrize("instead", ["nothing", "a file", "another socket"])
def test_a_socket_that_is_gone_or_replaced_is_put_back_and_reaches_the_same_server(short: Path, instead: str) -> None:
    path = short / "redis.sock"
    with closing(_listening(path)) as listener:
        kept = KeptSocket(short, path)
        assert kept.tend() == "there"
        path.unlink()
        if instead == "a file":
            path.write_text("in the way")
        elif instead == "another socket":
            _listening(path).close()
        assert kept.tend() == "mended"
        assert kept.tend() == "there"
        assert _reaches(path, listener)


def test_where_the_second_name_is_gone_too_the_loss_is_told(short: Path) -> None:
    path = short / "redis.sock"
    with closing(_listening(path)):
        kept = KeptSocket(short, path)
        path.unlink()
        (short / KEPT).unlink()
        assert kept.tend() == "lost"


def _alarmed(up: Up) -> bool:
    return any(fact["name"] == "socket_removed" for fact in up.facts("alarm raised"))


def test_up_puts_a_removed_socket_back_alarms_and_serves_on(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with running(folder) as up:
        up.ready()
        (folder / "redis.sock").unlink()
        wait_until(lambda: _alarmed(up))
        assert post(up, [EVENT])["receipts"][0]["status"] == "appended"
        found = up.run("get", "alice", "m1", "--after", post(up, [EVENT])["receipts"][0]["position"])
        assert found["id"] == "m1", "a command that connects anew reaches the store"
        assert [one["name"] for one in get(up, "/v1/alarms")["alarms"]] == ["socket_removed"]
        up.process.send_signal(signal.SIGTERM)
        assert up.process.wait(PATIENCE) == 0
        wait_until(up.gone)
        assert not list(folder.glob("redis.sock*")), "nothing of it is left behind"


def test_up_that_cannot_put_it_back_ends_in_order_says_why_and_starts_again(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with running(folder) as up:
        up.ready()
        position = post(up, [EVENT])["receipts"][0]["position"]
        (folder / KEPT).unlink()
        (folder / "redis.sock").unlink()
        assert up.process.wait(PATIENCE) == 1
        assert "was removed or replaced, and cannot be put back" in up.log.read_text()
        wait_until(up.gone)
    with running(folder) as again:
        again.ready()
        assert again.run("get", "alice", "m1", "--after", position)["id"] == "m1"
