"""`engramlog eval-pairs` from the command line: tables, JSON, halves, two runs compared; no store is opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.evaluation.pairs import evaluate_pairs, read_pairs
from ops.main import main
from projections.language.contradiction.relation import Relation

PAIRS = [
    {"id": 1, "a": "I live in Berlin", "b": "I live in Munich", "label": "contradict", "kind": "statement"},
    {"id": 2, "a": "I like tea", "b": "I like coffee", "label": "neutral", "kind": "statement"},
    {"id": 3, "a": "我喜欢猫", "b": "我养了一条鱼", "label": "contradict", "kind": "statement"},
    {"id": 4, "a": "你喜欢猫吗？", "b": "你讨厌猫吗？", "label": "antonym", "kind": "rewrite"},
    {"id": 5, "a": "你喜欢猫吗？", "b": "你喜欢小猫吗？", "label": "synonym", "kind": "rewrite"},
    {"id": 6, "a": "The door is open", "b": "The door is closed", "label": "entail", "kind": "rewrite"},
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "redis://127.0.0.1:1/0")  # nothing answers there
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in PAIRS) + "\n\n", "utf-8")
    return path


def test_precision_recall_and_what_is_sure_are_told_by_kind(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval-pairs", str(file), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["all"] == {
        "pairs": 6,
        "opposed": 3,
        "found": 3,
        "sure": 1,
        "precision": 0.6667,
        "recall": 0.6667,
        "f1": 0.6667,
        "accuracy": 0.6667,
        "sure_precision": 1.0,
    }
    assert answer["categories"]["rewrite"]["precision"] == 0.5
    assert answer["categories"]["statement"]["recall"] == 0.5
    assert "sure_precision" not in answer["categories"]["rewrite"]
    assert answer["labels"]["contradict"] == {"contradicts": 1, "unrelated": 1}
    assert answer["labels"]["synonym"] == {"same": 1}


def test_a_set_is_shown_saved_and_compared(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(file.parent / "before.json")
    assert main(["eval-pairs", str(file), "--save", saved]) == 0
    told = capsys.readouterr().out
    assert "pairs.jsonl: 6 pairs" in told
    assert [line.split()[0] for line in told.splitlines() if line.startswith(("all", "rewrite", "statement"))] == [
        "all",
        "rewrite",
        "statement",
    ]
    assert main(["eval-pairs", str(file), "--against", saved]) == 0
    assert "+0.000" in capsys.readouterr().out
    assert main(["eval-pairs", str(file), "--against", saved, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"]["all"]["f1"] == 0.0


def test_halves_part_the_groups_and_nothing_is_in_both(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    lines = ({"id": n, "a": "x", "b": "y", "label": "neutral", "group": f"g{n // 3}"} for n in range(60))
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    first, second = ({pair.id for pair in read_pairs(path, half)} for half in ("first", "second"))
    assert first
    assert second
    assert first.isdisjoint(second)
    assert first | second == {pair.id for pair in read_pairs(path)}
    assert {int(one) // 3 for one in first}.isdisjoint(int(one) // 3 for one in second)


def test_any_judge_can_be_measured_by_the_same_figures(file: Path) -> None:
    told = evaluate_pairs(read_pairs(file), judge=lambda _new, _known: Relation("contradicts", False, ("always",)))
    assert (told["all"]["precision"], told["all"]["recall"], told["all"]["found"]) == (0.5, 1.0, 6)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 1"),
        ("[1]", "a JSON object"),
        ('{"id": "1", "a": "x", "b": " ", "label": "neutral"}', "line 1, b"),
        ('{"id": "1", "a": "x", "b": "y"}', "line 1, label"),
        ("", "at least one pair"),
    ],
)
def test_bad_pairs_are_refused_naming_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(line, "utf-8")
    assert main(["eval-pairs", str(path)]) == 2
    assert said in capsys.readouterr().err.replace("\n", " ")


def test_a_missing_file_and_an_unknown_half_are_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval-pairs", str(file.parent / "nowhere")]) == 2
    assert main(["eval-pairs", str(file), "--half", "third"]) == 2
    assert "all, first, second" in capsys.readouterr().err.replace("\n", " ")
