"""Characters that show nothing, or change what other characters show: one table for all who must not be deceived by them.

Controls (C0, C1), formats (zero-width, bidirectional, tags, soft hyphen, annotation marks) and what Unicode calls default
ignorable (variation selectors, Hangul fillers, the combining grapheme joiner), with the blank signs that it leaves out.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator

_BLANK_TEXT = (
    # Default_Ignorable_Code_Point (Unicode 16, DerivedCoreProperties.txt), assigned or not
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    # other formats, blank signs and separators of lines
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u2028\u2029\u2800\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U00016fe4\U0001d159"
)
_CONTROL_TEXT = "\x00-\x1f\x7f-\x9f"

INVISIBLE = re.compile(f"[{_BLANK_TEXT}]")
"""One character that shows nothing; a line break or any other control is none of these."""
HIDDEN = re.compile(f"[{_BLANK_TEXT}{_CONTROL_TEXT}]")
"""One invisible character or control, line breaks and tabs among them."""
VISIBLE = re.compile(rf"[^\s{_BLANK_TEXT}{_CONTROL_TEXT}]")
"""One character that shows something."""


_OBEYED_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""What of JSON a terminal would obey or hide; controls below a space JSON escapes by itself."""


def shown_json(document: str) -> str:
    """JSON that reads back exactly, with what a terminal would obey or hide written as `\\u`. Chinese stays readable."""
    if document.isascii() and "\x7f" not in document:
        return document
    return _OBEYED_JSON.sub(lambda found: json.dumps(found[0])[1:-1], document)


EMOJI_SHOWN = "\ufe0f"
"""The variation selector that asks for a coloured emoji: after one it is part of what is seen."""
_JOINERS = "\u200c\u200d"
_KEYCAPS = "0123456789#*"


def hidden_in(text: str) -> Iterator[re.Match[str]]:
    """Each character of a text that shows nothing or is a control, where it does not belong to what is seen beside it.

    An emoji's variation selector belongs there, and so do the joiners of emoji and of words in scripts other than Latin.
    """
    return (found for found in HIDDEN.finditer(text) if not _belongs(text, found.start()))


def with_hidden_as(text: str, shown: Callable[[str], str], kept: str = "\n\t") -> str:
    """The text with each character that `hidden_in` finds shown otherwise, but for those that are kept."""
    if text.isascii() and text.isprintable():
        return text
    parts, end = [], 0
    for found in hidden_in(text):
        if found[0] not in kept:
            parts += [text[end : found.start()], shown(found[0])]
            end = found.end()
    return "".join([*parts, text[end:]])


def _belongs(text: str, at: int) -> bool:
    character, before = text[at], text[at - 1 : at]
    if character == EMOJI_SHOWN:
        return is_emoji_base(before, text[at + 1 : at + 2])
    if character in _JOINERS:
        after = text[at + 1 : at + 2]
        return _is_joined(before) and _is_joined(after)
    return False


def is_emoji_base(character: str, after: str = "") -> bool:
    """Whether a variation selector after the character asks for a coloured emoji: a symbol, or a keycap's digit."""
    if character and character in _KEYCAPS:
        return after == "\u20e3"
    return bool(character) and (
        character in "\u203c\u2049\u3030\u303d" or unicodedata.category(character) in ("So", "Sm", "Sk")
    )


def _is_joined(character: str) -> bool:
    return (
        bool(character)
        and not character.isascii()
        and (character == EMOJI_SHOWN or unicodedata.category(character)[0] in "LMS")
    )


def without_hidden(text: str, *, lines: bool = False) -> str:
    """The text without what shows nothing; each control and line break is a space, or a line break where `lines` are kept.

    An emoji keeps its variation selector, nothing keeps its joiners: what is left cannot say anything that is not seen.
    """
    if text.isascii() and text.isprintable():
        return text

    def shown(found: re.Match[str]) -> str:
        character, at = found[0], found.start()
        if character == EMOJI_SHOWN and is_emoji_base(text[at - 1 : at], text[at + 1 : at + 2]):
            return character
        if lines and character in "\n\t":
            return character
        return " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else ""

    return HIDDEN.sub(shown, text)


def named(character: str) -> str:
    """How an error names a character that cannot be shown: `U+200B ZERO WIDTH SPACE`."""
    name = unicodedata.name(character, "") or ("a control character" if unicodedata.category(character) == "Cc" else "")
    return f"U+{ord(character):04X} {name}".rstrip()


def spelled(character: str) -> str:
    """How a text that is looked at names a character: `\\x1b`, `\\u202e`."""
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
