"""Keywords and sentences of a text: the words that say what it is about, and the sentences that say most of it. Pure.

Keywords are names, identifiers and words that are no common ones, without model or corpus. A text is read alone, so other
memories change nothing. It takes time linear in what it reads, at most `MOST_READ` characters. English is known by its word
lists; of other languages written with spaces every long word counts. Chinese is cut by a segmenter, which is loaded at first use.

Sentences are chosen one after the other as SumBasic does (Nenkova and Vanderwende, 2005): the one with the most frequent words,
words of chosen sentences counting less. What a caller is about counts more. Question words, pronouns, greetings and words that
carry grammar say nothing.

`drawn` says which part of a text statements were drawn from, and what else it says, by words alone. A text is cut into clauses.
Of each statement the clause that shares most of its words is taken, then the one that shares most of those that are left, as long
as some are shared. What such a clause says beside the statement is another matter, unless it is but a word: "I live in Lisbon
with my cat Tom" tells of a cat too, where all that was made of it is that she lives in Lisbon.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import HAN, MARKS, begins_with_han, holds_han, regex
from engramlog_server.projections.language.text import kept_tokens, stem, stop_words

VERBS_BEFORE = frozenset("喝吃买看玩去学做打听写读用找养种")
"""Verbs of one character that a segmenter may leave on their object: 喝咖啡."""


@cache
def never() -> frozenset[str]:
    """English words that are never keywords."""
    return frozenset(words("never_keywords", "english")) | stop_words()


@cache
def weak() -> frozenset[str]:
    """Stems of English words that are keywords only where nothing better is left."""
    return frozenset(map(stem, words("weak_keywords", "english")))


@cache
def never_chinese() -> frozenset[str]:
    """Chinese words that are never keywords."""
    return frozenset(words("never_keywords", "chinese"))


@cache
def weak_chinese() -> frozenset[str]:
    """Chinese words that are keywords only where nothing better is left."""
    return frozenset(words("weak_keywords", "chinese"))


IDENTIFIER, NAME, PHRASE, PLAIN, FAINT = 0.8, 0.65, 0.5, 0.4, 0.1
"""Scores to begin with."""
_CALLED = 0.25
"""What a name loses by which somebody is only called: "Hey Mel!"."""
_ENDING = 0.08
"""What an ending that makes nouns adds, and one of verbs takes away."""
_ENOUGH = 3
"""Times that a common word must stand in a text to be what it is about."""
_CALL_TEXT = "hey hi hello thanks thank wow oh bye yeah yes yep no okay ok well congrats sure dear sorry aww"
_CALLS = frozenset(_CALL_TEXT.split())
"""Words after which somebody is called by name."""
_LONGEST_RUN = 4
_LONGEST_WORD = 40
_LONGEST_ADDRESS = 256

_COMMA, _STOP = 1, 2
_EDGES = regex(rf"^[^\w#/]+|[^\w#+{MARKS}]+$")
_INNER = regex(rf"[^\w'’{MARKS}-]+|-{{2,}}")
_NOUN = regex(r"(?:[ts]ion|ment|ness|ity|ship|ism|ist|ance|ence|ogy|phy|dom)s?$")
_VERB = regex(r"(?:ing|ed|ize|ise|ful|ous|ive|able|ible|est)$")
_DATE = regex(r"\d{1,4}([-/.:])\d{1,2}(?:\1\d{1,4})?|\d+[.,]\d+|\d{4}-\d{2}-\d{2}t[\d:.+z-]+")
_MEASURE = regex(
    r"[$€£¥]?\d{1,4}(?:st|nd|rd|th|s|k|m|am|pm|h|hr|hrs|min|mins|kg|g|km|cm|mm|ft|x|px|ms|gb|mb|kb|%)?"
    r"|\d+-(?:day|week|month|year|hour|minute|second|step|point|star|part|page|\d+)s?"
)
_CAMEL = regex(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_ADDRESS = regex(r"(?:https?://|www\.)[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_SIGN = regex(r"@|://|www\.", re.IGNORECASE)
_WRITTEN = regex(
    r"(?=\S{0,99}[\d_.+#])#?[A-Za-z0-9~]?[\w]*(?:[.:@+\\_-]+\w+)*(?:\+\+|#)?|/?(?:[\w.-]+/)+[\w-]+\.\w{1,8}", re.ASCII
)
_DIGITS = regex(r"\d\d")
_PHONE = regex(r"(?<![\w.+-])\+?\(?\d[\d ().-]{6,20}\d(?![\w-])")


Candidate = tuple[float, int, str, bool]
"""What may become a keyword: minus its score, its place in words, the word, and whether it is one only where nothing better
is left. Sorted, the best is first; a plain tuple, for there are many."""


class _Unit(NamedTuple):
    """One word as written."""

    word: str
    key: str
    """What its forms have in common; empty for a word that is never a keyword."""
    score: float
    capital: bool
    breaks: int
    """Whether a comma or a sentence ends after it."""


def read_words(text: str) -> list[Candidate]:
    """Candidates of a text, each once, in no promised order."""
    reading = _Reading()
    for line in text.split("\n"):
        if line:
            reading.line(line)
    found = reading.candidates()
    return found + _phones(text) if _DIGITS.search(text) else found


class _Reading:
    """What was read of a text so far."""

    __slots__ = ("count", "first", "sequence")

    def __init__(self) -> None:
        self.sequence: list[str] = []
        """Keys in reading order, empty where no keyword stands."""
        self.first: dict[str, tuple[str, float, int]] = {}
        """By key: word, score and place."""
        self.count: dict[str, int] = {}

    def line(self, line: str) -> None:
        """Read one line; a heading's or an item's capitals tell no names."""
        sequence, count, first = self.sequence, self.count, self.first
        told = line[:1].isalpha() or line[:1] in ('"', "'", "")
        before, run = _STOP, list[_Unit]()
        begun = _STOP
        for raw in line.split():
            for unit in _units(raw):
                _, key, score, capital, breaks = unit
                if capital and key:
                    if not run:
                        begun = before
                    run.append(unit)
                elif run:
                    self.name(run, begun, told)
                    run = []
                if key:
                    if key in count:
                        count[key] += 1
                    else:
                        count[key] = 1
                        first[key] = (unit.word, score, len(sequence))
                sequence.append(key)
                if breaks and run:
                    self.name(run, begun, told)
                    run = []
                before = breaks
        if run:
            self.name(run, begun, told)

    def name(self, run: list[_Unit], begun: int, told: bool) -> None:
        """A run of capitals has ended; `begun`: what stood before it."""
        if begun == _STOP and (run[0].score <= FAINT or len(run) == 1):
            run = run[1:]
        if not run or len(run) > _LONGEST_RUN:
            return
        first = self.first
        if len(run) == 1:
            word, key, score, _, breaks = run[0]
            if told and PLAIN - _ENDING <= score < NAME:
                old = first[key]
                called = _CALLED if breaks and begun else 0.0
                first[key] = (old[0], max(old[1], NAME - called), old[2])
            return
        if all(unit.score <= FAINT for unit in run):
            return
        key = " ".join([unit.key for unit in run])
        self.count[key] = self.count.get(key, 0) + 1
        if key not in first:
            word = " ".join([unit.word for unit in run])
            first[key] = (word, NAME + _ENDING if told else PHRASE, first[run[0].key][2])
        for unit in run:
            self.count[unit.key] -= 1

    def candidates(self) -> list[Candidate]:
        """Scores by what a word is, how often and how early it stands, and how long it is."""
        first, late = self.first, 0.1 / (len(self.sequence) or 1)
        if len(self.sequence) > len(first):
            self._phrases()
        found = []
        for key, times in self.count.items():
            if times > 0:
                word, score, place = first[key]
                length = len(word)
                worth = score + 0.1 - late * place + (0.01 * length if length < 10 else 0.1)
                if times > 1:
                    worth += 0.1 * (times - 1) if times < 4 else 0.3
                found.append((-worth, place, word, score <= FAINT and times < _ENOUGH))
        return found

    def _phrases(self) -> None:
        """Two words that stand side by side more than once are one keyword."""
        count, first = self.count, self.first
        often = {key for key, times in count.items() if times > 1 and first[key][1] >= PLAIN - _ENDING}
        if len(often) < 2:
            return
        sequence = self.sequence
        pairs = Counter(pair for pair in pairwise(sequence) if pair[0] in often and pair[1] in often)
        for (one, other), times in pairs.items():
            key = f"{one} {other}"
            if times > 1 and one != other and key not in count:
                word = f"{first[one][0]} {first[other][0]}"
                first[key] = (word, max(first[one][1], first[other][1], PHRASE), first[one][2])
                count[key] = times
                count[one] -= times
                count[other] -= times


def _phones(text: str) -> list[Candidate]:
    """Telephone numbers written with spaces, which reading word by word tears apart."""
    found = []
    for match in _PHONE.finditer(text):
        digits = sum(map(str.isdigit, match[0]))
        if 7 <= digits <= 15 and " " in match[0]:
            found.append((-IDENTIFIER - 0.15, match.start() // 6, match[0], False))
    return found


@lru_cache(maxsize=1 << 14)
def _units(raw: str) -> tuple[_Unit, ...]:
    """What a run without spaces holds; most often one word."""
    end = raw.rstrip("\"'”’)]}*_`")[-1:]
    breaks = _STOP if end and end in ".!?:…。" else _COMMA if end and end in ",;—–-|" else 0
    address = _ADDRESS.search(raw) if len(raw) <= _LONGEST_ADDRESS and _SIGN.search(raw) else None
    if address is not None:
        return (_Unit(address[0].lower(), address[0].lower(), IDENTIFIER, False, breaks),)
    # What is longer is no word: trimming and matching it whole would take time with the square of its length.
    core = _EDGES.sub("", raw) if len(raw) <= _LONGEST_ADDRESS else raw
    if not core:
        return (_Unit("", "", 0.0, False, breaks or _COMMA),)
    written = _identifier(core)
    if written is not None:
        return (_Unit(written.lower(), written.lower(), IDENTIFIER, False, breaks),)
    parts = [part for part in map(str.strip, _INNER.split(core), ("'’-_",) * len(core)) if part]
    return tuple(_unit(part, breaks if at == len(parts) - 1 else _COMMA) for at, part in enumerate(parts))


def _identifier(core: str) -> str | None:
    """The word if it is written as no word is: a file, a path, a version, a code, a number of five digits and more."""
    lower = core.lower()
    if len(core) < 2 or core.isalpha() or lower in never() or _DATE.fullmatch(lower) or _MEASURE.fullmatch(lower):
        return None
    return core if len(core) <= 100 and _WRITTEN.fullmatch(core) else None


def _unit(part: str, breaks: int) -> _Unit:
    word = part.lower().replace("’", "'")
    if "'" in word and not word.startswith("'") and word not in never():
        word = word.partition("'")[0]
        part = part[: len(word)]
    capital = part[:1].isupper()
    acronym = 2 <= len(part) <= 6 and part.isupper()
    if word in _CALLS:
        breaks = breaks or _COMMA
    if word in never() or len(word) > _LONGEST_WORD or (len(word) < 3 and not acronym):
        return _Unit(word, "", 0.0, False, breaks)
    key = stem(word)
    if key in weak() or word.endswith("ly") or not part[0].isalpha():
        return _Unit(word, key, FAINT, capital, breaks)
    if "-" in word and all(one in never() or stem(one) in weak() or one.isdigit() for one in word.split("-")):
        return _Unit(word, key, FAINT, False, breaks)
    if acronym or _CAMEL.search(part):
        return _Unit(word, key, NAME, capital, breaks)
    score = PLAIN + _ENDING * (_NOUN.search(word) is not None) - _ENDING * (_VERB.search(word) is not None)
    return _Unit(word, key, score, capital, breaks)


_SURROGATES = regex("[\ud800-\udfff]")
_PERSONS = frozenset("我你他她它您这那哪")
_SCORES = {
    "n": PLAIN + 0.05,
    "nz": PLAIN + 0.1,
    "ns": PLAIN + 0.15,
    "nt": PLAIN + 0.15,
    "nr": NAME - 0.1,
    "nrt": NAME - 0.1,
    "nrfg": NAME - 0.1,
    "j": PLAIN,
    "vn": PLAIN - 0.05,
    "an": PLAIN - 0.1,
    "v": PLAIN - 0.15,
    "i": PLAIN - 0.15,
    "l": PLAIN - 0.1,
    "s": PLAIN - 0.1,
    "a": FAINT + 0.02,
    "ad": FAINT,
    "d": FAINT - 0.05,
    "t": FAINT,
    "b": FAINT,
    "z": FAINT,
}
"""By the part of speech that the segmenter tells; what is not named here is no keyword."""
_FEASTS = regex("[节诞]$|生日$")
_MOST_FAINT = FAINT + 0.02


@cache
def _tagger() -> Callable[[str], list[tuple[str, str]]]:
    import rjieba  # noqa: PLC0415 - its dictionary costs 33 MB and 0.1 s, which no English text should pay

    tagger: Callable[[str], list[tuple[str, str]]] = rjieba.tag
    return tagger


def segmented(text: str) -> list[str]:
    """The words of a text in reading order, spaces and punctuation among them; any text."""
    return [word for word, _ in _tagged(text)]


def read_chinese(text: str) -> list[Candidate]:
    """Candidates among the Chinese words of a text, each once, in no promised order."""
    places: dict[str, tuple[float, int, int]] = {}
    at = 0
    for at, (written, tag) in enumerate(_tagged(text), 1):
        word, score = _read(written, tag)
        if score > 0:
            old = places.get(word)
            places[word] = (score, at, 1) if old is None else (max(old[0], score), old[1], old[2] + 1)
    late = 0.1 / (at or 1)
    return [
        (
            -(score + 0.1 * min(times - 1, 3) + 0.1 - late * place + 0.03 * min(len(word), 5)),
            place,
            word,
            score <= _MOST_FAINT and times < _ENOUGH,
        )
        for word, (score, place, times) in places.items()
    ]


def _tagged(text: str) -> list[tuple[str, str]]:
    try:
        return _tagger()(text)
    except UnicodeEncodeError:
        return _tagger()(_SURROGATES.sub(" ", text))


@lru_cache(maxsize=1 << 14)
def _read(written: str, tag: str) -> tuple[str, float]:
    """A word as cut, without a verb that was left on it, and its score; 0 where it is no keyword."""
    word = _without_verb(written) if len(written) == 3 and written[0] in VERBS_BEFORE else written
    return word, _score(word, tag)


def _score(word: str, tag: str) -> float:
    score = _SCORES.get(tag, 0.0)
    if score == 0.0 or word in never_chinese() or not begins_with_han(word) or not _PERSONS.isdisjoint(word):
        return 0.0
    if word in weak_chinese():
        return min(score, FAINT)
    if len(word) == 1:
        return score - 0.1 if tag[0] == "n" else 0.0
    return PLAIN if tag == "t" and _FEASTS.search(word) else score


def _without_verb(word: str) -> str:
    """喝咖啡 without 喝, where what is left is a word."""
    parts = _tagged(word[1:])
    return word[1:] if len(parts) == 1 and parts[0][1] in ("n", "nz") else word


Source = Literal["llm", "user_tag", "system"]
MOST_KEYWORDS = 5
MOST_LETTERS = 100
"""Longest keyword, in characters."""
MOST_READ = 4_000
"""Characters of a text that are read."""
LEAST_WEIGHT = 0.3
_FEW = 2
"""Keywords of a text that says nothing in particular."""
_OTHER = regex(rf"[^\W{HAN}]")
"""A letter or digit that is not Han."""
_HAN_RUN = regex(rf"[{HAN}]+[,!?;:。、…]*")
_SPACES = regex(r"\s+")


class Keyword(NamedTuple):
    """One keyword: lower-cased, unique in its memory, at most 100 characters."""

    word: str
    weight: float
    """From 0.3 to 1."""
    source: Source
    """`user_tag`: given by the user; `llm`: given by an agent, a tool of MCP or a model; `system`: found here."""


def extracted(text: str, most: int = MOST_KEYWORDS) -> list[Keyword]:
    """The `most` best keywords of a text, best first; of equals, the one that stands first. Any text; never raises."""
    text = text[:MOST_READ]
    if text.isascii():
        found = read_words(text)
    else:
        text = unicodedata.normalize("NFKC", text)
        if holds_han(text):
            found = read_chinese(text)
            if _OTHER.search(text):
                # Between Han, capitals begin no sentence: a word that is never a keyword stands for each run.
                found += read_words("the " + _HAN_RUN.sub(" the ", text))
        else:
            found = read_words(text)
    found.sort()
    strong = [one for one in found if not one[3]]
    chosen: dict[str, Keyword] = {}
    for worth, _, word, _ in strong or found[:_FEW]:
        told = word[:MOST_LETTERS]
        if told not in chosen and not any(f" {told} " in f" {one} " for one in chosen if " " in one):
            chosen[told] = Keyword(told, min(1.0, max(LEAST_WEIGHT, round(-worth, 2))), "system")
            if len(chosen) == most:
                break
    return list(chosen.values())


def folded(word: str) -> str:
    """A word as keywords and synonyms are compared: NFKC, case-folded, single spaces, at most 100 characters."""
    if word.isascii():
        return " ".join(word.lower().split())[:MOST_LETTERS]
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", word).casefold()).strip()[:MOST_LETTERS]


_SAID_ON = regex(r" ?[(（](?:said on )?\d{4}-\d\d-\d\d说?[)）]")


def without_day(text: str) -> str:
    """The text without days that extraction added: they are no part of what it states."""
    return _SAID_ON.sub("", text) if "(" in text or "（" in text else text


_ASKED_HAN = regex(
    "为什么|什么时候|什么样|什么|怎么样|怎么办|怎么|怎样|如何|哪里|哪儿|哪些|哪个|哪家|哪天|哪|谁|几点|几个|多少|多久|是不是|有没有|吗|呢"
)
"""Chinese question words: an answer need not hold them, as it need not hold English ones, which are stop words."""
_CHAT_TEXT = """
thanks thank great good nice cool awesome perfect wonderful amazing lovely welcome cheers congratulations congrats luck bye
goodbye morning afternoon evening night sounds glad please agree agreed
"""


@cache
def _chat() -> frozenset[str]:
    """Stems of words of greeting and thanks, which nobody searches for."""
    return frozenset(stem(word) for word in never() | set(_CHAT_TEXT.split()))


_CHAT_HAN = regex(
    lambda: either(word for word in never_chinese() if len(word) > 1) + "|[我你您他她它的了是在好啊吧呀哦嗯]"
)
_WHOSE_HAN = regex("用户|主人")
_WHOSE = frozenset({"user"})
"""By what memories name their owner."""


def without_question_words(text: str) -> str:
    """A text without Chinese question words; English ones are stop words."""
    return _ASKED_HAN.sub(" ", text)


def says_something(text: str) -> bool:
    """Whether a text has a word that one can search for: greetings, thanks and question words are none."""
    if holds_han(_CHAT_HAN.sub(" ", without_question_words(text))):
        return True
    return any(word not in _chat() and not begins_with_han(word) for word in content_words(text))


def asked_words(text: str) -> frozenset[str]:
    """The terms of a text that tell what it is about, whoever says it of whom."""
    kept = _CHAT_HAN.sub(" ", _WHOSE_HAN.sub(" ", without_question_words(text)))
    return frozenset(kept_tokens(kept)) - _chat() - _WHOSE


ABOUT = 8.0
"""How much more often a word that was asked about counts."""
COMMON = 0.25
"""How much less a common verb, adjective or greeting counts."""
LEAST_WORDS = 3
"""Different words from which a sentence says something by itself."""

_ENDS = regex(rf"(?<=[。！？；])[”’」』）]*|(?<=[!?…])[\"'”’)]*\s+|(?<=[.])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9{HAN}])|\n+")
_SHORT_FORM = regex(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|vs|e\.g|i\.e|etc|approx|Inc|Ltd|Co)\.$")


@cache
def _common() -> frozenset[str]:
    """Words that stand in texts on anything."""
    return (
        frozenset(map(stem, never())) | weak() | {word for word in never_chinese() | weak_chinese() if len(word) == 2}
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, white space at their ends cut off; a line break ends one too."""
    found: list[str] = []
    start = 0
    for match in _ENDS.finditer(text):
        piece = text[start : match.end()].strip()
        if piece and not (match[0].startswith((" ", "\t")) and _SHORT_FORM.search(text[start : match.start()])):
            found.append(piece)
            start = match.end()
    return [*found, rest] if (rest := text[start:].strip()) else found


@lru_cache(maxsize=4_096)
def content_words(sentence: str) -> frozenset[str]:
    """The different words of a sentence by which it is compared: Han by pairs; none where it has only function words."""
    return frozenset(
        one for one in kept_tokens(sentence) if len(one) > 1 or (one.isalnum() and not begins_with_han(one))
    )


def chosen(pieces: Sequence[str], most: int, about: str = "") -> list[int]:
    """Indices, ascending, of at most `most` pieces that say most of all of them.

    `about`: a text whose words count more. A piece of fewer than three different words is only chosen where it shares one
    with `about`; so nothing may be chosen at all.
    """
    asked = content_words(about)
    held = [content_words(piece) for piece in pieces]
    counts = Counter(word for one in held for word in one)
    weights = {
        word: count * (ABOUT if word in asked else COMMON if word in _common() else 1.0)
        for word, count in counts.items()
    }
    left = [at for at, one in enumerate(held) if len(one) >= LEAST_WORDS or one & asked]
    found: list[int] = []
    while left and len(found) < most:
        best = max(left, key=lambda at: (sum(weights[word] for word in held[at]) / len(held[at]) ** 0.5, -at))
        found.append(best)
        left = [at for at in left if at != best and not held[at] <= held[best]]
        for word in held[best]:
            weights[word] /= 2.0
    return sorted(found)


def joined(pieces: Sequence[str]) -> str:
    """Sentences one after the other: with a space between, but not after Chinese punctuation."""
    told = ""
    for piece in pieces:
        told += piece if not told or told[-1] in "。！？；…”』」" else f" {piece}"
    return told


MOST_CLAUSES = 4
"""Clauses that one statement is drawn from, at most."""
MOST_BESIDE = 1.0
"""Words that a clause may have beside its statement and still say nothing else; a Han character is half of one."""
LONGEST = 20_000
"""Characters of a text that are cut into clauses; what stands behind is one more."""
_BETWEEN = regex(
    r"[,，;；:：、。！？!?\n()（）]+|[.…]+(?=\s|$)|[—–]+"
    r"|\s(?:and|but|so|because|while|when|although|though|who|which|since)\s"
    r"|(?:而且|并且|但是|不过|可是|所以|因为|因此|然后|还有|以及|同时)"
)
ADDED = regex(r"\s*[(（][^()（）]*\d{4}-\d\d-\d\d[^()（）]*[)）]\s*$")
"""What extraction adds to a statement: the day on which it was said."""


class Drawn(NamedTuple):
    """The words of a text, those that tell what it is about."""

    inside: frozenset[str]
    """Of the statements, and of clauses that say hardly anything else."""
    rest: frozenset[str]
    """All others; none where the text says nothing else."""


def drawn(text: str, statements: Sequence[str]) -> Drawn:
    """The part of a text that statements were drawn from, and the rest of it. Time grows with the text's length."""
    parts = [*_BETWEEN.split(text[:LONGEST]), text[LONGEST:]]
    clauses = [found for part in parts if part and (found := asked_words(part))]
    inside: set[str] = set()
    for statement in statements:
        said = asked_words(ADDED.sub("", statement))
        left = set(said)
        for _ in range(MOST_CLAUSES):
            best = max(clauses, key=lambda clause: len(clause & left), default=frozenset[str]())
            if not best & left:
                break
            more = best - said
            inside |= best - more if sum(map(_size, more)) > MOST_BESIDE else best
            left -= best
        inside |= said
    every = frozenset[str]().union(*clauses)
    return Drawn(frozenset(inside), every - inside)


def _size(word: str) -> float:
    """How much of a word a term is; a pair of Han characters is told by these."""
    return 1.0 if not begins_with_han(word) else 0.5 if len(word) == 1 else 0.0
