"""A picture as an SVG file, written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4
from xml.etree.ElementTree import Element

from api.pictures.svg import written
from events.errors import refused


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
