"""What an event states, in a form that two texts share when they say the same letter by letter. Pure, linear in time.

`normalised` takes the letters of a text (`normal_letters`), then its signs, then its white space:

- **Signs at the ends of words go**: stops, commas, quotes, brackets, dashes, marks of emphasis. Within a word they stay (3.5,
  1,000, don't, e-mail, 9:30), and between digits nothing changes. So does what a word begins or ends with and means something
  by: .NET, -5, ~5, C++, C#, A-, A*, 50%, $5, !=. Han characters and kana are words by themselves: signs beside them go.
- **A question mark stays**, wherever it stands, once: whether he moved is another statement than that he did.
- **White space goes**, but between two numbers: 主 人 is 主人, `To kyo` is `Tokyo`, 3 5 is not 35.
- **Emoji stay**: 👍 and 👎 are all that tells two texts apart. How they are coloured does not.
- A text of nothing but such signs is those signs.

It is a key and is never shown; docs/explanation/trust.md summarises which texts are the same statement. A change raises
`STATEMENT_RULES` (tests/golden/test_statement_figures.py).
"""

from __future__ import annotations

from engramlog_server.events.catalogue import (
    EventData,
    FactAsserted,
    MemoryCreated,
    MemoryMerged,
    MemoryRevised,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.envelope import AnyEvent
from engramlog_server.events.statement_digests import LEAST_SECRET, digest, written
from engramlog_server.projections.language.normal_letters import composed, letters, small_ascii
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.said_on import without_day
from engramlog_server.projections.language.statement_signs import closed_up, closed_up_ascii

STATEMENT_RULES = 1
"""Version of everything that decides bytes of a statement; written beside its digest. 1 to 255."""
TEXT = b"t"
TRIPLE = b"f"
_BETWEEN = "\x1f"
"""Between the parts of a triple; no normal form holds a control."""

_QUESTIONS = regex(r"\?{2,}")


def normalised(text: str) -> str:
    """What a text has in common with others that say the same letter by letter; the same for a text and its normal form.

    Any text; empty only where it shows nothing at all. Times grow with its length.
    """
    told = closed_up_ascii(small_ascii(text)) if text.isascii() else None
    if told is None:
        told = closed_up(letters(text))
    if "??" in told:
        told = _QUESTIONS.sub("?", told)
    if not told.isascii():
        told = composed(told)
    return told or letters(text).replace(" ", "")


def statements_of(event: AnyEvent) -> tuple[bytes, ...]:
    """What an event states, each ready to be keyed: the content of a created or revised memory, the summary of a merge, a triple.

    At most `events.statement_digests.MOST_STATEMENTS`, in that order; none for every other event. A tag byte tells a text from a
    triple. A triple's degree is no part of what it states; its negation and its condition are.
    """
    return statements_in(event.data)


def statements_in(data: EventData) -> tuple[bytes, ...]:
    """The same of the data of an event."""
    if isinstance(data, MemoryCreated | MemoryRevised):
        return (statement(data.content),)
    if isinstance(data, MemoryMerged):
        return (statement(data.summary),)
    if isinstance(data, FactAsserted):
        parts = (data.subject, data.predicate, data.object, data.condition or "")
        told = _BETWEEN.join(["-" if data.negation else "+", *map(normalised, parts)])
        return (TRIPLE + told.encode("utf-8", "surrogatepass"),)
    return ()


def statement_field(data: EventData, secret: bytes) -> bytes:
    """What an entry of this event holds of its statements; empty without the owner's secret."""
    if len(secret) < LEAST_SECRET:
        return b""
    return written(STATEMENT_RULES, [digest(secret, one) for one in statements_in(data)])


def values_of(event: AnyEvent) -> tuple[bytes, ...]:
    """The digests that an event names by itself: those of the values that it rejects or readmits."""
    data = event.data
    named = data.values if isinstance(data, ValueRejected | ValueReadmitted) else ()
    return tuple(bytes.fromhex(one) for one in named)


def statement(text: str) -> bytes:
    """What a text says on whatever day, ready to be keyed."""
    return TEXT + normalised(without_day(text)).encode("utf-8", "surrogatepass")
