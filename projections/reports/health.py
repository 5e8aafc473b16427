"""How well an owner's memories are held: strength of each, which are due for review, and how sure a topic is known. Pure.

Strength is Ebbinghaus strength, whatever the owner's profile (seed 004, section 11.6), of live memories alone. The answer also has
the instants at which the owner's own law archives and deletes what nothing touches any more.

Due for review (seed 000, section 4.1) are live memories that nothing superseded and that are no secrets. Instants and importances
are those of `projections.laws.spaced`, for whole columns. An emotion that no producer told is read from the text, which is slow, so
it is read last and only where it decides something: of memories that it may lift to the least importance asked, and of those that
it may bring among the ones shown. Where only a mood that is both positive and urgent could lift a memory, a text without any word
of urgency is not read either.

How sure a topic is known is the seed 000, section 3.1:

    score = 0.35 mean confidence + 0.25 min(count / 10, 1) + 0.20 mean recency + 0.20 mean consolidation

Relevance is the share of the topic's terms that a memory holds, or its text score where that is higher. Not the text score
alone: BM25 falls as more memories hold a term, so that the more was known of a topic, the less would count as evidence.
"""

from __future__ import annotations

from functools import cache
from heapq import heapify, heappop, heappush, nlargest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.events.parameters import Parameters
from engramlog_server.events.text import many
from engramlog_server.projections.language.patterns import holds_han
from engramlog_server.projections.laws.law import (
    EBBINGHAUS,
    FOREVER,
    Floats,
    Instants,
    consolidations,
    effective_importance,
    recencies,
)
from engramlog_server.projections.laws.modes import effective_levels, lasting
from engramlog_server.projections.laws.spaced import interval_days, review_due_at, review_importance
from engramlog_server.projections.memory.columns import NEVER, Columns
from engramlog_server.projections.memory.record import DAY, LEVELS, SECRET, Memory, ReviewSchedule
from engramlog_server.projections.memory.tags import EMOTIONS, Family, entries
from engramlog_server.projections.shapes import (
    DueMemory,
    Evidence,
    Held,
    Stats,
    Strength,
    UnplacedAssessment,
    UnplacedFading,
    UnplacedMemoryHealth,
    UnplacedReviewsDue,
)
from engramlog_server.projections.views.query import card, level_at, moment, told_beside
from engramlog_server.projections.views.view import OwnerView

GREEN, YELLOW = 70, 30
"""Strengths, in percent, from which a memory is green or yellow; red below. What is red is fading."""
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


MOST_HITS = 50
LEAST_RELEVANCE = 0.3
FULL_COVERAGE = 10
EVIDENCE = 5
SNIPPET = 100
"""Characters of a piece of evidence."""
_GRADES = ((0.8, "high"), (0.5, "medium"), (0.2, "low"), (0.0, "very_low"))


class _Words(NamedTuple):
    """What is said at one level, in one language."""

    message: str
    suggestions: tuple[str, ...]


_ENGLISH = {
    "high": _Words("I am sure about “{topic}”: {memories} speak of it", ("Answer from these memories.",)),
    "medium": _Words(
        "I know something about “{topic}”, but am not sure ({memories})",
        ("Check these memories against each other.", "If much depends on it, look for a current source."),
    ),
    "low": _Words(
        "My memory of “{topic}” is vague ({memories})",
        ("It may be out of date or incomplete.", "Look it up, or ask again, before relying on it."),
    ),
    "very_low": _Words(
        "I hardly remember anything reliable about “{topic}” ({memories})",
        ("Look it up elsewhere.", "Record what you find, so that it is known next time."),
    ),
    "none": _Words(
        "I remember nothing about “{topic}”",
        ("Ask, or look it up elsewhere.", "Record what you find, so that it is known next time."),
    ),
}
_CHINESE = {
    "high": _Words("关于“{topic}”我很有把握：有 {count} 条相关记忆", ("可以直接依据这些记忆回答。",)),
    "medium": _Words(
        "关于“{topic}”我有所了解，但不完全确定（{count} 条记忆）",
        ("先把这些记忆相互核对。", "如果结果很重要，请查一下最新的资料。"),
    ),
    "low": _Words(
        "关于“{topic}”我的记忆比较模糊（{count} 条记忆）",
        ("可能已经过时或不完整。", "使用之前请先查证，或者再问一次。"),
    ),
    "very_low": _Words(
        "关于“{topic}”我几乎没有可靠的记忆（{count} 条记忆）", ("请查阅其他来源。", "查到以后记下来，下次就知道了。")
    ),
    "none": _Words("关于“{topic}”我没有任何记忆", ("请询问，或查阅其他来源。", "查到以后记下来，下次就知道了。")),
}


def assess(view: OwnerView, topic: str, now: int) -> UnplacedAssessment:
    """Score in [0, 1] with its level, a message and advice in the topic's language, 5 pieces of evidence and the numbers.

    What counts are memories that stand: not deleted, merged away, superseded or a negated version that was kept, and no
    secrets. Whether they agree is not looked into.
    """
    rows, relevance = _hits(view, topic)
    words = _CHINESE if holds_han(topic) else _ENGLISH
    if not rows.size:
        return _answer(view.owner, topic, "none", 0.0, words["none"], 0, [], _stats(0, 0.0, 0.0, 0.0, 0.0))
    columns = view.columns.only(rows)
    confidence = float(columns.confidence.mean())
    coverage = min(rows.size / FULL_COVERAGE, 1.0)
    recency = float(recencies(columns, now, view.parameters).mean())
    settled = float(consolidations(columns, now, view.parameters).mean())
    # Rounded first, so that the level is that of the score that is told.
    score = round(0.35 * confidence + 0.25 * coverage + 0.20 * recency + 0.20 * settled, 6)
    level = next(name for least, name in _GRADES if score >= least)
    best = np.argsort(-columns.confidence, kind="stable")[:EVIDENCE]
    evidence: list[Evidence] = [
        {
            "id": columns.memories[at].id,
            "snippet": columns.memories[at].content[:SNIPPET],
            "confidence": columns.memories[at].confidence,
            "relevance": round(float(relevance[at]), 6),
            "access_count": columns.memories[at].access_count,
            "updated_at": moment(columns.memories[at].updated_at),
        }
        for at in best
    ]
    stats = _stats(int(rows.size), confidence, coverage, recency, settled)
    return _answer(view.owner, topic, level, score, words[level], int(rows.size), evidence, stats)


def _hits(view: OwnerView, topic: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and relevance of the at most 50 best hits that stand, of relevance 0.3 and more, the best first.

    Of equally relevant ones the higher text score is the better, then the newer row.
    """
    found = view.matches(topic)
    text = found.scores / (found.scores + view.parameters.search_text_half)
    relevance = np.maximum(text, view.coverage(topic, found.rows))
    columns = view.columns
    stands = (columns.state == Columns.LIVE) & (columns.conflict <= Columns.FADE) & (columns.sensitivity < SECRET)
    kept = (relevance >= LEAST_RELEVANCE) & view.told(stands)[found.rows]
    rows, relevance, text = found.rows[kept], relevance[kept], text[kept]
    order = np.lexsort((-rows, -text, -relevance))[:MOST_HITS]
    return rows[order], relevance[order]


def _stats(count: int, confidence: float, coverage: float, recency: float, settled: float) -> Stats:
    return {
        "memories": count,
        "mean_confidence": round(confidence, 6),
        "coverage": round(coverage, 6),
        "mean_recency": round(recency, 6),
        "mean_consolidation": round(settled, 6),
    }


def _answer(
    owner: str,
    topic: str,
    level: str,
    score: float,
    words: _Words,
    count: int,
    evidence: list[Evidence],
    stats: Stats,
) -> UnplacedAssessment:
    memories = many(count, "memory", "memories")
    return {
        "owner": owner,
        "topic": topic,
        "confidence": level,
        "score": score,
        "message": words.message.format(topic=topic, count=count, memories=memories),
        "suggestions": list(words.suggestions),
        "evidence": evidence,
        "stats": stats,
    }
