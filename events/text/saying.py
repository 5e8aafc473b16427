"""Whether a short text says something."""

from __future__ import annotations


def is_text(text: str, most: int) -> bool:
    """Whether it says something, in at most so many characters, none of them a lone surrogate: those stand for bytes of a command
    line that were no UTF-8."""
    return bool(text.strip()) and len(text) <= most and not any("\ud800" <= letter <= "\udfff" for letter in text)
