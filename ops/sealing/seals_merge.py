"""What of a partition's seals counts where a file and a copy of the store tell of them: what is erased by either stays so.

Pure. Tables decide and salts only fill: an entry has a salt unless its owner was erased after it, or its words were.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engramlog_server.events.sealing.cipher import NO_SALT, SALT_BYTES
from engramlog_server.events.sealing.seals import erasure_of, is_tombstone
from engramlog_server.ops.sealing.seals_format import PartitionSeals


class CopySeals(NamedTuple):
    """What a copy has of its own; of a stripped one nothing."""

    lines: Mapping[bytes, bytes]
    readmitted: Mapping[bytes, bytes]
    wordless: Mapping[int, bytes]
    gone: frozenset[bytes]


class Merged(NamedTuple):
    """What the partition has afterwards."""

    lines: dict[bytes, bytes]
    readmitted: dict[bytes, bytes]
    wordless: dict[int, bytes]
    gone: frozenset[bytes]
    shut: dict[bytes, int]
    """Owner who was erased -> up to which seq nothing opens; -1: nothing does."""

    def is_shut(self, owner: bytes, seq: int) -> bool:
        """Whether an entry is of an owner who was erased after it."""
        upto = self.shut.get(owner, 0)
        return upto < 0 or seq <= upto


class _Standing(NamedTuple):
    """What one side tells of an owner."""

    line: bytes | None
    readmitted: int
    """Up to which seq nothing of it can be read; 0 where it never was readmitted."""
    lifted: str
    """The erasure that this readmission lifted."""


def merged(file: PartitionSeals, copy: CopySeals, head: int) -> Merged:
    """What counts of a partition whose log ends at `head`."""
    lines, readmitted, shut = dict[bytes, bytes](), dict[bytes, bytes](), dict[bytes, int]()
    for owner in {**file.lines, **copy.lines}:
        one = _of_both(_standing(owner, file.lines, file.readmitted), _standing(owner, copy.lines, copy.readmitted))
        assert one.line is not None
        lines[owner] = one.line
        if one.lifted:
            upto = min(one.readmitted, head)  # behind the copy's end there is nothing that a line could be of
            readmitted[owner] = b"%d %b" % (upto, one.lifted.encode())
            shut[owner] = upto
        if is_tombstone(one.line):
            shut[owner] = -1
    wordless = {seq: left for seq, left in {**copy.wordless, **file.wordless}.items() if 1 <= seq <= head}
    return Merged(lines, readmitted, wordless, copy.gone | frozenset(file.gone), shut)


def readmitted_past(file: PartitionSeals, copy: CopySeals) -> bytes | None:
    """An owner who is erased by the file and was readmitted by the copy since another erasure that came later: these seals are too
    old to tell that the one they know of was lifted, and would destroy the key of now. None where there is none."""
    for owner, line in file.lines.items():
        if is_tombstone(line) and not is_tombstone(copy.lines.get(owner, line)):
            theirs, ours = (_standing(owner, one.lines, one.readmitted) for one in (file, copy))
            if ours.lifted != erasure_of(line) and ours.readmitted > theirs.readmitted:
                return owner
    return None


def salt_in(table: bytes, seq: int) -> bytes:
    """The salt of an entry in a table of them; zero bytes where it has none."""
    return table[SALT_BYTES * seq : SALT_BYTES * (seq + 1)].ljust(SALT_BYTES, b"\0") or NO_SALT


def _standing(owner: bytes, lines: Mapping[bytes, bytes], readmitted: Mapping[bytes, bytes]) -> _Standing:
    seq, _, erasure = readmitted.get(owner, b"").partition(b" ")
    if not (seq.isdigit() and erasure):
        return _Standing(lines.get(owner), 0, "")
    return _Standing(lines.get(owner), int(seq), erasure.decode("utf-8", "replace"))


def _of_both(file: _Standing, copy: _Standing) -> _Standing:
    if copy.line is None or file.line is None:
        return file if copy.line is None else copy
    later = max(file, copy, key=lambda one: (one.readmitted, one is file))
    if is_tombstone(file.line) and is_tombstone(copy.line):
        return copy if copy.lifted == erasure_of(file.line) else file
    if is_tombstone(file.line):
        return (
            copy
            if copy.lifted == erasure_of(file.line)
            else file._replace(readmitted=later.readmitted, lifted=later.lifted)
        )
    if is_tombstone(copy.line):
        return (
            file
            if file.lifted == erasure_of(copy.line)
            else copy._replace(readmitted=later.readmitted, lifted=later.lifted)
        )
    return later
