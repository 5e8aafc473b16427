"""Traditional Han characters as simplified ones, one for one, so that one set of rules reads both.

The pairs are in `lexicon/traditional.tsv`. They serve recognition only: what is shown, kept or searched stays as it was written.
Words that differ (`軟體`, `软件`) are not translated.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from engramlog_server.projections.language.lexicon import rows


@cache
def characters() -> dict[int, str]:
    """Code point of a traditional character -> the simplified character: a table for `str.translate`."""
    return {
        ord(traditional): simplified
        for row in rows("traditional")
        for traditional, simplified in zip(row["chinese"][0], row["simplified"][0], strict=True)
    }


def simplified(text: str) -> str:
    """A text with its traditional characters simplified."""
    return text.translate(characters())


def part_folded(text: str) -> str:
    """A text as parts of it are looked for: whatever its case, the width of its letters, and how its Han characters are written."""
    if text.isascii():
        return text.lower()
    even = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return even if even.isascii() else simplified(even)
