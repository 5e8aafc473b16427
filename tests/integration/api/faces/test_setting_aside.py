"""Setting a source aside at every face: a person alone, counted before it is done, once under a key; what it did is told."""

from __future__ import annotations

import io
import json
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from typing import Any
from uuid import uuid4

from engramlog_server.api.cli.main import run
from tests.given.client import Service, connected
from tests.given.http import created, event
from tests.rows import each_row


def given(running: Service) -> str:
    """An owner with a memory of her own, and a session that says two things, takes back one of hers and deletes another."""
    owner = f"ann-{uuid4().hex}"
    running.http.told(
        owner,
        created("porto", "I live in Porto", owner=owner),
        created("canoe", "I own a canoe", owner=owner),
        created("llama", "I own a llama", owner=owner) | {"session_id": "bad"},
        created("rome", "I live in Rome", owner=owner) | {"session_id": "bad"},
        event("MemoryNegated", owner=owner, memory_id="porto", resolution="latest_wins") | {"session_id": "bad"},
        event("MemoryDeleted", owner=owner, memory_id="canoe") | {"session_id": "bad"},
    )
    return owner


def post(running: Service, path: str, status: int = 200, **told: Any) -> dict[str, Any]:
    answer = running.http.client.post(f"/v1/owners/{path}", json=told)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def get(running: Service, path: str, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = running.http.client.get(f"/v1/owners/{path}", params=query).json()
    return found


def listed(running: Service, owner: str, mode: str = "normal") -> set[str]:
    return {one["id"] for one in get(running, f"{owner}/memories", mode=mode, limit=100)["memories"]}


def printed(running: Service, *words: str) -> tuple[int, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(lambda: nullcontext(running.http.application), list(words))
    out.seek(0)
    return code, out.read() + err.getvalue()


def test_what_it_would_withhold_is_told_and_nothing_written(running: Service) -> None:
    owner = given(running)
    told = post(running, f"{owner}/set-aside", session="bad", dry_run=True)
    assert (told["memories"], told["dry_run"], told["changes"]) == (2, True, [])
    assert told["negated"] == {"total": 1, "ids": ["porto"]}
    assert told["deleted"] == {"total": 1, "ids": ["canoe"]}
    assert listed(running, owner) == {"llama", "rome"}
    assert get(running, f"{owner}/set-aside")["sources"] == []


def test_set_aside_listed_and_brought_back_over_http(running: Service) -> None:
    owner = given(running)
    told = post(running, f"{owner}/set-aside", session="bad", reason="不是她本人")
    assert [one["decision"] for one in told["changes"]] == ["set_aside"]
    assert listed(running, owner) == {"porto"}
    found = get(running, f"{owner}/memories", mode="review", limit=100)["memories"]
    assert {one["id"]: one["status"] for one in found} == {"porto": "live", "llama": "set_aside", "rome": "set_aside"}
    assert get(running, f"{owner}/memories/llama/provenance")["provenance"]["nodes"][0]["set_aside"] is True
    assert get(running, f"{owner}/history", limit=100)["changes"][-1]["said_reason"] == "不是她本人"
    [one] = get(running, f"{owner}/set-aside")["sources"]
    assert (one["session"], one["memories"], one["reason"]) == ("bad", 2, "不是她本人")
    post(running, f"{owner}/bring-back", session="bad")
    assert listed(running, owner) == {"llama", "rome"}
    assert get(running, f"{owner}/set-aside")["total"] == 0


def test_the_command_line_says_it_in_words(running: Service) -> None:
    owner = given(running)
    code, told = printed(running, "set-aside", owner, "--session", "bad", "--dry-run")
    assert code == 0
    told = " ".join(told.split())
    assert all(part in told for part in ("memories 2", "negated 1 (porto)", "A dry run: nothing was written"))
    assert printed(running, "set-aside", owner, "--session", "bad", "--reason", "it lies")[0] == 0
    code, told = printed(running, "set-aside", owner)
    assert (code, "1 source" in " ".join(told.split()), "it lies" in told) == (0, True, True)
    assert printed(running, "set-aside", "--undo", owner, "--session", "bad")[0] == 0
    assert "0 sources" in " ".join(printed(running, "set-aside", owner)[1].split())


def asides_told(running: Service, owner: str, memory_id: str = "llama", **query: Any) -> list[Any]:
    """What `why` and `history` tell of by whose setting aside a memory is withheld."""
    return [get(running, f"{owner}/memories/{memory_id}/{one}", **query)["aside"] for one in ("why", "history")]


def test_why_and_history_tell_since_when_a_source_is_set_aside_by_whom_and_why(running: Service) -> None:
    owner = given(running)
    assert asides_told(running, owner) == [None, None]
    post(running, f"{owner}/set-aside", session="bad", reason="it lies")
    [source] = get(running, f"{owner}/set-aside")["sources"]
    assert source.pop("memories") == 2
    assert asides_told(running, owner) == [source, source]
    assert (source["session"], source["by_actor"], source["reason"]) == ("bad", "user", "it lies")
    assert source["by_principal"] == get(running, f"{owner}/history", limit=100)["changes"][-1]["principal"]
    assert asides_told(running, owner, "porto") == [None, None]
    at = source["set_aside_at"]
    post(running, f"{owner}/bring-back", session="bad")
    assert asides_told(running, owner) == [None, None]
    assert asides_told(running, owner, as_of=at) == [source, source]


@each_row(
    ("body", "field"),
    [
        ({}, "session"),
        ({"session": "a b"}, "session"),
        ({"principal": ""}, "principal"),
        ({"of_actor": "root"}, "of_actor"),
        ({"session": "bad", "actor": "assistant"}, "actor"),
        ({"session": "bad", "actor": "judge"}, "actor"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(running: Service, body: dict[str, str], field: str) -> None:
    owner = given(running)
    told = post(running, f"{owner}/set-aside", 422, **body)
    assert field in json.dumps(told.get("errors", told))
    assert get(running, f"{owner}/set-aside")["total"] == 0


def test_no_raw_event_over_http_sets_anything_aside(running: Service) -> None:
    owner = given(running)
    answer = running.http.client.post("/v1/events", json=[event("SourceSetAside", owner=owner, session="bad")])
    assert (answer.status_code, "set-aside" in answer.text) == (422, True)
    assert listed(running, owner) == {"llama", "rome"}


def test_the_latest_messages_of_a_block_and_uses_withhold_its_words_and_an_export_leaves_it_out(
    running: Service,
) -> None:
    owner = given(running)
    turns = [{"role": "user", "content": "I own a llama named Zed"}]
    with connected("sync", running.url, owner=owner) as memory:
        memory.add(turns, session="bad")
        assert "Zed" in memory.context("and then?", session="bad", trace=False).block
        memory.set_aside(session="bad")
        block = memory.context("and then?", session="bad", trace=False)
        assert "Zed" not in block.block
        assert block.left_out["said by a source that is set aside"] == 1
        found = memory.export()
        assert found.left_out["set_aside"] == 3
        assert "Zed" not in found.text
