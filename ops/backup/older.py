"""Backups that `engramlog backup make --keep N` made before: which lie in a folder, and which of them a newer one holds whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from engramlog_server.consumers.backup.proof import LogProof
from engramlog_server.ops.backup.folder import BackupFolder, BackupUnusable, open_backup

_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_FORM = "%Y-%m-%dT%H-%M-%SZ"


def name_of(at: datetime) -> str:
    """How a backup of this second is called, such as `2026-11-28T03-00-00Z`. `at` is of UTC."""
    return at.strftime(_FORM)


class OlderBackups:
    """Backups of one store that are to go, and up to where a new one holds the same log: by the chain, as that one is read."""

    def __init__(self, found: Sequence[BackupFolder] = ()) -> None:
        self.found, self._ends = found, dict[str, set[int]]()
        for part in (part for one in found for part in one.manifest.parts):
            self._ends.setdefault(part.tag, set()).add(part.head)
        self._heads, self._links = dict[str, int](), dict[tuple[str, int], str]()

    def heads(self, tag: str) -> set[int]:
        """Where they end in a partition."""
        return self._ends.get(tag, set())

    def passed(self, proof: LogProof) -> None:
        """Hear of a partition of the new one, all of which passed."""
        self._heads[proof.tag] = proof.seq
        self._links.update({(proof.tag, seq): link.hex() for seq, link in proof.links.items()})

    def beyond(self, one: BackupFolder) -> str | None:
        """What an older backup holds that the new one does not, as words behind its name; None where that holds all of it."""
        for number, part in enumerate(one.manifest.parts):
            if part.head > (now := self._heads.get(part.tag, 0)):
                return f"holds {part.head:,} entries of partition {number}, and the newest {now:,}"
            if part.head and self._links.get((part.tag, part.head)) != part.chain:
                return f"holds other entries of partition {number} than the newest"
        return None


def rotated_in(folder: Path, store_id: str, unusable: dict[str, str]) -> Iterator[tuple[str, Path]]:
    """The moments and places of a store's backups in a folder that are called as a rotation calls them; others are none of its.
    `unusable` gets the names of what cannot be read, and why. Raises OSError."""
    for path in sorted(folder.iterdir()):
        if _NAME.fullmatch(path.name) and not path.is_symlink():
            try:
                found = open_backup(path)
            except BackupUnusable as error:
                unusable[path.name] = error.message
                continue
            if found.manifest.store_id == store_id:
                yield found.manifest.moment, path
