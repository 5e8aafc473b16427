"""The store that the browser's tests and the pictures of the docs are made of: people, dates and ids are always the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from rich.console import Console

from engramlog_server.ops.commands.demo import Demo, DemoTalk
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from tests.browser.service import Service

OWNER = "mei"
STRANGE = "团队/a+b@c:d"
"""An owner whose name means something to addresses."""
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><svg onload=alert(1)> \u202etxt.exe\u200b {{7*7}} ${alert(1)}"
SECRET = "My locker PIN is 4821."


def told_demo(folder: Path) -> None:
    """The story of `engramlog demo`: Mei and Lin, in 2025."""
    with (folder.parent / "story.txt").open("w", encoding="utf-8") as out:
        with open_application(Settings(data=folder, redis_url=None)) as application:
            console = Console(file=out, width=120)
            Demo(application, console).tell()
            DemoTalk(application, console).tell()


def tell_more(service: Service) -> None:
    """What the demo has not: an answer's prompt, somebody's proposal, a core memory, a strange owner, a hostile text."""
    receipts = service.ask("/v1/events", list(_more()))["receipts"]
    assert {one["status"] for one in receipts} <= {"appended", "already_appended"}, receipts
    for owner, receipt in {one["owner"]: receipt for one, receipt in zip(_more(), receipts, strict=True)}.items():
        service.ask(f"/v1/owners/{quote(owner, safe='')}/profile", after=receipt["position"])
    told = service.ask(
        f"/v1/owners/{OWNER}/context",
        {"text": "早上喝什么 what does she drink", "turn_id": "ask-1", "session": "desk", "trace": True},
    )
    assert told["recorded"]["status"] != "off", told
    service.ask(
        f"/v1/owners/{OWNER}/memories/m-tea/negate",
        {
            "actor": "assistant",
            "correction": "She drinks black tea now.",
            "reason": "I understood it so",
            "key": "story/negate",
        },
    )


def tell_access(service: Service) -> None:
    """Who may do what: a team's agent, an auditor, and somebody whose key was lost."""
    agent = service.key("support", {"verbs": ["read", "produce"], "owners": [OWNER, "team/*"]})
    service.key("审计员", {"verbs": ["read", "audit"], "owners": ["*"], "modes": ["normal", "review"], "actors": []})
    lost = service.key("lin-laptop", {"verbs": ["read"], "owners": ["lin"]}, expires_at="2099-01-01T00:00:00Z")
    service.ask("/v1/keys/revoke", {"key_id": lost["key_id"], "reason": "lost laptop"})
    assert service.status_of(agent["key"], "/v1/owners/lin/memories") == 403


def _event(
    name: str, kind: str, owner: str, at: str, data: dict[str, Any], actor: str = "user", **more: Any
) -> dict[str, Any]:
    told = {
        "event_id": str(uuid5(NAMESPACE_URL, f"story/{owner}/{name}")),
        "type": kind,
        "owner": owner,
        "occurred_at": at,
        "actor": actor,
    }
    return told | {"data": data} | more


def _memory(name: str, owner: str, at: str, content: str, **more: Any) -> dict[str, Any]:
    data = {"memory_id": name, "content": content, "category": "fact", "kind": "fact", "source": "user"} | more
    return _event(name, "MemoryCreated", owner, at, data)


def _more() -> Iterator[dict[str, Any]]:
    yield _memory(
        "m-tea",
        OWNER,
        "2026-11-20T08:00:00Z",
        "I drink green tea in the morning. 早上喝绿茶。",
        category="stable_preference",
        kind="preference",
    )
    yield _memory("m-studio", OWNER, "2026-11-21T09:00:00Z", "The studio opens at nine on weekdays.")
    yield _memory(
        "m-hike",
        OWNER,
        "2026-11-22T10:00:00Z",
        "周末常去莫干山徒步。 Often hikes at Moganshan on weekends.",
        category="stable_preference",
        kind="preference",
    )
    yield _event(
        "ask-1",
        "TurnRecorded",
        OWNER,
        "2026-11-23T08:00:00Z",
        {"turn_id": "ask-1", "role": "user", "text": "早上喝什么？"},
        session_id="desk",
    )
    yield _event(
        "answer-1",
        "TurnRecorded",
        OWNER,
        "2026-11-23T08:00:05Z",
        {"turn_id": "answer-1", "role": "assistant", "text": "绿茶。", "reply_to": "ask-1"},
        "assistant",
        session_id="desk",
    )
    yield _memory("hostile", STRANGE, "2026-11-20T08:00:00Z", HOSTILE)
    yield _memory("a/b+c:d@e", STRANGE, "2026-11-21T08:00:00Z", "An id that means something to addresses.")
    yield _memory("long", STRANGE, "2026-11-22T08:00:00Z", "wordwithoutspace" * 400)
