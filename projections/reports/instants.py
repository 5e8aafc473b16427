"""What some memories weigh, and where they stand among each other, at many instants. Pure.

At each instant weights, and what is shown and why not, are those of a view of what counts by then, at that instant. Of a question's
scores what words and meaning say is held, and the weight moves. What is held is that of one place, at which the question was ranked
once; there, at its instant, a score is that of `search`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from engramlog_server.events.errors import refused
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.fold.owner import OwnerState
from engramlog_server.projections.fold.working_set import OwnerSettings
from engramlog_server.projections.laws.modes import AGED, REASONS, Mode, Visibility, visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.corrections import GONE
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.past.life import Refold, ToldEvent
from engramlog_server.projections.ranking.conversation_terms import TERM_WEIGHTS
from engramlog_server.projections.ranking.question import Ranking
from engramlog_server.projections.ranking.ranked import Ranked, best
from engramlog_server.projections.ranking.rankings import WEIGHT_SHARE
from engramlog_server.projections.ranking.recall import ranking_of
from engramlog_server.projections.ranking.search_request import FOLLOWING, SearchRequest
from engramlog_server.projections.views.query import NOTHING_ASKED, ViewQuery, leaving, strengths
from engramlog_server.projections.views.quoting import as_hidden_today
from engramlog_server.projections.views.view import OwnerView

_in_order: Callable[[Memory], tuple[int, str]] = attrgetter("created_seq", "id")
"""The order of rows: as memories were created."""


class Moving:
    """A view of memories that hang together, brought forward by events in whatever order they are taken."""

    def __init__(
        self,
        owner: str,
        told: Sequence[ToldEvent],
        hidden: Mapping[str, Memory],
        law: str | None = None,
        check: Check = unchecked,
        most: int = 0,
    ) -> None:
        """`told`: all that may be taken, by number in the order of the log. `hidden`: today's records of what no past may show.
        `law`: by which is read, whatever the owner chose. `check` is told of each evolution, of about `most`."""
        self._owner, self._hidden, self._law = owner, hidden, law
        self._fold = Refold(told, check=check, most=most)
        self._settings = OwnerSettings()
        self._memories: dict[str, Memory] = {}
        self.view = self._made()

    def take(self, numbers: Collection[int]) -> None:
        """Take these events in too, each at its place in the log."""
        if not numbers:
            return
        self._fold.take(numbers)
        settings, moved, gone = self._fold.settings, self._fold.moved(), False
        changed = dict[str, Memory]()
        for name in moved:
            memory = self._fold.memory(name)
            if memory is None:
                gone |= self._memories.pop(name, None) is not None
            else:
                changed[name] = as_hidden_today(memory, self._hidden[name]) if name in self._hidden else memory
        self._memories |= changed
        as_before, self._settings = settings == self._settings, settings
        if gone:  # an event that came late has it that a memory was never made
            self.view = self._made()
        elif changed or not as_before:
            self.view.follow(self._state(), _ordered(changed.values()))

    def _made(self) -> OwnerView:
        return OwnerView(self._owner, self._state(), _ordered(self._memories.values()))

    def _state(self) -> OwnerState:
        chosen = self._settings
        return OwnerState(
            profile=self._law or chosen.profile,
            parameters=chosen.parameters,
            synonyms=chosen.synonyms,
            rejections=chosen.rejections,
            asides=chosen.asides,
        )


def _ordered(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=_in_order)


_WEIGHT = "weight"


class HeldScore(NamedTuple):
    """The parts of one memory's score, in the order in which they are added."""

    before: float
    """Those before the weight's."""
    after: tuple[tuple[str, float], ...]
    """Those after it, by name."""
    lent: float | None
    """The whole score of what stands by another's match: no weight is in it, and it moves with none. None of all others."""
    long_ago: bool = False
    """Whether it is brought in although age alone withholds it."""

    def at(self, share: float) -> float:
        """The score if the weight brings so much."""
        if self.lent is not None:
            return self.lent
        return self.before + share + sum(part for _, part in self.after)


class HeldScores(NamedTuple):
    """A question as it was ranked at one place."""

    ranking: str
    best: tuple[str, ...]
    """Ids of its results, the best first."""
    scores: Mapping[str, HeldScore]
    """By id, of all that match."""
    words: frozenset[str]
    """What it asks for, by which is told what leaves as corrected."""

    def share(self, weight: float) -> float:
        """What an unclipped weight brings to a score."""
        return weight_share(self.ranking, weight)


def weight_share(ranking: str, weight: float) -> float:
    """What an unclipped weight brings to a score, as `conversation` and `text` have it."""
    held = max(weight, 0.0)
    if ranking == "text":
        return WEIGHT_SHARE * held / (1.0 + held)
    return float(np.round(TERM_WEIGHTS[_WEIGHT] * (held / (1.0 + held)), 6))


def held_scores(
    asked: ViewQuery, query: str, request: SearchRequest, sense: Sense | None, limit: int, ids: Collection[str]
) -> HeldScores:
    """A question's best `limit` results, and the scores of these and of whatever of `ids` matches.

    Of what the mode withholds here the score is that which debug mode tells: it may be shown at another instant.
    """
    if request.ranking not in FOLLOWING:
        raise refused(
            "ranking", request.ranking, f"{' or '.join(FOLLOWING)}: the others go by more of time than a weight"
        )
    found = ranking_of(asked, query, request, sense)
    columns = asked.view.columns
    first = best(found.ranked.scores, found.ranked.rows, limit)
    names = tuple(columns.memories[row].id for row in found.ranked.rows[first].tolist())
    wanted = list(dict.fromkeys([*names, *ids]))
    scores = _of(found, wanted)
    reasons = found.this.seen.reasons
    rows = {name: columns.row(name) for name in wanted if name not in scores}
    withheld = [name for name, row in rows.items() if row is not None and reasons[row] >= 0]
    if withheld and asked.mode != "debug":
        scores |= _of(ranking_of(asked._replace(mode="debug"), query, request, sense), withheld)
    return HeldScores(request.ranking, names, scores, found.this.asked_words)


def _of(found: Ranking, names: Sequence[str]) -> dict[str, HeldScore]:
    """The scores of those of these memories that are ranked."""
    columns, ranked = found.this.view.columns, found.ranked
    places = {row: at for at, row in enumerate(ranked.rows.tolist())}
    scores = dict[str, HeldScore]()
    for name in names:
        row = columns.row(name)
        if row is not None and row in places:
            weight = weight_share(found.this.request.ranking, float(found.this.seen.weights[row]))
            scores[name] = _held(ranked, places[row], weight, long_ago=row in found.this.long_ago)
    return scores


def _held(ranked: Ranked, at: int, share: float, *, long_ago: bool) -> HeldScore:
    before, after, met = 0.0, list[tuple[str, float]](), False
    for name, part in ranked.parts.items():
        value = float(part[at])
        if name == _WEIGHT:
            met = True
        elif met or name in ("current", "context", "share"):
            if value:
                after.append((name, value))
        else:
            before += value
    told = float(ranked.parts[_WEIGHT][at]) if met else 0.0
    lent = float(ranked.scores[at]) if abs(told - share) > 1e-9 else None
    return HeldScore(before, tuple(after), lent, long_ago)


ACTIVATED, WEIGHT, SCORE = "activated", "weight", "score"
ORDERS = (ACTIVATED, WEIGHT)
"""By what memories are ranked where nothing is asked: as `list` has them, or by weight."""
_AGED = frozenset(REASONS.index(one) for one in AGED)


class InstantStep(NamedTuple):
    """One instant: which events count from here on, and when weights are computed."""

    numbers: Sequence[int]
    now: int
    """Microseconds since 1970."""


class Track(NamedTuple):
    """One memory; an element an instant."""

    weights: list[float | None]
    """As `get` tells them; None where there is none, or only a tombstone."""
    ranks: list[int | None]
    """Among those that are shown; None where it is not, or does not match."""
    withheld: list[int | None]
    """Why it is not shown, as `REASONS` numbers them."""
    scores: list[float | None]
    """Where something is asked and it matches."""


class Sheet(NamedTuple):
    """All of them."""

    tracks: Mapping[str, Track]
    laws: list[str]
    """The law of each instant."""


class RowsAsked(NamedTuple):
    """What is asked of each instant."""

    ids: Sequence[str]
    mode: Mode
    order: str = ACTIVATED
    held: HeldScores | None = None
    """The question's scores; None where nothing is asked."""


def sheet_of(moving: Moving, steps: Sequence[InstantStep], asked: RowsAsked, check: Check = unchecked) -> Sheet:
    """Weights, ranks and reasons of these memories, step by step."""
    found, laws = Sheet({name: Track([], [], [], []) for name in asked.ids}, []), list[str]()
    for number, step in enumerate(steps):
        check(number, len(steps))
        moving.take(step.numbers)
        _put(found, moving.view, step.now, asked)
        laws.append(moving.view.law.name)
    return found._replace(laws=laws)


def _put(found: Sheet, view: OwnerView, now: int, asked: RowsAsked) -> None:
    seen, columns = _seen(view, now, asked), view.columns
    rows = {name: row for name in asked.ids if (row := columns.row(name)) is not None}
    there = {name: row for name, row in rows.items() if columns.state[row] != Columns.PURGED}
    scores, standing = dict[str, float](), dict[str, tuple[float, ...]]()
    for name, row in there.items():
        reason, weight = int(seen.reasons[row]), float(seen.weights[row])
        later, active = float(columns.created_seq[row]), float(columns.last_activated_at[row])
        if asked.held is not None:
            held, aged = asked.held.scores.get(name), reason in _AGED
            if held is not None:
                scores[name] = held.at(asked.held.share(weight))
                if reason < 0 or (aged and held.long_ago):
                    standing[name] = (scores[name], later)
        elif reason < 0:
            standing[name] = (weight, active, later) if asked.order == WEIGHT else (active, later)
    places = {name: at for at, name in enumerate(sorted(standing, key=standing.__getitem__, reverse=True), 1)}
    for name, track in found.tracks.items():
        reason = int(seen.reasons[rows[name]]) if name in rows else -1
        track.weights.append(_weight(view, there[name], now) if name in there else None)
        track.ranks.append(places.get(name))
        track.withheld.append(None if reason < 0 or name in places else reason)
        track.scores.append(round(scores[name], 6) if name in scores else None)


def _weight(view: OwnerView, row: int, now: int) -> float:
    return round(view.law.read(view.columns.memories[row], now, view.parameters).weight, 6)


def _seen(view: OwnerView, now: int, asked: RowsAsked) -> Visibility:
    """What the mode shows, as `search` and `list` tell it, and what leaves it as corrected."""
    found = visibility(view.columns, view.law, now, view.parameters, asked.mode)
    if asked.mode != "normal":
        return found
    words = NOTHING_ASKED if asked.held is None else asked.held.words
    gone = np.flatnonzero(found.shown & (strengths(view) == GONE)).tolist()
    return found.without(leaving(view, gone, words), "corrected")
