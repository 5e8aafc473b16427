"""What a picture can write: the fonts that are there, and for each text one that has its characters.

A PNG is drawn with the fonts of this machine, so a text that none of them has is replaced. An SVG keeps its text, and
whoever opens it draws it with fonts of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

ELLIPSIS = "…"
WIDE = 2.0
"""Columns of a Chinese character; a Latin letter has one."""

CHINESE_FONTS = re.compile(
    r"noto(sans|serif)(mono)?(cjk|sc|tc|hk)|sourcehan|wqy|wenquanyi|simhei|simsun|simkai|msyh|microsoftyahei|pingfang"
    r"|hiraginosansgb|stheiti|heiti|songti|arialuni|droidsansfallback|uming|ukai|lxgw|sarasa|unifont"
)
"""File names of fonts with Chinese characters, in lower case without spaces and dashes."""


class Lettering:
    """Chooses how each text of one picture is written, and remembers what could not be."""

    def __init__(self, fonts: Sequence[Path] | None, *, keeps_text: bool) -> None:
        """`fonts` are files to use beside the default one; None looks for installed ones when a text needs them.
        `keeps_text` is true of an SVG.
        """
        self._given = fonts
        self._keeps_text = keeps_text
        self._faces: list[tuple[Path | None, Collection[int]]] = [(None, _characters_of(_default_font()))]
        self._looked = False
        self._replaced: Counter[str] = Counter()
        self._unseen = 0

    def write(self, texts: Sequence[tuple[str, str]], size: float, weight: str = "normal") -> tuple[str, FontProperties]:
        """The first text that can be written, and its font at `size` points.

        Each text comes with what to call it in a remark should it stand in for the first; the last is taken as it is.
        """
        for number, (text, called) in enumerate(texts):
            plain = clean(text)
            face, shown = self._best(plain)
            if shown or number == len(texts) - 1:
                self._replaced.update([called] if number else [])
                return shown or plain, _properties(face, size, weight)
            if self._keeps_text and plain:
                self._unseen += 1
                return plain, _properties(None, size, weight)
        return "", _properties(None, size, weight)

    def remarks(self) -> list[str]:
        """What the picture shows otherwise than asked, one sentence each; empty where it shows everything."""
        cure = "install one, such as Noto Sans CJK, or write an .svg"
        told = [f"{count} x {called}: no font here has the characters; {cure}" for called, count in self._replaced.items()]
        if self._unseen:
            told.append(
                f"{self._unseen} texts have characters that no font here has: "
                "they are text in the SVG, which a viewer draws with its own fonts"
            )
        return told

    def _best(self, text: str) -> tuple[Path | None, str]:
        """The font that has the most of a text and what it can write of it; "" where letters would be lost."""
        best: tuple[Path | None, str] = (None, "")
        for path, characters in self._all_faces(text):
            lost = {char for char in text if ord(char) not in characters}
            if not lost:
                return path, text
            if not best[1] and not any(char.isalnum() for char in lost):
                best = path, clean("".join(" " if char in lost else char for char in text))
        return best if not self._keeps_text else (None, "")

    def _all_faces(self, text: str) -> Iterator[tuple[Path | None, Collection[int]]]:
        """The default font, and the further ones where it does not have the whole text."""
        yield from self._faces
        if not self._looked and not all(ord(char) in self._faces[0][1] for char in text):
            self._looked = True
            found = installed_chinese_fonts() if self._given is None else self._given
            further = [(path, characters) for path in found if (characters := _characters_of(path))]
            self._faces += further
            yield from further


def clean(text: str) -> str:
    """A text on one line, without control and format characters."""
    kept = (char for char in text if unicodedata.category(char) != "Cf")
    return " ".join("".join(char if char.isprintable() else " " for char in kept).split())


def columns(text: str) -> float:
    """How wide a text is, in widths of a Latin letter."""
    return sum(WIDE if unicodedata.east_asian_width(char) in "WF" else 1.0 for char in text)


def short(text: str, most: float) -> str:
    """A text on one line, cut to `most` columns with an ellipsis."""
    plain = clean(text)
    if columns(plain) <= most:
        return plain
    while plain and columns(plain) > most - 1:
        plain = plain[:-1]
    return plain.rstrip() + ELLIPSIS


def installed_chinese_fonts() -> list[Path]:
    """Files of the fonts with Chinese characters on this machine, the regular weights first.

    The folders are read anew each time: matplotlib's own list is kept in a cache that misses a font installed since.
    """
    from matplotlib.font_manager import findSystemFonts  # noqa: PLC0415 - matplotlib is an extra

    named = [(re.sub(r"[\s_-]", "", path.stem).lower(), path) for path in map(Path, findSystemFonts())]
    fitting = [(name, path) for name, path in named if CHINESE_FONTS.match(name)]
    return [path for name, path in sorted(fitting, key=lambda found: ("regular" not in found[0], *found))]


def _default_font() -> Path:
    from matplotlib.font_manager import findfont  # noqa: PLC0415 - matplotlib is an extra

    return Path(findfont("DejaVu Sans"))


def _characters_of(path: Path) -> Collection[int]:
    """The code points that a font file has; none where it cannot be read."""
    from matplotlib.font_manager import get_font  # noqa: PLC0415 - matplotlib is an extra

    try:
        return get_font(str(path)).get_charmap().keys()
    except (OSError, RuntimeError):
        return ()


def _properties(face: Path | None, size: float, weight: str) -> FontProperties:
    from matplotlib.font_manager import FontProperties, get_font  # noqa: PLC0415 - matplotlib is an extra

    if face is None:
        return FontProperties(family=["DejaVu Sans", "sans-serif"], size=size, weight=weight)
    family = [get_font(str(face)).family_name, "sans-serif"]
    return FontProperties(family=family, fname=str(face), size=size, weight=weight)
