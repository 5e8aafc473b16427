"""Which memories are due for review, the most pressing first (seed 000, section 4.1).

Of live memories that nothing superseded and that are no secrets. Instants and importances are those of `projections.laws.spaced`,
for whole columns. An emotion that no producer told is read from the text, which is slow, so it is read last and only where
it decides something: of memories that it may lift to the least importance asked, and of those that it may bring among the
ones shown. Where only a mood that is both positive and urgent could lift a memory, a text without any word of urgency is
not read either.
"""

from __future__ import annotations

from functools import cache
from heapq import heapify, heappop, heappush, nlargest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.laws.consolidating import consolidations
from engramlog_server.projections.laws.law import Floats, Instants
from engramlog_server.projections.laws.spaced import interval_days, review_due_at, review_importance
from engramlog_server.projections.memory.columns import NEVER, Columns
from engramlog_server.projections.memory.record import DAY, SECRET, Memory, ReviewSchedule
from engramlog_server.projections.memory.tags import EMOTIONS, Family, entries
from engramlog_server.projections.shapes import DueMemory, UnplacedReviewsDue
from engramlog_server.projections.views.query import card, level_at, moment, told_beside
from engramlog_server.projections.views.view import OwnerView

MOST_READ = sum(emotion for emotion in EMOTIONS.values() if emotion > 0)
"""The strongest emotion that a text can have: positive and urgent."""
MOST_CALM = max(EMOTIONS.values())
"""The strongest that one can have without a word of urgency."""
Rows = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


class DueReviews(NamedTuple):
    """What is due for review: the rows asked for, most pressing first, and how many there are. Arrays have one element a row."""

    rows: Rows
    due_at: Instants
    """Microseconds since 1970."""
    days_overdue: Floats
    consolidation: Floats
    emotion: Floats
    importance: Floats
    """To 6 decimals, as it is compared."""
    total: int
    """How many are due in all."""
    left_out: int
    """How many of these are less important than asked for."""
    next_at: int | None
    """When the next one falls due that is not due yet."""

    @property
    def priority(self) -> Floats:
        """What the order goes by."""
        return self.importance * (1.0 + self.days_overdue)


def reviewable(columns: Columns) -> Flags:
    """Live, not superseded, not secret: shape (rows,)."""
    found: Flags = (
        (columns.standing() == Columns.LIVE) & (columns.conflict != Columns.SUPERSEDED) & (columns.sensitivity < SECRET)
    )
    return found


def due_instants(columns: Columns, parameters: Parameters) -> Instants:
    """`review_due_at` of every row, shape (rows,)."""
    since = np.where(columns.last_accessed_at == NEVER, columns.updated_at, columns.last_accessed_at)
    doubled = np.minimum(2.0 ** np.minimum(columns.access_count, 7), parameters.review_most_days)
    days = np.where(columns.access_count == 0, 1.0, doubled)
    found: Instants = since + np.rint(days * DAY).astype(np.int64)
    for row in np.flatnonzero(columns.graded_at != NEVER):
        found[row] = review_due_at(columns.memories[row], parameters)
    return found


def reviews_due(
    view: OwnerView, now: int, *, least: float = 0.5, limit: int = 10, kind: str | None = None
) -> DueReviews:
    """What is due at `now` (microseconds since 1970) with an importance of at least `least`, the first `limit` of it.

    Ordered by importance * (1 + days overdue); of equal ones the longer due first.
    """
    columns, parameters = view.columns, view.parameters
    asked = view.told(reviewable(columns))
    if kind is not None:
        asked &= columns.kind == columns.kind_number(kind)
    due_at = due_instants(columns, parameters)
    later = due_at[asked & (due_at > now)]
    rows = np.flatnonzero(asked & (due_at <= now))
    due_at = due_at[rows]
    days = (now - due_at) / DAY
    consolidation = consolidations(columns, now, parameters)[rows]
    confidence = columns.confidence[rows]
    settled = review_importance(confidence, consolidation, np.zeros(rows.size), parameters)
    emotion = _emotions(view, rows, settled, 1.0 + days, least, limit)
    importance = np.round(review_importance(confidence, consolidation, emotion, parameters), 6)
    enough = np.flatnonzero(importance >= least)
    first = enough[np.lexsort((rows[enough], due_at[enough], -(importance * (1.0 + days))[enough]))][:limit]
    return DueReviews(
        rows[first],
        due_at[first],
        days[first],
        consolidation[first],
        emotion[first],
        importance[first],
        total=len(rows),
        left_out=len(rows) - len(enough),
        next_at=int(later.min()) if later.size else None,
    )


def _emotions(view: OwnerView, rows: Rows, settled: Floats, pressing: Floats, least: float, limit: int) -> Floats:
    """The emotion of each of `rows` where it decides whether or how high the row stands; 0 where it does not."""
    memories = [view.columns.memories[row] for row in rows]
    told = np.array([np.nan if memory.emotion is None else memory.emotion for memory in memories], dtype=np.float64)
    unknown, share = np.isnan(told), view.parameters.review_emotion_share
    emotion = np.where(unknown, 0.0, told)
    low = np.round(settled + share * np.abs(emotion), 6)
    high = np.where(unknown, np.round(settled + share * MOST_READ, 6), low)
    inside = low >= least
    calm = np.round(settled + share * MOST_CALM, 6) >= least
    for at in np.flatnonzero(unknown & ~inside & (high >= least)):
        if calm[at] or _may_be_urgent(memories[at]):
            emotion[at] = view.context(int(rows[at])).emotion
    best = nlargest(limit, (low * pressing)[inside & ~unknown].tolist())
    heapify(best)
    waiting = np.flatnonzero(inside & unknown)
    for at in waiting[np.argsort(-(high * pressing)[waiting])]:
        if len(best) == limit and high[at] * pressing[at] < best[0]:
            break
        emotion[at] = view.context(int(rows[at])).emotion
        heappush(best, float(np.round(settled[at] + share * abs(emotion[at]), 6) * pressing[at]))
        if len(best) > limit:
            heappop(best)
    return emotion


@cache
def _urgent_words() -> tuple[str, ...]:
    """A word of every phrase that says urgent; none that holds another one."""
    urgent = [one for one in entries() if one.families & Family.URGENT]
    words = {max(form.split(), key=len) for one in urgent for form in one.english + one.chinese}
    words |= {sign for one in urgent for sign in one.signs}
    return tuple(word for word in sorted(words) if not any(other != word and other in word for other in words))


def _may_be_urgent(memory: Memory) -> bool:
    """False only where neither its tags nor its text can say urgent."""
    if "urgent" in memory.tags:
        return True
    text = f"{memory.content}\n{memory.summary}".lower()
    for word in _urgent_words():  # noqa: SIM110 - any() of a generator takes a third longer, and this is asked of every text
        if word in text:
            return True
    return False


def due_list(
    view: OwnerView, now: int, *, least: float = 0.5, limit: int = 10, kind: str | None = None
) -> UnplacedReviewsDue:
    """What is due for review, told: `reviews_due` of a view, each memory with the parts of its importance."""
    due = reviews_due(view, now, least=least, limit=limit, kind=kind)
    memories: list[DueMemory] = []
    for at, row in enumerate(due.rows):
        memory = view.columns.memories[row]
        memories.append(
            {
                **card(memory, level_at(view, memory, now)),
                **told_beside(view, memory),
                "due_at": moment(int(due.due_at[at])),
                "days_overdue": round(float(due.days_overdue[at]), 6),
                "importance": float(due.importance[at]),
                "confidence": memory.confidence,
                "consolidation": round(float(due.consolidation[at]), 6),
                "emotion": round(float(due.emotion[at]), 6),
                "priority": round(float(due.priority[at]), 6),
                "interval_days": round(interval_days(memory, view.parameters), 6),
                "scheduler": scheduler_of(memory, view.parameters),
                "access_count": memory.access_count,
            }
        )
    return {
        "memories": memories,
        "due": due.total,
        "left_out": due.left_out,
        "min_importance": least,
        "next_due_at": moment(due.next_at),
    }


def scheduler_of(memory: Memory, parameters: Parameters) -> str:
    """What says when it is due: `accesses` before the first grade, then the owner's scheduler, `sm2` or `fsrs`."""
    return "accesses" if memory.schedule is None else parameters.scheduler


def next_reviews(schedule: ReviewSchedule) -> dict[str, dict[str, Any]]:
    """The next review by each scheduler, and what each keeps of a memory."""

    def after(days: float) -> dict[str, Any]:
        return {"due_at": moment(schedule.graded_at + round(days * DAY)), "interval_days": days}

    return {
        "sm2": after(schedule.interval) | {"ease": schedule.ease, "repetitions": schedule.repetitions},
        "fsrs": after(schedule.fsrs_interval)
        | {"stability_days": schedule.stability, "difficulty": schedule.difficulty},
    }
