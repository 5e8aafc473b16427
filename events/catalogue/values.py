"""Values that a person takes back for good, and takes up again. A value is known by the digest of its statement, never by words."""

from __future__ import annotations

from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import Id, Reason, StatementRules, Time, TurnMarks, Values


class ValueRejected(Shape, frozen=True, kw_only=True):
    """A person says that this is not so: what states it later becomes no memory, and what states it now is withheld.

    `values`: keyed digests of one statement, and of the triples that say the same. `until`: evidence from after it counts again.
    `turns`: those that say it and were retracted with it, by their hashes; wherever they are told, they are withheld too.
    """

    values: Values
    rules: StatementRules
    memory_id: Id | None = None
    until: Time | None = None
    reason: Reason = ""
    turns: TurnMarks = ()


class ValueReadmitted(Shape, frozen=True, kw_only=True):
    """A person says that it holds after all: a rejection of these values from before it counts no more."""

    values: Values
    rules: StatementRules
    memory_id: Id | None = None
    reason: Reason = ""
