"""Reading turns by rules against cutting the same texts into terms once, as every search and every fold must."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random

from ops.bench.rounds import Comparison, Target, interleave, seconds
from ops.bench.sample import SEED, STARTS
from ops.bench.texts.sentences import chinese, english
from projections.language.extraction.rules import TurnText, extract
from projections.language.text import tokens

LIMIT = "cutting the same texts into terms, once"
TARGET = Target()
SPEAKERS = (("English", english), ("Chinese", chinese))


def measure(turns: int, rounds: int) -> list[Comparison]:
    """So many turns of a user in English and as many in Chinese; what is stated is read, not judged and not kept."""
    found = []
    for name, speak in SPEAKERS:
        chance = Random(SEED)
        texts = [speak(chance) for _ in range(turns)]
        said = [_turn(number, text) for number, text in enumerate(texts)]
        timed = interleave(rounds, partial(_extracted, said), partial(_cut, texts))
        found.append(Comparison(f"extract by rules: {name}", LIMIT, "turns", turns, timed, TARGET))
    return found


def stated(turns: Sequence[TurnText]) -> int:
    """How many statements the rules read in these turns."""
    return sum(one.asserted for turn in turns for one in extract(turn))


def _turn(number: int, text: str) -> TurnText:
    return TurnText(f"turn-{number}", text, "user", None, STARTS.date().isoformat())


def _extracted(said: Sequence[TurnText]) -> float:
    found: list[int] = []
    taken = seconds(lambda: found.append(stated(said)))
    assert found[0], "no turn states anything: the rules were not measured"
    return taken


def _cut(texts: Sequence[str]) -> float:
    return seconds(lambda: [tokens(text) for text in texts])
