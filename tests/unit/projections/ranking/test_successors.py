"""What is current comes first, and a correction is found by asking in the old words."""

from __future__ import annotations

import numpy as np
import pytest

from engramlog_server.projections.embedding.encoders import UniversalEncoder, ratings
from engramlog_server.projections.embedding.meaning import EmbeddedQuestion, JoinedPieces, Sense
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.views.query import ViewQuery
from tests.given.events import at, in_conflict, negated
from tests.given.views import found, noted, viewed
from tests.rows import each_row

OLD = noted("I drink coffee every morning", "coffee")
NEW = noted("Green tea is what I have at breakfast", "tea")
REPLACED = (OLD, NEW, negated("coffee", 1, resolution="latest_wins", replaced_by="tea"))


@each_row("ranking", ["conversation", "text"])
@each_row("mode", ["normal", "review"])
def test_asking_in_the_old_words_finds_the_correction_first(mode, ranking) -> None:
    results = found(viewed(*REPLACED), "coffee", mode=mode, ranking=ranking)
    assert list(results) == (["tea"] if mode == "normal" else ["tea", "coffee"])
    explained = results["tea"]["explain"]
    assert explained["replaces"] == ["coffee"]
    assert sum(explained["score"].values()) == pytest.approx(results["tea"]["score"], abs=2e-6)


def test_the_last_of_several_successors_is_the_one_that_holds() -> None:
    again = (noted("Only water before noon", "water"), negated("tea", 2, resolution="latest_wins", replaced_by="water"))
    results = found(viewed(*REPLACED, *again), "coffee", mode="review")
    assert next(iter(results)) == "water"
    assert "tea" not in found(viewed(*REPLACED, *again), "coffee")


def test_of_two_that_may_contradict_each_other_the_newer_stands_first_if_the_question_asks_for_both() -> None:
    others = (noted("I sing in a choir", "choir"), noted("The cat is grey", "cat"))
    known = (
        noted("The plumber comes on Wednesday morning", "old"),
        noted("The plumber comes on Friday", "new", 5),
        *others,
    )
    marked = (*known, in_conflict("old", "new", 5))
    of_both, of_old = "When does the plumber come in the morning?", "Who is here on Wednesday morning?"
    assert list(found(viewed(*known), of_both)) == ["old", "new"]
    assert list(found(viewed(*marked), of_both)) == ["new", "old"]
    assert list(found(viewed(*marked), of_old)) == ["old"]


def test_a_statement_that_reports_a_change_stands_above_an_older_one_of_its_speaker_that_is_near_to_it() -> None:
    texts = {
        "walk": "I walk to the office every morning.",
        "tram": "I gave up walking, I take the tram to the office.",
        "choir": "I sing in a choir.",
    }
    query, encoder = "How do I walk to the office in the morning?", UniversalEncoder()
    wholes = np.array([one.whole for one in encoder.texts([*texts.values(), query])], np.float32)
    empty = np.zeros((0, wholes.shape[1]), np.float32)
    question = EmbeddedQuestion(wholes[-1], empty, (), None)

    def first(model: str, order: dict[str, int]) -> str:
        view = viewed(*(noted(text, of, order[of]) for of, text in texts.items()))
        rows = [list(texts).index(memory.id) for memory in view.columns.memories]
        sense = Sense(model, question, wholes[rows], np.ones(3, bool), lambda _: JoinedPieces.of([], 512), 3)
        return search(ViewQuery(view, at(9), "normal"), query, 3, SearchRequest(), sense)["results"][0]["id"]

    told_later, told_earlier = {"walk": 0, "choir": 1, "tram": 2}, {"tram": 0, "choir": 1, "walk": 2}
    assert ratings(wholes[:2], "another model") is None
    assert first("another model", told_later) == "walk"
    assert first(encoder.model, told_later) == "tram"
    assert first(encoder.model, told_earlier) == "walk"
