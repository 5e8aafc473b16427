"""What a person takes back stays back: deleted by name, or negated for good, it becomes no memory again by any door."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from typing import Any
from uuid import uuid4

import pytest

from engramlog.errors import InputError
from engramlog_server.api.cli.main import run
from tests.given.client import KINDS, Service, connected
from tests.given.http import created
from tests.rows import each_row

LISBON = "I live in Lisbon"


def new_owner() -> str:
    return f"ann-{uuid4().hex}"


def post(running: Service, path: str, status: int = 200, **told: Any) -> dict[str, Any]:
    answer = running.http.client.post(f"/v1/owners/{path}", json=told)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def listed(running: Service, owner: str, mode: str = "normal") -> dict[str, str]:
    """Memory id -> its text, of what a mode shows."""
    answer = running.http.client.get(f"/v1/owners/{owner}/memories", params={"mode": mode, "limit": 100})
    assert answer.status_code == 200, answer.text
    return {one["id"]: one["memory"] for one in answer.json()["memories"]}


def commanded(running: Service, *words: str) -> tuple[int, dict[str, Any]]:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(out):
        code = run(lambda: nullcontext(running.http.application), [*words, "--json"])
    out.seek(0)
    return code, json.loads(out.read() or "{}")


def history(running: Service, owner: str, memory_id: str) -> list[dict[str, Any]]:
    answer = running.http.client.get(f"/v1/owners/{owner}/memories/{memory_id}/history", params={"limit": 100})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["changes"]
    return found


def given(running: Service) -> str:
    """An owner who lives in Lisbon and likes tea."""
    owner = new_owner()
    post(running, f"{owner}/memories", content=LISBON, memory_id="lisbon", category="identity")
    post(running, f"{owner}/memories", content="I like tea", memory_id="tea")
    return owner


def delete_by_http(running: Service, owner: str) -> Any:
    return post(running, f"{owner}/memories/lisbon/delete")["rejected"]


def delete_by_command(running: Service, owner: str) -> Any:
    return commanded(running, "delete", owner, "lisbon")[1]["rejected"]


def delete_by_client(running: Service, owner: str) -> Any:
    with connected("sync", running.url, owner=owner) as memory:
        return memory.delete("lisbon").rejected


Delete = Callable[[Service, str], Any]
DELETING = [delete_by_http, delete_by_command, delete_by_client]


@each_row("delete", DELETING)
def test_what_is_deleted_by_name_becomes_no_memory_again_by_any_door(running: Service, delete: Delete) -> None:
    owner = given(running)
    assert delete(running, owner) == ["lisbon"]
    refused = post(running, f"{owner}/memories", 422, content="i live in LISBON.")
    assert (refused["field"], refused["got"].partition(",")[0]) == ("content", "what was rejected")
    code, told = commanded(running, "add", owner, LISBON)
    assert (code, told.get("field")) == (2, "content")
    edited = post(running, f"{owner}/memories/tea/edit", 422, content=LISBON)
    assert edited["field"] == "content"
    running.http.told(owner, created("raw", LISBON))
    assert listed(running, owner) == listed(running, owner, "review") == {"tea": "I like tea"}
    assert set(listed(running, owner, "debug")) == {"lisbon", "tea"}
    [entry] = history(running, owner, "raw")
    assert (entry["decision"], entry["reason"].partition(" by ")[0]) == ("ignored", "rejected")
    assert entry["reason"].partition(" by ")[2] in {one["position"] for one in history(running, owner, "lisbon")}


@each_row("way", ["http", "command"])
def test_negated_for_good_it_is_refused_and_confirmed_it_is_there_again(running: Service, way: str) -> None:
    owner = given(running)
    if way == "http":
        post(running, f"{owner}/memories/lisbon/negate", never=True, reason="I misspoke")
    else:
        assert commanded(running, "negate", owner, "lisbon", "--never", "--reason", "I misspoke")[0] == 0
    assert (set(listed(running, owner)), set(listed(running, owner, "review"))) == ({"tea"}, {"tea"})
    post(running, f"{owner}/memories", 422, content=LISBON)
    if way == "http":
        post(running, f"{owner}/memories/lisbon/confirm")
    else:
        assert commanded(running, "mention", owner, "lisbon", "--confirm")[0] == 0
    assert set(listed(running, owner)) == {"tea", "lisbon"}
    decisions = [one["decision"] for one in history(running, owner, "lisbon")]
    assert sorted(decisions[-4:]) == ["negate", "readmit", "reaffirm", "reject"]


def test_an_agent_cannot_say_that_something_was_never_so(running: Service) -> None:
    owner = given(running)
    told = post(running, f"{owner}/memories/lisbon/negate", 422, never=True, actor="assistant")
    assert told["field"] == "actor"
    assert set(listed(running, owner)) == {"tea", "lisbon"}
    post(running, f"{owner}/memories/lisbon/delete", actor="assistant")
    assert post(running, f"{owner}/memories", content=LISBON)["id"] in listed(running, owner)


def test_its_owner_takes_it_up_again_by_adding_it_with_confirm_or_restoring_it(running: Service) -> None:
    owner = given(running)
    post(running, f"{owner}/memories/lisbon/delete")
    new = post(running, f"{owner}/memories", content=LISBON, confirm=True)["id"]
    assert set(listed(running, owner)) == {"tea", new}
    other = given(running)
    post(running, f"{other}/memories/lisbon/delete")
    post(running, f"{other}/memories/lisbon/restore")
    assert set(listed(running, other)) == {"tea", "lisbon"}
    assert post(running, f"{other}/memories", content=LISBON)["created"]


def test_a_search_tells_how_many_it_withholds_as_rejected(running: Service) -> None:
    owner = new_owner()
    running.http.told(owner, *(created(one, LISBON) for one in ("one", "two")))
    post(running, f"{owner}/memories/one/negate", never=True)
    answer = running.http.client.get(f"/v1/owners/{owner}/search", params={"query": "Lisbon"}).json()
    assert answer["results"] == []
    assert {one["reason"]: (one["count"], one["shown_by"]) for one in answer["withheld"]} == {"rejected": (2, "debug")}
    detail = running.http.client.get(f"/v1/owners/{owner}/memories/two").json()
    assert detail["status"] == "rejected"


def test_an_export_leaves_out_what_is_rejected_and_names_it(running: Service) -> None:
    owner = new_owner()
    running.http.told(owner, *(created(one, LISBON) for one in ("one", "two")), created("tea", "I like tea"))
    post(running, f"{owner}/memories/one/negate", never=True)
    code, told = commanded(running, "stats", owner)
    assert (code, told["by_state"]["rejected"]) == (0, 2)


@each_row("kind", KINDS)
def test_the_client_is_told_that_it_is_refused_and_says_that_it_holds_after_all(running: Service, kind: str) -> None:
    owner = new_owner()
    with connected(kind, running.url, owner=owner) as memory:
        first = memory.add(LISBON)
        assert memory.delete(first.id).rejected == [first.id]
        with pytest.raises(InputError, match=r"content: got 'what was rejected, at \d:\d+'; allowed: what was not"):
            memory.add("i live in lisbon")
        assert listed(running, owner) == {}
        again = memory.add(LISBON, confirm=True, tags=["home"], key="k")
        assert (again.created, listed(running, owner)) == (True, {again.id: LISBON})
        assert memory.add(LISBON, confirm=True, tags=["home"], key="k").created is False
        memory.negate(again.id, never=True)
        assert listed(running, owner) == {}
        memory.confirm(again.id)
        assert listed(running, owner) == {again.id: LISBON}
