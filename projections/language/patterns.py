"""Regular expressions that are compiled at first use, and the character classes of scripts that they are made of.

The rules of both languages are some 600 expressions, and compiling them takes 0.3 s of CPU: a process that reads no text pays for
none. The classes are pieces that stand between [ and ]. Han has two extents, for two purposes:

- `HAN`: every Han character there is. Whatever reads a text reads by it.
- `HAN_BLOCK`: the block of unified ideographs alone. The rules of sensitivity read by it; levels are decided when an event is
  accepted and stored beside it, so a wider range would be other rules.

`WORDS_BY_THEMSELVES` and `FROM_KANA_TO_HAN` are parts of how a statement is written; digests of it are stored,
so the two stay as they are, with all that a purer list would leave out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

_WAYS = tuple(name for name in dir(re.Pattern) if not name.startswith("_") and name != "pattern")


def regex(pattern: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, compiled when it is first asked for anything but its `pattern`.

    `pattern`: a function where it is made of words that are read at first use. A pattern that is none raises `re.error` only
    when it is compiled: a test compiles all of them.
    """
    return cast("re.Pattern[str]", _Later(pattern, flags))


class Expression:
    """Stands for a compiled expression, with the methods of the compiled one."""

    def __init__(self, pattern: str | Callable[[], str], flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    @property
    def pattern(self) -> str:
        """The expression as written."""
        return self._pattern if isinstance(self._pattern, str) else self._pattern()

    def __repr__(self) -> str:
        return f"regex({self.pattern!r})"


class _Later(Expression):
    """An expression that was not used yet. At its first use it becomes an `Expression`: a class with `__getattr__` looks every
    attribute up half as fast."""

    def __getattr__(self, name: str) -> Any:
        if name not in _WAYS:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        compiled = re.compile(self.pattern, self._flags)
        for way in _WAYS:
            setattr(self, way, getattr(compiled, way))
        self.__class__ = Expression  # type: ignore[assignment]
        return getattr(compiled, name)


HAN_BLOCK = "\u4e00-\u9fff"
"""The unified ideographs of everyday text."""
HAN = f"\u3005-\u3007\u3400-\u4dbf{HAN_BLOCK}\uf900-\ufaff\U00020000-\U0003ffff"
"""Every Han character: the marks 々〆〇, extension A, the block, compatibility ideographs, all of planes 2 and 3."""
OTHER_UNSPACED = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"
"""Other scripts written without spaces: Thai, Lao, Burmese, Khmer."""
HIRAGANA = "\u3041-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
# Python's \w leaves combining marks out, which would cut Devanagari, Arabic and Hebrew words at every vowel sign.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6"
    "\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d81-\u0d83\u0dca-\u0ddf\u0df2\u0df3\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20dc\ufe20-\ufe2f"
)
"""Marks that combine with the letter before them, of any script."""
WORDS_BY_THEMSELVES = (
    f"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f\u3400-\u4dff{HAN_BLOCK}\U00020000-\U0003ffff"
)
"""In a statement: Han, kana and bopomofo, with the hexagrams between extension A and the block; no compatibility ideographs."""
FROM_KANA_TO_HAN = f"\u3005-{HAN_BLOCK[-1]}"
"""In a statement: what no accent is written over."""
_HAN = regex(f"[{HAN}]")


def holds_han(text: str) -> bool:
    """Whether a text has a Han character."""
    return not text.isascii() and _HAN.search(text) is not None


def begins_with_han(text: str) -> bool:
    """Whether the first character of a text is Han; an empty text begins with nothing."""
    return _HAN.match(text) is not None


def count_of_han(text: str) -> int:
    """How many Han characters a text has."""
    return 0 if text.isascii() else len(_HAN.findall(text))


def in_han_block(character: str) -> bool:
    """Whether one character, or the empty text, is in `HAN_BLOCK`."""
    return HAN_BLOCK[0] <= character <= HAN_BLOCK[-1]
