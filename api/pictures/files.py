"""Files of pictures: which there are, and how each is written whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from events.errors import refused

PICTURES: Mapping[str, str] = {".png": "png", ".svg": "svg"}
"""What a picture's file ends with, and its format."""


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; what stood there is replaced. Raises InputError where it cannot be written."""
    if not path.parent.is_dir():
        raise refused("out", str(path), "a file in a folder that exists")
    temporary = path.with_name(f".{uuid4().hex}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise refused("out", str(path), f"a file that can be written ({error.strerror})") from None


def format_of(path: Path) -> str:
    """`png` or `svg` by a file's suffix, or InputError."""
    try:
        return PICTURES[path.suffix.lower()]
    except KeyError:
        raise refused("out", path.name, f"a name that ends in {' or '.join(PICTURES)}") from None
