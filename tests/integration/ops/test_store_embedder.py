"""What a store compares meanings by is written down when it is made, and not read off what is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from consumers.verify.store import verify_store
from events.errors import BadSetting
from events.partitions import STORE_KEY
from events.redis.clock import redis_micros
from events.redis.wire import Wire
from events.text.embedder_names import AUTO
from ops.embedders import chosen_at_start, embed_minutes, embedders_of, missing_of
from ops.settings import Settings, load_settings
from ops.store import open_the_store
from projections.embedding.meaning import Embedder
from projections.redis.create import known_identity, open_store
from tests.doubles.embedding import WordEmbedder
from tests.servers import RedisServer, Servers

MISSING = "the embedder {} needs a package"


@pytest.fixture
def server(redis_servers: Servers) -> RedisServer:
    return redis_servers.get("redis-6.2")


def installed(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have these embedders, and no others, be there."""

    def maker(_settings: Settings) -> Callable[[str], Embedder]:
        def make(name: str) -> Embedder:
            if name not in names:
                raise BadSetting(MISSING.format(name))
            return WordEmbedder(name)

        return make

    monkeypatch.setattr("ops.embedders.maker_of", maker)


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
        (("minilm",), None, "none"),
        (("use",), None, "none"),
        ((), None, "none"),
        (("minilm", "use"), "none", "none"),
        (("minilm", "use"), "minilm", "minilm"),
        ((), "openai:small", "openai:small"),
    ],
)
def test_a_new_store_takes_the_setting_else_auto_where_both_models_are_there(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], setting: str | None, kept: str
) -> None:
    installed(monkeypatch, *there)
    before = redis_micros(Wire(server.client()))
    name, at = made(server, setting)
    assert name == kept
    assert at is not None
    assert before <= at <= redis_micros(Wire(server.client()))
    installed(monkeypatch, "minilm", "use")
    for later in (None, "none", "minilm"):
        assert made(server, later) == (kept, at)  # what is installed or set later changes nothing


def test_a_store_of_before_compares_nothing_unless_it_is_set(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, "minilm", "use")
    open_store(Wire(server.client()), store_id="old", partitions=2)
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
    assert verify_store(Wire(client)).differences != []


def test_who_may_only_write_to_it_reads_it_too(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "minilm", "use")
    made(server)
    identity = known_identity(Wire(server.client()))
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


def test_unset_and_empty_are_the_same(tmp_path: Path) -> None:
    for environment in ({}, {"ENGRAMLOG_EMBEDDER": ""}):
        assert load_settings({**environment, "ENGRAMLOG_DATA": str(tmp_path)}).embedder is None
    assert load_settings({"ENGRAMLOG_EMBEDDER": "auto"}).embedder == "auto"
