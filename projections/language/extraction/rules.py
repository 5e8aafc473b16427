"""Extraction by rules: what the speaker of a turn states about themselves, as statements that stand by themselves (seed 003).

Only what a user or a named person asserts: no question, no supposition, no quotation, no other person's words, nothing an
assistant says. Precision goes before recall, for every turn stays retrievable by itself (memory.md, section 4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from engramlog_server.projections.language.extraction import instructing, keeping, plain, taking_back
from engramlog_server.projections.language.extraction.birthdays import chinese_birthday, english_birthday
from engramlog_server.projections.language.extraction.chinese import chinese_clauses, chinese_statement
from engramlog_server.projections.language.extraction.english import english_statement
from engramlog_server.projections.language.extraction.english_clauses import english_clauses
from engramlog_server.projections.language.extraction.incidental import incidental
from engramlog_server.projections.language.extraction.instructing import INSTRUCTION, instructions
from engramlog_server.projections.language.extraction.plain import Plain, plain_statements
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, TurnText
from engramlog_server.projections.language.extraction.taking_back import Taken, taken_back
from engramlog_server.projections.language.extraction.text import talk_of
from engramlog_server.projections.language.extraction.turn_before import answered, with_people
from engramlog_server.projections.language.keywords import extracted
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import holds_han
from engramlog_server.projections.language.sentences import without_day
from engramlog_server.projections.language.traditional import simplified

MOST_STATEMENTS = 12
"""Statements of one turn: a pasted text is no talk."""
_SENTENCE = regex(r"[^。！？!?.\n]+[。！？!?.\n]*")


class TurnReading(NamedTuple):
    """All that rules read of a turn."""

    statements: tuple[ExtractedStatement, ...] = ()
    taken: tuple[Taken, ...] = ()
    """What its speaker takes back."""


def read_turn(turn: TurnText) -> TurnReading:
    """What the turn states and takes back, each in order. Never raises, whatever the text."""
    if not turn.by_person:
        return TurnReading()
    plain = simplified(turn.text) if holds_han(turn.text) else turn.text
    if plain != turn.text:
        return _as_written(read_turn(turn._replace(text=plain)), turn.text, plain)
    talk = talk_of(turn.text)
    by_language = [
        (language, with_people(said, talk.text, turn, han=language.han)) for language, said in _by_language(talk.text)
    ]
    taken: list[Taken] = []
    if _hints(talk.text.casefold().replace("’", "'"), taking_back.HINTS):
        for language, said in by_language:
            taken += taken_back(said, talk.text, turn, language.statement, han=language.han)
    found: dict[str, ExtractedStatement] = {}
    for statement in _statements(talk.text, turn, by_language, [one.said.span for one in taken]):
        found.setdefault(statement.content, statement._replace(span=talk.span(statement.span)))
    placed = [one._replace(said=_with_keywords(one.said)._replace(span=talk.span(one.said.span))) for one in taken]
    stated = tuple(_with_keywords(one) for one in _most(list(found.values())))
    return TurnReading(stated, tuple(sorted(placed, key=lambda one: one.said.span)))


_OWN_WORDS = regex("(?:用户[^，。：（]{2,8}：|用户)?")
"""What rules write before the words of a turn: 用户, 用户要求记住：."""


def _as_written(reading: TurnReading, written: str, plain: str) -> TurnReading:
    """What was read of a text in simplified characters, in the characters in which it was written."""

    def back(text: str) -> str:
        """Each longest piece of the text that the turn has, as the turn has it; words of a rule's own stay."""
        led = _OWN_WORDS.match(text)
        found, at = [] if led is None else [led[0]], 0 if led is None else led.end()
        while at < len(text):
            end = at + 1
            while end < len(text) and text[at : end + 1] in plain and text[end] != "（":
                end += 1
            place = plain.find(text[at:end]) if end - at > 1 or end == len(text) else -1
            found.append(text[at:end] if place < 0 else written[place : place + end - at])
            at = end
        return "".join(found)

    def restored(one: ExtractedStatement) -> ExtractedStatement:
        triple = one.triple
        if triple is not None:
            triple = triple._replace(subject=back(triple.subject), object=back(triple.object))
        ends = None if one.ends is None else back(one.ends)
        return one._replace(
            content=back(one.content), triple=triple, ends=ends, keywords=tuple(map(back, one.keywords))
        )

    taken: list[Taken] = [one._replace(said=restored(one.said)) for one in reading.taken]
    return TurnReading(tuple(map(restored, reading.statements)), tuple(taken))


def extract(turn: TurnText) -> list[ExtractedStatement]:
    """What the turn states, in order; also what it only asks or supposes, as not `asserted`."""
    return list(read_turn(turn).statements)


def only_asks(turn: TurnText) -> bool:
    """Whether the turn is a question and nothing else: it has nothing to find again."""
    said = [one for one in clauses(talk_of(turn.text).text) if any(map(str.isalnum, one.text))]
    return bool(said) and all(one.question for one in said) and not any(one.asserted for one in extract(turn))


def _hints(folded: str, hints: Iterable[str]) -> bool:
    """Whether a text may hold what has one of these in it: most need not be looked at."""
    return any(hint in folded for hint in hints)


def _most(found: list[ExtractedStatement]) -> list[ExtractedStatement]:
    """As many as may be of one turn: what is to be kept stays, then what was said first."""
    if len(found) <= MOST_STATEMENTS:
        return found
    asked = [one for one in found if one.kind in ("note", INSTRUCTION)][:MOST_STATEMENTS]
    others = [one for one in found if one not in asked][: MOST_STATEMENTS - len(asked)]
    return [one for one in found if one in asked or one in others]


class Language(NamedTuple):
    """How one language is read: its sentences by the script they are in, clause by clause, each by the first rule that fits."""

    han: bool
    clauses: Callable[[str], Iterator[Clause]]
    statement: Callable[[Clause, TurnText], ExtractedStatement | None]
    birthday: Callable[[Clause, TurnText], ExtractedStatement | None]
    keeping: Callable[[], keeping.Keeping]
    """How it says that something is to be kept."""
    plain: Plain
    incidental: Callable[[Clause, TurnText, ExtractedStatement | None], Iterator[ExtractedStatement]] | None = None
    """The facts that a clause mentions in addition to its own statement."""


ENGLISH = Language(
    False, english_clauses, english_statement, english_birthday, keeping.english, plain.ENGLISH, incidental
)
CHINESE = Language(True, chinese_clauses, chinese_statement, chinese_birthday, keeping.chinese, plain.CHINESE)


def _by_language(text: str) -> Iterator[tuple[Language, list[Clause]]]:
    """The clauses of a text by the language they are in, in order: the English ones, then the Chinese ones."""
    languages = (ENGLISH, CHINESE) if holds_han(text) else (ENGLISH,)
    for language in languages:
        own = text if len(languages) == 1 else _only(text, han=language.han)
        yield language, list(language.clauses(own))


def clauses(text: str) -> list[Clause]:
    """The English and the Chinese clauses of a text, in order, each with whether it is asserted; `talk_of` gives such texts."""
    return sorted((clause for _, said in _by_language(text) for clause in said), key=lambda one: one.start)


def _statements(
    text: str,
    turn: TurnText,
    read_by_language: Sequence[tuple[Language, list[Clause]]],
    taken: Sequence[tuple[int, int]],
) -> list[ExtractedStatement]:
    """What the clauses state, and what is to be kept in other words than these. `taken`: spans of what is taken back."""
    found: list[ExtractedStatement] = []
    folded = text.casefold().replace("’", "'")
    instructed, asked = _hints(folded, instructing.HINTS), _hints(folded, keeping.HINTS)
    for language, said in read_by_language:
        stated, read = list[ExtractedStatement](), list(taken)
        for clause in said:
            typed = language.statement(clause, turn) or language.birthday(clause, turn)
            if typed is not None:
                stated.append(typed)
                read.append((clause.start, clause.end))
            if language.incidental is not None:
                stated += language.incidental(clause, turn, typed)
        wanted = list(instructions(said, text, turn, language.keeping(), han=language.han)) if instructed else []
        notes = [*wanted, *(keeping.kept(said, text, turn, language.keeping()) if asked else ())]
        notes = [one for one in notes if one in wanted or not any(_within(one.span, asked.span) for asked in wanted)]
        read += [one.span for one in notes]
        for whole in plain_statements(said, read, text, turn, language.plain):
            part = next((one for one in stated if _begins_with(whole, one)), None)
            stated = [one for one in stated if one is not part]
            stated.append(whole if part is None else part._replace(content=whole.content, span=whole.span))
        read += [one.span for one in stated]
        stated += answered(said, read, text, turn, han=language.han)
        remaining = [one for one in notes if one in wanted or not _stands_for(stated, one)]
        certain = [one for one in notes if one not in remaining]
        stated = [one for one in stated if not any(_within(one.span, asked.span) for asked in wanted)]
        found += [_noted(one, certain) for one in stated if not any(_replaces(note, one) for note in remaining)]
        found += remaining
    return sorted(found, key=lambda one: one.span)


def _begins_with(whole: ExtractedStatement, one: ExtractedStatement) -> bool:
    """Whether a plain statement says what another one says, and more: the same fact with the clauses behind it."""
    return one.asserted and without_day(whole.content).startswith(without_day(one.content))


def _stands_for(stated: Sequence[ExtractedStatement], note: ExtractedStatement) -> bool:
    """Whether typed statements say nearly all of what is to be kept."""
    (start, end), within = note.span, [one.span for one in stated if one.asserted and _within(one.span, note.span)]
    covered = sum(min(end, b) - max(start, a) for a, b in within)
    return covered >= keeping.ENOUGH * (end - start)


def _replaces(note: ExtractedStatement, one: ExtractedStatement) -> bool:
    """Whether what is to be kept says all that a statement which is asserted by nobody says."""
    return _within(one.span, note.span) and not one.asserted and note.asserted


def _noted(one: ExtractedStatement, sure: Sequence[ExtractedStatement]) -> ExtractedStatement:
    confidence = max([one.confidence, *(note.confidence for note in sure if _within(one.span, note.span))])
    return one._replace(confidence=confidence)


def _only(text: str, *, han: bool) -> str:
    """The text with only those sentences that have, or have not, Han characters; all stay in their places."""
    return _SENTENCE.sub(lambda found: found[0] if holds_han(found[0]) == han else "\n" * len(found[0]), text)


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return inner[0] < outer[1] and outer[0] < inner[1]


def questions(turn: TurnText) -> list[str]:
    """The questions that the turn asks, each by itself, as written."""
    if not turn.by_person or not ("?" in turn.text or "？" in turn.text):
        return []
    asked = re.findall(r"[^.!?。！？\n]{6,200}[?？]", talk_of(turn.text).text)
    return [found.strip() for found in asked][:MOST_STATEMENTS]


def _with_keywords(statement: ExtractedStatement) -> ExtractedStatement:
    about = statement.content if statement.triple is None else statement.triple.object
    words = tuple(dict.fromkeys(one.word for one in extracted(about, 5)))
    return statement._replace(keywords=words)
