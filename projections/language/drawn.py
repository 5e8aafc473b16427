"""Which part of a text statements were drawn from, and what else the text says; by words alone. Pure.

A text is cut into clauses. Of each statement the clause that shares most of its words is taken, then the one that shares most of
those that are left, as long as some are shared. What such a clause says beside the statement is another matter, unless it is but a
word: "I live in Lisbon with my cat Tom" tells of a cat too, where all that was made of it is that she lives in Lisbon.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import begins_with_han
from engramlog_server.projections.language.sentences import asked_words

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
    clauses = [words for part in parts if part and (words := asked_words(part))]
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
