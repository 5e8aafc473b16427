"""The turns of one exported conversation: the session, time and id of each message.

Ids are the export's own where it has them. Else they are made of what was said, with the owner's secret: the same export gives the
same ids, and none of them confirms a guess of a text.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any, NamedTuple, Protocol

from api.exchange.chat_shapes import Message
from events.envelope import derived_id, from_micros, utc_text
from events.errors import refused
from events.ids import DOTS
from events.naming import Naming
from events.vocabulary import is_id

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
