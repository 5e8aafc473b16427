"""Sentences from a grammar: a rule a line, `name = one | other`, in which `<name>` stands for what another rule says.

`<^name>` begins with a capital letter, `\\n` ends a line, `#` begins a remark. What stands further left is said more often,
as words are in speech.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random

_PLACE = re.compile(r"<(\^?)([a-z_]+)>")


class Grammar:
    """Rules by name. `say` follows one with the chance given: the same chance says the same."""

    def __init__(self, rules: Mapping[str, tuple[str, ...]]) -> None:
        self._rules = rules

    def say(self, name: str, chance: Random) -> str:
        """One of what a rule can say. Raises KeyError where there is no such rule."""
        options = self._rules[name]
        chosen = options[int(chance.random() ** 1.5 * len(options))]
        return _PLACE.sub(lambda found: self._filled(found, chance), chosen)

    def _filled(self, found: re.Match[str], chance: Random) -> str:
        said = self.say(found[2], chance)
        return said[0].upper() + said[1:] if found[1] else said


@cache
def grammar(name: str) -> Grammar:
    """The grammar in the file of this name beside this one."""
    rules = dict[str, tuple[str, ...]]()
    for line in (Path(__file__).parent / f"{name}.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            rule, _, options = line.partition(" = ")
            said = tuple(one.strip(" ").replace("\\n", "\n") for one in options.split(" | "))
            rules[rule] = rules.get(rule, ()) + said
    return Grammar(rules)
