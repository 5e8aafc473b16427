"""Resources: what a client can show or attach without a tool call. JSON, of the connection's owner; reading leaves no trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson

from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.recorded import ToolAnswer, marked

RECENT = 20
ABOUT_URI = "memory://about"
RECENT_URI = "memory://recent"
INBOX_URI = "memory://inbox"
MEMORY_URI = "memory://memories/{+memory_id}"


class Resources:
    """What can be read by its address."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def about(self) -> str:
        """Whose memories these are, how many, under which law they fade, and when the newest was active."""
        with self._connection.session() as asked:
            newest = asked.application.reader.list(asked.owner, limit=1)
            law = asked.application.living.profile(asked.owner)
        return _json(
            {
                "owner": asked.owner,
                "memories": newest["total"],
                "withheld": {one["reason"]: one["count"] for one in newest["withheld"]},
                "newest_activity": next((one["last_activated_at"] for one in newest["memories"]), None),
                "profile": law["profile"],
                "position": newest["position"],
                "behind": newest["behind"],
                "tools": "search_memories finds memories; the prompt when_to_search says when to use it",
            }
        )

    def recent(self) -> str:
        """The twenty memories that were active last."""
        with self._connection.session() as asked:
            listed = asked.application.reader.list(asked.owner, limit=RECENT)
        names = ("memory", "kind", "category", "created_at", "last_activated_at", "status")
        found: Sequence[Mapping[str, Any]] = listed["memories"]
        memories = [
            {"id": one["id"], "score": one["weight"], "uri": _uri(one["id"])} | {name: one[name] for name in names}
            for one in found
        ]
        told = {"owner": asked.owner, "total": listed["total"], "behind": listed["behind"], "memories": memories}
        return _json(told)

    def inbox(self) -> str:
        """The twenty newest things that wait for a person: only the user answers them, and none of them counts before."""
        with self._connection.session() as asked:
            told = asked.application.inbox.page(asked.owner, limit=RECENT)
        return _json({name: told[name] for name in ("owner", "items", "total", "position")})

    def memory(self, memory_id: str) -> str:
        """One memory, as `get_memory_detail` tells it; secrets stay withheld."""
        with self._connection.session() as asked:
            memory_id = asked.named(memory_id)
            told = asked.application.reader.get(asked.owner, memory_id, trace=False)
        return _json(dict(told))


def _uri(memory_id: str) -> str:
    return MEMORY_URI.replace("{+memory_id}", quote(memory_id, safe="/:@+"))


def _json(document: ToolAnswer) -> str:
    return orjson.dumps(marked(document), option=orjson.OPT_INDENT_2).decode()
