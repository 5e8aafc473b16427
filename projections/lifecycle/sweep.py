"""The sweep: records levels, deletes softly what its law or the owner's policy lets go, purges what was long deleted.

Every decision has the instant at which it fell due, found in the law itself, so it is the same whenever the sweep runs.
Identity, core and sensitive memories are spared, and so is what somebody restored after it had fallen due.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from engramlog_server.events.catalogue import EventData, MemoryCompressed, MemoryDeleted, MemoryPurged
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.laws import Law
from engramlog_server.projections.laws.law import FOREVER, Instants
from engramlog_server.projections.laws.modes import active_from, due_levels, lasting, level_steps
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import ARCHIVE, DAY, LEVELS, SUMMARY
from engramlog_server.projections.views.view import OwnerView

SECOND = 1_000_000
"""Microseconds: due instants that are crossings of a weight are found to the second."""
Rows = npt.NDArray[np.intp]
CompressedLevel = Literal["summary", "tag", "trace", "archive"]


def sweep(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """What has fallen due by `now`, microseconds: purges, deletions, levels."""
    now = now // SECOND * SECOND
    columns, law, parameters = view.columns, view.law, view.parameters
    if not len(columns):
        return []
    live = (columns.state == Columns.LIVE) & ~lasting(columns)
    levels = _levels(columns, law, now, parameters)
    archived = _archived_at(columns, law, np.flatnonzero(live & (levels == ARCHIVE)), now, parameters, check)
    ends = law.ends(columns, parameters).deleted
    kept = parameters.delete_archived_after_days
    if kept > 0:
        ends = np.minimum(ends, np.where(archived < FOREVER, archived + int(kept * DAY), FOREVER))
    gone = live & (ends <= now) & (ends > columns.restored_at)
    decisions = _purges(columns, now, parameters, view.deletions_seen, check)
    going = np.flatnonzero(gone)
    for row in counted(going, check, going.size):
        at, reason = int(ends[row]), f"the {law.name} law lets it go"
        memory_id = columns.memories[row].id
        data = MemoryDeleted(memory_id=memory_id, policy="auto_cleanup", due_at=from_micros(at), reason=reason)
        decisions.append(_decision(columns, int(row), "delete", at, reason, data))
    return decisions + _compressions(columns, law, live & ~gone, levels, archived, now, parameters, check)


def _levels(columns: Columns, law: Law, now: int, parameters: Parameters) -> npt.NDArray[np.int8]:
    """The level due by time alone. Under a drop curve the weight may rise again: no deeper than summary then."""
    due = due_levels(columns, law, law.weights(columns, now, parameters), now, parameters)
    rising = (columns.conflict == Columns.KEEP) | (columns.conflict == Columns.SUPERSEDED)
    return np.where(rising, np.minimum(due, SUMMARY), due).astype(np.int8)


def _purges(
    columns: Columns, now: int, parameters: Parameters, seen: Mapping[str, int] | None, check: Check
) -> list[Decision]:
    """What was deleted long enough ago, by its own date and by the day on which the sweep `seen` it first."""
    kept = int(parameters.deleted_kept_days * DAY)
    due = columns.deleted_at + kept
    decisions = []
    rows = np.flatnonzero((columns.state == Columns.DELETED) & (due <= now))
    for row in counted(rows, check, rows.size):
        if seen is not None and seen.get(columns.memories[row].id, now) + kept > now:
            continue
        data = MemoryPurged(memory_id=columns.memories[row].id, due_at=from_micros(int(due[row])))
        reason = f"deleted {parameters.deleted_kept_days:g} days ago or more"
        decisions.append(_decision(columns, int(row), "purge", int(due[row]), reason, data))
    return decisions


def _compressions(
    columns: Columns,
    law: Law,
    live: npt.NDArray[np.bool_],
    levels: npt.NDArray[np.int8],
    archived: Instants,
    now: int,
    parameters: Parameters,
    check: Check,
) -> list[Decision]:
    """One decision for each memory whose level due is deeper than the one recorded."""
    decisions = []
    for level in range(1, len(LEVELS)):
        rows = np.flatnonzero(live & (levels == level) & (columns.level < level))
        if not rows.size:
            continue
        due = archived[rows] if level == ARCHIVE else _level_at(columns, law, rows, level, now, parameters, check)
        name = cast("CompressedLevel", LEVELS[level])
        for row, at in counted(zip(rows.tolist(), due.tolist(), strict=True), check, rows.size):
            if at <= now:
                data = MemoryCompressed(memory_id=columns.memories[row].id, level=name, due_at=from_micros(at))
                decisions.append(_decision(columns, row, "compress", at, f"level {name} by time", data))
    return decisions


def _level_at(
    columns: Columns, law: Law, rows: Rows, level: int, now: int, parameters: Parameters, check: Check
) -> Instants:
    """When each row fell to a level between summary and trace."""
    start = _idle_for(columns, rows, level_steps(parameters)[level - 1], parameters)
    if level == SUMMARY:
        return start
    return _first_under(columns, law, rows, start, law.normal_threshold(parameters), now, parameters, check)


def _archived_at(columns: Columns, law: Law, rows: Rows, now: int, parameters: Parameters, check: Check) -> Instants:
    """When each of `rows` fell due for the archive, FOREVER elsewhere; shape (all rows,): the first of its three ways."""
    found = np.full(len(columns), FOREVER)
    if not rows.size:
        return found
    idle = _idle_for(columns, rows, parameters.archive_after_days, parameters)
    low = _idle_for(columns, rows, parameters.archive_idle_days, parameters)
    threshold = law.normal_threshold(parameters)
    by_idle = _first_under(columns, law, rows, idle, threshold, now, parameters, check)
    by_weight = _first_under(columns, law, rows, low, parameters.archive_weight, now, parameters, check)
    by_law = law.ends(columns, parameters).archived[rows]
    by_law = np.where(by_law > columns.restored_at[rows], by_law, FOREVER)
    found[rows] = np.minimum(np.minimum(by_idle, by_weight), by_law)
    return found


def _idle_for(columns: Columns, rows: Rows, days: float, parameters: Parameters) -> Instants:
    """When each row had been idle for so many days; twice as many at sensitivity 1. Whole seconds, rounded up."""
    stretch = np.where(columns.sensitivity[rows] == 1, 2.0, 1.0)
    at = active_from(columns, parameters)[rows] + np.ceil(stretch * days * DAY).astype(np.int64)
    found: Instants = -(-at // SECOND) * SECOND
    return found


def _first_under(
    columns: Columns,
    law: Law,
    rows: Rows,
    start: Instants,
    threshold: float,
    now: int,
    parameters: Parameters,
    check: Check,
) -> Instants:
    """The first whole second from `start` on at which the weight is under the threshold; FOREVER if not by `now`.

    Weights only fall between events here, so halving finds it, and finds the same second whatever `now` is.
    """
    part = columns.only(rows)
    under_now = (law.weights(part, now, parameters) < threshold) & (start <= now)
    low, high = start // SECOND, np.full(rows.size, now // SECOND)
    low = np.minimum(low, high)
    while (wide := low < high).any():
        check(int(rows.size - wide.sum()), rows.size)
        middle = np.where(wide, (low + high) // 2, low)
        under = law.weights(part, middle * SECOND, parameters) < threshold
        high = np.where(under & wide, middle, high)
        low = np.where(~under & wide, middle + 1, low)
    found: Instants = np.where(under_now, high * SECOND, FOREVER)
    return found


def _decision(columns: Columns, row: int, action: str, due_at: int, reason: str, data: EventData) -> Decision:
    memory = columns.memories[row]
    return Decision("sweep", action, (memory.id,), due_at, memory.changed_seq, reason, data)
