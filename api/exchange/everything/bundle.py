"""Everything that is held of an owner at one moment, line by line: what an import reads again, and what proves it.

A head, the memories as any export has them, what was said and asked in the order of the log, the change log, and an end that counts
the lines and sums them up: so that one sees whether a file is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from api.exchange.record_fields import Data
from api.exchange.record_shapes import FORMAT, PART
from events.text.invisible import shown_json

HEAD, MEMORY, REJECTION, CHANGE, END = "everything", "memory", "rejection", "change", "end"


class Everything(NamedTuple):
    """What an export of everything holds beside the memories; read as it is taken, once."""

    head: Data
    """Of which owner and moment it is."""
    said: Callable[[], Iterator[Data]]
    """What was said, found by tools, asked and put into prompts, in the order of the log: lines of `said_lines`."""
    changes: Callable[[], Iterator[Data]]
    """The change log, the oldest first, as `history` tells it."""


def part_of(line: Mapping[str, Any]) -> str:
    """As what the end counts a line."""
    return str(line.get(PART) or (MEMORY if "memory_id" in line else REJECTION))


def bundle_lines(told: Everything, memories: Iterable[Data]) -> Iterator[bytes]:
    """Every line with its end, in UTF-8; nothing in it is obeyed by a terminal."""
    counts, summed = Counter[str](), sha256()

    def written(line: Data) -> bytes:
        counts[part_of(line)] += 1
        raw = shown_json(orjson.dumps(line).decode() + "\n").encode()
        summed.update(raw)
        return raw

    yield written({"engramlog": FORMAT, PART: HEAD, **told.head})
    for memory in memories:
        yield written(memory)
    for line in told.said():
        yield written(line)
    for change in told.changes():
        yield written({"engramlog": FORMAT, PART: CHANGE, **change})
    end = {"engramlog": FORMAT, PART: END, "counts": dict(counts), "sha256": summed.hexdigest()}
    yield orjson.dumps(end) + b"\n"
