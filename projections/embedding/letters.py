"""Whether an owner writes in letters other than Latin: what `auto` goes by. Pure.

A text counts where such letters weigh no less than its Latin ones, a Han character, kana or Hangul syllable as three: so neither
an emoji, an accent, a formula's Greek letter nor a name in another script makes a text one of them. An owner counts from a tenth
of the texts on, or from twenty of them however many others there are. Both counts move with each change of a row; nothing is
remembered of what is gone: the same memories give the same answer in every process, after a rebuild, and of the past.
"""

from __future__ import annotations

import numpy as np

from engramlog_server.projections.embedding.meaning import embedded_text
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN, HIRAGANA, KATAKANA
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.record import Memory

ONE_IN = 10
"""An owner counts from one text in so many on ..."""
ENOUGH = 20
"""... or from so many of them, which more texts in Latin letters do not outweigh."""
_IDEOGRAPH_WEIGHT = 3
_IDEOGRAPHS = f"{HAN}{HIRAGANA}{KATAKANA}\uac00-\ud7a3"
_LATIN = "A-Za-zªºÀ-ÖØ-öø-ʯᴀ-ᶿḀ-ỿⁱⁿₐ-ₜⅠ-ↈⱠ-ⱿꜢ-ꟿꬰ-ꭤﬀ-ﬆＡ-Ｚａ-ｚ\U0001d400-\U0001d7ff"
_EACH_IDEOGRAPH = regex(f"[{_IDEOGRAPHS}]")
_EACH_LATIN = regex(f"[{_LATIN}]")
_EACH_OTHER = regex(rf"[^\W\d_{_LATIN}{_IDEOGRAPHS}]")


def is_of_other_letters(text: str) -> bool:
    """Whether a text's letters are other than Latin, for the most part."""
    if text.isascii():
        return False
    others = _IDEOGRAPH_WEIGHT * len(_EACH_IDEOGRAPH.findall(text)) + len(_EACH_OTHER.findall(text))
    return others > 0 and others >= len(_EACH_LATIN.findall(text))


def owner_of_other_letters(of_other_letters: int, texts: int) -> bool:
    """Whether an owner counts, of whose `texts` so many are of other letters."""
    return of_other_letters >= ENOUGH or (of_other_letters > 0 and of_other_letters * ONE_IN >= texts)


class LettersIndex:
    """How many rows of a view hold text, and how many of them are of other letters. Not for two threads at once."""

    def __init__(self) -> None:
        self._rows = bytearray()
        """By row: 0 without text, 1 with text in Latin letters or none, 2 of other letters."""
        self._counts = [0, 0, 0]

    def put(self, row: int, memory: Memory) -> None:
        """Take in a memory, new or changed."""
        while len(self._rows) <= row:
            self._rows.append(0)
            self._counts[0] += 1
        text = embedded_text(memory)
        now = (2 if is_of_other_letters(text) else 1) if text else 0
        self._counts[self._rows[row]] -= 1
        self._counts[now] += 1
        self._rows[row] = now

    def latin(self, rows: int) -> Flags:
        """Which of the first so many rows hold text that is not of other letters, shape (rows,)."""
        found: Flags = np.frombuffer(bytes(self._rows[:rows]).ljust(rows, b"\0"), np.uint8) == 1
        return found

    @property
    def of_other_letters(self) -> bool:
        """Whether the owner counts."""
        return owner_of_other_letters(self._counts[2], self._counts[1] + self._counts[2])

    def bytes_used(self) -> int:
        """About how much memory this index takes."""
        return len(self._rows)
