"""Search: the rankings worked by hand, and what all of them owe."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.ranking.rankings import MOST_ASSOCIATED
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.views.query import ViewQuery
from tests.examples import examples
from tests.given.events import Told, created, deleted, linked, negated, purged
from tests.given.views import CHAIN, HOUR, asked, brought, found, noted, viewed, way
from tests.rows import each_row

# --- what every ranking owes

OFFICE = (
    noted("The deployment of the payment service failed, urgent", "outage", 0.6, project="pay", confidence=0.9),
    noted("Deployment checklist", "checklist", keywords=["deployment", "release"]),
    noted("Release notes of the payment service", "notes", 0.2, keywords=["deployment", "release", "notes"]),
    noted("支付服务部署成功，太好了", "成功", 0.5, project="pay"),
    noted("Lunch", "lunch", 0.1),
    linked("outage", "lunch", 0.7, 0.9),
)


@each_row("ranking", RANKINGS)
@each_row("query", ["payment deployment", "支付部署", "urgent 部署 deployment"])
@each_row("asked_for", [{}, {"tags": ("urgent", "weekend")}, {"feeling": "positive"}, {"near_project": "pay"}], ids=str)
def test_the_parts_of_every_score_add_up_to_it_and_the_best_is_first(ranking, query, asked_for) -> None:
    results = asked(viewed(*OFFICE), query, 1, ranking=ranking, **asked_for)["results"]
    scores = [one["score"] for one in results]
    assert scores == sorted(scores, reverse=True)
    for one in results:
        assert sum(one["explain"]["score"].values()) == pytest.approx(one["score"], abs=4e-6)
        assert ("context" in one["explain"]["score"]) == ("tags" in asked_for)
        assert ("tags" in one["explain"]) == ("tags" in asked_for or "feeling" in asked_for)


@each_row("ranking", RANKINGS)
@each_row("query", ["payment deployment", "支付部署"])
def test_without_reasons_an_answer_is_the_same_but_for_what_explains_it(ranking, query) -> None:
    view, wanted = viewed(*OFFICE), SearchRequest(ranking, associations=True)
    full = search(ViewQuery(view, HOUR, "normal"), query, 5, wanted)
    bare = search(ViewQuery(view, HOUR, "normal"), query, 5, wanted._replace(reasons=False))
    assert full["results"]
    assert all(one["explain"]["score"] for one in full["results"])
    told = [{"score": {}, "terms": {}, "law": "weighted", "factors": {}}] * len(full["results"])
    assert [{k: v for k, v in one["explain"].items() if k != "path"} for one in bare["results"]] == told
    for one, other in zip(full["results"], bare["results"], strict=True):
        other["explain"] = one["explain"]
    assert bare == full


# --- text


def test_the_text_ranking_is_bm25_and_a_little_of_the_weight() -> None:
    view = viewed(created("green tea", "tea"), created("milk", "milk", category="temporary"))
    (tea,) = found(view, "tea", 11, ranking="text").values()
    bm25 = (
        0.6931471805599453 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.5))
    )  # one of two texts; 2 tokens of 1.5 in the mean
    weight = 1.3 / (1 + 0.01 / 1.3 * 11)
    assert tea["explain"]["score"] == {
        "text": round(bm25 / (bm25 + 8), 6),
        "weight": round(0.05 * weight / (1 + weight), 6),
    }
    assert tea["explain"]["terms"] == {"tea": tea["explain"]["score"]["text"]}


# --- overlap (seed 004, section 6)


@each_row(
    ("hours", "confidence", "project", "strength"),
    [
        (0, 0.6, "reports", 1.00),
        (12, 0.6, "reports", 0.61),
        (24, 0.6, None, 0.37),
        (24, 0.9, "reports", 0.50),  # at confidence 0.8 and more the rate is 0.7
        (48, 0.5, "other", 0.14),
    ],
)
def test_the_overlap_score_as_worked_by_hand(hours, confidence, project, strength) -> None:
    view = viewed(noted("The quarterly report is due on Friday", "due", confidence=confidence, project="reports"))
    (due,) = found(view, "report, budget, Friday", hours * HOUR, ranking="overlap", near_project=project).values()
    parts = {
        "overlap": round(2 * 2 / 3, 6),
        "strength": 0.5 * strength,
        "project": 0.3 if project == "reports" else 0.0,
        "confidence": pytest.approx(0.3 * confidence),
    }
    assert due["explain"]["score"] == parts
    assert due["score"] == pytest.approx(4 / 3 + 0.5 * strength + parts["project"] + 0.3 * confidence, abs=1e-6)


# --- associative (seed 004, section 11.2)


def test_the_associative_score_as_worked_by_hand_reaches_over_two_edges_and_tells_the_way() -> None:
    results = found(viewed(*CHAIN), "kiln broke", 12 * HOUR, ranking="associative")
    assert {name: one["explain"]["score"] for name, one in results.items()} == {
        "kiln": {"keyword": 0.366, "activation": 0.244},  # strength 61 after 12 h
        "clay": {"keyword": 0.0, "activation": 0.0976},  # 0.4 * (1 * 0.8 * 0.5) * 0.61
        "fair": {"keyword": 0.0, "activation": 0.02928},  # 0.4 * (0.4 * 0.6 * 0.5) * 0.61
    }
    assert [one["score"] for one in results.values()] == [0.61, 0.0976, 0.02928]
    assert "path" not in results["kiln"]["explain"]
    assert way(results["clay"]) == [("kiln", "semantic", "clay")]
    assert way(results["fair"]) == [("kiln", "semantic", "clay"), ("clay", "semantic", "fair")]
    assert [step["weight"] for step in results["fair"]["explain"]["path"]] == [0.8, 0.6]
    assert results["fair"]["explain"]["terms"] == {}


# --- whatever the history

WORDS = ["kiln", "clay", "茶", "urgent", "failed", "wonderful"]
NAMES = [f"m{number}" for number in range(6)]


@st.composite
def histories(draw: st.DrawFn) -> list[Told]:
    events: list[Told] = []
    for name in NAMES:
        content = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)))
        keywords = draw(st.lists(st.sampled_from(WORDS), max_size=3, unique=True))
        secret = draw(st.sampled_from([0, 0, 0, 3]))
        day = draw(st.sampled_from([0, 0.6, 40, 400]))
        events.append(noted(content, name, day, keywords=keywords, sensitivity=secret))
    pairs = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.floats(0, 1))
    events += [linked(a, b, 400, weight) for a, b, weight in draw(st.lists(pairs, max_size=6)) if a != b]
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True)):
        events.append(draw(st.sampled_from([deleted(name, 400), negated(name, 400, resolution="latest_wins")])))
    return events


@settings(max_examples=examples(60))
@given(
    events=histories(),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    mode=st.sampled_from(MODES),
    ranking=st.sampled_from(RANKINGS),
    tags=st.lists(st.sampled_from(["late_night", "urgent", "negative"]), max_size=2).map(tuple),
    limit=st.integers(1, 6),
)
def test_answers_keep_to_the_mode_the_tags_and_the_limit_and_explain_themselves(
    events, query, mode, ranking, tags, limit
) -> None:
    view = viewed(*events)
    answer = asked(view, query, 401, mode, limit, ranking=ranking, tags=tags, associations=True)
    results, told = answer["results"], answer["associated"]
    ids = [one["id"] for one in results]
    assert len(ids) == len(set(ids)) <= limit
    assert not set(ids) & {one["id"] for one in told}
    assert len(told) <= MOST_ASSOCIATED
    for one in (*results, *told):
        memory = view.get(one["id"])
        assert memory is not None
        assert memory.sensitivity < 3
        assert mode == "debug" or memory.deleted_at is None
        assert mode != "normal" or (one["status"] == "live" and one["level"] in ("full", "summary"))
    for one in results:
        assert sum(one["explain"]["score"].values()) == pytest.approx(one["score"], abs=4e-6)
        assert not tags or set(tags) & set(one["explain"]["tags"])


# --- published (memory.md, section 11): what it reaches


def test_the_published_ranking_reaches_prefixes_and_synonyms_and_says_by_what() -> None:
    view = viewed(
        noted("The automobile is at the garage", "car"),
        noted("Our computer broke", "pc"),
        noted("Nothing of the kind", "else"),
    )
    assert list(found(view, "auto", ranking="published")) == ["car"]
    answer = asked(view, "笔记本电脑 laptop", ranking="published")
    assert [one["id"] for one in answer["results"]] == ["pc"]
    assert "computer" in answer["expanded"]["synonyms"]["laptop"]
    (result,) = answer["results"]
    assert set(result["explain"]["score"]) >= {"keyword", "time", "kind"}


HIDING = {
    "superseded": (negated("clay", 0, resolution="latest_wins"),),
    "a kept version": (negated("clay", 0, resolution="version_keep"),),
    "deleted": (deleted("clay"),),
    "purged": (deleted("clay"), purged("clay")),
}


@each_row("hiding", HIDING.values(), ids=HIDING)
def test_what_normal_mode_withholds_is_neither_reached_nor_spread_through(hiding) -> None:
    view = viewed(*CHAIN, *hiding)
    assert list(found(view, "kiln", ranking="associative")) == ["kiln"]
    assert brought(view, "kiln") == {}


@each_row("mode", MODES)
def test_a_secret_is_neither_reached_nor_spread_through_in_any_mode(mode) -> None:
    events = [noted("Clay was late", "clay", sensitivity=3) if told is CHAIN[1] else told for told in CHAIN]
    view = viewed(*events)
    assert list(found(view, "kiln", mode=mode, ranking="associative")) == ["kiln"]
    assert brought(view, "kiln", mode=mode) == {}
    assert found(view, "clay late", mode=mode, ranking="associative") == {}
