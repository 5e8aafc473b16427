"""A block for a turn that is not recorded for it says so: an auditor asks `answers` for it later."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.cli.show.reports import block


def told(capsys: pytest.CaptureFixture[str], **changed: Any) -> str:
    answer = {
        "block": "<memory></memory>",
        "stable": "",
        "turn": "<memory></memory>",
        "sizes": None,
        "tokens": 9,
        "budget": 1500,
        "position": "5:30",
        "turn_id": "q1",
        "injected": ["tea"],
        "recorded": {"status": "off"},
        "dropped": {},
        "left_out": {},
        "searches": [],
    } | changed
    block(answer)  # type: ignore[arg-type]
    return capsys.readouterr().err


def test_a_block_for_a_turn_that_is_only_looked_at_says_that_it_is_not_recorded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "not recorded for q1: --trace records it" in told(capsys)


@pytest.mark.parametrize(
    "changed",
    [
        {"recorded": {"status": "appended", "position": "5:30"}},
        {"turn_id": None},
        {"injected": []},
        {"as_of": "2026-03-03"},
    ],
)
def test_what_is_recorded_or_has_nothing_to_record_says_nothing_of_it(
    capsys: pytest.CaptureFixture[str], changed: dict[str, Any]
) -> None:
    assert "not recorded" not in told(capsys, **changed)
