"""What some memories weigh, and where they stand among each other, at many instants. Pure.

At each instant weights, and what is shown and why not, are those of a view of what counts by then, at that instant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.laws.modes import AGED, REASONS, Mode, Visibility, visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.corrections import GONE
from engramlog_server.projections.reports.held_scores import HeldScores
from engramlog_server.projections.reports.moving import Moving
from engramlog_server.projections.views.query import NOTHING_ASKED, leaving, strengths
from engramlog_server.projections.views.view import OwnerView

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
