"""Tools of those who look over what is remembered: auditors and operators. None moves a weight, leaves a trace or writes.

Each answers as its route and its command do, from the same call of a service. Secrets stay withheld: revealing one is a person's.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from api.laws import laws
from api.mcp.connection import Connection
from api.mcp.tools_search import MemoryKey
from api.requests.timelines import TimesAsked
from api.services.replaying import parse_settings

MOST = 100
"""Entries of an answer: a model reads them all."""
Place = Annotated[str | None, Field(description="As had happened by: an instant, a day or a position (3:128).")]
Known = Annotated[str | None, Field(description="As was recorded by: an instant, a day or a position.")]
At = Annotated[str | None, Field(description="Weights at this instant, not now.")]
Mode = Annotated[
    Literal["normal", "review", "debug"], Field(description="debug: also what is hidden, with the reason.")
]
Limit = Annotated[int, Field(ge=1, le=MOST)]
Offset = Annotated[int, Field(ge=0, le=1_000_000)]
Order = Literal["oldest", "newest"]
Cursor = Annotated[str | None, Field(description="The next page: what `next` told.")]


class AuditTools:
    """What is asked of one owner's memories, and of the store's state."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def audit_search(
        self,
        query: Annotated[str, Field(description="What to look for, any language.")],
        mode: Mode = "review",
        limit: Limit = 10,
        cursor: Cursor = None,
        as_of: Place = None,
        known: Known = None,
        at: At = None,
    ) -> dict[str, Any]:
        """Search with every score taken apart, also in the past or as it was known then, and without leaving a trace."""
        times: TimesAsked = {"as_of": as_of, "known": known, "at": at}
        with self._connection.session() as asked:
            reader = asked.application.reader
            return reader.search(asked.owner, query, mode=mode, limit=limit, cursor=cursor, trace=False, **times)

    def audit_list(
        self,
        mode: Mode = "review",
        limit: Limit = 50,
        offset: Offset = 0,
        as_of: Place = None,
        known: Known = None,
        at: At = None,
    ) -> dict[str, Any]:
        """A page of the memories, newest activation first, each with its state."""
        times: TimesAsked = {"as_of": as_of, "known": known, "at": at}
        with self._connection.session() as asked:
            return asked.application.reader.list(asked.owner, mode=mode, limit=limit, offset=offset, **times)

    def audit_get(
        self, memory_key: MemoryKey, as_of: Place = None, known: Known = None, at: At = None
    ) -> dict[str, Any]:
        """Everything about one memory: text, versions, corrections, what it rests on and because of what it is kept."""
        with self._connection.session() as asked:
            reader = asked.application.reader
            return reader.get(asked.owner, memory_key, trace=False, as_of=as_of, known=known, at=at)

    def audit_why(
        self,
        memory_key: MemoryKey,
        limit: Limit = 20,
        cursor: Cursor = None,
        order: Order = "newest",
        as_of: Place = None,
        known: Known = None,
        at: At = None,
    ) -> dict[str, Any]:
        """Why a memory weighs what it weighs: every factor, a page of its changes with who caused each, where it is from."""
        times: TimesAsked = {"as_of": as_of, "known": known, "at": at}
        with self._connection.session() as asked:
            reader = asked.application.reader
            return reader.why(asked.owner, memory_key, limit=limit, cursor=cursor, order=order, **times)

    def audit_history(
        self,
        memory_key: Annotated[str | None, Field(description="Of one memory; of all where none is given.")] = None,
        limit: Limit = 20,
        cursor: Cursor = None,
        order: Order = "newest",
        as_of: Place = None,
        known: Known = None,
    ) -> dict[str, Any]:
        """The change log, page by page: every event, who said so, what it decided, the weight before and after."""
        times: TimesAsked = {"as_of": as_of, "known": known}
        with self._connection.session() as asked:
            reader = asked.application.reader
            return reader.history(asked.owner, memory_key, limit=limit, cursor=cursor, order=order, **times)

    def audit_provenance(self, memory_key: MemoryKey, as_of: Place = None, known: Known = None) -> dict[str, Any]:
        """Where a memory comes from: turns, memories it was merged or corrected from, events; a tree of any depth."""
        with self._connection.session() as asked:
            reader = asked.application.reader
            return reader.provenance(asked.owner, memory_key, bounded=True, as_of=as_of, known=known)

    def audit_uses(
        self,
        memory_key: MemoryKey,
        limit: Limit = 20,
        offset: Offset = 0,
        as_of: Place = None,
        known: Known = None,
    ) -> dict[str, Any]:
        """Which answers used a memory: the turns for which it was put into a prompt, and what was replied."""
        with self._connection.session() as asked:
            uses = asked.application.uses
            return uses.uses(asked.owner, memory_key, limit=limit, offset=offset, as_of=as_of, known=known)

    def audit_associations(
        self,
        memory_key: MemoryKey,
        depth: Annotated[int, Field(ge=1, le=4)] = 1,
        as_of: Place = None,
        known: Known = None,
    ) -> dict[str, Any]:
        """What a memory is associated with, as a tree, and by what: keywords, task, time, what was told, recalled together."""
        with self._connection.session() as asked:
            knower = asked.application.knower
            return knower.associations(asked.owner, memory_key, depth=depth, as_of=as_of, known=known)

    def audit_facts(
        self,
        about: Annotated[str | None, Field(description="Only of this person, place or thing.")] = None,
        limit: Limit = 50,
        offset: Offset = 0,
        as_of: Place = None,
        known: Known = None,
    ) -> dict[str, Any]:
        """What is known as triples, with the memories that are their evidence."""
        with self._connection.session() as asked:
            facts = asked.application.facts
            return facts.facts(asked.owner, about=about, limit=limit, offset=offset, as_of=as_of, known=known)

    def audit_replay(
        self,
        parameters: Annotated[
            list[str] | None, Field(max_length=64, description="Each name=value (user_factor=1.3).")
        ] = None,
        without: Annotated[list[str] | None, Field(max_length=MOST, description="Event ids to leave out.")] = None,
        without_actors: Annotated[list[str] | None, Field(max_length=8)] = None,
        query: Annotated[str | None, Field(description="Whose order of results is compared too.")] = None,
        limit: Limit = 10,
        as_of: Place = None,
        known: Known = None,
    ) -> dict[str, Any]:
        """What would differ under other parameters, or without some events or somebody's: folds anew, and writes nothing."""
        with self._connection.session() as asked:
            return asked.application.replayer.replay(
                asked.owner,
                parameters=parse_settings(parameters or ()),
                without=without or (),
                without_actors=without_actors or (),
                query=query,
                limit=limit,
                as_of=as_of,
                known=known,
            )

    def audit_compare(
        self, limit: Limit = 20, as_of: Place = None, known: Known = None, at: At = None
    ) -> dict[str, Any]:
        """The same history read under every law: what each would show, and where they disagree."""
        with self._connection.session() as asked:
            return asked.application.comparer.compare(asked.owner, limit=limit, as_of=as_of, known=known, at=at)

    def audit_laws(self) -> dict[str, Any]:
        """Every law by which memories can be weighed: formula, factors, thresholds, source."""
        return laws()

    def audit_stats(self, as_of: Place = None, known: Known = None, at: At = None) -> dict[str, Any]:
        """Counts of the memories by category, level and state."""
        with self._connection.session() as asked:
            return asked.application.operator.stats(asked.owner, as_of=as_of, known=known, at=at)

    def audit_status(self) -> dict[str, Any]:
        """The state of the whole store: partitions with head, checkpoint, lag, lease and quarantine; workers; memory."""
        with self._connection.session() as asked:
            return asked.application.operator.status()

    def audit_alarms(self) -> dict[str, Any]:
        """What stopped or was lost in the store, until it is over or somebody has looked."""
        with self._connection.session() as asked:
            return asked.application.operator.alarms()
