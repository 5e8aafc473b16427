"""Pictures of memories as files: the knowledge map, and the weights of one memory by every law, as PNG or SVG.

An SVG needs nothing but the standard library and is the same that the service answers; a PNG is made of it by resvg, the extra
`pictures`. The same data give the same picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from api.pictures.curves import curves_picture
from api.pictures.files import format_of, replace_file
from api.pictures.look import USUAL, Look
from api.pictures.map import map_picture
from api.pictures.raster import png_of
from api.pictures.svg import written
from events.errors import refused


def draw_map(
    graph: Mapping[str, Any],
    path: Path,
    look: Look = USUAL,
    *,
    fonts: Sequence[Path] | None = None,
) -> list[str]:
    """Draw a knowledge map into a .png or .svg, and return remarks on what it shows otherwise than asked.

    `fonts` are font files for a PNG beside the usual one; without them installed ones are found. Raises InputError where the
    graph has no nodes, and for a file that cannot be written.
    """
    format_of(path)
    if not graph["nodes"]:
        raise refused("graph", "no memories", "at least one memory; nothing was drawn")
    drawn = map_picture(graph, look)
    return [*drawn.remarks, *_write(drawn.root, path, fonts)]


def draw_curves(
    comparison: Mapping[str, Any],
    path: Path,
    look: Look = USUAL,
    *,
    fonts: Sequence[Path] | None = None,
) -> list[str]:
    """Draw the weights of one memory by every law into a .png or .svg, and return remarks as `draw_map` does.

    Curves, their normal thresholds (dotted) and a lane for each kind of event, over one axis of time in UTC. A weight of None
    leaves a gap. Raises InputError where there is nothing to draw, and for a file that cannot be written.
    """
    format_of(path)
    return _write(curves_picture(comparison, look), path, fonts)


def _write(picture: Element, path: Path, fonts: Sequence[Path] | None) -> list[str]:
    if format_of(path) == "svg":
        replace_file(path, written(picture).encode())
        return []
    png = png_of(picture, fonts)
    replace_file(path, png.content)
    return png.remarks
