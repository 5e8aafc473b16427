"""What somebody else says a question may also be put as, cleaned: terms to look for, and nothing else. English and Chinese. Pure.

Whoever says it is not believed. A term is a few words on one line. What is longer, marked up, an address, a secret, has a number
that the question has not, or says nothing new, is left out: the worst that is left is a search for something else.
"""

from __future__ import annotations

from collections.abc import Iterable

from events.text.invisible import without_hidden
from projections.language.asked_words import asked_words, says_something
from projections.language.patterns import regex
from projections.language.scripts import count_of_han
from projections.language.sensitivity.text_level import SENSITIVE, detect_sensitivity

MOST_EXPANSIONS = 3
"""Terms of one question: each is a search of its own."""
MOST_LETTERS, MOST_HAN, MOST_WORDS = 80, 30, 12
"""Of a term: characters, Han characters among them, and words."""
MOST_LOOKED_AT = 20
"""Terms of an answer that are looked at."""

_MARKED = regex(r"[<>{}\[\]`|\\^~*_=@]|://|\bwww\.", 2)
"""What no words to look for hold: marks of markup, of templates, of code; addresses."""
_HOST = regex(r"\w[.\uff0e\uff61][^\W\d_]{2}|\d[.\uff0e\uff61]\d+[.\uff0e\uff61]\d|[a-z0-9-]\u3002[a-z]{2}", 2)
"""A name of a host, also by the full stops that browsers take for a dot; an address in numbers."""
_NUMBER = regex(r"\d+")


def cleaned(said: Iterable[str], query: str) -> tuple[str, ...]:
    """Those of these terms by which a question may be widened, in their order, each once, three at most."""
    asked, found = asked_words(query), dict[frozenset[str], str]()
    for number, text in enumerate(said):
        if number == MOST_LOOKED_AT or len(found) == MOST_EXPANSIONS:
            break
        term = _one_term(text)
        words = asked_words(term) if term else frozenset[str]()
        if not words - asked or words in found or detect_sensitivity(term) >= SENSITIVE:
            continue
        if set(_NUMBER.findall(term)) <= set(_NUMBER.findall(query)):
            found[words] = term
    return tuple(found.values())


def _one_term(text: str) -> str:
    """A term on one line; empty where it is none."""
    if len(text) > 2 * MOST_LETTERS:
        return ""
    seen = without_hidden(text)
    term = " ".join("".join(one if one.isprintable() else " " for one in seen).split())
    if len(term) > MOST_LETTERS or count_of_han(term) > MOST_HAN or len(term.split()) > MOST_WORDS:
        return ""
    return term if says_something(term) and not (_MARKED.search(term) or _HOST.search(term)) else ""
