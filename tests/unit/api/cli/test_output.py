"""Output to a stream that cannot take it: one line on standard error, and the right exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from engramlog_server.api.cli.main import run
from engramlog_server.api.cli.output import Output, Terminal
from tests.rows import each_row


def no_store() -> NoReturn:
    raise AssertionError("these commands open no store")


def _left_by_its_reader() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def _closed() -> int:
    return os.open(os.devnull, os.O_RDONLY)  # `take_over` puts this in the place of a closed descriptor


def _full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


TABLE, JSON = ["parameters", "--all"], ["parameters", "--all", "--json"]


@each_row(
    "stream, words, code, said",
    [
        (_closed, TABLE, 1, "it is closed"),
        (_closed, JSON, 1, "it is closed"),
        (_full, TABLE, 1, "No space left on device"),
        (_full, JSON, 1, "No space left on device"),
        (_full, ["--help"], 1, "No space left on device"),
        (_left_by_its_reader, TABLE, 0, ""),
        (_left_by_its_reader, JSON, 0, ""),
        (_left_by_its_reader, ["--help"], 0, ""),
    ],
)
def test_output_that_cannot_be_written_is_one_line_and_a_reader_may_leave(
    stream: Callable[[], int],
    words: list[str],
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    descriptor = stream()
    try:
        monkeypatch.setattr(sys, "stdout", Output(descriptor, "utf-8"))
        assert run(no_store, words) == code
        sys.stdout.flush()  # as the end of the process does
    finally:
        os.close(descriptor)
    told = capfd.readouterr().err
    assert (said in told, len(told.splitlines())) == (True, int(bool(said)))


@each_row(
    "encoding, shown", [("ascii", rb"\u8336 caf\xe9"), ("latin-1", b"\\u8336 caf\xe9"), ("utf-8", "茶 café".encode())]
)
def test_characters_that_the_encoding_lacks_are_codes_and_tables_are_drawn_without_them(
    encoding: str,
    shown: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def text(_joined: Any, _arguments: Any) -> int:
        Terminal().print("茶 café ───")
        return 0

    monkeypatch.setattr("engramlog_server.api.cli.main._run", text)
    with (tmp_path / "out").open("wb") as file:
        monkeypatch.setattr(sys, "stdout", Output(file.fileno(), encoding))
        assert run(no_store, []) == 0
    line = b" ---" if encoding != "utf-8" else " ───".encode()
    assert (tmp_path / "out").read_bytes() == shown + line + b"\n"
    assert len(capsys.readouterr().err.splitlines()) == int(encoding != "utf-8")
