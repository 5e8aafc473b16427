"""Stages of a question with meaning that can be timed by themselves: the match of its tokens, and the telling of ten results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ops.bench.search_memories import NOW
from projections.embedding.meaning import Sense
from projections.memory.columns import Rows
from projections.ranking.conversation_meaning import token_matches
from projections.ranking.ranked import best
from projections.ranking.recall import ranking_of
from projections.ranking.running import Ranking
from projections.ranking.search_request import PLAIN
from projections.ranking.senses import MeantQuestion, Senses
from projections.ranking.told import results
from projections.views.query import ViewQuery
from projections.views.view import OwnerView

STAGES = ("match", "telling")
LOOKED_AT = 75
"""Memories whose tokens are compared: the best fifty, and the best with those beside them, are 70 to 80."""
_TOLD = 10


class AskedStages:
    """One question at a time, read as far as its stages begin. Nothing may be written to the view meanwhile."""

    def __init__(self, view: OwnerView, meanings: Senses) -> None:
        self._view, self._meanings = view, meanings
        self._sense: Sense | None = None
        self._near: Rows = np.zeros(0, dtype=np.int64)
        self._ranking: Ranking | None = None
        self._first = self._near

    def works(self) -> dict[str, Callable[[str], object]]:
        """Each stage of the question that was read last."""
        return {"match": self._match, "telling": self._tell}

    def read(self, owner: str, query: str) -> None:
        """Read a question: its vectors, the memories nearest to it, and its ranking."""
        sense = self._sense = self._meanings.sense(self._view, owner, MeantQuestion(query))
        assert sense is not None, "the memories have vectors"
        known = np.flatnonzero(sense.known)
        self._near = known[best(sense.cosines(known), known, LOOKED_AT)]
        asked = ViewQuery(self._view, NOW, "review")
        self._ranking = ranking_of(asked, query, PLAIN, sense)
        ranked = self._ranking.ranked
        self._first = best(ranked.scores, ranked.rows, _TOLD)

    def _match(self, _query: str) -> None:
        sense = self._sense
        assert sense is not None, "a question was read"
        if sense.question.words:  # whole vectors alone have no tokens to match
            token_matches(sense.question.pieces, np.ones(len(sense.question.words)), sense.pieces(self._near))

    def _tell(self, _query: str) -> None:
        found = self._ranking
        assert found is not None, "a question was read"
        results(found.this, found.ranked, self._first, found.replaced, found.plan)
