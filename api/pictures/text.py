"""What a picture can write: the fonts that are there, and for each text one that has its characters.

A PNG is drawn with the fonts of this machine, so a text that none of them has is replaced. An SVG keeps its text, and
whoever opens it draws it with fonts of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
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
        self._further = fonts
        self._keeps_text = keeps_text
        default = _default_font()
        self._faces: list[tuple[Path, Collection[int]]] = [(default, _characters_of(default))]
        self._has_all_faces = False
        self._replaced: Counter[str] = Counter()
        self._unseen = 0

    def write(
        self, texts: Sequence[tuple[str, str]], size: float, weight: str = "normal"
    ) -> tuple[str, FontProperties]:
        """The first of `texts` that can be written, and its font at `size` points; "" where none can be.

        Each text comes with what a remark says where it stands in for an earlier one.
        """
        lacking = False
        for text, said in texts:
            plain = clean(text)
            face, shown = self._face_for(plain)
            if shown:
                self._replaced.update([said] if lacking else [])
                return shown, _properties(face, size, weight)
            lacking = lacking or bool(plain)
        return "", _properties(self._faces[0][0], size, weight)

    def remarks(self) -> list[str]:
        """What the picture shows otherwise than asked, one sentence each; empty where it shows everything."""
        cure = "no font here has its characters; install one, such as Noto Sans CJK, or write an .svg"
        told = [f"{said} ({count} x): {cure}" for said, count in self._replaced.items()]
        if self._unseen:
            told.append(
                f"text that no font here has ({self._unseen} x): the SVG holds it as text, drawn by the viewer's fonts"
            )
        return told

    def _face_for(self, text: str) -> tuple[Path, str]:
        """A font and what it writes of a text: all, else all but symbols such as emoji, else nothing."""
        default = self._faces[0][0]
        lost = {
            path: {char for char in text if ord(char) not in characters} for path, characters in self._all_faces(text)
        }
        for path, missing in lost.items():
            if not missing:
                return path, text
        if self._keeps_text:
            self._unseen += 1
            return default, text
        for path, missing in lost.items():
            if not any(char.isalnum() for char in missing):
                return path, clean("".join(" " if char in missing else char for char in text))
        return default, ""

    def _all_faces(self, text: str) -> list[tuple[Path, Collection[int]]]:
        """The default font, and the further ones as soon as a text needs them."""
        if not self._has_all_faces and any(ord(char) not in self._faces[0][1] for char in text):
            self._has_all_faces = True
            found = installed_chinese_fonts() if self._further is None else self._further
            self._faces += [(path, characters) for path in found if (characters := _characters_of(path))]
        return self._faces


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

    found = [path for path in map(Path, findSystemFonts()) if has_chinese_name(path)]
    return sorted(found, key=lambda path: ("regular" not in path.stem.lower(), path.stem.lower(), path))


def has_chinese_name(path: Path) -> bool:
    """Whether a font file is named like one with Chinese characters."""
    return CHINESE_FONTS.match(re.sub(r"[\s_-]", "", path.stem).lower()) is not None


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


def _properties(face: Path, size: float, weight: str) -> FontProperties:
    from matplotlib.font_manager import FontProperties, get_font  # noqa: PLC0415 - matplotlib is an extra

    if face == _default_font():  # by name, for its bold face
        return FontProperties(family=["DejaVu Sans", "sans-serif"], size=size, weight=weight)
    family = [get_font(str(face)).family_name, "sans-serif"]
    return FontProperties(family=family, fname=str(face), size=size, weight=weight)
