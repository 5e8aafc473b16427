"""Single writes are embedded by the service right after them: what is embedded, what is left to the job, and what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import orjson
import pytest

from engramlog_server.api.application import Application
from engramlog_server.api.services.remembering import NewTurn
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.ops import wiring
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.ops.wiring import EmbeddingQueue, JoinedApplication, open_application
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.language.contradiction.change import no_model
from engramlog_server.projections.redis.vectors import Meanings
from tests.doubles.embedding import WordEmbedder
from tests.patience import PATIENCE

Reports = list[dict[str, Any]]


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """The model of every store of this test."""
    made = WordEmbedder()

    def meanings(_settings: Settings, store: OpenStore) -> Meanings:
        found = Meanings(Embedders.alone(lambda: made), store.vectors)
        found.alike = no_model  # the judge embeds what is added by itself, before the write
        return found

    monkeypatch.setattr("engramlog_server.ops.wiring.meanings_of", meanings)
    return made


@pytest.fixture
def reports() -> Reports:
    return []


@pytest.fixture
def application(embedder: WordEmbedder, reports: Reports, tmp_path: Path) -> Iterator[Application]:
    del embedder
    settings = Settings(data=tmp_path / "store", partitions=2, extraction="off")
    with open_application(
        settings, "shared", tell=lambda fact, **facts: reports.append({"fact": fact, **facts})
    ) as one:
        yield one


def queue_of(application: Application) -> EmbeddingQueue:
    assert isinstance(application, JoinedApplication)
    assert application._embedding_queue is not None
    return application._embedding_queue


def embedded(application: Application, owner: str = "ada") -> int:
    """How many vectors are stored once the queue is empty; no question is asked."""
    assert queue_of(application).wait(PATIENCE)
    assert isinstance(application, JoinedApplication)
    return application._store.vectors.count(owner, "words/1")


def chat(turns: int) -> bytes:
    messages = [{"role": "user", "content": f"message number {number}"} for number in range(turns)]
    return orjson.dumps([{"id": f"c{turns}", "created_at": "2024-01-02T00:00:00Z", "messages": messages}])


def test_adds_edits_turns_and_chats_are_embedded_without_a_question_or_the_job(
    application: Application, embedder: WordEmbedder
) -> None:
    kiln = application.rememberer.add("ada", "The kiln broke")
    assert embedded(application) == 1
    application.rememberer.edit("ada", kiln["id"], "The kiln is mended")
    application.rememberer.add_turns("ada", [NewTurn("user", "Clay came late"), NewTurn("assistant", "How late?")])
    assert embedded(application) >= 3
    application.chats.take_in_whole("ada", chat(50))
    assert embedded(application) >= 53
    assert {"The kiln broke", "The kiln is mended", "Clay came late", "How late?"} <= set(embedder.embedded)
    assert embedder.questions == []


def test_larger_batches_and_raw_appends_are_left_to_the_job(application: Application, embedder: WordEmbedder) -> None:
    application.rememberer.add_turns("ada", [NewTurn("user", f"turn number {number}") for number in range(51)])
    application.chats.take_in_whole("ada", chat(51))
    raw = {
        "type": "MemoryCreated",
        "schema_version": 1,
        "event_id": "01968a5e-7b00-7000-8000-000000000001",
        "owner": "ada",
        "actor": "user",
        "occurred_at": utc_text(from_micros(application.log.now())),
        "data": {"memory_id": "raw", "content": "Raw clay", "kind": "fact", "category": "fact", "source": "user"},
    }
    application.writer.settle(application.writer.append([orjson.dumps(raw)]))
    assert (embedded(application), embedder.embedded) == (0, [])
    application.rememberer.add("ada", "The kiln broke")
    assert embedded(application) == 50  # the newest, for a write embeds no backlog
    assert "The kiln broke" in embedder.embedded


def test_a_write_is_acknowledged_while_the_model_still_computes(
    application: Application, embedder: WordEmbedder
) -> None:
    computes, may_end = Event(), Event()

    def slow(_texts: Sequence[str]) -> None:
        computes.set()
        assert may_end.wait(PATIENCE)

    embedder.before = slow
    application.rememberer.add("ada", "The kiln broke")
    assert computes.wait(PATIENCE)
    added = application.rememberer.add("ada", "Clay came late")  # would wait for ever if it waited for the model
    assert added["created"]
    assert [one["id"] for one in application.reader.search("ada", "clay", search_mode="keyword")["results"]][:1] == [
        added["id"]
    ]
    may_end.set()
    assert embedded(application) == 2


def test_owners_beyond_the_queue_are_left_to_the_job_and_reported_once(
    application: Application, embedder: WordEmbedder, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "MOST_OWNERS", 1)
    computes, may_end = Event(), Event()

    def slow(_texts: Sequence[str]) -> None:
        computes.set()
        assert may_end.wait(PATIENCE)

    embedder.before = slow
    application.rememberer.add("ada", "The kiln broke")
    assert computes.wait(PATIENCE)  # it is in hand: the next owner waits, and fills the queue
    for owner in ("bo", "cy", "di"):
        application.rememberer.add(owner, "The kiln broke")
    may_end.set()
    assert [embedded(application, owner) for owner in ("ada", "bo", "cy", "di")] == [1, 1, 0, 0]
    assert [one["alarm"] for one in reports if one["fact"] == "embedding queue full"] == [True]
    assert application.embeddings.embed("cy")["embedded"] == 1


def test_a_failure_is_reported_once_until_it_works_again_and_the_job_embeds_the_rest(
    application: Application, embedder: WordEmbedder, reports: Reports
) -> None:
    embedder.down = True
    for text in ("The kiln broke", "Clay came late"):
        application.rememberer.add("ada", text)
        assert embedded(application) == 0
    [report] = [one for one in reports if one["fact"] == "texts not embedded"]
    assert (report["owner"], report["reason"], report["alarm"]) == ("ada", "the endpoint does not answer", True)
    embedder.down = False
    assert application.embeddings.embed("ada")["embedded"] == 2


def test_a_text_that_is_revised_while_it_is_embedded_keeps_no_vector(
    application: Application, embedder: WordEmbedder
) -> None:
    edited = list[str]()

    def edit(texts: Sequence[str]) -> None:
        if "The kiln broke" in texts and not edited:
            edited.append("The kiln is mended")
            application.rememberer.edit("ada", "kiln", "The kiln is mended")

    embedder.before = edit
    application.rememberer.add("ada", "The kiln broke", memory_id="kiln")
    assert embedded(application) == 1
    assert embedder.embedded == ["The kiln broke", "The kiln is mended"]
    assert application.reader.search("ada", "kiln")["meaning"] == {"model": "words/1", "embedded": 1, "of": 1}


def test_a_command_embeds_nothing_by_itself(embedder: WordEmbedder, tmp_path: Path) -> None:
    with open_application(Settings(data=tmp_path / "store", partitions=2, extraction="off")) as command:
        command.rememberer.add("ada", "The kiln broke")
    assert embedder.embedded == []
