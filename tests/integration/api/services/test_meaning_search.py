"""Searching by meaning over a real store: half embedded, the embedder down, past and present."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from engramlog_server.api.services.reading import Reader
from engramlog_server.consumers.jobs.embedding import EmbeddingJob
from engramlog_server.events.errors import BadSetting, EmbedderFailed, InputError
from engramlog_server.projections.embedding.choosing import EmbedderChosen, EmbedderPlan, Embedders
from engramlog_server.projections.embedding.embedder import CachingEmbedder
from engramlog_server.projections.embedding.encoders import MINILM_MODEL, MiniLM
from engramlog_server.projections.embedding.meaning import EmbeddedQuestion, Sense, messages
from engramlog_server.projections.ranking.question import MeantQuestion
from engramlog_server.projections.redis import vectors as redis_meanings
from engramlog_server.projections.redis.vectors import Meanings
from engramlog_server.projections.views.view import OwnerView
from tests.doubles.embedding import WordEmbedder
from tests.given.events import created, negated, parameters, revised
from tests.given.vectors import Vectors
from tests.integration.live import live_store
from tests.patience import PATIENCE
from tests.servers import Servers

TEXTS = {"kiln": "The kiln broke", "clay": "Clay came late", "fair": "We missed the fair", "窑": "窑坏了"}


NOW = "2024-01-03T00:00:00Z"
"""A day after everything was told."""


left_to_the_job = pytest.mark.usefixtures("_left_to_the_job")
"""Missing texts are left to the job, as where a question finds more than it embeds itself."""


@pytest.fixture
def _left_to_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.projections.redis.vectors.MOST_AT_A_QUESTION", 0)


@pytest.fixture
def meant(redis_servers: Servers) -> Iterator[Vectors]:
    with live_store(redis_servers.get("valkey").url, partitions=2) as live:
        live.start_worker("folder")
        made = Vectors(live)
        yield made
        made.views.close()
        made.vectors.close()


@pytest.fixture
def owner(meant: Vectors) -> str:
    meant.tell("ada", *(created(text, name) for name, text in TEXTS.items()))
    return "ada"


def test_hybrid_tells_how_much_was_compared_and_the_parts_add_up(meant: Vectors, owner: str) -> None:
    meant.job.carry_out(owner)
    answer = meant.reader.search(owner, "kiln broke", at=NOW)
    assert answer["meaning"] == {"model": "words/1", "embedded": 4, "of": 4}
    best = answer["results"][0]
    assert best["id"] == "kiln"
    assert best["explain"]["score"]["meaning"] > 0
    for one in answer["results"]:
        assert sum(one["explain"]["score"].values()) == pytest.approx(one["score"], abs=4e-6)


@left_to_the_job
def test_before_anything_is_embedded_hybrid_orders_as_keyword_does_and_says_so(meant: Vectors, owner: str) -> None:
    hybrid = meant.reader.search(owner, "kiln broke", at=NOW)
    keyword = meant.reader.search(owner, "kiln broke", at=NOW, search_mode="keyword")
    assert hybrid["meaning"] == {"model": "words/1", "embedded": 0, "of": 4}
    assert keyword["meaning"] is None
    told = [[(one["id"], one["score"], one["explain"]) for one in answer["results"]] for answer in (hybrid, keyword)]
    assert told[0] == told[1]


@left_to_the_job
def test_a_store_half_embedded_finds_what_has_no_vector_by_its_words(meant: Vectors, owner: str) -> None:
    meant.job.carry_out(owner)
    meant.tell(owner, created("The kiln is mended", "mended"))
    answer = meant.reader.search(owner, "kiln", at=NOW)
    assert (answer["meaning"]["embedded"], answer["meaning"]["of"]) == (4, 5)
    assert {"kiln", "mended"} <= {one["id"] for one in answer["results"]}


@left_to_the_job
@pytest.mark.parametrize("ranking", ["conversation", "published"])
def test_semantic_finds_by_meaning_alone(meant: Vectors, owner: str, ranking: str) -> None:
    meant.job.carry_out(owner)
    meant.tell(owner, created("kiln kiln kiln", "new"))
    answer = meant.reader.search(owner, "kiln broke", at=NOW, search_mode="semantic", ranking=ranking)
    ids = [one["id"] for one in answer["results"]]
    assert ids[0] == "kiln"
    if ranking == "conversation":
        assert "new" not in ids  # it has no vector yet


def test_where_the_embedder_is_down_hybrid_goes_by_words_at_once_and_semantic_is_refused(
    meant: Vectors, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant.job.carry_out(owner)
    asked: list[str] = []

    def down(text: str) -> None:
        asked.append(text)
        raise EmbedderFailed("the endpoint does not answer")

    monkeypatch.setattr(meant.embedder, "question", down)
    for query in ("kiln", "the kiln", "a kiln"):
        answer = meant.reader.search(owner, query, at=NOW)
        assert answer["meaning"] == {"failed": "the endpoint does not answer"}
        assert answer["results"][0]["id"] == "kiln"
    assert asked == ["kiln"]
    with pytest.raises(EmbedderFailed, match="does not answer"):
        meant.reader.search(owner, "kiln", at=NOW, search_mode="semantic")
    monkeypatch.undo()
    monkeypatch.setattr(redis_meanings, "monotonic", lambda: float("inf"))
    assert "failed" not in meant.reader.search(owner, "the old kiln", at=NOW)["meaning"]


def test_without_an_embedder_semantic_is_refused_by_name(meant: Vectors, owner: str) -> None:
    reader = Reader(meant.live.log, meant.views)
    with pytest.raises(InputError, match=r"search_mode.*ENGRAMLOG_EMBEDDER"):
        reader.search(owner, "kiln", search_mode="semantic")
    assert reader.search(owner, "kiln")["meaning"] is None


def test_the_past_is_compared_by_what_it_said_then(meant: Vectors, owner: str) -> None:
    meant.job.carry_out(owner)
    then = meant.reader.search(owner, "kiln", at=NOW)["position"]
    meant.tell(owner, revised("Nothing of that kind", "kiln", 0.5))
    answer = meant.reader.search(owner, "kiln broke", at=NOW, as_of=then)
    assert answer["results"][0]["id"] == "kiln"
    assert answer["meaning"]["embedded"] == 4


def test_what_replaced_an_outdated_memory_stands_above_it_also_where_only_meaning_finds_it(
    meant: Vectors, owner: str
) -> None:
    meant.tell(
        owner,
        created("She lives in an Oslo flat", "old"),
        created("Moved to Bergen", "new", 0.1),
        negated("old", 0.2, replaced_by="new", resolution="latest_wins"),
    )
    meant.embedder.alias["dwell"] = "flat"
    meant.job.carry_out(owner)
    for mode, search_mode in (
        ("review", "hybrid"),
        ("review", "semantic"),
        ("normal", "hybrid"),
        ("normal", "semantic"),
    ):
        answer = meant.reader.search(owner, "dwelling", at=NOW, mode=mode, search_mode=search_mode, limit=10)
        found = {one["id"]: one for one in answer["results"]}
        ids = list(found)
        assert "new" in ids, (mode, search_mode)
        assert found["new"]["explain"]["replaces"] == ["old"]
        assert sum(found["new"]["explain"]["score"].values()) == pytest.approx(found["new"]["score"], abs=4e-6)
        if mode == "review":
            assert ids.index("new") < ids.index("old")


@left_to_the_job
def test_pages_are_refused_where_what_is_compared_has_changed_since(meant: Vectors, owner: str) -> None:
    meant.tell(owner, *(created(f"the kiln number {n}", f"k{n}") for n in range(8)))
    first = meant.reader.search(owner, "kiln", at=NOW, limit=3)
    assert meant.reader.search(owner, "kiln", at=NOW, limit=3, cursor=first["next"])["offset"] == 3
    meant.job.carry_out(owner)
    with pytest.raises(InputError, match=r"cursor.*begin again"):
        meant.reader.search(owner, "kiln", at=NOW, limit=3, cursor=first["next"])


def test_one_refused_question_does_not_make_the_embedder_rest(
    meant: Vectors, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant.job.carry_out(owner)
    embed = meant.embedder.question

    def choosy(text: str) -> EmbeddedQuestion:
        if "bad" in text:
            raise EmbedderFailed("refused", down=False)
        return embed(text)

    monkeypatch.setattr(meant.embedder, "question", choosy)
    assert meant.reader.search(owner, "bad kiln", at=NOW)["meaning"] == {"failed": "refused"}
    assert "failed" not in meant.reader.search(owner, "kiln", at=NOW)["meaning"]


def test_after_a_rest_one_question_tries_the_embedder_while_the_others_go_by_words(
    meant: Vectors, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant.job.carry_out(owner)
    others: list[Any] = []
    clock = [0.0]
    monkeypatch.setattr(redis_meanings, "monotonic", lambda: clock[0])

    def down(text: str) -> EmbeddedQuestion:
        if text == "trying":
            with pytest.raises(EmbedderFailed) as refusal:
                meant.meanings.question("meanwhile", EmbedderChosen("alone", "alone", "setting"))
            others.append(str(refusal.value))
        raise EmbedderFailed("no answer")

    monkeypatch.setattr(meant.embedder, "question", down)
    assert meant.reader.search(owner, "kiln", at=NOW)["meaning"] == {"failed": "no answer"}
    clock[0] = redis_meanings.REST_SECONDS + 1
    assert meant.reader.search(owner, "trying", at=NOW)["meaning"] == {"failed": "no answer"}
    assert others == ["no answer"]


def test_a_model_that_gives_other_sizes_than_it_did_is_embedded_anew(meant: Vectors, owner: str) -> None:
    meant.job.carry_out(owner)
    other = meant.job_by(WordEmbedder(dimensions=16))
    assert other.carry_out(owner).embedded == len(TEXTS)
    reader = Reader(meant.live.log, meant.views, None, meant.meanings_by(WordEmbedder(dimensions=16)))
    assert reader.search(owner, "kiln", at=NOW)["meaning"]["embedded"] == len(TEXTS)


def test_an_embedder_that_is_not_installed_keeps_back_neither_search_nor_counts(meant: Vectors, owner: str) -> None:
    def missing() -> WordEmbedder:
        raise BadSetting("the embedder words needs a package", setting="embedder")

    meanings = Meanings(Embedders.alone(missing), meant.vectors)
    reader = Reader(meant.live.log, meant.views, None, meanings)
    answer = reader.search(owner, "kiln", at=NOW)
    assert (answer["results"][0]["id"], answer["meaning"]) == ("kiln", {"failed": "the embedder words needs a package"})
    with pytest.raises(BadSetting, match="needs a package"):
        reader.search(owner, "kiln", at=NOW, search_mode="semantic")
    with meant.views.view(owner) as (view, _):
        told = meanings.coverage(view, owner)
    assert (told["model"], told["of"], told["failed"]) == (None, 4, "the embedder words needs a package")


def test_a_model_is_loaded_once_and_no_view_waits_for_it(meant: Vectors, owner: str) -> None:
    meant.job.carry_out(owner)
    words, begun, loading = WordEmbedder(), Event(), list[int]()
    embedders = Embedders(lambda _name: CachingEmbedder(words), EmbedderPlan("use"))
    reader = Reader(meant.live.log, meant.views, None, Meanings(embedders, meant.vectors))

    def load(texts: Sequence[str]) -> None:
        loading.append(len(texts))
        begun.set()
        with ThreadPoolExecutor(1) as other:  # as long as a view were held, nobody else would be answered
            found = other.submit(reader.search, owner, "kiln", at=NOW, search_mode="keyword").result(PATIENCE)
        assert [one["id"] for one in found["results"]] == ["kiln"]

    def second() -> Any:
        assert begun.wait(PATIENCE)
        return reader.search(owner, "clay", at=NOW)

    words.before = load
    with ThreadPoolExecutor(2) as pool:
        others = pool.submit(second)
        answer = reader.search(owner, "kiln", at=NOW)
    told = [answer["meaning"], others.result()["meaning"]]
    assert told == [{"model": "words/1", "embedded": 4, "of": 4}] * 2
    assert loading == [len(messages("plain"))]


@left_to_the_job
def test_no_model_is_loaded_for_an_owner_without_vectors(meant: Vectors, owner: str) -> None:
    words = WordEmbedder()
    embedders = Embedders(lambda _name: CachingEmbedder(words), EmbedderPlan("use"))
    reader = Reader(meant.live.log, meant.views, None, Meanings(embedders, meant.vectors))
    assert reader.search(owner, "kiln", at=NOW)["meaning"] == {"model": "words/1", "embedded": 0, "of": 4}
    assert (words.asked, words.questions) == ([], [])


def test_a_model_whose_package_went_missing_is_told_as_failed_and_words_find(
    meant: Vectors, owner: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    meant.job_by(WordEmbedder(MINILM_MODEL)).carry_out(owner)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    meanings = meant.meanings_by(CachingEmbedder(MiniLM(tmp_path)))
    answer = Reader(meant.live.log, meant.views, None, meanings).search(owner, "kiln", at=NOW)
    assert "cannot be imported" in answer["meaning"]["failed"]
    assert answer["results"][0]["id"] == "kiln"


def test_questions_that_fail_together_make_the_embedder_rest_once(
    meant: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, together, asked = [0.0], Barrier(4), list[str]()
    monkeypatch.setattr(redis_meanings, "monotonic", lambda: clock[0])
    chosen = EmbedderChosen("alone", "alone", "setting")

    def down(text: str) -> EmbeddedQuestion:
        asked.append(text)
        if text == "together":
            together.wait(PATIENCE)
        raise EmbedderFailed("no answer", down=True)

    def ask(text: str) -> None:
        with pytest.raises(EmbedderFailed, match="no answer"):
            meant.meanings.question(text, chosen)

    monkeypatch.setattr(meant.embedder, "question", down)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, ["together"] * 4))
    for at in (9.0, 11.0, 30.0, 32.0):  # ten seconds of rest, then twenty
        clock[0] = at
        ask(f"at {at:.0f}")
    assert asked == ["together"] * 4 + ["at 11", "at 32"]


@left_to_the_job
def test_for_an_owner_without_vectors_only_the_model_that_counts_is_asked_for(
    meant: Vectors, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant.tell("bo", created("Tea at four", "tea"))
    asked: list[tuple[str, list[str]]] = []
    had = meant.vectors.had

    def noted(whose: str, models: Sequence[str]) -> list[bool]:
        asked.append((whose, list(models)))
        return had(whose, models)

    monkeypatch.setattr(meant.vectors, "had", noted)
    embedders = Embedders(lambda name: CachingEmbedder(WordEmbedder(name)), EmbedderPlan("auto"))
    reader = Reader(meant.live.log, meant.views, None, Meanings(embedders, meant.vectors))
    for whose in ("bo", owner):
        for query in ("tea", "kiln"):
            assert reader.search(whose, query, at=NOW)["meaning"]["embedded"] == 0
    assert asked == [("bo", ["minilm", "use"]), ("bo", ["minilm"]), (owner, ["minilm", "use"]), (owner, ["use"])]
    embedders.to_load()["minilm"].load()  # type: ignore[attr-defined]
    asked.clear()
    for query in ("tea time", "four"):
        reader.search("bo", query, at=NOW)
    assert asked == []


@pytest.mark.parametrize(("day", "counts"), [("2024-01-02", "use"), (None, "minilm")])
def test_a_question_about_the_past_loads_what_counted_then_alone_and_before_any_view_is_held(
    meant: Vectors, owner: str, day: str | None, counts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for chose, since in (("use", 0), ("minilm", 2)):
        meant.tell(owner, parameters(embedder=chose, day=since))
        by = Embedders(lambda name: CachingEmbedder(WordEmbedder(name)), EmbedderPlan("auto"))
        EmbeddingJob(meant.vectors, by).carry_out(owner)
    embedders = Embedders(lambda name: CachingEmbedder(WordEmbedder(name)), EmbedderPlan("auto"))
    meanings, there = Meanings(embedders, meant.vectors), list[list[str]]()
    sense = meanings.sense

    def noted(view: OwnerView, whose: str, question: MeantQuestion) -> Sense | None:
        there.append(list(question.embedded))
        return sense(view, whose, question)

    monkeypatch.setattr(meanings, "sense", noted)
    answer = Reader(meant.live.log, meant.views, None, meanings).search(owner, "kiln", as_of=day)
    assert answer["meaning"] == {"model": counts, "embedded": 4, "of": 4}
    assert there == [[counts]]
    assert set(embedders.to_load()) == {"minilm", "use"} - {counts}
