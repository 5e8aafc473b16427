"""Activities and likings in a text: "I joined a pottery class" has the verb `joined` and the object `a pottery class`.

A clause counts if the speaker states it about themselves or their group. Questions, suppositions, wishes and plans do not count.
The verbs are the list `doing`. The object follows the verb: at most eight English words or twelve Han characters.
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
    """Something that the speaker does or likes."""

    what: str
    """The object, as written."""
    told: str
    """The verb and the object."""


@cache
def verbs() -> frozenset[str]:
    """The verbs in their first form. None of them is an object."""
    return frozenset(row[language][0] for row in rows("doing") for language in ("english", "chinese") if row[language])


def doings(text: str) -> Iterator[Doing]:
    """Activities and likings of the speaker of a text, in order."""
    for sentence in sentences(text[:MOST_READ].translate(_APOSTROPHES)):
        for clause in _CLAUSES.split(sentence):
            if not _UNREAL.search(clause):
                for form in (_ENGLISH, _CHINESE):
                    yield from (Doing(found["what"].strip(), found["doing"].strip()) for found in form.finditer(clause))
