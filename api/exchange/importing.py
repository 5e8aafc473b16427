"""Importing conversations: each turn becomes a `TurnRecorded` and, until extraction exists, one `MemoryCreated`.

All ids derive from the input, so importing a file again appends nothing, a day later too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from engramlog_server.api.choices import CUT, LEAVE, WAYS
from engramlog_server.api.exchange.append_events import AppendReport, append_numbered, count_ignored
from engramlog_server.api.requests.checks import importer, parse_instant, speaker
from engramlog_server.events.envelope import Prepared, derived_id, from_micros, micros, utc_text
from engramlog_server.events.errors import InputError, InvalidEvent, refused
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.standing import Speaker, firm_tier
from engramlog_server.events.text import bytes_told
from engramlog_server.events.validation import make_event, ready
from engramlog_server.events.vocabulary import MAX_TEXT_BYTES
from engramlog_server.projections.memory.kind import memory_of_turn, recorded
from engramlog_server.projections.prompt.block import without_blocks

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
