"""What an audit found, what it looked through, what it could not reach: places and counts, never a word of what was found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

import msgspec

from ops.erasing.needles import Hits, Needles

CLEAN, FOUND, UNPROVEN = 0, 1, 3
"""Exit codes."""
MOST_TOLD = 1_000
"""Findings, and what was not reached, that are told one by one; the others are counted."""
WHAT = {
    "word": "a piece of the owner's words",
    "secret": "the owner's secret",
    "line": "the owner's wrapped secret, as it stood",
    "salt": "a salt of the owner's events",
    "derived": "what is made of the owner's secret",
    "place": "a place of the owner's own",
    "no_tombstone": "a line of the owner's key that is no tombstone",
    "salt_stands": "a salt of the owner's that is not zero",
    "opens": "what opens under the owner's secret",
    "open_entry": "an entry of the owner's that lies open",
    "rejection": "a kept rejection of the owner",
    "vector": "the name of a vector of an erased text",
    "says": "what opens under the owner's key and has a piece of the erased words",
    "entry_opens": "an entry of the log that was erased, and opens",
    "entry_says": "another entry of the owner's that has a piece of the erased words",
    "left_says": "what is left of an erased entry, and has words still",
}
"""What may be found, by its name."""
_OURS = re.compile(r"\{e\d+\}:|engramlog[:-]|rq:")
_SHOWN = 200


class Residue(msgspec.Struct, frozen=True):
    """Something of the owner's that is still there."""

    where: str
    """`redis`, `queue`, or a file: of what is packed in it with the names on the way, behind ` > `."""
    place: str
    """The key in that Redis; "" for a file. A name that tells words is replaced by a hash of it."""
    what: str
    """A name of `WHAT`."""
    count: int


class LookedThrough(msgspec.Struct, frozen=True):
    """What was looked through."""

    where: str
    items: int
    """Keys of a Redis, or files."""
    bytes: int
    """Unpacked ones too."""


class Unreached(msgspec.Struct, frozen=True):
    """What was not looked through, and why; what to do about it."""

    where: str
    why: str


class Audit(msgspec.Struct, frozen=True):
    """How an audit ended. JSON-ready by `msgspec.to_builtins`."""

    exit_code: int
    """0: nothing was found, and all was reached. 1: something is still there. 3: nothing was found, but not all was reached."""
    erasure_id: str
    owner: str
    needles: int
    events: int
    """Of the owner, before the erasure; of an erasure of words: those that lost them."""
    findings: list[Residue]
    more_findings: int
    """That are not told one by one."""
    unreached: list[Unreached]
    more_unreached: int
    looked: list[LookedThrough]
    seconds: float
    what: Literal["owner", "words"] = "owner"
    """What was erased: the owner, or words of some of its memories."""
    untold: int = 0
    """Texts of such words of which nothing could be looked for: they are too short, or what stays has the same."""

    @property
    def lines(self) -> list[str]:
        """The same for people, a line each."""
        told = [f"found in {_at(one)}: {WHAT[one.what]} ({one.count:,} times)" for one in self.findings]
        told += [f"and {self.more_findings:,} findings more"] if self.more_findings else []
        told += [f"not reached: {one.where}: {one.why}" for one in self.unreached]
        told += [f"and {self.more_unreached:,} places more that were not reached"] if self.more_unreached else []
        told += [f"not looked for by its words: {untold_told(self.untold)}"] if self.untold else []
        told += [f"looked through: {one.where}: {one.items:,} items, {one.bytes:,} bytes" for one in self.looked]
        return [*told, self.verdict]

    @property
    def verdict(self) -> str:
        """One sentence."""
        what = f"{self.needles:,} needles, {self.seconds:.1f} s"
        whose = f"owner {self.owner!r}" if self.what == "owner" else f"the erased words of owner {self.owner!r}"
        if self.exit_code == FOUND:
            return f"residue of {whose} was found ({what})"
        if self.exit_code == UNPROVEN:
            return f"nothing of {whose} was found, but not everything could be looked through ({what})"
        return f"clean: nothing of {whose} was found ({what})"


def untold_told(count: int) -> str:
    """That some texts could not be looked for by their words."""
    many = "1 text that is" if count == 1 else f"{count:,} texts that are"
    return f"{many} too short, or in what stays too; the entries, salts and vectors were looked for all the same"


class AuditReport:
    """Takes what is found, place by place."""

    def __init__(self, needles: Needles) -> None:
        self._needles = needles
        self._found = Counter[tuple[str, str, str]]()
        self._unreached = dict[tuple[str, str], None]()
        self._looked = dict[str, list[int]]()

    def found(self, where: str, place: str, what: str, count: int = 1) -> None:
        """Something is there. `what`: a name of `WHAT`."""
        if count:
            self._found[where, place, what] += count

    def hits(self, where: str, place: str, hits: Hits) -> None:
        """Needles were found."""
        for kind, count in hits.items():
            self.found(where, place, kind, count)

    def unreached(self, where: str, why: str) -> None:
        """Something was not looked through."""
        self._unreached[where, why] = None

    def looked(self, where: str, items: int, size: int) -> None:
        """So much was looked through; added to what was before."""
        told = self._looked.setdefault(where, [0, 0])
        told[0] += items
        told[1] += size

    def name_of(self, key: bytes) -> str:
        """A key as it is told: keys of ours by their names, others by a hash, for anybody may have written words into them."""
        text = key.decode("utf-8", "backslashreplace")
        if _OURS.match(text) and len(text) <= _SHOWN and not self._needles.in_value(key):
            return text
        return f"a key whose name is not told (SHA-256 {sha256(key).hexdigest()[:16]})"

    def path_of(self, name: str) -> str:
        """A file's name as it is told: by a hash where it tells words."""
        raw = name.encode("utf-8", "surrogateescape")
        if self._needles.in_value(raw):
            return f"a file whose name is not told (SHA-256 {sha256(raw).hexdigest()[:16]})"
        return name.encode("utf-8", "backslashreplace").decode()

    @property
    def findings(self) -> list[Residue]:
        """All that was found."""
        return [Residue(*place, count) for place, count in self._found.items()]

    @property
    def not_reached(self) -> list[Unreached]:
        """All that was not reached."""
        return [Unreached(*one) for one in self._unreached]

    @property
    def looked_through(self) -> list[LookedThrough]:
        """All that was looked through."""
        return [LookedThrough(where, items, size) for where, (items, size) in self._looked.items()]


def exit_code(findings: Sequence[Residue], unreached: Sequence[Unreached]) -> int:
    """What is there is told first: a search that found something needs no proof that it is whole."""
    return FOUND if findings else UNPROVEN if unreached else CLEAN


def _at(one: Residue) -> str:
    return f"{one.where}, {one.place}" if one.place else one.where
