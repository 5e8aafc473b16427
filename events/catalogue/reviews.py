"""What a person answers to what waits for one: a change of his own word by a lower source."""

from __future__ import annotations

from typing import Literal

from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import Id, NamedEvent, Reason


class ReviewSettled(Shape, frozen=True, kw_only=True):
    """A person answered what waited for one, so it waits no longer. What he accepts he says himself, in an event of its own.

    `waiting`: the event of a lower source that waited.
    """

    memory_id: Id
    waiting: NamedEvent
    verdict: Literal["accepted", "rejected"]
    reason: Reason = ""
