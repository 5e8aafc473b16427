"""What extraction reads and gives: turns, and what somebody states in them (memory.md, sections 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.language.prompt_text import one_line

NOBODY = frozenset({"user", "other", "human", "me", "用户", ""})
"""Speakers whose name says nothing about who they are."""
MACHINES = frozenset({"assistant", "tool", "system"})
"""Roles and speakers that assert nothing about the user."""


class TurnText(NamedTuple):
    """Something that was said."""

    turn_id: str
    text: str
    role: str = "user"
    """user, assistant, tool, system or other; only a user or another person asserts anything."""
    speaker: str | None = None
    day: str | None = None
    """The day on which it was said, as YYYY-MM-DD in the owner's time zone: what "yesterday" is read from."""
    asked: str = ""
    """The assistant's text just before it in its session."""
    before: str = ""
    """People's text before that in its session, up to 400 characters."""

    @property
    def name(self) -> str | None:
        """The speaker's name as one line, or None if only a role is known."""
        spoken = one_line(self.speaker or "")
        return None if spoken.casefold() in NOBODY else spoken

    def called(self, *, han: bool) -> str:
        """The speaker's name, or "User" in the language."""
        return self.name or ("用户" if han else "User")

    def dated(self, content: str, *, han: bool) -> str:
        """A content with the day on which it was said, if that is known."""
        return content + (f"（{self.day}说）" if han else f" (said on {self.day})") if self.day else content

    @property
    def year(self) -> int | None:
        """The year in which it was said, or None where no day is known."""
        return int(self.day[:4]) if self.day else None

    @property
    def by_person(self) -> bool:
        """Whether a user or a named person says it."""
        return self.role in ("user", "other") and (self.speaker or "").casefold() not in MACHINES


class StatedTriple(NamedTuple):
    """A triple as stated."""

    subject: str
    predicate: str
    object: str
    negation: bool = False
    degree: float | None = None
    """How often or how much, from 0 to 1; None where nothing is said of it."""
    condition: str | None = None
    """When it holds, in the words of the clause: "in the morning", 下雨的时候."""


class ExtractedStatement(NamedTuple):
    """What one clause of a turn says about its speaker, in words that stand by themselves."""

    content: str
    category: Category
    kind: str
    """fact, user_preference, plan, decision, note, or question."""
    polarity: int
    """-1 where it denies something, else 1."""
    asserted: bool
    """False for a question, a supposition or another person's words: never stored as a fact."""
    confidence: float
    span: tuple[int, int]
    """Where the clause stands in the turn's text: start and end, in characters."""
    keywords: tuple[str, ...] = ()
    triple: StatedTriple | None = None
    correction: bool = False
    """The speaker says that something said before was wrong."""
    ends: str | None = None
    """The statement that holds no longer, in words that a memory of it would have."""


class ExtractionRule(NamedTuple):
    """One way to state something: matched on a clause, gives class and triple."""

    pattern: str | Callable[[], str]
    """A function where it is made of words that are read at first use."""
    category: Category
    kind: str
    confidence: float
    predicate: str | None = None
    """Of the triple, whose object is the pattern's group `object`; None: no triple."""
    dislikes: bool = False
    """The predicate is denied by the verb itself: "I hate it" denies `likes`."""
    loose: bool = False
    """The object may be a single plain word."""
    sharp: bool = False
    """The object needs a name, a number or a time."""


class Clause(NamedTuple):
    """A piece of a turn that may state one thing."""

    text: str
    start: int
    end: int
    asserted: bool
    question: bool
    before: str = ""
    """The clause before it in its sentence: "Actually, ..." is one."""
    after: str = ""
    """The clause after it in its sentence: "but only for the summer" is one."""
    elided: bool = False
    """A subject that it leaves out at its beginning is the speaker: "Got married last week"."""
    around: str = ""
    """Its sentence and the next one, 1,000 letters at most; empty where nobody asks for it."""
