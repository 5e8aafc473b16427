"""Characters that show nothing, or change what other characters show: one table for all who must not be deceived by them.

Controls (C0, C1), formats (zero-width, bidirectional, tags, soft hyphen, annotation marks) and what Unicode calls default
ignorable (variation selectors, Hangul fillers, the combining grapheme joiner), with the blank signs that it leaves out.
"""

from __future__ import annotations

import re
import unicodedata

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


def without_invisible(text: str) -> str:
    """The text without the characters that show nothing. Controls are left."""
    return text if text.isascii() else INVISIBLE.sub("", text)


def named(character: str) -> str:
    """How an error names a character that cannot be shown: `U+200B ZERO WIDTH SPACE`."""
    name = unicodedata.name(character, "") or ("a control character" if unicodedata.category(character) == "Cc" else "")
    return f"U+{ord(character):04X} {name}".rstrip()
