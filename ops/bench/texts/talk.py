"""Short talk of two friends in English: one turn of one to five sentences.

Its shape is that of turns which people exchange over months (2,960 turns looked at outside of this project): letters p10 55,
median 127, mean 142, p90 253; of 1,000 letters 0.2 not ASCII, 0.2 digits, 0.1 newlines, 177 spaces; a question ends 24 % of the
turns, 1.3 % hold a digit, 23 % something that a rule of sensitivity has to be asked about, .3 % are more than public.
"""

from __future__ import annotations

from itertools import accumulate
from random import Random

from ops.bench.texts.grammar import grammar

_LENGTHS = tuple(accumulate((0.19, 0.26, 0.24, 0.17, 0.10, 0.04)))
"""Cumulative shares of turns that have 1, 2, ... sentences."""


def talk(chance: Random) -> str:
    """One turn."""
    words, drawn = grammar("talk"), chance.random()
    parts = [words.say("hello" if chance.random() < 0.12 else "wow", chance)] if chance.random() < 0.62 else []
    for _ in range(next((n for n, share in enumerate(_LENGTHS, 1) if drawn < share), len(_LENGTHS))):
        kind = "rare" if chance.random() < 0.015 else "statement" if chance.random() < 0.55 else "comment"
        parts.append(words.say(kind, chance))
    if chance.random() < 0.24:
        parts[-1:] = [words.say("question", chance)] if len(parts) > 2 else [parts[-1], words.say("question", chance)]
    return " ".join(parts)
