"""Results of a verification. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MOST_DIFFERENCES = 100
LIES_OPEN = "lies open in a sealed store"
MOST_UNOPENED_NAMED = 10
"""Reported positions of entries that could not be opened, at most."""


@dataclass(slots=True)
class Findings:
    """Results of one partition's verification. Partition -1: data of no partition."""

    partition: int
    events: int = 0
    memories: int = 0
    digest: int = 0
    head: str = ""
    chains: dict[int, str] = field(default_factory=dict)
    """The log's chain at the seqs that were asked for."""
    differences: list[dict[str, Any]] = field(default_factory=list)
    unopened: int = 0
    """Entries whose body could not be compared with its commitment: the salt is missing."""
    unopened_at: list[str] = field(default_factory=list)
    """Positions of the first of them."""
    erased: int = 0
    """Entries of owners who were erased: nobody can read them, and their commitments are valid."""
    wordless: int = 0
    """Entries whose words were erased: what folds need of them is left, and their commitments are valid."""
    untold: int = 0
    """Differences beyond the first hundred."""

    def differs(self, what: str, **where: Any) -> None:
        """Report one difference; the first hundred of a partition are kept."""
        if len(self.differences) < MOST_DIFFERENCES:
            place = {} if self.partition < 0 else {"partition": self.partition}
            self.differences.append({**place, "what": what, **where})
        else:
            self.untold += 1


def shown(raw: bytes) -> str:
    """Bytes that anybody may have written, as text."""
    return raw.decode("utf-8", "backslashreplace")


def is_number(raw: bytes) -> bool:
    """Whether this is a whole number as we write one. Longer than 20 digits is planted, and Python may refuse to read it."""
    return len(raw) <= 20 and raw.isdigit() and b"%d" % int(raw) == raw
