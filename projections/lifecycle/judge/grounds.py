"""What a model's proposal rests on: whether words were said, and whether somebody took something back. Pure, and no model's word.

A model may be wrong, or be talked into something by what it reads. So nothing it proposes is done that the turns themselves
do not bear out: its quotation must stand in a turn, its names and most of its words too. Numbers: `grounds_numbers`; what the
quoted sentence does: `grounds_turn`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.text import kept_tokens
from engramlog_server.projections.language.times.names import MONTHS

LEAST_SHARE = 0.5
"""Of the words of a content that must have been said."""
LEAST_QUOTED = 2
"""Letters and digits of a quotation."""
_NOT_LETTERS = regex(r"[\W_]+")
_ABOUT = frozenset(("user", "said", "on", "year", "old", "用户", "说", "用", "户", "岁")) | {
    token for month in MONTHS for token in kept_tokens(month)
}
"""Words of a content that need not have been said."""
_YES = regex(
    r"\s*(?:(?:yes|yeah|yep|yup|right|exactly|correct|sure|indeed|absolutely|definitely|true|that's (?:it|right)|of course)\b"
    r"|i (?:do|am|have|did|was)\b(?! not|n't)|(?:是|对(?!不起)|嗯|没错|当然|的确|确实))",
    re.IGNORECASE,
)
_NO = regex(r"\s*(?:no\b|nope\b|not |i (?:don't|haven't|didn't|am not)|不|没|对不起)", re.IGNORECASE)
_CAPITAL = regex(r"(?<=[^\s.!?:] )(?!I\b)[A-Z][\w'’-]*")
"""A name, inside a sentence."""


def plain(text: str) -> str:
    """Letters and digits only, compatibility forms and case folded: how quotations are compared."""
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_quoted(quote: str, text: str) -> bool:
    """Whether the words stand in the text, white space, punctuation and case aside."""
    wanted = plain(quote)
    return len(wanted) >= LEAST_QUOTED and wanted in plain(text)


def unsaid(
    content: str, by: str, said: Iterable[str], name: str | None = None, *, known: str = "", named: Iterable[str] = ()
) -> str | None:
    """What speaks against a content as drawn from these texts: a name that nobody said, or mostly other words; None if nothing.

    Numbers and dates aside (`grounds_numbers`). `by`: the message that is quoted, of which something must be in the content,
    unless it only says yes. `said`: what people said around it; `named`: texts that names may stand in too. The name of who
    speaks, months, and what is `known` need not have been said.
    """
    heard = " ".join(said)
    free = _ABOUT | set(kept_tokens(f"{name or ''} {known}"))
    words = {word for word in kept_tokens(content) if word not in free and not word[0].isdecimal()}
    if not words:
        return None if known else "it says nothing"
    told, named_there = set(kept_tokens(f"{heard} {by}")), set(kept_tokens(" ".join(named)))
    for one in _CAPITAL.findall(content):
        if not set(kept_tokens(one)) <= told | free | named_there:
            return f"nobody said {one}"
    if len(words & told) < LEAST_SHARE * len(words):
        return "mostly words that nobody said"
    own = words.isdisjoint(kept_tokens(by)) and not answers(by)
    return "it has no word of the message that it quotes" if own else None


def answers(text: str) -> int:
    """1 where a message says yes, -1 where it says no: then what it says stands in the message before it; else 0."""
    return 1 if _YES.match(text) is not None else -1 if _NO.match(text) is not None else 0


def shares_words(known: str, told: str, name: str | None = None, besides: str = "") -> bool:
    """Whether a text shares a word with what is known, names and function words aside, that `besides` has not."""
    free = _ABOUT | set(kept_tokens(name or "")) | set(kept_tokens(besides))
    return not (set(kept_tokens(known)) & set(kept_tokens(told))) <= free


def said_of(known: str, told: str, name: str | None = None) -> float:
    """Share of the words of what is known, names aside, that a text has; in [0, 1]."""
    words = set(kept_tokens(known)) - _ABOUT - set(kept_tokens(name or ""))
    return len(words & set(kept_tokens(told))) / max(1, len(words))
