"""Who spoke to an owner: sessions, principals, actors, models and sources, by the names that `replay` takes. Leaves no trace."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, Unpack

from api.requests.checks import check_limit, check_owner
from api.requests.secrets import masked_name
from api.requests.snapshots import Snapshot
from api.requests.timelines import LineTerms, Progress, TimeSpan, span_of, told_lines
from api.services.asides import aside_told
from api.services.auditing.owners_today import OwnersToday
from api.services.reading import Reader
from api.shapes import NamedSourceTold, SourcesNamed
from api.showing import UNKNOWN
from api.work.patience import current_check, weigh
from events.envelope import AnyEvent, Stored, decode, micros
from events.errors import refused
from events.text.saying import is_text
from projections.checks import counted
from projections.language.traditional import part_folded
from projections.memory.sources import Asides
from projections.redis.said import PIECE
from projections.redis.view import RedisViews
from projections.reports.named_sources import (
    BY,
    NOT_ASIDE,
    NamedAside,
    SourceCounts,
    SourcesGathered,
    asides_by_name,
)
from projections.reports.strikes import uris_in
from projections.views.event_words import hidden_among
from projections.views.query import moment

MOST_SOURCES = 1_000
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
        wanted, skipped = check_limit(limit, MOST_SOURCES), max(offset, 0)
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
            **told_lines(times),
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
            "first_recorded": _or_none(one.first_recorded),
            "last_recorded": _or_none(one.last_recorded),
            "set_aside": None if whole is None else aside_told(self._views, owner, partition, whole),
            "partly_aside": aside.parts,
        }


def _or_none(at: int | None) -> str | None:
    return None if at is None else moment(at)


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
