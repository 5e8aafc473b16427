"""Files of chats: a conversation a line, read as it comes, or one JSON document, read whole up to a size."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from api.choices import SHAPE_NAMES
from api.exchange.chat_shapes import LINES, SHAPES, shape_of
from events.errors import InputError, refused

MAX_DOCUMENT = 256 * 1024 * 1024
"""Largest JSON document, and longest line, in bytes: reading one takes several times its size of memory."""
SMALLER = "write a conversation a line, which has no limit (for a list: jq -c '.[]' FILE)"


@dataclass(slots=True)
class ChatFile:
    """A file whose shape is known."""

    shape: str
    lines: Iterator[bytes]
    """Its lines, for the shape `lines`."""
    conversations: Iterator[tuple[str, dict[str, Any]]]
    """Each conversation with the words for its place, for the other shapes."""
    total: int | None
    """How many conversations, where the file was read whole."""


def open_chats(lines: Iterator[bytes], shape: str = "auto", largest: int = MAX_DOCUMENT) -> ChatFile:
    """Recognise the shape of a file by its beginning, or hold it to the one named. Raises InputError before any write."""
    if shape not in SHAPE_NAMES:
        raise refused("shape", shape, ", ".join(SHAPE_NAMES))
    head = _beginning(lines)
    if shape == LINES:
        return ChatFile(LINES, chain(head, lines), iter(()), None)
    if not head or not head[-1].strip():
        raise refused("file", "nothing but empty lines", _allowed())
    first = _parsed(head[-1], largest)
    if isinstance(first, dict):
        found = _recognised(first, shape)
        everything = chain(head, lines)
        return ChatFile(found, everything, _by_line(everything, found, largest), None)
    values = _document(chain(head, lines), largest)
    if not values:
        raise refused("file", "an empty list", _allowed())
    found = _recognised(values[0], shape)
    if found == LINES:
        raise refused("file", "a list of turns", "turns one a line")
    listed = (_conversation(f"conversation {n}", value, found) for n, value in enumerate(values, 1))
    return ChatFile(found, iter(()), listed, len(values))


def _beginning(lines: Iterator[bytes]) -> list[bytes]:
    """The lines up to the first that is not empty, without a byte order mark."""
    head: list[bytes] = []
    for line in lines:
        head.append(line if head else line.removeprefix(BOM_UTF8))
        if head[-1].strip():
            break
    return head


def _parsed(line: bytes, largest: int) -> object:
    """The JSON of a line, or None where the line alone is none: a document over several lines."""
    _check_size(len(line), largest, "a line")
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _check_size(size: int, largest: int, what: str) -> None:
    if size > largest:
        raise refused(
            "file", f"{what} of more than {largest:,} bytes", f"at most {largest:,} bytes in one piece; {SMALLER}"
        )


def _document(lines: Iterator[bytes], largest: int) -> list[Any]:
    """The conversations of a file that is one JSON document."""
    pieces: list[bytes] = []
    size = 0
    for line in lines:
        size += len(line)
        _check_size(size, largest, "a document")
        pieces.append(line)
    try:
        document = orjson.loads(b"".join(pieces))
    except orjson.JSONDecodeError as error:
        beginning = b"".join(pieces[:2])[:60].decode("utf-8", "replace")
        raise refused("file", beginning, f"JSON, whole or a conversation a line ({error})") from None
    if isinstance(document, list) and shape_of(document) is None:
        return document
    return [document]


def _recognised(value: object, shape: str) -> str:
    found = shape_of(value)
    if found is None or shape not in ("auto", found):
        raise refused("file", _told(value), _allowed() if shape == "auto" else _fields(shape))
    return found


def _told(value: object) -> str:
    """What something is, in the words of an error: its fields, or its beginning."""
    if isinstance(value, dict):
        fields = ", ".join(list(value)[:8])
        return f"an object with {fields}"[:160] if value else "an object without fields"
    return f"a {type(value).__name__}: {str(value)[:60]}"


def _fields(shape: str) -> str:
    return "lines (turn_id, occurred_at, text)" if shape == LINES else f"{shape} ({SHAPES[shape].told_by})"


def _allowed() -> str:
    return "conversations of one of the shapes " + ", ".join(_fields(one) for one in (LINES, *SHAPES))


def _by_line(lines: Iterator[bytes], shape: str, largest: int) -> Iterator[tuple[str, dict[str, Any]]]:
    count = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        count += 1
        where = f"conversation {count} on line {number}"
        try:
            _check_size(len(line), largest, "a line")
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            got = line[:60].decode("utf-8", "replace")
            raise placed(refused("conversation", got, f"one JSON object ({error})"), where) from None
        except InputError as problem:
            raise placed(problem, where) from None
        yield _conversation(where, value, shape)


def _conversation(where: str, value: object, shape: str) -> tuple[str, dict[str, Any]]:
    """One conversation with its place; it is of the shape of those before it. A list alone is that of `messages`."""
    if shape_of(value) != shape:
        raise placed(refused("conversation", _told(value), f"{_fields(shape)}, as those before it"), where)
    return where, value if isinstance(value, dict) else {"messages": value}


def placed(problem: InputError, where: str) -> InputError:
    """The error with its place in front."""
    context = {key: value for key, value in problem.context.items() if key != "where" and value is not None}
    return InputError(f"{where}: {problem.message}", where=where, **context)
