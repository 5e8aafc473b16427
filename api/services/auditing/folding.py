"""Folding an owner's events again without some of them, next to the owner as it is; writes nothing.

The selection of left-out events is read here, in the words of every face.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import NamedTuple, TypedDict, cast

from engramlog_server.api.requests.checks import Progress, TimesAsked, check_actor
from engramlog_server.api.requests.snapshots import Snapshot
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.work.patience import current_check, weigh
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.parameters import ParameterValue
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from engramlog_server.projections.checks import Bounds, counted
from engramlog_server.projections.fold.owner import OwnerHistory
from engramlog_server.projections.memory.sources import NamedSource
from engramlog_server.projections.past.folding import RecordsFold
from engramlog_server.projections.reports.sides import Side
from engramlog_server.projections.reports.strikes import Closure, LogGraph, Strikes
from engramlog_server.projections.reports.struck_log import Beginning, StruckLog
from engramlog_server.projections.reports.undoing import Undoing, packed
from engramlog_server.projections.views.view import OwnerView

MOST_NAMED = 1_000
"""Of one kind, in one call."""
_LIKEST = 5
"""Names that a refusal tells of those that are there."""
_COMPARED = 500
"""Those of them that are compared, the nearest by their beginnings: an owner may have 100,000 sessions."""
_POSITION = re.compile(r"[0-9]{1,4}:[0-9]{1,16}\Z")
_KNOWN_AS = {
    "without": "event ids of this owner or positions, applied by then; `engramlog history OWNER` shows them",
    "turns": "ids of turns of this owner; `engramlog why OWNER ID --provenance` shows them",
    "sessions": "sessions in which something of this owner was said",
    "sources": "user, assistant, judge, system or import where a memory of this owner has that source, or the URI of a ground",
    "principals": "who brought events of this owner, whole; `engramlog export OWNER` shows it (recorded since log format 2)",
    "correlations": "a correlation_id of this owner's events",
    "models": "language models that decided events of this owner, as a principal names them behind ` model:`",
}


class StrikesAsked(TypedDict, total=False):
    """What is to be struck, by its kind."""

    without: Sequence[str]
    without_turns: Sequence[str]
    without_sessions: Sequence[str]
    without_sources: Sequence[str]
    without_actors: Sequence[str]
    without_principals: Sequence[str]
    without_correlations: Sequence[str]
    without_models: Sequence[str]


KINDS = tuple(StrikesAsked.__annotations__)


def named_in(asked: Mapping[str, object]) -> dict[str, list[str]]:
    """What is named, by all of its kinds."""
    told = ((name, asked.get(name)) for name in KINDS)
    return {name: list(cast("Sequence[str]", values)) if values else [] for name, values in told}


def strikes_of(told: Mapping[str, Sequence[str]], partition: int) -> Strikes:
    """What is named, checked. Raises InputError naming the field: for an actor that cannot be, a position of another owner."""
    for name, values in told.items():
        if len(values) > MOST_NAMED:
            raise refused(name, f"{len(values):,} values", f"at most {MOST_NAMED:,}")
    for actor in told["without_actors"]:
        check_actor(actor, "without_actors")
    ids, seqs = set[str](), set[int]()
    for text in told["without"]:
        if _POSITION.match(text):
            seqs.add(_seq(text, partition))
        else:
            ids.add(text.lower())
    others = (frozenset(told[name]) for name in KINDS[1:])
    return Strikes(frozenset(ids), frozenset(seqs), *others)


def _seq(text: str, partition: int) -> int:
    of, seq = parse_position(text)
    if of != partition:
        raise refused("without", text, f"a position of this owner: its events stand in partition {partition}")
    return seq


def refusal_of(unmet: dict[str, list[str]], partition: int, there: Callable[[str], list[str]]) -> InputError | None:
    """The refusal of what was named and is nowhere, with what is there and most like it; None where all was found."""
    for field, values in unmet.items():
        texts = (position_text(partition, int(one[1:])) if _is_seq(field, one) else one for one in values)
        name = field if field == "without" else f"without_{field}"
        return refused(name, ", ".join(sorted(texts))[:500], _KNOWN_AS[field] + _likest(values[0], there(field)))
    return None


def _likest(value: str, there: Sequence[str]) -> str:
    """The names there are, in order, that are most like one that is not, in words; nothing where there are none."""
    if not there:
        return ""
    first = max(0, min(bisect(there, value) - _COMPARED // 2, len(there) - _COMPARED))
    near = there[first : first + _COMPARED]
    found = get_close_matches(value, near, n=_LIKEST, cutoff=0) if len(there) > _LIKEST else there
    more = f" and {len(there) - len(found):,} more" if len(there) > len(found) else ""
    return f": {', '.join(found)}{more}"[:300]


def _is_seq(field: str, value: str) -> bool:
    return field == "without" and value[:1] == ":" and value[1:].isdigit()


class FoldAsked(NamedTuple):
    """What is struck, and by what is folded."""

    strikes: Strikes
    alone: bool = False
    """Whether nothing is struck but what is named."""
    forced: Mapping[str, ParameterValue] = {}
    law: str | None = None
    offset: int = 0
    most: int = 1_000
    """Which of the struck events are told."""
    ranks: bool = False
    """Whether questions are ranked on both sides."""
    passes_over: bool = False
    """Whether what is named in vain is passed over: of many owners, each has but some of it."""
    asides: tuple[NamedSource, ...] | None = None
    """Sources to be set aside, where it is asked what undoes it all."""


class Replay(NamedTuple):
    """Events folded without those that are struck."""

    seqs: array[int]
    """Of all that were looked at."""
    closure: Closure
    log: StruckLog
    history: OwnerHistory
    undoing: Undoing | None


class Sides(NamedTuple):
    """What is answered, and beside it what would be."""

    snapshot: Snapshot
    """Held while these are."""
    before: Side
    after: Side
    replay: Replay


NOTHING_STRUCK = Closure({}, frozenset(), frozenset(), ())


class Refolder:
    """Folds owners of one store anew. Safe for threads."""

    def __init__(self, reader: Reader, partitions: int) -> None:
        self._reader = reader
        self._partitions = partitions

    @contextmanager
    def sides(self, owner: str, wanted: FoldAsked, times: TimesAsked) -> Iterator[Sides]:
        """What is answered now, or of the past that is asked about, and what would be.

        Raises InputError for what was named in vain. The log is folded while nobody waits for the owner's view; where the owner
        went on meanwhile, once more while it is held.
        """
        with self._reader.snapshot(owner, **times) as snapshot:
            seqs = self._seqs(owner, snapshot)
        replay = self._folded(owner, seqs, wanted, times.get("on_progress"))
        with self._reader.snapshot(owner, **times) as snapshot:
            seqs = self._seqs(owner, snapshot)
            if seqs != replay.seqs:
                replay = self._folded(owner, seqs, wanted, times.get("on_progress"))
            if wanted.ranks:
                snapshot.present.conversation  # noqa: B018 - of which that of what would be is made, and of neither anew
            after = Side(view_beside(snapshot, replay.history), snapshot.now)
            yield Sides(snapshot, Side(snapshot.view, snapshot.now), after, replay)

    def _seqs(self, owner: str, snapshot: Snapshot) -> array[int]:
        return array("q", self._reader.seqs(owner, snapshot))

    def _folded(self, owner: str, seqs: array[int], wanted: FoldAsked, on_progress: Progress | None) -> Replay:
        check, total, partition = current_check(), len(seqs), partition_of(owner, self._partitions)
        weigh(total)
        secret = self._reader.secret(owner)
        begun = Beginning(lambda: RecordsFold(forced=wanted.forced, law=wanted.law, secret=secret))
        closure = NOTHING_STRUCK
        if wanted.strikes.any:
            graph = LogGraph(wanted.strikes)
            for one in counted(self._reader.stored(owner, seqs, _part(on_progress, 0, 2 * total)), check, total):
                event = decode(one.kind, one.body)
                graph.take(one, event)
                begun.take(one, event, graph)
            refusal = None if wanted.passes_over else refusal_of(graph.unmet, partition, graph.there)
            if refusal is not None:
                raise refusal
            closure = graph.close(alone=wanted.alone, check=check)
            del graph
            begun = begun.before(closure, seqs)
        undoing = None
        if wanted.asides is not None:
            models = (NamedSource(principal=one) for one in sorted(closure.principals))
            undoing = Undoing(closure, (*wanted.asides, *models))
        log = StruckLog(closure, partition, wanted.offset, wanted.most, undoing)
        for one, event in begun.to_tell:
            log.keeps(one, event)
        fold, done = begun.fold, begun.events
        passes = 2 if wanted.strikes.any else 1
        told = _part(on_progress, (passes - 1) * total + done, passes * total)
        for one in counted(self._reader.stored(owner, seqs[done:], told), check, total - done):
            event = decode(one.kind, one.body)
            if log.keeps(one, event):
                fold.take(one, event)
        return Replay(seqs, closure, log, packed(fold.history), undoing)


def view_beside(snapshot: Snapshot, history: OwnerHistory) -> OwnerView:
    """What was folded, as a view of the past is made: what is purged or secret today stays so. Asked while the snapshot is held."""
    bounds = Bounds(current_check(), weigh)
    return OwnerView.of_history(snapshot.view.owner, history, present=snapshot.present, bounds=bounds)


def _part(on_progress: Progress | None, first: int, total: int) -> Progress | None:
    """The progress of one pass over the log, or a part of one, where so many steps of all were taken before."""
    if on_progress is None:
        return None
    told: Callable[[int, int], None] = on_progress
    return lambda done, _total: told(first + done, total)
