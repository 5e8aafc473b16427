"""Sources of an owner: listing them, setting them aside and bringing them back; and what something that memories rest on is now.

A source is a session, a principal, an actor, a model or the origin of a memory, by the names that `replay` takes. What memories
rest on has a digest: a producer reports the one that it has now, and it is told to every memory that rests on another.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, Unpack, cast

from msgspec import structs
from pydantic_core import PydanticCustomError

from engramlog_server.api.checks import (
    LineTerms,
    Progress,
    TimeSpan,
    check_actor,
    check_id_of,
    check_limit,
    check_owner,
    lines_answer,
    masked,
    masked_name,
    span_of,
)
from engramlog_server.api.choices import UNKNOWN
from engramlog_server.api.services.events import OwnersToday
from engramlog_server.api.services.histories import SCANNED, aside_answer
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Given, Writer
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.api.work import current_check, weigh
from engramlog_server.events.catalogue import GroundChanged, SourceBroughtBack, SourceSetAside
from engramlog_server.events.envelope import AnyEvent, Stored, decode, micros
from engramlog_server.events.errors import ConcurrencyError, EventIdTaken, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of, position_text
from engramlog_server.events.standing import report_objection
from engramlog_server.events.vocabulary import (
    DIGEST_RULE,
    MAX_REQUEST_EVENTS,
    URI_RULE,
    check_digest,
    check_uri,
    is_text,
)
from engramlog_server.projections.checks import counted
from engramlog_server.projections.decide.commands import EVENT, BringBack, Ids, Tell
from engramlog_server.projections.fold.links import standing_on
from engramlog_server.projections.language.lexicon import part_folded
from engramlog_server.projections.memory.record import MOST_SOURCES, Asides, NamedSource, known
from engramlog_server.projections.redis.said import PIECE
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.strikes import (
    BY,
    NOT_ASIDE,
    NamedAside,
    SourceCounts,
    SourceEffects,
    SourcesGathered,
    asides_by_name,
    effects_of,
    uris_in,
    withheld_by,
)
from engramlog_server.projections.shapes import (
    NamedSourceTold,
    Reported,
    SomeMemories,
    SourceSaid,
    SourcesAside,
    SourcesNamed,
)
from engramlog_server.projections.views.event_words import hidden_among
from engramlog_server.projections.views.query import moment

MOST_NAMED = 1_000
"""Of a page."""
MOST_PART = 400
"""Characters of a part of a name."""


class _Spans(NamedTuple):
    happened: TimeSpan
    recorded: TimeSpan

    def hold(self, one: Stored, event: AnyEvent) -> bool:
        """Whether an event counts; what tells no recorded time lies in no span of that line."""
        if not self.happened.holds(micros(event.occurred_at)):
            return False
        if self.recorded == TimeSpan():
            return True
        return (recorded := one.recorded) is not None and self.recorded.holds(recorded)


class NamedSources:
    """Lists the sources of one store's owners. Safe for threads."""

    def __init__(self, views: RedisViews, reader: Reader) -> None:
        self._views, self._reader = views, reader

    def sources(
        self,
        owner: str,
        *,
        by: Sequence[str] = (),
        search: str | None = None,
        limit: int = 100,
        offset: int = 0,
        since: str | None = None,
        until: str | None = None,
        recorded_since: str | None = None,
        recorded_until: str | None = None,
        **times: Unpack[LineTerms],
    ) -> SourcesNamed:
        """A page of who spoke to an owner, by what happened last, the newest first. Reads all events of the owner.

        `by`: which of `BY`; none: all. `search`: only names that hold this, as a search for owners compares. Spans: RFC 3339 with
        a zone, or a day by the owner's clocks. Of a kind 10,000 names are held at the most; the events of others are told by
        `left_out`. Raises InputError naming the field.
        """
        wanted, skipped = check_limit(limit, MOST_NAMED), max(offset, 0)
        kinds, matches = _kinds(by), _matching(search)
        with self._reader.snapshot(check_owner(owner), **times) as snapshot:
            seqs = array("q", self._reader.seqs(owner, snapshot))
            asides, zone = snapshot.present.state.asides, snapshot.present.parameters.time_zone
            hint = self._hint(owner, snapshot)
        recorded = span_of(recorded_since, recorded_until, zone, "recorded_")
        spans = _Spans(span_of(since, until, zone), recorded)
        gathered = SourcesGathered(kinds, matches)
        weigh(len(seqs))
        for one, event, hidden in self._read(owner, seqs, "source" in kinds, times.get("on_progress")):
            gathered.take(one, event, counts=spans.hold(one, event), hidden=hidden)
        found = gathered.ordered()
        return {
            "owner": owner,
            "sources": self._told(owner, snapshot.partition, found[skipped : skipped + wanted], asides),
            "total": len(found),
            "offset": skipped,
            "by": list(kinds),
            "search": search,
            "since": since,
            "until": until,
            "recorded_since": recorded_since,
            "recorded_until": recorded_until,
            "events": gathered.events,
            "left_out": {name: gathered.left_out[name] for name in BY if name in gathered.left_out},
            "withheld": gathered.withheld,
            "hint": hint,
            **lines_answer(times),
            **snapshot.place,
        }

    def _hint(self, owner: str, snapshot: Snapshot) -> str | None:
        """What is said of an owner of whom nothing is recorded; asked while the snapshot is held."""
        today = snapshot._replace(view=snapshot.present, past=None)
        return None if len(self._reader.seqs(owner, today)) else UNKNOWN.format(owner=owner)

    def _read(
        self, owner: str, seqs: Sequence[int], asks_uris: bool, on_progress: Progress | None
    ) -> Iterator[tuple[Stored, AnyEvent, frozenset[str]]]:
        """The owner's events at these seqs, each with the URIs that may not be told of it, as those of `events`."""
        stored = counted(self._reader.stored(owner, seqs, on_progress), current_check(), len(seqs))
        for some in _pieces(stored):
            piece = [(one, decode(one.kind, one.body)) for one in some]
            resting = [one for one, event in piece if uris_in(event.data)] if asks_uris else []
            today = OwnersToday(self._views, self._reader, resting) if resting else None
            for one, event in piece:
                uris = uris_in(event.data) if today is not None else ()
                hidden = hidden_among(one, event, today.of(owner), uris) if today is not None and uris else frozenset()
                yield one, event, hidden

    def _told(self, owner: str, partition: int, page: Iterable[SourceCounts], asides: Asides) -> list[NamedSourceTold]:
        by_name = asides_by_name(asides)
        return [self._row(owner, partition, one, by_name.get((one.by, one.name), NOT_ASIDE)) for one in page]

    def _row(self, owner: str, partition: int, one: SourceCounts, aside: NamedAside) -> NamedSourceTold:
        name = masked_name(one.name)
        whole = aside.whole
        return {
            "by": one.by,
            "name": name,
            "masked": name != one.name,
            "events": one.events,
            "memories": one.memories,
            "late": one.late,
            "first_happened": moment(one.first_happened),
            "last_happened": moment(one.last_happened),
            "first_recorded": moment(one.first_recorded),
            "last_recorded": moment(one.last_recorded),
            "set_aside": None if whole is None else aside_answer(self._views, owner, partition, whole),
            "partly_aside": aside.parts,
        }


def _pieces(stored: Iterator[Stored]) -> Iterator[list[Stored]]:
    while piece := list(islice(stored, PIECE)):
        yield piece


def _kinds(by: Sequence[str]) -> tuple[str, ...]:
    """What is asked for, in the order of `BY`."""
    for one in by:
        if one not in BY:
            raise refused("by", one[:80], ", ".join(BY))
    return tuple(name for name in BY if name in by or not by)


def _matching(search: str | None) -> Callable[[str], bool] | None:
    """Whether a name holds what is searched for, of what may be told of it."""
    if not search:
        return None
    if not is_text(search, MOST_PART):
        raise refused("search", search[:80], f"a part of a name, in UTF-8, at most {MOST_PART} characters")
    part = part_folded(search)
    return lru_cache(1 << 14)(lambda name: part in part_folded(masked_name(name)))


MOST_TOLD = 100
"""Ids told of each thing that a source did."""
MOST_PRINCIPAL = 200


class Sources:
    """Sets sources of one store's owners aside. Safe for threads."""

    def __init__(self, views: RedisViews, reader: Reader, writer: Writer) -> None:
        self._views = views
        self._reader = reader
        self._writer = writer

    def set_aside(
        self,
        owner: str,
        *,
        principal: str | None = None,
        of_actor: str | None = None,
        reason: str = "",
        dry_run: bool = False,
        **given: Unpack[Given],
    ) -> SourceSaid:
        """From here on what a source said, and says, is withheld, until it is brought back; a person's to say.

        `session` is the source's, not one in which this is said; what is named together must hold together.
        `dry_run`: tells what it would withhold, and writes nothing.
        Raises InputError for a source that cannot be, or none.
        """
        source = _checked(owner, given.pop("session", None), principal, of_actor)
        told, place = self._told(owner, source)
        if dry_run:
            return cast("SourceSaid", {"owner": owner, **told, "dry_run": True, "changes": [], **place})
        data = SourceSetAside(**structs.asdict(source), reason=reason)
        done = self._writer.carry_out(owner, Tell((data,), told={**told, "dry_run": False}), **given)
        return cast("SourceSaid", done.answer)

    def bring_back(
        self,
        owner: str,
        *,
        principal: str | None = None,
        of_actor: str | None = None,
        reason: str = "",
        dry_run: bool = False,
        **given: Unpack[Given],
    ) -> SourceSaid:
        """What a source said and did counts again. Raises InputError for one that is not set aside under this name."""
        source = _checked(owner, given.pop("session", None), principal, of_actor)
        told, place = self._told(owner, source)
        with self._reader.snapshot(owner) as snapshot:
            one = known(snapshot.view.state.asides, source)
        data = SourceBroughtBack(**structs.asdict(source), reason=reason)
        stands = one is not None and one.stands
        command = BringBack((data,), told={**told, "dry_run": dry_run}, stands=stands, source=_named(source))
        if dry_run:
            command.events({}, lambda name: name)
            return cast("SourceSaid", {"owner": owner, **command.told, "changes": [], **place})
        return cast("SourceSaid", self._writer.carry_out(owner, command, **given).answer)

    def asides(self, owner: str, **times: Unpack[LineTerms]) -> SourcesAside:
        """What is set aside now, the newest first, and how many memories each withholds. Leaves no trace."""
        check_owner(owner)
        with self._reader.snapshot(owner, **times) as snapshot:
            asides, partition, place = snapshot.view.state.asides, snapshot.partition, snapshot.place
            counts = withheld_by(asides, snapshot.view.columns)
        standing = sorted((one for one in asides if one.stands), key=lambda one: (one.at, one.seq), reverse=True)
        return {
            "owner": owner,
            "sources": [
                {**aside_answer(self._views, owner, partition, one), "memories": counts[one.seq]} for one in standing
            ],
            "total": len(standing),
            "most": MOST_SOURCES,
            "as_of": times.get("as_of"),
            "known_by": times.get("known"),
            **place,
        }

    def _told(self, owner: str, source: NamedSource) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        with self._reader.snapshot(owner) as snapshot:
            found, place = effects_of(snapshot.view, source, current_check()), snapshot.place
        return {
            "session": source.session,
            "principal": source.principal,
            "of_actor": source.actor,
            "memories": len(found.withheld),
            **{name: some_memories(ids) for name, ids in _effects(found).items()},
        }, dict(place)


def _effects(found: SourceEffects) -> dict[str, tuple[str, ...]]:
    return {"negated": found.negated, "revised": found.revised, "merged": found.merged, "deleted": found.deleted}


def some_memories(ids: Sequence[str]) -> SomeMemories:
    """The number of ids, and the first of them."""
    return {"total": len(ids), "ids": list(ids[:MOST_TOLD])}


def _checked(owner: str, session: str | None, principal: str | None, actor: str | None) -> NamedSource:
    check_owner(owner)
    if (session, principal, actor) == (None, None, None):
        raise refused("session", None, "a session, a principal or an actor (of_actor), or several of them")
    if session is not None:
        check_id_of("session", session)
    if principal is not None and not is_text(principal, MOST_PRINCIPAL):
        raise refused("principal", principal[:60], f"a name in UTF-8 of at most {MOST_PRINCIPAL} characters")
    if actor is not None:
        check_actor(actor, "of_actor")
    return NamedSource(session, principal, actor)


def _named(source: NamedSource) -> str:
    parts = (("session", source.session), ("principal", source.principal), ("actor", source.actor))
    return ", ".join(f"{name} {value}" for name, value in parts if value is not None)


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
