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

import unicodedata

from engramlog_server.events.catalogue import (
    EventData,
    FactAsserted,
    MemoryCreated,
    MemoryMerged,
    MemoryRevised,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.entry import LEAST_SECRET, digest, written
from engramlog_server.events.envelope import AnyEvent
from engramlog_server.projections.language.normal_letters import composed, letters
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import WORDS_BY_THEMSELVES
from engramlog_server.projections.language.sentences import without_day

STATEMENT_RULES = 1
"""Version of everything that decides bytes of a statement; written beside its digest. 1 to 255."""
TEXT = b"t"
TRIPLE = b"f"
_BETWEEN = "\x1f"
"""Between the parts of a triple, and for a while between two numbers; no normal form holds a control."""

_QUESTIONS = regex(r"\?{2,}")


def normalised(text: str) -> str:
    """What a text has in common with others that say the same letter by letter; the same for a text and its normal form.

    Any text; empty only where it shows nothing at all. Times grow with its length.
    """
    told = closed_up(letters(text))
    if "??" in told:
        told = _QUESTIONS.sub("?", told)
    if not told.isascii():
        told = composed(told)
    return told or letters(text).replace(" ", "")


def statements_of(event: AnyEvent) -> tuple[bytes, ...]:
    """What an event states, each ready to be keyed: the content of a created or revised memory, the summary of a merge, a triple.

    At most `events.entry.MOST_STATEMENTS`, in that order; none for every other event. A tag byte tells a text from a
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


# Which signs stay, and the spaces between numbers.
_SOFT = (
    "!\"'()*,\\-.:;\\[\\]_{}~"
    "\u00a1\u00ab\u00b7\u00bb\u00bf\u055b-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u060c\u060d\u061b\u061d\u061e"
    "\u066d\u06d4\u0700-\u070d\u0964\u0965\u0970\u0df4\u0e4f\u0e5a\u0e5b\u0f04-\u0f0b\u0f0d-\u0f12\u0f14\u0f3a-\u0f3d\u104a-\u104f"
    "\u10fb\u1360-\u1368\u1400\u166e\u17d4-\u17d6\u17d8-\u17da\u1800-\u180a\u2010\u2012-\u2016\u2018-\u201f\u2022\u2023\u2027"
    "\u2032\u2035\u2038-\u203a\u203f-\u2041\u2043\u2045\u2046\u204b-\u2051\u2053-\u2056\u2058-\u205e\u2219\u22c5\u2308-\u230b"
    "\u25cf\u25e6\u2768-\u2775\u27e6-\u27ef\u2983-\u2998\u2e00-\u2e2d\u2e30-\u2e52\u3001-\u3003\u3008-\u3011\u3014-\u301f\u3030"
    "\u303d\u30a0\u30fb\ua4fe\ua4ff\ua60d-\ua60f\ua92e\ua92f\ufd3e\ufd3f\ufe45\ufe46"
)
_BY_ITSELF = regex(f"[{WORDS_BY_THEMSELVES}]")
"""A character that is a word by itself: Han, kana, bopomofo."""
_NEVER_WITHIN = frozenset(",;!\u3001\u3002\u060c\u061b\u06d4\u0964")
_ENDS = _NEVER_WITHIN | {" "}
_MEANT_BEHIND = {"-": "\u2296", "*": "\u2217"}
"""What stands behind one or two letters and makes them another word, as it is kept: A-, A*, O-, Rh-."""
_SHORT_WORD = regex(rf"(?:^|[^a-z{WORDS_BY_THEMSELVES}]|[{WORDS_BY_THEMSELVES}])[a-z]{{1,2}}\Z")
RUN = regex(f"([{_SOFT}][{_SOFT} ]*)")
_APART = regex(r" (?<=[0-9.,~-] )(?=[0-9.,~-])")  # the space first: it is looked for at the speed of a literal


def closed_up(plain: str) -> str:
    """The letters of a text with the signs that stay, and without spaces but one between two numbers. `plain`: single spaces."""
    told = signed(plain).replace("  ", " ").strip()  # at most two stand together
    return _APART.sub(_BETWEEN, told).replace(" ", "").replace(_BETWEEN, " ")


def signed(plain: str) -> str:
    """The letters of a text with those of its signs that stay; spaces are not counted yet."""
    parts, led_by = RUN.split(plain), ""
    for at in range(1, len(parts), 2):
        run, after = parts[at], parts[at + 1][:1]
        if run[0] not in _MEANT_BEHIND and (not after or (run[-1] in _ENDS and after != "=" and not after.isdigit())):
            parts[at] = " "  # nearly all: a stop or a comma between two words, without asking more
        else:
            parts[at] = _kept((led_by + parts[at - 1])[-3:], run, after)
        led_by = run[-1]
    return "".join(parts)


def _kept(behind: str, run: str, after: str) -> str:
    """What stays of a run of signs and the spaces in it, a space where nothing does; `behind`: up to three characters before it."""
    before = behind[-1:]
    sign = run.rstrip()
    number = after.isdigit() and behind[-2:].rstrip()[-1:].isdigit()
    if number and (sign == "-" or (before != " " and " " not in run)):
        return run
    within = len(run) == 1 and _is_joined(before)
    if within and _is_joined(after):
        return " " if run in _NEVER_WITHIN else run
    if within and run == ":" and after and after in "/\\":
        return run
    led = _led(run, after) if after else " "
    if led == " " and sign in _MEANT_BEHIND and _stands_behind(behind, sign):
        return _MEANT_BEHIND[sign]
    return led


def _is_joined(character: str) -> bool:
    """Whether a character is part of a word that a sign can stand within."""
    if character.isascii():
        return character.isalnum()
    return not _BY_ITSELF.match(character) and (character.isalnum() or unicodedata.category(character)[0] == "M")


def _stands_behind(end: str, sign: str) -> bool:
    """Whether a text ends with a word of one or two letters, and the sign before it is not the same: `*I*` is emphasis."""
    word = _SHORT_WORD.search(end)
    return word is not None and word[0][0] != sign


def _led(run: str, after: str) -> str:
    """What stays of a run before a word: the sign that the word begins with."""
    sign = run[-1]
    if run[-2:-1] == sign:
        return " "
    number = after.isdigit() or unicodedata.category(after) == "Sc"
    if sign == ".":
        return " -." if number and run[-2:-1] == "-" else " ." if _is_joined(after) else " "
    meant = number if sign == "-" else (number or after == "/") if sign == "~" else sign == "!" and after == "="
    return f" {sign}" if meant else " "
