"""A picture as PNG, drawn by resvg (the extra `pictures`) with the fonts of this machine; what they lack is told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from api.pictures.font_files import characters_of, chinese_fonts, family_of, installed_fonts, usual_font
from api.pictures.svg import written
from api.pictures.text import ELLIPSIS
from events.errors import InputError


class Png(NamedTuple):
    """The bytes, and what the picture shows otherwise than the SVG."""

    content: bytes
    remarks: list[str]


def png_of(picture: Element, fonts: Sequence[Path] | None = None) -> Png:
    """The picture as a PNG of its own size. It is changed where the fonts lack characters.

    `fonts` are font files to use beside the usual one; without them installed ones are found. Raises InputError where the
    extra is not installed.
    """
    try:
        from resvg_py import svg_to_bytes  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise InputError(
            "a PNG needs resvg-py, which is not installed: pip install 'engramlog[pictures]'; an .svg needs nothing",
            missing="resvg-py",
        ) from None
    letters = Letters(picture, fonts)
    content = svg_to_bytes(
        svg_string=written(picture),
        skip_system_fonts=True,
        font_files=[str(path) for path in letters.files],
        sans_serif_family=letters.family or None,
    )
    return Png(bytes(content), letters.remarks)


class Letters:
    """The fonts for the texts of one picture. Texts that they cannot write are changed to what they can."""

    def __init__(self, picture: Element, fonts: Sequence[Path] | None) -> None:
        texts = [one for one in picture.iter("text") if one.text]
        wanted = {char for one in texts for char in one.text or "" if not char.isspace()}
        installed = installed_fonts()
        usual = usual_font(installed)
        self.family = family_of(usual) if usual else ""
        self.files = [usual, *_bold_of(usual, installed)] if usual else []
        lacking = self._lacking(wanted)
        for path in [*chinese_fonts(installed), *installed] if fonts is None else fonts:
            if not lacking:
                break
            if any(ord(char) in characters_of(path) for char in lacking):
                self.files += [path, *(_bold_of(path, installed) if fonts is None else ())]
                lacking = self._lacking(lacking)
        self._replaced: Counter[str] = Counter()
        self._mend(picture, texts, lacking)

    @property
    def remarks(self) -> list[str]:
        """What could not be written, one sentence each."""
        if not self.files:
            return ["no font is installed here: the PNG has no letters; install one, or write an .svg"]
        cure = "no font here has its characters; install one, such as Noto Sans CJK, or write an .svg"
        return [f"{said} ({count} x): {cure}" for said, count in self._replaced.items()]

    def _lacking(self, wanted: set[str]) -> set[str]:
        return {char for char in wanted if not any(ord(char) in characters_of(path) for path in self.files)}

    def _mend(self, picture: Element, texts: Sequence[Element], lacking: set[str]) -> None:
        if not lacking or not self.files:
            return
        numbers = {one.get("data-id"): place for place, one in enumerate(picture.iterfind(".//g[@data-r]"), 1)}
        parents = {child: parent for parent in picture.iter() for child in parent}
        mended: set[str] = set()
        for one in texts:
            text, name = one.text or "", one.get("data-id")
            missing = {char for char in text if char in lacking}
            if name is not None and name in mended:
                parents[one].remove(one)
            elif not any(char.isalnum() for char in missing):
                one.text = " ".join("".join(" " if char in missing else char for char in text).split())
            elif name is None:
                one.text = re.sub(f"[{re.escape(''.join(sorted(missing)))}]+", ELLIPSIS, text)
                self._replaced["a part of a text left out"] += 1
            else:
                mended.add(name)
                is_written = not any(char in self._lacking(set(name)) for char in name)
                one.text = name if is_written else f"#{numbers.get(name, 0)}"
                self._replaced[
                    "a memory's id in place of its label"
                    if is_written
                    else "a number in place of a memory's label and id"
                ] += 1


def _bold_of(path: Path, installed: Sequence[Path]) -> list[Path]:
    """The bold font of the same family, beside it."""
    stem = path.stem.lower().replace("-regular", "")
    return [
        one for one in installed if one.parent == path.parent and one.stem.lower() in (f"{stem}-bold", f"{stem}bd")
    ][:1]
