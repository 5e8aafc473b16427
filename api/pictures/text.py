"""What pictures write: texts made safe to look at, how wide they are at the most, and how they are cut and broken into lines.

The letters are drawn by whoever looks, with fonts that nobody here knows. So widths are estimates that err on the wide side: each
is that of the widest of the fonts that are common on desktops and servers.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import accumulate, takewhile

from engramlog_server.events.text import spelled, with_hidden_as

ELLIPSIS = "…"
BOLD = 1.2
"""How much wider bold letters are at the most."""
UNKNOWN = 1.4
"""Width of a character of which nothing is known, in ems."""
MOST_MARKS = 3
"""Combining marks on one letter: more would run into the lines above and below."""

_EMS = {
    "'ijlI|": 0.32,
    " !,.:;/\\-()[]f": 0.41,
    'rt*"J`_': 0.62,
    "csz?FL": 0.64,
    "abdeghknopquvxy0123456789$#{}~^+<>=ETPZSYVXKBR": 0.7,
    "ACDGHNOQU&": 0.8,
    "wWMm@%": 1.03,
}
_ASCII = {character: ems for characters, ems in _EMS.items() for character in characters} | dict.fromkeys(
    "#~^+<>=", 0.85
)
_AT_A_CUT = " \u200c\u200d\ufe0f"
"""Joiners, which would show nothing where what they join is cut apart, and so be spelled out."""
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_COMBINING = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_MARKS = re.compile(f"([{_COMBINING}]{{{MOST_MARKS}}})[{_COMBINING}]+")


def shown(text: str, kept: str = "") -> str:
    """A text as a picture writes it: on one line, each control and each character that shows nothing spelled out (`\\u202e`).

    `kept`: controls that stay as they are, line breaks of a title that pops up.
    """
    joined = text if kept else " ".join(text.split())
    visible = with_hidden_as(joined, spelled, kept=kept)
    return _MARKS.sub(r"\1", xml(visible))


def xml(text: str) -> str:
    """A text as XML can hold it: what it forbids is spelled out."""
    return _NO_XML.sub(lambda found: spelled(found[0]), text)


def width(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a text is at the most, in the unit of `size`, whatever font draws it."""
    ems = sum(map(_ems, text))
    return ems * size * (BOLD if bold else 1.0)


def is_measured(text: str) -> bool:
    """Whether the widths of all its characters are known; of others the picture says how wide they are to be drawn."""
    return all(_known(char) for char in text)


@cache
def _ems(char: str) -> float:
    if char in _ASCII:
        return _ASCII[char]
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0.0
    if not _known(char):
        return UNKNOWN
    base = unicodedata.normalize("NFD", char)[0]
    if base in _ASCII:
        return _ASCII[base] + 0.05
    return 1.02 if unicodedata.east_asian_width(char) in "WF" or ord(char) > 0x530 else UNKNOWN


@cache
def _known(char: str) -> bool:
    """ASCII, Latin, Greek, Cyrillic, usual punctuation, and what East Asian fonts draw in a square."""
    point = ord(char)
    if point < 0x530 or 0x1E00 <= point < 0x1F00 or 0x2010 <= point <= 0x2030:
        return True
    return unicodedata.east_asian_width(char) in "WF" and unicodedata.category(char) in (
        "Lo",
        "Lm",
        "Po",
        "Ps",
        "Pe",
        "Nl",
    )


def cut(text: str, most: float, size: float, *, bold: bool = False) -> str:
    """A text cut to `most` with an ellipsis; "" where not even one character has room beside it. It is made visible first."""
    text = shown(text)
    if width(text, size, bold=bold) <= most:
        return text
    kept = text[: _fitting(text, most - width(ELLIPSIS, size, bold=bold), size, bold=bold)].rstrip(_AT_A_CUT)
    return kept + ELLIPSIS if kept else ""


def broken(text: str, most: float, size: float, lines: int, *, bold: bool = False) -> list[str]:
    """A text in at most so many lines of `most`, broken between words, or anywhere in Chinese; the last is cut.

    It is made visible first.
    """
    told: list[str] = []
    rest = shown(text)
    while rest and len(told) < lines - 1 and width(rest, size, bold=bold) > most:
        end = _break(rest, most, size, bold=bold)
        if not end:
            break
        told.append(rest[:end].rstrip(_AT_A_CUT))
        rest = rest[end:].lstrip(_AT_A_CUT)
    last = cut(rest, most, size, bold=bold)
    return [*told, last] if last else told


def _fitting(text: str, most: float, size: float, *, bold: bool) -> int:
    """How many of the first characters have room."""
    ends = accumulate(width(char, size, bold=bold) for char in text)
    return sum(1 for _ in takewhile(lambda end: end <= most, ends))


def _break(text: str, most: float, size: float, *, bold: bool) -> int:
    """How many characters stand on the first line."""
    end = _fitting(text, most, size, bold=bold)
    for at in range(end, max(end // 2, 0), -1):
        if at < len(text) and (text[at] == " " or text[at - 1] == " " or _breaks(text[at - 1], text[at])):
            return at
    return end


def _breaks(before: str, after: str) -> bool:
    """Whether a line may end between two characters: around a Chinese one, but not before punctuation that closes."""
    wide = unicodedata.east_asian_width(before) in "WF" or unicodedata.east_asian_width(after) in "WF"
    return (
        wide
        and unicodedata.category(after) not in ("Po", "Pe", "Pf")
        and unicodedata.category(before) not in ("Ps", "Pi")
    )
