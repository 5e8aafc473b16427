"""How alike two texts are, all pairs of texts that are alike, and whether two short statements say the same. No model.

    similarity(a, b) = 2 * weight of the shared tokens / (weight of a's tokens + weight of b's tokens)

A Dice coefficient over the sets of `projections.language.text.tokens`. A token weighs 3, or 1 where it says little about the
topic: I, you, like, want, 我, 喜欢 and Han bigrams of nothing but grammar; otherwise every "I like ..." would be related to every
other. Han characters count beside their bigrams, so a character put in does not cost two bigrams alone. Over 65 hand-made pairs
in both languages near-duplicates came to 0.84 to 1, pairs on one topic to 0.35 to 0.81, strangers to 0 to 0.24. Of the 20 on one
topic 15 reach 0.5, where links begin; Jaccard, which ranks alike, has 6 of them reach it, and without the single characters 1 of
the 10 Chinese ones does instead of 6.

All pairs are found without comparing each with each: prefix filtering (Bayardo et al. 2007, "Scaling up all pairs similarity
search"), length and position filters (Xiao et al. 2008, PPJoin), and bit signatures of the sets. Exact.

`content` is what a short statement says, however it says it: two with equal contents may become one. A likeness in vectors
proposes; it cannot decide, for "I drink tea every morning" is as near to "I drink coffee every morning" as its paraphrases are.
So a statement is written in one way: phrases of the list `same_said` by the first of their row, a few ways to build a sentence by
one of them, times taken out of it, phrases of place sorted. Of a statement of one of the `relations` (an allergy, a name, a job, a
pet, a home) the words that only state the relation are left out. Every other word counts: whoever, not, how many, was, wants to,
with whom. What no rule knows keeps two statements apart.

Word lists tell whether a statement is negated, and tell reversed statements from repeated ones among texts on one topic
(memory.md, sections 4 and 5); by themselves they prove nothing. A fact merged wrongly is lost in silence while a missed merge
costs a line, so `difference` finds two statements the same only if nothing is left to tell them apart but articles, particles,
degree ("really", 很), contractions, the writing of numbers (three, 3, 三), case, width and punctuation.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language import lexicon
from engramlog_server.projections.language.keywords import segmented, sentences
from engramlog_server.projections.language.lexicon import either, rows, words
from engramlog_server.projections.language.patterns import HAN, regex
from engramlog_server.projections.language.prompt_text import is_chinese
from engramlog_server.projections.language.text import function_characters, stem, tokens
from engramlog_server.projections.language.times.calendar import (
    ENGLISH,
    HAN_DIGITS,
    HAN_UNITS,
    MONTHS,
    TWELVE,
    WEEKDAY,
    WEEKDAYS,
)

_CONTENT_WEIGHT = 3
_LIGHT_TEXT = "i my we our you your me us user like love want prefer enjoy"
_LIGHT_WORDS = frozenset(_LIGHT_TEXT.split())


@cache
def _light_characters() -> frozenset[str]:
    """Characters that say little of what a text is about."""
    return frozenset("我你您喜欢爱想用户") | function_characters()


_ROUNDING = 1e-9
_CHUNK = 1 << 20
"""Candidate pairs looked at in one go: bounds the memory used, to less than 100 MB."""
_BITS = 128

Integers = npt.NDArray[np.int32]


class SimilarPair(NamedTuple):
    """Two alike texts, by their places in the sequence, a < b; similarity in (0, 1]."""

    a: int
    b: int
    similarity: float


class Bag(NamedTuple):
    """The tokens of a text as sets: those that weigh 3 and those that weigh 1."""

    content: frozenset[str]
    light: frozenset[str]

    @property
    def weight(self) -> int:
        return _CONTENT_WEIGHT * len(self.content) + len(self.light)


def bag_of(text: str) -> Bag:
    """What of a text counts when it is compared."""
    written = plain(text)
    # Punctuation alone says as little as nothing; other symbols ("→") are like themselves.
    found = frozenset(tokens(written) or ["".join(one for one in written if unicodedata.category(one)[0] not in "PZC")])
    light = frozenset(token for token in found if token in _LIGHT_WORDS or _light_characters().issuperset(token))
    return Bag(found - light, light)


MOST_RELATED = 0.8
"""Similarity up to which two texts are related; beyond it they say about the same."""


def alike(a: Bag, b: Bag) -> float:
    """The similarity of two texts by their bags: 0 to 1."""
    shared = _CONTENT_WEIGHT * len(a.content & b.content) + len(a.light & b.light)
    return 2 * shared / (a.weight + b.weight)


def similarity(a: str, b: str) -> float:
    """How alike two texts are: 0 (no token shared) to 1 (equal up to case, width, punctuation, order). Symmetric."""
    return alike(bag_of(a), bag_of(b))


def similar_pairs(
    texts: Sequence[str], least: float, most: float = 1.0, *, enough: int | None = None, check: Check = unchecked
) -> list[SimilarPair]:
    """All pairs of texts that share a token and are alike by `least` to `most`, ascending by place.

    Equal texts are compared once, but all their pairs are told: with many copies ask for a `most` below 1. Ten thousand
    texts from one template are fifty million pairs: with `enough`, candidates beyond so many (those that share the rarest
    tokens first) are not looked at, and the last of equal texts stands for all of them.
    """
    places: dict[Bag, list[int]] = defaultdict(list)
    for place, text in enumerate(counted(texts, check, len(texts))):
        places[bag_of(text)].append(place)
    held = list(places.values())
    found = [SimilarPair(*pair, 1.0) for same in held for pair in combinations(same, 2)] if least <= 1 <= most else []
    for one, other, similar in _joined(list(places), least, enough, check):
        if similar <= most and enough is not None:
            found.append(SimilarPair(min(held[one][-1], held[other][-1]), max(held[one][-1], held[other][-1]), similar))
        elif similar <= most:
            found += [SimilarPair(min(pair), max(pair), similar) for pair in product(held[one], held[other])]
    return _ascending(found)


def _ascending(found: list[SimilarPair]) -> list[SimilarPair]:
    """By place; a million pairs sorted in one call of Python's would keep every other thread waiting for a second."""
    places = np.array([(pair.a, pair.b) for pair in found], dtype=np.int64).reshape(-1, 2)
    return [found[at] for at in np.lexsort((places[:, 1], places[:, 0])).tolist()]


def _joined(bags: Sequence[Bag], least: float, enough: int | None, check: Check) -> Iterator[tuple[int, int, float]]:
    """All pairs of different bags that are alike by at least `least`, each once."""
    ranked = sorted(range(len(bags)), key=lambda place: bags[place].weight)
    bags = [bags[place] for place in ranked]
    count, candidates = _candidates(bags, least, enough, check)
    for one, other in counted(candidates, check, count):
        similar = alike(bags[one], bags[other])
        if similar >= least and similar > 0:
            yield ranked[one], ranked[other], similar


def _candidates(
    bags: Sequence[Bag], least: float, enough: int | None, check: Check
) -> tuple[int, Iterable[tuple[int, int]]]:
    """How many, and pairs (each once) that may be alike by `least`, and all that are. The bags ascend by weight.

    Of two sets alike by `least`, each shares at least `_need(least)` of its own weight. So the rarest token they share
    stands in either's prefix: the tokens, rarest first, from which on that much weight is left.
    """
    if len(bags) < 2 or least > 1:
        return 0, []
    weights = np.array([bag.weight for bag in bags], dtype=np.int32)
    signatures, token, bag, rest = _prefixes(bags, weights, least)
    # Partners of an entry: the following ones of its token whose bag is not too heavy to be alike.
    step = int(weights[-1]) + 1
    heaviest = np.minimum(weights[bag] / max(_need(least), 1 / step) + _ROUNDING, step - 1)
    reach = np.searchsorted(token * step + weights[bag], token * step + heaviest.astype(np.int64), side="right")
    ends = np.cumsum(reach - np.arange(len(bag)) - 1)
    found: list[Integers] = []
    start, done, chunk = 0, 0, _CHUNK if enough is None else min(_CHUNK, enough)
    while start < len(bag) and (enough is None or sum(part.size for part in found) < enough):
        check(start, len(bag))
        stop = max(start + 1, int(np.searchsorted(ends, done + chunk, side="right")))
        entries = np.arange(start, stop, dtype=np.int32)
        counts = np.diff(ends[start:stop], prepend=done)
        first = np.repeat(entries, counts)
        second = np.arange(len(first)) - np.repeat(ends[start:stop] - counts - done, counts) + first + 1
        needed = least * (weights[bag[first]] + weights[bag[second]]) - _ROUNDING
        kept = 2 * np.minimum(rest[first], rest[second]) >= needed
        one, other = bag[first[kept]], bag[second[kept]]
        apart = np.bitwise_count(signatures[one] ^ signatures[other]).sum(axis=1, dtype=np.int32)
        kept = weights[one] + weights[other] - _CONTENT_WEIGHT * apart >= needed[kept]
        found.append(one[kept].astype(np.int64) * len(bags) + other[kept])
        start, done = stop, int(ends[stop - 1])
    pairs = np.sort(np.concatenate(found))  # unlike np.unique it lets other threads go on
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    return pairs.size, zip((pairs // len(bags)).tolist(), (pairs % len(bags)).tolist(), strict=True)


def _need(least: float) -> float:
    """The share of its own weight that a set shares with any that is alike by `least`."""
    return least / (2 - least)


def _prefixes(
    bags: Sequence[Bag], weights: Integers, least: float
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], Integers, Integers]:
    """Bit signatures of the bags' content, and all entries of all prefixes: token, bag, weight from this token on.

    Entries ascend by token and bag; tokens are numbers, rarer ones lower and light ones highest.
    """
    content = Counter(token for bag in bags for token in bag.content)
    light = Counter(token for bag in bags for token in bag.light)
    by_rarity = [token for held in (content, light) for token, _ in sorted(held.items(), key=lambda item: item[::-1])]
    number = {token: place for place, token in enumerate(by_rarity)}
    sizes = [len(bag.content) + len(bag.light) for bag in bags]
    token = np.fromiter((number[t] for bag in bags for part in bag for t in part), dtype=np.int64, count=sum(sizes))
    owner = np.repeat(np.arange(len(bags), dtype=np.int32), sizes)
    token = token[np.lexsort((token, owner))]
    heavy = token < len(content)
    weight = np.where(heavy, _CONTENT_WEIGHT, 1)
    upto = np.cumsum(weight)
    rest = (np.cumsum(weights, dtype=np.int64)[owner] - upto + weight).astype(np.int32)
    signatures = np.zeros((len(bags), _BITS // 64), dtype=np.uint64)
    bit = token[heavy] % _BITS
    np.bitwise_or.at(signatures, (owner[heavy], bit // 64), np.left_shift(np.uint64(1), (bit % 64).astype(np.uint64)))
    prefix = rest >= _need(least) * weights[owner] - _ROUNDING
    token, owner, rest = token[prefix], owner[prefix], rest[prefix]
    order = np.lexsort((owner, token))
    return signatures, token[order], owner[order], rest[order]


MOST_READ = 120
"""Characters of a statement beyond which it is not read: who says more than one thing says something else beside."""
_QUOTED = frozenset('"“”「」『』?？;；:：…\n')


class Content(NamedTuple):
    """What a statement says."""

    said: tuple[str, ...]
    """Its words in order, of an English one its phrases of place and time sorted; of a Chinese one its characters."""
    times: frozenset[str] = frozenset()
    """When it holds again and again, wherever it stands in the sentence."""
    relation: str = ""
    """What it says of somebody, whose usual words are left out of `said`."""


@lru_cache(maxsize=1 << 12)
def content(text: str) -> Content | None:
    """What one short statement says; None of a question, a quotation, one word, several sentences and of what is long."""
    if len(text) > MOST_READ or not _QUOTED.isdisjoint(text) or len(sentences(text)) != 1:
        return None
    found = _chinese(text) if is_chinese(text) else _english(text)
    return found if len(found.said) > 1 else None


Rule = tuple[str, str | Callable[[re.Match[str]], str]]


def _rewritten(text: str, rules: Iterable[Rule]) -> str:
    for pattern, into in rules:
        text = " ".join(re.sub(pattern, into, text).split())
    return text


@cache
def _phrases(language: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """Any phrase of the list, the longest first, and the first of its row; between Chinese words stands a bar."""
    first = {phrase: row[language][0] for row in rows("same_said") if row[language] for phrase in row[language]}
    if language == "english":
        return re.compile(rf"\b(?:{either(first)})\b"), first
    told = "|".join(r"\|?".join(map(re.escape, one)) for one in sorted(first, key=len, reverse=True))
    return re.compile(rf"(?<=\|)(?:{told})(?=\|)"), first


_PART = "(?:morning|afternoon|evening|night)"
_DAY = rf"(?:{_PART}|day|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_TIME = rf"(?:every {_DAY}(?: {_PART})?|on {_DAY}s(?: {_PART}s?)?)"
_WHO = r"(?:i|we|(?:my|our) \w+)"
_THING = r"((?!not\b)\w+)"
_PLAIN = r"(?!(?:not|i|we|that|who|and|or|but)\b)[\w'-]+"
_PHRASE = rf"({_PLAIN}(?: {_PLAIN}){{0,5}}?)"
_BASE = r"(?:like|hate|prefer|can)"


def _based(found: re.Match[str]) -> str:
    """A verb in the form that "to drive" and "driving" have in common."""
    return f"{found[1]} ~{stem(found[2])}"


def _begun(found: re.Match[str]) -> str:
    return f"i have {found[2]} every {found[1].replace('day', 'morning')}"


_TURNED: tuple[Rule, ...] = (
    (r"\b(?:currently|nowadays|at (?:the )?(?:moment|present)|these days|now|actually|basically|honestly)\b", " "),
    (r"\bat all\b|(?<=not )\bany\b|(?:^| )personally\b", " "),
    (r"(?<=not )(?!just\b)(\w+) any\b", r"\1"),
    (r"\b(?:every single|each)\b(?! other)", "every"),
    (r"\b(?:no longer|not anymore)\b|\bnot ((?:\w+ )+?)(?:anymore|any more|any longer)$", r"no longer \1"),
    (r"^(i|we) (?:have )?(?:quit|stopped|given up|gave up) (\w+ing)\b", lambda m: f"{m[1]} no longer ~{stem(m[2])}"),
    (r"\bno longer (\w+)", lambda m: f"no longer ~{stem(m[1])}"),
    (r"\bnever (?=(?:eats?|drinks?|smokes?)\b)", "not "),
    (r"^i (eat|drink|smoke|have|own|like) no (.+)$", r"i not \1 \2"),
    (r"\bi'd rather\b", "i would rather"),
    (r"'s (?=(?:name|home|job|profession)\b)", " "),
    # What is said of a thing is said by who does it.
    (rf"^(.+?) (?:is|are) (?:what|something|one thing|thing)(?: that| which)? ({_WHO}) (.+)$", r"\2 \3 \1"),
    (rf"^(.+?) is where ({_WHO}) (.+)$", r"\2 \3 in \1"),
    (r"^(?!my\b|our\b|this\b|that\b|it\b|he\b|she\b|i\b|we\b)(.+?) (is|are) ((?:my|our) .+)$", r"\3 \2 \1"),
)
"""Before phrases are looked up: ways to build a sentence."""
_TOLD: tuple[Rule, ...] = (
    (rf"^{_PHRASE} (?:scares?|frightens?|terrif(?:y|ies)) me$", r"i am afraid of \1"),
    (r"\b(?:is|are) (?:called|named)\b|\b(?:whose )?names? (?:is|are)\b", "~called"),
    (r"\b(have|has|own|got) ((?:\w+ ){1,4}?)(?:called|named)\b", r"\1 \2~called"),
    (r"\bhave (?:ability to|skills? to)\b|\b(?:know how|am able) to\b|\bam capable of\b", "can"),
    (rf"^i like {_THING} (?:more|better) than {_THING}$", r"i prefer \1 to \2"),
    (rf"^i (?:prefer|favou?r) {_THING} (?:over|to|rather than) {_THING}$", r"i prefer \1 to \2"),
    (rf"^i (?:would|'d) rather (?:have |drink |eat )?{_THING} than {_THING}$", r"i prefer \1 to \2"),
    (r"^i like (.+) best$", r"i prefer \1"),
    (rf"^(\w+ing(?: {_PLAIN}){{0,4}}?) suits me (?:better|best)$", r"i prefer \1"),
    (r"^(?:i would rather|my preference is) (?:to )?", "i prefer to "),
    (r"\b(?:love|enjoy)(?= (?:to \w+|\w{2,}ing)\b)", "like"),
    (rf"\b({_BASE}) (?:to )?(\w+ing|(?<=to )\w+)\b", _based),
    (r"\b(can) (?!not\b|~)(\w+)\b", _based),
    (r"\blearn to play\b", "learn"),
)
_HABITS: tuple[Rule, ...] = (
    (rf"^(?:my|every) ({_PART}|day)s? (?:always )?(?:begins?|starts?) with {_PHRASE}(?: for me)?$", _begun),
    (rf"^i (?:(?:can )?not|never) ~?begin (?:my )?({_PART}|day) without {_PHRASE}$", _begun),
    (rf"^{_PHRASE} (?:is|are) part of my ({_PART}) routine$", r"i have \1 every \2"),
    (rf"^{_PHRASE} (every {_DAY}) is must(?: for me)?$", r"i have \1 \2"),
    (rf"\bin ({_PART}) every day\b|\bevery day in ({_PART})\b", lambda m: f"every {m[1] or m[2]}"),
    (
        rf"\balways\b(.*)\bin ({_PART})\b|\bin ({_PART})\b(.*)\balways\b",
        lambda m: f"{m[1] or m[4]} every {m[2] or m[3]}",
    ),
    (rf"\b(?:have|take|eat|drink) (?:my )?(?:(?:cup|mug) of )?(?=.*\bevery {_DAY})", "have "),
    (rf"(?<=every )({_DAY}) (i|we) (?:have|take|eat|drink) (?:my )?(?:(?:cup|mug) of )?(?=\w)", r"\1 \2 have "),
)
_SCOPE = re.compile(
    r"\b(?:not|never|no|only|and|or|but|nor|than|that|who|which|when|while|where|if|because|before i|after i|since|until|unless|so"
    r"|want|wants|plan|plans|hope|hopes|try|tries|need|needs|begin|begins|stop|stops|prefer|like|likes|hate|hates|love|enjoy"
    r"|would|can|could|may|might|must|should|shall|will|have to|has to"
    r"|says?|said|tells?|told|thinks?|thought|knows?|knew|believes?|hears?|heard|asks?|asked|promised?)\b|\b(?:i|we)\b.*\b(?:i|we)\b"
)
"""Words of which a time is a part or is not: "I do not run every day" and "every day I do not run" say two things."""
_PLACED = r"\b(?:in|on|at|before|after|during|with|without|near|by|from|for|as)\b"


def _english(text: str) -> Content:
    words_of = _rewritten(" ".join(wording(text)), _TURNED)
    phrase, first = _phrases("english")
    said = phrase.sub(lambda found: first[found[0]], words_of)
    said = _rewritten(said, _TOLD + _HABITS)
    if _SCOPE.search(said):
        return Content(tuple(said.split()))
    times = frozenset(
        re.sub(r"^on | (?=s$)|s\b", "", f"{one} ").replace("every ", "").strip()
        for one in re.findall(rf"\b{_TIME}\b", said)
    )
    rest = " ".join(re.sub(rf"\b{_TIME}\b", " ", said).split())
    rest = re.sub(rf"^({_PLACED}.+?) (?=(?:i|we)\b)(.+)$", r"\2 \1", rest)
    if (related := _related(rest.split())) is not None:
        rest = re.sub(r"\b(?:in|at|for|by)\b", "at", " ".join(related[1]))
    core, *placed = re.split(rf" (?={_PLACED})", rest)
    return Content((*core.split(), *sorted(placed)), times, related[0] if related else "")


class _Relation(NamedTuple):
    name: str
    signs: frozenset[str]
    frames: frozenset[str]
    named: frozenset[str]


@cache
def _relations(language: str) -> tuple[_Relation, ...]:
    return tuple(
        _Relation(
            row["relation"][0],
            frozenset(row[language]),
            frozenset(row["frames"] + row[language]),
            frozenset(word for name in row["named"] for word in words(name, language)),
        )
        for row in rows("relations")
    )


_OWN = {"my": "i", "our": "we"}


def _related(said: Sequence[str]) -> tuple[str, list[str]] | None:
    """The first relation that English words state, and these without those that only state it."""
    for one in _relations("english"):
        named = sum(word in one.named for word in said)
        if not (one.signs or one.named) or (one.named and named != 1) or (one.signs and one.signs.isdisjoint(said)):
            continue
        left: list[str] = []
        for word, after in zip(said, (*said[1:], ""), strict=True):
            if word in _OWN and (after in one.frames or (after in one.named and one.name != "job")):
                left.append(_OWN[word])
            elif word not in one.frames or (after in one.named and word in ("by", "from", "to", "of")):
                left.append(word)
        if one.name == "allergy":
            if left[-1:] == ["me"] and {"i", "my", "we", "our"}.isdisjoint(left):
                left = ["i", *left[:-1]]
            left = [*map(stem, left)]
        return (one.name, left) if len(left) > 1 else None
    return None


def _related_chinese(said: str) -> tuple[str, tuple[str, ...]] | None:
    """The same of a Chinese statement, of which is left of whom it is and the characters, sorted."""
    if said.count("我") != 1 or re.search("[你您他她]", said):
        return None
    for one in _relations("chinese"):
        names = either(one.named) or "(?!)"
        named = re.findall(names, said)
        if not (one.signs or one.named) or (one.named and len(named) != 1):
            continue
        if (one.signs and not any(sign in said for sign in one.signs)) or "对我" in said:
            continue
        if one.name == "job" and f"我{named[0]}" in said:
            return None
        left = re.sub(rf"({names})|{either(one.frames)}", lambda found: found[1] or "", said)
        whose = re.findall(rf"我(?:{_kin()})?", said)[0]
        return None if whose == left else (one.name, (whose, *sorted(left.replace(whose, "", 1))))
    return None


_HAN_PART = r"(?:早上|上午|中午|下午|晚上)"
_HAN_TIME = rf"每天{_HAN_PART}?|每周[一二三四五六日]{_HAN_PART}?|每(?:个)?周末|每个月|每年"


@cache
def _kin() -> str:
    return either(name for row in rows("kin") for name in row["chinese"])


def _quit(found: re.Match[str]) -> str:
    what = found[1] or found[2] or found[3]
    return f"我不再{'抽' if what == '烟' else '喝'}{what}"


@cache
def _chinese_rules() -> tuple[Rule, ...]:
    kin = _kin()
    return (
        (r"(?:目前|现在|如今|当前|眼下)", ""),
        (r"每个(?=周[一二三四五六日]|早上|晚上)|每到(?=周)", "每"),
        (rf"每(?={_HAN_PART})|每天的(?={_HAN_PART})", "每天"),
        (r"(?:从来|从|向来)不(?=[吃喝抽])", "不"),
        (r"^我(?:已经)?(?:把([烟酒])戒掉?了|戒掉?了([烟酒])|戒掉?([烟酒])了)$", _quit),
        (r"(?:已经|再也|不再)?不(?:再)?([抽吃喝]\w{0,4})了$", r"不再\1"),
        (r"(?<![可恋亲热喜最])爱(?=[吃喝看听玩读唱跳画爬打弹游跑骑])", "喜欢"),
        (r"想要(?=[去学吃喝买看换搬])", "想"),
        (r"准备(?=[去买换搬辞]|学(?!费))", "打算"),
        # A habit is a time of every day or week.
        (rf"(?<!每)(周[一二三四五六日]{_HAN_PART}?)我?(?:总是|都|习惯)(?:会|要)?", r"每\1"),
        (rf"(?<!每天)(?<!周[一二三四五六日])({_HAN_PART})我?(?:总是|都|习惯)(?:会|要)?", r"每天\1"),
        (rf"(?<!不)习惯(?={_HAN_PART})", "每天"),
        (rf"({_HAN_TIME})(我?)(?:(?:总是|都)(?:会|要)?|必(?!须)|会)?(?:去)?", r"\1\2"),
        (rf"(我?)固定(周[一二三四五六日]{_HAN_PART}?)", r"\1每\2"),
        (r"(?:来|喝)(?:上)?一?杯(?=咖啡|茶|水|牛奶)", "喝"),
        (rf"^(.+)是我(?=每天|{_HAN_PART})(?:每天)?({_HAN_PART})?的习惯$", r"我每天\2\1"),
        (rf"^({_HAN_TIME})(.+)是我的?习惯$", r"我\1\2"),
        (rf"^我(?:的)?(?:每天)?({_HAN_PART})(?:总是)?(?:都)?从一?杯?(.+)开始$", r"我每天\1喝\2"),
        (rf"^(.+)是我({_HAN_TIME})(?:必|都|要)?([吃喝看听读做])的?$", r"我\2\3\1"),
        (rf"我家(?=(?:{kin}))(?!里)", "我"),
        (rf"^(我(?:{kin}))(?:年龄是|已经|今年|刚好|有)*([0-9]+岁)了?$", r"\1\2"),
        (rf"^我有一?个([0-9]+岁)的?({kin})$", r"我\2\1"),
        # What is spoken of first stands behind its verb.
        (r"^([^我不]{1,3})我是?不([吃喝])的?$", r"我不\2\1"),
        (r"^我[一1]点([^我不]{1,3})[都也]不([吃喝])$", r"我不\2\1"),
        (r"^([^我]{2,5})是我的?爱好$|^我的?爱好是([^我]{2,5})$", lambda found: f"我喜欢{found[1] or found[2]}"),
        (r"(?<![不没是太])(?:很|特别|非常|平时|热)(?=喜欢|怕|讨厌)", ""),
        (r"^我有(.+?)的?打算$", r"我打算\1"),
        (r"更愿意|宁愿|偏爱|宁可", "更喜欢"),
        (r"^(在.{2,10})更适合我$", r"我更喜欢\1"),
    )


_HAN_SCOPE = re.compile(
    r"[不没未别想要愿能可比把被给说将曾]|过(?!敏)|打算|准备|计划|希望|以前|如果|因为|但|或|附近|旁边|对面|先|再"
)


def _weekday(found: re.Match[str]) -> str:
    return "周" + ("日" if found[1] in "日天" else "一二三四五六"[int(found[1]) - 1])


def _chinese(text: str) -> Content:
    phrase, first = _phrases("chinese")
    joined = re.sub("(?:周|星期|礼拜)([1-6日天])", _weekday, "".join(wording(text)))
    parted = f"|{'|'.join(segmented(joined))}|"
    said = phrase.sub(lambda found: first[found[0].replace("|", "")], parted).replace("|", "")
    said = _rewritten(said, _chinese_rules())
    found = re.match(rf"(我(?:{_kin()})?)?({_HAN_TIME})", said)
    times = frozenset[str]() if found is None else frozenset((found[2],))
    rest = said if found is None else (found[1] or "") + said[found.end() :]
    if _HAN_SCOPE.search(rest):
        return Content(tuple(rest), times)
    mine = re.sub(r"^(?:我家里?|家里)(?=养|有)", "我", rest)
    related = _related_chinese(mine)
    if related is None or (mine != rest and related[0] not in ("name", "pet")):
        return Content(tuple(rest), times)
    return Content(related[1], times, related[0])


_CONTRACTIONS = tuple(
    (regex(pattern), into)
    for pattern, into in (
        (r"\bcan(?:'t|not|t)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\b([a-z]+)n't\b", r"\1 not"),
        (r"\b(do|does|did|is|are|was|were|has|have|had|could|would|should)nt\b", r"\1 not"),
        (r"\b(i)'m\b", r"\1 am"),
        (r"\b([a-z]+)'re\b", r"\1 are"),
        (r"\b([a-z]+)'ve\b", r"\1 have"),
        (r"\b([a-z]+)'ll\b", r"\1 will"),
        (r"\b(it|he|she|that|there|here|what|who)'s\b", r"\1 is"),
    )
)
_PROBABLE = regex("'|n[to]")
_APOSTROPHES = str.maketrans("‘’ʼ", "'''")

_NEGATING = regex(
    lambda: (
        rf"\b(?:{either(lexicon.negating_english('word', 'verb', 'feeling'))})\b|[{lexicon.negating_characters()}]"
        rf"|{either(lexicon.negating_chinese('verb', 'feeling'))}|戒(?![指备尺])|(?<!难)忘"
    )
)
"""Each turns the statement round. "Neither ... nor", "not ... nor" count once, by their first word."""

_IDLE = regex(
    lambda: (
        r"^(?:oh )?(?:no|nope|nah)\b(?=[,.!;:])|\bnot (?:only|just|to mention)\b|\bno (?:problem|doubt|matter|wonder|sooner)\b"
        r"|\bno\. ?\d|\bcan not (?:wait|help)\b|\b(?:why|if|or|of course) not\b|\bnothing but\b|\bnever mind\b"
        r"|, \w+ not (?:i|you|he|she|it|we|they)\?"
        r"|(.)[不没](?=\1)|[不没]有?\?$|有没有|没事|未婚[夫妻]"
        rf"|{lexicon.idle_negations()}"
    )
)
"""What has a negating word in it and negates nothing: questions of the form A-not-A, set phrases, names."""

_REVERSING = regex(r"(?:un|dis|non-?|in|im|ir|il)(?=[a-z]{3})")

_WORD = regex(rf"[{HAN}]|(?:[^\s{HAN}、。,;!?()\[\]{{}}\"“”《》「」『』…—]|!(?=[\w=]))+")
_LEADING, _TRAILING, _DASHES = "'`", ".:'`", ("-", "–")
_EMPTY_ENGLISH = regex(
    r"^(?:(?:oh|hey|hi|yes|yeah|please)\b,? *)+(?=\w)|\b(?:an?|the)\b(?= (?!few\b|little\b|bit\b)[^\W\d])|\b(?:do|does|also)\b"
    r"|(?<!not )\b(?:really|very)\b(?! (?:few|little)\b)"
)
"""Not before "few" or "little", nor after "not", where they turn the sense."""
_LETTER_A = regex(r"(?<=[a-z\d] )A\b(?!')")
"""As in "vitamin A": no article."""
_NUMERALS = "〇零一二两三四五六七八九十百千万亿"
_EMPTY_HAN = regex(
    rf"(?<=[我你您他她它们咱])的(?=[{HAN}])|(?<![我你您他她它们咱])的(?=$|[。,.!?;\s])|[啊呀呢嘛哦嗯啦哎]+(?=$|[。,.!?;\s])"
    r"|(?<![不没是])(?:很|(?:非常|特别|真的|挺)(?=[喜爱讨想怕好高开忙累难热冷]))"
    rf"|(?<![第每周期{_NUMERALS}])一(?:[名位款首间所辆台张]|本(?![正科])|部(?!分)|个(?![人月星小礼钟头半]))"
)
_NAME = regex(r"(?<=[^\s.!?:] )(?!I\b)[A-Z][^\s,;.!?]*")
_ENGLISH_NUMBERS = {word: str(ENGLISH[word]) for word in TWELVE[1:]}
"""Not "one", which is a pronoun and nearly an article."""
_HAN_NUMBER = regex(f"(?:(?<=[周期拜第初])一|一(?=[月点号日岁楼])|(?!一(?![{_NUMERALS}]))[{_NUMERALS}]+)")
_COLLOQUIAL = regex("[百千万亿][一二两三四五六七八九]$|万.*亿|亿.*万")
_DATE_WORDS = frozenset((*MONTHS, *WEEKDAYS, "today", "tomorrow", "yesterday", "tonight", "pm", "今", "昨"))
_RELATIVE_DAY = regex(
    r"\b(?:today|tonight|tomorrow|yesterday|ago|in (?:an?|\d+|two|three|six|(?:a )?few|several) (?:day|week|month|year)s?"
    rf"|(?:this|next|last|on) (?:{WEEKDAY}|morning|afternoon|evening|night|week(?:end)?"
    r"|month|quarter|year|spring|summer|autumn|fall|winter))\b"
    r"|[今明昨前后][天日晚早晨]|[今明去前后]年|[上下这本]个?(?:周|星期|礼拜|月|次)|(?<!每)(?:周|星期|礼拜)[一二三四五六日天]|刚才|刚刚"
)


def plain(text: str) -> str:
    """The text in one writing: NFKC, casefold, straight apostrophes, contractions in full ("don't": "do not")."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).translate(_APOSTROPHES)
    if _PROBABLE.search(folded):
        for pattern, into in _CONTRACTIONS:
            folded = pattern.sub(into, folded)
    return folded


def polarity(text: str) -> int:
    """-1 if an odd number of words turn the statement round (not, never, hate, stop, 不, 没, 讨厌 ...), else 1.

    So a double negation is none: "I don't hate it", 没有人不喜欢. Several sentences are read as one.
    """
    return -1 if len(_NEGATING.findall(_IDLE.sub(" ", plain(text)))) % 2 else 1


def opposite(a: str, b: str) -> bool:
    """Whether two texts on one topic assert the reverse: one of them is negated, or has an antonym of the other's word.

    Each such difference turns it round once more: "it is hot" and "it is not cold" are no opposites. Symmetric.
    """
    turns = (polarity(a) != polarity(b)) + len(_antonyms(a, b))
    return turns % 2 == 1


def speaks_from_its_day(text: str) -> bool:
    """Whether the text names a time as seen from the day on which it is said: tomorrow, last week, on Friday, 昨天, 下周."""
    return _RELATIVE_DAY.search(plain(text)) is not None


def wording(text: str) -> list[str]:
    """The words that carry what a statement says, in order, each Han character by itself; a question ends with "?".

    Two statements without `difference` have the same of them.
    """
    return list(_worded(text))


@lru_cache(maxsize=1 << 10)
def _worded(text: str) -> tuple[str, ...]:
    written = _EMPTY_HAN.sub("", _EMPTY_ENGLISH.sub(" ", plain(_LETTER_A.sub("A=", text))))
    written = _HAN_NUMBER.sub(_number, re.sub(r"(?<=\d),(?=\d{3}\b)", "", written))
    written = re.sub(r"(?<=\d)(?=[a-z])", " ", re.sub(r"\b([ap])\.m\b", r"\1m", written))
    words = [word for found in _WORD.findall(written) if (word := found.lstrip(_LEADING).rstrip(_TRAILING))]
    kept = [_ENGLISH_NUMBERS.get(word, word) for word in words if word not in _DASHES]
    return (*kept, "?") if "?" in written else tuple(kept)


def difference(a: str, b: str) -> str | None:
    """What tells two statements apart, in words; None if they say the same. Symmetric but for the order of the words.

    A phrase may stand at the other end ("In May I moved", "I moved in May"); every other change of order counts.
    """
    said_a, said_b = _worded(a), _worded(b)
    if said_a == said_b:
        return None
    more_a, more_b = (list((Counter(x) - Counter(y)).elements()) for x, y in ((said_a, said_b), (said_b, said_a)))
    if not more_a and not more_b:
        starts = (at for at, word in enumerate(said_a) if word == said_b[0])
        turned = any(said_a[at:] + said_a[:at] == said_b for at in starts)
        return None if turned else "the same words in another order"
    told = f"{_few(more_a)} / {_few(more_b)}"
    if any(map(_is_number, more_a + more_b)):
        return f"different numbers or dates: {told}"
    names = _names_in(a) | _names_in(b)
    return f"different {'names' if names.intersection(more_a + more_b) else 'words'}: {told}"


def _number(found: re.Match[str]) -> str:
    """A number in Han digits as decimal digits; as it is where its value is not certain (三五, 一百二)."""
    text = found[0]
    digits = [HAN_DIGITS[one] for one in text if one in HAN_DIGITS]
    if len(digits) == len(text):
        return "".join(map(str, digits)) if len(text) != 2 else text
    if _COLLOQUIAL.search(text) or not (digits or "十" in text):
        return text
    total = section = digit = 0
    for one in text:
        if one in HAN_DIGITS:
            digit = HAN_DIGITS[one]
        elif one in HAN_UNITS:
            section, digit = section + (digit or 1) * HAN_UNITS[one], 0
        else:
            total, section, digit = total + (section + digit) * (10**4 if one == "万" else 10**8), 0, 0
    return str(total + section + digit)


def _is_number(word: str) -> bool:
    return word in _DATE_WORDS or any(map(str.isdigit, word))


def numbers_and_days(text: str) -> set[str]:
    """The numbers, days and months that a text names; a day in the singular."""
    return {one for one in map(_singular, _worded(text)) if _is_number(one)}


def names_apart(a: str, b: str) -> bool:
    """Whether one of two texts names somebody or something, inside its sentence, that the other does not speak of."""
    said_a, said_b = (set(map(_singular, _worded(text))) for text in (a, b))
    return not (set(map(_singular, _names_in(a))) <= said_b and set(map(_singular, _names_in(b))) <= said_a)


def _singular(word: str) -> str:
    return word.removesuffix("'s").removesuffix("s")


def _names_in(text: str) -> set[str]:
    """Capitalised words inside a sentence, folded as `wording` folds them."""
    return {word for name in _NAME.findall(text) for word in wording(name)}


def _few(words: Iterable[str]) -> str:
    return " ".join(list(words)[:3]) or "-"


@cache
def _antonym_pairs() -> tuple[frozenset[tuple[str, str]], tuple[tuple[str, str], ...]]:
    """English pairs as stems, both ways round, and Han pairs."""
    among = rows("antonyms")
    english = [(_stem(one), _stem(row["against"][0])) for row in among for one in row["english"]]
    both = frozenset(english) | {(other, one) for one, other in english}
    return both, tuple((one, row["against"][0]) for row in among for one in row["chinese"])


def _stem(word: str) -> str:
    return tokens(word)[0]


def _antonyms(a: str, b: str) -> set[tuple[str, str]]:
    """Pairs of a word that only the first text has and its antonym that only the second has, without negating words."""
    text_a, text_b = (_NEGATING.sub(" ", plain(text)) for text in (a, b))
    english, han = _antonym_pairs()
    all_a, all_b = ({_stem(word) for word in re.findall(r"[a-z][a-z-]*", text)} for text in (text_a, text_b))
    only_a, only_b = all_a - all_b, all_b - all_a
    found = {(x, y) for x in only_a for y in only_b if (x, y) in english or _reverses(x, y) or _reverses(y, x)}
    for one, other in han:
        for x, y in ((one, other), (other, one)):
            if x in text_a and x not in text_b and y in text_b and y not in text_a:
                found.add((x, y))
    return found


def _reverses(word: str, plain_word: str) -> bool:
    start = _REVERSING.match(word)
    return start is not None and word[start.end() :] == plain_word
