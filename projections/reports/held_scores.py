"""Scores of a question's matches, of which what words and meaning say is held and the weight moves. Pure.

What is held is that of one place, at which the question was ranked once; there, at its instant, a score is that of `search`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engramlog_server.events.errors import refused
from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.ranking.conversation_terms import TERM_WEIGHTS
from engramlog_server.projections.ranking.question import Ranking
from engramlog_server.projections.ranking.ranked import Ranked, best
from engramlog_server.projections.ranking.rankings import WEIGHT_SHARE
from engramlog_server.projections.ranking.recall import ranking_of
from engramlog_server.projections.ranking.search_request import FOLLOWING, SearchRequest
from engramlog_server.projections.views.query import ViewQuery

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
