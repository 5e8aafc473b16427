"""What release 0.2.0 published still stands: its routes, commands, MCP tools and client, as its stored copies tell them."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.releases.losses import losses
from tests.releases.published import published, stored

BEFORE = stored(Path(__file__).parents[1] / "releases" / "0.2.0")
A_PAGE = "a page begins at most at a billion: beyond it stands nothing, and a larger number was refused by the store's own reader"
A_MAP = "no more than can be read; what is joined with nothing is in no cluster; a topic may be left out (ADR 0083)"
MANY = "one id is told as before; several come back in one call, as several go"
WANTED = {
    "GET /v1/owners/{owner}/map -> 200.nodes[].cluster: tells now null": A_MAP,
    "GET /v1/owners/{owner}/map -> 200.topic: tells now null": A_MAP,
    "GET /v1/owners/{owner}/map query limit: default was 200, is 36": A_MAP,
    "engramlog map limit: default was 200, is 36": A_MAP,
    "tool memory_knowledge_map takes.limit: default was 50, is 36": A_MAP,
    "tool memory_knowledge_map tells.nodes[].cluster: tells now null": A_MAP,
    "tool memory_knowledge_map tells.topic: tells now null": A_MAP,
    "engramlog restore : arguments in order were ['owner', 'memory_id'], are ['owner', 'ids']": MANY,
    "engramlog restore ids: is demanded now": MANY,
    "engramlog restore memory_id: gone": MANY,
    **{
        f"GET /v1/owners/{{owner}}/{path} query offset: maximum was None, is 1000000000": A_PAGE
        for path in ("compare", "facts", "fading", "health", "memories", "memories/{memory_id}/uses")
    },
    "POST /v1/owners/{owner}/profile body.actor: default was 'operator', is 'user'": (
        "whoever says nothing of himself is nobody's operator (ADR 0031)"
    ),
    "memory.Memory url: default was \"'http://127.0.0.1:8733'\", is 'None'": (
        "told no address, it asks the service of the data folder, and starts it: a port any user may take first (ADR 0048)"
    ),
    "engramlog replay query: type was 'str', is 'list[str]'": (
        "told once it is one query as before; it may be told as often as needed (ADR 0075)"
    ),
    "tool add_memory tells.sensitivity: tells now null": (
        "a key that may bring and not read is told that it was written, and no more of it (ADR 0115)"
    ),
    "tool add_memory takes.memory_type: default was 'note', is 'fact'": (
        "one default on every face: the client's was a fact, and one verb cannot have two"
    ),
}
"""What is lost on purpose, with the reason."""


def test_nothing_that_0_2_0_published_is_lost_but_what_is_listed_with_a_reason() -> None:
    assert sorted(losses(BEFORE, published())) == sorted(WANTED)


def test_the_copies_hold_every_face() -> None:
    sizes = {name: len(told[part]) for name, part, told in _parts()}
    assert sizes == {"routes": 51, "commands": 56, "tools": 15, "verbs": 19}


def _parts() -> list[tuple[str, str, dict[str, Any]]]:
    named = {"routes": "paths", "commands": "commands", "tools": "tools", "verbs": "verbs"}
    return [(name, part, BEFORE[name]) for name, part in named.items()]


SEARCH = "/v1/owners/{owner}/search"
NEGATE = "/v1/owners/{owner}/memories/{memory_id}/negate"


def route(told: Any, path: str = SEARCH, method: str = "get") -> Any:
    return told["routes"]["paths"][path][method]


def query(told: Any, name: str) -> Any:
    return next(one for one in route(told)["parameters"] if one["name"] == name)


def drop_parameter(told: Any) -> None:
    route(told)["parameters"].remove(query(told, "tags"))


def body(told: Any) -> Any:
    (named,) = re.findall(r"#/components/schemas/\w+", str(route(told, NEGATE, "post")["requestBody"]))
    return told["routes"]["schemas"][named.rpartition("/")[2]]


def answer(told: Any) -> Any:
    named = route(told)["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    return told["routes"]["schemas"][named.rpartition("/")[2]]


def command(told: Any, name: str) -> Any:
    return told["commands"]["commands"][name]["parameters"]


def tool(told: Any, name: str = "search_memories") -> Any:
    return told["tools"]["tools"][name]


def verb(told: Any, name: str = "search") -> Any:
    return told["verbs"]["verbs"][name]


LOST: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a route": (lambda told: told["routes"]["paths"].pop(SEARCH), f"GET {SEARCH}: gone"),
    "a parameter of a route": (drop_parameter, f"GET {SEARCH} query tags: gone"),
    "a parameter's default": (
        lambda told: query(told, "limit")["schema"].update(default=9),
        f"GET {SEARCH} query limit: default was 5, is 9",
    ),
    "a parameter's type": (
        lambda told: query(told, "limit")["schema"].update(type="string"),
        f"GET {SEARCH} query limit: no longer takes integer",
    ),
    "a parameter that may be left out": (
        lambda told: query(told, "since").update(required=True),
        f"GET {SEARCH} query since: is demanded now",
    ),
    "room in a parameter": (
        lambda told: query(told, "limit")["schema"].update(maximum=20),
        f"GET {SEARCH} query limit: maximum was None, is 20",
    ),
    "values of a parameter": (
        lambda told: query(told, "mode")["schema"].update(enum=["normal"]),
        f"GET {SEARCH} query mode any value: gone",
    ),
    "a status": (lambda told: route(told)["responses"].pop("409"), f"GET {SEARCH} -> 409: gone"),
    "a field of a question": (
        lambda told: body(told)["properties"].pop("correction"),
        f"POST {NEGATE} body.correction: gone",
    ),
    "a field of a question that may be left out": (
        lambda told: body(told).update(required=["correction"]),
        f"POST {NEGATE} body.correction: is demanded now",
    ),
    "a field of an answer": (lambda told: answer(told)["properties"].pop("total"), f"GET {SEARCH} -> 200.total: gone"),
    "a field that was always told": (
        lambda told: answer(told)["required"].remove("total"),
        f"GET {SEARCH} -> 200.total: is not always told now",
    ),
    "a field's type": (
        lambda told: answer(told)["properties"]["total"].update(type="string"),
        f"GET {SEARCH} -> 200.total: tells integer no more",
    ),
    "a kind of a field's values": (
        lambda told: answer(told)["properties"]["position"].update(type="null"),
        f"GET {SEARCH} -> 200.position: tells string no more",
    ),
    "a command": (lambda told: told["commands"]["commands"].pop("dead list"), "engramlog dead list: gone"),
    "an option": (lambda told: command(told, "search").pop("tag"), "engramlog search tag: gone"),
    "a short form": (
        lambda told: command(told, "search")["limit"]["opts"].remove("-k"),
        "engramlog search limit -k: gone",
    ),
    "an option's default": (
        lambda told: command(told, "search")["mode"].update(default="review"),
        "engramlog search mode: default was 'normal', is 'review'",
    ),
    "the order of arguments": (
        lambda told: told["commands"]["commands"]["search"]["order"].reverse(),
        "engramlog search : arguments in order were ['owner', 'query'], are ['query', 'owner']",
    ),
    "a tool": (lambda told: told["tools"]["tools"].pop("add_memory"), "tool add_memory: gone"),
    "a tool's argument": (
        lambda told: tool(told)["inputSchema"]["properties"].pop("keywords"),
        "tool search_memories takes.keywords: gone",
    ),
    "a field of a tool's answer": (
        lambda told: tool(told)["outputSchema"]["$defs"]["FoundMemory"]["properties"].pop("score"),
        "tool search_memories tells.results[].score: gone",
    ),
    "a tool's hint": (
        lambda told: tool(told)["annotations"].update(readOnlyHint=False),
        "tool search_memories: annotations was",
    ),
    "a resource": (lambda told: told["tools"]["resources"].remove("memory://about"), "resources memory://about: gone"),
    "a verb": (lambda told: told["verbs"]["verbs"].pop("why"), "memory.why: gone"),
    "a verb's argument": (lambda told: verb(told)["parameters"].pop("limit"), "memory.search limit: gone"),
    "a verb's default": (
        lambda told: verb(told)["parameters"]["limit"].update(default="9"),
        "memory.search limit: default was '5', is '9'",
    ),
    "a type that an argument took": (
        lambda told: verb(told)["parameters"]["since"].update(type="str | None"),
        "memory.search since of type datetime: gone",
    ),
    "a verb's answer": (lambda told: verb(told).update(answer="None"), "memory.search: answer was 'Found', is 'None'"),
    "a field of the client's answers": (
        lambda told: told["verbs"]["answers"]["Found"].pop("total"),
        "Found.total: gone",
    ),
    "a name of the client": (lambda told: told["verbs"]["names"].remove("Retry"), "client Retry: gone"),
}


@pytest.mark.parametrize("what", LOST)
def test_a_loss_is_told(what: str) -> None:
    lose, line = LOST[what]
    now = copy.deepcopy(BEFORE)
    lose(now)
    (told,) = losses(BEFORE, now)
    assert told.startswith(line)


def test_what_is_gained_is_no_loss() -> None:
    now = copy.deepcopy(BEFORE)
    route(now)["parameters"].append({"in": "query", "name": "colour", "required": False, "schema": {"type": "string"}})
    answer(now)["properties"]["colour"] = {"type": "string"}
    answer(now)["required"].append("colour")
    body(now)["properties"]["colour"] = {"type": "string", "default": "red"}
    now["commands"]["commands"]["edit"] = copy.deepcopy(now["commands"]["commands"]["search"])
    tool(now)["inputSchema"]["properties"]["limit"]["maximum"] = 50
    verb(now)["parameters"]["colour"] = {"type": "str", "required": False, "default": "'red'", "place": "KEYWORD_ONLY"}
    assert list(losses(BEFORE, now)) == []
