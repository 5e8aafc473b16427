"""Older records in, an owner's memories out, on one store. The shapes: `record_shapes`, `export`.

Importing older records: each becomes one `MemoryCreated` that brings its counters along (memory.md, section 2, `imported`).

Ids derive from owner, memory and shape, so importing a file again appends nothing. A record that has changed since it was
imported is told as a conflict and stays as it was first imported; the records beside it go in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, Unpack, cast

import orjson

from engramlog_server.api.checks import LineTerms, check_owner, importer, label_objection, lines_answer, speaker
from engramlog_server.api.choices import FORMATS, REJECTIONS
from engramlog_server.api.exchange.export import (
    OWN_SHAPES,
    SAID,
    Everything,
    ExportOptions,
    Gatherer,
    Made,
    PartLine,
    Selection,
    Wholeness,
    bundle_lines,
    line_of,
    markdown_pieces,
    read_part,
    selection,
    untold,
)
from engramlog_server.api.exchange.record_shapes import (
    CUT,
    KEYED_OTHERWISE,
    PART,
    REJECTION,
    CarriedRejection,
    Data,
    RecordLine,
    at_line,
    check_shape,
    read_line,
    read_record,
    read_rejection,
    rejection_lines,
    told_here,
)
from engramlog_server.api.exchange.turns import AppendReport, append_numbered, count_ignored, paced
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.remembering import Judging
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.snapshots import PIECE, Snapshot
from engramlog_server.api.work import current_check
from engramlog_server.events.catalogue import EventData
from engramlog_server.events.envelope import Prepared, derived_id, from_micros
from engramlog_server.events.errors import EngramlogError, InputError, InvalidEvent, LogGap, refused
from engramlog_server.events.log import AppendReceipt, EventLog, positions_by_partition
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.standing import firm_tier
from engramlog_server.events.text import shown_json
from engramlog_server.events.validation import make_event, read_event, ready
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.checks import counted
from engramlog_server.projections.fold.changelog import DECISIONS, Entry
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import MOST_VALUES, REJECTED_BY, Rejections
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.shapes import DuplicateRecord, Lagging, LinesTold, RecordsImported, Warned
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


def _flag_contradictions(answer: ImportedRecords, judging: Judging) -> None:
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
        _flag_contradictions(answer.imported, judging)
        done = answer.imported.done
        positions = [position for position in done.positions if position]
        try:
            self._writer.settle_positions(positions_by_partition(positions))
            if answer.imported.foreign:
                positions += self._told_here(options.owner, answer.imported)
            if not positions:
                return answer
            self._note_ignored(answer, positions)
            with self._reader.snapshot(options.owner) as snapshot:
                answer.warning = snapshot.warning
        except EngramlogError as problem:
            done.error = done.error or problem
        return answer

    def _note_ignored(self, answer: TakenIn, positions: Sequence[str]) -> None:
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
        text = markdown_pieces(owner, law, parameters, now, found, made) if form == "text" else None
        everything = self._gatherer.gathered(owner, snapshot, times) if options.everything else None
        if everything is not None:
            everything.head.update(memories=found.number, left_out=found.left_out)
        rejections = view.state.rejections if form == "jsonl" else ()
        carried: tuple[Data, ...] = ()
        if rejections and REJECTIONS in options.include:
            carried = tuple(rejection_lines(rejections, self._secret(owner)))
        elif rejections and not options.ids:
            found.left_out[REJECTIONS] = len(rejections)
        lines = lines_answer(times)
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


MOST_FLAGS_TOLD = 50
Append = Callable[[Sequence[Prepared]], list[AppendReceipt]]
"""How a request of events is appended."""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """Whose records they are, and how to read them."""

    owner: str
    shape: str = "auto"
    """`engramlog`, `ebbinghaus`, `consolidating`, or `auto`: as the fields of each line show."""
    assume_utc: bool = False
    """Whether a time without a zone is in UTC; else it is refused."""
    core: bool = False
    """Whether an operator answers for records of tier core and system; else they become ordinary memories, and are counted."""
    summed: bool = True
    """Whether lines come as they were written, so that the sum at the end of an export of everything is one over them."""


@dataclass(slots=True)
class ImportedRecords:
    """What an import of records did."""

    records: int = 0
    """Records that became an event, in this import or in an earlier one."""
    shapes: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    """Lines that say exactly what an earlier line said."""
    duplicates: list[DuplicateRecord] = field(default_factory=list)
    """Lines with the id of an earlier line and something else to say: the first holds."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Exported memories that no longer stood, by status: a creation would bring them back to life."""
    ignored_fields: Counter[str] = field(default_factory=Counter)
    """Fields that the shapes do not know, with how many records had them; the first 50 names."""
    made_ordinary: Counter[str] = field(default_factory=Counter)
    """Records that claimed a place in every prompt, by tier, and have none: only an operator gives one."""
    rejections: int = 0
    """What was rejected elsewhere, and holds here now: from this import, an earlier one, or by itself."""
    rejections_left_out: Counter[str] = field(default_factory=Counter)
    """What was rejected elsewhere and could not be carried over, by reason."""
    foreign: list[CarriedRejection] = field(default_factory=list)
    """What is keyed by another secret than the owner's; not told of yet."""
    said: int = 0
    """Turns and tool results of an export of everything, said again."""
    said_withheld: int = 0
    """Those whose words were left out when they were exported."""
    of_the_log: Counter[str] = field(default_factory=Counter)
    """What else such an export tells, by part: of the log that it comes from."""
    flagged: int = 0
    """Pairs of a record and a memory that it may contradict: both are flagged, and both stand."""
    conflicting: list[dict[str, str]] = field(default_factory=list)
    """The first 50 of these pairs: `id` of the record, `other`, and the `reason`."""
    edges_left_out: int = 0
    """Associations beyond the strongest 32 of their record."""
    newest: str | None = None
    """When the newest of the records was made."""
    done: AppendReport = field(default_factory=AppendReport)

    @property
    def exit_code(self) -> int:
        """As of any append: 0 all written, 2 a bad line; else 3 partly, also where anything stayed out, and 1 nothing."""
        return self.done.exit_code or (3 if self.duplicates or self.rejections_left_out else 0)

    def told(self, owner: str, ids_taken: list[str], rejected: list[str]) -> RecordsImported:
        """JSON-ready: counts, what stayed out and why, and the newest position. `ids_taken` and `rejected`: of `TakenIn`."""
        answer = {
            "owner": owner,
            "records": self.records,
            "shapes": self.shapes,
            "appended": self.done.appended,
            "already_appended": self.done.already_appended,
            "conflicts": self.done.conflicts,
            "repeated": self.repeated,
            "duplicates": self.duplicates,
            "skipped": self.skipped,
            "ignored_fields": self.ignored_fields,
            "made_ordinary": self.made_ordinary,
            "rejections": self.rejections,
            "rejections_left_out": self.rejections_left_out,
            "said": self.said,
            "said_withheld": self.said_withheld,
            "of_the_log": self.of_the_log,
            "flagged": self.flagged,
            "conflicting": self.conflicting,
            "associations_left_out": self.edges_left_out,
            "newest_record": self.newest,
            "last_position": self.done.last_position,
            "ids_taken": ids_taken,
            "rejected": rejected,
            **self.done.troubles(),
        }
        return cast("RecordsImported", answer)


def import_records(
    log: EventLog,
    lines: Iterable[bytes],
    options: RecordOptions,
    on_progress: Callable[[int], None] = lambda _lines: None,
    known: Rejections = (),
    append: Append | None = None,
) -> ImportedRecords:
    """Read JSON Lines of records and append their events; a bad line stops there, and is told with its number.

    What was read before a bad line is appended. `known`: what the owner has rejected; nothing is appended of it.
    Raises InputError for an owner or a shape that cannot be.
    """
    check_owner(options.owner)
    check_shape(options.shape)
    answer = ImportedRecords()
    waiting = _numbered_events(log, lines, options, answer, known)
    append_numbered(
        append or log.append,
        waiting,
        answer.done,
        lambda number, _event, receipt: answer.done.take(number, receipt),
        on_progress,
        without_conflicts=True,
    )
    return answer


def _numbered_events(
    log: EventLog, lines: Iterable[bytes], options: RecordOptions, answer: ImportedRecords, known: Rejections
) -> Iterator[tuple[int, Prepared]]:
    seen: dict[str, tuple[int, bytes]] = {}
    own, whole, number = options.shape in OWN_SHAPES, Wholeness(summed=options.summed), 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            told = read_line(line)
            if own:
                whole.take(line, told)
            if PART in told and own:
                yield from ((number, one) for one in _part(read_part(told, options.owner), log, answer))
                continue
            record = read_record(told, options.shape, assume_utc=options.assume_utc)
            if record.status == REJECTION:
                yield from (
                    (number, one) for one in _rejection(read_rejection(record.data), options.owner, log, answer, known)
                )
                continue
            if record.status not in (None, "live"):
                answer.skipped[record.status] += 1
                continue
            claimed = _claimed_tier(record.data)
            if claimed is not None and not options.core:
                record.data["tier"] = "fact"
            prepared = _event_of(record, options.owner, log, is_operators=claimed is not None and options.core)
        except InputError as problem:
            raise at_line(problem, number) from None
        memory_id = record.data["memory_id"]
        first, summed = seen.get(memory_id), sha256(prepared.body).digest()
        if first is None:
            seen[memory_id] = (number, summed)
            _count(record, answer)
            if claimed is not None and not options.core:
                answer.made_ordinary[claimed] += 1
            yield number, prepared
        elif first[1] == summed:
            answer.repeated += 1
        else:
            answer.duplicates.append({"line": number, "memory_id": memory_id, "first_line": first[0]})
    whole.close(number)


def _part(part: PartLine, log: EventLog, answer: ImportedRecords) -> Iterator[Prepared]:
    """What a line says that is no memory: a turn or a tool result, said again."""
    if part.part not in SAID:
        answer.of_the_log[part.part] += 1
    elif part.event is None:
        answer.said_withheld += 1
    else:
        try:
            by = importer(log)
            prepared = read_event(orjson.dumps(part.event), now=log.now(), by=by, look=label_objection)
        except InvalidEvent as problem:
            raise refused(f"event.{problem.field}", problem.got, problem.allowed) from None
        answer.said += 1
        yield prepared


def _rejection(
    one: CarriedRejection, owner: str, log: EventLog, answer: ImportedRecords, known: Rejections
) -> Iterator[Prepared]:
    """What is said of a value that was rejected elsewhere. An owner of whom nothing is known takes over the secret that keys it."""
    held = log.secrets_of([owner]).get(owner) or log.adopt_secret(owner, one.secret)
    if held != one.secret:
        if len(answer.foreign) < MOST_VALUES:
            answer.foreign.append(one)
        else:
            answer.rejections_left_out[KEYED_OTHERWISE] += 1
        return
    answer.rejections += 1
    if not one.is_known(known):
        yield from (rejection_event(log, owner, *event) for event in one.events(owner))


def rejection_event(log: EventLog, owner: str, event_id: str, at: int, data: EventData) -> Prepared:
    """That a value was rejected, or taken up again, elsewhere: a person's word, whoever brings the file."""
    by = importer(log)
    made = make_event(
        data,
        owner=owner,
        occurred_at=from_micros(at),
        actor="user",
        now=log.now(),
        event_id=event_id,
        by=by,
    )
    return ready(made, by)


def _claimed_tier(data: Mapping[str, Any]) -> str | None:
    """The tier of what stands in every prompt, where a record claims it by its tier or its kind."""
    tier, kind = data.get("tier"), data.get("kind")
    return firm_tier(tier, kind) if isinstance(tier, str | None) and isinstance(kind, str) else None


def _event_of(record: RecordLine, owner: str, log: EventLog, *, is_operators: bool) -> Prepared:
    """The creation, checked in validation; a refusal names the record's own field.

    Whatever a line tells of an actor, an import speaks as `system`; only `--core` is an operator's own word, by his command.
    """
    document: Data = {
        "event_id": derived_id("import record", owner, str(record.data.get("memory_id")), record.shape),
        "type": "MemoryCreated",
        "owner": owner,
        "occurred_at": record.created_at,
        "actor": "operator" if is_operators else "system",
        "data": record.data,
    }
    if record.session is not None:
        document["session_id"] = record.session
    by = speaker(log) if is_operators else importer(log)
    try:
        return read_event(orjson.dumps(document), now=log.now(), by=by, look=label_objection)
    except InvalidEvent as problem:
        name = _own_name(problem.field.removeprefix("data."), record)
        raise InputError(
            f"{name}: got {problem.got}; allowed: {problem.allowed}",
            field=name,
            got=problem.got,
            allowed=problem.allowed,
        ) from None


def _own_name(path: str, record: RecordLine) -> str:
    """What the record calls a field of the event; the longest part of the path that it has a name for is replaced."""
    known = [ours for ours in record.names if path == ours or path.startswith((f"{ours}.", f"{ours}["))]
    longest = max(known, key=len, default=None)
    return path if longest is None else record.names[longest] + path[len(longest) :]


def _count(record: RecordLine, answer: ImportedRecords) -> None:
    answer.records += 1
    answer.shapes[record.shape] += 1
    answer.edges_left_out += record.edges_left_out
    answer.newest = max(answer.newest or "", record.created_at, key=lambda text: text.rstrip("Z"))
    count_ignored(answer.ignored_fields, record.ignored)
