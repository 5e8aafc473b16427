"""The change feed: every change once and in order, whoever comes late, goes, is slow, or loses the server."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import httpx2
import pytest

from engramlog_server.api.http.feed import STOPPING, Feeds, changes_of
from engramlog_server.api.http.serve import Server, serve
from engramlog_server.events.errors import BadSetting
from engramlog_server.events.partitions import parse_position
from engramlog_server.projections.fold.changelog import Entry
from tests.given.http import QUICK, SHOWN, HttpStore, Json, Message, app_of, created, event, mentioned, messages
from tests.given.samples import owner_in
from tests.patience import PATIENCE
from tests.rows import each_row


@pytest.fixture(scope="module")
def server(http: HttpStore) -> Iterator[Server]:
    """A real server of that store."""
    running = serve(app_of(http.application, limits=QUICK), "127.0.0.1", 0)
    yield running
    running.stop()


@contextmanager
def reading(server: Server, path: str, **headers: str) -> Iterator[Iterator[Message]]:
    """The messages of a feed as they come."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx2.stream("GET", server.url + path, headers=SHOWN | told, timeout=PATIENCE) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield messages(answer.iter_lines())


def changes(found: Iterator[Message], until: str) -> Iterator[Message]:
    """The changes among messages, up to one position."""
    for message in found:
        if message.get("event") == "change":
            yield message
            if message["id"] == until:
                return


def story(owner: str, length: int) -> list[Json]:
    """Events of which most change one memory, some several, and some nothing."""
    told = [created(name, owner=owner) for name in ("m0", "m1", "m2")]
    for number in range(length):
        if number % 10 == 5:
            hit = {"memory_id": "m1", "count": 1, "best_rank": 1, "last_at": "2026-01-05T08:00:00Z"}
            told.append(event("MemoriesAccessed", owner=owner, key=number, hits=[hit], via="recall"))
        elif number % 10 == 7:
            told.append(event("MemoriesLinked", owner=owner, key=number, a="m0", b="m2", weight=0.5, link="semantic"))
        else:
            told.append(mentioned(f"m{number % 3}", owner=owner, key=number))
    return told


def history(http: HttpStore, owner: str, after: str) -> list[Json]:
    """The owner's change log as a feed tells it, once it is folded that far: history says why beside it, in words."""
    answer = http.client.get(f"/v1/owners/{owner}/history", params={"after": after, "limit": 1_000})
    assert answer.status_code == 200, answer.text
    assert answer.json().get("next") is None
    changes = list(answer.json()["changes"])
    assert {change["actor"] for change in changes} <= {"user", "assistant", "judge", "system", "operator"}
    assert {change.pop("said_reason") for change in changes} <= {None, "changed"}
    assert {change.pop("because") for change in changes} == {None}
    return changes


def test_a_feed_that_is_resumed_while_a_writer_appends_tells_every_change_once_and_in_order(
    http: HttpStore, server: Server
) -> None:
    owner, told = "follower", story("follower", 400)
    (first,) = http.append(told[0])
    last: list[str] = []

    def write() -> None:
        rest = told[1:]
        while rest:
            size = 1 + len(rest) % 7
            last[:] = http.append(*rest[:size])[-1:]
            rest = rest[size:]

    writer = Thread(target=write)
    writer.start()
    seen: list[Message] = []
    resumed = 0
    end = time.monotonic() + PATIENCE

    def done() -> bool:
        assert time.monotonic() < end
        return bool(seen) and not writer.is_alive() and seen[-1]["id"] == last[0]

    while not done():
        place = {"last_event_id": seen[-1]["id"]} if seen else {}
        with reading(server, f"/v1/owners/{owner}/feed?since={first.split(':')[0]}:0", **place) as found:
            for message in found:
                if message.get("event") == "change":
                    seen.append(message)
                    if len(seen) % 40 == 0:
                        break
                if done():
                    break
        resumed += 1
    writer.join()
    assert resumed > 5
    assert [change for message in seen for change in message["data"]["changes"]] == history(http, owner, last[0])
    ids = [message["id"] for message in seen]
    assert ids == sorted(set(ids), key=parse_position)


def test_a_feed_begins_now_unless_told_otherwise_and_says_where(http: HttpStore, server: Server) -> None:
    owner = "newcomer"
    old = http.told(owner, created("old", owner=owner))
    with reading(server, f"/v1/owners/{owner}/feed") as found:
        opened = next(found)
        new = http.told(owner, mentioned("old", owner=owner))
        (change,) = changes(found, new)
    assert (opened["event"], opened["id"], change["id"]) == ("open", old, new)
    assert [one["decision"] for one in change["data"]["changes"]] == ["reinforce"]


def test_a_feed_of_an_owner_without_events_waits_for_the_first(http: HttpStore, server: Server) -> None:
    with reading(server, "/v1/owners/%E5%9B%A2%E9%98%9F%2Fnobody@x+1/feed") as found:
        opened = next(found)
        position = http.append(created("first", owner="团队/nobody@x+1"))[0]
        (change,) = changes(found, position)
    assert opened["id"] == f"{position.split(':')[0]}:0"
    assert change["data"]["owner"] == "团队/nobody@x+1"


def test_a_feed_tells_only_of_its_owner_and_no_content(http: HttpStore, server: Server) -> None:
    mine, other = owner_in(1, 4), owner_in(1, 4, nth=1)
    with reading(server, f"/v1/owners/{mine}/feed") as found:
        http.append(created("o", "other words", owner=other))
        position = http.append(created("m", "my very own words", owner=mine))[0]
        (change,) = changes(found, position)
    assert {one["memory"] for one in change["data"]["changes"]} == {"m"}
    assert "words" not in json.dumps(change)


def test_an_idle_feed_shows_that_it_lives(server: Server) -> None:
    with reading(server, "/v1/owners/silent/feed") as found:
        assert [next(found).get("comment") for _ in range(3)] == [None, "still here", "still here"]


def test_a_client_that_goes_is_forgotten(http: HttpStore) -> None:
    app = app_of(http.application, limits=QUICK)
    alone = serve(app, "127.0.0.1", 0)
    feeds: Feeds = app.state.parts.feeds
    with reading(alone, "/v1/owners/guest/feed") as found:
        next(found)
        assert feeds.clients == 1
    end = time.monotonic() + PATIENCE
    while feeds.clients and time.monotonic() < end:
        time.sleep(0.01)
    assert (feeds.clients, feeds._pollers) == (0, {})
    alone.stop()


@each_row(
    ("path", "headers", "expected"),
    [
        ("since=yesterday", {}, (422, "since")),
        ("since=9:1", {}, (422, "since")),
        ("", {"last-event-id": "9:1"}, (422, "Last-Event-ID")),
        ("from=1:1", {}, (422, "from")),
        ("since=1:999999", {}, (409, None)),
    ],
)
def test_a_place_that_cannot_be_is_refused_before_the_stream_begins(
    http: HttpStore, path: str, headers: dict[str, str], expected: tuple[int, str | None]
) -> None:
    answer = http.client.get(f"/v1/owners/{owner_in(1, 4)}/feed?{path}", headers=headers)
    assert (answer.status_code, answer.json().get("field")) == expected, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_stopping_the_server_ends_its_feeds_with_their_last_id_and_frees_the_port(http: HttpStore) -> None:
    ready: list[str] = []
    running = serve(app_of(http.application, limits=QUICK), "localhost", 0, on_ready=lambda one: ready.append(one.url))
    with reading(running, "/v1/owners/stopped/feed") as found:
        opened = next(found)
        running.stop()
        *_, ended = found
    assert (ended["event"], ended["id"], ended["data"]["reason"]) == ("end", opened["id"], STOPPING)
    assert (running.running, ready) == (False, [running.url])
    with socket.socket() as probe:
        assert probe.connect_ex((running.host, running.port)) != 0


def test_a_port_that_is_taken_and_an_address_that_is_not_ours_alone_are_bad_settings(
    server: Server, http: HttpStore
) -> None:
    app = app_of(http.application)
    with pytest.raises(BadSetting, match="ENGRAMLOG_PORT"):
        serve(app, "127.0.0.1", server.port)
    with pytest.raises(BadSetting, match="ENGRAMLOG_HOST"):
        serve(app, "0.0.0.0", 0)


def test_the_newest_events_are_read_from_no_more_packs_than_it_takes(http: HttpStore) -> None:
    owner = "packed"
    for one in story(owner, 120):
        last = http.append(one)[0]
        http.application.reader.list(owner, after=last)
    views = http.application.views
    seqs, entries = views.history(owner)
    (applied,) = views.applied(parse_position(last)[0], [owner])
    assert applied == len(seqs) == 123
    for since in range(0, applied + 1, 7):
        tail = views.tail(owner, since)
        assert tail.start <= since
        assert tail.seqs == seqs[tail.start :]
        assert tail.entries == [entry for entry in entries if entry.seq in set(tail.seqs)]
    assert len(views.tail(owner, applied - 1).seqs) < applied / 2


def test_a_past_is_found_and_read_in_pages_wherever_it_begins(http: HttpStore) -> None:
    owner = "paged"
    for one in story(owner, 60):
        last = http.append(one)[0]
        http.application.reader.list(owner, after=last)
    views = http.application.views
    seqs, entries = views.history(owner)
    for after in (0, seqs[0], seqs[7], seqs[7] - 1, seqs[-2], seqs[-1], seqs[-1] + 1):
        mark, told = views.past(owner, after), list[Entry]()
        while mark.number < len(seqs):
            tail, following = views.page(owner, mark, 4)
            assert following.number > mark.number
            told += [entry for change in changes_of(tail, mark.number, {}) for entry in change.entries]
            mark = following
        assert told == [entry for entry in entries if entry.seq > after]


def test_requests_wait_for_the_server_to_be_ready_rather_than_being_refused(http: HttpStore, tmp_path: Path) -> None:
    running = serve(app_of(http.application), "127.0.0.1", 0)
    assert httpx2.get(f"{running.url}/health", timeout=PATIENCE).json() == {"status": "alive"}
    running.stop()


def test_small_answers_do_not_wait_for_nagle(server: Server, http: HttpStore) -> None:
    httpx2.get(f"{server.url}/health", timeout=PATIENCE)
    (listener,) = server._uvicorn.servers[0].sockets
    assert listener.proto == socket.IPPROTO_TCP, "asyncio sets TCP_NODELAY only where the protocol is named"
