"""How a picture is to look: its size, the language of its words, and whether it is light or dark."""

from __future__ import annotations

from typing import NamedTuple

from api.choices import HEIGHT, HEIGHTS, LANGUAGES, THEMES, WIDTH, WIDTHS
from api.pictures.colours import THEMES as COLOURS
from api.pictures.colours import Theme
from events.errors import refused


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


USUAL = Look()


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
