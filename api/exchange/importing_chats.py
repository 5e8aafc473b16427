"""Importing exported chats: each message of a user or an assistant becomes a turn, as `import turns` reads them.

Ids are the export's own, `conversation/message`, else made of what was said, when and where in its conversation, with the owner's
secret (`api.exchange.chat_turns`): importing a file again appends nothing, and a conversation that has grown adds what is new.
System prompts, tools, hidden messages, thoughts, abandoned branches and attachments are left out, and counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from api.choices import CUT
from api.exchange.chat_file import ChatFile, placed
from api.exchange.chat_shapes import LINES, SHAPES, ChatShape, Message, first_of, instant_of, text_id
from api.exchange.chat_turns import KeyedIds, Turns
from api.exchange.importing import ImportOptions, ImportReport, append_numbered, events_of, import_turns, owner_of
from api.exchange.long_texts import beginning, is_long
from api.requests.speaking import importer
from events.catalogue import TurnRecorded
from events.envelope import Prepared, from_micros
from events.errors import InputError, refused
from events.log import EventLog
from events.naming import Naming
from events.validation import make_event
from projections.checks import Check, counted, unchecked

CONVERSATION_TIMES = ("create_time", "created_at", "created", "timestamp")
CONVERSATION_IDS = ("conversation_id", "id", "uuid", "session_id")


@dataclass(slots=True)
class ImportedChats:
    """What an import of chats did."""

    shape: str
    imported: ImportReport = field(default_factory=ImportReport)
    conversations: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """What is in no turn, by reason: messages that are system, tool, hidden, other, too_long (over 64 KiB) or on a branch that was
    abandoned (an answer asked for anew, a question written anew), and each attachment (picture, file) of a message."""

    def as_dict(self) -> dict[str, Any]:
        """That of the turns, with the shape, the conversations and what was left out."""
        left_out = {reason: count for reason, count in self.left_out.items() if count}
        chats = {"shape": self.shape, "conversations": self.conversations, "left_out": left_out}
        return chats | self.imported.as_dict()


def import_chats(
    log: EventLog,
    chats: ChatFile,
    options: ImportOptions,
    since: int | None = None,
    on_progress: Callable[[int], None] = lambda _done: None,
    check: Check = unchecked,
) -> ImportedChats:
    """Append the turns of a file of chats; a bad conversation or message stops there, and is told with its place.

    `since` (microseconds since 1970) is when a conversation without times began. `on_progress` gets the conversations done
    (lines, of the shape `lines`); `check` is asked between messages whether to go on, and what it raises is the import's error.
    """
    answer = ImportedChats(chats.shape)
    if chats.shape == LINES:
        answer.imported = import_turns(log, counted(chats.lines, check, 0), options, on_progress)
        answer.left_out["too_long"] = answer.imported.too_long
        return answer
    reading = _Reading(log, chats, options, since, answer, check)
    append_numbered(log, reading.events(), answer.imported, lambda done: on_progress(reading.conversation_of(done)))
    for told in (*answer.imported.done.conflicts, *answer.imported.done.failed):
        number = told.pop("line")
        told["conversation"] = reading.conversation_of(number)
        told["message"] = number - reading.starts[told["conversation"] - 1]
    return answer


class _Reading:
    """Reads the conversations of one file into events, each numbered by its message in the file."""

    def __init__(
        self,
        log: EventLog,
        chats: ChatFile,
        options: ImportOptions,
        since: int | None,
        answer: ImportedChats,
        check: Check,
    ) -> None:
        self._check = check
        self._log, self._chats, self._options, self._since, self._answer = log, chats, options, since, answer
        self._openings: Counter[str] = Counter()
        self._naming: Naming | None = None
        self.starts: list[int] = []
        """How many messages stood before each conversation."""
        self._seen = 0

    def conversation_of(self, number: int) -> int:
        """Which conversation, from 1, a message of the file is in."""
        return bisect_right(self.starts, number - 1)

    def events(self) -> Iterator[tuple[int, Prepared]]:
        """All events of the file, in order. Raises InputError with the place."""
        for where, conversation in self._chats.conversations:
            self.starts.append(self._seen)
            self._answer.conversations += 1
            self._check(self._seen, 0)
            name = text_id(conversation, *CONVERSATION_IDS)
            yield from self._conversation(f"{where} ({name[:60]})" if name else where, name, conversation)

    def _conversation(
        self, where: str, name: str | None, conversation: dict[str, Any]
    ) -> Iterator[tuple[int, Prepared]]:
        shape = SHAPES[self._chats.shape]
        try:
            messages = list(shape.messages(conversation))
            self._answer.left_out["abandoned"] += shape.abandoned(conversation, len(messages))
            label, told = first_of(conversation, CONVERSATION_TIMES)
            begun = instant_of(told, label)
        except InputError as problem:
            raise placed(problem, where) from None
        begun = self._since if begun is None else begun
        owner = {self._options.owner_from: conversation.get(self._options.owner_from)}
        ids = partial(self._ids, owner)
        turns = Turns(name, begun, self._openings, ids)
        for place, record in enumerate(counted(messages, self._check, len(messages)), 1):
            self._seen += 1
            try:
                turn = self._kept(turns, _read(shape, record))
                events = [] if turn is None else list(self._events_of(owner | turn))
            except InputError as problem:
                raise placed(problem, f"{where}, message {place}") from None
            yield from ((self._seen, event) for event in events)

    def _events_of(self, turn: dict[str, Any]) -> Iterator[Prepared]:
        return events_of(turn, self._options, self._log, self._answer.imported)

    def _kept(self, turns: Turns, message: Message) -> dict[str, Any] | None:
        if message.left_out is None and is_long(message.text):
            self._answer.imported.long_turn(self._seen, cut=self._options.long_turns == CUT)
        message = self._cut(message)
        if message.left_out is not None:
            self._answer.left_out[message.left_out] += 1
            return None
        self._answer.left_out.update(attachment=message.attachments)
        return turns.turn(message)

    def _cut(self, message: Message) -> Message:
        """As it is taken in: one that is too long is cut or left out."""
        if message.left_out is not None or not is_long(message.text):
            return message
        if self._options.long_turns == CUT:
            return replace(message, text=beginning(message.text))
        return replace(message, left_out="too_long")

    def _ids(self, told: dict[str, Any]) -> KeyedIds:
        """The ids of a conversation that lacks some, made with its owner's secret: asked for before anything is derived."""
        owner = owner_of(told, self._options)
        if self._naming is None or self._naming.owner != owner:
            now = self._log.now()  # no secret for a name that validation refuses
            turn: Any = TurnRecorded(turn_id="-", role="user", text="-")
            by = importer(self._log)
            make_event(turn, owner=owner, occurred_at=from_micros(now), actor="user", now=now, by=by)
            self._naming = self._log.naming(owner, make=True)
        return KeyedIds(self._naming)


def _read(shape: ChatShape, record: Any) -> Message:
    if not isinstance(record, dict):
        raise refused("message", str(record)[:80], "a JSON object")
    return shape.read(record)
