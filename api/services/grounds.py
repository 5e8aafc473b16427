"""What memories rest on, as producers report it: a digest that something has now, told to every memory that rests on another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec import structs
from pydantic_core import PydanticCustomError

from engramlog_server.api.requests.checks import check_limit, check_owner, masked
from engramlog_server.api.services.histories import SCANNED
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.shapes import Reported
from engramlog_server.api.work.patience import weigh
from engramlog_server.events.catalogue import GroundChanged
from engramlog_server.events.envelope import AnyEvent, micros
from engramlog_server.events.errors import ConcurrencyError, EventIdTaken, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of, position_text
from engramlog_server.events.standing import report_objection
from engramlog_server.events.vocabulary import DIGEST_RULE, MAX_REQUEST_EVENTS, URI_RULE, check_digest, check_uri
from engramlog_server.projections.decide.command import EVENT, Ids
from engramlog_server.projections.fold.provenance import standing_on


class Grounds:
    """Takes reports about what one store's memories rest on. Safe for threads."""

    def __init__(self, log: EventLog, reader: Reader, writer: Writer) -> None:
        self._log = log
        self._reader = reader
        self._writer = writer

    def report(
        self,
        owner: str,
        uri: str,
        digest: str,
        *,
        limit: int = MAX_REQUEST_EVENTS,
        actor: str = "user",
        occurred_at: str | None = None,
        key: str | None = None,
    ) -> Reported:
        """This uri has this digest now: an event for each memory that rests on it and was last known with another one.

        Told again it finds nothing to do; under the `key` of the first time it answers as then.
        At most `limit` memories at once; `left` says how many more there are: report again.
        `newer`: of how many something newer is known already. Raises InputError for what cannot be.
        """
        check_owner(owner)
        _check(uri, digest)
        if problem := report_objection(actor, self._writer.by):
            raise refused(*problem)
        most = check_limit(limit, MAX_REQUEST_EVENTS)
        ids = self._writer.ids_of(owner, key, make=True)
        told = GroundChanged(memory_id="-", uri=uri, digest=digest)
        when = self._writer.when(occurred_at)
        with self._reader.snapshot(owner) as snapshot:
            weigh(len(snapshot.view) // SCANNED)
            found = [one for one in standing_on(snapshot.view.columns, uri) if one.known != digest]
            position, warning = snapshot.position, snapshot.told
        # With the view read: what an equal report does from now on is not in it.
        if key is not None and (again := self._before(owner, key, ids, told, most, actor)) is not None:
            return again
        due = [one for one in found if one.since <= when]
        answer: dict[str, object] = {
            "uri": masked(uri),
            "digest": digest,
            "withheld": [one.memory_id for one in due[:most] if one.digest != digest],
            "back": [one.memory_id for one in due[:most] if one.digest == digest],
            "left": max(len(due) - most, 0),
            "newer": len(found) - len(due),
        }
        if not due:
            return cast("Reported", {**answer, "owner": owner, "position": position, "changes": [], **warning})
        events = [
            self._writer.event(structs.replace(told, memory_id=one.memory_id), owner, when, actor, event_id=ids(name))
            for one, name in zip(due[:most], _names(most), strict=False)
        ]
        try:
            return cast("Reported", self._writer.done(owner, events, answer))
        except (ConcurrencyError, EventIdTaken):  # whoever sent the same at the same time was first
            again = None if key is None else self._before(owner, key, ids, told, most, actor)
            if again is None:
                raise
            return again

    def _before(self, owner: str, key: str, ids: Ids, told: GroundChanged, most: int, actor: str) -> Reported | None:
        """What the same report did under this key before; None where nothing was said under it. Raises KeyTaken."""

        def agrees(events: Sequence[AnyEvent]) -> bool:
            same = [isinstance(one.data, GroundChanged) and _about(one.data) == told for one in events]
            return all(same) and {one.actor for one in events} == {actor}

        events = self._writer.before(owner, key, [ids(name) for name in _names(most)], agrees)
        if not events:
            return None
        partition, seqs = partition_of(owner, self._log.partitions), [one.seq for one in events]
        changed = [one.event.data.memory_id for one in events if isinstance(one.event.data, GroundChanged)]
        changes = self._writer.effects(owner, partition, seqs)
        with self._reader.snapshot(owner) as snapshot:
            weigh(len(snapshot.view) // SCANNED)
            found = standing_on(snapshot.view.columns, told.uri)
            back = {one.memory_id for one in found if one.digest == told.digest}
            other = [one for one in found if one.known != told.digest]
            newer = sum(one.since > micros(events[0].event.occurred_at) for one in other)
            return {
                "uri": masked(told.uri),
                "digest": told.digest,
                "withheld": [one for one in changed if one not in back],
                "back": [one for one in changed if one in back],
                "left": len(other) - newer,
                "newer": newer,
                "owner": owner,
                "position": position_text(partition, seqs[-1]),
                "changes": changes,
                **snapshot.told,
            }


def _about(data: GroundChanged) -> GroundChanged:
    """What is reported, of no memory in particular."""
    return structs.replace(data, memory_id="-")


def _names(most: int) -> list[str]:
    """What the events of a report are to it, the first as that of any call."""
    return [EVENT, *(f"{EVENT} {number}" for number in range(1, most))]


def _check(uri: str, digest: str) -> None:
    try:
        check_uri(uri)
    except PydanticCustomError:
        raise refused("uri", masked(uri[:80]), URI_RULE) from None
    try:
        check_digest(digest)
    except PydanticCustomError:
        raise refused("digest", digest[:80], DIGEST_RULE) from None
