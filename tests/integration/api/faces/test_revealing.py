"""Showing a secret: recorded first on every face, shown by no GET, and never where it cannot be recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from engramlog import Memory
from engramlog_server.api.access import By
from engramlog_server.api.cli.main import run
from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.events.catalogue import MemoriesAccessed
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import InvalidEvent, StoreUnavailable
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.vocabulary import MAX_SOURCES
from tests.given.client import Service, new_owner
from tests.given.http import TOKEN, created, event, mentioned
from tests.places import ROOT

SECRET = "my password is hunter2-Xq9!"


@pytest.fixture
def owner(running: Service) -> str:
    """Somebody with a secret and a memory that is none."""
    whose = new_owner()
    running.http.told(whose, created("pin", SECRET, sensitivity=3, owner=whose), created("tea", "tea", owner=whose))
    return whose


def path(owner: str, rest: str) -> str:
    from urllib.parse import quote

    return f"/v1/owners/{quote(owner, safe='')}{rest}"


def recorded(running: Service, owner: str) -> list[tuple[str, Any, str]]:
    """Which memories were revealed, to whom, and what was noted of it."""
    changes = running.http.application.reader.history(owner)["changes"]
    return [(one["memory"], one["actor"], one["reason"]) for one in changes if one["decision"] == "reveal"]


def by_command(running: Service, owner: str, *words: str) -> Callable[[pytest.CaptureFixture[str]], str]:
    """What a command prints on standard output."""

    def told(capsys: pytest.CaptureFixture[str]) -> str:
        capsys.readouterr()
        assert run(lambda: nullcontext(running.http.application), list(words)) == 0
        return capsys.readouterr().out

    return told


def post(running: Service, owner: str, rest: str, **body: Any) -> str:
    answer = running.http.client.post(path(owner, rest), json=body)
    assert answer.status_code == 200, answer.text
    return answer.text


def by_client(running: Service, owner: str) -> str:
    with Memory(running.url, token=TOKEN, owner=owner) as memory:
        found = memory.get("pin", reveal=True, reason="asked at the desk", actor="judge")
        assert found.revealed
        return found.content


WAYS: dict[str, tuple[Callable[[Service, str, pytest.CaptureFixture[str]], str], tuple[str, str]]] = {
    "POST reveal": (
        lambda running, owner, _: post(running, owner, "/memories/pin/reveal", actor="judge", reason="asked"),
        ("judge", "get, http"),
    ),
    "POST export": (
        lambda running, owner, _: post(running, owner, "/export", actor="judge", reveal=True),
        ("judge", "export, http"),
    ),
    "the client": (lambda running, owner, _: by_client(running, owner), ("judge", "get, http")),
    "get --reveal": (
        lambda running, owner, capsys: by_command(running, owner, "get", owner, "pin", "--reveal", "--json")(capsys),
        ("user", "get, command"),
    ),
    "get --reveal, unseen": (
        lambda running, owner, capsys: by_command(running, owner, "get", owner, "pin", "--reveal", "--no-trace")(
            capsys
        ),
        ("user", "get, command"),
    ),
    "export --reveal": (
        lambda running, owner, capsys: by_command(running, owner, "export", owner, "--reveal")(capsys),
        ("user", "export, command"),
    ),
    "export --reveal, for people": (
        lambda running, owner, capsys: by_command(running, owner, "export", owner, "--reveal", "--format", "text")(
            capsys
        ),
        ("user", "export, command"),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_see_a_secret_is_recorded_with_who_asked_and_how(
    running: Service, owner: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask, (actor, how) = WAYS[way]
    assert "hunter2" in ask(running, owner, capsys)
    assert recorded(running, owner) == [("pin", actor, f"its text was asked for: {how}")]


@pytest.mark.parametrize("way", WAYS)
def test_where_it_cannot_be_recorded_nothing_is_shown(
    running: Service, owner: str, way: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise StoreUnavailable("Redis refuses")

    monkeypatch.setattr(running.http.application.writer, "append_all", refuse)
    told = ""
    try:
        told = WAYS[way][0](running, owner, capsys)
    except Exception as error:
        told = str(error)
    said = capsys.readouterr()
    assert "hunter2" not in told + said.out + said.err
    assert recorded(running, owner) == []


def test_what_is_recorded_holds_the_reason_and_no_word_of_the_secret(running: Service, owner: str) -> None:
    position = json.loads(post(running, owner, "/memories/pin/reveal", reason="asked at the desk"))["revealed"]
    partition, seq = (int(part) for part in position.split(":"))
    (stored,) = running.http.application.log.read_at(partition, [seq])
    assert json.loads(stored.body)["data"] == {
        "memory_ids": ["pin"],
        "by": "get",
        "face": "http",
        "reason": "asked at the desk",
    }
    told = str(running.http.application.reader.history(owner)) + str(running.http.application.reader.why(owner, "pin"))
    assert "hunter2" not in told
    assert "reveal" in [one["decision"] for one in running.http.application.reader.why(owner, "pin")["changes"]]


def test_to_be_looked_at_moves_no_weight_and_no_clock(running: Service, owner: str) -> None:
    asked: dict[str, Any] = {"trace": False, "at": "2027-01-01T00:00:00Z"}
    reader = running.http.application.reader
    before, head = reader.get(owner, "pin", **asked), running.http.application.log.owner_head(owner)
    running.http.application.revealer.get(owner, "pin", By("http"), trace=False)
    after = reader.get(owner, "pin", **asked)
    assert {name for name in before if before[name] != after[name]} == {"position"}
    assert running.http.application.log.owner_head(owner) == head


def test_a_correction_that_is_a_secret_is_recorded_with_the_memory_that_tells_it(running: Service) -> None:
    owner = new_owner()
    running.http.told(owner, created("old", "I have no PIN", owner=owner))
    new = running.http.application.writer.negate(owner, "old", correction=SECRET)["replaced_by"]
    answer = running.http.application.revealer.get(owner, "old", By("http"))
    assert answer["correction_history"][0]["new_preference"] == SECRET
    assert [memory for memory, _, _ in recorded(running, owner)] == ["old", new]


def test_more_secrets_than_one_event_holds_are_all_recorded(running: Service) -> None:
    owner, count = new_owner(), MAX_SOURCES + 20
    running.http.told(owner, *(created(f"s{n}", SECRET, sensitivity=3, owner=owner) for n in range(count)))
    export, _ = running.http.application.revealer.export(owner, ExportOptions(reveal=True), By("http"))
    assert len(list(export.records())) == len({memory for memory, _, _ in recorded(running, owner)}) == count


def test_an_export_without_secrets_and_a_memory_that_there_is_not_record_nothing(running: Service) -> None:
    owner = new_owner()
    running.http.told(owner, created("tea", "tea", owner=owner), mentioned("tea", owner=owner))
    answer = running.http.client.post(path(owner, "/export"), json={"reveal": True})
    assert (answer.status_code, "engramlog-revealed" in answer.headers) == (200, False)
    assert running.http.client.post(path(owner, "/memories/none/reveal")).status_code == 404
    assert recorded(running, owner) == []


def test_no_get_shows_a_secret_and_the_refusal_names_the_post(running: Service, owner: str) -> None:
    for rest in ("/memories/pin?reveal=true", "/export?reveal=true", "/export?reveal=1&format=text"):
        answer = running.http.client.get(path(owner, rest))
        assert (answer.status_code, answer.json()["field"]) == (422, "reveal")
        assert "POST" in answer.json()["allowed"]
        assert "hunter2" not in answer.text
    assert recorded(running, owner) == []


def test_nobody_over_http_records_a_reveal_that_was_none(running: Service, owner: str) -> None:
    data = {"memory_ids": ["pin"], "by": "get", "face": "command"}
    answer = running.http.client.post("/v1/events", json=[event("MemoriesRevealed", owner=owner, **data)])
    assert (answer.status_code, answer.json()["problems"][0]["field"]) == (422, "type")
    assert recorded(running, owner) == []


def test_nobody_over_http_is_the_operator_who_looks(running: Service, owner: str) -> None:
    for rest in ("/memories/pin/reveal", "/export"):
        answer = running.http.client.post(path(owner, rest), json={"actor": "operator", "reason": "I say so"})
        assert (answer.status_code, answer.json()["field"]) == (422, "actor")
    assert recorded(running, owner) == []


def test_an_actor_that_there_is_not_sees_nothing(running: Service, owner: str) -> None:
    with pytest.raises(InvalidEvent, match="actor"):
        running.http.application.revealer.get(owner, "pin", By("http", "god"))


def test_a_store_of_which_no_faces_code_asks_the_reader_to_reveal() -> None:
    """The recorder is the only one who may."""

    root = ROOT
    found = [
        str(source.relative_to(root))
        for folder in ("api", "ops", "consumers")
        for source in (root / folder).rglob("*.py")
        if "reveal=True" in source.read_text("utf-8")
    ]
    assert found == ["api/access.py"]


def test_a_parked_reveal_of_a_quarantined_owner_is_recorded_and_shown(running: Service, owner: str) -> None:
    running.poison(owner)
    answer = running.http.client.post(path(owner, "/memories/pin/reveal"), json={})
    assert answer.status_code == 200, answer.text
    partition, seq = (int(part) for part in answer.json()["revealed"].split(":"))
    (stored,) = running.http.application.log.read_at(partition, [seq])
    assert stored.kind == "MemoriesRevealed.1"


def accesses(running: Service, owner: str) -> list[tuple[str, tuple[str, ...]]]:
    """What was recorded as shown of an owner, and how."""
    application = running.http.application
    application.writer.settle(application.accesses.flush())
    log = application.log
    stored = [one for one in log.read(partition_of(owner, log.partitions), 0, 10_000) if one.owner == owner]
    data = [decode(one.kind, one.body).data for one in stored]
    return [(one.via, access.shown) for one in data if isinstance(one, MemoriesAccessed) for access in one.accesses]


LOOKS: dict[str, tuple[str, Callable[[Service, str, pytest.CaptureFixture[str]], object]]] = {
    "search": ("inspection", lambda r, o, c: by_command(r, o, "search", o, "tea")(c)),
    "get": ("inspection", lambda r, o, c: by_command(r, o, "get", o, "tea")(c)),
    "get --inspect": ("inspection", lambda r, o, c: by_command(r, o, "get", o, "tea", "--inspect")(c)),
    "GET search": ("inspection", lambda r, o, _: r.http.client.get(path(o, "/search?query=tea&inspect=true")).raise_for_status()),
    "GET memory": ("inspection", lambda r, o, _: r.http.client.get(path(o, "/memories/tea?inspect=true")).raise_for_status()),
    "the client searches": ("inspection", lambda r, o, _: asked_by_client(r, o, lambda m: m.search("tea", inspect=True))),
    "the client gets": ("inspection", lambda r, o, _: asked_by_client(r, o, lambda m: m.get("tea", inspect=True))),
    "POST reveal": ("reveal", lambda r, o, _: post(r, o, "/memories/tea/reveal")),
    "get --reveal": ("reveal", lambda r, o, c: by_command(r, o, "get", o, "tea", "--reveal")(c)),
}  # fmt: skip


def asked_by_client(running: Service, owner: str, ask: Callable[[Memory], object]) -> None:
    with Memory(running.url, token=TOKEN, owner=owner) as memory:
        ask(memory)


@pytest.mark.parametrize("way", LOOKS)
def test_whoever_only_looks_is_recorded_as_that_through_every_face_and_the_memory_gains_nothing(
    running: Service, owner: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, (via, look) = running.http.application.reader, LOOKS[way]
    before = reader.get(owner, "tea", trace=False, at="2100-01-01T00:00:00Z")
    look(running, owner, capsys)
    assert accesses(running, owner) == [(via, ("tea",))]
    after = reader.get(owner, "tea", trace=False, at="2100-01-01T00:00:00Z")
    assert after | {"position": ""} == before | {"position": ""}
    reader.get(owner, "tea")  # the control: what is no look does count
    assert accesses(running, owner) == [(via, ("tea",)), ("detail", ("tea",))]
    assert reader.get(owner, "tea", trace=False)["access_count"] == 1


COUNTS: dict[str, tuple[str, Callable[[Service, str, pytest.CaptureFixture[str]], object]]] = {
    "search --trace": ("recall", lambda r, o, c: by_command(r, o, "search", o, "tea", "--trace")(c)),
    "get --trace": ("detail", lambda r, o, c: by_command(r, o, "get", o, "tea", "--trace")(c)),
    "GET search": ("recall", lambda r, o, _: r.http.client.get(path(o, "/search?query=tea")).raise_for_status()),
    "GET memory": ("detail", lambda r, o, _: r.http.client.get(path(o, "/memories/tea")).raise_for_status()),
    "the client searches": ("recall", lambda r, o, _: asked_by_client(r, o, lambda m: m.search("tea"))),
    "the client gets": ("detail", lambda r, o, _: asked_by_client(r, o, lambda m: m.get("tea"))),
}


@pytest.mark.parametrize("way", COUNTS)
def test_what_an_agent_asks_counts_by_every_face_and_by_command_where_a_trace_is_asked_for(
    running: Service, owner: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    via, ask = COUNTS[way]
    ask(running, owner, capsys)
    assert accesses(running, owner) == [(via, ("tea",))]
    assert running.http.application.reader.get(owner, "tea", trace=False)["access_count"] == 1


@pytest.mark.parametrize("words", [("search", "tea"), ("get", "tea")])
def test_no_trace_on_the_command_line_records_nothing(
    running: Service, owner: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    by_command(running, owner, words[0], owner, *words[1:], "--no-trace")(capsys)
    assert accesses(running, owner) == []


def test_without_a_trace_a_secret_is_revealed_and_noted_and_not_recorded_as_shown(running: Service, owner: str) -> None:
    post(running, owner, "/memories/pin/reveal", trace=False)
    assert accesses(running, owner) == []
    assert len(recorded(running, owner)) == 1
