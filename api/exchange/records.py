"""Older records in, an owner's memories out, on one store. The shapes: `record_shapes`, `export`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Unpack

import orjson

from engramlog_server.api.choices import FORMATS, REJECTIONS
from engramlog_server.api.exchange.everything import Everything, Gatherer, bundle_lines
from engramlog_server.api.exchange.export import ExportOptions, Made, Selection, line_of, selection, told_text, untold
from engramlog_server.api.exchange.import_records import (
    MOST_FLAGS_TOLD,
    ImportedRecords,
    RecordOptions,
    import_records,
    rejection_event,
)
from engramlog_server.api.exchange.record_shapes import CUT, Data
from engramlog_server.api.exchange.rejections import KEYED_OTHERWISE, rejection_lines, told_here
from engramlog_server.api.requests.checks import LineTerms, importer, told_lines
from engramlog_server.api.requests.snapshots import PIECE, Snapshot
from engramlog_server.api.services.judging import Judging
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.work.pacing import paced
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.errors import EngramlogError, LogGap, refused
from engramlog_server.events.log import EventLog, positions_by_partition
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.text import shown_json
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.checks import counted
from engramlog_server.projections.fold.changelog import DECISIONS, Entry
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import REJECTED_BY
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.shapes import Lagging, LinesTold, RecordsImported, Warned
from engramlog_server.projections.views.event_words import UNTOLD, Telling, telling

_IGNORED = DECISIONS.index("ignored")


@dataclass(slots=True)
class TakenIn:
    """What an import of records did to the log, and then to the owner's memories."""

    owner: str
    imported: ImportedRecords
    ids_taken: list[str] = field(default_factory=list)
    """Ids under which the owner had a memory already, from elsewhere: their records are in the log and change nothing."""
    rejected: list[str] = field(default_factory=list)
    """Ids of records that say what the owner rejected: they are in the log, and no memories."""
    warning: Warned = field(default_factory=Warned)
    """`quarantined`, where the owner is: then nothing is folded yet."""

    @property
    def exit_code(self) -> int:
        """As of the import; 3 also where an id was taken, a value is rejected, or the fold waits."""
        return self.imported.exit_code or (3 if self.ids_taken or self.rejected or self.warning else 0)

    def as_dict(self) -> RecordsImported:
        """JSON-ready."""
        return {**self.imported.told(self.owner, self.ids_taken, self.rejected), **self.warning}


@dataclass(frozen=True, slots=True)
class Export:
    """An owner's memories as they stood when they were asked for; nothing that happens later is in it."""

    owner: str
    format: str
    position: str
    chosen: Selection
    warning: Lagging
    made: Made = untold
    """What the log holds of the events that made them, read as the pieces are taken."""
    lines: LinesTold | None = None
    """What was asked of the two time lines."""
    rejections: tuple[Data, ...] = ()
    """What was rejected, where that was asked for: a line a value, before all memories."""
    text: Iterator[str] | None = None
    """The pieces of the text, where that was asked for: made as they are taken, once."""
    everything: Everything | None = None
    """What it holds beside the memories, where that was asked for."""

    @property
    def left_out(self) -> dict[str, int]:
        """How many memories are not in it, by reason."""
        return self.chosen.left_out

    @property
    def pieces_about(self) -> int:
        """About how many pieces it comes in."""
        return self.chosen.number + (0 if self.everything is None else int(self.everything.head["events"]))

    def records(self) -> Iterator[Data]:
        """A JSON-ready line a memory, oldest first; before them what was rejected, so that it is known when they are read."""
        exported = self.chosen.ids
        yield from self.rejections
        for page in self.chosen.pages():
            yield from (line_of(memory, exported, made) for memory, made in self.made(page))

    def pieces(self) -> Iterator[bytes]:
        """The export in UTF-8, in pieces of about one memory each. Nothing in it is obeyed by a terminal: JSON spells it out."""
        if self.text is not None:
            return (piece.encode() for piece in self.text)
        if self.everything is not None:
            return bundle_lines(self.everything, self.records())
        return (shown_json(orjson.dumps(line).decode() + "\n").encode() for line in self.records())

    def cut(self, error: EngramlogError) -> bytes:
        """What ends it where an error does: a line that no import takes for a memory."""
        if self.text is not None:
            return shown_json(f"\n[cut: {error.message}]\n").encode()
        return shown_json(orjson.dumps({CUT: error.as_dict()}, default=str).decode() + "\n").encode()

    def as_dict(self) -> dict[str, object]:
        """What is told of it: how many memories, how many were left out by reason, the position."""
        told: dict[str, object] = {
            "owner": self.owner,
            "format": self.format,
            "count": self.chosen.number,
            "left_out": self.left_out,
        }
        return told | dict(self.lines or {}) | {"position": self.position} | self.warning


def _tell_flags(answer: ImportedRecords, judging: Judging) -> None:
    """What the records may contradict."""
    pairs = [(made, one) for made, judged in judging.judged for one in judged.beside]
    answer.flagged = len(pairs)
    told = ({"id": made, "other": one.memory_id, "reason": one.reason} for made, one in pairs[:MOST_FLAGS_TOLD])
    answer.conflicting = list(told)


class Records:
    """Takes older records in and gives an owner's memories out. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader, writer: Writer) -> None:
        self._log = log
        self._views = views
        self._reader = reader
        self._writer = writer
        self._gatherer = Gatherer(views, reader)

    def take_in(
        self,
        lines: Iterable[bytes],
        options: RecordOptions,
        on_progress: Callable[[int], None] = lambda _lines: None,
    ) -> TakenIn:
        """Append records and wait until they are folded; a bad line stops there, and what was read before it goes in.

        Raises InputError for an owner or a shape that cannot be.
        """
        log = paced(self._log, self._writer.settle_positions, check=current_check())
        with self._reader.snapshot(options.owner) as snapshot:
            known = snapshot.view.state.rejections
        judging = Judging(log, self._writer, importer(self._log), mentions=False)
        answer = TakenIn(
            options.owner, import_records(log, lines, options, on_progress, known=known, append=judging.append)
        )
        _tell_flags(answer.imported, judging)
        done = answer.imported.done
        positions = [position for position in done.positions if position]
        try:
            self._writer.settle_positions(positions_by_partition(positions))
            if answer.imported.foreign:
                positions += self._told_here(options.owner, answer.imported)
            if not positions:
                return answer
            self._tell_ignored(answer, positions)
            with self._reader.snapshot(options.owner) as snapshot:
                answer.warning = snapshot.warning
        except EngramlogError as problem:
            done.error = done.error or problem
        return answer

    def _tell_ignored(self, answer: TakenIn, positions: Sequence[str]) -> None:
        """Ids of creations that changed nothing, and why: the first entry of each is about the memory that it creates."""
        seqs = {parse_position(position)[1] for position in positions}
        first: dict[int, Entry] = {}
        for _, entry in self._views.changelogs.entries(answer.owner, newest=True, check=current_check()):
            if entry.seq in seqs:
                first[entry.seq] = entry  # read backwards: the last one met is the first
            elif len(first) == len(seqs):
                break
        for entry in first.values():
            if entry.decision != _IGNORED:
                continue
            if not entry.memory_id:
                answer.imported.rejections_left_out[entry.reason] += 1
            elif entry.reason.startswith(REJECTED_BY):
                answer.rejected.append(entry.memory_id)
            else:
                answer.ids_taken.append(entry.memory_id)

    def _told_here(self, owner: str, imported: ImportedRecords) -> list[str]:
        """Reject what is keyed by another store's secret, as far as the owner's memories say it; where that stands."""
        with self._reader.snapshot(owner) as snapshot:
            view = snapshot.view
            memories = counted(view.columns.memories, current_check(), len(view))
            here, known = list(told_here(imported.foreign, memories, self._secret(owner))), view.state.rejections
        left = len(imported.foreign) - len(here)
        if left:
            imported.rejections_left_out[KEYED_OTHERWISE] += left
        events = [
            rejection_event(self._log, owner, *one)
            for _, mine in here
            if not mine.is_known(known)
            for one in mine.events(owner)
        ]
        positions: list[str] = []
        for start in range(0, len(events), MAX_REQUEST_EVENTS):
            receipts = self._writer.append_all(events[start : start + MAX_REQUEST_EVENTS])
            positions += [one.position for one in receipts if one.position]
        imported.rejections += len(here)
        self._writer.settle_positions(positions_by_partition(positions))
        return positions

    def take_in_whole(self, lines: Sequence[bytes], options: RecordOptions) -> TakenIn:
        """The same, but of a bad line nothing at all is written: it is raised as the InputError that names it."""
        now = self._log.now()
        tried = import_records(InMemoryEventLog(lambda: now), counted(lines, current_check(), len(lines)), options)
        if tried.done.error is not None:
            raise tried.done.error
        return self.take_in(lines, options)

    def export(self, owner: str, options: ExportOptions, format: str = "jsonl", **times: Unpack[LineTerms]) -> Export:  # noqa: A002 - its name on every face
        """An owner's memories, at present unless told, as lines to import again or as a text. Leaves no trace.

        With `options.everything` also what was said, asked and put into prompts, and the change log.
        Raises InputError for a format, a reason or a time that cannot be.
        """
        if format not in FORMATS:
            raise refused("format", format, ", ".join(FORMATS))
        options.named()
        if options.everything and format == "text":
            raise refused("format", format, "with everything: jsonl, which an import reads again")
        with self._reader.snapshot(owner, **times) as snapshot:
            return self._exported(
                owner, format, options, times, snapshot, selection(snapshot.view, options, current_check())
            )

    def _exported(
        self, owner: str, form: str, options: ExportOptions, times: LineTerms, snapshot: Snapshot, found: Selection
    ) -> Export:
        view, made = snapshot.view, partial(self._made, owner)
        law, parameters, now = view.law, view.parameters, snapshot.now
        text = told_text(owner, law, parameters, now, found, made) if form == "text" else None
        everything = self._gatherer.gathered(owner, snapshot, times) if options.everything else None
        if everything is not None:
            everything.head.update(memories=found.number, left_out=found.left_out)
        rejections = view.state.rejections if form == "jsonl" else ()
        carried: tuple[Data, ...] = ()
        if rejections and REJECTIONS in options.include:
            carried = tuple(rejection_lines(rejections, self._secret(owner)))
        elif rejections and not options.ids:
            found.left_out[REJECTIONS] = len(rejections)
        lines = told_lines(times)
        return Export(owner, form, snapshot.position, found, snapshot.told, made, lines, carried, text, everything)

    def _secret(self, owner: str) -> bytes:
        return self._log.secrets_of([owner])[owner]

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
