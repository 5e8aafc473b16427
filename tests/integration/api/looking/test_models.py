"""What asking models took: counted by whoever asks, kept by day, told, and in nobody's way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.services.capacity import ModelsNamed, ModelUses
from engramlog_server.consumers.verify.store import verify_store
from engramlog_server.events.errors import ModelFailed
from engramlog_server.events.partitions import MODELS_KEY
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.ops.models import counted, model_of
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.models.chat import CountedChat, ModelAsked, ModelUsage
from engramlog_server.projections.redis.usage import ModelLedger, day_key, last_days
from engramlog_server.projections.shapes import ChatSet
from tests.given.http import HttpStore, http_store

TODAY = datetime(2026, 11, 26, 23, 30, tzinfo=UTC)
CHAT: ChatSet = {
    "model": "small", "host": "127.0.0.1:11434", "extraction": "model", "reviewer": "rule", "summaries": "off", "expansion": "off",
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HttpStore]:
    with http_store(tmp_path / "store") as opened:
        yield opened


def uses(store: HttpStore, chat: ChatSet | None = CHAT, lost: int = 0) -> ModelUses:
    return ModelUses(store.store.wires, lambda: ModelsNamed(chat), lambda: lost)


def asked(use: str = "extract", model: str = "small", *, failed: bool = False, tokens: int = 100) -> ModelAsked:
    return ModelAsked(model, use, ModelUsage(2, tokens, 10), failed)


class Scripted:
    """Answers, or fails, and tells what it took."""

    model = "small"

    def __init__(self, failure: ModelFailed | None = None) -> None:
        self._failure = failure

    def ask(self, system: str, prompt: str, answer: type[Any], check: Any = None) -> tuple[Any, ModelUsage]:
        if self._failure is not None:
            raise self._failure
        return "yes", ModelUsage(1, 7, 3)


def test_every_question_is_counted_whatever_becomes_of_it() -> None:
    told: list[ModelAsked] = []
    assert CountedChat(Scripted(), "review", told.append).ask("", "", str) == ("yes", ModelUsage(1, 7, 3))
    failing = CountedChat(Scripted(ModelFailed("no", down=True, usage=(4, 5, 6))), "review", told.append)
    with pytest.raises(ModelFailed):
        failing.ask("", "", str)
    assert told == [
        ModelAsked("small", "review", ModelUsage(1, 7, 3), False),
        ModelAsked("small", "review", ModelUsage(4, 5, 6), True),
    ]


def test_what_was_counted_is_told_in_all_and_by_day(store: HttpStore) -> None:
    now = datetime.now(UTC)
    today, yesterday = last_days(now, 2)
    ledger = ModelLedger(store.store.wires, lambda: datetime.fromisoformat(f"{yesterday}T12:00:00Z"))
    ledger.note(asked())
    ledger._now = lambda: now
    for one in (asked(), asked(failed=True), asked("summarise", "另一个|模型", tokens=0)):
        ledger.note(one)
    told = uses(store).models()
    extract, summarise = told["used"]
    assert (extract["model"], extract["use"], extract["asked"], extract["failed"]) == ("small", "extract", 3, 1)
    assert (extract["requests"], extract["input_tokens"], extract["output_tokens"]) == (6, 300, 30)
    assert (extract["first"], extract["last"], told["since"]) == (yesterday, today, yesterday)
    assert summarise["model"] == "另一个|模型"
    assert [(one["day"], one["use"], one["asked"]) for one in told["days"]] == [
        (today, "extract", 2),
        (today, "summarise", 1),
        (yesterday, "extract", 1),
    ]
    assert {one["day"] for one in uses(store).models(days=1)["days"]} == {today}
    assert ledger.lost == 0


def test_days_are_kept_for_a_year_and_more_and_the_sum_for_good(store: HttpStore) -> None:
    ModelLedger(store.store.wires, lambda: TODAY).note(asked())
    client = store.store.client
    assert 399 * 86_400 < int(client.ttl(day_key("2026-11-26"))) <= 400 * 86_400
    assert client.ttl(MODELS_KEY) == -1
    with store.store.wires.wire() as wire:
        assert verify_store(wire).differences == []
    client.hset(f"{MODELS_KEY}:someday", "a", 1)
    with store.store.wires.wire() as wire:
        assert [one["what"] for one in verify_store(wire).differences] == ["unexpected key"]


def test_a_store_that_does_not_take_a_count_costs_the_count_and_no_answer(store: HttpStore) -> None:
    ledger = ModelLedger(WirePool(connect("unix:///nowhere/at-all", timeout=1.0)), lambda: TODAY)
    assert CountedChat(Scripted(), "review", ledger.note).ask("", "", str)[0] == "yes"
    assert ledger.lost == 1
    assert uses(store, lost=ledger.lost).models()["lost"] == 1


def test_over_http_a_store_without_models_says_so(store: HttpStore) -> None:
    told = store.client.get("/v1/models").json()
    assert {name: told[name] for name in ("chat", "embedder", "used", "days", "since", "lost")} == {
        "chat": None,
        "embedder": None,
        "used": [],
        "days": [],
        "since": None,
        "lost": 0,
    }
    refused = store.client.get("/v1/models", params={"days": 367})
    assert (refused.status_code, refused.json()["field"]) == (422, "days")


def test_what_the_settings_name_is_told_without_keys_and_paths(tmp_path: Path) -> None:
    settings = Settings(
        data=tmp_path,
        model="qwen3:8b",
        model_url="http://127.0.0.1:11434/secret/v1",
        model_key="sk-not-to-be-told",  # type: ignore[arg-type]
        embedder="openai:small",
        embedder_key="sk-neither",  # type: ignore[arg-type]
        extraction="model",
    )
    told = model_of(settings)
    assert told.chat_set is not None
    assert (told.chat_set["host"], told.chat_set["extraction"]) == ("127.0.0.1:11434", "model")
    assert told.embedder_host == "api.openai.com"
    assert not [word for word in ("sk-", "secret") if word in f"{told.chat_set} {told.embedder_host}"]


def test_a_model_of_the_settings_is_made_at_first_need_and_counted(tmp_path: Path) -> None:
    made: list[Scripted] = []

    def make() -> Any:
        made.append(Scripted())
        return made[-1]

    told: list[ModelAsked] = []
    chat = counted(make, "extract", told.append)  # type: ignore[arg-type]
    assert made == []
    assert chat().ask("", "", str)[0] == "yes"
    assert [one.use for one in told] == ["extract"]
