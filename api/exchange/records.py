"""Older records in, an owner's memories out, on one store. The shapes: `record_shapes`, `exporting`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Unpack

import orjson

from api.choices import FORMATS
from api.exchange.exporting import ExportOptions, Made, line_of, selection, text_of, untold
from api.exchange.importing_records import ImportedRecords, RecordOptions, import_records
from api.requests.snapshots import PIECE
from api.requests.timelines import LineTerms, told_lines
from api.services.reading import Reader
from api.services.writing import Writer
from api.work.pacing import PacedLog
from api.work.patience import current_check
from events.errors import EngramlogError, LogGap, refused
from events.log import EventLog, positions_by_partition
from events.memory_log import InMemoryEventLog
from events.partitions import parse_position
from events.text.invisible import shown_json
from projections.checks import counted
from projections.fold.changelog import DECISIONS, Entry
from projections.memory.record import Memory
from projections.redis.view import RedisViews
from projections.shapes import Lagging, LinesTold, Warned
from projections.views.telling import UNTOLD, Telling, telling

_IGNORED = DECISIONS.index("ignored")


@dataclass(slots=True)
class TakenIn:
    """What an import of records did to the log, and then to the owner's memories."""

    owner: str
    imported: ImportedRecords
    ids_taken: list[str] = field(default_factory=list)
    """Ids under which the owner had a memory already, from elsewhere: their records are in the log and change nothing."""
    warning: Warned = field(default_factory=Warned)
    """`quarantined`, where the owner is: then nothing is folded yet."""

    @property
    def exit_code(self) -> int:
        """As of the import; 3 also where an id was taken, or where the fold waits."""
        return self.imported.exit_code or (3 if self.ids_taken or self.warning else 0)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"owner": self.owner, **self.imported.as_dict(), "ids_taken": self.ids_taken, **self.warning}


@dataclass(frozen=True, slots=True)
class Export:
    """An owner's memories as they stood when they were asked for; nothing that happens later is in it."""

    owner: str
    format: str
    position: str
    memories: tuple[Memory, ...]
    left_out: dict[str, int]
    warning: Lagging
    made: Made = untold
    """What the log holds of the events that made them, read as the pieces are taken."""
    lines: LinesTold | None = None
    """What was asked of the two time lines."""
    text: Iterator[str] | None = None
    """The pieces of the text, where that was asked for: made as they are taken, once."""

    def records(self) -> Iterator[dict[str, Any]]:
        """A JSON-ready line a memory, oldest first."""
        exported = {memory.id for memory in self.memories}
        return (line_of(memory, exported, made) for memory, made in self.made(self.memories))

    def pieces(self) -> Iterator[bytes]:
        """The export in UTF-8, in pieces of about one memory each. Nothing in it is obeyed by a terminal: JSON spells it out."""
        if self.text is not None:
            return (piece.encode() for piece in self.text)
        return (shown_json(orjson.dumps(line).decode() + "\n").encode() for line in self.records())

    def as_dict(self) -> dict[str, Any]:
        """What is told of it: how many memories, how many were left out by reason, the position."""
        told: dict[str, Any] = {
            "owner": self.owner,
            "format": self.format,
            "count": len(self.memories),
            "left_out": self.left_out,
        }
        return told | dict(self.lines or {}) | {"position": self.position} | self.warning


class Records:
    """Takes older records in and gives an owner's memories out. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader, writer: Writer) -> None:
        self._log = log
        self._views = views
        self._reader = reader
        self._writer = writer

    def take_in(
        self,
        lines: Iterable[bytes],
        options: RecordOptions,
        on_progress: Callable[[int], None] = lambda _lines: None,
    ) -> TakenIn:
        """Append records and wait until they are folded; a bad line stops there, and what was read before it goes in.

        Raises InputError for an owner or a shape that cannot be.
        """
        log = PacedLog(self._log, self._writer.settle_positions, check=current_check())
        answer = TakenIn(options.owner, import_records(log, lines, options, on_progress))
        done = answer.imported.done
        positions = [position for position in done.positions if position]
        if not positions:
            return answer
        try:
            self._writer.settle_positions(positions_by_partition(positions))
            answer.ids_taken = self._ids_taken(options.owner, positions)
            with self._reader.snapshot(options.owner) as snapshot:
                answer.warning = snapshot.warning
        except EngramlogError as problem:
            done.error = done.error or problem
        return answer

    def _ids_taken(self, owner: str, positions: Sequence[str]) -> list[str]:
        """Ids of creations that changed nothing: the first entry of each is about the memory that it creates."""
        seqs = {parse_position(position)[1] for position in positions}
        first: dict[int, Entry] = {}
        for _, entry in self._views.changelogs.entries(owner, newest=True, check=current_check()):
            if entry.seq in seqs:
                first[entry.seq] = entry  # read backwards: the last one met is the first
            elif len(first) == len(seqs):
                break
        return [entry.memory_id for entry in first.values() if entry.decision == _IGNORED]

    def take_in_whole(self, lines: Sequence[bytes], options: RecordOptions) -> TakenIn:
        """The same, but of a bad line nothing at all is written: it is raised as the InputError that names it."""
        now = self._log.now()
        tried = import_records(InMemoryEventLog(lambda: now), counted(lines, current_check(), len(lines)), options)
        if tried.done.error is not None:
            raise tried.done.error
        return self.take_in(lines, options)

    def export(self, owner: str, options: ExportOptions, form: str = "jsonl", **times: Unpack[LineTerms]) -> Export:
        """An owner's memories, at present unless told, as lines to import again or as a text. Leaves no trace.

        Raises InputError for a format, a reason or a time that cannot be.
        """
        if form not in FORMATS:
            raise refused("format", form, ", ".join(FORMATS))
        with self._reader.snapshot(owner, **times) as snapshot:
            found = selection(snapshot.view, options, current_check())
            made = partial(self._made, owner)
            text = text_of(snapshot.view, snapshot.now, found, made) if form == "text" else None
            told, lines = snapshot.told, told_lines(times)
            return Export(owner, form, snapshot.position, found.memories, found.left_out, told, made, lines, text)

    def _made(self, owner: str, memories: Sequence[Memory]) -> Iterator[tuple[Memory, Telling]]:
        """Each memory with what the log holds of the event that made it, in pieces; nothing of events that it holds no more."""
        for start in range(0, len(memories), PIECE):
            part = memories[start : start + PIECE]
            try:
                stored = self._views.stored(owner, sorted({memory.created_seq for memory in part}))
            except LogGap:
                stored = []
            told = {one.seq: telling(one) for one in stored}
            yield from ((memory, told.get(memory.created_seq, UNTOLD)) for memory in part)
