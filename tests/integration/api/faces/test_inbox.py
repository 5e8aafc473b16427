"""What waits for a person: told on every face, without effect meanwhile, and answered by a person alone."""

from __future__ import annotations

import io
import json
from contextlib import nullcontext, redirect_stdout
from typing import Any
from uuid import uuid4

import pytest

from engramlog_server.api.cli.main import run
from engramlog_server.events.redis.log import RedisEventLog
from tests.given.client import Service, connected
from tests.given.http import created, event
from tests.given.mcp import Agent, in_process, talk
from tests.integration.live import wait_until

KILN = "The kiln fires at 1240 degrees"
OTHER = "The kiln fires at 1180 degrees"


def post(running: Service, path: str, status: int = 200, **told: Any) -> dict[str, Any]:
    answer = running.http.client.post(f"/v1/owners/{path}", json=told)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def inbox(running: Service, owner: str) -> list[dict[str, Any]]:
    answer = running.http.client.get(f"/v1/owners/{owner}/inbox")
    assert answer.status_code == 200, answer.text
    assert answer.json()["total"] == len(answer.json()["items"])
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def listed(running: Service, owner: str, **asked: Any) -> dict[str, dict[str, Any]]:
    answer = running.http.client.get(f"/v1/owners/{owner}/memories", params={"limit": 100, **asked})
    assert answer.status_code == 200, answer.text
    return {one["id"]: one for one in answer.json()["memories"]}


def commanded(running: Service, *words: str) -> tuple[int, dict[str, Any]]:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(out):
        code = run(lambda: nullcontext(running.http.application), [*words, "--json"])
    out.seek(0)
    return code, json.loads(out.read() or "{}")


def corrected(running: Service) -> tuple[str, dict[str, Any]]:
    """An owner whose own word an assistant would correct, and what waits for that."""
    owner = f"ann-{uuid4().hex}"
    post(running, f"{owner}/memories", content=KILN, memory_id="kiln")
    told = post(running, f"{owner}/memories/kiln/negate", correction=OTHER, reason="I think so", actor="assistant")
    assert ("kiln", "wait") in [(one["memory"], one["decision"]) for one in told["changes"]]
    return owner, told


def test_an_assistants_correction_of_the_users_own_word_waits_and_so_does_what_it_brings(running: Service) -> None:
    owner, told = corrected(running)
    shown = listed(running, owner)
    assert {name: one["trust"] for name, one in shown.items()} == {"kiln": "disputed"}
    items = {one["kind"]: one for one in inbox(running, owner)}
    assert items.keys() == {"negation", "proposal"}
    assert items["negation"] | {"item": "", "at": "", "position": ""} == {
        "item": "", "kind": "negation", "memory_id": "kiln", "about": [], "memory": KILN, "would_say": OTHER,
        "reason": "I think so", "reason_code": None, "reason_values": None,
        "actor": "assistant", "principal": "local", "at": "", "position": "",
    }  # fmt: skip
    assert (items["proposal"]["item"], items["proposal"]["memory"]) == (told["replaced_by"], OTHER)
    review = listed(running, owner, mode="review")
    assert review[told["replaced_by"]]["trust"] == "proposed"


def item_of(running: Service, owner: str, kind: str) -> str:
    return next(one["item"] for one in inbox(running, owner) if one["kind"] == kind)


def test_accepted_it_is_as_if_the_person_had_said_so(running: Service) -> None:
    owner, told = corrected(running)
    done = post(running, f"{owner}/inbox/accept", item=item_of(running, owner, "negation"), key="k")
    assert done["verdict"] == "accepted"
    shown = listed(running, owner)
    assert {name: one["trust"] for name, one in shown.items()} == {told["replaced_by"]: "asserted"}
    assert inbox(running, owner) == []


def test_rejected_a_change_stays_undone_and_a_proposal_becomes_no_memory_again(running: Service) -> None:
    owner, told = corrected(running)
    post(running, f"{owner}/inbox/reject", item=item_of(running, owner, "negation"), reason="no")
    post(running, f"{owner}/inbox/reject", item=told["replaced_by"])
    assert {name: one["trust"] for name, one in listed(running, owner).items()} == {"kiln": "asserted"}
    again = post(running, f"{owner}/memories", 422, content=OTHER, actor="assistant")
    assert "rejected" in again["detail"]
    assert inbox(running, owner) == []


def test_in_his_own_words(running: Service) -> None:
    owner, told = corrected(running)
    with connected("sync", running.url, owner=owner) as memory:
        waiting = {one.kind: one for one in memory.inbox().items}
        assert memory.amend(waiting["negation"].item, "The kiln fires at 1220 degrees").verdict == "edited"
        assert memory.reject(told["replaced_by"]).verdict == "rejected"
        assert [one.memory for one in memory.get_all().memories] == ["The kiln fires at 1220 degrees"]
        assert memory.inbox().total == 0


def test_nobody_but_a_person_answers(running: Service) -> None:
    owner, _ = corrected(running)
    item = item_of(running, owner, "negation")
    for verb, more in (("accept", {}), ("edit", {"content": OTHER}), ("reject", {})):
        assert "person" in post(running, f"{owner}/inbox/{verb}", 422, item=item, actor="assistant", **more)["detail"]
    settled = event("ReviewSettled", owner=owner, memory_id="kiln", waiting=item, verdict="rejected")
    assert running.http.client.post("/v1/events", json={"events": [settled]}).status_code == 422
    assert len(inbox(running, owner)) == 2


def test_what_an_agent_says_by_mcp_reaches_inferred_at_most(running: Service) -> None:
    owner = f"ann-{uuid4().hex}"
    post(running, f"{owner}/memories", content=KILN, memory_id="kiln")

    async def told(agent: Agent) -> Any:
        await agent.remember("I love jazz", category="stable_preference")
        await agent.remember("The user is vegan", category="identity", said_by="assistant")
        await agent.remember("From now on always answer in French")
        await agent.call("delete_memory", memory_id="kiln")
        return await agent.read("memory://inbox")

    seen = talk(in_process(running.http.application, owner), told)
    assert [one["kind"] for one in seen["items"]] == ["deletion", "proposal", "proposal"]
    trusts = {one["memory"]: one["trust"] for one in listed(running, owner, mode="review").values()}
    assert trusts == {
        KILN: "disputed",
        "I love jazz": "inferred",
        "The user is vegan": "proposed",
        "From now on always answer in French": "proposed",
    }
    assert {one["memory"] for one in listed(running, owner).values()} == {KILN, "I love jazz"}
    assert [one["kind"] for one in inbox(running, owner)] == ["deletion", "proposal", "proposal"]


def flooded(running: Service) -> str:
    """An owner of whom as much waits as may: what an agent proposes, and one thing that he said himself."""
    owner = f"ann-{uuid4().hex}"
    post(running, f"{owner}/memories", content=KILN, memory_id="kiln")
    told = [
        created(f"p{number}", f"Always answer {number} first", owner=owner)
        | {"actor": "assistant", "trust": "proposed"}
        for number in range(1_000)
    ]
    for start in range(0, 1_000, 500):
        running.http.told(owner, *told[start : start + 500])
    return owner


def full_alarms(running: Service) -> list[str]:
    alarms = running.http.client.get("/v1/alarms").json()["alarms"]
    return [one["text"] for one in alarms if one["name"] == "inbox_full"]


def test_a_full_inbox_takes_no_more_and_says_so_on_every_face(
    running: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    before = running.http.client.get("/v1/status").json()["inboxes"]
    owner = flooded(running)
    page = running.http.client.get(f"/v1/owners/{owner}/inbox").json()
    assert (page["total"], page["taken"], page["most"]) == (1_000, 1_000, 1_000)

    late = post(running, f"{owner}/memories", content="Always answer in French", memory_id="late", actor="assistant")
    assert (late["created"], late["changes"][0]["decision"]) == (False, "ignored")
    assert "1,000 things wait for a person" in late["changes"][0]["reason"]

    async def told(agent: Agent) -> Any:
        refused = await agent.refused("add_memory", content="From now on always answer in rhymes")
        kept = await agent.call("update_memory", memory_id="kiln", no_longer_true=True, said_by="assistant")
        return refused, kept["message"]

    refused, kept = talk(in_process(running.http.application, owner), told)
    assert "1,000 things wait" in refused
    assert "1,000 things wait" in kept
    assert listed(running, owner).keys() == {"kiln"}
    assert post(running, f"{owner}/memories", content="I live in Lyon", memory_id="mine")["created"]

    after = running.http.client.get("/v1/status").json()["inboxes"]
    assert after == {"waiting": before["waiting"] + 1_000, "full": before["full"] + 1}
    assert running.http.client.get("/ready").json()["inboxes"] == after
    assert f"engramlog_inbox_full_owners {after['full']}.0" in running.http.client.get("/metrics").text
    wait_until(lambda: full_alarms(running) == [f"1 owner: {owner}"])
    run(lambda: nullcontext(running.http.application), ["inbox", owner])
    assert "Full: 1,000 of 1,000 places are taken" in capsys.readouterr().out
    run(lambda: nullcontext(running.http.application), ["status"])
    assert f"{after['waiting']:,} waiting, {after['full']} full" in capsys.readouterr().out

    with connected("sync", running.url, owner=owner) as memory:
        memory.reject("p0")
        assert (memory.inbox().taken, memory.inbox().total) == (999, 999)
    assert running.http.client.get("/v1/status").json()["inboxes"]["full"] == before["full"]
    wait_until(lambda: full_alarms(running) == [])


def test_who_rejects_a_proposal_rejects_what_proposes_the_same(running: Service) -> None:
    owner = f"ann-{uuid4().hex}"
    for name in ("one", "two", "three"):
        text = "Always answer in French" if name != "three" else "Always answer in German"
        running.http.told(owner, created(name, text, owner=owner) | {"actor": "assistant", "trust": "proposed"})
    post(running, f"{owner}/inbox/reject", item="one", key="once")
    page = running.http.client.get(f"/v1/owners/{owner}/inbox").json()
    assert ([one["item"] for one in page["items"]], page["taken"]) == (["three"], 1)
    assert post(running, f"{owner}/inbox/reject", item="one", key="once")["verdict"] == "rejected"


def test_where_nobody_vouches_for_who_calls_no_value_is_rejected_by_http_and_none_taken_up(
    running: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = f"ann-{uuid4().hex}"
    code, _ = commanded(running, "add", owner, KILN, "--id", "kiln")
    assert code == 0
    monkeypatch.setattr(RedisEventLog, "highest", "inferred")
    told = post(running, f"{owner}/memories/kiln/delete")
    assert ("kiln", "wait") in [(one["memory"], one["decision"]) for one in told["changes"]]
    assert listed(running, owner).keys() == {"kiln"}, "no rejection comes with a deletion that waits"
    for verb in ("delete", "negate"):
        refused = post(running, f"{owner}/memories/kiln/{verb}", 422, never=True)
        assert "vouches" in refused["detail"]
    code, _ = commanded(running, "delete", owner, "kiln")
    assert code == 0
    assert listed(running, owner) == {}
    post(running, f"{owner}/memories/kiln/restore")
    assert listed(running, owner) == {}, "what it says is rejected all the same"
    code, _ = commanded(running, "mention", owner, "kiln", "--confirm")
    assert (code, listed(running, owner).keys()) == (0, {"kiln"})
