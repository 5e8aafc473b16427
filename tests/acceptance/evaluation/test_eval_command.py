"""`engramlog eval` from the command line: tables, JSON, two runs compared; no store is opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ops.main import main
from projections.laws import LAWS

TURNS = [("1", "user", "我喜欢喝绿茶"), ("2", "assistant", "Noted: green tea"), ("3", "user", "The kiln is hot")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "redis://127.0.0.1:1/0")  # nothing answers there
    turns = [
        {
            "conversation": "a",
            "turn_id": n,
            "session": "s",
            "speaker": who,
            "text": text,
            "occurred_at": f"2024-01-0{n}T08:00:00Z",
        }
        for n, who, text in TURNS
    ]
    questions = [
        {"conversation": "a", "question": "我喜欢喝什么茶？", "evidence": ["1"], "category": "茶"},
        {"conversation": "a", "question": "Is the kiln hot?", "evidence": ["3"], "category": "clay"},
    ]
    for name, lines in (("turns", turns), ("questions", questions)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps(one) for one in lines), "utf-8")
    return tmp_path


def test_a_set_is_measured_saved_and_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(folder / "before.json")
    assert main(["eval", str(folder), "--save", saved]) == 0
    told = capsys.readouterr().out
    assert "3 memories in 1 conversations, 2 questions; ranking conversation, hybrid (by words), mode review" in told
    assert [line.split()[0] for line in told.splitlines() if line.startswith(("all", "茶", "clay"))] == [
        "all",
        "clay",
        "茶",
    ]
    assert main(["eval", str(folder), "--ranking", "text", "--against", saved]) == 0
    assert "+0.000" in capsys.readouterr().out
    assert main(["eval", str(folder), "--against", saved, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"]["all"]["mrr"] == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        ["--ranking", "best"],
        ["--mode", "any"],
        ["--search-mode", "fuzzy"],
        ["--search-mode", "semantic"],
        ["--profile", "x"],
        ["--against", "nowhere.json"],
        ["--save", "no/such/folder"],
        ["--over-time", "--profile", "tiered"],
        ["--over-time", "--later", "30"],
        ["--over-time", "--mode", "any"],
    ],
)
def test_bad_input_is_refused(folder: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(folder), *wrong]) == 2
    assert "InputError" in capsys.readouterr().err
    assert main(["eval", str(folder / "nowhere")]) == 2


def test_an_embedder_that_is_none_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(folder), "--embedder", "best"]) == 2
    assert "BadSetting" in capsys.readouterr().err


def test_links_and_laws_are_asked_for_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = [
        {
            "conversation": "a",
            "question": "green tea",
            "evidence": ["1", "2"],
            "evidence_old": ["2"],
            "evidence_new": ["1"],
        }
    ]
    (folder / "questions.jsonl").write_text("\n".join(json.dumps(one) for one in questions), "utf-8")
    told = {}
    for name in ((), ("--linked",)):
        assert main(["eval", str(folder), "--profile", "ebbinghaus", "--json", *name]) == 0
        told[name] = json.loads(capsys.readouterr().out)
    assert [one["all"]["current_first"] for one in told.values()] == [0.0, 1.0]
    assert {one["profile"] for one in told.values()} == {"ebbinghaus"}
    assert main(["eval", str(folder), "--linked"]) == 0
    assert "stands above what it replaced in 1.000 of 1 pairs" in capsys.readouterr().out


def test_a_set_over_time_is_one_table_of_laws_and_modes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = folder / "year.json"
    assert main(["eval", str(folder), "--over-time", "--save", str(saved)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"{folder.name}: 2 questions, ranking conversation; hit@10"
    assert told[1].split() == [
        "law",
        "mode",
        "at",
        "import",
        "30",
        "days",
        "later",
        "180",
        "days",
        "later",
        "365",
        "days",
        "later",
    ]
    shown = [line.split()[:2] for line in told[3:]]
    assert shown == [[law, mode] for law in LAWS for mode in ("normal", "review")]
    assert main(["eval", str(folder), "--over-time", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(saved.read_text("utf-8"))
