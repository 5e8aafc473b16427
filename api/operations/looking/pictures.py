"""What is asked as JSON and shown as a picture: the same questions, and how it is to look."""

from __future__ import annotations

from api.choices import HEIGHT, HEIGHTS, LANGUAGES, THEMES, WIDTH, WIDTHS
from api.operations.definition import Option, Parameter
from api.operations.knowing import MAP
from api.operations.reports import CURVES

_PANEL = "Of a picture"


def _size(name: str, usual: int, bounds: tuple[int, int], narrow: int) -> Parameter:
    told = f"Pixels, {bounds[0]} to {bounds[1]}."
    return Parameter(name, int, told, usual, (narrow,), option=Option(panel=_PANEL))


LOOK = (
    Parameter("language", str, "Of its words: `en` or `zh`.", LANGUAGES[0], LANGUAGES, option=Option(panel=_PANEL)),
    Parameter("theme", str, "`light` or `dark`.", THEMES[0], THEMES, option=Option(panel=_PANEL)),
    _size("width", WIDTH, WIDTHS, 390),
    _size("height", HEIGHT, HEIGHTS, 500),
)
CURVES_SVG = CURVES.but(
    name="curves-svg",
    endpoint="curves_picture",
    path=f"{CURVES.path}.svg",
    title="Picture of the laws over time",
    question=(*CURVES.question, *LOOK),
    answer="",
    help="The same as `compare` tells of one memory, as a picture: curves, thresholds and what touched it. Leaves no trace.",
    told="An SVG without scripts, styles and references; its parts say in `data-` attributes what they are.",
)
MAP_SVG = MAP.but(
    name="map-svg",
    endpoint="map_picture",
    path=f"{MAP.path}.svg",
    title="Picture of the map",
    question=(*MAP.question, *LOOK),
    answer="",
    help="The same as `map` tells, as a picture: memories by weight, their associations, and clusters by name. Leaves no trace.",
    told=CURVES_SVG.told,
)
OPERATIONS = (CURVES_SVG, MAP_SVG)
