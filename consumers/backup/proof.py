"""A partition's entries proved as they pass: none missing, each body the one that was committed to, the chain, and every byte."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from engramlog_server.consumers.backup.rows import RowKind, frame
from engramlog_server.events.encryption.cipher import BODY_MARK
from engramlog_server.events.entry import commitment
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, LogGap
from engramlog_server.events.redis.gap import refuse_holes
from engramlog_server.events.redis.log import entries
from engramlog_server.projections.fold.changelog import FIRST_LINK, event_link

FINGERPRINT = 8
"""Bytes of a fingerprint."""
_COMMITTED = 4


class HeldEntry(NamedTuple):
    """An entry as a backup holds it."""

    fingerprint: bytes
    held: list[bytes]
    """Fields and values in turn."""

    @property
    def row(self) -> bytes:
        """As bytes of a file."""
        return frame(RowKind.ENTRY, [self.fingerprint, *self.held])


class LogProof:
    """What is proved of a partition's log as its entries pass, from the first on."""

    def __init__(self, tag: str, wanted: Mapping[int, bytes] | None = None, noted: Collection[int] = ()) -> None:
        """`wanted`: links of the chain that must stand at some seqs; `noted`: seqs whose links are to be told."""
        self.tag, self._wanted, self._noted = tag, wanted or {}, frozenset(noted)
        self.links = dict[int, bytes]()
        """Links of the chain at the seqs that are noted, as far as it passed."""
        self.seq, self.chain, self.newest = 0, FIRST_LINK, b""
        """Of the newest entry that passed: its place, the chain there, its event's id."""
        self.rows, self._digest = b"", sha256()
        """The bytes of the rows that passed last."""

    @property
    def digest(self) -> str:
        """SHA-256 over the bytes of all rows that passed."""
        return self._digest.hexdigest()

    def take(self, some: Sequence[HeldEntry], stored: list[Stored] | None = None) -> list[Stored]:
        """Entries that follow on those before; `stored`: what they are, where that is known. Raises LogGap, DamagedState."""
        if not some:
            return []
        if stored is None:
            stored = entries([(b"%d-0" % seq, one.held) for seq, one in enumerate(some, self.seq + 1)], self.tag)
        for one, entry in zip(some, stored, strict=True):
            self._refuse_changed(one, entry)
            self.chain = event_link(self.chain, entry)
            if entry.seq in self._noted:
                self.links[entry.seq] = self.chain
            if self._wanted.get(entry.seq, self.chain) != self.chain:
                raise DamagedState(
                    f"partition {{{self.tag}}}: the chain at seq {entry.seq} is another than was folded; see `engramlog verify`",
                    partition=self.tag,
                    seq=entry.seq,
                )
        self.rows = b"".join([one.row for one in some])
        self._digest.update(self.rows)
        self.seq, self.newest = stored[-1].seq, stored[-1].raw_id
        return stored

    def _refuse_changed(self, one: HeldEntry, entry: Stored) -> None:
        wrong = None
        if len(one.fingerprint) != FINGERPRINT:
            wrong = "has no line in the table of dedupe"
        elif entry.salt and commitment(entry.salt, entry.body) != entry.beside[_COMMITTED]:
            wrong = "has another body than the one that was committed to"
        elif entry.body[:1] == BODY_MARK and entry.salt:
            wrong = "is sealed, and holds the salt of its commitment"
        if wrong is not None:
            raise DamagedState(
                f"the entry at seq {entry.seq} of partition {{{self.tag}}} {wrong}: see `engramlog verify`",
                partition=self.tag,
                seq=entry.seq,
            )


def held_entries(answer: Sequence[tuple[bytes, list[bytes]]], after: int, tag: str) -> list[tuple[Stored, list[bytes]]]:
    """Entries as Redis sends them, with their fields and values as they are. Raises LogGap where they do not follow on `after`."""
    stored = entries(list(answer), tag)
    if not stored:
        raise LogGap(f"partition {{{tag}}}: its log ends at {after}, before the head that it reported", partition=tag)
    refuse_holes(stored, after, tag)
    return list(zip(stored, [held for _, held in answer], strict=True))
