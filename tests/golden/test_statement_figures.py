"""What `STATEMENT_RULES` names is pinned: a change of any normal form asks for another version, for digests are kept for ever.

A version that was never released may have its figures written anew: `python -P -m tests.golden.test_statement_figures` prints them.
"""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from hashlib import sha256
from pathlib import Path

from engramlog_server.projections.language.statements import STATEMENT_RULES, normalised, statement
from tests.unit.projections.language.test_statements import OTHERS, SAME, fact

PINNED = Path(__file__).with_name("statements.json")
_SIZE = 0x400


def known_texts() -> list[str]:
    """Everything that the tables of tests write."""
    told = [*SAME, *(again for ways in SAME.values() for again in ways), *(text for pair in OTHERS for text in pair)]
    return sorted(set(told))


@cache
def figures() -> dict[str, object]:
    """The normal form of each known text and of a triple, and a hash over those of each thousand characters.

    Characters that Unicode 3.2 has: their properties are the same for every Python that there is.
    """
    assigned = unicodedata.ucd_3_2_0
    blocks: dict[str, str] = {}
    for first in range(0, 0x30000, _SIZE):
        characters = [
            chr(p) for p in range(first, first + _SIZE) if assigned.category(chr(p)) not in ("Cn", "Cs", "Co")
        ]
        if characters:
            told = "\n".join(normalised(one) for one in characters)
            blocks[f"{first:05X}"] = sha256(told.encode()).hexdigest()[:8]
    return {
        "texts": {text: normalised(text) for text in known_texts()},
        "dated": [statement(f"Pip is nine{day}").decode() for day in ("", " (said on 2026-01-02)", "（2026-01-02说）")],
        "triple": fact(negation=True, condition="at night")[0].decode(),
        "characters": blocks,
    }


def test_normal_forms_change_with_the_version_of_the_rules_only() -> None:
    pinned = json.loads(PINNED.read_text())
    assert str(STATEMENT_RULES) in pinned, "a new version of the rules has its figures pinned"
    assert figures() == pinned[str(STATEMENT_RULES)]


def test_the_newest_version_that_is_pinned_is_the_one_in_force() -> None:
    assert max(map(int, json.loads(PINNED.read_text()))) == STATEMENT_RULES


if __name__ == "__main__":
    print(json.dumps({str(STATEMENT_RULES): figures()}, ensure_ascii=True, indent=1, sort_keys=True))
