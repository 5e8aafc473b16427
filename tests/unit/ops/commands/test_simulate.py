"""`engramlog simulate`: figures for people and as JSON, a picture, refusals by name; and no store is opened for it."""

from __future__ import annotations

import json
from typing import Any

import plotext
import pytest

from ops.commands.sizing.simulate import KINDS
from ops.main import main
from ops.planning.simulation.asked import KINDS as KNOWN
from ops.planning.simulation.asked import SimulationAsked, happenings_of
from ops.planning.simulation.picture import course
from ops.planning.simulation.running import simulate

SMALL = (
    "simulate", "--events-per-day", "1e7", "--owners", "1000", "--partitions", "16", "--primaries", "2", "--workers", "2",
    "--hours", "0.03", "--node-timeout", "2",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_store_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "redis://127.0.0.1:1/0")


def test_json_has_what_was_asked_what_came_of_it_and_each_hour(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--fail", "worker-killed@40s", "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["asked"]["partitions"] == 16
    assert told["asked"]["peak"] == pytest.approx(5.2 * 1e7 / 86_400)
    (moved,) = told["happened"]
    assert (moved["kind"], moved["at"]) == ("worker-killed", 40.0)
    assert moved["taken_over_seconds"] > 1.0
    assert [hour["hour"] for hour in told["hours"]] == [0.0]
    assert 0 < told["folded"] <= told["events"]


def test_people_see_the_course_the_figures_and_what_each_fault_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--fail", "primary-killed@40s", "--ram-gb", "0.01", "--owners", "1e8"]) == 0
    told = capsys.readouterr().out
    for part in (
        "events a second, appended",
        "seconds behind",
        "primary-killed",
        "0:00:40",
        "busiest primary",
        "seed 7",
    ):
        assert part in told
    assert main([*SMALL, "--no-picture", "--ram-gb", "0.01", "--events-per-day", "1e9", "--peak", "0"]) == 0
    bare = capsys.readouterr().out
    assert "seconds behind" not in bare
    assert "a primary is full after 0:00:" in bare


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--fail", "fire@1h"], "worker-killed"),
        (["--partitions", "2000"], "1,024"),
        (["--hours", "nan"], "hours"),
        (["--peak", "1e7"], "times the mean"),
    ],
)
def test_what_cannot_be_simulated_is_refused_and_what_can_is_told(
    options: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, *options]) == 2
    assert named in capsys.readouterr().err


def test_the_help_names_every_kind_that_may_happen() -> None:
    expanded = KINDS.replace("-ended", "worker-ended").replace("-joins", "worker-joins")
    assert expanded.split(", ") == sorted(KNOWN, key=expanded.index)
    assert len(KNOWN) == len(expanded.split(", "))


def test_a_picture_keeps_the_peak_and_fits_its_width() -> None:
    _, samples = simulate(
        SimulationAsked(
            events_per_day=1e7,
            peak=0.0,
            partitions=16,
            primaries=1,
            workers=1,
            hours=0.05,
            happenings=happenings_of(["burst@100s"]),
        )
    )
    lines = str(plotext.uncolorize(course(samples, 80))).splitlines()
    assert max(map(len, lines)) <= 80
    most = max(one.appended for one in samples)
    assert any(f"{most:,.0f}" in line for line in lines)
    assert most > 2.5 * 1e7 / 86_400  # the burst
