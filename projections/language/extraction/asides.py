"""What English says by the way, in a clause that states or asks something else.

"How can I convince my boss, Greg?" tells what his boss is called, and
"I'm nervous about my upcoming trip to Rome on May 3" that there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from projections.language import kin
from projections.language.extraction.english import english_statement
from projections.language.extraction.english_clauses import ASKS
from projections.language.extraction.english_shapes import PEOPLE
from projections.language.extraction.english_words import DAY, pets, workers
from projections.language.extraction.shape import Clause, ExtractedStatement, TurnText
from projections.language.patterns import regex
from projections.language.times.names import MONTHS, WEEKDAYS

MOST = 3
"""Of one clause."""
_NAMED = regex(
    lambda: (
        rf"\b[Mm]y (?P<who>(?:(?!name\b)[\w-]+ )?(?:{kin.english()}|{pets()}|{PEOPLE}|{workers()})(?<![a-rt-z]s)),?"
        rf" (?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
        r"(?=$|[ ,.!?;)])(?!, [A-Z])"
    )
)
_COMING = regex(
    rf"\bmy (?P<what>upcoming (?:[\w'&-]+ ){{1,6}}?(?:to|with|at|on|in|for) [^,;]*?{DAY}\w*)", re.IGNORECASE
)
_NO_NAME = frozenset(
    {*MONTHS, *WEEKDAYS, "i", "christmas", "easter", "just", "and", "but", "so", "english", "french", "chinese"}
)
_OPEN = regex(
    r"\b(?:if|unless|suppose|supposing|imagine|pretend|assuming|say|novel|story|character|dream|would|not|no longer"
    r"|cancel\w*|called off|postponed)\b|n't\b|[\"“”«]",
    re.IGNORECASE,
)


def asides(clause: Clause, turn: TurnText, stated: ExtractedStatement | None) -> Iterator[ExtractedStatement]:
    """What a clause takes for granted of its speaker's people and dates, where what it states does not tell it."""
    said = clause.text.replace("’", "'")
    asks = clause.question and ASKS.match(said.strip(" ,-–—")) is not None
    if not (clause.asserted or asks) or _OPEN.search(said):
        return
    told = "" if stated is None or not stated.asserted else stated.content
    for found in list(_NAMED.finditer(said))[:MOST]:
        if found["name"] not in told and not _NO_NAME & {one.casefold() for one in found["name"].split()}:
            yield from _read(clause, turn, f"My {found['who']} is called {found['name']}")
    coming = _COMING.search(said)
    if coming is not None and coming["what"] not in told:
        yield from _read(clause, turn, f"I have an {coming['what']}")


def _read(clause: Clause, turn: TurnText, said: str) -> Iterator[ExtractedStatement]:
    plain = clause._replace(text=re.sub(r"\s+", " ", said), asserted=True, question=False, before="", after="")
    made = english_statement(plain, turn)
    if made is not None and made.asserted:
        yield made
