"""The sentence that says why one memory stands above another, in English and Chinese. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engramlog_server.projections.reports.above import AboveSide, Absent, Outranked

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
    "neighbour": _Phrase("what was said beside it matches", "它相邻的话与问题相符"),
    "answer": _Phrase("it answers a question that matches", "它回答的提问与问题相符"),
    "session": _Phrase("its session holds a good match", "它所在的会话中有很相符的话"),
    "opening": _Phrase("it stands near the opening of its session", "它更靠近会话的开头"),
    "asks": _Phrase("it asks nothing itself", "它本身不是提问"),
    "summary": _Phrase("it is no summary of a session", "它不是会话的摘要"),
    "assistant": _Phrase("the assistant said it, as the question asks", "它是助手说的，而问题问的正是助手说过的话"),
    "user": _Phrase("the user said it", "它是用户说的"),
    "stated": _Phrase("the user stated it by itself", "它是用户单独陈述的"),
    "speaker": _Phrase("whom the question names said it", "它是问题点名的人说的"),
    "self": _Phrase("its speaker speaks of himself", "说话人在说自己"),
    "date": _Phrase("it is of the time that the question names", "它的日期符合问题提到的时间"),
    "when": _Phrase("it tells a time, as the question asks", "问题问时间，而它提到了时间"),
    "many": _Phrase("it tells a number, as the question asks", "问题问数量，而它提到了数字"),
    "window": _Phrase(
        "together with what was said beside it, it is nearer to the question", "它连同相邻的话，意思离问题更近"
    ),
    "asked": _Phrase("it was said when asked for the same kind of thing as the question", "它是回答同类提问时说的"),
    "standing": _Phrase(
        "the user asks for it for good, and it is near the question", "它是用户长期的要求，而且与问题相近"
    ),
    "prefers": _Phrase(
        "the user says what he likes better, and advice is asked for", "它说的是用户的偏好，而问题在征求建议"
    ),
    "weight": _Phrase("it weighs more under the owner's law", "按所选的规律它的权重更高"),
    "current": _Phrase(
        "it says what holds now, and stands above what it replaced", "它说的是现在仍成立的，排在被它取代的之前"
    ),
    "share": _Phrase("a part of the question brought it in", "问题的一部分把它带了进来"),
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


def sentence(found: Outranked, language: str) -> str:
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


def _deciding(found: Outranked, *, reversed_: bool) -> list[tuple[str, float]]:
    """The one or two terms that speak most for the upper memory, with how much each does; none of what is too little to tell."""
    sign = -1 if reversed_ else 1
    shares = [(one["term"], sign * (one["difference"] or 0.0)) for one in found.terms]
    speaking = sorted((one for one in shares if one[1] > 0), key=lambda one: -one[1])
    whole = sum(share for _, share in speaking)
    return speaking[: 1 if speaking and speaking[0][1] >= DECIDING * whole else 2]


def _figure(value: float) -> str:
    """To three places, or to the first that tell anything."""
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.6f}"


def _ranked(side: AboveSide, language: str = "en") -> str:
    return f"{side['id']}（第 {side['rank']}）" if language == "zh" else f"{side['id']} (rank {side['rank']})"


def _alone(upper: AboveSide, lower: AboveSide, language: str) -> str:
    absent = lower["absent"]
    assert absent is not None
    if language == "zh":
        return f"{_ranked(upper, 'zh')}在结果之中，{lower['id']} 不在：{_missing(lower, absent, 'zh')}。"
    return f"{_ranked(upper)} is a result and {lower['id']} is not: {_missing(lower, absent, 'en')}."


def _neither(first: AboveSide, second: AboveSide, language: str) -> str:
    told = [_missing(one, one["absent"], language) for one in (first, second) if one["absent"] is not None]
    if language == "zh":
        return f"{first['id']} 和 {second['id']} 都不在结果之中：前者，{told[0]}；后者，{told[1]}。"
    return f"Neither {first['id']} nor {second['id']} is a result: of the first, {told[0]}; of the second, {told[1]}."


def _missing(side: AboveSide, absent: Absent, language: str) -> str:
    """Why a memory is no result, as a part of a sentence."""
    chinese = language == "zh"
    if absent["why"] == "withheld":
        phrase, by = REASONS[absent["reason"] or ""], absent["shown_by"]
        return f"{phrase.zh}（可用 {by} 查看）" if chinese else f"{phrase.en} (shown by {by})"
    if absent["why"] == "filtered":
        names = ", ".join(absent["filters"])
        return f"它不符合筛选条件 {names}" if chinese else f"it does not pass the filter {names}"
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
