"""A change that was recorded late is marked plainly where people read, in history and in why."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from engramlog_server.api.cli.show.memories import changes
from engramlog_server.events.envelope import utc_text
from tests.given.events import created, folded, mentioned, moment, told


def shown(*beside: dict[str, Any]) -> str:
    """The table of the changes of a creation and a mention, with what the log told beside each."""
    entries = told(folded(created(), mentioned(day=1)).entries)
    out = Console(file=StringIO(), width=400)
    changes([one | more for one, more in zip(entries, beside, strict=True)], out)
    return out.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_only_the_late_line_says_so_and_by_how_much() -> None:
    lines = shown({"late_by": None}, {"late_by": 263 * 86_400.0}).splitlines()
    assert [line.strip().rpartition("; ")[2] for line in lines if "later" in line] == ["recorded 263 days later"]


def test_a_change_that_came_after_a_later_one_says_at_which_instant_it_is_weighed() -> None:
    entries = told(folded(created(), mentioned(day=40), mentioned(day=30)).entries)
    out = Console(file=StringIO(), width=400)
    changes(entries, out)
    lines, told_day = out.file.getvalue().splitlines(), utc_text(moment(40))[:10]  # type: ignore[attr-defined]
    assert [line.partition("; weights at ")[2].strip()[:10] for line in lines if "weights at" in line] == [told_day]


def test_what_was_said_stands_beside_what_the_fold_says() -> None:
    text = shown({"said_reason": "she said so"}, {})
    assert text.count('; said: "she said so"') == 1


def test_changes_without_what_the_log_holds_are_shown_as_before() -> None:
    assert "said" not in shown({}, {})
