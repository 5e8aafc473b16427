"""A dry run at every face: HTTP, the command line and the client ask what a verb would do, and nothing is told by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from engramlog_server.api.access import MADE_WHOLE
from engramlog_server.api.operations.definition import DRY_RUN
from engramlog_server.events.partitions import partition_of
from tests.given.client import Service, connected, new_owner
from tests.integration.api.faces.test_nobody_promotes_himself import World

BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "negate": ("/memories/coffee/negate", {"correction": "I drink tea now", "never": True}),
    "confirm": ("/memories/coffee/confirm", {}),
    "mention": ("/memories/coffee/mention", {"similarity": 0.9}),
    "edit": ("/memories/coffee/edit", {"content": "I drink coffee at eight"}),
    "sensitivity": ("/memories/coffee/sensitivity", {"level": 2, "reason": "so"}),
    "unmerge": ("/memories/both/unmerge", {}),
    "merge": ("/merge", {"sources": ["coffee", "cat"], "into": "two"}),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "negate": ("OWNER", "coffee", "--correction", "I drink tea now", "--never"),
    "confirm": ("OWNER", "coffee"),
    "mention": ("OWNER", "coffee", "--similarity", "0.9"),
    "edit": ("OWNER", "coffee", "I drink coffee at eight"),
    "sensitivity": ("OWNER", "coffee", "--sensitivity", "2", "--reason", "so"),
    "unmerge": ("OWNER", "both"),
    "merge": ("OWNER", "coffee", "cat", "--into", "two"),
}
NAMED = {"confirm": ("mention", "--confirm"), "sensitivity": ("edit",)}
"""Commands of another name."""
CALLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "negate": ("negate", ("coffee",), {"correction": "I drink tea now", "never": True}),
    "confirm": ("confirm", ("coffee",), {}),
    "mention": ("mention", ("coffee",), {"similarity": 0.9}),
    "edit": ("update", ("coffee", "I drink coffee at eight"), {}),
    "sensitivity": ("set_sensitivity", ("coffee", 2), {"reason": "so"}),
    "unmerge": ("unmerge", ("both",), {}),
    "merge": ("merge", (["coffee", "cat"],), {"into": "two"}),
}


@pytest.fixture
def world(running: Service, tmp_path: Path) -> World:
    made = World(running, new_owner(), tmp_path)
    say = made.app.rememberer.add
    say(made.owner, "I drink coffee every morning", memory_id="coffee")
    say(made.owner, "我的猫叫米糕", memory_id="cat")
    for number, text in enumerate(("I like hills", "I like long hills")):
        say(made.owner, text, memory_id=f"hills-{number}")
    made.app.writer.merge(made.owner, ["hills-0", "hills-1"], into="both")
    return made


def posted(world: World, verb: str, **more: Any) -> Any:
    path, body = BODIES[verb]
    return world.running.http.client.post(f"/v1/owners/{quote(world.owner, safe='')}{path}", json=body | more)


def head(world: World) -> int:
    return world.app.log.head(partition_of(world.owner, world.app.log.partitions))


def decisions(changes: list[dict[str, Any]]) -> list[tuple[str, str, list[str]]]:
    return [(one["event"], one["decision"], one["fields"]) for one in changes]


def test_the_verbs_that_can_be_asked_are_those_of_these_tables() -> None:
    asked = {one.name for one in MADE_WHOLE if DRY_RUN in one.question}
    assert asked == BODIES.keys() == COMMANDS.keys() == CALLS.keys()
    assert all(not {"as_of", "known", "at"} & {p.name for p in one.question} for one in MADE_WHOLE if one.name in asked)


@pytest.mark.parametrize("verb", BODIES)
def test_every_face_tells_what_the_verb_then_does_and_only_the_verb_writes(world: World, verb: str) -> None:
    before = head(world)
    by_http = posted(world, verb, dry_run=True)
    assert by_http.status_code == 200, by_http.text
    words = [world.owner if one == "OWNER" else one for one in COMMANDS[verb]]
    code, printed = world.command(*NAMED.get(verb, (verb,)), *words, "--dry-run", "--json")
    assert code == 0, printed
    name, given, told = CALLS[verb]
    with connected("sync", world.running.url, owner=world.owner) as memory:
        by_client = getattr(memory, name)(*given, **told, dry_run=True)
    assert head(world) == before
    answers = [by_http.json(), json.loads(printed)]
    assert [one["dry_run"] for one in answers] == [True, True]
    assert (by_client.dry_run, by_client.event_ids) == (True, [])
    assert by_client.changes
    does = posted(world, verb).json()
    assert "dry_run" not in does
    assert [decisions(one["changes"]) for one in answers] == [decisions(does["changes"])] * 2
    assert head(world) > before


@pytest.mark.parametrize("verb", BODIES)
def test_the_command_says_plainly_that_nothing_was_written(world: World, verb: str) -> None:
    words = [world.owner if one == "OWNER" else one for one in COMMANDS[verb]]
    code, printed = world.command(*NAMED.get(verb, (verb,)), *words, "--dry-run")
    assert (code, "nothing was written" in printed) == (0, True), printed
    code, printed = world.command(*NAMED.get(verb, (verb,)), *words)
    assert (code, "nothing was written" in printed) == (0, False), printed


def test_no_word_of_a_secret_stands_in_what_would_be(world: World) -> None:
    words = "my password is hunter2-Sesame"
    for answer in (
        posted(world, "negate", dry_run=True, correction=words),
        posted(world, "edit", dry_run=True, content=words),
        posted(world, "merge", dry_run=True, summary=words),
    ):
        assert answer.status_code == 200
        assert "hunter2" not in answer.text


def test_every_parameter_is_told_at_every_face_alike(world: World) -> None:
    by_http = world.running.http.client.get("/v1/parameters").json()
    code, printed = world.command("parameters", "--all", "--json")
    with connected("sync", world.running.url, owner=world.owner) as memory:
        by_client = memory.parameters()
    assert (code, json.loads(printed)) == (0, by_http)
    assert [one.as_dict() for one in by_client.parameters] == by_http["parameters"]
    code, shown = world.command("parameters", "--all")
    assert code == 0
    assert all(one["name"] in shown for one in by_http["parameters"])
