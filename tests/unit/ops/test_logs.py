"""Log lines: one fact each, as JSON where nobody looks on, and never what somebody said."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog

from ops.logs import SILENT_FIELDS, start_logging, teller


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_a_fact_is_one_line_of_json_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(pretty=False)
    teller(worker="w1")("partition taken", partition=3, epoch=7)
    told = capsys.readouterr()
    assert told.out == ""
    line = json.loads(told.err)
    assert (line["event"], line["worker"], line["partition"], line["level"]) == ("partition taken", "w1", 3, "info")


def test_an_alarm_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging("warning", pretty=False)
    tell = teller()
    tell("nothing to see")
    tell("log rolled back", alarm=True)
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == ["log rolled back"]


@pytest.mark.parametrize("name", sorted(SILENT_FIELDS))
def test_contents_never_reach_a_line(capsys: pytest.CaptureFixture[str], name: str) -> None:
    start_logging(pretty=False)
    teller()("fact", **{name: "my PIN is 4821"})
    assert "4821" not in capsys.readouterr().err
