"""Showing the texts of secrets: what is shown to whom is in the log before it is, or nothing is shown.

Every face goes through here; no other answer holds the text of a secret. What is recorded is who asked for which memories,
through which face and why, never a word of them. Whoever reads the log, a backup of it or Redis itself leaves no such trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, Unpack

from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.api.exchange.records import Export, Records
from engramlog_server.api.requests.checks import LineTerms, TimesAsked
from engramlog_server.api.services.accesses import AccessRecorder
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Writer
from engramlog_server.events.catalogue import MemoriesRevealed
from engramlog_server.events.errors import NotYetFolded
from engramlog_server.events.log import positions_by_partition
from engramlog_server.events.vocabulary import MAX_SOURCES, Face, Revealing
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.shapes import Detail


class By(NamedTuple):
    """Who asks to see secrets, through which face, and why."""

    face: Face
    actor: str = "user"
    reason: str = ""


class Revealer:
    """Shows secrets of one store's owners, and records that first. Safe for threads."""

    def __init__(self, reader: Reader, records: Records, writer: Writer, accesses: AccessRecorder) -> None:
        self._accesses = accesses
        self._reader = reader
        self._records = records
        self._writer = writer

    def get(
        self,
        owner: str,
        memory_id: str,
        by: By,
        *,
        trace: bool = True,
        **times: Unpack[TimesAsked],
    ) -> Detail:
        """Everything about one memory with its text, and the position (`revealed`) at which that is recorded.

        `trace`: record also that it was shown (`MemoriesAccessed` via `reveal`), which no law hears of.

        Recorded is also what replaced it, where that is a secret: a correction tells its text. Raises as `Reader.get` does,
        InvalidEvent for an actor or a reason that cannot be, and StoreError where nothing could be recorded.
        """
        answer, read = self._reader.looked_at(owner, memory_id, reveal=True, **times)
        successors = (one["replaced_by"] for one in answer["correction_history"] if one["new_preference"] is not None)
        with self._reader.snapshot(owner) as snapshot:
            found = [snapshot.view.get(one) for one in successors if one is not None]
        secret = [one.id for one in found if one is not None and one.sensitivity >= SECRET]
        position = self._record(owner, list(dict.fromkeys([memory_id, *secret])), "get", by)
        if trace:
            self._accesses.record(owner, [memory_id], via="reveal", query=None, read=read)
        return {**answer, "revealed": position}

    def export(
        self,
        owner: str,
        options: ExportOptions,
        by: By,
        format: str = "jsonl",  # noqa: A002 - its name on every face
        **times: Unpack[LineTerms],
    ) -> tuple[Export, str | None]:
        """An owner's memories, secrets too where `options.reveal` asks for them, and the position at which that is recorded.

        None where no secret is among them. Raises as `Records.export` and `get` do.
        """
        found = self._records.export(owner, options, format, **times)
        secret = found.chosen.secret
        return found, self._record(owner, secret, "export", by) if secret else None

    def _record(self, owner: str, memory_ids: Sequence[str], what: Revealing, by: By) -> str:
        """Append what is about to be shown; its position. Where the fold is late it stands in the log all the same."""
        now = self._writer.when(None)
        prepared = []
        for start in range(0, len(memory_ids), MAX_SOURCES):
            part = tuple(memory_ids[start : start + MAX_SOURCES])
            data = MemoriesRevealed(memory_ids=part, by=what, face=by.face, reason=by.reason)
            prepared += self._writer.ready([self._writer.event(data, owner, now, by.actor)])
        positions = []
        for start in range(0, len(prepared), MAX_SOURCES):
            receipts = self._writer.append_all(prepared[start : start + MAX_SOURCES])
            positions += [receipt.position for receipt in receipts if receipt.position]
        with suppress(NotYetFolded):
            self._writer.settle_positions(positions_by_partition(positions))
        return positions[-1]
