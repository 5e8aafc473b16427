"""The lines of a file, or of a pipe.

Of a pipe the first line comes before the store is opened; of an export all of it, since whoever writes it holds the same store.

Files of chats: a conversation a line, read as it comes, or one JSON document or ZIP archive, read whole up to a size.
"""

from __future__ import annotations

import codecs
import re
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from gzip import GzipFile
from io import SEEK_END, BytesIO
from itertools import chain
from json import JSONDecoder
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

import orjson

from engramlog_server.api.choices import SHAPE_NAMES
from engramlog_server.api.exchange.chat_shapes import (
    LINES,
    SHAPES,
    Json,
    conversations_of,
    message_shape_of,
    odd,
    shape_of,
    shown,
)
from engramlog_server.events.errors import InputError, refused

BEGINNINGS: Final = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
CURES: Final = {"gzip": " (`gunzip -c FILE | engramlog ... -`)", "UTF-16": " (`iconv -f UTF-16 -t UTF-8 FILE`)"}
LOOKED_AT: Final = 4_096
"""Bytes of the first line that are looked at."""


def no_text(line: bytes) -> str | None:
    """What a file looks like whose first line cannot be text in UTF-8; None where it may be."""
    for beginning, kind in BEGINNINGS.items():
        if line.startswith(beginning) and (len(beginning) > 2 or kind != "UTF-16" or b"\0" in line):
            return kind
    head = line[:LOOKED_AT]
    if b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)  # of mostly ASCII in UTF-16, every other byte is none
    return "UTF-16" if min(even, odd) == 0 and max(even, odd) * 4 >= len(head) // 2 else "binary"


IN_MEMORY = 8 * 1024 * 1024
"""Bytes of lines that are kept in memory; more are kept in a file without a name, of this user alone."""
SPOOLED = 1024 * 1024 * 1024
"""Bytes of lines that are kept at all: what comes after them is read while the store is open."""
PIECE = 64 * 1024
Look = Callable[[Iterator[bytes], bool], None]
"""Looks at lines, and is told whether they are all that come."""


def standard_input(field: str) -> IO[bytes]:
    """Standard input in bytes. Raises InputError where the process has none."""
    if sys.stdin is None:
        raise refused(field, "-", "a standard input that is open")
    return sys.stdin.buffer


@contextmanager
def open_lines(
    file: str, longest: int = -1, whole: bool = False, look: Look | None = None, archive: bool = False
) -> Iterator[Iterator[bytes]]:
    """The lines of a file, or of standard input for `-`. Raises InputError where it cannot be read, also half-way.

    A line longer than `longest` bytes comes in pieces, so that one line never fills the memory. A byte order mark is passed over.
    Of what is no file on a disk the first line is waited for: a store is opened after it. `whole`: all of it is, as of an
    export, which may hold the same store until it is written. `look`: at all lines before the first is yielded; of a pipe with
    `whole`, at those that are kept. What it raises, this raises. `archive`: ZIP, gzip and UTF-16 are not refused.
    """
    allowed = ("zip", "gzip", "UTF-16") if archive else ()
    with ExitStack() as closing:
        try:
            stream = standard_input("file") if file == "-" else closing.enter_context(Path(file).open("rb"))
            on_disk = file != "-" and Path(file).is_file()
            early = None if on_disk else (spooled if whole else first_line)(file, stream, longest)
            streams = [stream] if early is None else [closing.enter_context(early), stream]
        except (OSError, ValueError) as error:
            raise _unreadable(file, error) from None
        if look is not None and (on_disk or (early is not None and whole)):
            size = streams[0].seek(0, SEEK_END)
            streams[0].seek(0)
            look(_lines(file, streams[:1], longest, allowed), on_disk or size < SPOOLED)
            streams[0].seek(0)
        yield _lines(file, streams, longest, allowed)


@contextmanager
def again(file: str) -> Iterator[Iterator[bytes]]:
    """The lines of a file for a look before it is read; none of standard input and of pipes, which are read once."""
    if file == "-" or not Path(file).is_file():
        yield iter(())
        return
    with open_lines(file) as lines:
        yield lines


def _lines(file: str, streams: list[IO[bytes]], longest: int, allowed: tuple[str, ...]) -> Iterator[bytes]:
    try:
        lines = chain.from_iterable(iter(partial(one.readline, longest), b"") for one in streams)
        first = next(lines, b"").removeprefix(codecs.BOM_UTF8)
        if (kind := no_text(first)) is not None and kind not in allowed:
            raise InputError(
                f"file: got {file!r}: not UTF-8 text, looks like {kind}; allowed: JSON in UTF-8{CURES.get(kind, '')}",
                field="file",
                got=kind,
            )
        yield first
        yield from lines
    except OSError as error:
        raise _unreadable(file, error) from None


def _unreadable(file: str, error: OSError | ValueError) -> InputError:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return InputError(f"file: got {file!r}; allowed: a file that can be read, or - ({why})", field="file", got=file)


def first_line(file: str, stream: IO[bytes], longest: int = -1) -> IO[bytes]:
    """The first line alone; the rest is still in the pipe. Raises InputError where nothing comes, and OSError."""
    if not (line := stream.readline(longest)):
        raise _nothing(file)
    return BytesIO(line)


def _nothing(file: str) -> InputError:
    return refused("file", file, "at least one line; it is empty, so the program that writes it may have failed")


@contextmanager
def spooled(file: str, stream: IO[bytes], longest: int = -1) -> Iterator[IO[bytes]]:
    """All that comes of a pipe, up to the line's end after `SPOOLED` bytes; the rest is still in the pipe.

    A line longer than `longest` bytes may be cut there. Raises InputError where nothing comes, and OSError.
    """
    with SpooledTemporaryFile(IN_MEMORY) as kept:
        while kept.tell() < SPOOLED and (piece := stream.read(PIECE)):
            kept.write(piece)
        if not kept.tell():
            raise _nothing(file)
        kept.write(stream.readline(longest))
        kept.seek(0)
        yield kept


def count_lines(file: str) -> int | None:
    """How many lines a file has; unknown for standard input and pipes."""
    if file == "-" or not Path(file).is_file():
        return None
    with Path(file).open("rb") as stream:
        return sum(1 for _ in stream)


MAX_DOCUMENT = 256 * 1024 * 1024
"""Largest JSON document or unpacked archive, and longest line, in bytes: reading one takes several times its size of memory."""
MAX_MEMBERS = 10_000
"""Files in a ZIP archive."""
MAX_RATIO = 200
"""How many times its packed size a file of an archive may have, above `FREE_SIZE` bytes."""
FREE_SIZE = 1024 * 1024
PEEKED = 1_000
"""Lines that are read until one shows the shape of a file."""
SMALLER = "write a conversation a line, which has no limit (for a list: jq -c '.[]' FILE)"
ZIP = b"PK\x03\x04"
WRAPPERS = ("conversations", "data", "chats", "items", "results", "threads", "messages", "chat-sessions")
"""Fields of an object around the conversations of an export."""
_HALF = "u[dD][89abAB][0-9a-fA-F]{2}", "u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPES = re.compile(rf"\\(?:{_HALF[0]}\\{_HALF[1]}|(?P<half>{_HALF[0]}|{_HALF[1]})|.)", re.DOTALL)
"""Escapes of a JSON text, from left to right: surrogate pairs, lone surrogates, and all others."""
_TOLERANT: Final = JSONDecoder(strict=False)
"""Also reads NaN, Infinity and control characters in texts."""
_BETWEEN = re.compile("[\\s,;\\[\\]}\x1e\ufeff]*")
"""Characters between the values of a damaged JSON text."""
_OPENING = re.compile(r'\{\s*"[^"\\]*"\s*:')
_LIST = re.compile(r"\[\s*(?=\{)")
MOST_DAMAGED = 100
"""Damaged stretches of one JSON text after which the rest is not read."""


class Found(NamedTuple):
    """One conversation of a file, or why it is not read."""

    where: str
    shape: str | None
    conversation: Json
    problem: InputError | None = None


class ChatFile:
    """A file whose shape is known."""

    def __init__(self, reader: _Reader, shape: str) -> None:
        self._reader = reader
        self.shape = shape
        """That of its first conversation."""
        self.lines: Iterator[bytes] = iter(())
        """Its lines, for the shape `lines`."""
        self.conversations: Iterator[Found] = iter(())
        """Its conversations in order, for the other shapes."""
        self.total: int | None = None
        """How many conversations, if the file was read whole."""

    @property
    def replaced(self) -> int:
        """Characters replaced so far: surrogates without their other half, bytes that are no UTF-8."""
        return self._reader.replaced


def open_chats(lines: Iterator[bytes], shape: str = "auto", largest: int = MAX_DOCUMENT) -> ChatFile:
    """Recognise the shape of a file by its beginning, or hold it to the one named. Raises InputError before any write."""
    if shape not in SHAPE_NAMES:
        raise refused("shape", shape, ", ".join(SHAPE_NAMES))
    return _Reader(shape, largest).open(iter(lines))


class _Reader:
    """Reads one file."""

    def __init__(self, shape: str, largest: int) -> None:
        self._shape, self._largest = shape, largest
        self.replaced = 0

    def open(self, lines: Iterator[bytes]) -> ChatFile:
        head = _beginning(lines)
        if self._shape == LINES:
            file = ChatFile(self, LINES)
            file.lines = chain(head, lines)
            return file
        if not head or not head[-1].strip():
            raise refused("file", "nothing but empty lines", _allowed())
        if head[0].startswith(ZIP):
            return self._whole(self._of_archive(self._joined(chain(head, lines), "an archive")))
        if (kind := no_text(head[0])) in ("gzip", "UTF-16"):
            content = self._decoded(kind, self._joined(chain(head, lines), "a document"))
            return self.open(iter(content.splitlines(keepends=True)))
        first = self._parsed_line(head[-1])
        if isinstance(first, dict):
            return self._by_line(head, lines)
        pieces = list(self._bounded(chain(head, lines), "a document"))
        try:
            values = _values(self._json(b"".join(pieces)))
        except ValueError as error:
            if first is not None and len(pieces) > 1:  # a list on every line
                return self._by_line(pieces[: len(head)], iter(pieces[len(head) :]))
            values = self._salvaged(b"".join(pieces))
            if not any(shape_of(value) or message_shape_of(value) for value in values):
                beginning = b"".join(pieces[:2])[:60].decode("utf-8", "replace")
                raise refused("file", beginning, f"JSON, whole or a conversation a line ({error})") from None
        if not values:
            raise refused("file", "an empty list", _allowed())
        return self._whole([("", value) for value in values])

    def _whole(self, values: list[tuple[str, Any]]) -> ChatFile:
        """Of all values, each with the file of an archive that it is in."""
        kinds = [shape_of(value) or message_shape_of(value) for _, value in values]
        shape = self._recognised(kinds, values[0][1] if values else {})
        if shape == LINES:
            raise refused("file", "a list of turns", "turns one a line")
        alone = [(kind, value) for kind, (_, value) in zip(kinds, values, strict=True) if kind and _alone(value)]
        found: list[tuple[str, str | None, Any]] = []
        grouped = False
        for kind, (name, value) in zip(kinds, values, strict=True):
            if kind is None or not _alone(value):
                found.append((name, kind, value))
            elif not grouped:
                grouped = True
                found.extend((name, each, conversation) for each, conversation in conversations_of(alone))
        file = ChatFile(self, shape)
        file.conversations = (
            self._found(f"{name}{', ' if name else ''}conversation {n}", value, kind)
            for n, (name, kind, value) in enumerate(found, 1)
        )
        file.total = len(found)
        return file

    def _by_line(self, head: list[bytes], lines: Iterator[bytes]) -> ChatFile:
        """A file whose first line is JSON: the first line that is recognised shows the shape."""
        peeked = list(head)
        first = self._parsed_line(head[-1])
        value, line = first, head[-1]
        size = len(line)
        while (kind := self._kind_of_line(value)) is None and len(peeked) < PEEKED and size <= self._largest:
            line = next(lines, b"")
            if not line:
                break
            peeked.append(line)
            size += len(line)
            value = self._parsed_line(line)
        shape = self._recognised([kind], first)
        everything = chain(peeked, lines)
        file = ChatFile(self, shape)
        if shape == LINES:
            file.lines = everything
        elif any(map(_alone, _values(value))):
            return self._whole(
                [
                    ("", value)
                    for line in self._bounded(everything, "a document")
                    if line.strip()
                    for value in self._of(line)
                ]
            )
        else:
            file.conversations = self._each_line(everything)
        return file

    def _kind_of_line(self, value: object) -> str | None:
        kinds = (shape_of(each) or message_shape_of(each) for each in _values(value))
        return next((kind for kind in kinds if kind and self._shape in ("auto", kind)), None)

    def _of(self, line: bytes) -> list[Any]:
        """The values of a line; of one that is no JSON what can be read."""
        try:
            return _values(self._json(line))
        except ValueError:
            return self._salvaged(line)

    def _each_line(self, lines: Iterator[bytes]) -> Iterator[Found]:
        count = 0
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                self._check_size(len(line), "a line")
            except InputError as problem:
                raise placed(problem, f"conversation {count + 1} on line {number}") from None
            values = self._of(line)
            if messages := [value for value in values if message_shape_of(value) == "openai"]:
                values = [messages, *(value for value in values if message_shape_of(value) != "openai")]
            for value in values:
                count += 1
                yield self._found(f"conversation {count} on line {number}", value, shape_of(value))

    def _found(self, where: str, value: object, kind: str | None) -> Found:
        """A conversation, or why it is none. A list alone is that of `messages`."""
        if kind is None or kind == LINES:
            return Found(where, None, {}, odd("unknown_shape", "conversation", value, _allowed()))
        conversation = value if isinstance(value, dict) else {"messages": value}
        if self._shape not in ("auto", kind):
            problem = odd("other_shape", "conversation", value, _fields(self._shape))
            return Found(where, None, conversation, problem)
        return Found(where, kind, conversation)

    def _recognised(self, kinds: list[str | None], first: object) -> str:
        """The first shape that is wanted. Raises InputError if there is none."""
        shape = next((kind for kind in kinds if kind and self._shape in ("auto", kind)), None)
        if shape is None:
            raise refused("file", _description(first), _allowed() if self._shape == "auto" else _fields(self._shape))
        return shape

    # --- bytes ---

    def _parsed_line(self, line: bytes) -> Any:
        """The JSON of a line, or None if the line alone is none: a document over several lines."""
        self._check_size(len(line), "a line")
        before = self.replaced
        try:
            return self._json(line)
        except ValueError:
            return None
        finally:
            self.replaced = before  # the line is read again

    def _json(self, data: bytes) -> Any:
        """The value of a JSON text, with U+FFFD for what is no character. Raises ValueError."""
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            text, replaced = _text(data)
            try:
                value = orjson.loads(text)
            except orjson.JSONDecodeError:
                try:
                    value = _TOLERANT.decode(text)
                except (ValueError, RecursionError):
                    raise error from None
        self.replaced += replaced
        return value

    def _salvaged(self, data: bytes) -> list[Any]:
        """The objects of a damaged JSON text, and the beginning of each stretch that cannot be read.

        After a damaged stretch, reading goes on at the next object that opens with the same field as the object before. Of a text
        that is nested too deep only the beginning is returned.
        """
        text, replaced = _text(data)
        self.replaced += replaced
        values: list[Any] = []
        opening, damaged = None, 0
        at = _after(text, 0)
        while at < len(text):
            opening = _OPENING.match(text, at) or opening
            try:
                value, end = _TOLERANT.raw_decode(text, at)
            except RecursionError:
                return [text[:60]]
            except ValueError:
                value, end = None, at + 1
            if isinstance(value, dict):
                values += _values(value)
                at = _after(text, end)
                continue
            damaged += 1
            following = -1 if opening is None or damaged > MOST_DAMAGED else text.find(opening[0], end)
            if following < 0 and not values and damaged == 1 and (inner := _LIST.search(text, at)):
                following = inner.end()  # the list of an object that is cut off
            else:
                values.append(text[at : at + 60])
            at = len(text) if following < 0 else following
        return values

    def _decoded(self, kind: str, data: bytes) -> bytes:
        """The UTF-8 text of a document that is compressed by gzip or written in UTF-16."""
        if kind == "UTF-16":
            mark = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            return data.decode(
                "utf-16" if mark else "utf-16-be" if data[:1] == b"\0" else "utf-16-le", "replace"
            ).encode()
        limit = min(self._largest, max(FREE_SIZE, len(data) * MAX_RATIO))
        try:
            with GzipFile(fileobj=BytesIO(data)) as stream:
                content = stream.read(limit + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise refused("file", "a gzip file that cannot be read", f"a whole gzip file ({error})") from None
        if len(content) > limit:
            allowed = f"at most {self._largest:,} bytes unpacked, and {MAX_RATIO} times the packed size"
            raise refused("file", f"a gzip file of more than {limit:,} bytes unpacked", allowed)
        if no_text(content) == "gzip":
            raise refused("file", "a gzip file in a gzip file", "one that is compressed once")
        return content

    def _check_size(self, size: int, what: str) -> None:
        if size > self._largest:
            allowed = f"at most {self._largest:,} bytes in one piece; {SMALLER}"
            raise refused("file", f"{what} of more than {self._largest:,} bytes", allowed)

    def _bounded(self, lines: Iterable[bytes], what: str) -> Iterator[bytes]:
        size = 0
        for line in lines:
            size += len(line)
            self._check_size(size, what)
            yield line

    def _joined(self, lines: Iterable[bytes], what: str) -> bytes:
        return b"".join(self._bounded(lines, what))

    def _of_archive(self, data: bytes) -> list[tuple[str, Any]]:
        """The values of all JSON files of an archive, in the order of their names. Nothing is written to a disk."""
        if data.count(b"PK\x01\x02") > MAX_MEMBERS:
            raise refused("file", "an archive of too many files", f"at most {MAX_MEMBERS:,} files")
        values: list[tuple[str, Any]] = []
        size = 0
        try:
            with ZipFile(BytesIO(data)) as archive:
                for member in sorted(archive.infolist(), key=lambda each: each.filename):
                    if member.is_dir() or not member.filename.lower().endswith((".json", ".jsonl", ".ndjson")):
                        continue
                    content = self._member(archive, member, self._largest - size)
                    size += len(content)
                    values.extend((shown_name(member.filename), value) for value in self._of_member(content))
        except (BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
            raise refused("file", "an archive that cannot be read", f"a ZIP without a password ({error})") from None
        return values

    def _member(self, archive: ZipFile, member: ZipInfo, room: int) -> bytes:
        limit = min(room, max(FREE_SIZE, member.compress_size * MAX_RATIO))
        with archive.open(member) as stream:
            content = stream.read(limit + 1)
        if len(content) > limit:
            allowed = f"at most {self._largest:,} bytes unpacked, and {MAX_RATIO} times the packed size of each file"
            raise refused(
                "file", f"an archive with {shown_name(member.filename)} of more than {limit:,} bytes", allowed
            )
        return content

    def _of_member(self, content: bytes) -> list[Any]:
        """The values of one file; a file without any conversation is one value that is none."""
        if (kind := no_text(content)) in ("gzip", "UTF-16"):
            content = self._decoded(kind, content)
        content = content.removeprefix(BOM_UTF8)
        try:
            values = _values(self._json(content))
        except ValueError:
            pieces = [line for line in content.splitlines() if line.strip()]
            by_line = bool(pieces) and self._parsed_line(pieces[0]) is not None
            values = [value for piece in (pieces if by_line else [content]) for value in self._of(piece)]
        if any(shape_of(value) or message_shape_of(value) for value in values):
            return values
        return [{"file without conversations": len(content)}]


def shown_name(name: str) -> str:
    """The name of a file in an archive, for a message."""
    return "".join(each if each.isprintable() else "?" for each in name)[:80]


def _alone(value: object) -> bool:
    """Whether a value is one message of a conversation, not a conversation."""
    return message_shape_of(value) is not None


def _values(document: Any, depth: int = 3) -> list[Any]:
    """The conversations of a document: itself, its items, or those of the object around them."""
    if shape_of(document) is not None:
        return [document]
    if isinstance(document, list):
        return [inner for value in document for inner in _unwrapped(value)]
    if isinstance(document, dict) and depth and message_shape_of(document) is None:
        for name in WRAPPERS:
            inner = document.get(name)
            if isinstance(inner, list | dict):
                values = _values(inner, depth - 1)
                if any(shape_of(value) or message_shape_of(value) for value in values):
                    return values
        if any(isinstance(value, dict) and shape_of(value) for value in document.values()):
            return list(document.values())
    return [document]


def _unwrapped(value: Any) -> list[Any]:
    """The conversations in the fields of an item of a list, if it is none itself."""
    if not isinstance(value, dict) or shape_of(value) is not None or message_shape_of(value) is not None:
        return [value]
    return [inner for inner in value.values() if isinstance(inner, dict) and shape_of(inner)] or [value]


def _after(text: str, at: int) -> int:
    """The place of the next value of a damaged JSON text."""
    between = _BETWEEN.match(text, at)
    return between.end() if between else at


def _text(data: bytes) -> tuple[str, int]:
    """A JSON text with U+FFFD for each byte that is no UTF-8 and each half of a character, and how many there were."""
    text = data.decode("utf-8", "replace")
    bad_bytes = text.count("\ufffd") - data.count("\ufffd".encode())
    text, halves = _without_surrogates(text)
    return text, bad_bytes + halves


def _without_surrogates(text: str) -> tuple[str, int]:
    """A JSON text with U+FFFD for each escape of half a character without its other half, and how many there were."""
    replaced = 0

    def read(escape: re.Match[str]) -> str:
        nonlocal replaced
        if escape["half"] is None:
            return escape[0]
        replaced += 1
        return "\ufffd"

    return _ESCAPES.sub(read, text), replaced


def _beginning(lines: Iterator[bytes]) -> list[bytes]:
    """The lines up to the first that is not empty, without a byte order mark."""
    head: list[bytes] = []
    for line in lines:
        head.append(line if head else line.removeprefix(BOM_UTF8))
        if head[-1].strip():
            break
    return head


def _description(value: object) -> str:
    """What something is, in the words of an error: its fields, or its beginning."""
    if isinstance(value, dict):
        return str(shown(value))
    return f"a {type(value).__name__}: {str(shown(value))[:60]}"


def _fields(shape: str) -> str:
    return "lines (turn_id, occurred_at, text)" if shape == LINES else f"{shape} ({SHAPES[shape].comes_from})"


def _allowed() -> str:
    return "conversations of one of the shapes " + ", ".join(_fields(name) for name in (LINES, *SHAPES))


def placed(problem: InputError, where: str) -> InputError:
    """The error with its place in front."""
    context = {key: value for key, value in problem.context.items() if key != "where" and value is not None}
    return InputError(f"{where}: {problem.message}", where=where, **context)
