"""What of a text is handed to a model's tokenizer. Pure."""

from __future__ import annotations

from unicodedata import normalize

_WIDEST = 2
"""Letters looked at for each that is read: some vanish as they are normalized."""


def readable(text: str, most: int) -> str:
    """The first letters of a text, in normal form KC, without lone surrogates and NUL.

    Normalized here, and not by a tokenizer alone, as one character can stand for 18: so the bound holds for what is read.
    """
    plain = text[: _WIDEST * most].encode("utf-8", "replace").decode().replace("\0", " ")
    return normalize("NFKC", plain)[:most]
