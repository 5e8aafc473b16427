"""The same history under every law: all memories at an instant, or one memory over time. Pure.

A law is only a reading of the records, so all of them can be asked at once, whatever the owner's profile. Weights are the
unclipped ones, as thresholds and ranks read them; what normal mode shows is asked of `projections.laws.modes`, law by law.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import combinations, groupby
from math import comb
from typing import Any

import numpy as np

from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import Floats, Instants, Law
from engramlog_server.projections.laws.modes import REASONS, Visibility, reasons_told, visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import LEVELS, Memory
from engramlog_server.projections.past.life import RecordTouch, State
from engramlog_server.projections.shapes import Touch
from engramlog_server.projections.views.query import card, moment
from engramlog_server.projections.views.view import OwnerView

# --- all memories at an instant


def compare_laws(view: OwnerView, now: int, limit: int, offset: int = 0, check: Check = unchecked) -> dict[str, Any]:
    """An owner's memories under every law at `now` (microseconds since 1970), those first on which the laws disagree most.

    Ranked are the memories that are neither deleted, merged away nor retired: about the others no law has a say.
    """
    columns = view.columns
    seen = {
        name: visibility(columns, law, now, view.parameters, "normal")
        for name, law in counted(LAWS.items(), check, len(LAWS), every=1)
    }
    rows = np.flatnonzero(columns.standing() == Columns.LIVE)
    ranks = {name: mean_ranks(one.weights[rows]) for name, one in seen.items()}
    spread = np.ptp(np.array(list(ranks.values())), axis=0)
    order = np.lexsort((rows, -spread))[offset : offset + limit]
    return {
        "profile": view.state.profile,
        "laws": {
            name: {
                "threshold": LAWS[name].normal_threshold(view.parameters),
                "shown": int(one.shown.sum()),
                "withheld": reasons_told(one.reasons, "normal"),
            }
            for name, one in seen.items()
        },
        "pairs": [
            {
                "laws": [one, other],
                "shown_by_one": int((seen[one].shown[rows] != seen[other].shown[rows]).sum()),
                "rank_correlation": _correlation(ranks[one], ranks[other]),
            }
            for one, other in counted(combinations(LAWS, 2), check, comb(len(LAWS), 2), every=1)
        ],
        "memories": [
            {
                **_named(columns.memories[rows[at]]),
                "laws": {name: _standing(seen[name], rows[at]) | {"rank": float(ranks[name][at])} for name in LAWS},
                "spread": float(spread[at]),
            }
            for at in counted(order, check, len(order))
        ],
        "total": len(rows),
        "offset": offset,
    }


def mean_ranks(weights: Floats) -> Floats:
    """Rank of every weight, 1 for the highest; equal ones (to 9 decimals) share the mean of their places. Shape (n,)."""
    _, place, counts = np.unique(-np.round(weights, 9), return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _correlation(one: Floats, other: Floats) -> float | None:
    """Spearman's: 1 where two laws order alike, -1 where in reverse; None where one of them tells no memories apart."""
    if one.size < 2 or not one.std() or not other.std():
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 6)


def _named(memory: Memory) -> dict[str, Any]:
    told = card(memory, "full")
    return {name: told[name] for name in ("id", "memory", "category", "kind", "status")} | {"tier": memory.tier}


def _standing(seen: Visibility, row: int) -> dict[str, Any]:
    reason = int(seen.reasons[row])
    return {
        "weight": round(float(seen.weights[row]), 6),
        "level": LEVELS[int(seen.levels[row])],
        "shown": bool(seen.shown[row]),
        "reason": None if reason < 0 else REASONS[reason],
    }


# --- one memory over time


def curves(
    life: Sequence[RecordTouch], start: int, end: int, points: int, partition: int, check: Check = unchecked
) -> dict[str, Any]:
    """A memory's weights under every law from `start` to `end` (microseconds since 1970), with what touched it meanwhile.

    Beside the evenly spaced `points` (2 and more) there are two instants for every event, just before it and at it, so that
    a jump is drawn as one. A weight is None before the memory's creation and after its purge. Thresholds are those at `end`.
    `folded_together`: how many events came so late that they are told with a later one, as `life_of` says; 0 nearly always.
    """
    touches = [one for one in life if start <= one.at <= end and one.after.memory is not None]
    grid = {start + (end - start) * number // (points - 1) for number in range(points)}
    jumps = {instant for one in touches for instant in (one.at - 1, one.at) if instant >= start}
    times = sorted(grid | jumps)
    moments = [one.at for one in life]
    sheet: dict[str, tuple[list[float | None], list[bool]]] = {name: ([], []) for name in LAWS}
    state, done = State(None, DEFAULTS), 0
    for place, those in groupby(times, lambda instant: bisect_right(moments, instant)):
        check(done, len(times))
        state, instants = life[place - 1].after if place else State(None, DEFAULTS), np.fromiter(those, np.int64)
        done += len(instants)
        for name, law in LAWS.items():
            weights, shown = _meanwhile(state, law, instants)
            sheet[name][0].extend(weights)
            sheet[name][1].extend(shown)
    return {
        "times": [moment(instant) for instant in times],
        "laws": {
            name: {"threshold": LAWS[name].normal_threshold(state.parameters), "weights": weights, "shown": shown}
            for name, (weights, shown) in sheet.items()
        },
        "events": [_told(one, partition) for one in touches],
        "folded_together": sum(one.together - 1 for one in life),
    }


def _meanwhile(state: State, law: Law, instants: Instants) -> tuple[Sequence[float | None], Sequence[bool]]:
    """The weights of a memory that stays as it is, and where it is shown: as columns in which it has a row for each instant."""
    if state.memory is None or state.memory.purged_at is not None:
        return [None] * len(instants), [False] * len(instants)
    columns = Columns()
    columns.put(state.memory)
    rows = columns.only(np.zeros(len(instants), np.int64))
    seen = visibility(rows, law, instants, state.parameters, "normal")
    return [round(weight, 6) for weight in seen.weights.tolist()], seen.shown.tolist()


def _told(touch: RecordTouch, partition: int) -> Touch:
    return {
        "position": position_text(partition, touch.seq),
        "time": moment(touch.at),
        "event": touch.event,
        "decision": touch.decision,
        "reason": touch.reason,
        "weights": {
            name: {"before": _weight(name, touch.before, touch.at), "after": _weight(name, touch.after, touch.at)}
            for name in LAWS
        },
    }


def _weight(law: str, state: State, instant: int) -> float | None:
    if state.memory is None or state.memory.purged_at is not None:
        return None
    return round(LAWS[law].read(state.memory, instant, state.parameters).unclipped, 6)
