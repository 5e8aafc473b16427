"""The change feed: every change once and in order, whoever comes late, goes, is slow, or loses the server."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest

from api.http.app import create_app
from api.http.feed import ROLLED_BACK, SLOW, STOPPING, Change, Client, Feeds, Limits, _past_of, changes_of
from api.http.routes.feed import FeedResponse
from api.http.serve import Server, serve
from events.errors import BadSetting, BeyondHead, StoreUnavailable
from events.partitions import parse_position
from projections.changelog import Entry
from projections.redis_view import Tail
from tests.given_http import QUICK, HttpStore, Json, created, event, http_store, mentioned
from tests.samples import owner_in

PATIENCE = 20.0
"""Seconds after which a test that waits for something has failed."""


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """One store for all of these tests, each with owners of its own."""
    with http_store(tmp_path_factory.mktemp("feed")) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(http: HttpStore) -> Iterator[Server]:
    """A real server of that store."""
    running = serve(create_app(http.application, limits=QUICK), "127.0.0.1", 0)
    yield running
    running.stop()


class Message(dict[str, Any]):
    """One server-sent event: `event`, `id`, `data`, or `comment`."""


@contextmanager
def reading(server: Server, path: str, **headers: str) -> Iterator[Iterator[Message]]:
    """The messages of a feed as they come."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx2.stream("GET", server.url + path, headers=told, timeout=PATIENCE) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield messages(answer.iter_lines())


def messages(lines: Iterator[str]) -> Iterator[Message]:
    """Parsed as the standard says."""
    current = Message()
    for line in lines:
        if not line:
            yield current
            current = Message()
        else:
            name, _, value = line.partition(": ")
            current[name or "comment"] = json.loads(value) if name == "data" else value


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
    """The owner's change log, once it is folded that far."""
    answer = http.client.get(f"/v1/owners/{owner}/history", params={"after": after})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["changes"])


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
        with reading(server, f"/v1/owners/{owner}/feed?from={first.split(':')[0]}:0", **place) as found:
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
    app = create_app(http.application, limits=QUICK)
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


@pytest.mark.parametrize(
    ("path", "headers", "expected"),
    [
        ("from=yesterday", {}, (422, "from")),
        ("from=9:1", {}, (422, "from")),
        ("", {"last-event-id": "9:1"}, (422, "Last-Event-ID")),
        ("since=1:1", {}, (422, "since")),
        ("from=1:999999", {}, (409, None)),
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
    running = serve(
        create_app(http.application, limits=QUICK), "localhost", 0, on_ready=lambda one: ready.append(one.url)
    )
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
    app = create_app(http.application)
    with pytest.raises(BadSetting, match="ENGRAMLOG_PORT"):
        serve(app, "127.0.0.1", server.port)
    with pytest.raises(BadSetting, match="ENGRAMLOG_HOST"):
        serve(app, "0.0.0.0", 0)


def test_the_newest_events_are_read_from_no_more_packs_than_it_takes(http: HttpStore) -> None:
    owner = "packed"
    for one in story(owner, 120):
        last = http.append(one)[0]
        http.application.reader.list(owner, after=last)
    views = http.application.reader._views
    seqs, entries = views.history(owner)
    (applied,) = views.applied(parse_position(last)[0], [owner])
    assert applied == len(seqs) == 123
    for since in range(0, applied + 1, 7):
        tail = views.tail(owner, since)
        assert tail.start <= since
        assert tail.seqs == seqs[tail.start :]
        assert tail.entries == [entry for entry in entries if entry.seq in set(tail.seqs)]
    assert len(views.tail(owner, applied - 1).seqs) < applied / 2


class Scripted:
    """A source that tells what a test made up: an owner's seqs in the order of folding."""

    def __init__(self, *seqs: int) -> None:
        self.seqs = list(seqs)
        self.looks = self.reads = 0
        self.fails = 0

    def applied(self, _partition: int, owners: Sequence[str]) -> list[int]:
        """How many there are."""
        self.looks += 1
        if self.fails:
            self.fails -= 1
            raise StoreUnavailable("gone for a moment")
        return [len(self.seqs) for _ in owners]

    def tail(self, _owner: str, since: int) -> Tail:
        """From `since` on."""
        self.reads += 1
        return tail(*self.seqs[since:], start=since)


def tail(*seqs: int, start: int = 0) -> Tail:
    """A tail in which every event has one entry."""
    entries = [Entry(seq, bytes(16), 0, 0, "m", 1, "", (), 1, b"", None, None, ()) for seq in seqs]
    return Tail(start, list(seqs), entries)


def feeds_of(source: Scripted, **limits: Any) -> Feeds:
    """Feeds of one partition."""
    limits = {"poll_seconds": 0.001, "heartbeat_seconds": PATIENCE} | limits
    return Feeds(source, 1, lambda _partition: max(source.seqs, default=0), Limits(**limits))


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.001)


async def ids(stream: AsyncIterator[bytes], count: int) -> list[str]:
    """Kind and id of the next messages."""
    found = [next(messages(iter((await anext(stream)).decode().split("\n")))) for _ in range(count)]
    return [f"{message['event']} {message['id']}" for message in found]


def test_a_client_too_slow_is_ended_with_its_last_id_and_resumes_there() -> None:
    async def scene() -> tuple[list[str], str | None, list[str]]:
        source = Scripted(1)
        feeds = feeds_of(source, queue=3)
        slow, quick = [await feeds.join("o", None) for _ in range(2)]
        stream, other = feeds.stream(slow), feeds.stream(quick)
        source.seqs += [2, 3]
        taken = await ids(stream, 2)
        quickly = await ids(other, 3)
        source.seqs += [4, 5]
        quickly += await ids(other, 2)
        source.seqs += [6, 7, 8]
        await until(lambda: slow.ended is not None)
        taken += await ids(stream, 1)
        quickly += await ids(other, 3)
        again = await feeds.join("o", int(taken[-1].split(":")[1]))
        assert quickly == ["open 0:1", *(f"change 0:{seq}" for seq in range(2, 9))]
        resumed = await ids(feeds.stream(again), 7)
        for client in (slow, quick, again):
            feeds.leave(client)
        return taken, slow.ended, resumed

    taken, reason, resumed = asyncio.run(scene())
    assert (taken, reason) == (["open 0:1", "change 0:2", "end 0:2"], SLOW)
    assert resumed == ["open 0:2", *(f"change 0:{seq}" for seq in range(3, 9))]


def test_a_client_that_takes_nothing_at_all_is_cut() -> None:
    async def scene() -> int:
        feeds = feeds_of(Scripted(1), send_seconds=0.02)
        client = await feeds.join("o", 0)

        async def never(*_message: object) -> Any:
            if _message and _message[0]["type"] == "http.response.start":  # type: ignore[index]
                return
            await asyncio.Event().wait()

        scope = {"type": "http", "asgi": {"spec_version": "2.3"}}
        async with asyncio.timeout(PATIENCE):
            await FeedResponse(feeds, client)(scope, never, never)
        return feeds.clients

    assert asyncio.run(scene()) == 0


def test_one_poller_reads_once_for_many_clients() -> None:
    async def scene() -> tuple[int, list[list[str]]]:
        source = Scripted(1)
        feeds = feeds_of(source)
        clients = [await feeds.join("o", None) for _ in range(20)]
        before = source.reads
        source.seqs += [2]
        told = [await ids(feeds.stream(client), 2) for client in clients]
        for client in clients:
            feeds.leave(client)
        return source.reads - before, told

    reads, told = asyncio.run(scene())
    assert (reads, told) == (1, [["open 0:1", "change 0:2"]] * 20)


def test_a_feed_stands_still_while_the_store_is_gone_and_goes_on_after() -> None:
    async def scene() -> list[str]:
        source = Scripted(1)
        feeds = feeds_of(source)
        client = await feeds.join("o", None)
        source.fails = 3
        source.seqs += [2]
        told = await ids(feeds.stream(client), 2)
        feeds.leave(client)
        return told

    assert asyncio.run(scene()) == ["open 0:1", "change 0:2"]


def test_a_log_that_was_rolled_back_ends_its_feeds() -> None:
    async def scene() -> str | None:
        source = Scripted(1, 2, 3)
        feeds = feeds_of(source)
        client = await feeds.join("o", None)
        source.seqs.pop()
        await until(lambda: client.ended is not None)
        feeds.leave(client)
        return client.ended

    assert asyncio.run(scene()) == ROLLED_BACK


def test_a_poller_that_fails_leaves_nobody_waiting() -> None:
    class Broken(Scripted):
        def tail(self, owner: str, since: int) -> Tail:
            if since > 0 and len(self.seqs) > 1:
                raise ZeroDivisionError
            return super().tail(owner, since)

    async def scene() -> str | None:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        source = Broken(1)
        feeds = feeds_of(source)
        client = await feeds.join("o", None)
        (poller,) = feeds._pollers.values()
        source.seqs += [2]
        await until(lambda: client.ended is not None)
        with pytest.raises(ZeroDivisionError):
            await poller
        feeds.leave(client)
        return client.ended

    assert asyncio.run(scene()) == "the feed failed"


def test_a_closed_hub_ends_its_clients_and_takes_no_new_ones() -> None:
    async def scene() -> str | None:
        feeds = feeds_of(Scripted(1))
        client = await feeds.join("o", None)
        feeds.close()
        with pytest.raises(StoreUnavailable):
            await feeds.join("o", None)
        feeds.leave(client)
        return client.ended

    assert asyncio.run(scene()) == STOPPING


def test_a_client_that_could_not_begin_is_forgotten() -> None:
    async def scene() -> int:
        feeds = feeds_of(Scripted(1))
        with pytest.raises(BeyondHead):
            await feeds.join("o", 2)
        return feeds.clients

    assert asyncio.run(scene()) == 0


@pytest.mark.parametrize(
    ("after", "expected"),
    [(0, [1, 2, 9, 7, 8, 10]), (2, [9, 7, 8, 10]), (9, [7, 8, 10]), (8, [10]), (5, [9, 7, 8, 10]), (10, []), (99, [])],
)
def test_what_follows_a_position_is_what_was_folded_after_it(after: int, expected: list[int]) -> None:
    past, last = _past_of(tail(1, 2, 9, 7, 8, 10), after)
    assert ([change.seq for change in past], last) == (expected, after)


def test_entries_of_one_event_are_one_change() -> None:
    entries = [*tail(4, 4).entries, *tail(6).entries]
    found = changes_of(Tail(10, [4, 5, 6], entries), 10)
    assert [(change.number, change.seq, len(change.entries)) for change in found] == [(10, 4, 2), (12, 6, 1)]


def test_a_client_is_not_told_again_what_its_past_held() -> None:
    async def scene() -> tuple[bool, Change | None]:
        client = Client("o", 0, 1)
        client.begin([], "0:3", 3)
        kept = client.offer(Change(2, 3, ()))
        return kept, await client.next(0.001)

    assert asyncio.run(scene()) == (True, None)


def test_requests_wait_for_the_server_to_be_ready_rather_than_being_refused(http: HttpStore, tmp_path: Path) -> None:
    running = serve(create_app(http.application), "127.0.0.1", 0)
    assert httpx2.get(f"{running.url}/health", timeout=PATIENCE).json() == {"status": "alive"}
    running.stop()


def test_small_answers_do_not_wait_for_nagle(server: Server, http: HttpStore) -> None:
    httpx2.get(f"{server.url}/health", timeout=PATIENCE)
    (listener,) = server._uvicorn.servers[0].sockets
    assert listener.proto == socket.IPPROTO_TCP, "asyncio sets TCP_NODELAY only where the protocol is named"
