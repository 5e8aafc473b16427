"""`engramlog compare`: the laws beside each other in tables and pictures, for people and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog_server.projections.laws import LAWS
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.rows import each_row

NOW = "2026-03-05T08:00:00Z"
PIN = "my locker PIN is 4821"
EVENTS = [
    event(1, category="identity", content="我叫[b]Ada[/b]"),
    event(2, content="the desk is on the fourth floor"),
    event(3, type_="MemoryMentioned", memory_id="m2") | {"occurred_at": "2026-01-15T08:00:00Z"},
    event(4, content=PIN),
]


@pytest.fixture
def cli(cli: Cli) -> Cli:
    cli("append", "-", stdin=lines(EVENTS))
    return cli


def test_an_overview_tells_each_law_s_verdict_on_each_memory(cli: Cli) -> None:
    told = cli("compare", "ada", "--at", NOW).out
    assert told.startswith("3 memories, ada, position ")
    assert "profile  weighted" in told
    (row,) = (line for line in told.splitlines() if line.startswith("m2 "))
    verdicts = "0.794 summary shown 0.000 archive compressed 0.327 summary shown 0.167 summary under_threshold"
    assert verdicts in " ".join(row.split())
    assert "我叫[b]Ada[/b]" in told
    assert "weighted, ebbinghaus" in told


def test_one_memory_is_told_with_its_events_under_every_law(cli: Cli) -> None:
    told = cli("compare", "ada", "m2", "--until", NOW).out
    (row,) = (line for line in told.splitlines() if "MemoryMentioned" in line)
    assert row.split()[1:6] == ["2026-01-15", "08:00", "reinforce", "1.008", ">"]
    assert [law for law in LAWS if law not in told] == []
    assert "--out FILE.svg" in told


def test_the_curves_are_drawn_into_a_file_and_the_answer_names_it(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "desk.svg"
    told = cli.json("compare", "ada", "m2", "--until", NOW, "--out", str(file))
    assert told["picture"] == {"file": str(file)}
    assert file.read_bytes().startswith(b"<?xml")
    assert "desk.svg" in cli("compare", "ada", "m2", "--out", str(file)).out


def test_comparing_withholds_a_secret_and_leaves_no_trace(cli: Cli) -> None:
    before = cli.json("status")["events"]
    assert "4821" not in cli("compare", "ada", "--at", NOW).out
    assert "4821" not in cli("compare", "ada", "m4").out
    assert cli.json("get", "ada", "m2", "--no-trace")["access_count"] == 0
    assert cli.json("status")["events"] == before


@each_row(
    ("words", "refused"),
    [
        (["ada", "--points", "9"], "points: got '9'; allowed: nothing without a memory's ID"),
        (["ada", "--out", "x.svg"], "out: got 'x.svg'; allowed: nothing without a memory's ID"),
        (["ada", "m2", "--at", NOW], "allowed: nothing with a memory's ID"),
        (["ada", "m2", "-k", "3"], "limit: got '3'; allowed: nothing with a memory's ID"),
        (["ada", "m2", "--points", "1"], "points: got 1; allowed: a whole number from 2 to 2000"),
        (["ada", "m2", "--since", "yesterday"], "since: got 'yesterday'; allowed: an RFC 3339"),
        (["ada", "m2", "--since", NOW, "--until", "2026-01-06T08:00:00Z"], "until: got '2026-01-06T08:00:00Z'"),
        (["ada", "m2", "--out", "curve.gif"], "allowed: a name that ends in .svg"),
        (["ada", "-k", "0"], "limit: got 0; allowed: a whole number from 1 to 1000"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_what_makes_no_sense_together_is_refused_in_words(cli: Cli, words: list[str], refused: str) -> None:
    assert refused in " ".join(cli("compare", *words, code=2).err.split())
