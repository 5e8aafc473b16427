"""How close a search result is to a turn, for the published threshold of proactive retrieval. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from engramlog_server.projections.language.sentences import without_question_words
from engramlog_server.projections.views.view import OwnerView


def closeness(relevance: float, coverage: float, score: float, best: float) -> float:
    """How close a search result is to the turn, 0 to 1: what the threshold is compared with.

    The greater of the published relevance (memory.md, section 11) and sqrt(coverage * score / best): how many of the turn's
    words it holds, and how near it stands to the best result. The published relevance alone hardly ever reaches 0.7 for turns
    as people say them.
    """
    standing = min(max(score / best, 0.0), 1.0) if best > 0 else 0.0
    return min(1.0, max(relevance, sqrt(min(max(coverage, 0.0), 1.0) * standing)))


def closenesses(view: OwnerView, query: str, results: Sequence[Mapping[str, Any]]) -> list[float]:
    """`closeness` of each result of a search, best first as it answered; 0 for what the view knows no more.

    What replaced something holds the words of that too: it is found in them.
    """
    rows = [_rows(view, result) for result in results]
    wanted, flat = without_question_words(query), [row for several in rows for row in several]
    known = view.coverage(wanted, np.array(flat, dtype=np.int64)) if flat and wanted.strip() else np.zeros(len(flat))
    held = iter(known.tolist())
    best = results[0]["score"] if results else 0.0
    return [
        closeness(result["relevance"], max(next(held) for _ in several), result["score"], best) if several else 0.0
        for result, several in zip(results, rows, strict=True)
    ]


def _rows(view: OwnerView, result: Mapping[str, Any]) -> list[int]:
    """The row of a result and of what it replaced; none where the view knows it no more."""
    if view.columns.row(result["id"]) is None:
        return []
    ids = (result["id"], *result.get("explain", {}).get("replaces", ()))
    return [row for row in map(view.columns.row, ids) if row is not None]
