"""An SVG in the making, over the standard library's XML: elements with presentation attributes, and texts that are always texts.

No id, style, script, link or reference is ever written: several pictures may stand on one page, and the strictest policy of a page
blocks nothing of them. Colours are those of Okabe and Ito, for colour-blind readers too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

from engramlog_server.api.choices import HEIGHT, HEIGHTS, LANGUAGES, THEMES, WIDTH, WIDTHS
from engramlog_server.api.pictures.text import is_measured, shown, width, xml
from engramlog_server.events.errors import refused

FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC',"
    " 'Noto Sans SC', 'WenQuanYi Micro Hei', 'DejaVu Sans', sans-serif"
)
"""The viewer's own letters, and of Chinese ones those of China."""
_NAMES = {"class_": "class", "view_box": "viewBox", "text_length": "textLength", "length_adjust": "lengthAdjust"}

Value = str | float | None


def root(kind: str, look: Look, title: str, description: str, **attributes: Value) -> Element:
    """A picture of a size, with its names for who does not see it, and its paper."""
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg"})
    put(
        picture,
        class_=f"engramlog-picture {kind}",
        view_box=f"0 0 {look.width} {look.height}",
        width=look.width,
        height=look.height,
        role="img",
        lang={"zh": "zh-CN"}.get(look.language, look.language),
        font_family=FONTS,
        data_language=look.language,
        data_theme=look.theme,
        **attributes,
    )
    named(picture, title)
    add(picture, "desc").text = shown(description, "\n")
    add(picture, "rect", class_="paper", width=look.width, height=look.height, fill=look.colours.paper)
    return picture


def add(parent: Element, name: str, **attributes: Value) -> Element:
    """A new element inside another; what is None is left out."""
    return put(ET.SubElement(parent, name), **attributes)


def put(element: Element, **attributes: Value) -> Element:
    """The element with these attributes: `stroke_width` is `stroke-width`."""
    for name, value in attributes.items():
        if value is not None:
            element.set(
                _NAMES.get(name) or name.replace("_", "-"), xml(value) if isinstance(value, str) else number(value)
            )
    return element


def group(parent: Element, class_: str, title: str | None = None, **attributes: Value) -> Element:
    """A new group, with its name for a pointer that rests on it and for who does not see it."""
    made = add(parent, "g", class_=class_, **attributes)
    if title is not None:
        named(made, title)
    return made


def named(element: Element, title: str) -> None:
    """Give an element its name."""
    add(element, "title").text = shown(title, "\n")


def write(
    parent: Element,
    text: str,
    x: float,
    y: float,
    size: float,
    fill: str,
    *,
    anchor: str = "start",
    bold: bool = False,
    halo: Theme | None = None,
    **attributes: Value,
) -> Element:
    """A text whose base line is at `y`. `halo`: with a rim of the theme's paper, over lines. Its characters are made visible."""
    told = shown(text)
    element = add(parent, "text", x=x, y=y, font_size=size, fill=fill, **attributes)
    if anchor != "start":
        put(element, text_anchor=anchor)
    if bold:
        put(element, font_weight="bold")
    if halo is not None:
        put(element, stroke=halo.paper, stroke_width=3, stroke_linejoin="round", paint_order="stroke")
    if not is_measured(told):
        put(element, text_length=width(told, size, bold=bold), length_adjust="spacingAndGlyphs")
    element.text = told
    return element


def line(parent: Element, x1: float, y1: float, x2: float, y2: float, stroke: str, **attributes: Value) -> Element:
    """A straight line."""
    return add(parent, "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, **attributes)


def path_of(points: Iterable[tuple[float, float]]) -> str:
    """The data of a path through points."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def number(value: float) -> str:
    """A number as briefly as a hundredth of a pixel needs."""
    told = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if told == "-0" else told


def written(picture: Element) -> str:
    """The picture as a document."""
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(picture, encoding="unicode")}\n'


def check_file(path: Path) -> None:
    """Raises InputError for a name that does not end in .svg."""
    if path.suffix.lower() != ".svg":
        raise refused("out", path.name, "a name that ends in .svg")


def write_picture(picture: Element, path: Path) -> None:
    """Write a picture into a file; what stood there is replaced. Raises InputError where it cannot be written."""
    check_file(path)
    if not path.parent.is_dir():
        raise refused("out", str(path), "a file in a folder that exists")
    temporary = path.with_name(f".{uuid4().hex}.tmp")
    try:
        temporary.write_text(written(picture), "utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise refused("out", str(path), f"a file that can be written ({error.strerror})") from None


BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PINK, YELLOW = "#56B4E9", "#CC79A7", "#F0E442"
GREY = "#9AA0A6"
CLUSTERS = (BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW)
"""Fills of clusters; each has a rim of ink, so that it stands out from any paper."""


class Theme(NamedTuple):
    """The colours of a picture. Letters have a contrast of 4.5 and more to the paper, lines one of 3."""

    paper: str
    ink: str
    pale: str
    """Letters of less weight."""
    rule: str
    """Axes and edges."""
    grid: str
    """Faint lines behind, which say nothing that is not said by letters too."""
    laws: tuple[str, ...]
    """Shades of blue, green, red and pink in which thin lines and letters can be read."""


COLOURS: Mapping[str, Theme] = {
    "light": Theme("#FFFFFF", "#202124", "#5F6368", "#80868C", "#E4E7EB", ("#0072B2", "#007A59", "#B84F00", "#A8437F")),
    "dark": Theme("#14171C", "#E8EAED", "#A8AEB6", "#747C86", "#2A2F37", ("#5AB4EE", "#2EC19A", "#FF8C42", "#E594C4")),
}


class Look(NamedTuple):
    """Sizes are pixels of a picture drawn as large as it says."""

    width: int = WIDTH
    height: int = HEIGHT
    language: str = LANGUAGES[0]
    theme: str = THEMES[0]

    @property
    def colours(self) -> Theme:
        """What it is painted with."""
        return COLOURS[self.theme]

    @property
    def is_narrow(self) -> bool:
        """Whether it is a telephone's."""
        return self.width < 600


def checked_look(
    width: int = WIDTH, height: int = HEIGHT, language: str = LANGUAGES[0], theme: str = THEMES[0]
) -> Look:
    """The look that was asked for. Raises InputError."""
    if language not in LANGUAGES:
        raise refused("language", language, ", ".join(LANGUAGES))
    if theme not in THEMES:
        raise refused("theme", theme, ", ".join(THEMES))
    for name, got, (least, most) in (("width", width, WIDTHS), ("height", height, HEIGHTS)):
        if not least <= got <= most:
            raise refused(name, got, f"a whole number from {least} to {most}")
    return Look(width, height, language, theme)
