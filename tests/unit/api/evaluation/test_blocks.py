"""Evaluating the context block: whether all of an answer is in what an agent is handed, and what that takes."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from api.evaluation.blocks import BlockAsked, evaluate_blocks
from api.evaluation.search import near_all, read_set
from projections.ranking.search_request import SearchRequest

KEYWORD = SearchRequest(search_mode="keyword")
TURNS = [
    ("1", "s1", "user", "I bought a blue kettle in Graz"),
    ("2", "s1", "assistant", "Lovely colour"),
    ("3", "s2", "user", "The kettle broke"),
    ("4", "s2", "user", "Somebody called Otto repaired the thing for me"),
]
QUESTIONS = [
    {"conversation": "a", "question": "What happened to the blue kettle?", "evidence": ["1", "3"], "category": "two"},
    {"conversation": "a", "question": "Who repaired the kettle?", "evidence": ["4"], "category": "one"},
    {"conversation": "a", "question": "Did I see elephants?", "evidence": ["2"], "category": "far"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = ("turn_id", "session", "speaker", "text")
    turns = [
        {"conversation": "a", "occurred_at": f"2026-01-01T08:0{at}:00Z"} | dict(zip(names, one, strict=True))
        for at, one in enumerate(TURNS)
    ]
    for name, lines in (("turns", turns), ("questions", QUESTIONS)):
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    return tmp_path


def test_all_of_the_evidence_is_counted_and_its_tokens(folder: Path) -> None:
    told = evaluate_blocks(folder, KEYWORD, BlockAsked(whole=True))
    assert told["categories"]["two"]["all"] == 1.0
    assert (told["all"]["questions"], told["mode"], told["context"]["whole"]) == (3, "normal", True)
    assert 0 < told["all"]["tokens"] <= 1_500
    assert told["all"]["any"] >= told["all"]["all"]
    assert told["all"]["near"] >= told["all"]["all"]


def test_without_the_whole_a_block_holds_what_is_close_alone(folder: Path) -> None:
    few, many = (evaluate_blocks(folder, KEYWORD, BlockAsked(whole=whole))["all"] for whole in (False, True))
    assert few["memories"] < many["memories"]
    assert few["tokens"] < many["tokens"]


def test_a_block_is_never_over_its_budget(folder: Path) -> None:
    assert evaluate_blocks(folder, KEYWORD, BlockAsked(budget=120, whole=True))["all"]["tokens_p95"] <= 120


def test_a_neighbour_in_the_session_counts_as_near_and_no_other_turn_does(folder: Path) -> None:
    _, (two, one, _), views, _ = read_set(folder, linked=False)
    view = views["a"][0]
    assert near_all(view, one, ["3"])
    assert not near_all(view, one, ["2"]), "it stands beside it in the log, in another session"
    assert not near_all(view, two, ["2"]), "one of two is not near"
