"""A list of messages by somebody who had not seen the rules: 40 secrets in English, 40 in Chinese, 150 harmless near misses.

Who wrote the rules opened its first 115 lines after a first measure, and the rest (39 secrets, 76 harmless) after a second, when
32 of the 39 were known: it measures nothing unseen any more. All values are invented. What is held is that it gets no worse.
"""

from __future__ import annotations

from collections import Counter

import orjson

from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.memory.record import SECRET
from tests.places import ROOT

LISTS = ROOT / "tests" / "lists"


def rows_of(name: str) -> list[dict[str, object]]:
    """A list, line by line."""
    return [orjson.loads(line) for line in (LISTS / name).read_bytes().splitlines()]


ROWS = rows_of("told_by_strangers.jsonl")
UNSEEN = rows_of("told_unseen.jsonl")
"""By another stranger, measured once when the rules were done; nobody who writes rules reads it."""


def _withheld(secret: bool, rows: list[dict[str, object]]) -> int:
    return sum(detect_sensitivity(str(one["text"])) >= SECRET for one in rows if one["secret"] is secret)


def test_at_least_nineteen_in_twenty_of_a_strangers_secrets_are_known_and_at_most_one_harmless_text_withheld() -> None:
    secrets = sum(one["secret"] is True for one in ROWS)
    assert (secrets, len(ROWS)) == (80, 230)
    assert (_withheld(True, ROWS) >= 76, _withheld(False, ROWS) <= 1) == (True, True)


def test_at_least_nine_in_ten_secrets_of_a_list_that_no_rule_was_made_for_are_known() -> None:
    assert Counter((one["language"], one["secret"]) for one in UNSEEN) == {
        ("en", True): 40,
        ("zh", True): 40,
        ("en", False): 75,
        ("zh", False): 75,
    }
    assert (_withheld(True, UNSEEN) >= 72, _withheld(False, UNSEEN) <= 3) == (True, True)
