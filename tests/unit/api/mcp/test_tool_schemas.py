"""What a client reads of the tools: small enough for every prompt, and flat."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any, cast

from engramlog_server.api.admission import Admission
from engramlog_server.api.application import Application
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.server import tools_of
from engramlog_server.api.operations.definition import OWNERS

NOTHING = Connection(lambda: nullcontext(cast("Application", None)), "ada")


def listed(toolset: str) -> list[dict[str, Any]]:
    """Name, description and schemas of each tool, as `tools/list` has them."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.parameters,
            "outputSchema": tool.output_schema,
        }
        for tool in tools_of(NOTHING, Admission(), toolset)
    ]


def characters(told: Any) -> int:
    return len(json.dumps(told, ensure_ascii=False, separators=(",", ":")))


def test_an_agent_s_tools_are_few_and_fit_into_a_prompt() -> None:
    tools = listed("agent")
    sizes = (len(tools), characters(tools), sum(characters(one["inputSchema"]) for one in tools))
    assert all(size <= most for size, most in zip(sizes, (12, 12_000, 8_000), strict=True)), sizes


def test_other_owners_are_an_argument_only_if_the_server_shares_some() -> None:
    shares = Connection(lambda: nullcontext(cast("Application", None)), "ada", also=["team/ops"])
    takes = {one.name: one.parameters["properties"] for one in tools_of(shares, Admission(), "agent")}
    with_owners = {"search_memories", "memory_contextual_search", "memory_context"}
    assert {name for name, arguments in takes.items() if "owners" in arguments} == with_owners
    assert takes["search_memories"]["owners"] == {
        "description": OWNERS.description,
        "items": {"type": "string"},
        "type": "array",
    }
    assert not [one["name"] for one in listed("agent") if "owners" in one["inputSchema"]["properties"]]


def test_schemas_have_no_references_and_no_unions() -> None:
    for toolset in ("agent", "audit"):
        text = json.dumps(listed(toolset))
        assert [word for word in ("$ref", "anyOf", "oneOf", '"null"') if word in text] == [], toolset


def test_an_argument_that_may_be_left_out_is_not_required_and_keeps_its_bounds() -> None:
    search = next(one for one in listed("agent") if one["name"] == "search_memories")["inputSchema"]
    assert search["required"] == ["query"]
    assert search["properties"]["limit"] == {"default": 5, "maximum": 20, "minimum": 1, "type": "integer"}
    assert search["properties"]["time_range"]["items"] == {"type": "string"}
    assert search["properties"]["mode"]["enum"] == ["normal", "review"]


def test_the_answer_of_a_search_names_what_a_result_holds() -> None:
    search = next(one for one in listed("agent") if one["name"] == "search_memories")["outputSchema"]
    assert "id, " in search["properties"]["results"]["description"]
    assert "relevance_score" in search["properties"]["results"]["description"]


def test_an_answer_s_schema_is_that_of_the_class_it_returns() -> None:
    added = next(one for one in listed("agent") if one["name"] == "add_memory")["outputSchema"]["properties"]
    assert added["created"] == {"type": "boolean", "description": "False: known already."}
    assert added["ended"] == {"type": "array"}
    assert {"position", "sensitivity"}.isdisjoint(added)  # what no agent acts on, and what may be null
    hint = next(one for one in listed("agent") if one["name"] == "search_memories")["outputSchema"]["properties"][
        "hint"
    ]
    assert hint == {"description": "What to try next."}
