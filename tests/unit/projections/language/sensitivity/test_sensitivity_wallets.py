"""Lists of a wallet's words: looked for only where enough of them stand, which changes no answer."""

from __future__ import annotations

from random import Random

import pytest

from engramlog_server.projections.language.sensitivity import credentials
from engramlog_server.projections.language.sensitivity.level import SECRET, detect_sensitivity

WORDS = sorted(credentials.wallet_words())
OTHERS = ("foo", "zzzzabandon", "abandonzzzz", "a", "12", "bar", "x" * 9)
BETWEEN = (" ", " ", ", ", "; ", "\n", "-", " | ", "", "1. ")


def told(chance: Random) -> str:
    """Some words after a word for a seed, most of them a wallet's, joined in whatever way."""
    share = chance.choice([0.5, 0.8, 0.95])
    some = [chance.choice(WORDS if chance.random() < share else OTHERS) for _ in range(chance.randint(6, 20))]
    between = chance.choice([(" ",), (", ",), ("-",), BETWEEN])
    return "my seed phrase: " + "".join(one + chance.choice(between) for one in some)


def test_what_is_spared_would_have_found_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(12)
    texts = [told(chance) for _ in range(1_500)]
    found = [detect_sensitivity(text) for text in texts]
    monkeypatch.setattr(credentials, "_LEAST", 0)
    assert found == [detect_sensitivity(text) for text in texts]
    assert 100 < found.count(SECRET) < 1_400
