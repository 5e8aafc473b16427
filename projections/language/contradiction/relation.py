"""Whether a new statement says the same as a known one, refines it, contradicts it, or has nothing to do with it. By rules.

Contradiction is told, in this order, by a slot with two values (age, home, a date), by words that one statement affirms and
the other denies, by opposites, by numbers where all else is equal, and by Chinese statements on one topic of which one denies.
Only the first, and a plain negation of one's own statement word by word, is `sure`; all else is to be flagged with both
lines (memory.md, section 4), and nothing overwritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from engramlog_server.projections.language.contradiction.alignment import Alignment, Match, align
from engramlog_server.projections.language.contradiction.negation import answer
from engramlog_server.projections.language.contradiction.reading import (
    MOST_READ,
    ParsedText,
    cores,
    opposite_cores,
    opposites,
    read,
)
from engramlog_server.projections.language.contradiction.slots import SlotClash, agreements, certain, clashes, slots
from engramlog_server.projections.language.polarity import difference, speaks_from_its_day

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
