"""The published formula of search (seed 001, sections 3.3.1 and 3.3.2; memory.md, section 11). Pure.

    k         mean over the query's keywords of the best match x keyword weight          (`keyword_match`)
    text      b / (b + 8) of BM25, a parameter, never scaled by the best hit
    cosine    of the question's and the memory's whole vectors, not below 0
    t         0.5 + 0.5 * 0.5 ** (age in days / 30)
    relevance hybrid 0.4 k + 0.4 max(text, cosine) + 0.2 t; keyword (0.4 k + 0.2 t) / 0.6; semantic (0.4 cosine + 0.2 t) / 0.6
    score     0.7 relevance + 0.2 interaction + 0.1 kind

`relevance` alone is told with every result whatever the ranking: it is comparable between answers.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.memory.columns import Columns, Rows
from engramlog_server.projections.memory.record import DAY

PREFERENCE, OUTPUT = "user_preference", "command_output"
"""Kinds with a priority of their own."""
RELEVANCE_SHARE, INTERACTION_SHARE, KIND_SHARE = 0.7, 0.2, 0.1
"""What relevance, interaction and kind count in the score."""
KIND_PRIORITIES = {PREFERENCE: 1.0, OUTPUT: 0.6}
OTHER_KIND = 0.3
FULL_ACCESSES = 100
"""Accesses at which the interaction term is full."""


class Matched(NamedTuple):
    """How well rows match, aligned, each in [0, 1]."""

    keyword: Floats
    text: Floats
    cosine: Floats


def hit(matched: Matched) -> np.ndarray:
    """Which rows are results at all: k + text + cosine > 0."""
    return matched.keyword + matched.text + matched.cosine > 0


def relevance_parts(matched: Matched, time: Floats, mode: str, parameters: Parameters) -> dict[str, Floats]:
    """What adds up to the relevance in a search mode, by name: `keyword`, `text` or `meaning`, and `time`."""
    by_keyword, by_text = parameters.search_keyword_share, parameters.search_text_share
    by_time = parameters.search_time_share
    if mode == "hybrid":
        nearer = matched.cosine > matched.text
        return {
            "keyword": by_keyword * matched.keyword,
            "text": by_text * np.where(nearer, 0.0, matched.text),
            "meaning": by_text * np.where(nearer, matched.cosine, 0.0),
            "time": by_time * time,
        }
    first, share, values = (
        ("keyword", by_keyword, matched.keyword) if mode == "keyword" else ("meaning", by_text, matched.cosine)
    )
    whole = max(share + by_time, 1e-12)  # both 0: an owner's choice, under which nothing is relevant
    return {first: share * values / whole, "time": by_time * time / whole}


def youth(columns: Columns, rows: Rows, now: int, parameters: Parameters) -> Floats:
    """t: from 1 for a memory made now down to 0.5, half of the way every 30 days; one of the future counts as made now."""
    days = np.maximum(now - columns.created_at[rows], 0) / DAY
    fallen: Floats = 0.5 + 0.5 * 0.5 ** (days / parameters.search_time_days)
    return fallen


def interaction(columns: Columns, rows: Rows, now: int, parameters: Parameters) -> Floats:
    """0.5 min(ln(1 + accesses) / ln 100, 1) + 0.5 * 0.5 ** (days since the last access / 30); 0 if never accessed."""
    counts, accessed = columns.access_count[rows], columns.last_accessed_at[rows]
    often = np.minimum(np.log1p(np.maximum(counts, 0)) / log(FULL_ACCESSES), 1.0)
    days = np.maximum(now - accessed, 0) / DAY
    lately = np.where(counts > 0, 0.5 ** (np.minimum(days, 1e6) / parameters.search_time_days), 0.0)
    together: Floats = 0.5 * often + 0.5 * lately
    return together


def kind_priority(columns: Columns, rows: Rows) -> Floats:
    """user_preference before command_output before any other kind."""
    priorities = np.array([KIND_PRIORITIES.get(kind, OTHER_KIND) for kind in columns.kinds] or [0.0])
    found: Floats = priorities[columns.kind[rows]] if rows.size else np.zeros(0)
    return found


def score_parts(
    columns: Columns, rows: Rows, relevance: dict[str, Floats], now: int, parameters: Parameters
) -> dict[str, Floats]:
    """What adds up to the published score: the parts of the relevance, interaction and kind, each with its share."""
    share = RELEVANCE_SHARE
    return {name: share * part for name, part in relevance.items()} | {
        "interaction": INTERACTION_SHARE * interaction(columns, rows, now, parameters),
        "kind": KIND_SHARE * kind_priority(columns, rows),
    }
