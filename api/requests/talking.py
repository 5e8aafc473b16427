"""Reading the conversation that a turn stands in: as far back as its block looks, at present or in a past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from api.requests.pasts import Past
from projections.choices import WORKING_MESSAGES
from projections.memory.working_memory import Conversation, Said, conversation
from projections.redis.said import Recent, recent, recent_among
from projections.redis.view import RedisViews


class TalkAsked(NamedTuple):
    """A turn, as far as it is known."""

    owner: str
    text: str
    session: str | None
    turn_id: str | None

    def talk(self, said: Sequence[Said]) -> Conversation:
        """The conversation that it stands in."""
        return conversation(said, self.text, self.session, self.turn_id)

    def is_told_by(self, said: Sequence[Said]) -> bool:
        """Whether these tell all that its block tells of the conversation."""
        talk = self.talk(said)
        return len(talk.messages) >= WORKING_MESSAGES and (self.turn_id is None or talk.current is not None)


def read_talk(views: RedisViews, partitions: int, asked: TalkAsked, past: Past | None) -> Recent:
    """What was said, back from the newest, at present or in a past."""
    if past is not None:
        return recent_among(views, asked.owner, past.seqs, past.silent(), asked.is_told_by)
    return recent(views, asked.owner, partitions, asked.is_told_by)
