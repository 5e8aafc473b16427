"""Why somebody did it: every verb takes the reason through every face that has the verb, and the event keeps it."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from typing import Any

import orjson

from engramlog_server.api.cli.main import run
from engramlog_server.events.partitions import partition_of
from tests.given.client import KINDS, Service, connected, new_owner
from tests.given.http import SHOWN, HttpStore, created
from tests.given.mcp import Agent, in_process, talk
from tests.rows import each_row

VERBS = ("negate", "delete", "restore", "merge", "unmerge")
ALONG = {"ValueRejected": "delete", "ValueReadmitted": "restore"}
"""What follows from a verb of a person, and has its reason too."""
EVENTS = {
    "negate": "MemoryNegated", "delete": "MemoryDeleted", "restore": "MemoryRestored", "merge": "MemoryMerged",
    "unmerge": "MemoryUnmerged", "promote": "MemoryPromoted",
}  # fmt: skip
WHY = "她亲口说的: she said so herself"


def kept(http: HttpStore, owner: str) -> dict[str, list[str]]:
    """Event type -> the reasons that the owner's events of it hold, in the order of the log."""
    log = http.application.log
    partition = partition_of(owner, log.partitions)
    found: dict[str, list[str]] = {}
    for stored in log.read_at(partition, range(1, log.head(partition) + 1)):
        document = orjson.loads(stored.body)
        if stored.owner == owner and "reason" in document["data"]:
            found.setdefault(document["type"], []).append(document["data"]["reason"])
    return found


def given(http: HttpStore, owner: str) -> None:
    """Two memories to merge, one to delete and one to negate."""
    contents = {"a": "I drink coffee", "b": "I drink coffee at home", "c": "I own a bike", "d": "I live in Bern"}
    http.told(owner, *(created(one, text, owner=owner) for one, text in contents.items()))


def by_http(running: Service, owner: str) -> Callable[..., None]:
    def said(verb: str, *ids: str, **told: Any) -> None:
        path = f"/v1/owners/{owner}/merge" if verb == "merge" else f"/v1/owners/{owner}/memories/{ids[0]}/{verb}"
        body = {"sources": list(ids), "into": "ab"} if verb == "merge" else {}
        answer = running.http.client.post(path, json=body | told)
        assert answer.status_code == 200, answer.text

    return said


def by_command(running: Service, owner: str) -> Callable[..., None]:
    def said(verb: str, *ids: str, reason: str) -> None:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        more = {"merge": ["--into", "ab"], "restore": ["--undo"], "promote": ["--tier", "core"]}.get(verb, [])
        name = {"restore": "delete", "promote": "edit"}.get(verb, verb)
        with redirect_stdout(out):
            code = run(lambda: nullcontext(running.http.application), [name, owner, *ids, *more, "--reason", reason])
        assert code == 0

    return said


@each_row("face", [by_http, by_command])
def test_a_verb_keeps_the_reason_in_its_event(
    running: Service, face: Callable[[Service, str], Callable[..., None]]
) -> None:
    owner = f"owner-of-{face.__name__}"
    given(running.http, owner)
    said = face(running, owner)
    for verb, ids in (("merge", "ab"), ("delete", "c"), ("negate", "d")):
        said(verb, *ids, reason=f"{verb}: {WHY}")
    said("unmerge", "ab", reason=f"unmerge: {WHY}")
    said("restore", "c", reason=f"restore: {WHY}")
    expected = {EVENTS[verb]: [f"{verb}: {WHY}"] for verb in VERBS} | {
        event: [f"{verb}: {WHY}"] for event, verb in ALONG.items()
    }
    assert kept(running.http, owner) == expected
    assert told(running, owner) == {name: set(reasons) for name, reasons in expected.items()}


def told(running: Service, owner: str) -> dict[str, set[str]]:
    """Event type -> reasons, as the history over HTTP tells them."""
    found: dict[str, set[str]] = {}
    for one in running.http.client.get(f"/v1/owners/{owner}/history").json()["changes"]:
        if one["said_reason"] is not None:
            found.setdefault(one["event"], set()).add(one["said_reason"])
    return found


def test_a_reason_that_looks_secret_is_withheld_from_history_and_told_by_nobody(running: Service) -> None:
    given(running.http, "secretive")
    by_http(running, "secretive")("delete", "c", reason="my password is hunter2-Xq9!")
    answer = running.http.client.get("/v1/owners/secretive/history")
    assert "hunter2" not in answer.text
    assert "withheld" in [one["said_reason"] for one in answer.json()["changes"]][-1]


def test_of_the_past_a_reason_is_told_as_it_may_be_told_today(running: Service) -> None:
    given(running.http, "past")
    by_http(running, "past")("negate", "d", reason=WHY, replaced_by="c")
    path = "/v1/owners/past/memories/d/history"
    position = running.http.client.get(path).json()["position"]
    by_http(running, "past")("delete", "c")
    found = running.http.client.get(path, params={"as_of": position}).json()["changes"]
    assert [one["said_reason"] for one in found] == [None, None]


def test_a_promotion_keeps_its_reason(running: Service) -> None:
    given(running.http, "promoted")
    by_command(running, "promoted")("promote", "d", reason=WHY)
    assert kept(running.http, "promoted") == {"MemoryPromoted": [WHY]}


@each_row("kind", KINDS)
def test_the_client_sends_the_reason_of_every_verb(running: Service, kind: str) -> None:
    owner = new_owner()
    given(running.http, owner)
    with connected(kind, running.url, owner=owner) as memory:
        memory.merge(["a", "b"], into="ab", reason="merge")
        memory.unmerge("ab", reason="unmerge")
        memory.delete("c", reason="delete")
        memory.restore("c", reason="restore")
        memory.negate("d", reason="negate")
        memory.delete_all(owner=owner, reason="delete all")
    found = kept(running.http, owner)
    assert {name: told[0] for name, told in found.items()} == {EVENTS[verb]: verb for verb in VERBS} | ALONG
    assert set(found["MemoryDeleted"]) == {"delete", "delete all"}


def test_what_goes_along_with_a_deletion_and_comes_back_with_it_has_the_reason_too(running: Service) -> None:
    turn, typed = {"kind": "episode", "source_turns": ["t"]}, {"source": "judge", "source_turns": ["t"]}
    running.http.told(
        "along",
        created("t", "I like coffee, said Ann", owner="along", **turn),
        created("x", "Ann likes coffee", owner="along", **typed),
    )
    said = by_http(running, "along")
    said("delete", "t", reason="gone")
    said("restore", "t", reason="back")
    found = kept(running.http, "along")
    assert (found["MemoryDeleted"], found["MemoryRestored"]) == (["gone"] * 2, ["back"] * 2)


def test_an_agent_tells_why_it_deletes(running: Service) -> None:
    given(running.http, "agent")

    async def deletes(agent: Agent) -> None:
        await agent.client.call_tool("delete_memory", {"memory_id": "c", "reason": "the user asked"})

    talk(in_process(running.http.application, "agent"), deletes)
    assert kept(running.http, "agent") == {"MemoryDeleted": ["the user asked"]}


@each_row("verb", ["delete", "restore", "unmerge", "negate"])
def test_a_reason_beyond_2_000_characters_is_refused_and_nothing_is_written(running: Service, verb: str) -> None:
    owner = f"long-{verb}"
    given(running.http, owner)
    answer = running.http.client.post(
        f"/v1/owners/{owner}/memories/a/{verb}", json={"reason": "x" * 2_001}, headers=SHOWN
    )
    assert (answer.status_code, '"field":"reason"' in answer.text) == (422, True)
    assert kept(running.http, owner) == {}
