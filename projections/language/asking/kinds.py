"""What kind of thing a text asks for, by its question words: a place, a time, a reason. Pure; English and Chinese."""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.traditional import SIMPLIFIED

READ = 4_000
"""Characters of a text that are read."""
_STOPS = regex(r"([.!?。！？\n])")
_SIGNS = (
    r"\bwh(?:at|ich)\b|什么(?!时[候间]|地方)|哪(?![里儿天年月日]|一[天年月日])",
    r"\bwhere\b|哪[里儿]|什么地方",
    r"\bwhen\b|什么时[候间]|何时|哪一?[天年月日]|(?<![这那十好])几[点号月]",
    r"\bwhy\b|为什么|为何|为啥",
    r"\bwho(?:se|m)?\b|谁",
    r"\bhow\b(?! (?:long|many|much|often)\b)|怎[么样]|如何",
    r"\bhow long\b|多久(?!一次)|多长|(?<![前这那过十好])几[天年周]",
    r"\bhow many\b|多少(?!钱)|几(?=[个位只条本件家种岁])",
    r"\bhow much\b|多少钱|几块",
    r"\bhow often\b|几次|多少次|多久一次",
)
_KINDS = tuple(regex(sign) for sign in _SIGNS)
MOST_KINDS = 3
"""A turn that asks for more kinds asks for none: whoever lists them all would lift his neighbour for every question."""
ASKS_NOTHING = 0


def kinds_of(question: str) -> int:
    """The kinds of things that a case-folded question asks for, as bits; `ASKS_NOTHING` where no word tells one."""
    read = question[:READ]
    if not read.isascii():
        read = read.translate(SIMPLIFIED).replace("为什么", "为何")
    return sum(1 << bit for bit, sign in enumerate(_KINDS) if sign.search(read))


def kinds_asked(turn: str) -> int:
    """The same of those sentences of a turn that end in a question mark; `ASKS_NOTHING` of more than `MOST_KINDS`."""
    pieces = _STOPS.split(turn[:READ])
    asking = [said for said, stop in zip(pieces[::2], pieces[1::2], strict=False) if stop in "?？"]
    kinds = kinds_of("\n".join(asking).casefold()) if asking else ASKS_NOTHING
    return kinds if kinds.bit_count() <= MOST_KINDS else ASKS_NOTHING
