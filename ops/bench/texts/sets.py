"""The sets by name, and who says what in each."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from ops.bench.texts import sentences
from ops.bench.texts.answers import answers
from ops.bench.texts.chinese import chinese
from ops.bench.texts.talk import talk

Speak = Callable[[Random], str]


class TextSet(NamedTuple):
    """Owners in turn speak as `contents` has it; `short` is what they ask and correct."""

    contents: tuple[Speak, ...]
    short: tuple[Speak, ...]


_MIXED = (sentences.english, sentences.english, sentences.chinese)
SETS = {
    "sentences": TextSet(_MIXED, _MIXED),
    "talk": TextSet((talk,), (talk,)),
    "answers": TextSet((answers,), (talk,)),
    "chinese": TextSet((chinese,), (chinese,)),
}
"""`sentences` is what releases before 0.3 were measured on: a sentence or two from few templates, every third owner in Chinese."""
