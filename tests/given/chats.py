"""Exported chats for tests: one short conversation in each shape, written by hand, and what importing files of them leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from engramlog_server.api.checks import parse_instant
from engramlog_server.api.exchange.chats import ImportedChats, import_chats
from engramlog_server.api.exchange.files import MAX_DOCUMENT, open_chats
from engramlog_server.api.exchange.turns import ImportOptions
from engramlog_server.events.envelope import decode
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.fold.owner import AnyEvent
from tests.given.records import new_log

ASKED, ANSWERED = "我早上喝咖啡。", "Noted: coffee in the morning."
AT = 1_704_096_000  # 2024-01-01T08:00:00Z
OPENAI: dict[str, Any] = {
    "id": "c1",
    "created_at": AT,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": ASKED}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [{"id": "call"}]},
        {"role": "tool", "tool_call_id": "call", "content": "{}"},
        {"role": "assistant", "content": ANSWERED},
    ],
}
CLAUDE: dict[str, Any] = {
    "uuid": "c1",
    "name": "coffee",
    "created_at": "2024-01-01T08:00:00.000000Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": ASKED, "created_at": "2024-01-01T08:00:00.000000Z"},
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "This block is not supported.",
            "content": [{"type": "tool_use", "name": "search", "input": {}}, {"type": "text", "text": ANSWERED}],
            "created_at": "2024-01-01T08:01:00.000000Z",
        },
    ],
}


def node(name: str, parent: str | None, children: Sequence[str], message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": list(children), "message": message}


def said(name: str, role: str, text: str, at: float | None = AT, **more: Any) -> dict[str, Any]:
    """A message of ChatGPT's export."""
    content = {"content_type": "text", "parts": [text]}
    return {"id": name, "author": {"role": role}, "create_time": at, "content": content, "metadata": {}} | more


CHATGPT: dict[str, Any] = {
    "conversation_id": "c1",
    "create_time": AT,
    "current_node": "e",
    "mapping": {
        "root": node("root", None, ["s"], None),
        "s": node("s", "root", ["u", "u0"], said("s", "system", "", None)),
        "u0": node("u0", "s", [], said("u0", "user", "我早上喝茶。")),
        "u": node("u", "s", ["h"], said("u", "user", ASKED, recipient="all")),
        "h": node(
            "h", "u", ["x"], said("h", "user", "about me", metadata={"is_visually_hidden_from_conversation": True})
        ),
        "x": node("x", "h", ["t"], said("x", "assistant", "search()", recipient="browser")),
        "t": node("t", "x", ["o"], said("t", "tool", "found")),
        "o": node("o", "t", ["e"], said("o", "assistant", "", content={"content_type": "thoughts", "thoughts": []})),
        "e": node("e", "o", [], said("e", "assistant", ANSWERED, AT + 60.5)),
    },
}
SHAPES = {"openai": OPENAI, "claude": CLAUDE, "chatgpt": CHATGPT}


def file_of(*conversations: object, whole: bool = False) -> list[bytes]:
    """The lines of a file: a conversation a line, or one document."""
    if whole:
        return orjson.dumps(list(conversations), option=orjson.OPT_INDENT_2).splitlines(keepends=True)
    return [orjson.dumps(one) + b"\n" for one in conversations]


def chatted(
    lines: list[bytes],
    log: InMemoryEventLog | None = None,
    *,
    shape: str = "auto",
    since: str | None = None,
    largest: int = MAX_DOCUMENT,
    **options: Any,
) -> tuple[ImportedChats, list[AnyEvent]]:
    """What the import answered, and the events that are in the owner's partition then."""
    log = log or new_log()
    options = {"owner": "ada"} | options
    chats = open_chats(iter(lines), shape, largest)
    answer = import_chats(log, chats, ImportOptions(**options), None if since is None else parse_instant(since))
    stored = log.read(partition_of("ada", log.partitions), 0, 10_000)
    return answer, [decode(one.kind, one.body) for one in stored]
