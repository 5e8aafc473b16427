"""`python -m benchmarks eval` on tiny sets: figures that were counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.context_quality import context_blocks
from benchmarks.dataset import read_dataset
from benchmarks.everyday import evaluate_everyday, fresh_service
from benchmarks.vectors import MemoryVectors
from tests.doubles.embedding import WordEmbedder

TURNS = [
    ("1", "s1", "user", "I bought a blue kettle in Graz."),
    ("2", "s1", "assistant", "Lovely colour."),
    ("3", "s2", "user", "The kettle broke."),
    ("4", "s2", "user", "My sister Ida lives in Oslo and works as a nurse."),
]
QUESTIONS = [
    {"question": "What happened to the blue kettle?", "evidence": ["1", "3"], "category": "two"},
    {"question": "Where does Ida live?", "evidence": ["4"], "category": "one"},
    {"question": "Which elephants did I paint?", "evidence": ["2"], "category": "one"},
    {"question": "What is my shoe size?", "evidence": [], "category": "none"},
]
PAIRS = [
    {"a": "I like coffee.", "b": "I don't like coffee.", "label": "contradict"},
    {"a": "I like coffee.", "b": "The bus is late.", "label": "neutral"},
    {"a": "I like coffee.", "b": "I run a tea shop and drink nothing else.", "label": "contradict"},
]
MARK = {"conversation": "a", "turn_id": "4", "subject": ["Ida"], "classes": ["identity", "fact"], "words": ["Oslo"]}
MISSED = {"conversation": "a", "turn_id": "3", "subject": ["self"], "classes": ["skill"], "words": ["elephant"]}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    talk, pairs = tmp_path / "talk", tmp_path / "pairs"
    talk.mkdir()
    pairs.mkdir()
    names = ("turn_id", "session", "speaker", "text")
    turns = [
        {"conversation": "a", "occurred_at": f"2026-01-01T08:0{number}:00Z"} | dict(zip(names, row, strict=True))
        for number, row in enumerate(TURNS)
    ]
    write_lines(talk / "turns.jsonl", turns)
    write_lines(talk / "questions.jsonl", [{"conversation": "a"} | row for row in QUESTIONS])
    write_lines(talk / "marked.jsonl", [MARK, MISSED])
    write_lines(pairs / "pairs.jsonl", PAIRS)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[dict[str, Any]]]:
    assert main([*arguments, "--json"]) == 0
    tables: dict[str, list[dict[str, Any]]] = json.loads(capsys.readouterr().out)
    return tables


def test_search_context_facts_and_pairs_of_every_set_of_a_folder(
    sets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = printed(capsys, "eval", str(sets), "--parts", "search,context,facts,pairs", "--embedders", "words")
    search = {row["category"]: row for row in tables["search, review mode"]}
    assert {name: row["questions"] for name, row in search.items()} == {"all": 3, "one": 2, "two": 1}
    assert (search["two"]["all@10"], search["two"]["mrr"], search["two"]["hit@1"]) == (1, 1, 1)
    assert (search["one"]["hit@1"], search["one"]["hit@10"], search["one"]["mrr"]) == (0.5, 0.5, 0.5)
    [context] = tables["context"]
    assert (context["set"], context["questions"]) == ("talk", 3)
    assert 0 < context["whole@2000"] < 1
    assert 0 < context["tokens@500"] <= 500
    [facts] = tables["facts"]
    assert (facts["turns"], facts["marked"], facts["recall"]) == (3, 2, 0.5)
    every, _ = tables["pairs"]
    assert {name: every[name] for name in ("pairs", "opposed", "found", "precision", "recall")} == {
        "pairs": 3, "opposed": 2, "found": 1, "precision": 1, "recall": 0.5,
    }  # fmt: skip


def test_missed_marks_are_listed_with_their_turn(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = printed(capsys, "facts", str(sets / "talk"))
    assert [(row["turn_id"], row["text"]) for row in tables["missed"]] == [("3", "The kettle broke.")]


def test_an_embedder_finds_what_shares_no_word(sets: Path) -> None:
    data, vectors = read_dataset(sets / "talk"), MemoryVectors(WordEmbedder())
    vectors.fill(one.view for one in data.conversations.values())
    sense = vectors.asked(data.conversations["a"].view, "kettle")
    assert sense.known.all()


def test_a_block_is_never_over_its_budget(sets: Path) -> None:
    data = read_dataset(sets / "talk")
    for question in data.questions:
        blocks = context_blocks(data, question, None, (60, 120, 240))
        assert [block.tokens <= budget for block, budget in zip(blocks, (60, 120, 240), strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        ("questions.jsonl", "{", "line 5"),
        ("questions.jsonl", '{"conversation": "a"}', "line 5"),
        ("questions.jsonl", '{"conversation": "b", "question": "Who?", "evidence": ["1"]}', "'b'"),
        ("marked.jsonl", json.dumps(MARK | {"turn_id": "2"}), "'2'"),
        ("marked.jsonl", json.dumps(MARK | {"words": []}), "line 3, words"),
    ],
)
def test_a_line_that_does_not_fit_is_refused_with_its_place(
    sets: Path, capsys: pytest.CaptureFixture[str], name: str, line: str, told: str
) -> None:
    with (sets / "talk" / name).open("a") as file:
        file.write(f"\n{line}")
    assert main(["eval", str(sets), "--parts", "search,facts", "--embedders", "words"]) == 2
    assert told in capsys.readouterr().err


def test_a_folder_without_sets_and_unknown_names_are_refused(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sets / "empty").mkdir()
    assert main(["eval", str(sets / "empty")]) == 2
    assert "turns.jsonl" in capsys.readouterr().err
    assert main(["eval", str(sets), "--parts", "searching"]) == 2
    assert main(["eval", str(sets), "--sets", "walk"]) == 2
    assert "talk" in capsys.readouterr().err


def test_everyday_talk_through_the_client() -> None:
    with fresh_service() as memory:
        figures = evaluate_everyday(memory, parts=("idle", "updates", "same"), most=1)
    assert {name: row["n"] for name, row in figures.items()} == {"idle": 1, "updates": 1, "same": 1}
