"""A known memory as the judge sees it, and when two contents say the same. Found on `projections.lifecycle.judge.candidates`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from engramlog_server.projections.language.extraction.instructing import INSTRUCTION
from engramlog_server.projections.language.extraction.shape import NOBODY, ExtractedStatement
from engramlog_server.projections.language.lexicon import either, rows
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import difference, polarity
from engramlog_server.projections.language.sentences import without_day
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.memory.record import Memory

LEAST_WORDS = 3
"""Words that a memory must have to be refined, and a question, beside those of politeness, to be remembered."""


@cache
def _still(language: str) -> str:
    """Words by which somebody holds to what he said, as alternatives."""
    return either(word for row in rows("taking_back") if "still" in row["role"] for word in row[language])


_ALL_THE_SAME = regex(lambda: rf" (?:{_still('english')})\b|(?:{_still('chinese')})(?=[喜爱想热住在])")
_AGAIN_NOW = regex("(?<=.)了$")


def core(content: str) -> str:
    """What a content says, without the day on which it was said."""
    return without_day(content)


def same_words(a: str, b: str) -> bool:
    """Whether two contents say the same but for words that matter little: no name, number or date apart."""
    apart = difference(core(a), core(b))
    return apart is None or not apart.startswith("different n")


def said_after_all(content: str) -> str:
    """A content without the words by which its speaker says that he holds to it all the same; itself where there are none."""
    whole = core(content)
    plain = _ALL_THE_SAME.sub("", whole)
    return content if plain == whole else _AGAIN_NOW.sub("", plain).strip()


def says_again(statement: ExtractedStatement, content: str) -> bool:
    """Whether a statement says what a content says. Every word of an instruction counts."""
    if statement.kind == INSTRUCTION:
        return difference(core(statement.content), core(content)) is None
    return same_words(statement.content, content)


@dataclass(slots=True)
class KnownMemory:
    """A memory as the judge sees it."""

    id: str
    content: str
    category: str
    kind: str
    polarity: int
    facts: list[tuple[str, str, str, bool]]
    turns: list[str] = field(default_factory=list)
    """Turns that stated, mentioned or negated it."""
    at: int = 0
    """When it was said last, microseconds since 1970; 0 in the run that makes it."""
    negated: bool = False
    """The speaker took it back; he may say it again."""

    @classmethod
    def made(cls, memory_id: str, statement: ExtractedStatement, turns: tuple[str, ...]) -> KnownMemory:
        """A memory that is about to be made."""
        triple = statement.triple
        facts = [(triple.subject, triple.predicate, triple.object, triple.negation)] if triple is not None else []
        return cls(
            memory_id,
            statement.content,
            statement.category,
            statement.kind,
            polarity(core(statement.content)),
            facts,
            list(turns),
        )

    @classmethod
    def of(cls, memory: Memory) -> KnownMemory:
        """A memory of the view."""
        turns = [*memory.source_turns, *(one.turn_id for one in memory.user_mentions if one.turn_id)]
        turns += [one.turn_id for one in memory.negations if one.turn_id]
        facts = [(one.subject, one.predicate, one.object, one.negation) for one in memory.facts]
        sense = polarity(core(memory.content))
        at = memory.last_activated_at
        return cls(memory.id, memory.content, memory.category, memory.kind, sense, facts, turns, at, memory.is_negated)

    def comes_from(self, turn_id: str) -> bool:
        """Whether this turn stated, mentioned or negated it."""
        return turn_id in self.turns

    def negates(self, statement: ExtractedStatement) -> bool:
        """Whether it says the reverse of a statement in nearly the same words."""
        return self.polarity != polarity(core(statement.content))

    def alike_in_kind(self, statement: ExtractedStatement) -> bool:
        """Whether it is of the same class as a statement: what was planned is not what was done."""
        return (self.category, self.kind) == (statement.category, statement.kind)

    def refined_by(self, statement: ExtractedStatement) -> bool:
        """Whether a statement says all that it says, and more."""
        if self.negates(statement) or self.kind != statement.kind:
            return False
        mine, more = set(tokens(core(self.content))), set(tokens(core(statement.content)))
        return len(mine) >= LEAST_WORDS and mine < more


def who(speaker: str | None) -> str | None:
    """Whoever is only called a user is the one that memories without a speaker are about."""
    return None if speaker is None or speaker.casefold() in NOBODY else speaker
