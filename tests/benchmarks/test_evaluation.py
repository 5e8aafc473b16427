"""`python -m benchmarks eval` on tiny sets: figures that were counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.dataset import Question, read_dataset
from benchmarks.everyday import evaluate_everyday, run_script
from benchmarks.goals import goal_rows
from benchmarks.profile import profile_lines
from benchmarks.quality import bm25, context_blocks
from benchmarks.rows import KINDS, ROWS, evaluate_rows
from benchmarks.service import fresh_service
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


def test_plain_bm25_is_compared_and_questions_are_asked_a_year_later(
    sets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = printed(capsys, "eval", str(sets), "--parts", "search,later", "--embedders", "bm25,words")
    plain, ours = (
        next(row for row in tables["search, review mode"] if (row["embedder"], row["category"]) == (name, "all"))
        for name in ("bm25", "words")
    )
    assert (plain["hit@1"], ours["over bm25@1"]) == (2 / 3, ours["hit@1"] - plain["hit@1"])
    [later] = tables["context, later"]
    assert (later["days"], later["lost@2000"]) == (365, 0)


def test_plain_bm25_ranks_the_rarer_word_and_pairs_of_chinese_characters(sets: Path) -> None:
    with (sets / "talk" / "turns.jsonl").open("a") as file:
        line = {"conversation": "a", "turn_id": "5", "session": "s3", "speaker": "user", "text": "我喜欢喝龙井茶。"}
        file.write("\n" + json.dumps(line | {"occurred_at": "2026-01-01T09:00:00Z"}))
    ranked = bm25(read_dataset(sets / "talk"))
    asked = [Question("a", text, (), "", None, (), ()) for text in ("the broke kettle", "龙井", "elephants")]
    assert [ranked(one) for one in asked] == [["3", "1"], ["5"], []]


def test_goals_are_compared_with_the_figures_of_each_wait() -> None:
    rows = [{"wait": wait, "n": 60, "whole": share} for wait, share in ((0.0, 0.95), (90.0, 0.85))]
    assert goal_rows({"everyday: tasks": rows}) == [
        {"figure": "tasks: whole", "before": ".017", "now": 0.95, "after 90 s": 0.85, "goal": ">= 0.9", "reached": "no"}
    ]
    [at_most] = goal_rows({"everyday: idle": [{"wait": 0.0, "any_related": 0.05}]})
    assert (at_most["goal"], at_most["reached"]) == ("<= 0.05", "yes")


def test_everyday_talk_own_rows_and_imported_profiles_through_the_client(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    for kind in KINDS:
        first, second, *_ = (ROWS / f"{kind}.jsonl").read_text("utf-8").splitlines()
        (rows / f"{kind}.jsonl").write_text(f"{first}\n{second}\n", "utf-8")
    script = tmp_path / "script.py"
    script.write_text("import json, sys\nprint('part')\nprint(json.dumps({sys.argv[2]: {'n': 1}}))\n", "utf-8")
    with fresh_service() as service:
        figures = evaluate_everyday(service, parts=("idle", "updates", "same"), most=1)
        facts = evaluate_everyday(service, parts=("facts",), most=1)
        by_script = run_script(script, service, 0)
        own = evaluate_rows(service, folder=rows)
    assert {name: row["n"] for name, row in figures.items()} == {"idle": 1, "updates": 1, "both hold": 1}
    assert {(row["ended"], row["in1500"] > 0.5) for row in facts.values()} == {(0, True)}
    assert sum(row["CPU s"] for row in figures.values()) > 0
    assert list(by_script) == ["facts,tasks,idle", "updates", "reverse", "same", "chats", "large"]
    assert {(row["rows"], row["half"]) for row in own["figures"]} >= {(kind, "all") for kind in KINDS}
    assert {one["half"] for one in own["failed"]} <= {"build"}


def test_the_profile_of_an_imported_chat_is_listed_with_its_turns(sets: Path) -> None:
    [line] = profile_lines(sets, 1)
    assert line["line"] in line["turn"] or "Ida" in line["line"]
