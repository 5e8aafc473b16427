"""Evaluating search on a small set of its own: what is measured, and which folders and lines are refused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.evaluation.meaning import kept_vectors, vectors_by_letters
from api.evaluation.search import differences, evaluate, measured, read_saved, save
from events.errors import InputError
from projections.laws import LAWS
from projections.laws.modes import Mode
from projections.ranking.search_request import SearchRequest
from tests.doubles.embedding import WordEmbedder

TURNS = [
    ("en", "1", "s1", "Ann", "Which glaze did you choose?"),
    ("en", "2", "s1", "Bob", "The blue one"),
    ("en", "3", "s1", "Ann", "Lunch was late"),
    ("zh", "1", "s1", "user", "我买了一把紫砂壶"),
    ("zh", "2", "s1", "assistant", "推荐你试试普洱"),
]
STRICT = SearchRequest(include_faded=False)
"""Modes as published: what age withholds is not found."""
QUESTIONS: list[dict[str, Any]] = [
    {"conversation": "en", "question": "Which glaze?", "evidence": ["2"], "category": "answered"},
    {"conversation": "zh", "question": "我买了什么壶？", "evidence": ["1", "2"], "asked_at": "2024-02-01T00:00:00Z"},
    {"conversation": "zh", "question": "我养了什么猫？", "evidence": []},
]


def written(folder: Path, questions: list[Any] | None = None, turns: list[Any] | None = None) -> Path:
    names = ("conversation", "turn_id", "session", "speaker", "text")
    said = [
        dict(zip(names, one, strict=True)) | {"occurred_at": f"2024-01-01T08:0{number}:00Z"}
        for number, one in enumerate(TURNS)
    ]
    for name, lines in (
        ("turns", said if turns is None else turns),
        ("questions", QUESTIONS if questions is None else questions),
    ):
        text = b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines)
        (folder / f"{name}.jsonl").write_bytes(text)
    return folder


def test_the_evidence_s_ranks_are_measured_by_category(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    told = evaluate(written(tmp_path), SearchRequest(), "review", lambda done, total: steps.append((done, total)))
    assert (told["conversations"], told["memories"], told["questions"], told["without_evidence"]) == (2, 5, 2, 1)
    # The question itself matches best, then its asker's next turn, then the answer.
    hits = {"hit@1": 0.0, "hit@3": 1.0, "hit@5": 1.0, "hit@10": 1.0}
    assert told["categories"]["answered"] == {
        "questions": 1,
        **hits,
        "all@10": 1.0,
        "near@10": 1.0,
        "recall@10": 1.0,
        "mrr": 0.3333,
    }
    assert told["categories"]["without category"]["hit@1"] == 1.0
    assert (told["set"], told["ranking"], told["mode"]) == (tmp_path.name, "conversation", "review")
    assert steps == [(1, 2), (2, 2)]


def test_under_text_an_answer_without_the_question_s_words_is_not_found(tmp_path: Path) -> None:
    told = evaluate(written(tmp_path), SearchRequest("text"), "review")
    assert told["categories"]["answered"]["mrr"] == 0.0


def test_a_question_asked_later_finds_what_its_mode_still_shows(tmp_path: Path) -> None:
    folder = written(tmp_path)
    years = 3_650.0
    shown = {mode: evaluate(folder, STRICT, mode, later_days=years)["all"]["hit@5"] for mode in ("review", "normal")}
    assert shown == {"review": 1.0, "normal": 0.0}
    assert evaluate(folder, SearchRequest(), "normal")["all"]["hit@5"] == 1.0


def test_the_law_is_chosen_for_the_evaluation_alone(tmp_path: Path) -> None:
    folder = written(tmp_path)
    told = {law: evaluate(folder, STRICT, "normal", later_days=20.0, profile=law) for law in LAWS}
    assert {law: one["profile"] for law, one in told.items()} == {law: law for law in LAWS}
    assert told["ebbinghaus"]["all"]["hit@5"] < told["weighted"]["all"]["hit@5"] == 1.0


UPDATED = [
    {
        "conversation": "zh",
        "question": "我买了什么壶？",
        "evidence": ["1", "2"],
        "evidence_old": ["1"],
        "evidence_new": ["2"],
    }
]


@pytest.mark.parametrize("mode", ["normal", "review"])
def test_with_links_what_holds_now_stands_above_what_it_replaced(tmp_path: Path, mode: Mode) -> None:
    folder = written(tmp_path, UPDATED)
    alone, linked = (evaluate(folder, SearchRequest(), mode, linked=linked)["all"] for linked in (False, True))
    assert (alone["pairs"], alone["current_first"]) == (1, 0.0)
    assert (linked["pairs"], linked["current_first"]) == (1, 1.0)


def test_links_of_unknown_turns_change_nothing(tmp_path: Path) -> None:
    lost = [UPDATED[0] | {"evidence_old": ["9"], "evidence_new": ["8"]}]
    assert "pairs" not in evaluate(written(tmp_path, lost), SearchRequest(), "review", linked=True)["all"]


def test_meanings_are_compared_where_there_is_an_embedder_and_computed_once(tmp_path: Path) -> None:
    folder, embedder = written(tmp_path), WordEmbedder()
    for _ in range(2):
        steps: list[tuple[int, int]] = []
        with kept_vectors(embedder, tmp_path / "kept.vectors") as kept:
            told = evaluate(
                folder,
                SearchRequest(),
                "review",
                vectors=kept,
                on_embedding=lambda done, total, s=steps: s.append((done, total)),
            )
        assert (told["model"], told["all"]["hit@5"]) == ("words/1", 1.0)
    assert sorted(embedder.embedded) == sorted(text for *_, text in TURNS)
    assert steps == []


def test_what_was_embedded_before_a_run_was_ended_is_kept(tmp_path: Path) -> None:
    folder = written(tmp_path, turns=[turn(n) for n in range(100)], questions=[ASKED])
    embedder = WordEmbedder()

    def end(_texts: Sequence[str]) -> None:
        if embedder.asked:
            raise KeyboardInterrupt

    embedder.before = end
    for _ in range(2):
        with kept_vectors(embedder, tmp_path / "kept.vectors") as kept, suppress(KeyboardInterrupt):
            evaluate(folder, SearchRequest(), "review", vectors=kept)
        embedder.before = lambda _texts: None
    assert len(embedder.embedded) == len(set(embedder.embedded)) == 100


def test_by_letters_each_conversation_has_its_own_model(tmp_path: Path) -> None:
    latin, other = WordEmbedder("latin"), WordEmbedder("other")
    folder = written(tmp_path)
    with vectors_by_letters(latin, other, tmp_path / "kept.vectors") as kept:
        told = evaluate(folder, SearchRequest(), "review", vectors=kept)
    texts = {language: sorted(text for owner, *_, text in TURNS if owner == language) for language in ("en", "zh")}
    assert (sorted(latin.embedded), sorted(other.embedded)) == (texts["en"], texts["zh"])
    assert set(latin.questions) | set(other.questions) == {one["question"] for one in QUESTIONS if one["evidence"]}
    assert set(latin.questions) & set(other.questions) == set()
    assert (told["model"], told["all"]["hit@5"]) == ("latin, other", 1.0)


def test_a_file_that_is_no_file_of_vectors_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("no database of any kind " * 50)
    for path in (tmp_path / "other", tmp_path / "no" / "folder"):
        with pytest.raises(InputError, match="vectors"), kept_vectors(WordEmbedder(), path):
            pass


ASKED = {"conversation": "en", "question": "Which number?", "evidence": ["3"]}


def turn(number: int) -> dict[str, str]:
    names = ("conversation", "turn_id", "session", "speaker", "text", "occurred_at")
    told = ("en", str(number), "s", "Ann", f"number {number}", "2024-01-01T08:00:00Z")
    return dict(zip(names, told, strict=True))


def test_nothing_asked_measures_nothing() -> None:
    assert measured([]) == {"questions": 0}


@pytest.mark.parametrize(
    ("questions", "field"),
    [
        ([b"{"], "questions.jsonl line 1"),
        ([[1]], "questions.jsonl line 1"),
        ([QUESTIONS[0], {"conversation": "en", "question": " "}], "questions.jsonl line 2, question"),
        ([{"conversation": 1, "question": "x"}], "questions.jsonl line 1, conversation"),
        ([QUESTIONS[0] | {"evidence": "2"}], "questions.jsonl line 1, evidence"),
        ([QUESTIONS[0] | {"asked_at": "today"}], "questions.jsonl line 1, asked_at"),
        ([QUESTIONS[0] | {"conversation": "nobody"}], "conversation"),
    ],
)
def test_a_line_that_is_no_question_is_refused_by_its_number(tmp_path: Path, questions: list[Any], field: str) -> None:
    with pytest.raises(InputError) as refusal:
        evaluate(written(tmp_path, questions), SearchRequest(), "review")
    assert refusal.value.context["field"] == field


def test_a_line_that_is_no_turn_and_a_folder_without_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="turns"):
        evaluate(tmp_path / "nowhere", SearchRequest(), "review")
    with pytest.raises(InputError, match="line 1"):
        evaluate(written(tmp_path, turns=[{"turn_id": "1"}]), SearchRequest(), "review")


def test_two_runs_are_compared_as_far_as_both_measured_it(tmp_path: Path) -> None:
    folder = written(tmp_path)
    before, file = evaluate(folder, SearchRequest("text"), "review"), tmp_path / "before.json"
    save(before, file)
    now = evaluate(folder, SearchRequest(), "review")
    del now["categories"]["without category"]
    told = differences(now, read_saved(file))
    assert set(told["categories"]) == {"answered"}
    assert told["categories"]["answered"]["hit@5"] == 1.0
    assert told["all"]["mrr"] == round(now["all"]["mrr"] - before["all"]["mrr"], 4)


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"all": 1, "categories": {}}'])
def test_a_file_that_no_run_saved_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x").write_bytes(text)
    for file in (tmp_path / "x", tmp_path / "missing"):
        with pytest.raises(InputError, match="--save"):
            read_saved(file)
    with pytest.raises(InputError, match="written"):
        save({}, tmp_path / "no" / "folder")


@pytest.mark.parametrize(("way", "told"), [("leave", (1, 0, 5)), ("cut", (0, 1, 6))])
def test_a_turn_over_64_kib_stops_no_evaluation_and_is_told(tmp_path: Path, way: str, told: tuple[int, ...]) -> None:
    folder = written(tmp_path)
    long = {"conversation": "en", "turn_id": "9", "occurred_at": "2024-01-01T09:00:00Z", "text": "x " * 40_000}
    with (folder / "turns.jsonl").open("ab") as turns:
        turns.write(b"\n" + orjson.dumps(long))
    answer = evaluate(folder, SearchRequest(), "review", long_turns=way)
    assert (answer["turns_too_long"], answer["turns_cut"], answer["memories"]) == told
