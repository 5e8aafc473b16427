"""Talk with an assistant in Chinese: turns of both, and now and then a note on a memory.

Its shape is that of such talks (649 turns looked at outside of this project): letters p10 20, median 40, mean 48, p90 92; of 1,000
letters 980 not ASCII, .6 digits, no newlines; a question ends 30 % of the turns, 1 % hold a digit, 20 % something that a rule of
sensitivity has to be asked about, .8 % are more than public.
"""

from __future__ import annotations

from random import Random

from ops.bench.texts.grammar import Grammar, grammar


def chinese(chance: Random) -> str:
    """One turn."""
    words, drawn = grammar("chinese"), chance.random()
    if drawn < 0.1:
        return words.say("note", chance)
    return "".join(_user(words, chance) if drawn < 0.55 else _assistant(words, chance))


def _user(words: Grammar, chance: Random) -> list[str]:
    parts = [words.say("hello", chance)] if chance.random() < 0.4 else []
    parts.append(words.say("rare" if chance.random() < 0.06 else "user", chance))
    return [*parts, words.say("user", chance)] if chance.random() < 0.62 else parts


def _assistant(words: Grammar, chance: Random) -> list[str]:
    parts = [words.say("reply", chance)]
    parts += [words.say("long", chance) for _ in range(int(chance.random() ** 1.2 * 4))]
    return [*parts, words.say("end", chance)] if chance.random() < 0.7 else parts
