"""Importing exported chats: each message of a user or an assistant becomes a turn, as `import turns` reads them.

Ids are the export's own, `conversation/message`, else digests of what was said, when and where in its conversation: importing
a file again appends nothing, and a conversation that has grown adds what is new. System prompts, tools, hidden messages,
thoughts, abandoned branches and attachments are left out, and counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from api.asked import refused
from api.chat_file import ChatFile, placed
from api.chat_shapes import LINES, SHAPES, Message, first_of, instant_of, text_id
from api.importing import Imported, ImportOptions, append_numbered, events_of, import_turns
from api.long_texts import CUT, beginning, is_long
from events.envelope import Prepared, derived_id, from_micros, utc_text
from events.errors import InputError
from events.log import EventLog
from events.vocabulary import check_id
from projections.checks import Check, counted, unchecked

MINUTE = 60_000_000
"""Between two messages of which the second has no time, in microseconds."""
CONVERSATION_TIMES = ("create_time", "created_at", "created", "timestamp")
CONVERSATION_IDS = ("conversation_id", "id", "uuid", "session_id")


@dataclass(slots=True)
class ImportedChats:
    """What an import of chats did."""

    shape: str
    imported: Imported = field(default_factory=Imported)
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
            label, begun = first_of(conversation, CONVERSATION_TIMES)
            turns = _Turns(name, instant_of(begun, label), self._since, self._openings)
        except InputError as problem:
            raise placed(problem, where) from None
        owner = {self._options.owner_from: conversation.get(self._options.owner_from)}
        for place, record in enumerate(counted(messages, self._check, len(messages)), 1):
            self._seen += 1
            try:
                if not isinstance(record, dict):
                    raise refused("message", str(record)[:80], "a JSON object")
                turn = self._kept(turns, shape.read(record))
                events = [] if turn is None else list(self._events_of(owner | turn))
            except InputError as problem:
                raise placed(problem, f"{where}, message {place}") from None
            yield from ((self._seen, event) for event in events)

    def _events_of(self, turn: dict[str, Any]) -> Iterator[Prepared]:
        return events_of(turn, self._options, self._log.now(), self._answer.imported)

    def _kept(self, turns: _Turns, message: Message) -> dict[str, Any] | None:
        left_out = message.left_out
        if left_out is None and is_long(message.text):
            cut = self._options.long_turns == CUT
            self._answer.imported.long_turn(self._seen, cut=cut)
            if cut:
                message = replace(message, text=beginning(message.text))
            else:
                left_out = "too_long"
        if left_out is not None:
            self._answer.left_out[left_out] += 1
            return None
        self._answer.left_out.update(attachment=message.attachments)
        return turns.turn(message)


class _Turns:
    """The turns of one conversation: its session, and what time and id a message has."""

    def __init__(self, name: str | None, begun: int | None, since: int | None, openings: Counter[str]) -> None:
        self._name, self._begun, self._openings = name, begun if begun is not None else since, openings
        self._last: int | None = None
        self._session: str | None = None
        self._ids: set[str] = set()
        self._count = 0

    def turn(self, message: Message) -> dict[str, Any]:
        """A turn as a line of `import turns` holds it."""
        when = self._when(message)
        at = utc_text(from_micros(when))
        session = self._session_of(at, message)
        turn_id = self._own_id(session, message)
        if turn_id is None:
            turn_id = derived_id("chat turn", session, str(self._count), at, message.role, message.text)
        if turn_id in self._ids:
            raise refused("id", message.id, "another id than the messages before it have")
        self._ids.add(turn_id)
        self._count += 1
        return {
            "turn_id": turn_id,
            "occurred_at": at,
            "speaker": message.role,
            "session": session,
            "text": message.text,
        }

    def _when(self, message: Message) -> int:
        """When it was said: as the export says, else a minute after the message before it, else as its conversation began."""
        when = message.at
        if when is None:
            when = self._begun if self._last is None else self._last + MINUTE
        if when is None:
            raise refused("time", None, "a time with the message or its conversation, or --from TIME for those without")
        self._last = when
        return when

    def _session_of(self, at: str, message: Message) -> str:
        """The conversation's id; without one, a digest of how it opens, and of how many before it in the file opened so."""
        if self._session is None:
            if self._name is not None:
                self._session = self._name if _is_id(self._name) else derived_id("chat conversation", self._name)
            else:
                opening = derived_id("chat opening", at, message.role, message.text)
                self._session = derived_id("chat opening", opening, str(self._openings[opening]))
                self._openings[opening] += 1
        return self._session

    def _own_id(self, session: str, message: Message) -> str | None:
        """The export's ids, if they make one: a message may stand in two conversations, so its id alone does not do."""
        own = f"{session}/{message.id}"
        return own if message.id is not None and self._name is not None and _is_id(own) else None


def _is_id(text: str) -> bool:
    try:
        check_id(text)
    except ValueError:
        return False
    return True
