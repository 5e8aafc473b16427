"""Importing conversations: each turn becomes a `TurnRecorded` and, until extraction exists, one `MemoryCreated`.

All ids derive from the input, so importing a file again appends nothing, a day later too.

Appending a file of events: JSON Lines in, one answer out.

Requests of at most 1,000 events, each validated whole before it is written. A bad line stops there; what was written before
it stays written, and is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, NamedTuple, cast

import orjson

from engramlog_server.api.checks import importer, label_objection, parse_instant, speaker
from engramlog_server.api.choices import CUT, LEAVE, WAYS
from engramlog_server.events.envelope import Prepared, derived_id, from_micros, micros, utc_text
from engramlog_server.events.errors import EngramlogError, InputError, InvalidEvent, NotYetFolded, StoreFull, refused
from engramlog_server.events.log import Appendable, AppendReceipt, EventLog, positions_by_partition
from engramlog_server.events.standing import Speaker, firm_tier
from engramlog_server.events.text import bytes_told
from engramlog_server.events.validation import judged, make_event, read_event, ready
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS, MAX_TEXT_BYTES
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.memory.kind import memory_of_turn, recorded
from engramlog_server.projections.prompt.block import without_blocks
from engramlog_server.projections.shapes import ImportConflict, ImportFailure


@dataclass(slots=True)
class AppendReport:
    """What became of a file of events."""

    appended: int = 0
    already_appended: int = 0
    conflicts: list[ImportConflict] = field(default_factory=list)
    positions: list[str | None] = field(default_factory=list)
    failed: list[ImportFailure] = field(default_factory=list)
    rejected: list[dict[str, str | int]] = field(default_factory=list)
    """Events that say what a person rejected, as far as is known: they are in the log, and change nothing."""
    error: EngramlogError | None = None
    """What stopped it: a bad line, or a store that refused."""

    def take(self, line: int, receipt: AppendReceipt, rejected: str | None = None) -> None:
        """Count one event's receipt. `rejected`: where a person rejected what it says."""
        if rejected is not None and receipt.written:
            self.rejected.append({"line": line, "event_id": receipt.event_id, "rejected": rejected})
        self.positions.append(receipt.position if receipt.written else None)
        if receipt.status == "appended":
            self.appended += 1
        elif receipt.status == "already_appended":
            self.already_appended += 1
        elif receipt.status == "conflict":
            self.conflicts.append({"line": line, "event_id": receipt.event_id, "position": receipt.position})
        else:
            self.failed.append(
                {"line": line, "event_id": receipt.event_id, "status": receipt.status, "error": receipt.error}
            )

    @property
    def exit_code(self) -> int:
        """0 all written, 2 a bad line, whatever stood before it; else 3 partly written, 1 nothing of it."""
        if self.error is None and not self.conflicts and not self.failed:
            return 0
        if isinstance(self.error, InputError):
            return self.error.exit_code
        if self.appended or self.already_appended:
            return 3
        return 1 if self.error is None else self.error.exit_code

    def as_dict(self) -> dict[str, object]:
        """The fixed shape, with `rejected`, `failed` and `error` only where there are any."""
        answer: dict[str, object] = {
            "appended": self.appended,
            "already_appended": self.already_appended,
            "conflicts": self.conflicts,
            "positions": self.positions,
        }
        if self.rejected:
            answer["rejected"] = self.rejected
        return answer | self.troubles()

    def troubles(self) -> dict[str, object]:
        """`failed` and `error`, where there are any."""
        told: dict[str, object] = {"failed": self.failed} if self.failed else {}
        return told if self.error is None else told | {"error": self.error.as_dict()}

    @property
    def last_position(self) -> str | None:
        """The newest position that was written."""
        return next((one for one in reversed(self.positions) if one), None)


MAX_IGNORED = 50
"""Most names of fields that nobody reads that are told."""


def count_ignored(counts: Counter[str], names: Iterable[str]) -> None:
    """Count fields of one record that nobody reads, misspelt ones say."""
    counts.update(name for name in sorted(names) if name in counts or len(counts) < MAX_IGNORED)


def append_lines(
    log: EventLog,
    lines: Iterable[bytes],
    on_progress: Callable[[int], None] = lambda _lines: None,
    refused: Refused = lambda _events: {},
    note: Note = lambda _events, _receipts: None,
) -> AppendReport:
    """Append JSON Lines; blank lines are passed over. `on_progress` is told the lines done.

    `refused`: where a person rejected what these events say, by their ids. `note` is called after each append, with its receipts.
    """
    numbered = ((number, line.strip()) for number, line in enumerate(lines, 1))
    answer = AppendReport()
    for request in _requests(one for one in numbered if one[1]):
        try:
            prepared = [
                read_event(raw, now=log.now(), by=speaker(log), look=label_objection, line=number)
                for number, raw in request
            ]
        except InvalidEvent as problem:
            found = judged(problem, log.behind())
            answer.error = _stopped(problem, answer) if found is problem else found
            return answer
        if not _append(log, request, prepared, answer, refused, note):
            return answer
        on_progress(request[-1][0])
    return answer


def _append(
    log: EventLog, request: list[Line], prepared: list[Prepared], answer: AppendReport, refused: Refused, note: Note
) -> bool:
    try:
        known = refused(prepared)
        receipts = log.append(prepared)
        note(prepared, receipts)
    except EngramlogError as problem:
        answer.error = problem
        return False
    for (number, _), receipt in zip(request, receipts, strict=True):
        answer.take(number, receipt, known.get(receipt.event_id))
    return True


def _stopped(problem: InvalidEvent, answer: AppendReport) -> InvalidEvent:
    """The same problem, saying what was written before it."""
    written = answer.appended + answer.already_appended
    return InvalidEvent(
        problem.field,
        problem.got,
        problem.allowed,
        **{key: value for key, value in problem.context.items() if key not in ("field", "got", "allowed")},
        written_before=written,
    )


def _requests(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while request := list(islice(lines, MAX_REQUEST_EVENTS)):
        yield request


Take = Callable[[int, Prepared, AppendReceipt], None]


def append_numbered(
    append: Callable[[Sequence[Prepared]], list[AppendReceipt]],
    waiting: Iterator[tuple[int, Prepared]],
    done: AppendReport,
    take: Take,
    on_progress: Callable[[int], None],
    *,
    without_conflicts: bool = False,
) -> None:
    """Append events, each with the number of what it was read from, in requests; the first error stops there and is kept.

    `take` counts what became of each. `without_conflicts`: a request of which ids are taken by other content is sent again without
    those.
    """
    while done.error is None:
        request: list[tuple[int, Prepared]] = []
        try:
            for one in islice(waiting, MAX_REQUEST_EVENTS):
                request.append(one)  # noqa: PERF402 - what was read before a bad line is still appended
        except EngramlogError as problem:
            done.error = problem
        if not request:
            return
        try:
            receipts = append([event for _, event in request])
            if without_conflicts and any(one.status == "conflict" for one in receipts):
                pairs = zip(request, receipts, strict=True)
                again = iter(append([event for (_, event), one in pairs if one.status != "conflict"]))
                receipts = [one if one.status == "conflict" else next(again) for one in receipts]
        except EngramlogError as problem:
            done.error = problem
            return
        for (number, event), receipt in zip(request, receipts, strict=True):
            take(number, event, receipt)
        on_progress(request[-1][0])


MOST_KEPT: Final = 250_000
"""So many turns of a file are remembered, about 70 MB; a later turn whose id one of them has is still told, others by the log."""


class _First(NamedTuple):
    line: int
    conversation: str | None
    content: bytes


Turn = dict[str, Any]
"""A turn as a line has it: texts under `FIELDS`, anything under other names."""


class TurnIds:
    """The turns of one file so far, each by its owner and id."""

    def __init__(self, owner: str | None, owner_from: str) -> None:
        """`owner`: of all turns; else the field `owner_from` of each names its own."""
        self._owner, self._owner_from = owner, owner_from
        self._seen: dict[bytes, _First] = {}
        self._names: dict[str, str] = {}

    def take(self, line: int, turn: Turn) -> InputError | None:
        """Note a turn that was read from `line`; gives the error to raise where its id stands for something else already."""
        owner = self._owner if self._owner is not None else turn.get(self._owner_from)
        key = _digest([owner, turn["turn_id"]])
        content = _content(turn)
        first = self._seen.get(key)
        if first is None:
            if len(self._seen) < MOST_KEPT:
                self._seen[key] = _First(line, self._conversation(turn), content)
        elif first.content != content:
            return self._clash(first, line, turn)
        return None

    def _conversation(self, turn: Turn) -> str | None:
        name = turn.get("conversation")
        return self._names.setdefault(name[:80], name[:80]) if isinstance(name, str) else None

    def _clash(self, first: _First, line: int, turn: Turn) -> InputError:
        turn_id, second = turn["turn_id"][:80], self._conversation(turn)
        places = f"turn_id {turn_id!r} stands in lines {first.line:,} and {line:,}"
        if first.conversation == second or None in (first.conversation, second):
            cure = f"{places}, with different contents: give every turn of an owner an id of its own"
        elif self._owner is not None:
            cure = (
                f"{places}, of conversations {first.conversation} and {second}: import each with its own --owner, or leave"
                " --owner out"
            )
        else:
            cure = (
                f"{places}, of conversations {first.conversation} and {second}: import each with its own --owner, or with"
                " --owner-from conversation"
            )
        return InputError(
            cure,
            field="turn_id",
            got=f"{turn_id!r} in lines {first.line:,} and {line:,}",
            allowed="an id of its own for every turn of an owner",
            lines=[first.line, line],
        )


def _content(turn: Turn) -> bytes:
    """A digest of all of a turn that its events hold; a turn that says the same twice is no clash."""
    when: str | int = turn["occurred_at"]
    with suppress(InputError):  # told where it becomes an event
        when = parse_instant(turn["occurred_at"], "occurred_at")
    return _digest([when, turn["text"], turn.get("speaker"), turn.get("session")])


def _digest(parts: list[Any]) -> bytes:
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


SHOWN_PLACES = 20
"""So many places of long turns are told; the rest is counted."""
MARK = "…"
"""What a cut text ends with."""


def check_way(value: str, field: str = "long_turns") -> str:
    """The way, or InputError."""
    if value not in WAYS:
        raise refused(field, value, " or ".join(WAYS))
    return value


def is_long(text: str) -> bool:
    """Whether a text takes more UTF-8 than an event may hold, 64 KiB. A text that UTF-8 cannot carry is for validation."""
    return len(text) * 4 > MAX_TEXT_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES


def beginning(text: str) -> str:
    """The text cut to 64 KiB of UTF-8 at a whole character, with a mark at its end."""
    room = MAX_TEXT_BYTES - len(MARK.encode())
    return text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore").rstrip() + MARK


ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}
_TURN = "TurnRecorded."
FIELDS = ("turn_id", "occurred_at", "text")
OPTIONAL = ("speaker", "session", "conversation")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How turns become events."""

    owner: str | None = None
    """All turns belong to this owner; else to the value of `owner_from`."""
    owner_from: str = "conversation"
    kind: str = "episode"
    tier: str = "fact"
    category: str = "fact"
    memories: bool = True
    """Whether each turn also becomes a memory."""
    long_turns: str = LEAVE
    """What becomes of a turn over 64 KiB: `leave` it out, counted, or `cut` it."""
    project: str | None = None
    """The project of the turns' memories."""
    live: bool = False
    """Whether the turns were just said, and not brought from elsewhere: then they are trusted as said, not as imported."""

    def speaker(self, log: EventLog) -> Speaker:
        """The actor of the import: the user for live turns, otherwise the importer."""
        return speaker(log) if self.live else importer(log)


@dataclass(slots=True)
class ImportReport:
    """What an import did."""

    turns: int = 0
    """That are in the log, by this import or an earlier one."""
    skipped: int = 0
    """Turns without any text."""
    too_long: int = 0
    """Turns over 64 KiB that were left out."""
    cut: int = 0
    """Turns over 64 KiB of which the beginning was kept."""
    long_at: list[int] = field(default_factory=list)
    """The lines or messages of the first of them."""
    owners: Counter[str] = field(default_factory=Counter)
    ignored_fields: Counter[str] = field(default_factory=Counter)
    """Fields of turns that nobody reads, misspelt ones say, with how many turns had them; the first 50 names."""
    newest: int | None = None
    done: AppendReport = field(default_factory=AppendReport)

    def take(self, number: int, event: Prepared, receipt: AppendReceipt) -> None:
        """Count what became of one event, which was read from line or message `number`."""
        self.done.take(number, receipt)
        if receipt.status == "conflict":
            self.done.conflicts[-1]["turn_id"] = turn_of(event)
        if receipt.written and event.kind.startswith(_TURN):
            said_at = micros(datetime.fromisoformat(orjson.loads(event.body)["occurred_at"]))
            self.turns += 1
            self.owners[event.owner] += 1
            self.newest = said_at if self.newest is None else max(self.newest, said_at)

    def long_turn(self, number: int, *, cut: bool) -> None:
        """Count a turn over 64 KiB, read from line or message `number`."""
        self.cut, self.too_long = self.cut + cut, self.too_long + (not cut)
        if len(self.long_at) < SHOWN_PLACES:
            self.long_at.append(number)

    def as_dict(self) -> dict[str, object]:
        """JSON-ready: counts, the newest position by partition, and when the newest turn was said."""
        return {
            "turns": self.turns,
            "skipped": self.skipped,
            "too_long": self.too_long,
            "cut": self.cut,
            "appended": self.done.appended,
            "already_appended": self.done.already_appended,
            "conflicts": self.done.conflicts,
            "owners": self.owners,
            "ignored_fields": self.ignored_fields,
            "newest_turn": None if self.newest is None else utc_text(from_micros(self.newest)),
            "last_position": self.done.last_position,
            **self.done.troubles(),
        }


def import_turns(
    log: EventLog,
    lines: Iterable[bytes],
    options: ImportOptions,
    on_progress: Callable[[int], None] = lambda _lines: None,
) -> ImportReport:
    """Read JSON Lines of turns and append their events; a bad line stops there, and is told with its number."""
    check_options(options)
    answer = ImportReport()
    events = _numbered_events(log, lines, options, answer)
    append_numbered(log.append, events, answer.done, answer.take, on_progress)
    return answer


def check_options(options: ImportOptions) -> None:
    """InputError where turns are to stand in every prompt: what somebody said in a conversation never does by itself."""
    if firm_tier(options.tier, options.kind) is not None:
        raise refused(
            "tier", options.tier, "fact or episode: an operator promotes a memory by itself (`engramlog edit --tier`)"
        )


def look_through(lines: Iterable[bytes], options: ImportOptions) -> None:
    """Read a whole file, writing nothing. Raises InputError where a turn's id stands twice in it, for different turns.

    A line that is no turn ends the look: the import tells it, with what stands before it.
    """
    seen, unheard = TurnIds(options.owner, options.owner_from), ImportReport()
    for number, line in enumerate(lines, 1):
        try:
            turn = _wanted_turn(line, number, options, unheard)
        except InputError:
            return
        if turn is not None and turn["text"].strip() and (clash := seen.take(number, turn)) is not None:
            raise clash


def _numbered_events(
    log: EventLog, lines: Iterable[bytes], options: ImportOptions, answer: ImportReport
) -> Iterator[tuple[int, Prepared]]:
    seen = TurnIds(options.owner, options.owner_from)
    for number, line in enumerate(lines, 1):
        try:
            turn = _wanted_turn(line, number, options, answer)
            if turn is None:
                continue
            events = list(events_of(turn, options, log, answer))
        except InvalidEvent as problem:
            rest = {
                key: value for key, value in problem.context.items() if key not in ("field", "got", "allowed", "line")
            }
            raise InvalidEvent(problem.field, problem.got, problem.allowed, line=number, **rest) from None
        except InputError as problem:
            raise InputError(f"line {number}: {problem.message}", line=number, **problem.context) from None
        if events and (clash := seen.take(number, turn)) is not None:
            raise clash
        count_ignored(answer.ignored_fields, turn.keys() - {*FIELDS, *OPTIONAL, options.owner_from})
        yield from ((number, event) for event in events)


def _wanted_turn(line: bytes, number: int, options: ImportOptions, answer: ImportReport) -> Turn | None:
    """The turn of a line, cut where that is wished; None for an empty line, and for one that is left out as too long."""
    if not line.strip():
        return None
    turn = _read_turn(line)
    if is_long(turn["text"]):
        answer.long_turn(number, cut=options.long_turns == CUT)
        if options.long_turns != CUT:
            return None
        turn["text"] = beginning(turn["text"])
    return turn


def _read_turn(line: bytes) -> Turn:
    try:
        turn = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if (told := bytes_told(line)) is not None:
            raise refused("turn", told, "one JSON object in UTF-8") from None
        raise refused("turn", line[:80].decode("utf-8", "replace"), f"one JSON object ({error})") from None
    if not isinstance(turn, dict):
        raise refused("turn", turn, "a JSON object with " + ", ".join(FIELDS))
    for name in FIELDS:
        if not isinstance(turn.get(name), str):
            raise refused(name, turn.get(name), "a text: a turn has " + ", ".join(FIELDS))
    turn["text"] = without_blocks(turn["text"])
    return turn


def turn_of(event: Prepared) -> str:
    """The id of the turn that an event of an import was made of."""
    data = orjson.loads(event.body)["data"]
    return str(data.get("turn_id") or data["memory_id"])


def owner_of(turn: Turn, options: ImportOptions) -> str:
    """Whose turn it is. Raises InputError where nobody's."""
    owner = options.owner if options.owner is not None else turn.get(options.owner_from)
    if not isinstance(owner, str):
        raise refused(
            options.owner_from,
            owner,
            "the owner as a text; name the field with --owner-from, or the owner with --owner",
        )
    return owner


def turn_event_id(owner: str, turn_id: str) -> str:
    """The id of the event that records an imported turn: made of ids, of no words."""
    return derived_id("import turn", owner, turn_id)


def events_of(turn: Turn, options: ImportOptions, log: EventLog, answer: ImportReport) -> Iterator[Prepared]:
    """The events of one turn; one without text is counted as skipped in `answer`. Raises InputError naming the field."""
    owner = owner_of(turn, options)
    if not turn["text"].strip():
        answer.skipped += 1
        return
    turn_id, when = turn["turn_id"], parse_instant(turn["occurred_at"], "occurred_at")
    speaker = turn.get("speaker")
    role = ROLES.get(str(speaker), "other")
    common: dict[str, Any] = {
        "owner": owner,
        "occurred_at": from_micros(when),
        "actor": "assistant" if role == "assistant" else "user",
        "now": log.now(),
        "by": options.speaker(log),
        "session_id": turn.get("session"),
    }
    said = recorded(turn_id, role, turn["text"], speaker)
    said_id = turn_event_id(owner, turn_id)
    yield ready(make_event(said, event_id=said_id, **common), common["by"])
    if options.memories:
        memory = memory_of_turn(
            turn_id,
            turn["text"],
            source="assistant" if role == "assistant" else "user",
            speaker=speaker,
            kind=options.kind,
            tier=options.tier,
            category=options.category,
            project=options.project,
        )
        made = derived_id("import memory", owner, turn_id)
        yield ready(make_event(memory, event_id=made, causation_id=said_id, **common), common["by"])


Line = tuple[int, bytes]
Refused = Callable[[Sequence[Prepared]], Mapping[str, str]]
Note = Callable[[Sequence[Prepared], Sequence[AppendReceipt]], None]


HALF = 5_000
"""Events after which those before them must be folded: no more than twice as many of one import wait at any time."""
_TRIES = 3
"""How often a request is sent again after a full store has folded all it holds; others may fill it meanwhile."""

OnFold = Callable[[bool], None]


def _untold(_begins: bool) -> None:
    """Tells nobody."""


class PacedLog:
    """An `EventLog` whose `append` keeps its own lag below 10,000 events and lets a full store fold before it gives up.

    `settle` waits until positions (partition -> seq) are folded, or folds where no worker does; `on_fold` is told when such a
    wait begins and when it ends, `check` is asked before each request whether to go on. Not for two threads at once.
    """

    def __init__(
        self,
        log: EventLog,
        settle: Callable[[Mapping[int, int]], None],
        on_fold: OnFold = _untold,
        check: Check = unchecked,
    ) -> None:
        self._log = log
        self._settle = settle
        self._on_fold = on_fold
        self._check = check
        self._done = 0
        self._since = 0
        self._newest: dict[int, int] = {}
        self._marked: dict[int, int] = {}

    def __getattr__(self, name: str) -> Any:
        """All else is the log's own."""
        return getattr(self._log, name)

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """See `EventLog.append`. Raises StoreFull only once all that is in the log is folded, or nobody folds it.

        Raises NotYetFolded, before anything of the request is appended, where what was appended before is not folded.
        """
        self._check(self._done, 0)
        if self._since >= HALF:
            self._fold(self._marked)
            self._since, self._marked = 0, dict(self._newest)
        receipts = self._append(events, expected_heads, principal)
        self._since += len(receipts)
        self._done += len(receipts)
        self._newest |= positions_by_partition(one.position for one in receipts if one.position and one.written)
        return receipts

    def _append(
        self, events: Sequence[Appendable], expected_heads: Mapping[str, int] | None, principal: str | None
    ) -> list[AppendReceipt]:
        for _ in range(_TRIES):
            try:
                receipts = self._log.append(events, expected_heads=expected_heads, principal=principal)
            except StoreFull as full:
                if not full.context.get("unfolded"):
                    raise
                try:
                    self._fold_all()
                except NotYetFolded:
                    raise full from None
                continue
            if not any(one.status == "failed" for one in receipts):
                return receipts
            try:  # a node of a Cluster may be full of what is not folded; what is written is known by its id
                self._fold_all()
            except NotYetFolded:
                return receipts
        return self._log.append(events, expected_heads=expected_heads, principal=principal)

    def _fold_all(self) -> None:
        self._fold({partition: self._log.head(partition) for partition in range(self._log.partitions)})

    def _fold(self, until: Mapping[int, int]) -> None:
        if until:
            self._on_fold(True)
            self._settle(until)
            self._on_fold(False)


def paced(
    log: EventLog, settle: Callable[[Mapping[int, int]], None], on_fold: OnFold = _untold, check: Check = unchecked
) -> EventLog:
    """The same log, paced: see `PacedLog`."""
    return cast("EventLog", PacedLog(log, settle, on_fold, check))
