"""One question over a socket: what was surely not asked is told apart from what may have been."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest

from engramlog_server.api.cli.service import Lost, Reply, asked, error_of
from engramlog_server.api.operations.reading import GET, LIST
from engramlog_server.api.operations.writing import NEGATE
from engramlog_server.events.errors import BeyondHead, EngramlogError, InvalidEvent, StoreUnavailable
from engramlog_server.ops import running_service as asking
from engramlog_server.ops.running_service import MARK, MOST_HEAD, NoAnswer, NoService, exchanged
from tests.patience import PATIENCE
from tests.rows import each_row

GO_ON = b"HTTP/1.1 100 \r\n\r\n"
MARKED = MARK.encode() + b": 1\r\n"
BODY = b'{"path":"x"}'
Script = Callable[[socket.socket], None]


def heard(line: socket.socket) -> bytes:
    """The head of the question."""
    told = b""
    while b"\r\n\r\n" not in told:
        told += line.recv(65_536)
    return told


def says(*pieces: bytes, reads: bool = True) -> Script:
    """Say the first, then, after the body came, the rest, and leave."""

    def script(line: socket.socket) -> None:
        told = heard(line)
        line.sendall(pieces[0])
        if reads and pieces[0] == GO_ON:
            body = told.partition(b"\r\n\r\n")[2]
            while len(body) < len(BODY):
                body += line.recv(65_536)
        for piece in pieces[1:]:
            line.sendall(piece)

    return script


@pytest.fixture
def listening() -> Iterator[Callable[[Script], Path]]:
    """A socket on which a script answers the first who asks."""
    ended = []
    with TemporaryDirectory(prefix="el-", dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = Path(folder) / "api.sock"
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(PATIENCE)

        def start(script: Script) -> Path:
            def serve() -> None:
                line, _ = listener.accept()
                with line, suppress(OSError):
                    line.settimeout(PATIENCE)
                    script(line)

            thread = Thread(target=serve)
            thread.start()
            ended.append(thread)
            return path

        yield start
        for thread in ended:
            thread.join(PATIENCE)


def ask(path: Path, **patience: float) -> bytes:
    return exchanged(path, "t" * 40, "/v1/command", BODY, **({"heard": PATIENCE, "answer": PATIENCE} | patience))


def test_an_answer_is_given_whole(listening: Callable[[Script], Path]) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + MARKED + b"Content-Length: 5\r\n\r\n"
    assert ask(listening(says(GO_ON, head, b"he", b"llo"))) == b"hello"


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\n" + MARKED + b"\r\n",
        b"-ERR unknown command\r\n\r\n",
        b"\x00" * (MOST_HEAD + 300_000),
        b"HTTP/1.1 abc x\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"",
    ],
    ids=["token", "busy", "older", "no http", "endless", "no number", "no status", "nothing"],
)
def test_what_does_not_wait_for_the_question_was_not_asked(listening: Callable[[Script], Path], first: bytes) -> None:
    with pytest.raises(NoService):
        ask(listening(says(first)))


@pytest.mark.parametrize("status", [401, 404, 413, 422, 429, 503])
def test_who_refuses_the_question_once_he_has_it_and_has_no_door_for_it_was_not_asked(
    listening: Callable[[Script], Path], status: int
) -> None:
    """An older service reads a body before it says that it knows no such route."""
    with pytest.raises(NoService):
        ask(listening(says(GO_ON, f"HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n".encode())))


def test_who_listens_and_says_nothing_was_not_asked(listening: Callable[[Script], Path]) -> None:
    came: list[bytes] = []

    def silent(line: socket.socket) -> None:
        came.append(heard(line))
        came.append(line.recv(65_536))  # until whoever asked has left

    with pytest.raises(NoService):
        ask(listening(silent), heard=0.05)
    assert b"".join(came).endswith(b"\r\n\r\n"), "the question itself was sent"


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(NoService):
        ask(tmp_path / "api.sock")
    with socket.socket(socket.AF_UNIX) as left, TemporaryDirectory(prefix="el-", dir="/tmp") as folder:
        path = Path(folder) / "api.sock"
        left.bind(str(path))
        left.close()
        with pytest.raises(NoService):
            ask(path)


@pytest.mark.parametrize(
    "rest",
    [
        (b"",),
        (b"HTTP/1.1 200 OK\r\n" + MARKED + b"Content-Length: 5\r\n\r\nhel",),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}",),
        (b"HTTP/1.1 200 OK\r\n" + MARKED + b"\r\nhello",),
        (b"HTTP/1.1 200 OK\r\n" + MARKED + b"Content-Length: -1\r\n\r\n",),
        (b"HTTP/1.1 200 OK\r\n" + MARKED + b"Content-Length: 99999999999\r\n\r\n",),
        (b"HTTP/1.1 200 OK\r\n" + MARKED + b"Content-Length: 2\r\n\r\nhello",),
        (b"\xff\xfe\r\n\r\n",),
    ],
    ids=["dies", "half", "unmarked", "failed", "no length", "negative", "too much", "more", "garbage"],
)
def test_what_took_the_question_and_gave_no_answer_may_have_carried_it_out(
    listening: Callable[[Script], Path], rest: tuple[bytes, ...]
) -> None:
    with pytest.raises(NoAnswer):
        ask(listening(says(GO_ON, *rest)))


def test_who_took_the_question_and_hangs_is_not_waited_for_for_ever(listening: Callable[[Script], Path]) -> None:
    def hangs(line: socket.socket) -> None:
        heard(line)
        line.sendall(GO_ON)
        while line.recv(65_536):
            """Until whoever asked has left."""

    with pytest.raises(NoAnswer):
        ask(listening(hangs), answer=0.05)


@each_row("answer", [b"", b"[]", b"{", b"[" * 100_000, b'{"exit_code": "x"}', b"\xff"])
def test_an_answer_that_cannot_be_read_is_none(answer: bytes) -> None:
    with pytest.raises(Lost):
        asking._reply(answer)


def lost(_route: object, _given: object) -> Reply | None:
    raise Lost("it died")


def test_a_look_that_was_lost_is_taken_by_the_command_itself() -> None:
    given = {"owner": "alice", "memory_id": "m", "trace": True, "inspect": True}
    assert asked(lost, GET, given) is None
    assert asked(lost, LIST, {"owner": "alice"}) is None


def test_what_may_have_counted_as_recall_is_not_asked_twice() -> None:
    given = {"owner": "alice", "memory_id": "m", "trace": True, "inspect": False}
    with pytest.raises(StoreUnavailable, match=r"gave no answer .it died.*without --trace nothing counts"):
        asked(lost, GET, given)


def test_what_may_have_been_told_is_not_told_twice_but_under_a_key() -> None:
    given = {"owner": "alice", "memory_id": "m"}
    with pytest.raises(StoreUnavailable, match=r"whether it was written is not known.*--key"):
        asked(lost, NEGATE, given | {"key": None})
    assert asked(lost, NEGATE, given | {"key": "k"}) is None


@each_row(
    "error",
    [
        InvalidEvent("data.text", "x", "y", index=3),
        BeyondHead("position 1:9 does not exist", position="1:9", head=3),
        EngramlogError("something"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_refusal_is_the_error_that_it_was(error: EngramlogError) -> None:
    again = error_of(error.as_dict(), error.exit_code)
    assert (type(again), again.as_dict(), again.exit_code, again.told) == (
        type(error),
        error.as_dict(),
        error.exit_code,
        error.as_dict(),
    )


def test_a_refusal_of_a_kind_that_is_not_known_here_is_told_all_the_same() -> None:
    again = error_of({"error": "Newer", "message": "so it is", "field": "x"}, 2)
    assert (again.message, again.context, again.exit_code) == ("so it is", {"field": "x"}, 2)
