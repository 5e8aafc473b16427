"""A question taken apart: what it asks besides, what it compares, whether many things answer it. English and Chinese. Pure.

Every pattern takes time proportional to the text, and only the last `LONGEST` characters are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from engramlog_server.projections.language.asked_words import says_something
from engramlog_server.projections.language.asking.comparing import compared
from engramlog_server.projections.language.extractive import sentences
from engramlog_server.projections.language.patterns import regex

LONGEST = 1_000
"""Characters of a question that are read: of a longer one its last, where people ask."""
MOST_PARTS = 5
Way = Literal["one", "several", "compared"]

_ASKING = regex(
    r"[?？][\"'”’」』)）\s]*$|^\s*(?:also[, ]+|and[, ]+|please[, ]+)*(?:what|when|where|who|whom|whose|which|why|how|did|does|do"
    r"|is|are|was|were|has|have|had|can|could|will|would|tell|list|name|give|describe|remind|summari[sz]e"
    r"|compare|show)\b|什么|哪|谁|怎么|怎样|如何|为什么|几[个次种岁点]|多少|多久|是不是|有没有|吗|列出|列举|告诉|说说|讲讲|总结|比较",
    2,
)
_AND_ALSO = regex(
    r"[,;]?\s+(?:and|but|or)\s+also[, ]\s*|[,;]\s*also[, ]\s*|[,;]?\s+as\s+well\s+as\s+|[,;]?\s+and\s+besides[, ]\s*"
    r"|[,;]?\s+and\s+(?=(?:what|when|where|who|whom|whose|which|why|how|did|does|do|is|are|was|were|has|have|had|can|could"
    r"|will|would)\b)|[，,；;、\s]\s*(?:还有|并且|而且|同时|顺便(?:问一?下|说一?下)?)[，,：:]?|[，,；;]?(?:另外|此外|以及)[，,：:]?",
    2,
)
_NUMBER = r"(?:\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|a dozen|a few)"
_SO_MANY = regex(
    r"^\s*(?:please )?(?:mention|list|name|give|tell|show|include)(?: me| us)? (?:only|just|exactly|no more than|at most|up to)\b"
    rf"(?: (?:and|only|just|exactly|the|your|top|first|last|best|most|at)){{0,4}} {_NUMBER}(?: (?!i\b)\w+){{0,2}}\W*$"
    r"|^请?(?:只|仅|最多|正好)[能要需]?[列说提给讲写][出到]?.{0,3}[\d一二两三四五六七八九十几].{0,3}[项个条点件][^\w]*$",
    2,
)
"""A sentence that says how many things to name, and asks for none itself."""
_MANY = regex(
    r"\bhow (?:many|often)\b|\b(?:list|enumerate|name)\b(?= (?:all|every|the|my|his|her|their|each|some))"
    r"|\ball (?:the|of|my|his|her|their)\b"
    r"|\bevery(?: time| one|thing)\b|\bin (?:\w+ )?order\b|\bthe order in which\b|\bsummar|\boverview\b|\bchronolog|\btimeline\b"
    r"|\b(?:what|which) (?:kinds?|types?|sorts?) of\b|\bdifferent\b"
    r"|\b(?:what|which) (?:\w+ ){0,2}\w{2,}s (?:have|has|had|did|do|does|are|were|is|was)\b"
    r"|有(?:过)?几|[几多][少]?[次个种件家本]|列出|列举|所有|全部|哪些|都(?:有|去|做|买|看|吃|学)[过了]?(?:什么|哪|谁)|按.{0,4}(?:时间|顺序|先后)|依次|先后|总结|概括|每[次个]|分别",
    2,
)
_ORDERED = regex(
    r"\bin (?:\w+ )?order\b|\bthe order in which\b|\bchronolog|\btimeline\b|\bover time\b"
    r"|按.{0,4}(?:时间|顺序|先后)|依次|先后|顺序",
    2,
)


class AskedParts(NamedTuple):
    """How a question is taken apart."""

    way: Way
    parts: tuple[str, ...]
    """What is asked by itself, in the question's order, two to five; empty where the way is `one`."""
    many: bool
    """Whether several things answer it together: how many, list all, what kinds of."""
    ordered: bool
    """Whether they are asked for in the order of time."""


def asked_parts(text: str) -> AskedParts:
    """The parts of a question: of several that it asks one each, of what it compares one for each thing."""
    told = text[-LONGEST:].strip()
    many, ordered = _MANY.search(told) is not None, _ORDERED.search(told) is not None
    said = [one for one in sentences(told) if not _SO_MANY.search(one)]
    asking = [one for one in said if _ASKING.search(one)]
    if len(asking) == 1 and (things := _kept(compared(asking[0]))):
        return AskedParts("compared", things, many, ordered)
    if 2 * len(asking) >= len(said) and (
        parts := _kept(part for one in asking for part in _AND_ALSO.split(one) if part)
    ):
        return AskedParts("several", parts, many, ordered)
    return AskedParts("one", (), many, ordered)


def asks(text: str) -> bool:
    """Whether a turn asks for something, by a mark or by its words."""
    return any(_ASKING.search(one) for one in sentences(text[-LONGEST:]))


def _kept(parts: Iterable[str]) -> tuple[str, ...]:
    """Those that say something, each once, five at most; none where that leaves no two."""
    told = (" ".join(part.split()).strip(" ,;，；、") for part in parts)
    found = dict.fromkeys(one for one in told if says_something(one))
    return tuple(found)[:MOST_PARTS] if len(found) > 1 else ()
