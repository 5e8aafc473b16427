"""Which of an owner's memories a list shows: one mask of rows for each filter, so that each can be left out by itself. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from engramlog_server.projections.checks import UNBOUNDED, Bounds
from engramlog_server.projections.index.record_names import NAMES, SOURCES, RecordNames
from engramlog_server.projections.index.text_parts import TextParts
from engramlog_server.projections.index.told_tags import Tagged, ToldTags
from engramlog_server.projections.memory.columns import STATUSES, TIERS, Columns, Flags, Rows
from engramlog_server.projections.memory.record import CATEGORIES, LEVELS
from engramlog_server.projections.ranking.search_request import Filter
from engramlog_server.projections.reports.listing.wanted import FLAGS, TRUSTS_TOLD, RowsWanted
from engramlog_server.projections.views.query import ViewQuery, seen_at
from engramlog_server.projections.views.view import Index

_UNCOUNTED = "those of which nothing is counted"
# Records that are read into an index in the time in which an event is folded.
_TAGS_A_STEP, _TEXTS_A_STEP, _NAMES_A_STEP = 1, 3, 8


class Matching:
    """The rows of a view at an instant, beside what is wanted of them. Indexes are made as far as something asks for them."""

    def __init__(self, asked: ViewQuery, wanted: RowsWanted, bounds: Bounds = UNBOUNDED) -> None:
        """Raises what `bounds` raises where an index that was not made yet takes too long."""
        self.asked, self.wanted = asked, wanted
        self._columns, self._bounds = asked.view.columns, bounds
        self.seen = seen_at(asked.view, asked.now, asked.mode)

    def passing(self, but: str = "") -> Flags:
        """Rows that all filters match, `but` the one of that name, whatever the mode shows; shape (rows,)."""
        kept = np.ones(len(self._columns), dtype=bool)
        for name, mask in self._masks.items():
            if name != but:
                kept &= mask
        return kept

    def shown(self, but: str = "") -> Flags:
        """Those of them that the mode shows."""
        found: Flags = self.seen.shown & self.passing(but)
        return found

    @cached_property
    def _masks(self) -> dict[str, Flags]:
        """By the name of the filter, of those that are told; what no facet counts has one mask together."""
        wanted, filters, columns = self.wanted, self.wanted.filters, self._columns
        told: dict[str, tuple[Sequence[object], Callable[[], Flags]]] = {
            "statuses": (wanted.statuses, lambda: _in(columns.statuses(), wanted.statuses, STATUSES)),
            "levels": (wanted.levels, lambda: _in(self.seen.levels, wanted.levels, LEVELS)),
            "trusts": (wanted.trusts, lambda: _in(self.trusts, wanted.trusts, TRUSTS_TOLD)),
            "tiers": (wanted.tiers, lambda: _in(columns.tier, wanted.tiers, TIERS)),
            "categories": (filters.categories, lambda: _in(columns.category, filters.categories, CATEGORIES)),
            "sensitivities": (wanted.sensitivities, lambda: np.isin(columns.sensitivity, wanted.sensitivities)),
            "sources": (wanted.sources, lambda: _in(self.names.sources, wanted.sources, SOURCES)),
            "flags": (wanted.flags, lambda: np.any([self.flagged(one) for one in wanted.flags], axis=0)),
            "kinds": (filters.kinds, lambda: np.isin(columns.kind, [*map(columns.kind_number, filters.kinds)])),
            "tags": (filters.tags, lambda: self.tags.having(self.tagged, filters.tags, len(columns))),
        }
        return {name: mask() for name, (values, mask) in told.items() if values} | {_UNCOUNTED: self._beside()}

    def _beside(self) -> Flags:
        """Rows that pass the filters of which nothing is counted."""
        wanted, filters, columns = self.wanted, self.wanted.filters, self._columns
        rows: Rows = np.arange(len(columns))
        kept = Filter(self.asked.view, filters, self.seen.weights).passing_columns(rows)
        if wanted.max_weight is not None:
            kept &= self.seen.weights <= wanted.max_weight
        if wanted.updated.since is not None:
            kept &= columns.updated_at >= wanted.updated.since
        if wanted.updated.until is not None:
            kept &= columns.updated_at < wanted.updated.until
        for field in NAMES:
            name = getattr(filters, field)
            if name is not None:
                kept &= self.names.having(field, name)
        if wanted.words:
            kept &= self._index(TextParts, _TEXTS_A_STEP).holding(wanted.words)
        return kept

    def _index(self, kind: Callable[[], Index], rows_a_step: int) -> Index:
        """An index of the view; before it is made, how long that will take is said."""
        if not self.asked.view.has_index(kind):
            self._bounds.weigh(len(self._columns) // rows_a_step)
        return self.asked.view.index(kind, self._bounds.check)

    @cached_property
    def names(self) -> RecordNames:
        """Sources, sessions, projects and speakers."""
        return self._index(RecordNames, _NAMES_A_STEP)

    @cached_property
    def tags(self) -> ToldTags:
        """Context tags."""
        return self._index(ToldTags, _TAGS_A_STEP)

    @cached_property
    def tagged(self) -> Tagged:
        """Every row with every tag that it has."""
        return self.tags.pairs(self._columns, self.asked.view.parameters.time_zone, self._bounds.check)

    @cached_property
    def trusts(self) -> np.ndarray:
        """How far each row is trusted, as `TRUSTS_TOLD` number it and `trust_told` tells it."""
        columns, found = self._columns, self._columns.trust.copy()
        doubted = (columns.waiting > 0) | (columns.conflict == Columns.FADE)
        found[doubted & (columns.trust > 0)] = TRUSTS_TOLD.index("disputed")
        found[self.names.rejected] = TRUSTS_TOLD.index("rejected")
        return found

    def flagged(self, flag: str) -> Flags:
        """Rows of which one of `FLAGS` is told."""
        columns = self._columns
        if flag == FLAGS[0]:
            return self.names.conflicting(columns)
        found: Flags = columns.ground_changed != 0
        if flag == FLAGS[1]:
            found = (columns.waiting > 0) | (columns.standing() == Columns.PROPOSED)
        return found


def _in(column: np.ndarray, values: Iterable[str], names: Sequence[str]) -> Flags:
    found: Flags = np.isin(column, [names.index(one) for one in values])
    return found
