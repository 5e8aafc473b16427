"""Which known statement a new one makes outdated: how much it reads as a report of a change, and what it is about. Pure.

A model of meaning rates the new statement (`Rating`): does its speaker report a change, does it only imagine or quote one, and how
near is each known statement. The outdated statement is the nearest one: in meaning, in shared words, and in the attribute of which
both speak (home, work, phone). One score joins these figures, and two thresholds on it decide. Without a model a short list of
words of change takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.relation import MOST_READ, read, written
from engramlog_server.projections.language.extraction.taking_back import values_of
from engramlog_server.projections.language.lexicon import either, rows, simplified, words
from engramlog_server.projections.language.patterns import HAN, holds_han, regex
from engramlog_server.projections.language.text import stem
from engramlog_server.projections.language.times.bounds import for_a_time


class Rating(NamedTuple):
    """What a model of meaning makes of a statement."""

    reports: float
    """How much it reads as a report of a change: about -1 (states what is so) to 1."""
    imagines: float
    """How much it reads as imagined, quoted or said of others: about -1 to 1."""
    near: Sequence[float]
    """Cosine to each of the other statements."""


Alike = Callable[[str, Sequence[str]], Rating | None]
"""Rates a statement beside others; None without a model."""


def no_model(_text: str, _others: Sequence[str]) -> None:
    """The `Alike` of a process without a model."""


class Change(NamedTuple):
    """The known statement that a new one makes outdated."""

    at: int
    """Its place among the known ones."""
    sure: bool
    """Whether it ends; else both are marked."""
    reason: str


REPORTS, IMAGINES, NEARNESS, LEAD = 1.7, -2.1, 5.8, 5.3
"""Weights of the score: of both ratings, of the nearness, and of its lead over the second nearest."""
WORDS, CLEAR = 0.3, 0.15
"""Added to `reports` if the statement has a word of change, and taken from `imagines` if that is a clear one."""
LEAST_NEARNESS, LEAST_IMAGINES, MOST_LEAD = 0.3, -0.5, 0.15
"""A statement is about none that is less near; a lower rating as imagined and a larger lead add nothing to the score."""


class _Bounds(NamedTuple):
    """What a statement needs at least, and at most as imagined."""

    reports: float
    imagines: float
    score: float
    lead: float


_MARKS, _ENDS = _Bounds(0.0, 0.2, 4.4, 0.08), _Bounds(0.6, -0.2, 5.2, 0.11)
"""From which both statements are marked, and from which the known one ends."""
SHARED_WORD, SHARED_ATTRIBUTE, SHARED_SINGLE, SAME_KIND = 0.12, 0.08, 0.14, 0.3
"""Added to the cosine: each common word (two at most), a common attribute, more for one that has one value at a time, and another
thing of the kind to which the speaker switched."""
_SINGLE = frozenset({"home", "work", "partner", "phone"})
_USUAL = 0.36
"""Cosine of two statements of one person, without a model."""

_CLEAR = (
    r"\b(?:misspoke|from now on|quit|gave (?:up|away)|sold|traded|swapp?ed|switched|moved"
    r"|changed|replaced|renamed|rebranded|cancell?ed|called off|broke up|divorced|retired|promoted|postponed"
    r"|started (?:at|as|with)|got (?:engaged|married|a job|hired)|transferred"
    r"|typ(?:o|ing error)|oops|i meant|mixed (?:that|it|them) up)\b"
    r"|改|换[成了到]|搬|跳槽|辞职|离职|分手|卖[了掉]|取消|推迟|[涨降]到|[说写打记搞弄][错岔混]|算了|停药|入职|转[行学]|[结订]婚了"
)
_CLEAR_WORDS = regex(_CLEAR)
"""Words that by themselves report a change, also in a sentence too short for the model to rate."""
_WORDS = regex(
    rf"{_CLEAR}|\b(?:correction|no longer|not \w+ing\b.{{0,30}}any ?more|instead|married|raised|stopped"
    r"|(?<!right )(?<!years )(?<!months )(?<!weeks )now"
    r"|these days|nowadays|from (?:here|today) on)\b"
    r"|不再|不[^,，。！!？?、了]{1,8}了|现在|如今|以后|从今|没了"
)
_SUPPOSED = regex(
    r"\b(?:if|unless|suppos\w+|imagine|pretend|wish(?:es)?|would|could|might|maybe|perhaps|should|thinking (?:of|about)"
    r"|dream(?:t|ed|s)?|jok(?:e|es|ing)|kidding|almost|nearly|some ?day|whether|rumou?rs?|april fool'?s?|did not"
    r"|have not(?!.*\b(?:since|in (?:weeks|months|years|ages))))\b"
    r"|谣[传言]|传言|愚人节|真想|想[换改搬转]|怕是|没说|如果|要是|假如|假设|万一|倘若|若是|想象|做?梦|开玩笑|差点|该不该|要不要|是不是|会不会|也许|可能"
    r"|听说|据说|网上|网友|有人(?!了)|[他她谁]们?说|劝我|还没"
)
"""Words of those who suppose, deny, joke or report."""
_QUOTED = regex(r"[“\"「『][^”\"」』]{6,}[”\"」』]")
_ASKS = regex(r"[?？][”\"」』]?$|[吗么呢][。.]?$")
_ANOTHER = regex(
    r"\b(?:too(?! [a-z])|also|as well|second(?!-hand)|additional|besides|both(?! \w+s\b))\b"
    r"|也|又(?!能|可以)|还[有爱喜在会要]|另外|同时|以及"
)
"""Words for something that holds beside what is known."""
_MARKS_ONLY = regex(
    r"^(?!.*\b(?:i|me|my|mine|we|us|our|ours)\b)\W*(?:in )?(?:the|an?|his|her|their|he|she|they|some\w*|every\w*)\b"
    r"|\b(?:said|says|told|wrote|writes|claim(?:s|ed)?|swears)\b|说|写着|声称"
    r"|\b(?:case|cover|battery|screen|tyres?|tires?|strings?|strap|lock|ringtone|wallpaper|icon)\b"
    r"|[换装修].{0,4}(?:壳|膜|套|电池|屏|胎|灯|垫|带|弦|锁|图标|铃声|头像)"
)
"""What others do or report, without a word of the speaker, or a new part of a thing: it marks at most."""
_SWITCHED = regex(
    r"\b(?:switched|changed|moved|migrated|converted|gone|went)(?: \w+){0,2}? to (?:(?:an?|the|my|using|drinking|playing|eating) )?"
    "|(?:换[成到用了]|改(?:[成用喝吃弹玩学养开骑坐打练做]|(?=[跑游]))|转[用到])(?:了|一?[个只台辆部])* ?",
    re.IGNORECASE,
)
_FOR_A_PURPOSE = regex(r"\b(?:for (?!good\b|ever\b)|at|when|with)\b|\band back\b|时")
_SOMEBODY = regex(
    r"\W*(?!(?:I|My|We|Our|The)\b)(?P<name>[A-Z][a-z]+(?=(?:'s \w+)? (?:[a-z]+(?:s|ed)|sold|bought|got|quit|left|gave|went|lost)\b)"
    rf"|[小老阿][{HAN}])"
)
"""A third person by name."""
_USER = regex(r"^User(?:'s)? |^用户")
_OTHERS = r"friends?|neighbou?rs?|colleagues?|co-?workers?|boss|roommate|flatmate|classmate"
_OTHERS_CHINESE = "朋友|邻居|同事|同学|室友|老板"
_PERSON = regex(lambda: rf"\b(?:{kin.english()}|{_OTHERS})\b|{kin.chinese()}|{_OTHERS_CHINESE}")
_SUBJECT = regex(
    lambda: (
        rf"^\W*(?:so |and |but )?(?:(?:my|our|user's|the user's) )?(?:new |old |best |next-door )?"
        rf"({kin.english()}|{_OTHERS})\b(?! and i\b)"
        rf"|^\W*(?:我们?|咱|用户)?[家的]?({kin.chinese()}|{_OTHERS_CHINESE})(?![和跟]我)"
    )
)
_SPEAKER = regex(r"\b(?:i|me|my|mine|we|us|our|ours)\b|我|咱")
_OF_SPEAKER = regex(r"^\W*(?:i|we)\b|^\W*(?:我|咱)")


def changed(new: str, known: Sequence[str], alike: Alike) -> Change | None:
    """The known statement of the same speaker that a new one makes outdated; None if none or if several are about equally near."""
    if not known or for_a_time(new) or not may_change(new, alike):
        return None
    rating = _rating(new, known, alike)
    ranked = sorted(
        (_nearness(new, text, near), at) for at, (text, near) in enumerate(zip(known, rating.near, strict=True))
    )
    (best, at), second = ranked[-1], ranked[-2][0] if len(ranked) > 1 else 0.0
    score = REPORTS * rating.reports + IMAGINES * max(rating.imagines, LEAST_IMAGINES) + NEARNESS * best
    score += LEAD * min(best - second, MOST_LEAD)
    is_near = best >= LEAST_NEARNESS and score >= _MARKS.score and best - second >= _MARKS.lead
    if not is_near or _about_others(new, known[at]) or _about_somebody(new, known[at]):
        return None
    names = (word for word in _common(new, known[at]) if len(word) > 1 and not _PERSON.fullmatch(word))
    # A person has several things at a time. Who moved to an editor still lives where they lived.
    one_topic = any(names) or bool(attributes(new) & attributes(known[at]))
    one_topic = _is_other_of_kind(new, known[at]) if _switched_to(new) is not None else one_topic
    ends = rating.reports >= _ENDS.reports and rating.imagines <= _ENDS.imagines and score >= _ENDS.score
    ends = ends and best - second >= _ENDS.lead and one_topic
    plain = _plain(new)
    ends = ends and _WORDS.search(plain) is not None and not _MARKS_ONLY.search(plain)
    somebody = _SOMEBODY.match(_of_user(new))
    ends = ends and (somebody is None or somebody["name"].casefold() in known[at].casefold())
    return Change(at, ends, "the speaker reports a change")


def may_change(text: str, alike: Alike) -> bool:
    """Whether a statement may report a change at all: it does not suppose, deny, joke, ask or add."""
    plain = _QUOTED.sub(" ", _plain(text))
    if _SUPPOSED.search(plain) or _ANOTHER.search(plain) or _ASKS.search(plain.strip()):
        return False
    rating = _rating(text, (), alike)
    return rating.reports >= _MARKS.reports and rating.imagines <= _MARKS.imagines


def _rating(new: str, known: Sequence[str], alike: Alike) -> Rating:
    """The rating by a model, or a plain one without a model, and by words of change."""
    plain = _plain(new)
    has_words, is_clear = _WORDS.search(plain) is not None, _CLEAR_WORDS.search(plain) is not None
    rating = alike(new, known)
    if rating is None:
        rating = Rating(0.7 if has_words else -1.0, LEAST_IMAGINES, [_USUAL] * len(known))
    reports = rating.reports + WORDS * has_words
    if is_clear:
        return rating._replace(reports=max(reports, _ENDS.reports), imagines=rating.imagines - CLEAR)
    return rating._replace(reports=reports)


def _about_others(new: str, known: str) -> bool:
    """Whether one of two statements begins with people whom the other does not mention: "we" and "I" do not stand for them."""
    (people, mentioned), (subjects, others) = _people(known), _people(new)
    if not subjects:
        return not people <= others and _OF_SPEAKER.match(_plain(new)) is not None
    return subjects != people and not subjects & mentioned


def _about_somebody(new: str, known: str) -> bool:
    """Whether a statement without a word of change or of the speaker is about a third person by name whom the known one does not
    name, or of whom it tells another thing."""
    somebody, plain = _SOMEBODY.match(_of_user(new)), _plain(new)
    if somebody is None or _WORDS.search(plain) or _SPEAKER.search(plain):
        return False
    name = somebody["name"].casefold()
    begins = _SOMEBODY.match(_of_user(known))
    same = begins is not None and begins["name"].casefold() == name
    return name not in known.casefold() or (same and _common(new, known) <= {name, stem(name)})


@lru_cache(maxsize=1 << 12)
def _switched_to(text: str) -> tuple[str, str] | None:
    """The thing to which a speaker switched, and its kind; None for a thing of no known kind, or a switch for one purpose."""
    plain = _of_user(text[:MOST_READ])
    if (verb := _SWITCHED.search(plain)) is None:
        return None
    rest = plain[verb.end() : verb.end() + 40]
    found = ((kind, name) for kind in words("used", "sort") for name in values_of(kind, rest) if rest.startswith(name))
    switched = max(found, key=lambda one: len(one[1]), default=None)
    return None if switched is None or _FOR_A_PURPOSE.search(rest, len(switched[1])) else switched


def _is_other_of_kind(new: str, known: str) -> bool:
    """Whether a known statement affirms another thing of the kind to which the speaker switched."""
    if (switched := _switched_to(new)) is None or read(known).denied:
        return False
    others = {name.casefold() for name in values_of(switched[0], known)}
    return bool(others) and switched[1].casefold() not in others


def _nearness(new: str, known: str, cosine: float) -> float:
    both = attributes(new) & attributes(known)
    shared = SHARED_SINGLE if both & _SINGLE else SHARED_ATTRIBUTE if both else 0.0
    if _switched_to(new) is not None:
        shared = SAME_KIND * _is_other_of_kind(new, known)
    return cosine + shared + SHARED_WORD * min(len(_common(new, known)), 2)


def _common(new: str, known: str) -> frozenset[str]:
    """The words that both have; a Chinese one may stand within a longer one, as the segmenter cuts names unevenly."""
    ours, theirs = _topic(new), _topic(known)
    within = (word for mine, other in ((ours, theirs), (theirs, ours)) for word in mine if _is_within(word, other))
    return (ours & theirs) or frozenset(within)


def _is_within(word: str, others: frozenset[str]) -> bool:
    if not holds_han(word):
        return len(word) > 4 and any(other.endswith(word) for other in others)
    return len(word) > 1 and any(word in other for other in others)


@lru_cache(maxsize=1 << 12)
def _plain(text: str) -> str:
    return written(_of_user(simplified(text[:MOST_READ])))


def _of_user(text: str) -> str:
    """A statement about "the user" as the speaker's: the word itself is no topic."""
    return _USER.sub(lambda found: "我" if found[0] == "用户" else "My " if found[0].endswith("'s ") else "I ", text)


@lru_cache(maxsize=1 << 12)
def _people(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The people with whom a statement begins, and all that it mentions."""
    plain = _plain(text)
    subject = _SUBJECT.match(plain)
    return frozenset(filter(None, subject.groups() if subject else ())), frozenset(_PERSON.findall(plain))


@lru_cache(maxsize=1 << 12)
def _topic(text: str) -> frozenset[str]:
    """The words by which a statement says what it is about."""
    seen = read(_of_user(simplified(text[:MOST_READ])))
    idle = frozenset((*words("idle_topics", "english"), *words("idle_topics", "chinese")))
    return frozenset(
        word for word in (*seen.affirmed, *seen.denied) if not (word[0].isdigit() or word[0] == "一" or word in idle)
    )


@lru_cache(maxsize=1 << 12)
def attributes(text: str) -> frozenset[str]:
    """The attributes of which a statement speaks: home, work, phone; rows of `topics.tsv`."""
    plain = _plain(text)
    return frozenset(name for name, pattern in _attributes().items() if pattern.search(plain))


@cache
def _attributes() -> dict[str, re.Pattern[str]]:
    """A trade is of work too."""
    trades = {"work": (words("jobs", "english"), words("jobs", "chinese"))}
    patterns = {}
    for row in rows("topics"):
        name = row["attribute"][0]
        english, chinese = trades.get(name, ((), ()))
        patterns[name] = re.compile(
            rf"\b(?:{either((*row['english'], *english))})\b|{either((*row['chinese'], *chinese))}"
        )
    return patterns
