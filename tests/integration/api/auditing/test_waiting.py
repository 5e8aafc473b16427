"""Events as they come, over HTTP: a wait takes no thread, ends with the owner's next event, and is bounded."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from engramlog_server.api.http import feed
from tests.given.client import Service, connected, new_owner, service
from tests.given.http import SHOWN, TOKEN, created, mentioned
from tests.patience import PATIENCE
from tests.rows import each_row


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)


def asked(running: Service, owner: str, **query: Any) -> httpx2.Response:
    address = f"{running.url}/v1/owners/{quote(owner, safe='')}/events"
    return httpx2.get(address, params=query, headers=SHOWN, timeout=PATIENCE)


def test_a_wait_is_answered_with_the_next_event_and_its_cursor_goes_on(running: Service) -> None:
    owner = new_owner()
    running.http.told(owner, created("coffee", owner=owner))
    follow = asked(running, owner).json()["follow"]
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(asked, running, owner, cursor=follow, wait=20)
        running.http.told(owner, mentioned("coffee", owner=owner))
        page = answer.result(PATIENCE).json()
    assert [one["type"] for one in page["events"]] == ["MemoryMentioned"]
    assert asked(running, owner, cursor=page["follow"], wait=0.05).json()["events"] == []


def test_those_who_wait_keep_no_light_question_from_its_thread(running: Service) -> None:
    owner = new_owner()
    running.http.told(owner, created("coffee", owner=owner))
    follow = asked(running, owner).json()["follow"]
    many = 40  # more than threads of the lane, and than one owner has of them
    with ThreadPoolExecutor(many) as pool:
        waiting_ones = [pool.submit(asked, running, owner, cursor=follow, wait=20) for _ in range(many)]
        with connected("sync", running.url, owner=owner) as memory:
            assert memory.search("coffee").results
        assert not any(one.done() for one in waiting_ones)
        running.http.told(owner, mentioned("coffee", owner=owner))
        found = [one.result(PATIENCE).json()["events"] for one in waiting_ones]
    assert {len(one) for one in found} == {1}


def test_no_more_may_wait_for_one_owner_than_are_allowed(running: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = new_owner()
    monkeypatch.setattr(feed, "MOST_OF_OWNER", 1)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(asked, running, owner, wait=1) for _ in range(2)]
        codes = sorted(one.result(PATIENCE).status_code for one in both)
    assert codes == [200, 429]


def test_a_partition_is_waited_for_too_whosever_event_comes(running: Service) -> None:
    owner = new_owner()
    running.http.told(owner, created("coffee", owner=owner))
    with connected("sync", running.url) as memory:
        number = asked(running, owner).json()["partition"]
        newest = memory.partition_events(number, order="newest", limit=1)
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(memory.partition_events, number, cursor=newest.follow, wait=20)
            running.http.told(owner, mentioned("coffee", owner=owner))
            page = answer.result(PATIENCE)
    assert [(one.type, one.owner, one.folded) for one in page.events] == [("MemoryMentioned", owner, None)]


def test_the_client_reads_an_owner_s_events_and_is_refused_a_partition_s(running: Service) -> None:
    owner = new_owner()
    running.http.told(owner, created("coffee", owner=owner), mentioned("coffee", owner=owner))
    with connected("sync", running.url, owner=owner) as memory:
        page = memory.events(types=["MemoryMentioned"], since="2026-01-01")
        assert [one.type for one in page.events] == ["MemoryMentioned"]
        assert page.events[0].data == {"memory_id": "coffee"}
        assert (page.next, page.order) == (None, "oldest")


@each_row(("query", "field"), [({"wait": 21}, "wait"), ({"wait": 1, "order": "newest"}, "wait")])
def test_a_wait_that_nobody_may_have_is_refused_before_anything(
    running: Service, query: dict[str, Any], field: str
) -> None:
    answer = asked(running, new_owner(), **query)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_a_partition_that_is_not_there_is_refused(running: Service) -> None:
    answer = httpx2.get(f"{running.url}/v1/partitions/99999/events", headers=SHOWN, timeout=PATIENCE)
    assert (answer.status_code, answer.json()["field"]) == (422, "partition")


def test_a_server_that_stops_ends_every_wait_with_an_answer_that_says_come_again(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, wait = Event(), feed.Waits.wait

    async def told(self: feed.Waits, *asked: Any) -> None:
        waits.set()
        await wait(self, *asked)

    monkeypatch.setattr(feed.Waits, "wait", told)
    with ThreadPoolExecutor(1) as pool:
        with service(tmp_path_factory.mktemp("stops")) as one:
            answer = pool.submit(asked, one, new_owner(), wait=20)
            assert waits.wait(PATIENCE)
        found = answer.result(PATIENCE)
    assert found.status_code == 503, found.text
    assert "stopping" in found.json()["detail"]
