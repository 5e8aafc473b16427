"""The three query modes: which memories each shows, and why it withholds the others (memory.md, sections 6 and 7).

All of it is read at an instant: nothing depends on when a sweep ran.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.choices import AGED
from engramlog_server.projections.laws.law import Floats, Instants, Law, activations
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import (
    ARCHIVE,
    CATEGORIES,
    DAY,
    FULL,
    SECRET,
    SUMMARY,
    TAG,
    UNCOMPRESSED,
)
from engramlog_server.projections.shapes import Withheld

Mode = Literal["normal", "review", "debug"]
MODES: tuple[Mode, ...] = ("normal", "review", "debug")

REASONS = (
    "sensitive", "deleted", "rejected", "set_aside", "proposed",
    "merged", "retired", "superseded", "ground_changed", "corrected", "negated", "compressed", "under_threshold",
)  # fmt: skip
"""Why a memory is withheld, strongest first: the first that holds is the one told."""
SHOWN_BY: dict[str, str] = {
    "sensitive": "get --reveal",
    "deleted": "debug",
    "rejected": "debug",
    "set_aside": "review",
    "proposed": "review",
    "merged": "review",
    "retired": "review",
    "superseded": "review",
    "ground_changed": "review",
    "corrected": "review",
    "negated": "review",
    "compressed": "review",
    "under_threshold": "review",
}
_AGED = [REASONS.index(name) for name in AGED]
_IDENTITY = CATEGORIES.index("identity")
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Visibility:
    """Every row at an instant under one mode. Arrays have one element a row."""

    shown: Flags
    weights: Floats
    """Unclipped."""
    reasons: Bytes
    """Index into REASONS, -1 where shown."""
    _levels: Callable[[Instants | None], Bytes]

    @property
    def levels(self) -> Bytes:
        """Effective levels, 0 full to 4 archive; computed when first asked for."""
        return self._levels(None)

    def without(self, rows: Instants, reason: str) -> Visibility:
        """The same, but that these rows are withheld for a reason."""
        if not rows.size:
            return self
        reasons = self.reasons.copy()
        reasons[rows] = REASONS.index(reason)
        return replace(self, shown=reasons == -1, reasons=reasons)

    def showing(self, rows: Flags) -> Visibility:
        """The same, but that these rows are shown too."""
        shown = self.shown | rows
        return replace(self, shown=shown, reasons=np.where(shown, np.int8(-1), self.reasons))

    def levels_of(self, rows: Instants) -> Bytes:
        """Effective levels of a few rows."""
        return self._levels(rows)


def idle_days(columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
    """Days since the last activation or use, halved for sensitivity 1 (occupation, education): what levels go by, shape (rows,)."""
    idle: Floats = np.maximum(now - active_from(columns, parameters), 0) / DAY
    idle[columns.sensitivity == 1] /= 2
    return idle


def active_from(columns: Columns, parameters: Parameters) -> Instants:
    """What idle time is counted from: the last activation or use, or a restoration if later, shape (rows,)."""
    found: Instants = np.maximum(activations(columns, parameters), columns.restored_at)
    return found


def level_steps(parameters: Parameters) -> list[float]:
    """Idle days at which summary, tag, trace and archive fall due."""
    return [
        parameters.summary_after_days,
        parameters.tag_after_days,
        parameters.trace_after_days,
        parameters.archive_after_days,
    ]


def lasting(columns: Columns) -> Flags:
    """What no time compresses, archives or deletes: identity, core and sensitive memories."""
    spared: Flags = (
        (columns.category == _IDENTITY) | (columns.tier <= Columns.CORE) | (columns.sensitivity >= UNCOMPRESSED)
    )
    return spared


def due_levels(columns: Columns, law: Law, weights: Floats, now: int | Instants, parameters: Parameters) -> Bytes:
    """The level due by idle time, and by the law where it archives by itself.

    From `tag` down only while the weight is under its normal threshold. Identity, core and sensitive memories stay full.
    """
    idle = idle_days(columns, now, parameters)
    levels = np.zeros(len(columns), dtype=np.int8)
    for step in level_steps(parameters):
        levels += idle >= step
    np.minimum(levels, SUMMARY, out=levels, where=~(weights < law.normal_threshold(parameters)))
    levels[(weights < parameters.archive_weight) & (idle >= parameters.archive_idle_days)] = ARCHIVE
    archived = law.ends(columns, parameters).archived
    levels[(archived <= now) & (archived > columns.restored_at)] = ARCHIVE
    levels[lasting(columns)] = FULL
    return np.asarray(levels, dtype=np.int8)


def effective_levels(columns: Columns, law: Law, weights: Floats, now: int | Instants, parameters: Parameters) -> Bytes:
    """The deeper of the level somebody told and the one due; at least `tag` while a kept version is negated.

    What a sweep recorded follows from time, and is read from time: so it matters nowhere when a sweep ran.
    """
    levels = np.maximum(columns.told_level, due_levels(columns, law, weights, now, parameters))
    levels[columns.conflict == Columns.KEEP] = np.maximum(levels[columns.conflict == Columns.KEEP], TAG)
    return np.asarray(levels, dtype=np.int8)


def visibility(
    columns: Columns, law: Law, now: int | Instants, parameters: Parameters, mode: Mode, *, secret: bool = True
) -> Visibility:
    """What a mode shows at `now` (microseconds since 1970, of all rows or of each), and why not the rest.

    `secret`: whether secrets are withheld; without, they are judged as any other memory is, and whoever asks withholds their texts.
    """
    weights = law.weights(columns, now, parameters)
    levels = _levels_when_asked(columns, law, weights, now, parameters)
    reasons = np.full(len(columns), -1, dtype=np.int8)
    states = columns.standing()
    if mode != "debug":
        threshold = law.normal_threshold(parameters) if mode == "normal" else law.review_threshold(parameters)
        under = weights < threshold
        found: list[tuple[str, Flags]] = [
            ("under_threshold", under),
            ("negated", under & (columns.conflict == Columns.FADE)),
            ("rejected", states == Columns.REJECTED),
            ("deleted", states >= Columns.DELETED),
        ]
        if mode == "normal":
            found[1:1] = [("compressed", levels(None) > SUMMARY)]
            found[2:2] = [("negated", columns.conflict == Columns.KEEP)]
            found[-2:-2] = [
                ("ground_changed", columns.ground_changed != 0),
                ("superseded", columns.conflict == Columns.SUPERSEDED),
                ("retired", states == Columns.RETIRED),
                ("merged", states == Columns.MERGED),
                ("proposed", states == Columns.PROPOSED),
                ("set_aside", states == Columns.SET_ASIDE),
            ]
        if secret:
            found.append(("sensitive", secrets(columns)))
        for reason, rows in found:
            if rows.any():
                reasons[rows] = REASONS.index(reason)
    return Visibility(reasons == -1, weights, reasons, levels)


def _levels_when_asked(
    columns: Columns, law: Law, weights: Floats, now: int | Instants, parameters: Parameters
) -> Callable[[Instants | None], Bytes]:
    """Effective levels of some rows, or of all; those of all are kept."""
    whole = cache(partial(effective_levels, columns, law, weights, now, parameters))

    def levels(rows: Instants | None) -> Bytes:
        if rows is None or whole.cache_info().currsize:
            return whole() if rows is None else whole()[rows]
        then = now[rows] if isinstance(now, np.ndarray) else now
        return effective_levels(columns.only(rows), law, weights[rows], then, parameters)

    return levels


def withheld_by_age(columns: Columns, seen: Visibility) -> Flags:
    """What would be shown if it were younger: under the law's threshold, or compressed by idle time, and nothing else."""
    rows: Flags = np.isin(seen.reasons, _AGED) & (columns.conflict == Columns.HELD) & (columns.told_level <= SUMMARY)
    return rows


def secrets(columns: Columns) -> Flags:
    """Memories whose text only `get --reveal` shows; of a purged one there is none left."""
    hidden: Flags = (columns.sensitivity >= SECRET) & (columns.state != Columns.PURGED)
    return hidden


def reasons_told(reasons: Bytes, mode: Mode) -> list[Withheld]:
    """How many matches were withheld, by reason, and which mode shows them."""
    counts = np.bincount(reasons[reasons >= 0], minlength=len(REASONS))
    shown_by = {
        **SHOWN_BY,
        "under_threshold": "review" if mode == "normal" else "debug",
        "negated": "review" if mode == "normal" else "debug",
    }
    return [
        {"reason": name, "count": int(count), "shown_by": shown_by[name]}
        for name, count in zip(REASONS, counts, strict=True)
        if count
    ]
