"""`engramlog eval-facts` from the command line: figures, sample, halves, what is refused; no store is opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.evaluation.facts import FactsAsked, evaluate_facts, half_of
from api.evaluation.marks import read_marks
from ops.main import main

TURNS = [
    ("a", "1", "user", "I live in Graz and play the cello."),
    ("a", "2", "assistant", "I live in a box."),
    ("a", "3", "user", "My dad collects stamps."),
    ("a", "4", "user", "Where do I live?"),
    ("b", "1", "user", "我是做外贸的。"),
    ("b", "2", "user", "记住，会议改到三点。"),
    ("c", "1", "user", "I live in Linz."),
]
MARKS: list[dict[str, Any]] = [
    {"conversation": "a", "turn_id": "1", "subject": ["self"], "classes": ["identity"], "words": ["graz"]},
    {"conversation": "a", "turn_id": "3", "subject": ["dad"], "classes": ["fact", "identity"], "words": ["stamps"]},
    {"conversation": "a", "turn_id": "3", "subject": ["self"], "classes": ["fact"], "words": ["stamps"]},
    {"conversation": "a", "turn_id": "1", "subject": ["self"], "classes": ["skill"], "words": ["Graz"]},
    {"conversation": "b", "turn_id": "1", "subject": ["self"], "classes": ["identity"], "words": ["外贸"]},
    {"conversation": "b", "turn_id": "2", "subject": ["self"], "classes": ["fact"], "words": ["会议"]},
    {"conversation": "c", "turn_id": "1", "subject": ["self"], "classes": ["identity"], "words": ["Graz", "Linz"]},
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in rows) + "\n\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "redis://127.0.0.1:1/0")  # nothing answers there
    rows = [
        {"conversation": c, "turn_id": n, "speaker": who, "text": text, "occurred_at": f"2024-01-0{n}T08:00:00Z"}
        for c, n, who, text in TURNS
    ]
    (tmp_path / "turns.jsonl").write_text(lines(rows), "utf-8")
    (tmp_path / "marked.jsonl").write_text(lines(MARKS), "utf-8")
    return tmp_path


def asked(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert main(["eval-facts", str(folder), "--marked", str(folder / "marked.jsonl"), *options, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_a_mark_is_caught_by_a_memory_of_its_subject_class_and_words(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(folder, capsys)
    assert answer["all"]["turns"] == 6
    assert (answer["all"]["marked"], answer["all"]["caught"], answer["all"]["recall"]) == (7, 4, 0.5714)
    # Of another subject, of another class, and kept in the speaker's own words.
    assert [one["line"] for one in answer["missed"]] == [3, 4, 6]
    assert answer["missed"][0]["made"] == ["User's dad collects stamps (said on 2024-01-03)"]


def test_memories_of_a_hundred_turns_are_those_of_people_by_half_and_language(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(folder, capsys)
    assert answer["all"]["memories"] == 6
    assert answer["all"]["per_100"] == 100.0
    parts = answer["categories"]
    assert set(parts) == {
        "English", "Chinese", "first", "second", "first, English", "first, Chinese", "second, English",
    }  # fmt: skip
    assert parts["second"] == {
        "turns": 1, "memories": 1, "per_100": 100.0, "statements": 1, "asserted": 1.0, "marked": 1, "caught": 1, "recall": 1.0,
    }  # fmt: skip
    assert parts["Chinese"]["caught"] == 1
    assert parts["first"]["turns"] == parts["first, English"]["turns"] + parts["first, Chinese"]["turns"]


def test_a_half_is_measured_without_a_look_at_the_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(folder, capsys, "--half", "second", "--sample", "9")
    assert (answer["conversations"], answer["all"]["marked"], answer["missed"]) == (1, 1, [])
    assert {one["conversation"] for one in answer["sample"]} == {"c"}


def test_halves_are_of_conversations_by_name_and_one_in_the_middle_is_in_the_first() -> None:
    assert half_of(["c", "a", "b"]) == {"a": "first", "b": "first", "c": "second"}
    assert half_of(["only"]) == {"only": "first"}


def test_a_sample_hangs_on_its_seed_and_shows_each_memory_with_its_turn(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once, again, other = (asked(folder, capsys, "--sample", "4", "--seed", seed)["sample"] for seed in "223")
    assert once == again != other
    assert len(once) == 4
    whole = asked(folder, capsys, "--sample", "1000")["sample"]
    assert len(whole) == 6
    assert "sample" not in asked(folder, capsys)
    [home] = [one for one in whole if one["conversation"] == "c"]
    assert home == {"conversation": "c", "turn_id": "1", "speaker": "user", "category": "identity", "kind": "fact",
                    "content": "User lives in Linz", "text": "I live in Linz."}  # fmt: skip


def test_figures_are_shown_saved_and_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marked, saved = str(folder / "marked.jsonl"), str(folder / "before.json")
    assert main(["eval-facts", str(folder), "--marked", marked, "--save", saved, "--sample", "1"]) == 0
    shown = capsys.readouterr().out
    assert "3 conversations, by rules" in shown
    assert "missed a 3: stamps" in shown
    assert "1. " in shown
    assert main(["eval-facts", str(folder), "--marked", marked, "--against", saved]) == 0
    assert "+0.000" in capsys.readouterr().out
    assert asked(folder, capsys, "--against", saved)["differences"]["all"]["recall"] == 0.0


def test_a_set_without_marks_tells_memories_and_no_recall(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval-facts", str(folder), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["all"]
    assert (figures["marked"], figures["memories"]) == (0, 6)
    assert "recall" not in figures


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("{not json", "marked line 2"),
        ("[1]", "marked line 2"),
        ({"turn_id": 7}, "marked line 2, turn_id"),
        ({"conversation": " "}, "marked line 2, conversation"),
        ({"conversation": "nobody"}, "marked line 2, conversation"),
        ({"turn_id": "99"}, "marked line 2, turn_id"),
        ({"turn_id": "2"}, "marked line 2, turn_id"),  # said by an assistant
        ({"subject": "self"}, "marked line 2, subject"),
        ({"subject": []}, "marked line 2, subject"),
        ({"classes": ["home"]}, "marked line 2, classes"),
        ({"words": ["x" * 201]}, "marked line 2, words"),
        ({"words": ["x"] * 21}, "marked line 2, words"),
        ({"words": [None]}, "marked line 2, words"),
    ],
)
def test_a_bad_mark_is_refused_with_its_line_and_field(
    folder: Path, capsys: pytest.CaptureFixture[str], row: str | dict[str, Any], named: str
) -> None:
    line = row if isinstance(row, str) else json.dumps(MARKS[0] | row)
    (folder / "marked.jsonl").write_text(f"{json.dumps(MARKS[0])}\n{line}\n", "utf-8")
    assert main(["eval-facts", str(folder), "--marked", str(folder / "marked.jsonl")]) == 2
    assert named in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "options",
    [
        ["--half", "third"],
        ["--sample", "-1"],
        ["--sample", "1001"],
        ["--seed", "-1"],
        ["--seed", "4294967296"],
        ["--marked", "nowhere.jsonl"],
        ["--against", "nowhere.json"],
        ["--long-turns", "fold"],
    ],
)
def test_what_is_out_of_range_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert main(["eval-facts", str(folder), *options]) == 2
    assert options[0].removeprefix("--") in capsys.readouterr().err


def test_an_empty_file_of_marks_and_a_folder_without_turns_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "marked.jsonl").write_text("\n\n", "utf-8")
    assert main(["eval-facts", str(folder), "--marked", str(folder / "marked.jsonl")]) == 2
    assert "at least one marked turn" in capsys.readouterr().err
    assert main(["eval-facts", str(tmp_path / "none")]) == 2
    assert "turns.jsonl" in capsys.readouterr().err


def test_progress_is_told_conversation_by_conversation(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    evaluate_facts(
        folder, read_marks(folder / "marked.jsonl"), FactsAsked(), lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    "change",
    [{"all": 7}, {"all": {"recall": "high"}}, {"all": {"recall": None}}, {"all": {"recall": True}}, {"categories": []},
     {"categories": {"first": 7}}, {"categories": {"first": {"recall": [1]}}}],
    ids=str,
)  # fmt: skip
def test_a_saved_run_of_another_shape_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any]
) -> None:
    answer = asked(folder, capsys)
    (folder / "before.json").write_text(json.dumps(answer | change), "utf-8")
    marked = str(folder / "marked.jsonl")
    assert main(["eval-facts", str(folder), "--marked", marked, "--against", str(folder / "before.json")]) == 2
    assert "a file that --save wrote" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("named", ["set", "half", "by", "marks"])
def test_a_saved_run_of_another_set_half_way_or_marks_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], named: str
) -> None:
    answer = asked(folder, capsys)
    (folder / "before.json").write_text(json.dumps(answer | {named: "other"}), "utf-8")
    saved = folder / "now.json"
    options = ["--against", str(folder / "before.json"), "--save", str(saved)]
    assert main(["eval-facts", str(folder), "--marked", str(folder / "marked.jsonl"), *options]) == 2
    assert f"against, {named}" in " ".join(capsys.readouterr().err.split())
    assert not saved.exists()


def test_the_same_marks_in_another_order_and_writing_are_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = asked(folder, capsys)["marks"]
    other = [MARKS[0] | {"words": ["GRAZ"]}, *reversed(MARKS[1:])]
    (folder / "marked.jsonl").write_text(lines(other), "utf-8")
    assert asked(folder, capsys)["marks"] == once
    (folder / "marked.jsonl").write_text(lines(MARKS[1:]), "utf-8")
    assert asked(folder, capsys)["marks"] != once


def test_a_mark_of_a_turn_that_is_not_there_is_refused_whichever_half_it_is_in(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "marked.jsonl").write_text(lines([MARKS[0], MARKS[6] | {"turn_id": "99"}]), "utf-8")
    assert main(["eval-facts", str(folder), "--marked", str(folder / "marked.jsonl"), "--half", "first"]) == 2
    assert "marked line 2, turn_id" in " ".join(capsys.readouterr().err.split())


def test_marks_of_turns_in_the_other_half_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(folder, capsys)["marked_elsewhere"] == 0
    answer = asked(folder, capsys, "--half", "second")
    assert (answer["all"]["marked"], answer["marked_elsewhere"]) == (1, 6)
    assert main(["eval-facts", str(folder), "--marked", str(folder / "marked.jsonl"), "--half", "second"]) == 0
    assert "6 marks are of turns in the other half" in capsys.readouterr().out


def test_a_mark_that_is_given_twice_is_refused_with_both_lines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "marked.jsonl").write_text(lines([*MARKS, MARKS[1] | {"classes": ["identity", "fact"]}]), "utf-8")
    assert main(["eval-facts", str(folder), "--marked", str(folder / "marked.jsonl")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "marked line 8" in told
    assert "line 2" in told


def test_a_missing_set_is_refused_without_a_word_of_questions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval-facts", str(folder / "none")]) == 2
    told = capsys.readouterr().err
    assert "turns.jsonl" in told
    assert "questions" not in told
