"""Whether a new statement says the same as a known one, refines it, contradicts it, or has nothing to do with it. By rules.

Contradiction is told, in this order, by a slot with two values (age, home, a date), by words that one statement affirms and
the other denies, by opposites, by numbers where all else is equal, and by Chinese statements on one topic of which one denies.
Only the first, and a plain negation of one's own statement word by word, is `sure`; all else is to be flagged with both
lines (memory.md, section 4), and nothing overwritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from engramlog_server.projections.language.contradiction.reading import (
    MOST_READ,
    ParsedText,
    answer,
    attributes,
    cores,
    kinds,
    opposite_cores,
    opposite_parts,
    opposites,
    read,
    written,
)
from engramlog_server.projections.language.contradiction.slots import SlotClash, agreements, certain, clashes, slots
from engramlog_server.projections.language.contradiction.values import different_places, place_at_start
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import difference, speaks_from_its_day
from engramlog_server.projections.language.scripts import HAN

Match = tuple[str, str, float]
"""A word of each side and how well one stands for the other, 0.5 or 1."""
MOST_BY_PARTS = 12
"""Words left of a side up to which they are compared part by part, each with each."""
Sides = tuple[tuple[Counter[str], Counter[str], bool], ...]


@dataclass(slots=True)
class Alignment:
    """How the words of two readings, `a` and `b`, stand to each other. Linear in their number."""

    agree: list[Match] = field(default_factory=list)
    clash: list[Match] = field(default_factory=list)
    """Affirmed on one side and denied on the other."""
    reverse: list[Match] = field(default_factory=list)
    """Opposites, both affirmed or both denied."""
    left_a: Counter[str] = field(default_factory=Counter)
    left_b: Counter[str] = field(default_factory=Counter)
    left_denied_a: int = 0
    left_denied_b: int = 0

    @property
    def lost(self) -> float:
        """By how much the matches fall short of whole ones."""
        return sum(1 - weight for _, _, weight in self.agree + self.clash)

    @property
    def left(self) -> int:
        return self.left_a.total() + self.left_b.total()


def align(a: ParsedText, b: ParsedText) -> Alignment:
    """Equal words first, then opposites, then kinds of things ("no drink" speaks of coffee too)."""
    found = Alignment()
    affirmed_a, denied_a, affirmed_b, denied_b = (
        Counter(words) for words in (a.affirmed, a.denied, b.affirmed, b.denied)
    )
    sides: Sides = (
        (affirmed_a, affirmed_b, True),
        (denied_a, denied_b, True),
        (affirmed_a, denied_b, False),
        (denied_a, affirmed_b, False),
    )
    for one, other, alike in sides:
        for word in [word for word in one if word in other]:
            times = min(one[word], other[word])
            (found.agree if alike else found.clash).extend([(word, word, 1.0)] * times)
            _take(one, word, times)
            _take(other, word, times)
    restored = False
    for one, other, alike in sides:
        for x, y in chain(_pairs(one, other, opposites()), _by_parts(one, other)):
            counts = x not in attributes() or (x in a.predicates and y in b.predicates)
            if counts:
                (found.reverse if alike else found.agree).append((x, y, 1.0))
                _take(one, x, 1)
                _take(other, y, 1)
                restored |= not alike
    if restored:  # "I do not hate coffee" denies nothing of what "I like coffee" says of coffee
        found.agree += found.clash
        found.clash = []
    for one, other, alike in sides:
        for x, y in _pairs(one, other, kinds()):
            _kind(found, (one, other), (x, y), alike or other is denied_b, alike)
        for y, x in _pairs(other, one, kinds()):
            _kind(found, (one, other), (x, y), alike or one is denied_a, alike)
    found.left_a, found.left_b = affirmed_a + denied_a, affirmed_b + denied_b
    found.left_denied_a, found.left_denied_b = denied_a.total(), denied_b.total()
    return found


def _kind(
    found: Alignment, sides: tuple[Counter[str], Counter[str]], pair: tuple[str, str], whole: bool, alike: bool
) -> None:
    """To deny the kind is to deny each of it; to deny one of it says less about the kind."""
    (found.agree if alike else found.clash).append((*pair, 1.0 if whole else 0.5))
    for side, word in zip(sides, pair, strict=True):
        _take(side, word, 1)


def _pairs(one: Counter[str], other: Counter[str], table: Mapping[str, frozenset[str]]) -> Iterable[tuple[str, str]]:
    """Pairs of a word of `one` and a word of `other` that the table joins; no word twice."""
    taken: set[str] = set()
    for x in list(one):
        y = min((y for y in table.get(x, ()) if y in other and y not in taken), default=None)
        if y is not None:
            taken.add(y)
            yield x, y


def _by_parts(one: Counter[str], other: Counter[str]) -> Iterable[tuple[str, str]]:
    """Pairs of Chinese words of one length that differ only by parts that are opposites: 早睡, 晚睡; no word twice."""
    if len(one) > MOST_BY_PARTS or len(other) > MOST_BY_PARTS:
        return
    taken: set[str] = set()
    for x in sorted(one):
        alike = (y for y in sorted(other) if y not in taken and 1 < len(x) == len(y) and not (x + y).isascii())
        y = next((y for y in alike if cores(x, y) in opposite_parts()), None)
        if y is not None:
            taken.add(y)
            yield x, y


def _take(words: Counter[str], word: str, times: int) -> None:
    words[word] -= times
    if words[word] <= 0:
        del words[word]


Kind = Literal["same", "refines", "contradicts", "unrelated"]

DENIER_COVERED, DENIED_COVERED, AFFIRMER_COVERED = 0.8, 0.75, 0.4
"""English: the share of the denying statement's words, of its denied words and of the other's words that must be matched."""
COVERED_CHINESE, DENIED_CHINESE = 0.3, 0.5
"""Chinese, whose words the segmenter cuts less evenly: of both statements' words, and of the denied ones."""
BESIDE_OPPOSITES, BESIDE_OPPOSITES_CHINESE = 0.6, 0.5
"""The share of all words that must be matched for opposites to count."""
FEW_WORDS = 3
"""A statement of no more is all said with its slot."""
ON_ONE_TOPIC = 0.3
"""Dice coefficient of characters from which two Chinese statements are on one topic."""

_SPEAKER = frozenset(("first",))


class Relation(NamedTuple):
    """How a new statement stands to a known one, and why."""

    kind: Kind
    sure: bool
    """Whether it may be acted upon; a contradiction that is not sure is a possible conflict, to be shown with both lines."""
    reasons: tuple[str, ...]
    slots: tuple[SlotClash, ...] = ()
    """The values that clash, new and known."""
    by_characters: bool = False
    """It was told by shared characters alone: so two replies to one question contradict each other, and hardly anything else."""


def compare(new: str, known: str, *, rewritten: bool = False) -> Relation:
    """The relation of two texts in English, Chinese or both; never raises. Time grows with their length.

    Contradicts and unrelated are symmetric. "Same" means that `new` adds nothing to `known`, "refines" that it adds
    something and takes nothing away. `rewritten`: one was made of the other, so that shared characters tell what it is about.
    Beyond `MOST_READ` characters of each nothing is read, and none is the same but an equal.
    """
    whole = len(new) <= MOST_READ and len(known) <= MOST_READ
    if new == known or (whole and difference(new, known) is None):
        return Relation("same", True, ("the same words",))
    said_new, said_known = read(new), read(known)
    slots_new, slots_known = slots(said_new.text), slots(said_known.text)
    if found := clashes(slots_new, slots_known):
        return Relation("contradicts", any(map(certain, found)), tuple(map(str, found)), found)
    if silent := _asserts_nothing(said_new, said_known):
        return Relation("unrelated", False, (silent,))
    # Aligned in one order whichever is new, so that the two ways round agree.
    swapped = new > known
    a, b = (said_known, said_new) if swapped else (said_new, said_known)
    aligned = align(a, b)
    reason = next(_contradictions(a, b, aligned), None)
    alike = next(_by_characters(a, b, rewritten=rewritten), None) if reason is None else None
    if told := reason or alike:
        return Relation("contradicts", _plainly_negated(a, b, aligned), (told,), by_characters=reason is None)
    if slots_new and said_new.size <= FEW_WORDS and agreements(slots_new, slots_known) == slots_new:
        return Relation("same", False, (f"the same value: {slots_new[0]}",))
    lefts = (aligned.left_b, aligned.left_a) if swapped else (aligned.left_a, aligned.left_b)
    # Where one denies something that was not told, no word tells that the two are one.
    told_apart = next(_by_characters(a, b, rewritten=True), None) is not None
    return _beside(aligned, *lefts, whole=whole and not told_apart)


def _beside(aligned: Alignment, left_new: Counter[str], left_known: Counter[str], *, whole: bool) -> Relation:
    """The relation of statements that do not contradict each other."""
    joined = whole and aligned.agree and not aligned.clash and not aligned.reverse
    if joined and not left_new:
        return Relation("same", False, ("adds no word",))
    if joined and not left_known:
        return Relation("refines", False, (f"adds: {_few(left_new)}",))
    return Relation("unrelated", False, (f"only one says: {_few(left_new)} / {_few(left_known)}",))


def _asserts_nothing(a: ParsedText, b: ParsedText) -> str | None:
    """Why the two cannot be compared: one asks or supposes where the other asserts, or they speak of different persons."""
    if (a.asks and not b.question) or (b.asks and not a.question):
        return "a question asserts nothing"
    if a.supposed != b.supposed:
        return "a supposition asserts nothing"
    if a.persons and b.persons and a.persons.isdisjoint(b.persons):
        return "they speak of different persons"
    return None


def _contradictions(a: ParsedText, b: ParsedText, aligned: Alignment) -> Iterator[str]:
    """Why two statements contradict each other, the best reason first; none where they do not."""
    chinese = a.chinese or b.chinese
    if aligned.clash and _denial_covers(a, b, aligned, chinese):
        yield f"one denies: {_named(aligned.clash)}"
    covered = 1 - aligned.left / max(1, a.size + b.size)
    least = BESIDE_OPPOSITES_CHINESE if chinese else BESIDE_OPPOSITES
    if covered >= least and (len(aligned.reverse) % 2 or (chinese and aligned.reverse)):
        yield f"opposites: {_named(aligned.reverse)}"
    if not aligned.left and not aligned.clash and (pair := _opposite_particles(a, b)):
        yield f"opposites: {pair}"
    if aligned.agree and a.persons and b.persons and _only_numbers(aligned.left_a) and _only_numbers(aligned.left_b):
        yield f"numbers: {_few(aligned.left_a)} / {_few(aligned.left_b)}"
    if chinese:
        one, other = cores(a.text, b.text)
        if (one, other) in opposite_cores():
            yield f"opposites: {one} / {other}"


def _by_characters(a: ParsedText, b: ParsedText, *, rewritten: bool) -> Iterator[str]:
    """What needs no words: where the segmenter cut two Chinese statements differently, their characters still tell.

    Of two free statements that share characters a denial tells nothing: it is in as many that agree.
    """
    if not a.chinese and not b.chinese:
        return
    alike = _alike(a.text, b.text)
    if alike < ON_ONE_TOPIC:
        return
    if answer(a.text) * answer(b.text) < 0:
        yield "one answers yes, the other no"
    if rewritten and bool(a.denied) != bool(b.denied):
        yield f"one denies something, and {alike:.0%} of the characters are shared"


def _denial_covers(a: ParsedText, b: ParsedText, aligned: Alignment, chinese: bool) -> bool:
    """Whether what is denied on one side is what the other affirms, and they speak of one thing."""
    by_a = sum(a.denied[x] > 0 for x, _, _ in aligned.clash)
    by_b = sum(b.denied[y] > 0 for _, y, _ in aligned.clash)
    denier_is_a = by_a >= by_b
    denier, affirmer = (a, b) if denier_is_a else (b, a)
    left, left_other = (aligned.left_a, aligned.left_b) if denier_is_a else (aligned.left_b, aligned.left_a)
    missing = aligned.left_denied_a if denier_is_a else aligned.left_denied_b
    weight = sum(weight for _, _, weight in aligned.clash)
    denied = weight / (weight + missing)
    of_denier = (denier.size - left.total() - aligned.lost) / max(1, denier.size)
    of_affirmer = (affirmer.size - left_other.total()) / max(1, affirmer.size)
    if chinese:
        return denied >= DENIED_CHINESE and min(of_denier, of_affirmer) >= COVERED_CHINESE
    return denied >= DENIED_COVERED and of_denier >= DENIER_COVERED and of_affirmer >= AFFIRMER_COVERED


def _plainly_negated(a: ParsedText, b: ParsedText, aligned: Alignment) -> bool:
    """Whether the speaker says of himself, as of now and without doubt, just what the other statement denies, word for word."""
    if not aligned.clash or aligned.reverse or a.stems != b.stems or a.particles != b.particles:
        return False
    if a.persons != _SPEAKER or b.persons != _SPEAKER or bool(a.denied) == bool(b.denied):
        return False
    doubtful = any(one.question or one.supposed or one.uncertain or one.past for one in (a, b))
    return not doubtful and not any(speaks_from_its_day(one.text) for one in (a, b))


def _opposite_particles(a: ParsedText, b: ParsedText) -> str | None:
    pairs = (
        f"{x} / {y}"
        for x in sorted(a.particles - b.particles)
        for y in sorted(opposites().get(x, ()))
        if y in b.particles and y not in a.particles
    )
    return next(pairs, None)


def _only_numbers(words: Counter[str]) -> bool:
    return bool(words) and all(word[0].isdigit() for word in words)


def _alike(one: str, other: str) -> float:
    x, y = (Counter(filter(str.isalnum, text)) for text in (one, other))
    return 2 * (x & y).total() / max(1, x.total() + y.total())


def _named(matches: list[Match]) -> str:
    return ", ".join(x if x == y else f"{x} / {y}" for x, y, _ in matches[:3])


def _few(words: Counter[str]) -> str:
    return " ".join(list(words)[:3]) or "-"


_WHERE = regex(
    r"(?:i|we|user|the user)(?:'m| am| is| are|'re)? (?:currently |now |still |just )?"
    r"(?:stay(?:ing|s)?|liv(?:e|es|ing)|based|back)? ?(?:in|at) "
)
_WHERE_CHINESE = regex(r"(?:我们?|用户|主人)?(?:人|都|暂时|现在|目前|还)*(?:住|待|呆)?在")
_SAID = regex(r"（\d{4}-\d\d-\d\d说）")
_SUBJECT = regex(
    r"^(?:(?:the )?user|i|we)(?:'m|'re|'ll)?\b|^(?:我们?|用户|主人)|\b(?:am|is|are|be|will|currently|now)\b"
)
_ENDING = regex(r"(?:ing|es|s|e)\b")
_PLACED = frozenset(["at", "in", "for", "with", "on", "from"])
MOST_WORDS = 4
"""Words behind the preposition, in each of the two."""


def interrupts(new: str, known: str) -> bool:
    """Whether a statement, without its bound in time, cannot hold beside another at the same time. Never raises."""
    here, there = _whereabouts(new), _whereabouts(known)
    if here is not None and there is not None:
        return different_places(here, there)
    return _but_for_one(_plain(new), _plain(known)) or compare(new, known).kind == "contradicts"


@lru_cache(maxsize=1 << 10)
def _whereabouts(text: str) -> str | None:
    """The place where somebody says that he is or lives; None where no known one is told."""
    told = written(text)
    found = next((one.value for one in slots(told) if one.name in ("home", "whereabouts") and one.subject == "i"), None)
    if found is not None:
        return found
    folded = text.casefold().strip()
    match = _WHERE.match(folded) or _WHERE_CHINESE.match(folded)
    place = None if match is None else place_at_start(folded[match.end() :])
    return None if match is None or place is None or folded[match.end() + place[1] :].strip(" .。了!！") else place[0]


def _plain(text: str) -> tuple[str, ...]:
    """Its words without who says it and without endings; signs where they are Chinese."""
    said = _SUBJECT.sub("", _SAID.sub("", text).casefold().strip()).strip(" .。!！")
    if regex(f"[{HAN}]").search(said):
        return tuple(said)
    return tuple(_ENDING.sub("", word) for word in said.split())


def _but_for_one(new: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Whether two say the same but for what stands behind a preposition."""
    before = _shared(new, known)
    if not before or before == min(len(new), len(known)):
        return False
    if "在" in new[:before]:
        behind = _shared(new[before:][::-1], known[before:][::-1])
        return behind > 1
    left = max(len(new), len(known)) - before
    return before > 1 and new[before - 1] in _PLACED and left <= MOST_WORDS


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many of the first of two rows are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
