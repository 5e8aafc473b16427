"""A list of messages by somebody who had not seen the rules: 40 secrets in English, 40 in Chinese, 150 harmless near misses.

Its first 115 lines were opened to who wrote the rules, after a first measure; the rest (39 secrets, 76 harmless) never was.
All values are invented. A rule may miss what a stranger says; what is held here is how much, so that it gets no worse.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from projections.memory import SECRET
from projections.sensitivity import detect_sensitivity

LIST = Path(__file__).parents[2] / "lists/told_by_strangers.jsonl"
ROWS = [orjson.loads(line) for line in LIST.read_bytes().splitlines()]
OPENED = 115


def _withheld(secret: bool, rows: list[dict[str, object]]) -> int:
    return sum(detect_sensitivity(str(one["text"])) >= SECRET for one in rows if one["secret"] is secret)


def test_nine_in_ten_of_a_strangers_secrets_are_known_and_at_most_three_harmless_texts_withheld() -> None:
    secrets = sum(one["secret"] is True for one in ROWS)
    assert (secrets, len(ROWS)) == (80, 230)
    assert (_withheld(True, ROWS) >= 72, _withheld(False, ROWS) <= 3) == (True, True)


def test_of_the_half_that_nobody_opened_four_in_five_are_known() -> None:
    rows = ROWS[OPENED:]
    assert (_withheld(True, rows) >= 32, _withheld(False, rows) <= 1) == (True, True)
