"""A small store of which everything is asked that its OpenAPI document shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote
from uuid import uuid4

from fastapi import FastAPI

from engramlog_server.events.partitions import partition_of
from tests.given.client import Service
from tests.given.http import HttpStore, created, event, http_store
from tests.given.shaped import JSON, shape_checks
from tests.integration.live import wait_until

Json = dict[str, Any]
TURN = "D4:7"
STUCK = "mallory"
"""An owner whose fold stands still."""
ENDLESS = "text/event-stream"


class Answered(NamedTuple):
    """What became of one request."""

    route: str
    asked: str
    status: int
    text: str
    documented: bool
    """Whether the route says that it may answer with this status."""


@dataclass
class Asking:
    """A store of which all is asked that its document shows."""

    http: HttpStore
    document: Json
    checked: set[str] = field(default_factory=set)
    """Routes with an answer whose shape was looked at."""

    @property
    def operations(self) -> Iterator[tuple[str, str, Json]]:
        """Method, path and operation of every route that ends."""
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                if ENDLESS not in operation["responses"]["200"]["content"]:
                    yield method.upper(), path, operation

    def stick(self) -> str:
        """Have the fold of an owner stand still; the position at which it does."""
        position = Service("", self.http).poison(STUCK)
        wait_until(lambda: self.http.client.get(f"/v1/dead/{STUCK}").status_code == 200)
        return position

    def wait_for_a_person(self) -> str:
        """Have something wait for a person; by what it is answered."""
        item = f"m-{uuid4()}"
        proposed = created(item, f"The kiln fires at {item}", owner="alice") | {
            "actor": "assistant",
            "trust": "proposed",
        }
        self.http.told("alice", proposed)
        return item

    def ask(self, method: str, path: str, operation: Json, owner: str, query: Json, body: Any = None) -> Answered:
        """One request, of a memory that is there."""
        address = path.replace("{owner}", quote(owner, safe="")).replace("{memory_id}", "coffee")
        address = address.replace("{turn_id}", quote(TURN, safe=""))
        address = address.replace("{partition}", str(partition_of("alice", self.http.store.identity.partitions)))
        answer = self.http.client.request(method, address, params=query, json=body)
        told = f"{query} {body}"[:200]
        status = answer.status_code
        return Answered(f"{method} {path}", told, status, answer.text, str(status) in operation["responses"])


def needed(operation: Json) -> Json:
    """The first example of every parameter that a query must have; where two go only together, of both."""
    names = {one["name"]: one["schema"] for one in operation.get("parameters", ()) if one["in"] == "query"}
    pair = {"above", "query"}
    together = {name: names[name]["examples"][0] for name in pair} if pair <= names.keys() else {}
    return together | {
        one["name"]: one["schema"]["examples"][0]
        for one in operation.get("parameters", ())
        if one["in"] == "query" and one["required"]
    }


def bodies(operation: Json) -> list[Any]:
    """Every example of a JSON body; one that is none where there is no body."""
    content = operation.get("requestBody", {}).get("content", {}).get(JSON, {})
    return [one["value"] for one in content.get("examples", {}).values()] or [content.get("example")]


@contextmanager
def story(folder: Path) -> Iterator[Asking]:
    """A store with the memories that examples name, and an owner whose fold stands still."""
    contents = {"coffee": "I drink coffee", "tea": "I drink tea", "m1": "I live in Berlin", "m2": "Ich wohne in Berlin"}
    with http_store(folder) as http:
        for owner in ("alice", STUCK):
            http.told(owner, *(created(name, content, owner=owner) for name, content in contents.items()))
            http.told(owner, event("TurnRecorded", turn_id=TURN, role="user", text="I drink coffee, or do I?"))
            asked = {"text": "I drink coffee, or do I?", "turn_id": TURN, "trace": True}
            assert http.client.post(f"/v1/owners/{owner}/context", json=asked).json()["injected"]
        tell_more(http)
        opened = Asking(http, http.client.get("/v1/openapi.json").json())
        http.client.event_hooks = {"response": [shape_checks(cast("FastAPI", http.client.app), opened.checked.add)]}
        yield opened


def tell_more(http: HttpStore) -> None:
    """What answers tell beyond that: facts, grounds, what is due, what waits, what is set aside, and who has access."""
    details = {"keywords": ["coffee"], "tags": ["drinks"], "because": "asked for", "metadata": {"cups": 2}}
    more = (
        created(
            "flat",
            "Our flat in Rome has two rooms",
            kind="lesson",
            category="fact",
            keywords=["flat", "Rome"],
            tags=["home"],
            project="move",
            summary="A flat in Rome",
            because="it decides where we look",
            metadata={"rooms": 2},
            grounds=[{"uri": "https://wiki.example.org/flats", "digest": "sha256:0000000000000000"}],
            importance=9,
        ),
        created("咖啡", "我每天早上喝咖啡", kind="preference", category="stable_preference", importance=9, emotion=0.9),
        created("visit", "Nora came to dinner", at="2025-01-05T08:00:00Z", kind="note", category="temporary"),
        event("MemoryReinforced", at="2026-01-06T08:00:00Z", memory_id="visit", outcome="used", from_memory="coffee"),
        event("MemoryRevised", memory_id="coffee", content="I drink coffee", summary="Coffee", **details),
        event("ReviewGraded", at="2026-01-06T08:00:00Z", memory_id="咖啡", grade=3),
        event("TurnRecorded", turn_id="D5:1", role="user", text="My sister Nora works as a nurse. She moved to Rome."),
        event("SynonymDefined", keyword="flat", synonym="apartment", similarity=0.9),
    )
    http.told("alice", *more, event("TurnRecorded", turn_id="D5:2", role="user", text="A lie.") | {"session_id": "s0"})
    proposed = created("kiln", "The kiln fires at noon") | {"actor": "assistant", "trust": "proposed"}
    http.told("alice", proposed)
    for path, body in (
        ("owners/alice/extract", {}),
        ("owners/alice/set-aside", {"session": "s0", "reason": "it was not Ann"}),
        ("owners/alice/profile", {"parameters": {"initial_stability": 36}}),
        ("keys", {"principal": "desk", "grants": [{"verbs": ["read"], "owners": ["alice"]}]}),
    ):
        answer = http.client.post(f"/v1/{path}", json=body)
        assert answer.status_code == 200, (path, answer.text)
    desk = {"Authorization": f"Bearer {answer.json()['key']}"}
    assert http.client.post("/v1/owners/alice/merge", json={"sources": ["tea"]}, headers=desk).status_code == 403


def first_answers(asking: Asking) -> Iterator[Answered]:
    """Every route, asked once by its first example."""
    position = asking.stick()
    for method, path, operation in asking.operations:
        owner = STUCK if path.startswith("/v1/dead/") else "alice"
        body = bodies(operation)[0]
        if path.endswith("/discard"):
            body = body | {"position": position}
        if "/inbox/" in path:
            body = body | {"item": asking.wait_for_a_person()}
        if path == "/v1/console/session":
            body = {"code": asking.http.client.post("/v1/console/codes", json={}).json()["code"]}
        if path == "/v1/keys/revoke":
            body = body | {"key_id": asking.http.application.keys.issue("lost")["key_id"]}
        yield asking.ask(method, path, operation, owner, needed(operation), body)
