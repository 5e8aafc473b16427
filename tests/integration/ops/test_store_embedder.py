"""What a store compares meanings by is written down when it is made, and not read off what is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engramlog_server.api.http.app import create_app
from engramlog_server.consumers.verify.store import verify_store
from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.events.partitions import STORE_KEY
from engramlog_server.events.redis.server import redis_micros
from engramlog_server.events.redis.wire import WirePool, open_wire
from engramlog_server.events.text import AUTO
from engramlog_server.ops.models import (
    chosen_at_start,
    embed_minutes,
    embedders_of,
    load_in_background,
    missing_of,
    standing_of,
)
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.embedding.choosing import EmbedderChosen, EmbedderPlan, Embedders
from engramlog_server.projections.embedding.embedder import CachingEmbedder
from engramlog_server.projections.embedding.meaning import Embedder
from engramlog_server.projections.redis.create import known_identity, open_store
from engramlog_server.projections.redis.vectors import Meanings, RedisVectors
from tests.doubles.embedding import WordEmbedder
from tests.given.http import client_of
from tests.integration.live import live_store
from tests.patience import PATIENCE
from tests.servers import RedisServer

MISSING = "the embedder {} needs a package"


def installed(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have these embedders, and no others, be there."""

    def maker(_settings: Settings) -> Callable[[str], Embedder]:
        def make(name: str) -> Embedder:
            if name not in names:
                raise BadSetting(MISSING.format(name))
            return WordEmbedder(name)

        return make

    monkeypatch.setattr("engramlog_server.ops.models.maker_of", maker)


def made(server: RedisServer, embedder: str | None = None) -> tuple[str, int | None]:
    """What a store tells that is opened with this setting, made where there is none."""
    settings = Settings(redis_url=server.url, embedder=embedder, partitions=2)
    with open_the_store(settings) as store:
        with store.wires.wire() as wire:
            assert verify_store(wire).differences == []
        return store.identity.embedder, store.identity.embedder_at


@pytest.mark.parametrize(
    ("there", "setting", "kept"),
    [
        (("minilm", "use"), None, "auto"),
        (("use",), None, "auto"),
        (("minilm", "use"), "none", "none"),
        (("minilm", "use"), "minilm", "minilm"),
        ((), "openai:small", "openai:small"),
    ],
)
def test_a_new_store_takes_the_setting_else_auto(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], setting: str | None, kept: str
) -> None:
    installed(monkeypatch, *there)
    before = redis_micros(open_wire(server.client()))
    name, at = made(server, setting)
    assert name == kept
    assert at is not None
    assert before <= at <= redis_micros(open_wire(server.client()))
    installed(monkeypatch, "minilm", "use")
    for later in (None, "none", "minilm"):
        assert made(server, later) == (kept, at)  # what is installed or set later changes nothing


def test_a_store_of_before_compares_nothing_unless_it_is_set(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, "minilm", "use")
    open_store(open_wire(server.client()), store_id="old", partitions=2)
    assert made(server) == ("none", None)
    plans = {setting: embedders_of(Settings(embedder=setting), "none") for setting in ("minilm", AUTO)}
    found = {setting: one.plan.chosen("store", lambda: True) for setting, one in plans.items() if one is not None}
    assert {setting: one.name for setting, one in found.items()} == {"minilm": "minilm", "auto": "use"}


@pytest.mark.parametrize(
    ("field", "value"), [("embedder", "magic"), ("embedder", ""), ("embedder_at", "soon"), ("embedder_at", None)]
)
def test_verify_tells_of_what_nothing_writes_there(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch, field: str, value: str | None
) -> None:
    installed(monkeypatch, "minilm", "use")
    made(server)
    client = server.client()
    if value is None:
        client.hdel(STORE_KEY, field)
    else:
        client.hset(STORE_KEY, field, value)
    assert verify_store(open_wire(client)).differences != []


def test_who_may_only_write_to_it_reads_it_too(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "minilm", "use")
    made(server)
    identity = known_identity(open_wire(server.client()))
    assert identity is not None
    assert identity.embedder == "auto"


def test_a_process_that_lacks_what_the_store_names_starts_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "minilm")
    by_store = embedders_of(Settings(embedder=None), "auto")
    assert by_store is not None
    assert chosen_at_start(by_store) == {"embedder": "auto", "by": "store", "missing": "use", "alarm": True}
    another = embedders_of(Settings(embedder=None), "openai:small")
    assert another is not None
    assert missing_of(another) == ["openai:small"]
    there = embedders_of(Settings(embedder="minilm"), "auto")
    assert there is not None
    assert chosen_at_start(there) == {"embedder": "minilm", "by": "setting", "model": "minilm"}
    named = embedders_of(Settings(embedder="use"), "auto")
    assert named is not None
    with pytest.raises(BadSetting, match="the embedder use needs a package"):
        chosen_at_start(named)


@pytest.mark.parametrize(
    ("setting", "default", "minutes"),
    [(None, "none", 5), ("none", "auto", None), (None, "auto", 1), ("minilm", "none", 1), (AUTO, "none", 1)],
)
def test_how_often_the_job_looks(setting: str | None, default: str, minutes: int | None) -> None:
    assert embed_minutes(embedders_of(Settings(embedder=setting), default)) == minutes


def test_status_and_ready_tell_what_compares_meanings_here_and_ready_names_nobody_s_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, "minilm", "mine:model")
    for setting, name, kind, loaded, missing in (
        ("auto", "auto", "auto", [], ["use"]),
        ("minilm", "minilm", "minilm", ["minilm"], []),
        ("mine:model", "mine:model", "imported", ["mine:model"], []),
    ):
        with open_application(Settings(data=tmp_path, embedder=setting)) as application:
            meanings = application.reader._meanings
            assert isinstance(meanings, Meanings)
            if loaded:
                meanings.embedders.get(EmbedderChosen(setting, setting, "setting"))
            told = application.operator.status()["embedder"]
            assert told == {"name": name, "chosen_by": "setting", "missing": missing, "loaded": loaded}
            ready = client_of(create_app(application)).get("/ready").json()["embedder"]
            assert ready == {"kind": kind, "loaded": len(loaded), "missing": len(missing)}
    with open_application(Settings(data=tmp_path, embedder="none")) as application:
        assert application.operator.status()["embedder"] is None
        assert client_of(create_app(application)).get("/ready").json()["embedder"] is None


def test_an_embedder_that_this_process_will_not_use_is_taken_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, "minilm")
    told = dict[tuple[str, str], str | None]()
    for setting in ("minilm", "none"):
        with open_application(Settings(data=tmp_path, embedder=setting)) as application:
            for chosen in ("openai:small", "use", "auto", "minilm", "none", "store"):
                answer = application.living.choose("ada", parameters={"embedder": chosen})
                told[setting, chosen] = answer.get("warning")
                application.settle()
                assert application.living.profile("ada").get("warning") == answer.get("warning")
    assert {key: (said or "")[:46] for key, said in told.items() if said} == {
        ("minilm", "openai:small"): "the embedder openai:small counts here, and thi",
        ("minilm", "use"): "the embedder use needs a package",
        ("minilm", "auto"): "of auto this process lacks use: its owners are",
        ("none", "openai:small"): "the embedder openai:small is not used here: EN",
        ("none", "use"): "the embedder use is not used here: ENGRAMLOG_E",
        ("none", "auto"): "the embedder auto is not used here: ENGRAMLOG_",
        ("none", "minilm"): "the embedder minilm is not used here: ENGRAMLO",
    }


class Loadable(WordEmbedder):
    """Tells that it was loaded."""

    is_ready = False

    def load(self) -> None:
        if self.down:
            raise EmbedderFailed("the files cannot be read", down=True)
        self.is_ready = True


@pytest.mark.parametrize("base", ["auto", "use", "minilm", "none"])
def test_up_loads_what_counts_and_has_vectors_in_the_background(server: RedisServer, base: str) -> None:
    with live_store(server.url, partitions=2) as live:
        vectors = RedisVectors(WirePool(live.client), live.identity.tags)
        by = {name: Loadable(name) for name in ("minilm", "use")}
        vectors.put("ada", "use", dict(zip([b"k" * 16], by["use"].texts(["窑坏了"]), strict=True)))
        told: list[tuple[str, dict[str, object]]] = []
        meanings = Meanings(Embedders(by.__getitem__, EmbedderPlan(base)), vectors)
        load_in_background(meanings, lambda fact, **facts: told.append((fact, facts))).join(PATIENCE)
        counts = base in ("auto", "use")
        assert told == [("embedder loaded", {"model": "use"})] * counts
        assert (by["use"].is_ready, by["minilm"].is_ready) == (counts, False)
        if counts:
            by["use"].down, by["use"].is_ready = True, False
            load_in_background(meanings, lambda fact, **facts: told.append((fact, facts))).join(PATIENCE)
            why = {"model": "use", "reason": "the files cannot be read", "alarm": True}
            assert told[1:] == [("embedder not loaded", why)]
        vectors.close()


@pytest.mark.parametrize("raised", [ImportError("no tokens in /somewhere/ada"), MemoryError()])
def test_whatever_the_first_model_fails_with_is_told_and_the_second_loads(
    server: RedisServer, raised: Exception
) -> None:
    class Broken(Loadable):
        def load(self) -> None:
            raise raised

    with live_store(server.url, partitions=2) as live:
        vectors = RedisVectors(WirePool(live.client), live.identity.tags)
        by = {"minilm": Broken("minilm"), "use": Loadable("use")}
        for name, embedder in by.items():
            vectors.put("ada", name, dict(zip([b"k" * 16], embedder.texts(["tea"]), strict=True)))
        told: list[tuple[str, dict[str, object]]] = []
        meanings = Meanings(Embedders(by.__getitem__, EmbedderPlan("auto")), vectors)
        load_in_background(meanings, lambda fact, **facts: told.append((fact, facts))).join(PATIENCE)
        assert told == [
            ("embedder not loaded", {"model": "minilm", "reason": type(raised).__name__, "alarm": True}),
            ("embedder loaded", {"model": "use"}),
        ]
        vectors.close()


def test_a_store_that_does_not_answer_is_told_of_the_loading(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost() -> list[str]:
        raise OSError("the line is dead")

    with live_store(server.url, partitions=2) as live:
        vectors = RedisVectors(WirePool(live.client), live.identity.tags)
        monkeypatch.setattr(vectors, "models", lost)
        told: list[tuple[str, dict[str, object]]] = []
        meanings = Meanings(Embedders(Loadable, EmbedderPlan("auto")), vectors)
        load_in_background(meanings, lambda fact, **facts: told.append((fact, facts))).join(PATIENCE)
        assert told == [("embedder not loaded", {"reason": "OSError", "alarm": True})]
        vectors.close()


def test_a_model_that_the_job_has_loaded_is_told_as_loaded() -> None:
    embedders = Embedders(lambda name: CachingEmbedder(WordEmbedder(name)), EmbedderPlan("minilm"))
    embedder = embedders.get(EmbedderChosen("minilm", "minilm", "setting"))
    told = []
    for texts in ([], ["tea"]):
        embedder.texts(texts)
        standing = standing_of(embedders)
        assert standing is not None
        told.append(standing["loaded"])
    assert told == [[], ["minilm"]]
