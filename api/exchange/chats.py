"""Exported chats of one owner in one piece: checked whole first, then appended and folded.

Importing exported chats: each message of a user or an assistant becomes a turn, as `import turns` reads them.

Ids are the export's own, `conversation/message`, else made of what was said, when and where in its conversation, with the owner's
secret (`api.exchange.chats`): importing a file again appends nothing, and a conversation that has grown adds what is new.
System prompts, tools, hidden messages, thoughts, abandoned branches and attachments are left out, and counted. So is a message or
conversation that cannot be read, which is named as well: it never ends the import.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple, cast

from engramlog_server.api.checks import check_owner, importer, parse_instant
from engramlog_server.api.choices import CUT, LEAVE, MOST_CHAT_BYTES, MOST_CHAT_TURNS
from engramlog_server.api.exchange.chat_shapes import (
    CONVERSATION_IDS,
    CONVERSATION_TIMES,
    LINES,
    SHAPES,
    ChatShape,
    Message,
    first_of,
    odd,
    text_id,
    time_of,
)
from engramlog_server.api.exchange.files import ChatFile, Found, open_chats, placed
from engramlog_server.api.exchange.turns import (
    ImportOptions,
    ImportReport,
    Turn,
    append_numbered,
    beginning,
    check_way,
    events_of,
    import_turns,
    is_long,
    owner_of,
    paced,
)
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.work import current_check
from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.envelope import Naming, Prepared, derived_id, from_micros, utc_text
from engramlog_server.events.errors import InputError, RequestTooLarge, refused
from engramlog_server.events.log import Appendable, AppendReceipt, EventLog, positions_by_partition
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.validation import DOTS, make_event
from engramlog_server.events.vocabulary import FUTURE_TOLERANCE, is_id
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.prompt.block import without_blocks
from engramlog_server.projections.shapes import ChatsImported, UnreadableChat, Warned

COMMAND = "send fewer conversations at a time, or use `engramlog import turns --shape auto`"


@dataclass(slots=True)
class ChatsTaken:
    """What an import of chats did to the log."""

    owner: str
    imported: ImportedChats
    warning: Warned = field(default_factory=Warned)
    """`quarantined`, where the owner is: then nothing is folded yet."""

    @property
    def whole(self) -> bool:
        """Whether everything is in the log, and folded."""
        return self.imported.imported.done.exit_code == 0 and not self.warning

    def as_dict(self) -> ChatsImported:
        """JSON-ready: the counts of the import, for the one owner."""
        told = self.imported.as_dict()
        del told["owners"]
        return cast("ChatsImported", {"owner": self.owner, **told, **self.warning})


class _Rehearsal(InMemoryEventLog):
    """A log that is thrown away, and takes no more than one piece may hold."""

    def __init__(self, now: int, most: int) -> None:
        super().__init__(lambda: now)
        self._left = most

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """As the log's. Raises RequestTooLarge beyond the piece's size."""
        self._left -= len(events)
        if self._left < 0:
            raise RequestTooLarge(
                f"chats of more than {MOST_CHAT_TURNS:,} turns; at most {MOST_CHAT_TURNS:,} are allowed: {COMMAND}",
                got=f"more than {MOST_CHAT_TURNS}",
                allowed=MOST_CHAT_TURNS,
            )
        return super().append(events, expected_heads=expected_heads, principal=principal)


class Chats:
    """Takes exported chats in. Safe for threads."""

    def __init__(
        self,
        log: EventLog,
        reader: Reader,
        writer: Writer,
        turns_written: Callable[[str], None] = lambda _owner: None,
    ) -> None:
        """`turns_written` is called with the owner after turns were written."""
        self._log = log
        self._reader = reader
        self._writer = writer
        self._turns_written = turns_written

    def take_in_whole(
        self,
        owner: str,
        chats: bytes,
        *,
        shape: str = "auto",
        since: str | None = None,
        memories: bool = True,
        long_turns: str = LEAVE,
        project: str | None = None,
        live: bool = False,
    ) -> ChatsTaken:
        """Append the turns of an export and wait until they are folded.

        Unreadable messages and conversations are left out, counted and named. Of what is no export, a bad line of turns, or more
        than the bounds allow, nothing at all is written.

        `chats` is what a file of exported chats holds. `since` is when conversations without times began. `project` is that of the
        turns' memories. `live`: the turns were just said, so they are trusted as said, not as imported. Raises
        InputError with the place of what is wrong, RequestTooLarge, and what appending raises: then the same can be sent again.
        """
        if len(chats) > MOST_CHAT_BYTES:
            raise RequestTooLarge(
                f"chats of {len(chats):,} bytes; at most {MOST_CHAT_BYTES:,} are allowed: {COMMAND}",
                got=len(chats),
                allowed=MOST_CHAT_BYTES,
            )
        began = None if since is None else parse_instant(since, "since")
        options = ImportOptions(
            owner=check_owner(owner), memories=memories, long_turns=check_way(long_turns), project=project, live=live
        )
        self._rehearse(chats, shape, options, began)
        check = current_check()
        log = paced(self._log, self._writer.settle_positions, check=check)
        answer = ChatsTaken(owner, _imported(log, chats, shape, options, began, check))
        done = answer.imported.imported.done
        if done.error is not None:
            raise done.error
        positions = [position for position in done.positions if position]
        if positions:
            self._writer.settle_positions(positions_by_partition(positions))
            with self._reader.snapshot(owner) as snapshot:
                answer.warning = snapshot.warning
            self._turns_written(owner)
            self._writer.on_texts(owner, answer.imported.imported.turns)
        return answer

    def _rehearse(self, chats: bytes, shape: str, options: ImportOptions, began: int | None) -> None:
        most = MOST_CHAT_TURNS * (2 if options.memories else 1)
        log = _Rehearsal(self._log.now(), most)
        done = _imported(log, chats, shape, options, began, current_check()).imported.done
        if done.error is not None:
            raise done.error
        if done.conflicts:
            first = done.conflicts[0]
            where = ", ".join(f"{name} {first[name]}" for name in ("line", "conversation", "message") if name in first)
            raise refused("turn_id", f"one at {where} that stands for another text before it", "an id for each turn")


def _imported(
    log: EventLog, chats: bytes, shape: str, options: ImportOptions, began: int | None, check: Check
) -> ImportedChats:
    """The import of one piece, whose errors speak of the request's body instead of a file."""
    try:
        answer = import_chats(log, open_chats(BytesIO(chats), shape, MOST_CHAT_BYTES), options, began, check=check)
    except InputError as problem:
        raise _of_a_body(problem) from None
    done = answer.imported.done
    if isinstance(done.error, InputError):
        done.error = _of_a_body(done.error)
    return answer


def _of_a_body(problem: InputError) -> InputError:
    if problem.context.get("field") == "turn_id" and "lines" in problem.context:  # a cure by options is none here
        return refused("turn_id", problem.context["got"], problem.context["allowed"])
    if problem.context.get("field") != "file":
        return problem
    allowed = str(problem.context["allowed"])
    return refused("body", problem.context["got"], allowed)


FUTURE = FUTURE_TOLERANCE // timedelta(microseconds=1)
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


class KeyedIds(NamedTuple):
    """Makes the ids that an export does not have, with the owner's secret."""

    naming: Naming

    def conversation(self, name: str) -> str:
        """The session of a conversation whose name can be no id."""
        return self.naming.made("chat conversation", name)

    def opening(self, told: MessageIdentity) -> str:
        """The session of a conversation without a name: by how it opens, and how many before it in the file opened so."""
        return self.naming.made("chat opening", *told.words, str(told.number))

    def turn(self, session: str, told: MessageIdentity) -> str:
        """The id of a message without one, by its place in the conversation."""
        return self.naming.made("chat turn", session, str(told.number), *told.words)


class Turns:
    """The turns of one conversation, one message after the other."""

    def __init__(
        self, name: str | None, begun: int | None, openings: MutableMapping[str, int], ids: Callable[[], KeyedIds]
    ) -> None:
        """`name`: the conversation's own id. `begun`: microseconds, of the first message where it has no time. `openings`: how
        many conversations of the file opened so. `ids` is asked only where the export lacks one."""
        self._name, self._begun, self._openings, self._ask_ids = name, begun, openings, ids
        self._last: int | None = None
        self._ids: KeyedIds | None = None
        self._taken: set[str] = set()
        self.session: str | None = None
        """None before the first turn."""

    def turn(self, message: Message) -> Turn:
        """A turn as a line of `import turns` holds it. Raises InputError where it has no time, or an id that stood before."""
        at = utc_text(from_micros(self._when(message)))
        told = MessageIdentity(at, message.role, message.text, len(self._taken))
        if self.session is None:
            self.session = self._session_of(told)
        turn_id = self._own_id(self.session, message)
        if turn_id is None:
            turn_id = self._made().turn(self.session, told)
        if turn_id in self._taken:
            raise odd("repeated_id", "id", message.id, "another id than the messages before it have")
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
            allowed = "a time with the message or its conversation, or --since TIME for those without"
            raise odd("no_time", "time", None, allowed)
        self._last = when
        return when

    def _session_of(self, told: MessageIdentity) -> str:
        """The conversation's id; without one, what is made of how it opens, and of how many before it in the file opened so."""
        if self._name is not None:
            return self._name if is_id(self._name) and self._name not in DOTS else self._made().conversation(self._name)
        ids, opening = self._made(), opening_of(told)
        self._openings[opening] += 1
        return ids.opening(told._replace(number=self._openings[opening] - 1))

    def _made(self) -> KeyedIds:
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


MIXED = "mixed"
UNREADABLE = (
    "no_content",
    "bad_content",
    "no_role",
    "unknown_role",
    "repeated_id",
    "no_time",
    "unreadable",
    "no_messages",
    "unknown_shape",
    "other_shape",
)
"""Reasons for which a message or conversation is left out because it cannot be read."""
MOST_NAMED = 20
"""So many of the unreadable conversations and messages are named; all are counted."""


@dataclass(slots=True)
class ImportedChats:
    """What an import of chats did."""

    shape: str
    imported: ImportReport = field(default_factory=ImportReport)
    conversations: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """What is in no turn, by reason. Left out by design: messages that are system, tool, hidden, other, too_long (over 64 KiB) or
    on an abandoned branch, and each attachment without a text. Unreadable: no_content, bad_content, no_role, unknown_role,
    repeated_id, no_time, unreadable, each part of a message without its text (part), and conversations (no_messages,
    unknown_shape, other_shape)."""
    adjusted: Counter[str] = field(default_factory=Counter)
    """What was read although it is odd: naive_time (UTC was assumed), bad_time (taken as without a time), branch (the newest,
    since the export names none), characters (replaced, since they are none)."""
    unreadable: list[UnreadableChat] = field(default_factory=list)
    """The first 20 unreadable ones, each with `conversation`, perhaps `id` and `message`, `reason` and `why`."""

    def leave_out(self, problem: InputError, conversation: int, name: str | None, message: int | None = None) -> None:
        """Count an unreadable conversation or message, and name it."""
        reason = str(problem.context.get("reason", "unreadable"))
        self.left_out[reason] += 1
        if len(self.unreadable) < MOST_NAMED:
            unreadable: UnreadableChat = {"conversation": conversation, "reason": reason, "why": problem.message}
            if name is not None:
                unreadable["id"] = name[:60]
            if message is not None:
                unreadable["message"] = message
            self.unreadable.append(unreadable)

    def as_dict(self) -> dict[str, object]:
        """That of the turns, with the shape, the conversations and what was left out."""
        chats: dict[str, object] = {
            "shape": self.shape,
            "conversations": self.conversations,
            "left_out": {reason: count for reason, count in self.left_out.items() if count},
            "adjusted": {reason: count for reason, count in self.adjusted.items() if count},
            "unreadable": self.unreadable,
        }
        return chats | self.imported.as_dict()


def import_chats(
    log: EventLog,
    chats: ChatFile,
    options: ImportOptions,
    since: int | None = None,
    on_progress: Callable[[int], None] = lambda _done: None,
    check: Check = unchecked,
) -> ImportedChats:
    """Append the turns of a file of chats; an unreadable conversation or message is left out, counted and named.

    Of the shape `lines` a bad line stops there: that is the format of a producer, not of an export. So does a refused owner, which
    is a wrong option, and an export without any time if `since` is missing.

    `since` (microseconds since 1970) is when a conversation without times began. `on_progress` gets the conversations done
    (lines, of the shape `lines`); `check` is asked between messages whether to go on, and what it raises is the import's error.
    """
    answer = ImportedChats(chats.shape)
    if chats.shape == LINES:
        answer.imported = import_turns(log, counted(chats.lines, check, 0), options, on_progress)
        answer.left_out["too_long"] = answer.imported.too_long
        return answer
    reading = _Reading(log, chats, options, since, answer, check)
    imported = answer.imported
    append_numbered(
        log.append,
        reading.events(),
        imported.done,
        imported.take,
        lambda done: on_progress(reading.conversation_of(done)),
    )
    answer.adjusted["characters"] += chats.replaced
    if answer.imported.done.error is None and not answer.imported.turns:
        answer.imported.done.error = reading.without_time
    for told in (*answer.imported.done.conflicts, *answer.imported.done.failed):
        number = told.pop("line") or 0
        conversation = reading.conversation_of(number)
        told["conversation"], told["message"] = conversation, number - reading.starts[conversation - 1]
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
        self.without_time: InputError | None = None
        """The first message for which `since` is needed."""
        self._seen = 0

    def conversation_of(self, number: int) -> int:
        """Which conversation, from 1, a message of the file is in."""
        return bisect_right(self.starts, number - 1)

    def events(self) -> Iterator[tuple[int, Prepared]]:
        """All events of the file, in order. Raises InputError with the place if an owner is refused."""
        for found in self._chats.conversations:
            self.starts.append(self._seen)
            self._check(self._seen, 0)
            name = text_id(found.conversation, *CONVERSATION_IDS)
            where = f"{found.where} ({name[:60]})" if name else found.where
            try:
                if found.problem is not None or found.shape is None:
                    raise found.problem or refused("conversation", None, "a conversation")
                branch = SHAPES[found.shape].messages(found.conversation)
            except InputError as problem:
                self._answer.leave_out(placed(problem, where), len(self.starts), name)
                continue
            self._answer.conversations += 1
            if found.shape != self._answer.shape:
                self._answer.shape = MIXED
            self._answer.left_out["abandoned"] += branch.abandoned
            self._answer.adjusted["branch"] += branch.chosen
            yield from self._conversation(where, name, found, branch.messages)

    def _conversation(
        self, where: str, name: str | None, found: Found, messages: list[Any]
    ) -> Iterator[tuple[int, Prepared]]:
        shape, conversation = SHAPES[str(found.shape)], found.conversation
        begun = self._time(*time_of(first_of(conversation, CONVERSATION_TIMES)[1]))
        begun = self._since if begun is None else begun
        owner = {self._options.owner_from: conversation.get(self._options.owner_from)}
        turns = Turns(name, begun, self._openings, partial(self._ids, owner))
        for place, record in enumerate(counted(messages, self._check, len(messages)), 1):
            self._seen += 1
            try:
                turn = self._kept(turns, _read(shape, record))
                events = [] if turn is None else list(self._events_of(owner | turn))
            except InputError as problem:
                told = placed(problem, f"{where}, message {place}")
                if problem.context.get("field") in ("owner", self._options.owner_from):
                    raise told from None
                self._answer.leave_out(told, len(self.starts), name, place)
                if told.context.get("reason") == "no_time" and self.without_time is None:
                    self.without_time = told
                continue
            yield from ((self._seen, event) for event in events)

    def _time(self, when: int | None, note: str | None) -> int | None:
        """A time of the export, counted if it is odd; None for one in the future, which no event may have."""
        if when is not None and when > self._log.now() + FUTURE:
            when, note = None, "bad_time"
        if note is not None:
            self._answer.adjusted[note] += 1
        return when

    def _events_of(self, turn: Turn) -> Iterator[Prepared]:
        return events_of(turn, self._options, self._log, self._answer.imported)

    def _kept(self, turns: Turns, message: Message) -> Turn | None:
        if message.left_out is None and is_long(message.text):
            self._answer.imported.long_turn(self._seen, cut=self._options.long_turns == CUT)
        message = self._cut(message)
        if message.left_out is not None:
            self._answer.left_out[message.left_out] += 1
            return None
        self._answer.left_out.update(attachment=message.attachments, part=message.odd_parts)
        return turns.turn(replace(message, at=self._time(message.at, message.time_note)))

    def _cut(self, message: Message) -> Message:
        """As it is taken in: one that is too long is cut or left out."""
        if message.left_out is not None or not is_long(message.text):
            return message
        if self._options.long_turns == CUT:
            return replace(message, text=beginning(message.text))
        return replace(message, left_out="too_long")

    def _ids(self, told: Turn) -> KeyedIds:
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
        raise odd("bad_content", "message", record, "a JSON object")
    return shape.read(record)
