"""Curves in a terminal: within the columns asked for, every law named, every kind of event explained."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import plotext
import pytest

from api.pictures.terminal_curves import letters_of, terminal_curves
from events.errors import InputError

START = datetime(2025, 3, 3, tzinfo=UTC)
LAWS = {"weighted": 0.3, "ebbinghaus": 0.1, "consolidating": 0.3, "tiered": 0.2}


def comparison_of(days: int = 90, **more: Any) -> dict[str, Any]:
    times = [(START + timedelta(days=day)).isoformat().replace("+00:00", "Z") for day in range(days)]
    weights = [None if day < 5 else 0.95 ** (day - 5) for day in range(days)]
    events = [
        {"time": times[day], "event": "x", "decision": kind} for day, kind in ((0, "create"), (days // 2, "negate"))
    ]
    laws = {name: {"threshold": threshold, "weights": weights} for name, threshold in LAWS.items()}
    return {"laws": laws, "times": times, "events": events, "title": "早上喝咖啡"} | more


def lines_of(comparison: dict[str, Any], width: int, height: int) -> list[str]:
    return str(plotext.uncolorize(terminal_curves(comparison, width, height))).splitlines()


@pytest.mark.parametrize(("width", "height"), [(110, 34), (160, 60), (80, 24), (79, 50)])
def test_the_picture_has_the_width_asked_for(width: int, height: int) -> None:
    lines = lines_of(comparison_of(), width, height)
    assert max(map(len, lines)) == width
    assert len(lines) == height


@pytest.mark.parametrize(("width", "height"), [(10, 3), (40, 10)])
def test_more_room_is_taken_where_panels_would_be_too_small(width: int, height: int) -> None:
    lines = lines_of(comparison_of(), width, height)
    assert max(map(len, lines)) == 40
    assert len(lines) >= 4 * 8


def test_title_laws_thresholds_dates_and_kinds_are_written() -> None:
    lines = lines_of(comparison_of(), 110, 34)
    assert lines[0] == "早上喝咖啡"
    assert lines[-1] == "c create   n negate"
    assert all(any(f"{name} (normal from {threshold})" in line for line in lines) for name, threshold in LAWS.items())
    assert sum(line.count("2025-03-03") for line in lines) == 4


def test_an_event_is_a_letter_on_the_curve() -> None:
    lines = lines_of(comparison_of(laws={"weighted": comparison_of()["laws"]["weighted"]}), 60, 20)
    panel = [line for line in lines if "│" in line or "┤" in line]
    (create,) = [line.index("c") for line in panel if "c" in line]
    (negate,) = [line.index("n") for line in panel if "n" in line]
    assert create < 8 < 25 < negate < 40


def test_a_curve_that_stays_high_is_drawn_above_its_threshold() -> None:
    steady = {"weighted": {"threshold": 0.3, "weights": [0.9] * 90}}
    lines = lines_of(comparison_of(laws=steady, events=[]), 60, 20)
    dotted = next(number for number, line in enumerate(lines) if "┈" in line)
    curve = [number for number, line in enumerate(lines) if any("\u2801" <= char <= "\u28ff" for char in line)]
    assert len(curve) == 1
    assert curve[0] < dotted


@pytest.mark.parametrize("more", [{"events": []}, {"laws": {"tiered": {"threshold": 0.2, "weights": [None] * 90}}}])
def test_nothing_known_is_an_empty_panel(more: dict[str, Any]) -> None:
    assert len(lines_of(comparison_of(**more), 80, 30)) >= 28


def test_one_instant_is_drawn() -> None:
    single = comparison_of(days=1, laws={"weighted": {"threshold": 0.3, "weights": [0.5]}}, events=[])
    assert any("03-03 00:00" in line for line in lines_of(single, 60, 20))


@pytest.mark.parametrize("missing", [{"laws": {}}, {"times": []}])
def test_a_comparison_of_nothing_is_refused(missing: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="at least one of each"):
        terminal_curves(comparison_of(**missing), 80, 24)


@pytest.mark.parametrize(
    ("kinds", "letters"),
    [
        (["create", "compress", "access"], {"create": "c", "access": "a", "compress": "o"}),
        (["delete", "delete", "purge"], {"delete": "d", "purge": "p"}),
        (["pp", "p", "ppp"], {"p": "p", "pp": "P", "ppp": "a"}),
        (["提到"], {"提到": "a"}),
        ([], {}),
    ],
)
def test_every_kind_has_a_letter_of_its_own(kinds: list[str], letters: dict[str, str]) -> None:
    assert letters_of(kinds) == letters
