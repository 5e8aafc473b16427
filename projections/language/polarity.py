"""What a statement asserts: whether it is negated, and whether two statements say the same. Word lists, no model.

The lists tell reversed statements from repeated ones among texts on one topic (memory.md, sections 4 and 5); by
themselves they prove nothing. A fact merged wrongly is lost in silence while a missed merge costs a line, so
`difference` finds two statements the same only if nothing is left to tell them apart but articles, particles, degree
("really", 很), contractions, the writing of numbers (three, 3, 三), case, width and punctuation.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache

from engramlog_server.projections.language import lexicon
from engramlog_server.projections.language.lexicon import either, rows
from engramlog_server.projections.language.patterns import HAN, regex
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.language.times.calendar import (
    ENGLISH,
    HAN_DIGITS,
    HAN_UNITS,
    MONTHS,
    TWELVE,
    WEEKDAY,
    WEEKDAYS,
)

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
