"""Size, language, theme and colours of a picture. Colours are those of Okabe and Ito, for colour-blind readers too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engramlog_server.api.choices import HEIGHT, HEIGHTS, LANGUAGES, THEMES, WIDTH, WIDTHS
from engramlog_server.events.errors import refused

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PINK, YELLOW = "#56B4E9", "#CC79A7", "#F0E442"
GREY = "#9AA0A6"
CLUSTERS = (BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW)
"""Fills of clusters; each has a rim of ink, so that it stands out from any paper."""


class Theme(NamedTuple):
    """What a picture is painted with. Letters have a contrast of 4.5 and more to the paper, lines one of 3."""

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
