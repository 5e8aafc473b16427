"""What a pattern, a suggestion, a kept question, an episode or a merge has of what may not be told, no face tells, whoever asks."""

from __future__ import annotations

import io
import json
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from typing import Any
from uuid import uuid4

from engramlog_server.api.cli.main import run
from engramlog_server.projections.views.view import WITHHELD
from tests.given.client import Service
from tests.given.http import created, event
from tests.given.mcp import Agent, in_process, talk
from tests.rows import each_row

WORD = "Zuleika"
KINDS = ("pattern", "suggestion", "question", "episode", "report")
LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("/search", {"query": "hedgehog adopted", "mode": mode, "limit": 100}) for mode in ("normal", "review")),
    ("/search", {"query": "hedgehog", "mode": "review", "limit": 100, "associations": True}),
    *(("/memories", {"mode": mode, "limit": 1000}) for mode in ("normal", "review")),
    ("/map", {"topic": "hedgehog", "depth": 4, "least": 0}),
    ("/assess", {"topic": "hedgehog adopted"}),
    ("/inbox", {"limit": 100}),
    ("/facts", {}),
    ("/health", {}),
    ("/compare", {"limit": 1000}),
    ("/fading", {"at": "2030-01-01T00:00:00Z", "limit": 1000}),
    ("/review", {"min_importance": 0, "limit": 100, "at": "2027-06-01T00:00:00Z"}),
    ("/diff", {"limit": 1000, "since": "2000-01-01"}),
    ("/history", {"limit": 1000}),
    ("/events", {"limit": 1000}),
    ("/export", {}),
    ("/export", {"format": "text"}),
    ("/answers", {}),
)
OF_IDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/memories/{}", {}),
    ("/memories/{}/why", {}),
    ("/memories/{}/history", {}),
    ("/memories/{}/provenance", {}),
    ("/memories/{}/associations", {"depth": 2}),
    ("/memories/{}/compare", {"points": 2}),
    ("/memories/{}/uses", {}),
)
DEBUG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/search", {"query": "hedgehog adopted", "mode": "debug", "limit": 100}),
    ("/memories", {"mode": "debug", "limit": 1000}),
    ("/diff", {"limit": 1000, "since": "2000-01-01", "mode": "debug"}),
    ("/export", {"include": ["deleted", "merged", "superseded", "negated", "retired"]}),
    ("/export", {"everything": True}),
)


def make(running: Service, kind: str, trust: str | None) -> str:
    """An owner with two statements, one of which has the word, and an account of both; it was in a prompt once."""
    owner = f"ann-{uuid4().hex}"
    said = f"I adopted a hedgehog named {WORD}"
    extra: dict[str, Any] = {} if trust is None else {"trust": trust}
    account = created(
        "account",
        f'"{said}" and "I feed a hedgehog" seem to belong together',
        owner=owner,
        kind=kind,
        source="system",
        summarises=["m0", "m1"],
        keywords=[WORD.lower()],
        summary=f"about {WORD}",
        because=f"{WORD} twice",
    )
    running.http.told(
        owner,
        created("m0", said, owner=owner) | {"session_id": "bad"},
        created("m1", "I feed a hedgehog", owner=owner),
        account | extra,
        event("MemoryRevised", owner=owner, memory_id="account", content=f"{account['data']['content']}, {WORD} does"),
    )
    answered = running.http.client.post(
        f"/v1/owners/{owner}/context",
        json={"text": "What about my hedgehog adopted?", "turn_id": "q1", "session": "s1"},
    )
    assert answered.status_code == 200
    return owner


def told(running: Service, owner: str, *, debug: bool, by_id: bool) -> dict[str, str]:
    """What each face answers."""
    ids = ("account",) if by_id else ()
    asked = [*LOOKS, *(DEBUG if debug else ()), *((path.format(one), query) for one in ids for path, query in OF_IDS)]
    found: dict[str, str] = {}
    for path, query in asked:
        answer = running.http.client.get(f"/v1/owners/{owner}{path}", params=query)
        assert answer.status_code == 200, (path, answer.text)
        found[f"GET {path} {query}"] = json.dumps(_parsed(answer.text), ensure_ascii=False)
    for split in (False, True):
        body = {"text": "What hedgehog was adopted?", "sensitive": True, "trace": False, "whole": True, "split": split}
        found[f"context {split}"] = running.http.client.post(f"/v1/owners/{owner}/context", json=body).text
    found["answers q1"] = running.http.client.get(f"/v1/owners/{owner}/answers/q1").text
    for words in (
        ("search", owner, "hedgehog", "--mode", "review"),
        ("list", owner, "--mode", "review"),
        ("inbox", owner),
    ):
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            run(lambda: nullcontext(running.http.application), list(words))
        out.seek(0)
        found[" ".join(words)] = out.read() + err.getvalue()

    async def talking(agent: Agent) -> str:
        answers = [
            await agent.client.call_tool("search_memories", {"query": "hedgehog adopted", "mode": "review"}),
            await agent.client.call_tool("memory_assess_knowledge", {"topic": "hedgehog"}),
        ]
        return json.dumps([one.structured_content for one in answers]) + json.dumps(await agent.read("memory://inbox"))

    found["mcp"] = talk(in_process(running.http.application, owner), talking)
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def leaks(found: dict[str, str]) -> dict[str, str]:
    """Where faces tell the word."""
    told = ((name, text, text.lower().find(WORD.lower())) for name, text in found.items())
    return {name: text[max(at - 200, 0) : at + 50] for name, text, at in told if at >= 0}


def get(running: Service, owner: str, path: str, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = running.http.client.get(f"/v1/owners/{owner}{path}", params=query).json()
    return found


def post(running: Service, owner: str, path: str, **body: Any) -> None:
    answer = running.http.client.post(f"/v1/owners/{owner}{path}", json=body)
    assert answer.status_code == 200, answer.text


@each_row("trust", [None, "proposed"])
@each_row("kind", KINDS)
def test_after_a_source_was_made_secret_no_face_tells_its_words(running: Service, kind: str, trust: str | None) -> None:
    owner = make(running, kind, trust)
    before = told(running, owner, debug=True, by_id=True)
    assert len(leaks(before)) > len(before) / 3, "one probe tells it"
    post(running, owner, "/memories/m0/sensitivity", level=3, reason="it is nobody's business")
    assert leaks(told(running, owner, debug=True, by_id=True)) == {}


@each_row("kind", KINDS)
def test_after_a_source_was_deleted_no_face_but_of_what_is_deleted_tells_its_words(running: Service, kind: str) -> None:
    owner = make(running, kind, None)
    post(running, owner, "/memories/m0/delete")
    assert leaks(told(running, owner, debug=False, by_id=False)) == {}


def test_after_a_source_was_deleted_by_an_event_alone_its_account_is_withheld(running: Service) -> None:
    owner = make(running, "pattern", None)
    running.http.told(owner, event("MemoryDeleted", owner=owner, memory_id="m0"))
    assert leaks(told(running, owner, debug=False, by_id=False)) == {}
    assert get(running, owner, "/memories/account")["memory"] == WITHHELD


def test_after_a_source_was_set_aside_its_account_is_too(running: Service) -> None:
    owner = make(running, "pattern", None)
    post(running, owner, "/set-aside", session="bad", reason="it lies")
    assert {one["status"] for one in get(running, owner, "/memories", mode="review")["memories"]} == {
        "live",
        "set_aside",
    }
    shown = {name: text for name, text in told(running, owner, debug=False, by_id=False).items() if "normal" in name}
    assert leaks({name: text for name, text in shown.items() if "GET" in name}) == {}


def test_made_known_again_it_is_told_again(running: Service) -> None:
    owner = make(running, "pattern", None)
    post(running, owner, "/memories/m0/sensitivity", level=3, reason="no")
    assert leaks(told(running, owner, debug=True, by_id=True)) == {}
    post(running, owner, "/memories/m0/sensitivity", level=0, reason="yes")
    assert leaks(told(running, owner, debug=True, by_id=True)) != {}
