"""Long answers of an assistant in English: headings, numbered points with lists below them, code, a closing question.

Their shape is that of answers which people get on plans, code and sums (1,367 answers looked at outside of this project): letters
p10 2,261, median 3,759, mean 3,836, p90 5,310; of 1,000 letters 0 not ASCII, 11 digits, 23 newlines, 157 spaces; 98 % hold a digit,
28 % code, all something that a rule of sensitivity has to be asked about (16 rules a text), 7.5 % are more than public.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ops.bench.texts.grammar import Grammar, grammar

_MEAN, _SPREAD, _SHORTEST, _LONGEST = 3_640, 1_150, 1_200, 8_000
"""Letters of an answer."""
_BESIDE = (("code", 0.034), ("formula", 0.04), ("security", 0.02), ("private", 0.0028))
"""Chance of each at a point."""


def answers(chance: Random) -> str:
    """One answer."""
    words = grammar("answers")
    wanted = min(max(chance.gauss(_MEAN, _SPREAD), _SHORTEST), _LONGEST)
    parts, length = [words.say("open", chance)], 0
    while length < wanted - 330:
        parts.append("\n".join(_section(words, chance)))
        length = sum(map(len, parts))
    return "\n\n".join([*parts, words.say("close", chance)])


def _section(words: Grammar, chance: Random) -> Iterator[str]:
    yield f"### {words.say('heading', chance)}\n"
    if chance.random() < 0.5:
        yield words.say("sentence", chance) + "\n"
    for number in range(1, 2 + int(chance.random() * 4)):
        yield f"{number}. **{words.say('point', chance)}**:"
        for _ in range(1 + int(chance.random() * 3)):
            yield f"   - {words.say('sub' if chance.random() < 0.4 else 'item', chance)}"
        for kind, share in _BESIDE:
            if chance.random() < share:
                yield words.say(kind, chance)
