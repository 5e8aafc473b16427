"""Importing exported chats: each message of a user or an assistant becomes a turn, as `import turns` reads them.

Ids are the export's own, `conversation/message`, else made of what was said, when and where in its conversation, with the owner's
secret (`api.exchange.importing_chats`): importing a file again appends nothing, and a conversation that has grown adds what is new.
System prompts, tools, hidden messages, thoughts, abandoned branches and attachments are left out, and counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

from api.choices import CUT
from api.exchange.chat_file import ChatFile, placed
from api.exchange.chat_shapes import LINES, SHAPES, ChatShape, Message, first_of, instant_of, text_id
from api.exchange.importing import (
    ImportOptions,
    ImportReport,
    append_numbered,
    beginning,
    events_of,
    import_turns,
    is_long,
    owner_of,
)
from api.requests.speaking import importer
from events.catalogue import TurnRecorded
from events.envelope import Prepared, derived_id, from_micros, utc_text
from events.errors import InputError, refused
from events.ids import DOTS
from events.log import EventLog
from events.naming import Naming
from events.validation import make_event
from events.vocabulary import is_id
from projections.checks import Check, counted, unchecked
from projections.prompt.block import without_blocks

MINUTE = 60_000_000
"""Between two messages of which the second has no time, in microseconds."""


class MessageIdentity(NamedTuple):
    """What an id is made of: a message's time, role and text, and its number in the conversation or the file."""

    at: str
    role: str
    text: str
    number: int

    @property
    def words(self) -> tuple[str, str, str]:
        """All but the number."""
        return self.at, self.role, self.text


class Ids(Protocol):
    """Makes the ids that an export does not have."""

    def conversation(self, name: str) -> str:
        """The session of a conversation whose name can be no id."""

    def opening(self, told: MessageIdentity) -> str:
        """The session of a conversation without a name: by how it opens, and how many before it in the file opened so."""

    def turn(self, session: str, told: MessageIdentity) -> str:
        """The id of a message without one, by its place in the conversation."""


class KeyedIds(NamedTuple):
    """Made with the owner's secret."""

    naming: Naming

    def conversation(self, name: str) -> str:
        """See `Ids.conversation`."""
        return self.naming.made("chat conversation", name)

    def opening(self, told: MessageIdentity) -> str:
        """See `Ids.opening`."""
        return self.naming.made("chat opening", *told.words, str(told.number))

    def turn(self, session: str, told: MessageIdentity) -> str:
        """See `Ids.turn`."""
        return self.naming.made("chat turn", session, str(told.number), *told.words)


class Turns:
    """The turns of one conversation, one message after the other."""

    def __init__(
        self, name: str | None, begun: int | None, openings: MutableMapping[str, int], ids: Callable[[], Ids]
    ) -> None:
        """`name`: the conversation's own id. `begun`: microseconds, of the first message where it has no time. `openings`: how
        many conversations of the file opened so. `ids` is asked only where the export lacks one."""
        self._name, self._begun, self._openings, self._ask_ids = name, begun, openings, ids
        self._last: int | None = None
        self._ids: Ids | None = None
        self._taken: set[str] = set()
        self.session: str | None = None
        """None before the first turn."""

    def turn(self, message: Message) -> dict[str, Any]:
        """A turn as a line of `import turns` holds it. Raises InputError where it has no time, or an id that stood before."""
        at = utc_text(from_micros(self._when(message)))
        told = MessageIdentity(at, message.role, message.text, len(self._taken))
        if self.session is None:
            self.session = self._session_of(told)
        turn_id = self._own_id(self.session, message)
        if turn_id is None:
            turn_id = self._made().turn(self.session, told)
        if turn_id in self._taken:
            raise refused("id", message.id, "another id than the messages before it have")
        self._taken.add(turn_id)
        return {
            "turn_id": turn_id,
            "occurred_at": at,
            "speaker": message.role,
            "session": self.session,
            "text": without_blocks(message.text),
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

    def _session_of(self, told: MessageIdentity) -> str:
        """The conversation's id; without one, what is made of how it opens, and of how many before it in the file opened so."""
        if self._name is not None:
            return self._name if is_id(self._name) and self._name not in DOTS else self._made().conversation(self._name)
        ids, opening = self._made(), opening_of(told)
        self._openings[opening] += 1
        return ids.opening(told._replace(number=self._openings[opening] - 1))

    def _made(self) -> Ids:
        if self._ids is None:
            self._ids = self._ask_ids()
        return self._ids

    def _own_id(self, session: str, message: Message) -> str | None:
        """The export's ids, if they make one: a message may stand in two conversations, so its id alone does not do."""
        own = f"{session}/{message.id}"
        return own if message.id is not None and self._name is not None and is_id(own) else None


def opening_of(told: MessageIdentity) -> str:
    """How a conversation opens, to count those of one file that open so; it is written nowhere by itself."""
    return derived_id("chat opening", *told.words)


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
