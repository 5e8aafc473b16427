"""How many memories of a list have each value of each filter: facets, each counted as if its own filter were not told. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

import numpy as np

from engramlog_server.projections.checks import UNBOUNDED, Bounds, Check, counted
from engramlog_server.projections.index.record_names import SOURCES
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.memory.columns import STATUSES, TIERS, Flags
from engramlog_server.projections.memory.record import CATEGORIES, LEVELS
from engramlog_server.projections.reports.listing.matching import Matching
from engramlog_server.projections.reports.listing.rows import SpansTold
from engramlog_server.projections.reports.listing.wanted import FLAGS, SENSITIVITIES, TRUSTS_TOLD, RowsWanted
from engramlog_server.projections.views.query import ViewQuery, seen_at


class ValueCount(TypedDict):
    """How many memories have one value."""

    value: str
    count: int


class FacetCounts(TypedDict):
    """Counts by the values of one filter, as if that filter were not told."""

    counts: list[ValueCount]
    left_out: int


class Counts(SpansTold):
    """How many memories a list has, by the values of its filters."""

    owner: str
    mode: str
    total: int
    by_status: FacetCounts
    by_level: FacetCounts
    by_trust: FacetCounts
    by_tier: FacetCounts
    by_category: FacetCounts
    by_sensitivity: FacetCounts
    by_source: FacetCounts
    by_flag: FacetCounts
    by_kind: FacetCounts
    by_tag: FacetCounts
    by_law: FacetCounts


MOST_VALUES = 50
"""Kinds, and tags, that are told, those of the most memories."""


def facets(asked: ViewQuery, wanted: RowsWanted, bounds: Bounds = UNBOUNDED) -> Counts:
    """Counts of what the mode shows and the filters match, by the values of each filter; by law, of what the filters match."""
    found, columns = Matching(asked, wanted, bounds), asked.view.columns
    sensitivities = [str(one) for one in SENSITIVITIES]
    flags = ((flag, int((found.shown("flags") & found.flagged(flag)).sum())) for flag in FLAGS)
    return {
        "owner": asked.view.owner,
        "mode": asked.mode,
        "total": int(found.shown().sum()),
        "by_status": _closed(columns.statuses(), found.shown("statuses"), STATUSES),
        "by_level": _closed(found.seen.levels, found.shown("levels"), LEVELS),
        "by_trust": _closed(found.trusts, found.shown("trusts"), TRUSTS_TOLD),
        "by_tier": _closed(columns.tier, found.shown("tiers"), TIERS),
        "by_category": _closed(columns.category, found.shown("categories"), CATEGORIES),
        "by_sensitivity": _closed(columns.sensitivity, found.shown("sensitivities"), sensitivities),
        "by_source": _closed(found.names.sources, found.shown("sources"), SOURCES),
        "by_flag": _told(flags),
        "by_kind": _open(columns.kind[found.shown("kinds")], columns.kinds),
        "by_tag": _open(found.tagged.tags[found.shown("tags")[found.tagged.rows]], found.tags.names),
        "by_law": _told(_by_law(asked, asked.view.told(found.passing()), bounds.check)),
    }


def _by_law(asked: ViewQuery, passing: Flags, check: Check) -> Iterable[tuple[str, int]]:
    """How many of these each law shows in normal mode."""
    for name, law in counted(LAWS.items(), check, len(LAWS), every=1):
        yield name, int((seen_at(asked.view, asked.now, "normal", law).shown & passing).sum())


def _closed(numbers: np.ndarray, rows: Flags, names: Sequence[str]) -> FacetCounts:
    """Counts of every value of a closed list, in its order."""
    return _told(zip(names, np.bincount(numbers[rows], minlength=len(names)).tolist(), strict=True))


def _open(numbers: np.ndarray, names: Sequence[str]) -> FacetCounts:
    """Counts of the values that most have, and how many other values there are."""
    counts = np.bincount(numbers, minlength=len(names)).tolist()
    found = sorted((-count, name) for name, count in zip(names, counts, strict=True) if count)
    told = _told((name, -count) for count, name in found[:MOST_VALUES])
    return {**told, "left_out": max(len(found) - MOST_VALUES, 0)}


def _told(counts: Iterable[tuple[str, int]]) -> FacetCounts:
    return {"counts": [{"value": value, "count": count} for value, count in counts], "left_out": 0}
