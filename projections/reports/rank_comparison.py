"""Why one memory ranks above another for a question: parts of both scores, the rules beside them, and one sentence. Pure.

The ranking is the search's own (`recall.ranking_of`): ranks and scores are those that a search tells. The sentence is told in
English and Chinese.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.language.patterns import begins_with_han, holds_han, regex
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.modes import reasons_told, secrets
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.ranking.question import Ranking, RunningSearch, interrupted
from engramlog_server.projections.ranking.rankings import Ranked
from engramlog_server.projections.ranking.recall import ranking_of
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.shapes import Absent, RankedMemory, RankRule, ScoreTerm
from engramlog_server.projections.views.query import ViewQuery, card, corrections_of

_WORD = regex(r"\w+")
PLACES = 9
"""Decimal places of parts and differences: more than a search tells, so that they add up."""


class ComparedRanks(NamedTuple):
    """Two memories under one ranking."""

    first: RankedMemory
    second: RankedMemory
    terms: list[ScoreTerm]
    """The most decisive first; where one of the two is not ranked, the other's parts alone."""
    difference: float | None
    """Score of the first less that of the second; None where one is not ranked."""
    rules: list[RankRule]
    order: str
    """`above`, `below`, or `neither` where neither is ranked."""
    tied: bool
    """Whether the scores are equal, so that the newer memory stands above."""


def compare_ranks(
    asked: ViewQuery, query: str, ids: tuple[str, str], request: SearchRequest, sense: Sense | None = None
) -> ComparedRanks:
    """Two memories of the view that is asked, by id, under a request's ranking, mode and filters."""
    ranking = ranking_of(asked, query, request, sense)
    columns = asked.view.columns
    rows = [row for row in map(columns.row, ids) if row is not None]
    places = [_place(ranking.ranked, row) for row in rows]
    sides = [_side(ranking, query, row, place) for row, place in zip(rows, places, strict=True)]
    first, second = places
    scores = ranking.ranked.scores
    difference, tied = None, False
    order = "neither"
    if first is not None and second is not None:
        difference = round(float(scores[first] - scores[second]), PLACES)
        tied = float(scores[first]) == float(scores[second])
        order = "above" if sides[0]["rank"] < sides[1]["rank"] else "below"  # type: ignore[operator]
    elif first is not None or second is not None:
        order = "below" if first is None else "above"
    return ComparedRanks(
        sides[0], sides[1], _terms(ranking.ranked, first, second), difference, _rules(ranking, rows), order, tied
    )


def _place(ranked: Ranked, row: int) -> int | None:
    found = np.flatnonzero(ranked.rows == row)
    return int(found[0]) if found.size else None


def _rank(ranked: Ranked, place: int) -> int:
    """From 1, as `ranked.best` orders: of equal scores the newer row first."""
    score, row = ranked.scores[place], ranked.rows[place]
    above = (ranked.scores > score) | ((ranked.scores == score) & (ranked.rows > row))
    return 1 + int(np.count_nonzero(above))


def _terms(ranked: Ranked, first: int | None, second: int | None) -> list[ScoreTerm]:
    found: list[ScoreTerm] = []
    for name, part in ranked.parts.items():
        here, there = (None if place is None else round(float(part[place]), PLACES) for place in (first, second))
        if not here and not there:
            continue
        share = None if here is None or there is None else round(here - there, PLACES)
        found.append({"term": name, "first": here, "second": there, "difference": share})
    return sorted(found, key=lambda one: (-abs(one["difference"] or 0.0), -(one["first"] or one["second"] or 0.0)))


def _side(ranking: Ranking, query: str, row: int, place: int | None) -> RankedMemory:
    this, ranked = ranking.this, ranking.ranked
    memory = this.view.columns.memories[row]
    holds, lacks = _words(this, query, memory)
    return {
        "id": memory.id,
        "memory": None if memory.purged_at is not None else card(memory, "full")["memory"],
        "rank": None if place is None else _rank(ranked, place),
        "score": None if place is None else round(float(ranked.scores[place]), PLACES),
        "weight": round(float(this.seen.weights[row]), 6),
        "holds": holds,
        "lacks": lacks,
        "absent": None if place is not None else _absent(ranking, row, holds),
    }


def _words(this: RunningSearch, query: str, memory: Memory) -> tuple[list[str], list[str]]:
    """Which of the question's words a memory holds, words like them too, and which not; nothing where no text of it is searched."""
    if memory.sensitivity >= SECRET or memory.purged_at is not None:
        return [], []
    asked = list(dict.fromkeys(tokens(query) if this.reading is None else this.reading.terms))
    pairs = any(len(term) > 1 and begins_with_han(term) for term in asked)  # then single characters only repeat these
    asked = [term for term in asked if not (pairs and len(term) == 1 and begins_with_han(term))]
    held = this.view.explain(query, [memory.id])[0]
    if this.reading is not None:
        held = held | this.view.explain_of(this.reading.counted, [memory.id], this.reading.weighing)[0]
    alike = [word for word in held if word not in asked and not (len(word) == 1 and begins_with_han(word))]
    written = _as_written(query)
    holds = [word for word in asked if word in held] + alike
    return [written.get(word, word) for word in holds], [written.get(word, word) for word in asked if word not in held]


def _as_written(query: str) -> dict[str, str]:
    """Term -> the word of the question that it was cut from."""
    found: dict[str, str] = {}
    for word in _WORD.findall(query):
        if not holds_han(word):
            for term in tokens(word):
                found.setdefault(term, word)
    return found


def _absent(ranking: Ranking, row: int, holds: list[str]) -> Absent:
    """Why a memory is no result, the strongest reason first."""
    this, request = ranking.this, ranking.this.request
    reasons = this.seen.reasons[row : row + 1].copy()
    if secrets(this.view.columns)[row]:
        return {"why": "withheld", "reason": "sensitive", "shown_by": "get --reveal"}
    if reasons[0] >= 0:
        told = reasons_told(reasons, this.asked.mode)[0]
        return {"why": "withheld", "reason": told["reason"], "shown_by": told["shown_by"]}
    matches = bool(holds) and request.search_mode != "semantic"
    return {"why": "too_weak" if matches else "no_match", "reason": None, "shown_by": None}


def _rules(ranking: Ranking, rows: list[int]) -> list[RankRule]:
    """What acts on the two beside what they match by."""
    this, ranked = ranking.this, ranking.ranked
    memories, found = this.view.columns.memories, list[RankRule]()
    bounds = (
        [(old, new) for old, new in interrupted(this, ranked) if {old, new} == set(rows)] if ranking.follows else []
    )
    for row in rows:
        name, place = memories[row].id, _place(ranked, row)
        lifted = place is not None and float(ranked.parts.get("current", np.zeros(ranked.rows.size))[place]) > 0
        if row in ranking.replaced or lifted:
            found.append({"rule": "current_first", "of": name, "others": ranking.replaced.get(row, [])})
        if corrections := corrections_of(this.view, row):
            now = [one.now.id for one in corrections if one.now is not None]
            found.append({"rule": "corrected", "of": name, "others": list(dict.fromkeys(now))})
        if row in ranked.ways:
            found.append({"rule": "associated", "of": name, "others": []})
    for old, new in bounds:
        found.append({"rule": "for_a_time", "of": memories[new].id, "others": [memories[old].id]})
    return found


LANGUAGES = ("en", "zh")
DECIDING = 0.6
"""Share of what speaks for the upper one that a term must have to be named alone."""

MOST_WORDS = 6
"""Words that a sentence tells of those that a memory lacks."""


class _Phrase(NamedTuple):
    """What speaks for a memory where a part of its score is the higher one."""

    en: str
    zh: str


TERMS: Mapping[str, _Phrase] = {
    "text": _Phrase("its own words match the question better", "它自己的文字与问题更相符"),
    "meaning": _Phrase("it is nearer to the question in meaning", "它的意思离问题更近"),
    "focus": _Phrase("it matches the question's last sentence better", "它与问题的最后一句更相符"),
    "phrase": _Phrase("words of the question stand side by side in it", "问题中相邻的词在它里面也相邻"),
    "thread": _Phrase("what was said two turns before it matches", "它前面第二句话与问题相符"),
    "neighbour": _Phrase("the message next to it matches", "它相邻的话与问题相符"),
    "answer": _Phrase("it answers a question that matches", "它回答的提问与问题相符"),
    "session": _Phrase("its session holds a good match", "它所在的会话中有很相符的话"),
    "opening": _Phrase("it stands near the opening of its session", "它更靠近会话的开头"),
    "asks": _Phrase("it asks nothing itself", "它本身不是提问"),
    "summary": _Phrase("it is no summary of a session", "它不是会话的摘要"),
    "assistant": _Phrase("the assistant said it, as the question asks", "它是助手说的，而问题问的正是助手说过的话"),
    "user": _Phrase("the user said it", "它是用户说的"),
    "stated": _Phrase("the user stated it by itself", "它是用户单独陈述的"),
    "speaker": _Phrase("whom the question names said it", "它是问题点名的人说的"),
    "self": _Phrase("its speaker speaks of themselves", "说话人在说自己"),
    "date": _Phrase("it is of the time that the question names", "它的日期符合问题提到的时间"),
    "when": _Phrase("it tells a time, as the question asks", "问题问时间，而它提到了时间"),
    "many": _Phrase("it tells a number, as the question asks", "问题问数量，而它提到了数字"),
    "window": _Phrase(
        "together with the message next to it, it is nearer to the question", "它连同相邻的话，意思离问题更近"
    ),
    "asked": _Phrase("it was said when asked for the same kind of thing as the question", "它是回答同类提问时说的"),
    "standing": _Phrase(
        "the user asks for it for good, and it is near the question", "它是用户长期的要求，而且与问题相近"
    ),
    "prefers": _Phrase(
        "the user says what they like better, and advice is asked for", "它说的是用户的偏好，而问题在征求建议"
    ),
    "weight": _Phrase("it weighs more under the owner's law", "按所选的规律它的权重更高"),
    "current": _Phrase(
        "it says what holds now, and stands above what it replaced", "它说的是现在仍成立的，排在被它取代的之前"
    ),
    "share": _Phrase(
        "a part of the question, or other words for it, brought it in", "问题的一部分或另一种说法把它带了进来"
    ),
    "context": _Phrase("it has more of the tags asked for", "它带有更多所要求的标签"),
    "keyword": _Phrase("its keywords match better", "它的关键词更相符"),
    "time": _Phrase("it is younger", "它更新"),
    "interaction": _Phrase("it was shown more often, or more lately", "它被查看得更多或更近"),
    "kind": _Phrase("its kind comes first", "它的种类优先"),
    "overlap": _Phrase("it holds more of the question's words", "它包含问题中更多的词"),
    "strength": _Phrase("it is held more strongly", "它记得更牢"),
    "project": _Phrase("it is of the project asked for", "它属于所要求的项目"),
    "confidence": _Phrase("it is more certain", "它的可信度更高"),
    "activation": _Phrase("associations bring it to mind more strongly", "联想更强地激活了它"),
}
"""Every part of every ranking's score."""
REASONS: Mapping[str, _Phrase] = {
    "sensitive": _Phrase("it is secret", "它是机密"),
    "deleted": _Phrase("it is deleted", "它已被删除"),
    "rejected": _Phrase("it was rejected", "它已被否认"),
    "set_aside": _Phrase("its source is set aside", "它的来源已被搁置"),
    "proposed": _Phrase("it waits for a person", "它在等人确认"),
    "merged": _Phrase("it was merged into another", "它已并入另一条"),
    "retired": _Phrase("it was a merge that was undone", "它所属的合并已撤销"),
    "superseded": _Phrase("another replaced it", "它已被另一条取代"),
    "ground_changed": _Phrase("what it rests on has changed", "它的依据已改变"),
    "corrected": _Phrase("what is asked of it was corrected", "问到的内容已被更正"),
    "negated": _Phrase("it was negated", "它已被否定"),
    "compressed": _Phrase("it is compressed by idle time", "它因久未提起而被压缩"),
    "under_threshold": _Phrase("its weight is under the mode's threshold", "它的权重低于该模式的阈值"),
}


def sentence(found: ComparedRanks, language: str) -> str:
    """One sentence, or two where one of the memories is no result."""
    first, second = found.first, found.second
    if found.order == "neither":
        return _neither(first, second, language)
    upper, lower = (first, second) if found.order == "above" else (second, first)
    if lower["rank"] is None:
        return _alone(upper, lower, language)
    reasons = _deciding(found, reversed_=found.order == "below")
    if found.tied or not reasons:
        if language == "zh":
            return f"{_ranked(upper, 'zh')}排在 {_ranked(lower, 'zh')}之前：两者得分相同，因此后记下的排在前面。"
        return f"{_ranked(upper)} stands above {_ranked(lower)}: their scores are equal, and what was made later comes first."
    by = abs(found.difference or 0.0)
    if language == "zh":
        why = "，并且".join(f"{TERMS[name].zh}（{name}，{_figure(share)}）" for name, share in reasons)
        return f"{_ranked(upper, 'zh')}排在 {_ranked(lower, 'zh')}之前，得分高 {_figure(by)}：{why}。"
    why = ", and ".join(f"{TERMS[name].en} ({name}, {_figure(share)})" for name, share in reasons)
    return f"{_ranked(upper)} stands above {_ranked(lower)}, by {_figure(by)} of score: {why}."


def _deciding(found: ComparedRanks, *, reversed_: bool) -> list[tuple[str, float]]:
    """The one or two terms that speak most for the upper memory, with how much each does; none of what is too little to tell."""
    sign = -1 if reversed_ else 1
    shares = [(one["term"], sign * (one["difference"] or 0.0)) for one in found.terms]
    speaking = sorted((one for one in shares if one[1] > 0), key=lambda one: -one[1])
    whole = sum(share for _, share in speaking)
    return speaking[: 1 if speaking and speaking[0][1] >= DECIDING * whole else 2]


def _figure(value: float) -> str:
    """To three places, or to the first that tell anything."""
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.6f}"


def _ranked(side: RankedMemory, language: str = "en") -> str:
    return f"{side['id']}（第 {side['rank']}）" if language == "zh" else f"{side['id']} (rank {side['rank']})"


def _alone(upper: RankedMemory, lower: RankedMemory, language: str) -> str:
    absent = lower["absent"]
    assert absent is not None
    if language == "zh":
        return f"{_ranked(upper, 'zh')}在结果之中，{lower['id']} 不在：{_missing(lower, absent, 'zh')}。"
    return f"{_ranked(upper)} is a result and {lower['id']} is not: {_missing(lower, absent, 'en')}."


def _neither(first: RankedMemory, second: RankedMemory, language: str) -> str:
    told = [_missing(one, one["absent"], language) for one in (first, second) if one["absent"] is not None]
    if language == "zh":
        return f"{first['id']} 和 {second['id']} 都不在结果之中：前者，{told[0]}；后者，{told[1]}。"
    return f"Neither {first['id']} nor {second['id']} is a result: of the first, {told[0]}; of the second, {told[1]}."


def _missing(side: RankedMemory, absent: Absent, language: str) -> str:
    """Why a memory is no result, as a part of a sentence."""
    chinese = language == "zh"
    if absent["why"] == "withheld":
        phrase, by = REASONS[absent["reason"] or ""], absent["shown_by"]
        return f"{phrase.zh}（可用 {by} 查看）" if chinese else f"{phrase.en} (shown by {by})"
    if absent["why"] == "too_weak":
        return (
            "它虽相符，但不够强，未进入参与排序的范围"
            if chinese
            else "it matches, but is not among the best that are ranked"
        )
    words = side["lacks"]
    lacks = ("、" if chinese else ", ").join([*words[:MOST_WORDS], *(["…"] if len(words) > MOST_WORDS else [])])
    if not lacks:
        return "它与问题不相符" if chinese else "it does not match"
    return f"它不含问题中的词 {lacks}" if chinese else f"it does not match: it has none of {lacks}"
