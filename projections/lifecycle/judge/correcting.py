"""The judge on what a speaker takes back: which known memory is meant, and what becomes of it (memory.md, section 4).

A retraction negates what it denies and puts nothing in its place. A correction puts one value in the place of another in what was
said just before. Only where it is sure what is meant; else both are flagged, or nothing happens. What was taken back since it was
said does not come back by being told again (`JudgeRun.judge`).
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import cast

from engramlog_server.events.catalogue import MemoryNegated
from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple
from engramlog_server.projections.language.extraction.taking_back import Corrected, Denial, HeldTo, Taken, values_of
from engramlog_server.projections.language.extraction.third_person import in_third, third_person
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN, holds_han
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.lifecycle.judge.judging import Claim, JudgeRun, ReadTurn, Verdict
from engramlog_server.projections.lifecycle.judge.known import KnownMemory, core
from engramlog_server.projections.memory.record import DAY
from engramlog_server.projections.views.view import OwnerView

JUST_BEFORE = 10
"""Turns of one speaker in one session, and within a day, among which a correction finds what it corrects."""
MOST_RETRACTED = 3
"""Memories that one denial may take back."""
POSSESSING = frozenset({"has", "owns", "adopted", "got", "有", "养", "养了", "领养", "领养了"})
"""Predicates that one denial of having takes back."""
TAKES_BACK = "the speaker takes it back"
CORRECTS = "the speaker corrects it"
_NAMED = regex(r"\s(?:named|called|with|who|that|which|from|in|for|and)\b.*$|,.*$|（.*$|叫.*$|名叫.*$", re.IGNORECASE)
_COUNTED = regex("^[一二两三四五六七八九十几\\d]*[只条个匹头位名]?|^(?:an?|the|one|two|three|four|five|\\d+) ")


def judge(
    turns: Sequence[ReadTurn],
    view: OwnerView,
    now: int,  # noqa: ARG001 - plans have one shape
    check: Check = unchecked,
    alike: Alike = no_model,
) -> list[Verdict]:
    """A verdict on every statement, in the order in which they were said (an export may tell the newest first). Pure."""
    judging = CorrectingRun(view, check, alike)
    in_order = sorted(turns, key=lambda one: (one.said_at, one.seq))
    before: dict[tuple[str | None, str | None], deque[ReadTurn]] = defaultdict(lambda: deque(maxlen=JUST_BEFORE))
    for one in counted(in_order, check, len(in_order), every=1):
        for question in one.questions:
            judging.ask(one, question)
        own = before[one.session, one.turn.speaker]
        for said in counted(_in_order(one), check, len(one.statements) + len(one.taken), every=1):
            if isinstance(said, ExtractedStatement):
                judging.judge(Claim(one, said))
            elif isinstance(said, Denial):
                judging.deny(one, said)
            elif isinstance(said, HeldTo):
                judging.hold_to(one, said, [one, *reversed(own)])
            else:
                judging.correct(one, said, [one, *reversed(own)])
        own.append(one)
    return judging.verdicts


def _in_order(source: ReadTurn) -> list[ExtractedStatement | Taken]:
    """All that a turn says, in the order of its words."""
    parts = [*source.statements, *source.taken]
    return sorted(parts, key=lambda part: part.span if isinstance(part, ExtractedStatement) else part.said.span)


class CorrectingRun(JudgeRun):
    """A run that also takes back and corrects."""

    def deny(self, source: ReadTurn, denial: Denial) -> None:
        """A denial: what it denies for certain is negated, by itself if the speaker says that it was wrong."""
        claim, turn = Claim(source, denial.said), source.turn
        if not denial.said.asserted:
            return
        denied = self._of_denied(denial, turn.speaker)
        known = [one for one in denied if not one.negated and not one.comes_from(turn.turn_id)]
        gone = [one for one in known if not self._is_later(one, claim)][:MOST_RETRACTED]
        if gone and denial.taken_back:
            self._retract(claim, gone)
        elif gone:
            self._negate(claim, gone, "the speaker says the reverse")
        elif known:
            self._record("SKIP", claim, known[0].id, "it was said later")
        elif denial.lasting:
            self.judge(claim)
        elif denial.taken_back and not self._flag_contradicted(claim, self._shelf.near(claim.content, turn.speaker)):
            self._record("SKIP", claim, None, "nothing is known that it takes back")

    def _retract(self, claim: Claim, gone: Iterable[KnownMemory]) -> None:
        for old in gone:
            data = MemoryNegated(memory_id=old.id, reason=TAKES_BACK, turn_id=claim.turn.turn_id)
            old.turns.append(claim.turn.turn_id)
            self._shelf.negate(old)
            decision = self._decision("negate", (old.id,), claim, TAKES_BACK, data)
            self._record("NEGATE", claim, None, TAKES_BACK, [decision], old.id)

    def _of_denied(self, denial: Denial, speaker: str | None) -> Iterator[KnownMemory]:
        """The known memories that say for certain what is denied, the most alike first."""
        told = denial.said.content if denial.affirmed is None else denial.affirmed.content
        triple = None if denial.affirmed is None else denial.affirmed.triple
        found = [known for _, known in self._shelf.near(told, speaker)]
        if triple is not None:
            found += [known for known, _ in self._shelf.in_slot(triple, speaker)]
        for known in _once(found):
            if triple is not None and any(_says(fact, triple) for fact in known.facts):
                yield known
            elif known.polarity > 0:
                relation = compare(core(denial.said.content), core(known.content))
                if relation.kind == "contradicts" and relation.sure:
                    yield known

    def correct(self, source: ReadTurn, one: Corrected, before: Sequence[ReadTurn]) -> None:
        """One value for another in what was said just before. `before`: this turn and earlier ones of its speaker, newest first."""
        claim = Claim(source, one.said)
        for turn in _within_a_day(before, source):
            made = self._shelf.of_turn(turn.turn.turn_id)
            meant = [
                (known, old) for known in made if not known.negated and (old := _value_in(one, core(known.content)))
            ]
            if len(meant) == 1:
                return self._negate(Claim(source, _with_value(one, *meant[0])), [meant[0][0]], CORRECTS)
            if meant:
                return self._flag(claim, meant[0][0], "one of several is corrected")
            sentences = [] if turn is source else _sentences_with(one, turn.turn.text)
            if len(sentences) == 1:
                return self._correct_words(source, one, turn.turn.turn_id, *sentences[0])
            if sentences:
                break
        guessed = _sentences_with(one, source.turn.asked, by_assistant=True)
        if len(guessed) == 1:
            return self._correct_words(source, one, "", *guessed[0])
        return self._record("SKIP", claim, None, "nothing is known that it corrects")

    def hold_to(self, source: ReadTurn, one: HeldTo, before: Sequence[ReadTurn]) -> None:
        """What the speaker took back just before, and likes after all: the one thing that it can be."""
        claim = Claim(source, one.said)
        for turn in _within_a_day(before, source):
            taken = self._taken_back_in(turn.turn.turn_id, source.turn.speaker)
            if len(taken) == 1:
                return self._held(claim, taken[0], 1.0)
            if taken:
                break
        return self._record("SKIP", claim, None, "nothing is known that was taken back")

    def _taken_back_in(self, turn_id: str, speaker: str | None) -> list[KnownMemory]:
        """The memories of which a turn said the reverse."""
        denials = [known for known in self._shelf.of_turn(turn_id) if any(fact[3] for fact in known.facts)]
        alike = [known for denial in denials for _, known in self._shelf.near(denial.content, speaker) if known.negated]
        reverse = {(*fact[:3], False) for denial in denials for fact in denial.facts}
        return [known for known in _once(alike) if reverse.intersection(known.facts)]

    def _correct_words(self, source: ReadTurn, one: Corrected, turn_id: str, sentence: str, old: str) -> None:
        """What no memory says: the sentence as it was meant becomes one, which corrects the turn."""
        han, turn = holds_han(sentence), source.turn
        says = "更正：" if han else " corrected: "
        content = turn.dated(f"{turn.called(han=han)}{says}{_put(sentence, old, one.new)}", han=han)
        if self._view.get(turn_id) is not None:
            self._corrects[content] = turn_id
        return self.judge(Claim(source, one.said._replace(content=content)))


def _within_a_day(before: Sequence[ReadTurn], source: ReadTurn) -> Iterator[ReadTurn]:
    """The turns of the last day, the newest first."""
    return takewhile(lambda turn: source.said_at - DAY <= turn.said_at <= source.said_at, before)


def _once(found: Iterable[KnownMemory]) -> list[KnownMemory]:
    return list({known.id: known for known in found}.values())


def _says(fact: tuple[str, str, str, bool], triple: StatedTriple) -> bool:
    """Whether a triple says what another does, or more closely: "has a dog named Rex" says "has a dog"."""
    subject, predicate, thing, negation = fact
    alike = predicate == triple.predicate or {predicate, triple.predicate} <= POSSESSING
    return subject == triple.subject and alike and negation == triple.negation and _is_a(thing, triple.object)


def _is_a(thing: str, other: str) -> bool:
    """Whether a thing is the other by its words: its head is the other's, and it has all of the other's words."""
    named, plain = (_COUNTED.sub("", _NAMED.sub("", one.strip())).strip().casefold() for one in (thing, other))
    if not named or not plain:
        return False
    if holds_han(plain):
        return named.endswith(plain)
    mine, others = tokens(named), tokens(plain)
    return bool(mine) and bool(others) and mine[-1] == others[-1] and set(others) <= set(mine)


def _value_in(one: Corrected, text: str) -> str | None:
    """The value that is corrected, as it stands in a text exactly once; None where it does not, or where another may be meant."""
    if one.old is not None:
        places = _places(one.old, text)
        return text[slice(*places[0])] if len(places) == 1 else None
    found = values_of(one.sort or "", text)
    return found[0] if len(found) == 1 and found[0].casefold() != one.new.casefold() else None


def _places(value: str, text: str) -> list[tuple[int, int]]:
    """Where a value stands in a text by itself."""
    edge = ("", "") if holds_han(value) else (rf"(?<![^\W{HAN}])", rf"(?![^\W{HAN}])")
    return [found.span() for found in re.finditer(f"{edge[0]}{re.escape(value)}{edge[1]}", text, re.IGNORECASE)]


def _put(text: str, old: str, new: str) -> str:
    """The text with the new value in the place of the old one."""
    places = _places(old, text)
    return text if not places else f"{text[: places[0][0]]}{new}{text[places[0][1] :]}"


def _sentences_with(one: Corrected, text: str, *, by_assistant: bool = False) -> list[tuple[str, str]]:
    """The sentences of a turn that say the old value, each with that value; none of a long turn.

    Questions of a person do not count. Guesses of the assistant about the user do ("You live in London?").
    """
    if len(text) > 2_000:
        return []
    said = (found[0].strip() for found in re.finditer(r"[^.!?。！？\n]+(?:\.(?=\w)[^.!?。！？\n]+)*[.!?。！？]*", text))
    out = _NO_GUESS.search if by_assistant else regex("[?？]$").search
    told = [sentence for sentence in said if len(sentence) <= 200 and out(sentence) is None]
    plain = [_of_user(sentence, one.old) if by_assistant else sentence.rstrip(".!。！ ") for sentence in told]
    return [(sentence, old) for sentence in plain if (old := _value_in(one, sentence))]


_NO_GUESS = regex(
    r"^(?:do|are) you (?:want|need|mean|know|think|remember|sure|ok|okay|ready|have a (?:minute|moment|second|question))\b"
    r"|^(?!(?:do|are) you\b|(?:is|are) your\b)(?:did|do|does|is|are|was|were|has|have|can|could|will|would|should|shall|what|which"
    r"|who|where|when|how)\b|[\"“”「」]|^(?!.*[你您]).*吗[?？]$",
    re.IGNORECASE,
)
"""A question that guesses nothing of the user, or somebody's words: "Did Anna write to you?"."""
_GUESSES = regex(
    r"^(?:(?:so|lovely|great|nice|ah|oh|noted|okay|ok|got it|understood|and|right"
    r"|I(?:'ll| will)? (?:take it|assume|suppose|imagine|guess|understand|note|remember))\b[,:. ]*"
    r"(?:that )?)+|,? (?:I (?:take it|assume|suppose|imagine|guess)|right|correct|then|noted|is that right|don't you)$"
    "|^(?:(?:好的?|明白了?|收到|那么?|所以|了解|记[下住]了)[，, ]*)+|(?:[，,]?(?:对吗|对吧|是吗|是吧|没错吧)|[吗吧呢])$",
    re.IGNORECASE,
)
_TO_SPEAKER = (
    (regex(r"^do you\b", re.IGNORECASE), "I"), (regex(r"^are you\b", re.IGNORECASE), "I'm"),
    (regex(r"\byou're\b|\byou are\b", re.IGNORECASE), "I'm"), (regex(r"\byour\b"), "my"), (regex(r"\bYour\b"), "My"),
    (regex(r"\byou\b", re.IGNORECASE), "I"), (regex("您|你"), "用户"),
)  # fmt: skip


def _of_user(sentence: str, value: str | None) -> str:
    """A sentence of the assistant to the user, turned into a statement about the user; "is your" with its verb before the value."""
    said = _GUESSES.sub("", _GUESSES.sub("", sentence.rstrip(".!?。！？ ")))
    asked = rf"(is|are) (your .+?) ((?:(?:on|in|at|from|called|an?|the) ){{0,2}}{re.escape(value or '')})"
    if (inverted := re.match(asked, said, re.IGNORECASE)) is not None:
        said = f"{inverted[2]} {inverted[1].lower()} {inverted[3]}{said[inverted.end() :]}"
    for pattern, into in _TO_SPEAKER:
        said = pattern.sub(into, said)
    said = re.sub("^my ", "My ", said)
    return third_person(said, "User") if re.match(r"(?:I|My)\b", said) else in_third(said)


def _with_value(one: Corrected, known: KnownMemory, old: str) -> ExtractedStatement:
    """What a memory says, with the new value in the place of the old one."""
    triple = None
    if len(known.facts) == 1:
        subject, predicate, thing, negation = known.facts[0]
        triple = StatedTriple(subject, predicate, _put(thing, old, one.new), negation)
    content, told = _put(known.content, old, one.new), one.said
    return told._replace(
        content=content,
        category=cast("Category", known.category),
        kind=known.kind,
        polarity=known.polarity,
        confidence=0.85,
        triple=triple,
    )
