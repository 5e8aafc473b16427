"""Context tags and emotion of a memory: when it was said, in what mood, about what work (seed 000, section 2.2).

Derived from the record whenever it is read, so that better lists reach old memories too. A record says it all:

- **Time** from `created_at` in the owner's time zone, never the server's: `work_hours`, `late_night`, `weekend`; of imported
  memories only `weekend` while that zone is not set.
- **Words** of content and summary, whatever the kind: English ones whole, in the forms listed; Chinese ones as parts of
  the text. `positive` or `negative`, whichever has more distinct words; the other tags by any word of theirs.
- **Emotion**: 0.5 for positive, -0.3 for negative, 0.3 more for urgent.
- **Negation**: a mood, urgency, calm or debugging word right after a negator (light words between them, such as *very*
  or 什么, do not count) is not read; a positive one so denied counts as negative ("not happy", 不开心, 没解决). Topics
  are topics all the same ("no tests yet"). Of Chinese questions (是不是, 有没有) the word is not read either.
- **Repair**: where a text says that something was fixed, its faults do not count as negative ("fixed the bug", 问题解决了).

What the producer set wins: one of these tags, and none is derived; an emotion, and it is the emotion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import IntFlag
from functools import cache, reduce
from itertools import chain
from operator import or_
from typing import NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.events.trust import IMPORTED, ORDER
from engramlog_server.projections.language import lexicon
from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.patterns import HAN, regex
from engramlog_server.projections.memory.record import SECRET, Memory


class Family(IntFlag):
    """What a word speaks for. The first eight are the tags that words give, in the order of `context.TAGS`."""

    POSITIVE = 1
    NEGATIVE = 2
    URGENT = 4
    CALM = 8
    DEBUGGING = 16
    TESTING = 32
    API_DESIGN = 64
    DATA_MODEL = 128

    REPAIRED = 256
    """Says that a fault is gone."""
    FAULT = 512
    """A fault: no complaint any more once it is repaired."""


class TagWord(NamedTuple):
    """One word in its forms, and what it speaks for: nothing where it only hides the words inside it."""

    families: Family
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    signs: tuple[str, ...]


@cache
def entries() -> tuple[TagWord, ...]:
    """All words that give tags, and the masks among them, in order."""
    return tuple(TagWord(_families(row["family"]), row["english"], row["chinese"], row["sign"]) for row in rows("tags"))


def _families(names: tuple[str, ...]) -> Family:
    return reduce(or_, (Family[name.upper()] for name in names if name != "mask"), Family(0))


def _words(text: str) -> list[str]:
    return text.split()


LIGHT = frozenset(
    _words("""
    very so really that too a an the any at all quite been be being is was are were feel feels feeling felt much as
    particularly exactly especially have has had get got it s think yet more longer further known to one m ve re single
    """)
)
"""Words that may stand between a negator and what it negates: "not at all happy", "no more errors"."""
FREQUENT = LIGHT | frozenset(_words("i we he she they no"))
"""English words that phrases are not looked up by, since nearly every text has some; none is an entry by itself."""

QUESTIONS_CHINESE = _words("是不是 有没有 会不会 能不能 要不要 想不想")
NEGATORS_CHINESE = _words("不 没 没有 未 无 别 难以")
NO_NEGATORS_CHINESE = _words("不得不 特别 个别 分别 区别 级别 类别 性别")
"""Words that end in a negator's character and deny nothing."""
LIGHT_CHINESE = _words("""
    太 很 怎么 是 会 再 能 够 那么 这么 特别 非常 什么 任何 有 出现 出现过 发生 遇到 遇到过 感到 觉得 必 用 要 想 大 被 让 人
""")
"""Words that may stand between a negator and what it negates: 不是很开心, 没有任何问题."""


TIME_TAGS = ("work_hours", "late_night", "weekend")
WORD_TAGS = ("positive", "negative", "urgent", "calm", "debugging", "testing", "api_design", "data_model")
TAGS = TIME_TAGS + WORD_TAGS
"""Every tag that can be derived, in the order in which they are told."""
FILTERS = ("positive", "negative", "urgent")
"""The tags that an emotional filter may ask for."""
EMOTIONS = {"positive": 0.5, "negative": -0.3, "urgent": 0.3}
"""What each tag adds to the emotion."""

_WORK_HOURS = (9, 18)
_NIGHT = (22, 6)
_SATURDAY = 5
_IMPORTED = ORDER[IMPORTED]
UNKNOWN_ZONE = DEFAULTS.time_zone
"""The default zone: the owner's zone is unknown. `Etc/UTC` says that the owner really lives by UTC."""


class Context(NamedTuple):
    """What was going on when a memory was made."""

    tags: tuple[str, ...]
    """The producer's own first, then the derived ones in the order of `TAGS`."""
    emotion: float
    """From -1 to 1."""


def context_of(memory: Memory, parameters: Parameters) -> Context:
    """Tags and emotion of a memory; a secret has those of its time only, a purged one none.

    Any `created_at` that validation admits (1900 to 9999) will do. Never raises, whatever the text.
    """
    if memory.purged_at is not None:
        return Context((), 0.0)
    tags = memory.tags
    if _CLOSED.isdisjoint(tags):
        tags += time_tags(memory.created_at, parameters.time_zone, came_in=came_in(memory))
        if memory.sensitivity < SECRET:
            tags += _word_tags(f"{memory.content}\n{memory.summary}" if memory.summary else memory.content)
    emotion = memory.emotion
    if emotion is None:
        emotion = 0.0
        for tag in FILTERS:
            if tag in tags:
                emotion += EMOTIONS[tag]
    return Context(tags, max(-1.0, min(1.0, emotion)))


def timeless_tags(memory: Memory) -> tuple[tuple[str, ...], bool]:
    """The tags of a memory that hold in any time zone, as far as they may be told, and whether those of its time come beside."""
    if memory.purged_at is not None:
        return (), False
    derived = _CLOSED.isdisjoint(memory.tags)
    if memory.sensitivity >= SECRET:
        return (), derived
    words = f"{memory.content}\n{memory.summary}" if memory.summary else memory.content
    return (*memory.tags, *(_word_tags(words) if derived else ())), derived


def contextual_match(asked: Sequence[str], tags: Sequence[str]) -> float:
    """The share, 0 to 1, of the asked tags that are there, whatever their case; 1 where none is asked."""
    wanted = {tag.casefold() for tag in asked}
    return len(wanted.intersection(tag.casefold() for tag in tags)) / len(wanted) if wanted else 1.0


_CLOSED = frozenset(TAGS)
_zone = cache(ZoneInfo)


def came_in(memory: Memory) -> bool:
    """Whether a memory was imported: its clock may be that of any zone."""
    return memory.imported or memory.trust == _IMPORTED


def time_tags(created_at: int, zone: str, *, came_in: bool = False) -> tuple[str, ...]:
    """Tags of a memory's time (microseconds since 1970) in a zone.

    An imported memory (`came_in`) gets no tag of the hour if the zone is unknown.
    """
    local = datetime.fromtimestamp(created_at // 1_000_000, _zone(zone))
    hour = local.hour
    tags: tuple[str, ...] = ()
    if came_in and zone == UNKNOWN_ZONE:
        pass
    elif _WORK_HOURS[0] <= hour < _WORK_HOURS[1]:
        tags = ("work_hours",)
    elif hour >= _NIGHT[0] or hour < _NIGHT[1]:
        tags = ("late_night",)
    return (*tags, "weekend") if local.weekday() >= _SATURDAY else tags


# Plain integers: arithmetic on an IntFlag costs more than all the reading below.
_POSITIVE, _NEGATIVE, _REPAIRED, _FAULT = (
    int(family) for family in (Family.POSITIVE, Family.NEGATIVE, Family.REPAIRED, Family.FAULT)
)
_TOPICS = int(Family.TESTING | Family.API_DESIGN | Family.DATA_MODEL)
_MOODS = _POSITIVE | _NEGATIVE

_Entry = tuple[str, str, int]
"""A form, the word that it is a form of, the families that the word speaks for."""
_Phrase = tuple[list[str], int, str, int]
"""An English entry's words, how many of them stand before the one it is looked up by; then as in an entry."""


def _entries(words: Iterable[tuple[int, tuple[str, ...]]]) -> Iterator[_Entry]:
    """Every form once, with all the families of its words, longer ones first."""
    forms: dict[str, _Entry] = {}
    for families, spelled in words:
        for form in spelled:
            others = forms[form][2] if form in forms else 0
            forms[form] = (form, spelled[0], int(families) | others)
    yield from sorted(forms.values(), key=lambda entry: -len(entry[0]))


@cache
def _english() -> dict[str, list[_Phrase]]:
    """By the first word that is not among the most frequent ones, with the number of words before it."""
    index: dict[str, list[_Phrase]] = {}
    for form, word, families in _entries((one.families, one.english) for one in entries()):
        words = form.split()
        before = next(at for at, one in enumerate(words) if one not in FREQUENT)
        index.setdefault(words[before], []).append((words, before, word, families))
    return index


@cache
def _chinese() -> dict[str, list[_Entry]]:
    """By the first two characters, an emoji by itself."""
    index: dict[str, list[_Entry]] = {}
    signs = ((one.families, (sign,)) for one in entries() for sign in one.signs)
    for entry in _entries(chain(((one.families, one.chinese) for one in entries()), signs)):
        index.setdefault(entry[0][:2], []).append(entry)
    return index


_MARKS = ",.;:!?\n"
"""Where a clause ends, and with it the reach of a negator."""
_PLAIN = bytes(
    byte if byte < 128 and chr(byte).isalnum() else ord("," if chr(byte) in _MARKS else " ") for byte in range(256)
)
_EMOJI = "❤\U0001f198-\U0001f9ff"
# A run of Han is one token here: its end may deny the English word that follows it.
_TOKEN = regex(rf"[a-z0-9\u00df-\u024f]+|[{HAN}]+|[{_MARKS}，。；：！？{_EMOJI}]")
_LATIN = regex("[a-z]")


def _places() -> str:
    """A character that begins an entry, before one that is second in an entry: few places in a text, found in one pass."""
    pairs = [key for key in _chinese() if len(key) == 2]
    starts, seconds = ("".join(sorted({key[at] for key in pairs})) for at in (0, 1))
    return f"[{starts}{_EMOJI}](?:(?<=[{_EMOJI}])|(?=[{seconds}]))"


_PLACES = regex(_places)
_BEFORE = regex(
    rf"(?:({'|'.join(QUESTIONS_CHINESE)})|{'|'.join(NO_NEGATORS_CHINESE)}|({'|'.join(NEGATORS_CHINESE)}))"
    rf"(?:{'|'.join(LIGHT_CHINESE)}){{0,3}}\Z"
)
_BEFORE_MOST = 12
"""Characters of the longest match."""
_ENDS = frozenset(word[-1] for word in QUESTIONS_CHINESE + NEGATORS_CHINESE + LIGHT_CHINESE)
_SAID, _DENIED, _ASKED = range(3)


@cache
def _negators() -> frozenset[str]:
    """English tokens that deny what follows them."""
    return frozenset((*lexicon.negating_english("word", "contraction"), "nor"))


def _word_tags(text: str) -> tuple[str, ...]:
    lower = text.lower()
    found: dict[str, int] = {}
    if lower.isascii():
        # As _TOKEN, at a quarter of its time.
        plain = lower.replace("n't", "nt").encode().translate(_PLAIN).decode()
        _read_english(plain.replace(",", " , ").split(), found)
    else:
        if _LATIN.search(lower):
            _read_english(_TOKEN.findall(lower.replace("’", "'").replace("n't", "nt")), found)
        _read_chinese(lower, found)
    return _tags_of(_settled(found)) if found else ()


def _read_english(tokens: list[str], found: dict[str, int]) -> None:
    """Adds the families of every entry among the tokens to `found`, by word; entries do not overlap."""
    entries_by_word = _english()
    if entries_by_word.keys().isdisjoint(tokens):
        return
    deniable = not _negators().isdisjoint(tokens) or any(not token.isascii() for token in tokens)
    end = 0
    for at in [at for at, token in enumerate(tokens) if token in entries_by_word]:
        for words, before, word, families in entries_by_word[tokens[at]]:
            start = at - before
            if start >= end and (len(words) == 1 or tokens[start : start + len(words)] == words):
                end = start + len(words)
                _count(word, families, found, _standing_english(tokens, start) if deniable else _SAID)
                break


def _standing_english(tokens: list[str], at: int) -> int:
    """Denied if nothing but light words stands between a negator and the token, within five tokens."""
    for token in reversed(tokens[max(at - 5, 0) : at]):
        if token not in LIGHT:
            return _DENIED if token in _negators() else _standing_chinese(token, len(token))
    return _SAID


def _standing_chinese(text: str, at: int) -> int:
    """Whether what begins at `at` is said, denied or asked, by the characters before it."""
    if not at or text[at - 1] not in _ENDS:
        return _SAID
    before = _BEFORE.search(text, max(at - _BEFORE_MOST, 0), at)
    if before is None:
        return _SAID
    return _ASKED if before[1] else _DENIED if before[2] else _SAID


def _read_chinese(text: str, found: dict[str, int]) -> None:
    """Adds the families of every entry in the text to `found`, by word; entries do not overlap."""
    end, entries_by_start = 0, _chinese()
    for place in _PLACES.finditer(text):
        at = place.start()
        if at < end:
            continue
        for form, word, families in entries_by_start.get(text[at : at + 2]) or entries_by_start.get(text[at], []):
            if text.startswith(form, at):
                end = at + len(form)
                _count(word, families, found, _standing_chinese(text, at))
                break


def _count(word: str, families: int, found: dict[str, int], standing: int) -> None:
    if standing == _SAID:
        found[word] = found.get(word, 0) | families
    elif families & _TOPICS:
        found[word] = found.get(word, 0) | families & _TOPICS
    elif standing == _DENIED and families & _POSITIVE:
        found["not " + word] = _NEGATIVE


def _settled(found: dict[str, int]) -> int:
    """The families that the words found speak for, with one mood at most."""
    families = positive = negative = 0
    for spoken in found.values():
        families |= spoken
    for spoken in found.values():
        positive += bool(spoken & _POSITIVE)
        negative += bool(spoken & _NEGATIVE and not (spoken & _FAULT and families & _REPAIRED))
    mood = _POSITIVE if positive > negative else _NEGATIVE if negative > positive else 0
    return families & ~_MOODS | mood


@cache
def _tags_of(families: int) -> tuple[str, ...]:
    return tuple(tag for bit, tag in enumerate(WORD_TAGS) if families >> bit & 1)
