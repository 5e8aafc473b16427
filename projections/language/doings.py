"""What somebody says that they do or like, clause by clause: "I signed up for a pottery class" is a doing with a pottery class.

A clause counts that the speaker says of themselves or of those with them, that affirms, and that neither asks, supposes, wishes nor
plans. Verbs are the list `doing`; what is done with follows the verb, eight English words or twelve Han characters at the most.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from engramlog_server.projections.language.lexicon import either, rows, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sentences import sentences

MOST_READ = 4_000
"""Characters of a text that are read."""
_APOSTROPHES = str.maketrans("‘’", "''")
_BEFORE = (
    "(?:'m|'ve|'re|'d| am| are| was| were| have| had| also| just| really| always| often| usually| been| finally| recently| still"
    "| love| enjoy| started| a| an| big| huge)*"
)
_ENGLISH = regex(
    lambda: (
        rf"\b(?:I|[Ww]e){_BEFORE} (?P<doing>(?:{either(words('doing', 'english'))})\b(?P<what>(?:[ '-]+[\w'&+]+){{1,8}}))"
    )
)
_CHINESE = regex(
    lambda: (
        r"(?:我(?:们)?[^，。！？,!?我想会要算望没不别可能如若]{0,6}?"
        r"|^(?:最近|今天|昨天|昨晚|上?周末|平时|有空|经常|常常|每天|一直|又|也|还|正在|在|刚刚?)+)"
        rf"(?P<doing>(?:{either(words('doing', 'chinese'))})[了过着]?(?P<what>[^，。！？,!?]{{1,12}}))"
    )
)
_CLAUSES = regex("(?<=[，；。！？])")
_UNREAL = regex(r"\?|？|(?i:\b(?:if|would|could|might|never|used to)\b)")


class Doing(NamedTuple):
    """Something that its speaker does or likes."""

    what: str
    """What with, as written."""
    told: str
    """The verb, and what with."""


@cache
def verbs() -> frozenset[str]:
    """What is done, each verb in its first form: it is nothing that one does something with."""
    return frozenset(row[language][0] for row in rows("doing") for language in ("english", "chinese") if row[language])


def doings(text: str) -> Iterator[Doing]:
    """What the speaker of a text does or likes, in order."""
    for sentence in sentences(text[:MOST_READ].translate(_APOSTROPHES)):
        for clause in _CLAUSES.split(sentence):
            if not _UNREAL.search(clause):
                for form in (_ENGLISH, _CHINESE):
                    yield from (Doing(found["what"].strip(), found["doing"].strip()) for found in form.finditer(clause))
