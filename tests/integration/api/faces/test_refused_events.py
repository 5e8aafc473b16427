"""What says a rejected value is told so at the doors of raw events, and counted whichever door it came by."""

from __future__ import annotations

import io
import json
from contextlib import nullcontext, redirect_stdout
from typing import Any
from unittest import mock
from uuid import uuid4

from engramlog_server.api.cli.main import run
from engramlog_server.events.errors import DamagedState
from engramlog_server.projections.redis.view import RedisViews
from tests.given.client import Service, connected
from tests.given.http import created, event
from tests.rows import each_row

LISBON, PORTO = "I live in Lisbon", "I live in Porto"


def rejecting(running: Service) -> tuple[str, str]:
    """An owner who rejected one value, and where."""
    owner = f"ann-{uuid4().hex}"
    running.http.told(owner, created("lisbon", LISBON, owner=owner), created("porto", PORTO, owner=owner))
    told = running.http.client.post(f"/v1/owners/{owner}/memories/lisbon/negate", json={"never": True}).json()
    return owner, next(one["position"] for one in told["changes"] if one["decision"] == "reject")


def refused_now(running: Service) -> int:
    return int(running.http.client.get("/v1/status").json()["refused"])


def appended(running: Service, *events: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    answer = running.http.client.post("/v1/events", json={"events": list(events)}, params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["receipts"]
    return found


@each_row("judge", [False, True], ids=["as it is", "judged"])
def test_a_receipt_tells_where_what_an_event_says_was_rejected(running: Service, judge: bool) -> None:
    owner, at = rejecting(running)
    events = [
        created("again", LISBON.upper(), owner=owner),
        created("other", "I like the sea", owner=owner),
        created("turn", LISBON, owner=owner, source_turns=["turn"]),
        event("MemoryRevised", owner=owner, memory_id="porto", content=LISBON),
        event("MemoryMentioned", owner=owner, memory_id="porto"),
        created("lisbon", LISBON, owner=f"{owner}-2"),
    ]
    receipts = appended(running, *events[: 5 if judge else 6], **({"judge": True} if judge else {}))
    assert [one.get("rejected") for one in receipts] == [at, None, None, at, None, None][: len(receipts)]
    assert {one["status"] for one in receipts} == {"appended"}, "it is in the log all the same"
    listed = running.http.client.get(
        f"/v1/owners/{owner}/memories", params={"limit": 100, "after": receipts[4]["position"]}
    ).json()["memories"]
    assert {one["id"] for one in listed} == {"other", "porto"}


def test_a_merge_into_it_is_told_too_and_all_are_counted(running: Service) -> None:
    owner, at = rejecting(running)
    running.http.told(owner, created("sea", "I like the sea", owner=owner))
    before = refused_now(running)
    merge = event("MemoryMerged", owner=owner, sources=["porto", "sea"], into="all", summary=LISBON)
    [receipt] = appended(running, merge)
    assert receipt["rejected"] == at
    running.http.told(owner, created("once", LISBON, owner=owner))
    assert refused_now(running) == before + 2
    assert f"engramlog_refused_events_total {before + 2}.0" in running.http.client.get("/metrics").text


def test_the_command_and_the_client_tell_it(running: Service) -> None:
    owner, at = rejecting(running)
    one, other = created("again", LISBON, owner=owner), created("well", "I like the sea", owner=owner)
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    lines = "\n".join(map(json.dumps, (other, one)))
    given = io.TextIOWrapper(io.BytesIO(lines.encode()), encoding="utf-8")
    with redirect_stdout(out), mock.patch("sys.stdin", given):
        code = run(lambda: nullcontext(running.http.application), ["append", "-", "--json"])
    out.seek(0)
    assert (code, json.loads(out.read())["rejected"]) == (
        0, [{"line": 2, "event_id": one["event_id"], "rejected": at}],
    )  # fmt: skip
    with connected("sync", running.url, owner=owner) as memory:
        [receipt] = memory.append([created("more", LISBON, owner=owner)]).receipts
        assert receipt.rejected == at


def test_once_it_is_taken_up_again_nothing_is_told(running: Service) -> None:
    owner, _ = rejecting(running)
    confirmed = running.http.client.post(f"/v1/owners/{owner}/memories/lisbon/confirm", json={})
    assert confirmed.status_code == 200
    [receipt] = appended(running, created("again", LISBON, owner=owner))
    assert "rejected" not in receipt


def test_a_damaged_projection_hinders_no_producer(running: Service) -> None:
    owner, _ = rejecting(running)
    with mock.patch.object(RedisViews, "rejections", side_effect=DamagedState("cannot be read")):
        [receipt] = appended(running, created("again", LISBON, owner=owner))
    assert (receipt["status"], "rejected" in receipt) == ("appended", False)
