"""What turns a statement round, in both languages: views of one list, `lexicon/negators.tsv`."""

from __future__ import annotations

from functools import cache

from engramlog_server.projections.language.lexicon import either, rows

NEARLY_IDLE = (
    "不过(?![敏年节生期来去])|(?<![只需])要不|不同(?!意)|[特分区类级性告离个识辨鉴派]别|别[人的墅针致名]|[淹沉出埋]没"
)
"""Idle only beside certain characters: alternatives of a regular expression."""


@cache
def english(*roles: str) -> tuple[str, ...]:
    """The English words of these roles: word, contraction, verb, feeling."""
    return tuple(word for row in rows("negators") if row["role"][0] in roles for word in row["english"])


@cache
def chinese(*roles: str) -> tuple[str, ...]:
    """The Chinese words of these roles: word (single characters), verb, feeling, idle."""
    return tuple(word for row in rows("negators") if row["role"][0] in roles for word in row["chinese"])


def characters(*, but: str = "") -> str:
    """The Chinese negating characters but some, as they stand in a character class."""
    return "".join(one for one in chinese("word") if one not in but)


def idle() -> str:
    """Chinese that looks as if it denied and does not, as alternatives of a regular expression."""
    return f"{either(chinese('idle'))}|{NEARLY_IDLE}"
