"""A list of messages by somebody who had not seen the rules: 40 secrets in English, 40 in Chinese, 150 harmless near misses.

Who wrote the rules opened its first 115 lines after a first measure, and the rest (39 secrets, 76 harmless) after a second, when
32 of the 39 were known: it measures nothing unseen any more. All values are invented. What is held is that it gets no worse.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from projections.memory import SECRET
from projections.sensitivity import detect_sensitivity

LIST = Path(__file__).parents[2] / "lists/told_by_strangers.jsonl"
ROWS = [orjson.loads(line) for line in LIST.read_bytes().splitlines()]


def _withheld(secret: bool, rows: list[dict[str, object]]) -> int:
    return sum(detect_sensitivity(str(one["text"])) >= SECRET for one in rows if one["secret"] is secret)


def test_at_least_nineteen_in_twenty_of_a_strangers_secrets_are_known_and_at_most_one_harmless_text_withheld() -> None:
    secrets = sum(one["secret"] is True for one in ROWS)
    assert (secrets, len(ROWS)) == (80, 230)
    assert (_withheld(True, ROWS) >= 76, _withheld(False, ROWS) <= 1) == (True, True)
