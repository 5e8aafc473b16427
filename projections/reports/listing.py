"""A list of an owner's memories: what it is asked for, which rows match, a page of them, and counts by each filter. Pure.

Rows are filtered and ordered on columns, with one mask for each filter, so that each can be left out by itself: counts by the
values of a filter (facets) are made as if that filter were not told. Records are read of one page alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from engramlog_server.events.errors import refused
from engramlog_server.events.trust import TRUSTS
from engramlog_server.events.vocabulary import is_text
from engramlog_server.projections.checks import UNBOUNDED, Bounds, Check, counted
from engramlog_server.projections.fold.links import told_in_lists
from engramlog_server.projections.index.names import NAMES, SOURCES, RecordNames, Tagged, TextParts, ToldTags
from engramlog_server.projections.language.lexicon import part_folded
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.modes import Visibility, reasons_told
from engramlog_server.projections.memory.columns import STATUSES, TIERS, Columns, Flags, Rows
from engramlog_server.projections.memory.record import CATEGORIES, DISPUTED, LEVELS, REJECTED, SECRET
from engramlog_server.projections.ranking.search_request import (
    Filter,
    Filters,
    FilterSpan,
    check_among,
    check_number,
    check_span,
    filters_of,
)
from engramlog_server.projections.shapes import (
    FacetCounts,
    Listed,
    UnplacedCounts,
    UnplacedListing,
)
from engramlog_server.projections.views.query import (
    ViewQuery,
    card,
    context_told,
    moment,
    seen_at,
    told_beside,
    waiting_told,
)
from engramlog_server.projections.views.view import Index, OwnerView

TRUSTS_TOLD: Final = (*TRUSTS, DISPUTED, REJECTED)
"""Every word for how far a memory is trusted, as `trust_told` has it."""
FLAGS: Final = ("conflicting", "waiting", "ground_changed")
"""It may contradict one that stands; something in the inbox is about it; what it rests on has changed."""
SORTS: Final = ("activated", "created", "updated", "weight", "id")
ORDERS: Final = ("descending", "ascending")
MOST_PART = 400
"""Characters of a part that is looked for."""
SENSITIVITIES: Final = tuple(range(SECRET + 1))


class RowsWanted(NamedTuple):
    """What a memory must have; of several values of one kind any will do. Nothing told: everything passes."""

    filters: Filters = Filters()
    """Of these kinds, categories, tags, session, project, speaker, creation, weight and least trust are looked at."""
    statuses: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    """Effective ones."""
    trusts: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    sensitivities: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    words: str = ""
    """A part of its id or its text, folded."""
    max_weight: float | None = None
    """Unclipped weight under the owner's law, at most."""
    updated: FilterSpan = FilterSpan()
    """Made or revised within."""


class RowOrder(NamedTuple):
    """By what rows are ordered, and whether the highest stand first."""

    by: str = SORTS[0]
    descending: bool = True


def wanted_of(told: Mapping[str, Any], now: int, zone: str) -> RowsWanted:
    """The filters among what a list was told, checked.

    `now` (microseconds since 1970), `zone`: what "last week" is relative to. Raises InputError naming the field.
    """
    filters, most = filters_of(told, now, zone), told.get("max_weight")
    if most is not None:
        check_number("max_weight", most, 1_000)
        filters.check_most(most)
    return RowsWanted(
        filters,
        _among("statuses", told, STATUSES),
        _among("levels", told, LEVELS),
        _among("trusts", told, TRUSTS_TOLD),
        _among("tiers", told, TIERS),
        _sensitivities(told.get("sensitivities") or ()),
        _among("sources", told, SOURCES),
        _among("flags", told, FLAGS),
        _part(told.get("words")),
        most,
        check_span(told, now, zone, "updated_"),
    )


def check_wanted(told: Mapping[str, Any]) -> None:
    """InputError for whatever can be told to be wrong before the owner's zone and the question's instant are known."""
    wanted_of({name: value for name, value in told.items() if not name.endswith(("since", "until"))}, 0, "UTC")


def sorting_of(sort: str, order: str | None) -> RowOrder:
    """An order of rows, or InputError; untold, the newest and heaviest stand first, and ids in the order of their letters."""
    if sort not in SORTS:
        raise refused("sort", sort, ", ".join(SORTS))
    if order is not None and order not in ORDERS:
        raise refused("order", order, ", ".join(ORDERS))
    return RowOrder(sort, sort != "id" if order is None else order == ORDERS[0])


def _among(field: str, told: Mapping[str, Any], allowed: Sequence[str]) -> tuple[str, ...]:
    return check_among(field, told.get(field) or (), allowed)


def _sensitivities(told: Sequence[int]) -> tuple[int, ...]:
    for one in told:
        if one not in SENSITIVITIES:
            raise refused("sensitivities", one, f"whole numbers from 0 to {SECRET}")
    return tuple(dict.fromkeys(told))


def _part(words: str | None) -> str:
    if not words:
        return ""
    if not is_text(words, MOST_PART):
        raise refused("words", words[:80], f"a part of a text or an id, in UTF-8, at most {MOST_PART} characters")
    return part_folded(words)


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


NOTHING = RowsWanted()
NEWEST = RowOrder()


def listing(
    asked: ViewQuery,
    limit: int,
    offset: int,
    wanted: RowsWanted = NOTHING,
    sorting: RowOrder = NEWEST,
    bounds: Bounds = UNBOUNDED,
) -> UnplacedListing:
    """A page of what the mode shows and the filters match, how many these are, and what the mode withholds of the owner in all.

    What is withheld is counted whatever the filters: so no number tells what a memory says that the mode does not show.
    """
    found = Matching(asked, wanted, bounds)
    rows = np.flatnonzero(found.shown())
    page = ordered(asked.view, found.seen, rows, sorting)[offset : offset + limit]
    levels = found.seen.levels_of(page)
    memories = [
        listed(asked, row, LEVELS[level])
        for row, level in counted(zip(page.tolist(), levels.tolist(), strict=True), bounds.check, len(page))
    ]
    return {
        "memories": memories,
        "total": len(rows),
        "offset": offset,
        "sort": sorting.by,
        "order": ORDERS[not sorting.descending],
        "withheld": reasons_told(found.seen.reasons, asked.mode),
        "mode": asked.mode,
    }


def ordered(view: OwnerView, seen: Visibility, rows: Rows, sorting: RowOrder) -> Rows:
    """The rows in the same order whenever they are asked for: of equals those made later stand first, or last if ascending."""
    columns = view.columns
    if sorting.by == "id":
        ids = list(columns.ids)
        return np.array(sorted(rows.tolist(), key=ids.__getitem__, reverse=sorting.descending), dtype=np.int64)
    keys = {
        "activated": columns.last_activated_at,
        "created": columns.created_at,
        "updated": columns.updated_at,
        "weight": seen.weights,
    }
    sign = -1 if sorting.descending else 1
    return rows[np.lexsort((sign * columns.created_seq[rows], sign * keys[sorting.by][rows]))]


def listed(asked: ViewQuery, row: int, level: str) -> Listed:
    """What a list tells of a memory."""
    view, memory = asked.view, asked.view.columns.memories[row]
    hidden = memory.sensitivity >= SECRET
    return {
        **card(memory, level),
        **told_beside(view, memory),
        **told_in_lists(memory),
        "weight": round(view.law.read(memory, asked.now, view.parameters).weight, 6),
        "tier": memory.tier,
        "source": memory.source,
        "sensitivity": memory.sensitivity,
        "tags": [] if hidden else list(memory.tags),
        "context": context_told(view, memory, hidden=hidden),
        "updated_at": moment(memory.updated_at),
        "deleted_at": moment(memory.deleted_at),
        "waiting": waiting_told(memory),
    }


MOST_VALUES = 50
"""Kinds, and tags, that are told, those of the most memories."""


def facets(asked: ViewQuery, wanted: RowsWanted, bounds: Bounds = UNBOUNDED) -> UnplacedCounts:
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
