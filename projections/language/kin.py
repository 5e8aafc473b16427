"""Who is a relative, in both languages: views of one list, `lexicon/kin.tsv`."""

from __future__ import annotations

from functools import cache

from engramlog_server.projections.language.lexicon import either, either_at_once, words


@cache
def english() -> str:
    """English kin words, singular and plural, as alternatives of a regular expression; no word boundary at either end."""
    return f"(?:{either(words_english())})"


@cache
def words_english() -> tuple[str, ...]:
    """Every English kin word with its plural; what ends in s has none of its own."""
    forms = ((word, word if word.endswith("s") else f"{word}s") for word in words("kin", "english"))
    return tuple(dict.fromkeys(form for pair in forms for form in pair))


@cache
def chinese() -> str:
    """Chinese kin words as alternatives of a regular expression."""
    return either_at_once(words("kin", "chinese"))
