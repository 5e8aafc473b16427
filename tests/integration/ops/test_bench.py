"""`engramlog bench` runs and gives its figures in their shape; what they are is for people to judge, on a quiet machine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ops.main import main

RATIOS = {"append": 2, "fold": 2, "rebuild": 2, "jobs": 1, "extract": 2}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["bench", *arguments, "--quick", "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_every_comparison_tells_its_ratio_its_limit_and_its_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(capsys, "all", "--profile")
    assert "cores" in answer["machine"]
    for name, count in RATIOS.items():
        assert len(answer[name]) == count
        for row in answer[name]:
            assert 0 < row["ratio_min"] <= row["ratio"] <= row["ratio_max"]
            assert row["ours_per_second"] > 0
            assert row["rounds"] == 2
            assert row["limit"]
    assert [row["at_least"] for row in answer["append"]] == [0.8, 0.4]
    assert {row["at_least"] for row in answer["fold"]} == {0.25}
    assert [row["unit"] for row in answer["extract"]] == ["turns", "turns"]
    rows = answer["search"]["rows"]
    assert {(row["memories"], row["texts"]) for row in rows} == {(300, "talk"), (300, "notes"), (300, "pages")}
    assert [row["events_a_second"] > 0 for row in rows] == [False, True, False, False]
    for row in rows:
        assert 0 < row["whole_ms"]["p50"] <= row["whole_ms"]["p95"]
        assert row["p50_to_parts"] <= row["p95_to_parts"]
    for goal in answer["search"]["goals"]:
        assert goal["holds"] == (goal["found"] <= goal["at_most"])
    assert len(answer["search"]["goals"]) == 7
    assert set(answer["space"]["bytes_an_event_by_commit"]) == {"1", "10", "500"}
    assert answer["space"]["bytes_an_event_log_alone"] < answer["space"]["bytes_an_event_by_commit"]["500"]
    assert answer["past"]["microseconds_an_event"] > 0
    assert sum(answer["profile"]["shares"].values()) == pytest.approx(1.0, abs=0.01)


def test_what_cannot_be_measured_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "everything", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["field"] == "what"


def test_the_door_tells_each_scene_with_what_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = run(capsys, "door")["door"]
    assert len({row["scene"] for row in rows}) == 3
    assert len(rows) == 8
    for row in rows:
        assert row["holds"] == (row["found"] <= row["at_most"])
    assert rows[0]["answers"] == [413]
    assert rows[0]["others_asked"] > 0
    assert rows[6]["found"] == 0
