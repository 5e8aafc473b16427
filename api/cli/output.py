"""Standard output of a command, and what may be written to a terminal.

What standard output cannot take is reported in one line. What its encoding lacks is spelled out. Controls in stored texts are made
visible: an escape sequence could recolour, erase or answer for the reader, and bidirectional marks turn text around. Every answer
passes `visible_in` before it is laid out, and every console is a `Terminal`, which lets no control through.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from typing_extensions import Buffer

from engramlog_server.events.text import shown_json, spelled, with_hidden_as

DRAWN: Final = {"─": "-", "━": "-", "│": "|", "┃": "|", "…": "~", "·": ".", "→": ">"}
"""How lines of tables look where only ASCII can be printed; other drawn characters become `+` or `#`."""
SPELLED_OUT: Final = "engramlog.spelled-out"
_STREAMS: Final = ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY))
"""What takes the place of a closed stream. Standard output cannot be written to, so that the first write reports it."""


class OutputLost(Exception):
    """Standard output cannot be written to. No OSError, because libraries end the process quietly on some of these."""

    def __init__(self, number: int | None, reason: str) -> None:
        super().__init__(reason)
        self.left = number == errno.EPIPE
        """The reader has left: it has what it wanted."""


class _Checked(io.FileIO):
    """A file whose failures to write are `OutputLost`."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror or str(error)
            raise OutputLost(error.errno, reason) from None


class _Lossy(io.FileIO):
    """A file that loses what cannot be written: what a command says beside its answer changes nothing of it."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


class Output(io.TextIOWrapper):
    """Text to a file descriptor, and whether its encoding lacked a character of it."""

    lacking = False

    def __init__(self, descriptor: int, encoding: str) -> None:
        file = _Checked(descriptor, "wb", closefd=False)
        super().__init__(
            io.BufferedWriter(file), encoding=encoding, errors=SPELLED_OUT, newline="\n", line_buffering=file.isatty()
        )

    def drop(self) -> None:
        """Leave what is still buffered unwritten: the end of the process would try again."""
        with suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)


def _spelled_out(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_shown(char) for char in lacking), error.end


def _shown(char: str) -> str:
    if (drawn := DRAWN.get(char)) is not None:
        return drawn
    if "\u2500" <= char <= "\u259f":
        return "+" if char < "\u2580" else "#"
    if isinstance(sys.stdout, Output):
        sys.stdout.lacking = True
    return char.encode("ascii", "backslashreplace").decode()


codecs.register_error(SPELLED_OUT, _spelled_out)


def take_over() -> None:
    """Make this process's standard output an `Output`. Descriptors that are closed are taken, so that no file gets their number."""
    for number, flags in _STREAMS:
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stdout is None or sys.stdout is sys.__stdout__:
        sys.stdout = Output(1, getattr(sys.stdout, "encoding", None) or "utf-8")
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        beside = io.BufferedWriter(_Lossy(2, "wb", closefd=False))
        sys.stderr = io.TextIOWrapper(beside, encoding=encoding, errors="backslashreplace", line_buffering=True)


def visible(text: str) -> str:
    """The text with each control and each character that shows nothing spelled out: `\\x1b`, `\\u202e`. Line breaks stay."""
    return with_hidden_as(text, spelled)


def visible_in(answer: Any) -> Any:
    """An answer with every text in it made visible, the names of its fields too."""
    if isinstance(answer, str):
        return visible(answer)
    if isinstance(answer, dict):
        return {visible_in(name): visible_in(value) for name, value in answer.items()}
    if isinstance(answer, list | tuple):
        return [visible_in(one) for one in answer]
    return answer


def exact_json(answer: Any) -> str:
    """The answer as JSON that reads back exactly, with what a terminal would obey written as `\\u`. Chinese stays readable."""
    return shown_json(json.dumps(answer, ensure_ascii=False, indent=2, default=str))


def exact_line(answer: Any) -> str:
    """The same in one line."""
    return shown_json(json.dumps(answer, ensure_ascii=False, default=str))


class Terminal(Console):
    """A console whose texts hold no control characters, whatever was handed to it; what Rich itself writes is none of them."""

    @property
    def encoding(self) -> str:
        """The encoding of the stream that is written to now: tables are drawn in ASCII if it has nothing else."""
        return (getattr(self.file, "encoding", None) or "utf-8").lower()

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed, each made visible."""
        for segment in super().render(renderable, options):
            safe = segment.text if segment.control else visible(segment.text)
            yield segment if safe == segment.text else Segment(safe, segment.style)
