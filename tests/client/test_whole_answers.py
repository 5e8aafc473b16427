"""A field of a newer service is kept and can be read by name; of today's fields `test_every_face` sees that each has a name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2

from engramlog import Memory
from tests.given.client import EAGER, Service, new_owner
from tests.patience import PATIENCE
from tests.rows import each_row

CREATED = {"memory_id": "eight", "content": "I ski", "category": "fact", "kind": "fact", "source": "user"}
ENVELOPE = {"type": "MemoryCreated", "actor": "user", "occurred_at": "2026-01-05T08:00:00Z", "data": CREATED}
ASKED: dict[str, Callable[[Memory], Any]] = {
    "add": lambda memory: memory.add("I read").changes[0],
    "add_many": lambda memory: memory.add_many(["I read", "I write"]).changes[0],
    "append": lambda memory: memory.append([ENVELOPE]).receipts[0],
    "edit": lambda memory: memory.edit("coffee", "I drink much coffee").changes[0],
    "negate": lambda memory: memory.negate("coffee", correction="I drink cocoa").changes[0],
    "merge": lambda memory: memory.merge(["coffee", "tea"]).changes[0],
    "delete": lambda memory: memory.delete("coffee"),
    "delete_all": lambda memory: memory.delete_all(owner=memory.scope.owner or ""),
    "search": lambda memory: memory.search("coffee"),
    "context": lambda memory: memory.context("What do I drink?"),
    "get": lambda memory: memory.get("coffee"),
    "history": lambda memory: memory.history("coffee"),
    "stats": lambda memory: memory.stats(),
}


class Newer(httpx2.HTTPTransport):
    """A service of a newer release: every object of its answers has a field more."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = super().handle_request(request)
        answer.read()
        told = json.dumps(_with_more(answer.json())).encode()
        return httpx2.Response(answer.status_code, content=told, headers={"content-type": "application/json"})


def _with_more(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_more(one) for one in value]
    if isinstance(value, dict):
        more = {"told_later": "told"} if value.keys() & {"position", "event_id", "owner"} else {}
        return {name: _with_more(one) for name, one in value.items()} | more
    return value


@each_row("verb", ASKED)
def test_a_field_of_a_newer_service_is_kept_and_can_be_read(verb: str, running: Service) -> None:
    with Memory(running.url, owner=new_owner(), transport=Newer(), retry=EAGER, timeout=PATIENCE) as memory:
        memory.add("I drink coffee", memory_id="coffee")
        memory.add("I drink tea", memory_id="tea")
        assert ASKED[verb](memory).told_later == "told"
