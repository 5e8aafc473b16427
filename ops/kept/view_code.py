"""A name for the code that texts are read by: what is kept by one code is of no use to another."""

from __future__ import annotations

import sys
import unicodedata
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from projections.fold.owner import PROJECTION_VERSION

PLACES = ("index", "memory", "views", "language", "ranking")
"""Folders of `projections` whose files, and those below them, decide what a view holds."""


def view_code() -> str:
    """A digest of these files, and of what else decides how a text is read."""
    root = Path(sys.modules["projections"].__path__[0])
    told = [str(PROJECTION_VERSION), unicodedata.unidata_version, version("PyStemmer"), sys.byteorder]
    digest = blake2b(" ".join(told).encode(), digest_size=16)
    for place in PLACES:
        for file in sorted((root / place).rglob("*")):
            if file.suffix in (".py", ".tsv"):
                held = file.read_bytes()
                digest.update(f"{file.relative_to(root)} {len(held)} ".encode())
                digest.update(held)
    return digest.hexdigest()
