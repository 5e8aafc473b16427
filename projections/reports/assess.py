"""How sure are we about a topic? Confidence, coverage, recency and consolidation of what is remembered (seed 000, section 3.1).

score = 0.35 mean confidence + 0.25 min(count / 10, 1) + 0.20 mean recency + 0.20 mean consolidation

Relevance is the share of the topic's terms that a memory holds, or its text score where that is higher. Not the text score
alone: BM25 falls as more memories hold a term, so that the more was known of a topic, the less would count as evidence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engramlog_server.events.text import many
from engramlog_server.projections.language.scripts import holds_han
from engramlog_server.projections.laws.consolidating import consolidations, recencies
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.shapes import Evidence, Stats, UnplacedAssessment
from engramlog_server.projections.views.query import moment
from engramlog_server.projections.views.view import OwnerView

MOST_HITS = 50
LEAST_RELEVANCE = 0.3
FULL_COVERAGE = 10
EVIDENCE = 5
SNIPPET = 100
"""Characters of a piece of evidence."""
LEVELS = ((0.8, "high"), (0.5, "medium"), (0.2, "low"), (0.0, "very_low"))


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
    level = next(name for least, name in LEVELS if score >= least)
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
