"""Font files of this machine, and which characters each has: read from their own tables, by the standard library alone."""

from __future__ import annotations

import os
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

CHINESE_FONTS = re.compile(
    r"noto(sans|serif)(mono)?(cjk|sc|tc|hk)|sourcehan|wqy|wenquanyi|simhei|simsun|simkai|msyh|microsoftyahei|pingfang"
    r"|hiraginosansgb|stheiti|heiti|songti|arialuni|droidsansfallback|uming|ukai|lxgw|sarasa|unifont"
)
"""File names of fonts with Chinese characters, in lower case without spaces and dashes."""
USUAL_FONTS = (
    "notosans-regular",
    "dejavusans",
    "liberationsans-regular",
    "arial",
    "segoeui",
    "roboto-regular",
    "helvetica",
)
"""File names of fonts for Latin letters, the first of which is taken, in lower case."""
_SUFFIXES = frozenset({".ttf", ".otf", ".ttc", ".otc"})
_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.fonts",
    "~/.local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "~/Library/Fonts",
)
MOST_GROUPS = 100_000
"""Groups of characters of a font, at the most: a file that tells of more is no font."""


class Characters:
    """The code points of a font, as ranges."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        """`ranges`: first and last code point of each, in any order."""
        ordered = sorted(ranges)
        self._firsts = [first for first, _ in ordered]
        self._lasts = [last for _, last in ordered]

    def __contains__(self, point: int) -> bool:
        at = bisect_right(self._firsts, point) - 1
        return at >= 0 and point <= self._lasts[at]

    def __bool__(self) -> bool:
        return bool(self._firsts)


def installed_fonts() -> list[Path]:
    """Font files of this machine, by their names. The folders are read anew each time: a font may just have been installed."""
    windows = [f"{os.environ[name]}{below}" for name, below in _WINDOWS.items() if name in os.environ]
    found = {
        path
        for folder in (*_FOLDERS, *windows)
        for path in Path(folder).expanduser().rglob("*")
        if path.suffix.lower() in _SUFFIXES
    }
    return sorted(found, key=lambda path: (path.stem.lower(), path))


_WINDOWS = {"WINDIR": "/Fonts", "LOCALAPPDATA": "/Microsoft/Windows/Fonts"}


def has_chinese_name(path: Path) -> bool:
    """Whether a font file is named like one with Chinese characters."""
    return CHINESE_FONTS.match(re.sub(r"[\s_-]", "", path.stem).lower()) is not None


def usual_font(fonts: list[Path]) -> Path | None:
    """The font for Latin letters: a usual one, else any that has them."""
    by_name = {path.stem.lower(): path for path in reversed(fonts)}
    usual = next((by_name[name] for name in USUAL_FONTS if name in by_name), None)
    return usual or next((path for path in fonts if all(ord(char) in characters_of(path) for char in "Aaz09")), None)


def chinese_fonts(fonts: list[Path]) -> list[Path]:
    """Those with Chinese characters by their names, sans-serif and regular ones first."""
    named = [path for path in fonts if has_chinese_name(path)]
    return sorted(
        named,
        key=lambda path: ("serif" in path.stem.lower(), "regular" not in path.stem.lower(), path.stem.lower(), path),
    )


@lru_cache(maxsize=256)
def characters_of(path: Path) -> Characters:
    """The code points that a font file has; none where it cannot be read as one."""
    try:
        with path.open("rb") as file:
            return Characters(list(_ranges(file, _table(file, b"cmap"))))
    except (OSError, struct.error, ValueError, IndexError):
        return Characters([])


@lru_cache(maxsize=256)
def family_of(path: Path) -> str:
    """The family's name of a font file; "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            return _family(file, _table(file, b"name"))
    except (OSError, struct.error, ValueError, IndexError):
        return ""


def _read(file: BinaryIO, at: int, form: str) -> tuple[int, ...]:
    file.seek(at)
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _table(file: BinaryIO, name: bytes) -> int:
    """Where a table begins; in a collection that of the first font. Raises ValueError where there is none."""
    begin = _read(file, 12, ">I")[0] if file.read(4) == b"ttcf" else 0
    for number in range(_read(file, begin + 4, ">H")[0]):
        file.seek(begin + 12 + 16 * number)
        if file.read(4) == name:
            return int(_read(file, begin + 12 + 16 * number + 8, ">I")[0])
    raise ValueError(name)


def _ranges(file: BinaryIO, table: int) -> Iterator[tuple[int, int]]:
    """The ranges of the table of characters that has the most of Unicode."""
    tables: dict[int, int] = {}
    for number in range(_read(file, table + 2, ">H")[0]):
        platform, encoding, offset = _read(file, table + 4 + 8 * number, ">HHI")
        if platform == 0 or (platform == 3 and encoding in (1, 10)):
            tables[_read(file, table + offset, ">H")[0]] = table + offset
    if 12 in tables:
        yield from _groups(file, tables[12])
    elif 4 in tables:
        yield from _segments(file, tables[4])


def _groups(file: BinaryIO, at: int) -> Iterator[tuple[int, int]]:
    """Format 12: groups of consecutive code points."""
    count = _read(file, at + 12, ">I")[0]
    if count > MOST_GROUPS:
        raise ValueError(count)
    told = _read(file, at + 16, f">{3 * count}I")
    yield from zip(told[::3], told[1::3], strict=True)


def _segments(file: BinaryIO, at: int) -> Iterator[tuple[int, int]]:
    """Format 4: segments, of which some say by a list which of their code points there are."""
    count = _read(file, at + 6, ">H")[0] // 2
    ends = _read(file, at + 14, f">{count}H")
    begin = at + 16 + 2 * count
    starts = _read(file, begin, f">{count}H")
    deltas = _read(file, begin + 2 * count, f">{count}H")
    offsets = _read(file, begin + 4 * count, f">{count}H")
    for number, (start, end, delta, offset) in enumerate(zip(starts, ends, deltas, offsets, strict=True)):
        if start > end or start == 0xFFFF:
            continue
        if offset == 0:
            missing = -delta & 0xFFFF
            yield from (
                (
                    (one, last)
                    for one, last in ((start, min(end, missing - 1)), (max(start, missing + 1), end))
                    if one <= last
                )
                if start <= missing <= end
                else ((start, end),)
            )
            continue
        glyphs = _read(file, begin + 4 * count + 2 * number + offset, f">{end - start + 1}H")
        yield from ((start + place, start + place) for place, glyph in enumerate(glyphs) if glyph)


def _family(file: BinaryIO, table: int) -> str:
    count, storage = _read(file, table + 2, ">HH")
    for number in range(count):
        platform, _, _, name, length, offset = _read(file, table + 6 + 12 * number, ">6H")
        if name == 1 and platform in (0, 3):
            file.seek(table + storage + offset)
            return file.read(length).decode("utf-16-be")
    return ""
