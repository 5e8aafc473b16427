"""`engramlog plan` at its command, and held against a store that is really filled."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ops.bench.scale.growing import grow
from ops.bench.scale.servers import ONE, servers
from ops.bench.scale.traffic import Traffic, owners_of
from ops.main import main
from ops.planning.asked import Demand
from ops.planning.plan import FILES, plan

EVENTS = 20_000
ASKED = ("plan", "--events-per-day", "2000", "--owners", "50")
PRESENT = {"events": 100, "memory": {"bytes_an_event": 2_000.0}, "growth": {"events_a_day": 5_000.0}}


@pytest.mark.parametrize("sealed", [False, True])
def test_a_store_takes_what_was_planned_for_it(sealed: bool) -> None:
    with servers(ONE, None) as nodes:
        nodes.new_store(16)
        empty = nodes.used()
        grown = grow(nodes, Traffic(owners_of(EVENTS), "talk", seed=7), EVENTS, sealed=sealed, slices=1)
        data = nodes.used().memory - empty.memory
        nodes.primaries[0].rewrite()
        file = nodes.used().aof
    told = {
        line.name: line.amount
        for line in plan(Demand(events_per_day=EVENTS, owners=owners_of(EVENTS), days=1, sealed=sealed)).lines
    }
    assert told["data"].likely == pytest.approx(data, rel=0.1)
    assert told["data"].low < data < told["data"].high
    assert told["disk of a node"].likely / FILES[1] == pytest.approx(file, rel=0.2)
    assert grown.body == pytest.approx(423, rel=0.05)


def asked(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main([*words, "--json"]) == code
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_it_opens_no_store_and_tells_lines_warnings_and_assumptions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    answer = asked(capsys, *ASKED, "--replicas", "0", "--hot-hours", "6")
    assert answer["asked"]["owners"] == 50
    assert [one["name"] for one in answer["lines"]][:3] == ["partitions", "primaries", "replicas"]
    assert [one["code"] for one in answer["warnings"]] == ["no_replica"]
    assert any("no archive" in one for one in answer["assumptions"])
    assert main([*ASKED, "--replicas", "0", "--hot-hours", "6"]) == 0
    shown = capsys.readouterr().out
    assert "memory of a node" in shown
    assert "no_replica" in shown
    assert not (tmp_path / "data").exists()


def test_it_goes_by_what_a_store_tells_of_itself(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "capacity.json"
    file.write_text(json.dumps(PRESENT))
    answer = asked(capsys, "plan", "--owners", "50", "--days", "1", "--from-capacity", str(file))
    assert answer["asked"]["events_per_day"] == 5_000
    data = next(one["amount"]["likely"] for one in answer["lines"] if one["name"] == "data")
    assert data == pytest.approx(5_100 * 2_000)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(file.read_bytes())))
    assert asked(capsys, "plan", "--owners", "50", "--days", "1", "--from-capacity", "-") == answer


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("--owners", "0", "--events-per-day", "5"), "owners"),
        (("--owners", "5", "--events-per-day", "nan"), "events_per_day"),
        (("--owners", "5"), "events_per_day"),
        (("--owners", "5", "--events-per-day", "5", "--primaries", "2"), "primaries"),
        (("--owners", "5", "--events-per-day", "5", "--active", "1.1"), "active"),
        (("--owners", "5", "--from-capacity", "/nowhere/at all"), "from_capacity"),
    ],
)
def test_bad_input_is_refused_by_its_field(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], field: str
) -> None:
    refusal = asked(capsys, "plan", *words, code=2)
    assert refusal["field"] == field
    assert refusal["allowed"]
