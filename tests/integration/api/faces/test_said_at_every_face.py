"""One thing can be remembered, said better and come back to at every face, with the same defaults and each once under its key."""

from __future__ import annotations

import asyncio
import inspect
import io
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest

from engramlog import InputError, Memory
from engramlog_server.api.application import Application
from engramlog_server.api.cli.main import loaded
from engramlog_server.api.http.app import create_app
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.server import MemoryServer
from engramlog_server.api.operations.table import entries
from engramlog_server.events.envelope import decode
from engramlog_server.events.partitions import partition_of
from tests.given.client import Service, connected, new_owner
from tests.given.mcp import in_process, talk
from tests.integration.api.faces.test_nobody_promotes_himself import World

TEXT = "I drink tea every morning"
NO_KEY = {
    "POST /v1/events": "events come with ids of their own",
    "POST /v1/alarms/clear": "an alarm stands or not",
    "POST /v1/console/codes": "writes nothing",
    "POST /v1/console/codes/state": "writes nothing",
    "POST /v1/console/session": "writes nothing",
    "POST /v1/console/session/end": "writes nothing",
    "POST /v1/dead/{owner}/retry": "an event is parked or not",
    "POST /v1/dead/{owner}/discard": "an event is parked or not",
    "POST /v1/owners/{owner}/memories/{memory_id}/reveal": "each showing is recorded",
    "POST /v1/owners/{owner}/export": "each showing is recorded",
    "POST /v1/owners/{owner}/context": "a block has an id of its own",
    "POST /v1/owners/{owner}/replay": "writes nothing",
    "POST /v1/owners/{owner}/diff": "writes nothing",
    "POST /v1/heads/check": "writes nothing",
    "POST /v1/keys": "each is another key",
    "POST /v1/keys/revoke": "a key is revoked or not",
    "POST /v1/grants": "a principal has these grants or not",
    "POST /v1/owners/{owner}/retract": "its reach is its key: what reaches the same is the same act",
    "POST /v1/owners/{owner}/extract": "a job: what it decides has ids of its own",
    "POST /v1/owners/{owner}/cleanup": "a job: what it decides has ids of its own",
    "POST /v1/owners/{owner}/episodes": "a job: what it decides has ids of its own",
    "POST /v1/owners/{owner}/import/records": "ids come with the records",
    "POST /v1/owners/{owner}/chats": "ids come with the chats, or are made of them",
}
"""Routes that may write and take no key, each with the reason."""


@pytest.fixture
def world(running: Service, tmp_path: Path) -> World:
    return World(running, new_owner(), tmp_path)


def data_of(w: World) -> list[Any]:
    """What the log holds of the owner."""
    log = w.app.log
    stored = log.read(partition_of(w.owner, log.partitions), 0, 10_000)
    return [decode(one.kind, one.body).data for one in stored if one.owner == w.owner]


def by_http(w: World, verb: str, *words: str, key: str | None) -> None:
    path = f"/v1/owners/{quote(w.owner, safe='')}/memories" + (f"/{words[0]}/{verb}" if verb != "add" else "")
    body = {"content": words[-1]} if verb != "mention" else {}
    answer = w.running.http.client.post(path, json=body | ({"key": key} if key else {}))
    if answer.status_code == 409:
        assert answer.json()["error"] == "KeyTaken"
        raise InputError(answer.json()["detail"], field=answer.json()["field"])
    assert answer.status_code == 200, answer.text


def by_command(w: World, verb: str, *words: str, key: str | None) -> None:
    code, told = w.command(verb, w.owner, *words, *(["--key", key] if key else []))
    if code == 2:
        raise InputError(told)
    assert code == 0, told


def by_client(w: World, verb: str, *words: str, key: str | None) -> None:
    with connected("sync", w.running.url, owner=w.owner) as memory:
        getattr(memory, verb)(*words, key=key)


def by_tool(w: World, verb: str, *words: str, key: str | None) -> None:
    tool = {"add": "add_memory", "edit": "update_memory"}[verb]
    told = {"content": words[-1]} | ({"memory_id": words[0]} if verb == "edit" else {})
    asked = told | ({"key": key} if key else {})

    async def talking(agent: Any) -> Any:
        return await agent.client.call_tool(tool, asked)

    answer = talk(in_process(w.app, w.owner), talking)
    if answer.is_error:
        raise InputError(str(answer.content))


Face = Callable[..., None]
FACES: dict[str, Face] = {"http": by_http, "command": by_command, "client": by_client, "mcp": by_tool}
VERBS: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("add", (TEXT,), ("I drink water",)),
    ("edit", ("m", TEXT), ("m", "I drink water")),
    ("mention", ("m",), ("n",)),
]
TOLD = [(face, *verb) for face in FACES for verb in VERBS if (face, verb[0]) != ("mcp", "mention")]


def known(w: World) -> None:
    for memory_id in ("m", "n"):
        w.app.rememberer.add(w.owner, "I drink something", memory_id=memory_id)


def test_one_thing_remembered_is_the_same_memory_at_every_face(world: World) -> None:
    worlds = {name: replace(world, owner=new_owner()) for name in FACES}
    for name, face in FACES.items():
        face(worlds[name], "add", TEXT, key=None)
    told = [one for each in worlds.values() for one in data_of(each)]
    assert len(told) == len(FACES)
    assert len({repr(_nameless(one)) for one in told}) == 1
    assert (told[0].kind, told[0].category, told[0].source, told[0].tier) == ("fact", "fact", "user", None)


def _nameless(data: Any) -> Any:
    return {name: getattr(data, name) for name in data.__struct_fields__ if name != "memory_id"}


@pytest.mark.parametrize(("face", "verb", "words", "other"), TOLD)
def test_a_verb_told_twice_under_its_key_is_told_once_and_its_key_stands_for_nothing_else(
    world: World, face: str, verb: str, words: tuple[str, ...], other: tuple[str, ...]
) -> None:
    known(world)
    for _ in range(2):
        FACES[face](world, verb, *words, key="k")
    assert len(data_of(world)) == 3
    with pytest.raises(InputError, match="key"):
        FACES[face](world, verb, *other, key="k")
    assert len(data_of(world)) == 3


def test_a_memory_does_not_begin_under_an_id_that_one_has(world: World) -> None:
    known(world)
    with pytest.raises(InputError, match="--id: got"):
        by_command(world, "add", TEXT, "--id", "m", key=None)
    assert len(data_of(world)) == 2


@pytest.mark.parametrize(
    ("sent", "kept"), [(b"\xef\xbb\xbf\xe5\x96\x9d\xe8\x8c\xb6\n", "喝茶"), (b"two\nlines\r\n", "two\nlines")]
)
def test_a_text_is_read_from_standard_input(
    world: World, monkeypatch: pytest.MonkeyPatch, sent: bytes, kept: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent)))
    by_command(world, "add", "-", key=None)
    assert [one.content for one in data_of(world)] == [kept]


@pytest.mark.parametrize("sent", [b"\xff\xfe", b"x" * (1024 * 1024 + 1), b"", b"x" * 70_000])
def test_a_text_on_standard_input_that_cannot_be_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent)))
    with pytest.raises(InputError, match=r"TEXT|content"):
        by_command(world, "add", "-", key=None)
    assert data_of(world) == []


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"category": "nonsense"}, "category"),
        ({"confidence": 2}, "confidence"),
        ({"memory_id": "a b"}, "memory_id"),
        ({"metadata": {"a": [1]}}, "metadata.a"),
        ({"grounds": [{"uri": "x"}]}, "grounds[0].digest"),
        ({"tier": "core"}, "tier"),
        ({"kind": "core"}, "kind"),
        ({"content": " "}, "content"),
        ({"key": ""}, "key"),
    ],
)
def test_a_refusal_names_the_field_and_nothing_is_written(world: World, more: dict[str, Any], field: str) -> None:
    answer = world.running.http.client.post(
        f"/v1/owners/{quote(world.owner, safe='')}/memories", json={"content": TEXT} | more
    )
    assert answer.status_code == 422, answer.text
    told = [one["field"] for one in answer.json().get("problems", [answer.json()])]
    assert any(field in one for one in told), told
    assert data_of(world) == []


def test_every_route_that_writes_takes_a_key_or_is_listed_with_the_reason(world: World) -> None:
    document = create_app(world.app).openapi()
    schemas = document["components"]["schemas"]
    without = set()
    for path, methods in document["paths"].items():
        if "post" not in methods:
            continue
        asked = str(methods["post"].get("requestBody", {}))
        shapes = [one for name, one in schemas.items() if f"schemas/{name}'" in asked and name != "CodeOrKeyShown"]
        if not any("key" in one.get("properties", {}) for one in shapes):  # there a key of access is shown
            without.add(f"POST {path}")
    assert without == set(NO_KEY)


def test_every_tool_that_writes_takes_a_key() -> None:
    server = MemoryServer(Connection(lambda: nullcontext(cast("Application", None)), "ada"))
    tools = asyncio.run(server.list_tools())
    writing = {one.name for one in tools if one.annotations is None or not one.annotations.read_only_hint}
    keyed = {one.name for one in tools if "key" in one.input_schema["properties"]}
    assert keyed == writing
    assert {"add_memory", "update_memory", "reinforce_memory", "delete_memory"} <= keyed


def test_every_command_that_says_when_it_happened_takes_a_key() -> None:
    commands = {name: loaded(one) for name, one in entries().items()}
    options = {name: {opt for parameter in one.params for opt in parameter.opts} for name, one in commands.items()}
    dated = {name for name, found in options.items() if "--occurred-at" in found}
    assert dated == {name for name, found in options.items() if "--key" in found}
    assert {"add", "edit", "mention", "negate", "delete", "merge", "profile"} <= dated


def test_every_verb_of_the_client_that_says_when_it_happened_takes_a_key() -> None:
    told = {name: inspect.signature(getattr(Memory(), name)).parameters for name in dir(Memory) if name[0] != "_"
            if callable(getattr(Memory(), name))}  # fmt: skip
    dated = {name for name, found in told.items() if "occurred_at" in found}
    assert len(dated) > 10
    assert dated == {name for name, found in told.items() if "key" in found}
