"""How much a JSON text holds, counted on its bytes before any parser makes objects of it.

A value costs a parser up to a hundred times its bytes (`[],[],[]`), so bytes alone bound no memory. What is counted here is
never less than what a parser makes up to the first thing that no JSON has, and there it stops.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from events.errors import InputError, RequestTooLarge

PIECE: Final = 256 * 1024
"""Bytes looked at together: a millisecond, so that other threads get their turn."""
_DELETED: Final = bytes(set(range(256)) - set(b"[]{},"))
_STEPS: Final = np.zeros(256, np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
_STEPS.setflags(write=False)


class Most(NamedTuple):
    """What one JSON text may hold."""

    values: int
    """Items of arrays and members of objects, of all of them together; an empty one counts as one."""
    depth: int
    """Arrays and objects within each other."""


def check_structure(text: bytes | memoryview, most: Most, what: str = "body") -> None:
    """Raise RequestTooLarge for too many values, InputError for too deep a text. Of what is no JSON nothing else is said."""
    _Counter(most, what).count(memoryview(text))


def check_lines(text: bytes, most: Most) -> None:
    """The same for JSON Lines: values of all lines together, the depth of each. A string ends with its line at the latest."""
    counter = _Counter(most, "body")
    counter.add(text.count(b"\n"))
    if _at_most(text) <= most.depth:
        return
    begin = 0
    while begin < len(text):
        end = text.find(b"\n", begin) + 1 or len(text)
        counter.next_line()
        counter.count(memoryview(text)[begin:end])
        begin = end


def _at_most(text: bytes) -> int:
    """No fewer than the values of a text: commas and brackets, also those within strings."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


class _Counter:
    """Counts on from piece to piece."""

    def __init__(self, most: Most, what: str) -> None:
        self._most = most
        self._what = what
        self._values = 0
        self._depth = 0
        self._inside = False
        self._escaped = False

    def next_line(self) -> None:
        """What comes is a text of its own."""
        self._depth, self._inside, self._escaped = 0, False, False

    def add(self, values: int) -> None:
        """So many more values, or raise."""
        self._values += values
        if self._values > self._most.values:
            raise RequestTooLarge(
                f"{self._what}: got more than {self._most.values:,} JSON values; at most {self._most.values:,} are"
                " allowed: send it in pieces",
                field=self._what,
                got=f"more than {self._most.values} values",
                allowed=self._most.values,
            )

    def count(self, text: memoryview) -> None:
        """Count a text, or raise."""
        for begin in range(0, len(text), PIECE):
            structure = self._outside_strings(bytes(text[begin : begin + PIECE])).translate(None, _DELETED)
            self.add(_at_most(structure))
            self._descend(structure)

    def _outside_strings(self, piece: bytes) -> bytes:
        """The piece without its strings. Escapes are paired from the left, as JSON reads them."""
        if self._escaped:
            piece = b"_" + piece[1:]
        self._escaped = False
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"__")
            self._escaped = piece.endswith(b"\\")
            piece = piece.replace(b'\\"', b"__")
        parts = piece.split(b'"')
        outside = b" ".join(parts[1::2] if self._inside else parts[::2])
        self._inside ^= len(parts) % 2 == 0
        return outside

    def _descend(self, structure: bytes) -> None:
        if not structure:
            return
        depths = np.cumsum(_STEPS[np.frombuffer(structure, np.uint8)], dtype=np.int64)
        deepest = self._depth + int(depths.max())
        self._depth += int(depths[-1])
        if deepest > self._most.depth:
            raise InputError(
                f"{self._what}: got arrays and objects more than {self._most.depth} deep; allowed: at most"
                f" {self._most.depth} within each other",
                field=self._what,
                got=f"more than {self._most.depth} levels",
                allowed=f"at most {self._most.depth} levels",
            )
