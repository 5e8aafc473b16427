"""What a command reads from a pipe it begins to read before it opens the store, and an export to its end: who writes holds it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

from engramlog_server.api.cli.main import run
from engramlog_server.events.errors import InputError
from tests.rows import each_row

CHAT = b'{"messages": [{"role": "user", "content": "tea"}]}\n'
READERS = {
    "append": (["append"], b"{}\n"),
    "turns": (["import", "turns"], b"{}\n"),
    "records": (["import", "records", "--owner", "bo"], b"{}\n"),
    "chats": (["import", "turns", "--shape", "auto", "--owner", "bo", "--since", "2026-01-01T00:00:00Z"], CHAT),
    "delete": (["delete", "bo"], b"m1\n"),
    "add": (["add", "bo"], b"tea\n"),
}
OF_LINES = ["append", "turns", "records", "chats"]
WHOLE = ["records", "delete", "add"]
LIVE = ["append", "turns", "chats"]
"""These may be fed by a producer that lives: only the first line is waited for."""


class Watched(io.BytesIO):
    """A standard input that remembers when its end was met."""

    def __init__(self, sent: bytes, seen: list[str]) -> None:
        super().__init__(sent)
        self.seen = seen

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        if self.tell() == len(self.getvalue()):
            self.seen.append("read")
        return found


class Input:
    """What stands for `sys.stdin`."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer


def opener(seen: list[str]) -> Any:
    """Opens no store, and says that it was asked to."""

    @contextmanager
    def opened() -> Iterator[Any]:
        seen.append("opened")
        raise InputError("far enough")
        yield

    return opened


@each_row("reader", WHOLE)
def test_standard_input_is_read_to_its_end_before_the_store_is_opened(
    monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    words, sent = READERS[reader]
    seen: list[str] = []
    monkeypatch.setattr(sys, "stdin", Input(Watched(sent, seen)))

    run(opener(seen), [*words, "-"])

    assert seen[0] == "read"
    assert seen[-1] == "opened"


@pytest.mark.parametrize("reader", OF_LINES)
def test_an_empty_standard_input_is_refused_before_the_store_is_opened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reader: str
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(sys, "stdin", Input(io.BytesIO()))

    code = run(opener(seen), [*READERS[reader][0], "-"])

    assert (code, seen) == (2, [])
    assert "at least one line; it is empty" in capsys.readouterr().err


@pytest.mark.parametrize("reader", READERS)
def test_a_process_without_a_standard_input_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reader: str
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(sys, "stdin", None)

    code = run(opener(seen), [*READERS[reader][0], "-"])

    assert (code, seen) == (2, [])
    assert "a standard input that is open" in capsys.readouterr().err


@each_row("reader", LIVE)
def test_the_end_of_a_producer_that_lives_is_not_waited_for(reader: str) -> None:
    words, sent = READERS[reader]
    readable, writable = os.pipe()
    seen: list[str] = []
    os.write(writable, sent)

    run(opener(seen), [*words, f"/dev/fd/{readable}"])

    assert seen == ["opened"]
    os.close(writable)
    os.close(readable)


def test_a_named_pipe_of_records_is_read_to_its_end_too() -> None:
    words, sent = READERS["records"]
    readable, writable = os.pipe()
    seen: list[str] = []

    def write() -> None:
        os.write(writable, sent)
        seen.append("written")
        os.close(writable)

    writer = Thread(target=write)
    writer.start()
    run(opener(seen), [*words, f"/dev/fd/{readable}"])
    writer.join()
    os.close(readable)

    assert seen == ["written", "opened"]
