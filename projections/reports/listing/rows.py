"""A page of an owner's memories: filtered and ordered on columns, so that records are read of that page alone. Pure."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import numpy as np

from engramlog_server.projections.checks import UNBOUNDED, Bounds, counted
from engramlog_server.projections.fold.provenance import BasisListed, told_in_lists
from engramlog_server.projections.laws.modes import Visibility, Withheld, reasons_told
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.record import LEVELS, SECRET
from engramlog_server.projections.reports.listing.matching import Matching
from engramlog_server.projections.reports.listing.wanted import ORDERS, RowOrder, RowsWanted
from engramlog_server.projections.views.query import ViewQuery, card, context_told, moment, told_beside, waiting_told
from engramlog_server.projections.views.records import Card, ContextTold
from engramlog_server.projections.views.view import OwnerView


class SpansTold(TypedDict):
    """What was understood of times that a list was told, as far as any were: RFC 3339 in the owner's time zone."""

    since: NotRequired[str | None]
    until: NotRequired[str | None]
    updated_since: NotRequired[str | None]
    updated_until: NotRequired[str | None]


class Listed(BasisListed, Card):
    """One memory of a list."""

    weight: float
    tier: str
    source: str
    sensitivity: int
    tags: list[str]
    context: ContextTold
    updated_at: str
    deleted_at: str | None
    waiting: list[str]


class Listing(SpansTold):
    """A page of memories."""

    memories: list[Listed]
    total: int
    offset: int
    sort: str
    order: str
    withheld: list[Withheld]
    mode: str


NOTHING = RowsWanted()
NEWEST = RowOrder()


def listing(
    asked: ViewQuery,
    limit: int,
    offset: int,
    wanted: RowsWanted = NOTHING,
    sorting: RowOrder = NEWEST,
    bounds: Bounds = UNBOUNDED,
) -> Listing:
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
