"""How well memories are held: Ebbinghaus strength, whatever the owner's profile (seed 004, section 11.6).

Of live memories alone: none that is deleted, purged, merged away or retired. Beside it stands what the owner's own law does
by itself: the instants at which it archives and deletes what nothing touches any more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.laws.ebbinghaus import LAW as EBBINGHAUS
from engramlog_server.projections.laws.law import FOREVER, Instants
from engramlog_server.projections.laws.modes import effective_levels, lasting
from engramlog_server.projections.laws.spaced import interval_days, review_due_at
from engramlog_server.projections.laws.tiered import effective_importance
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import LEVELS, Memory
from engramlog_server.projections.reports.review_due import scheduler_of
from engramlog_server.projections.shapes import Held, Strength, UnplacedFading, UnplacedMemoryHealth
from engramlog_server.projections.views.query import card, moment, told_beside
from engramlog_server.projections.views.view import OwnerView

GREEN, YELLOW = 70, 30
"""Strengths, in percent, from which a memory is green or yellow; red below. What is red is fading."""
Rows = npt.NDArray[np.intp]
Strengths = npt.NDArray[np.int64]


def colour(strength: int) -> str:
    """green, yellow or red."""
    return "green" if strength >= GREEN else "yellow" if strength >= YELLOW else "red"


def health(view: OwnerView, now: int, limit: int, offset: int) -> UnplacedMemoryHealth:
    """All live memories, strongest first, a page of them, with counts by colour and the mean strength (None of none)."""
    rows, strengths = held_rows(view, now)
    order = _weakest_first(view, rows, strengths)[::-1]
    return {
        "memories": _page(view, now, order[offset : offset + limit]),
        "total": len(rows),
        "offset": offset,
        "colours": colours(strengths),
        "mean_strength": round(float(strengths.mean()), 2) if len(rows) else None,
        "profile": view.state.profile,
    }


def fading(view: OwnerView, now: int, limit: int, offset: int) -> UnplacedFading:
    """Live memories under strength 30, weakest first, a page of them."""
    rows, strengths = held_rows(view, now)
    weak = strengths < YELLOW
    order = _weakest_first(view, rows[weak], strengths[weak])
    return {
        "memories": _page(view, now, order[offset : offset + limit]),
        "total": int(weak.sum()),
        "live": len(rows),
        "offset": offset,
        "under": YELLOW,
        "profile": view.state.profile,
    }


def held_now(view: OwnerView, memory: Memory, now: int) -> Held:
    """What reinforcing changes, of one memory at `now`: under each law that reads it, and its next review."""
    parameters = view.parameters
    strength = EBBINGHAUS.read(memory, now, parameters).factors["strength"]
    return {
        "strength": int(strength),
        "stability_hours": round(memory.stability, 6),
        "reinforce_count": memory.reinforce_count,
        "importance": memory.importance,
        "effective_importance": round(effective_importance(memory, now, parameters), 6),
        "tier": memory.tier,
        "law": view.law.name,
        "weight": round(view.law.read(memory, now, parameters).weight, 6),
        "next_review_at": moment(review_due_at(memory, parameters)),
        "interval_days": round(interval_days(memory, parameters), 6),
        "scheduler": scheduler_of(memory, parameters),
    }


def ends(view: OwnerView, columns: Columns) -> tuple[Instants, Instants]:
    """When the owner's law archives and deletes each row of `columns`, FOREVER for never. Shape (rows,).

    As the sweep reads it: identity, core and sensitive memories are spared, and what fell due before a deletion was undone
    deletes no more.
    """
    found = view.law.ends(columns, view.parameters)
    spared = lasting(columns)
    undone = found.deleted <= columns.restored_at
    return np.where(spared, FOREVER, found.archived), np.where(spared | undone, FOREVER, found.deleted)


def colours(strengths: Strengths) -> dict[str, int]:
    """How many are green, yellow and red."""
    return {
        "green": int((strengths >= GREEN).sum()),
        "yellow": int(((strengths >= YELLOW) & (strengths < GREEN)).sum()),
        "red": int((strengths < YELLOW).sum()),
    }


def held_rows(view: OwnerView, now: int) -> tuple[Rows, Strengths]:
    """Rows of live memories, and their strengths in percent."""
    rows = np.flatnonzero(view.told(view.columns.standing() == Columns.LIVE))
    weights = EBBINGHAUS.weights(view.columns, now, view.parameters)[rows]
    return rows, np.rint(100 * weights).astype(np.int64)


def _weakest_first(view: OwnerView, rows: Rows, strengths: Strengths) -> Rows:
    """Of equal ones the one that was reinforced longest ago first, then the older row."""
    return rows[np.lexsort((rows, view.columns.last_reinforced_at[rows], strengths))]


def _page(view: OwnerView, now: int, rows: Rows) -> list[Strength]:
    part = view.columns.only(rows)
    weights = view.law.weights(part, now, view.parameters)
    levels = effective_levels(part, view.law, weights, now, view.parameters)
    archived, deleted = ends(view, part)
    page: list[Strength] = []
    for memory, level, archives, deletes in zip(
        part, levels.tolist(), archived.tolist(), deleted.tolist(), strict=True
    ):
        factors = EBBINGHAUS.read(memory, now, view.parameters).factors
        page.append(
            {
                **card(memory, LEVELS[level]),
                **told_beside(view, memory),
                "strength": int(factors["strength"]),
                "colour": colour(int(factors["strength"])),
                "stability_hours": round(memory.stability, 6),
                "decay_rate": round(factors["decay_rate"], 6),
                "reinforce_count": memory.reinforce_count,
                "last_reinforced_at": moment(memory.last_reinforced_at),
                "archives_at": _instant(archives),
                "deletes_at": _instant(deletes),
            }
        )
    return page


def _instant(at: int) -> str | None:
    return None if at >= FOREVER else moment(at)
