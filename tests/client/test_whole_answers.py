"""Nothing that the service answers is lost on the way: every field can be read by name, and one of a newer service too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
from pydantic import BaseModel

from engramlog import Memory
from engramlog.client import Verb, Verbs
from tests.given.client import EAGER, Service, new_owner
from tests.patience import PATIENCE
from tests.rows import each_row

VERBS = sorted(
    name
    for name, value in vars(Verbs).items()
    if isinstance(value, Verb) and (value._plan.__module__ != "engramlog.questions" or name == "search")
    if name not in ("export", "curves_picture", "map_picture")
)
"""Verbs that are written by hand, and the search, whose answer is; of the others `test_made_source` asks the same.

An export is lines and a picture an SVG, handed on as they came: they have no fields to lose.
"""
SAID = {"content": "I drink tea at eight", "category": "fact", "kind": "fact", "source": "user"}

CHATS = [{"messages": [{"role": "user", "content": "I read novels"}]}]


def restored(memory: Memory) -> Any:
    memory.delete("tea")
    return memory.restore("tea")


def unmerged(memory: Memory) -> Any:
    memory.merge(["coffee", "tea"], into="drinks")
    return memory.unmerge("drinks")


def event(memory_id: str) -> dict[str, Any]:
    return {
        "type": "MemoryCreated",
        "actor": "user",
        "occurred_at": "2026-01-05T08:00:00Z",
        "data": SAID | {"memory_id": memory_id},
    }


ASKED: dict[str, Callable[[Memory], Any]] = {
    "add": lambda memory: memory.add("I read"),
    "add_many": lambda memory: memory.add_many(["I read", "I write"]),
    "append": lambda memory: memory.append([event("eight")]),
    "search": lambda memory: memory.search("What did I drink last week?", associations=True, ranking="published"),
    "context": lambda memory: memory.context("What do I drink?"),
    "get": lambda memory: memory.get("coffee"),
    "get_all": lambda memory: memory.get_all(mode="review"),
    "edit": lambda memory: memory.edit("coffee", "I drink much coffee"),
    "update": lambda memory: memory.update("coffee", "I drink much coffee"),
    "import_chats": lambda memory: memory.import_chats(CHATS, since="2026-01-01T08:00:00Z"),
    "extract": lambda memory: memory.extract(dry_run=True),
    "delete": lambda memory: memory.delete("coffee"),
    "delete_all": lambda memory: memory.delete_all(owner=memory.scope.owner or ""),
    "history": lambda memory: memory.history("coffee"),
    "negate": lambda memory: memory.negate("coffee", correction="I drink cocoa"),
    "confirm": lambda memory: memory.confirm("coffee"),
    "mention": lambda memory: memory.mention("coffee"),
    "set_sensitivity": lambda memory: memory.set_sensitivity("coffee", 1, reason="made up"),
    "reinforce": lambda memory: memory.reinforce("coffee"),
    "report_ground": lambda memory: memory.report_ground("https://wiki.example.org/flats", "sha256:00112233"),
    "merge": lambda memory: memory.merge(["coffee", "tea"]),
    "unmerge": unmerged,
    "restore": restored,
    "why": lambda memory: memory.why("coffee"),
}
COMPOSED = {"add", "add_many", "append", "confirm", "edit", "mention", "merge", "negate", "reinforce"}
COMPOSED |= {"set_sensitivity", "unmerge", "update"}
"""Verbs whose answer is put together of several: what each tells of a change or an event is kept whole."""


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


def asked(running: Service, verb: str, transport: httpx2.BaseTransport | None = None) -> Any:
    """What a verb answers to an owner who has a few memories."""
    with Memory(running.url, owner=new_owner(), transport=transport, retry=EAGER, timeout=PATIENCE) as memory:
        memory.add(
            "I drink coffee", memory_id="coffee", grounds=[{"uri": "https://x.org/a", "digest": "sha256:00112233"}]
        )
        memory.add("I drink tea", memory_id="tea", source_turns=["t1"])
        memory.add([{"role": "user", "content": "My sister lives in Oslo", "id": "t9"}])
        return ASKED[verb](memory)


def unread(value: Any, path: str = "") -> Iterator[str]:
    """The fields of an answer that have no name of their own in the client."""
    if isinstance(value, BaseModel):
        yield from (f"{path}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from unread(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for one in value:
            yield from unread(one, f"{path}[]")


def test_every_verb_is_asked() -> None:
    assert sorted(ASKED) == VERBS


@each_row("verb", VERBS)
def test_every_field_of_an_answer_has_a_name_in_the_client(verb: str, running: Service) -> None:
    assert sorted(set(unread(asked(running, verb), verb))) == []


def test_a_made_verb_keeps_a_field_of_a_newer_service(running: Service) -> None:
    with Memory(running.url, owner=new_owner(), transport=Newer(), retry=EAGER, timeout=PATIENCE) as memory:
        memory.add("I drink coffee", memory_id="coffee")
        found = [memory.uses("coffee"), memory.stats(), memory.health(), memory.grade("coffee", 4)]
    assert {one.told_later for one in found} == {"told"}


@each_row("verb", VERBS)
def test_a_field_of_a_newer_service_is_kept_and_can_be_read(verb: str, running: Service) -> None:
    answer = asked(running, verb, Newer())
    told = answer
    if verb in COMPOSED:
        told = answer.receipts[0] if verb == "append" else answer.changes[0]
    assert told.told_later == "told"
