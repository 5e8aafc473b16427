"""Calls of tools and resources over the HTTP face of MCP, as anybody may send them, and how each is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2

from engramlog_server.api.application import Application
from tests.given.access.mcp_http import BASE, asking, served
from tests.given.http import TOKEN

DENIED = "may not do this"
"""In the words of a refusal for want of a grant."""
REFUSED = "denied"


class Call(NamedTuple):
    """A method of the protocol with what it is told."""

    method: str
    given: Mapping[str, Any]

    @property
    def names_memory(self) -> str | None:
        """The memory that it is about, if it is about one."""
        if self.method == "resources/read":
            _, found, memory = str(self.given["uri"]).partition("memory://memories/")
            return memory if found else None
        memory = self.given.get("arguments", {}).get("memory_id")
        return None if memory is None else str(memory)

    def about(self, memory: str) -> Call:
        """The same of another memory."""
        if self.method == "resources/read":
            return resource(f"memory://memories/{memory}")
        return self.told(memory_id=memory)

    def told(self, **more: Any) -> Call:
        """The same tool, told more."""
        return self._replace(given={**self.given, "arguments": {**self.given["arguments"], **more}})


def tool(name: str, /, **arguments: Any) -> Call:
    """A call of a tool."""
    return Call("tools/call", {"name": name, "arguments": arguments})


def resource(uri: str) -> Call:
    """A resource that is read."""
    return Call("resources/read", {"uri": uri})


class Tried(NamedTuple):
    """A call by whoever shows this, about an owner."""

    shown: str | None
    owner: str
    call: Call
    as_it_is: bool = False
    """Whether the owner stands in the URL as it is, percent-encoded by whoever wrote it."""


class Told(NamedTuple):
    """How it was answered."""

    outcome: str
    """`answered`, `denied`, `refused otherwise`, or the status of HTTP that the door gave."""
    text: str
    """All that was sent back, headers too."""


def tried(application: Application, toolset: str, wanted: Sequence[Tried], also: Sequence[str] = ()) -> list[Told]:
    """How a server of its own answers each, one after the other."""

    async def work(client: httpx2.AsyncClient) -> list[Told]:
        return [await _one(client, number, one) for number, one in enumerate(wanted)]

    return asking(served(application, toolset, also=also), work)


async def _one(client: httpx2.AsyncClient, number: int, one: Tried) -> Told:
    owner = one.owner if one.as_it_is else quote(one.owner, safe="")
    headers = {} if one.shown is None else {"authorization": f"Bearer {one.shown}"}
    asked = {"jsonrpc": "2.0", "id": number, "method": one.call.method, "params": dict(one.call.given)}
    answer = await client.post(f"{BASE}/mcp/{owner}", json=asked, headers=headers)
    return Told(_outcome(answer), f"{answer.headers} {answer.text}")


def _outcome(answer: httpx2.Response) -> str:
    if answer.status_code != 200:
        return str(answer.status_code)
    document = answer.json()
    failed = "error" in document or document["result"].get("isError", False)
    if not failed:
        return "answered"
    return REFUSED if DENIED in answer.text else "refused otherwise"


def offered(application: Application, toolset: str) -> set[str]:
    """Names of the tools, and addresses of the resources and their templates, that a server tells."""

    async def work(client: httpx2.AsyncClient) -> set[str]:
        found = set[str]()
        for method, many, name in (
            ("tools/list", "tools", "name"),
            ("resources/list", "resources", "uri"),
            ("resources/templates/list", "resourceTemplates", "uriTemplate"),
        ):
            asked = {"jsonrpc": "2.0", "id": 1, "method": method}
            answer = (await client.post(f"{BASE}/mcp/alice", json=asked)).json()
            assert "nextCursor" not in answer["result"]
            found |= {one[name] for one in answer["result"][many]}
        return found

    return asking(served(application, toolset), work, TOKEN)
