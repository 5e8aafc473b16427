"""Files that are no UTF-8 text, told by how they begin: what they look like, and never what they hold."""

from __future__ import annotations

import codecs
from typing import Final

BEGINNINGS: Final = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
CURES: Final = {"gzip": " (`gunzip -c FILE | engramlog ... -`)", "UTF-16": " (`iconv -f UTF-16 -t UTF-8 FILE`)"}
LOOKED_AT: Final = 4_096
"""Bytes of the first line that are looked at."""


def no_text(line: bytes) -> str | None:
    """What a file looks like whose first line cannot be text in UTF-8; None where it may be."""
    for beginning, kind in BEGINNINGS.items():
        if line.startswith(beginning) and (len(beginning) > 2 or kind != "UTF-16" or b"\0" in line):
            return kind
    head = line[:LOOKED_AT]
    if b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)  # of mostly ASCII in UTF-16, every other byte is none
    return "UTF-16" if min(even, odd) == 0 and max(even, odd) * 4 >= len(head) // 2 else "binary"
