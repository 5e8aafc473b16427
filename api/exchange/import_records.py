"""Importing older records: each becomes one `MemoryCreated` that brings its counters along (memory.md, section 2, `imported`).

Ids derive from owner, memory and shape, so importing a file again appends nothing. A record that has changed since it was
imported is told as a conflict and stays as it was first imported; the records beside it go in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

import orjson

from engramlog_server.api.exchange.append_events import AppendReport, append_numbered, count_ignored
from engramlog_server.api.exchange.everything import OWN_SHAPES, SAID, PartLine, Wholeness, read_part
from engramlog_server.api.exchange.record_shapes import (
    PART,
    Data,
    RecordLine,
    at_line,
    check_shape,
    read_line,
    read_record,
)
from engramlog_server.api.exchange.rejections import KEYED_OTHERWISE, REJECTION, CarriedRejection, read_rejection
from engramlog_server.api.requests.checks import check_owner, importer, label_objection, speaker
from engramlog_server.events.catalogue import EventData
from engramlog_server.events.envelope import Prepared, derived_id, from_micros
from engramlog_server.events.errors import InputError, InvalidEvent, refused
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.standing import firm_tier
from engramlog_server.events.validation import make_event, read_event, ready
from engramlog_server.projections.memory.rejection import MOST_VALUES, Rejections
from engramlog_server.projections.shapes import DuplicateRecord, RecordsImported

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
