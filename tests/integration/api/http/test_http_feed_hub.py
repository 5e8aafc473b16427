"""What fans changes out, over a source that a test makes up: slow clients, outages, order, and one reading for many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from engramlog_server.api.http.feed import (
    FAILED,
    ROLLED_BACK,
    SLOW,
    STOPPING,
    Client,
    FeedChange,
    Feeds,
    Limits,
    changes_of,
    past_of,
)
from engramlog_server.api.http.routes.events import FeedResponse
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import BeyondHead, DeadlineExceeded, LogGap, StoreUnavailable
from engramlog_server.projections.checks import Check
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.redis.history import Mark
from engramlog_server.projections.redis.view import Tail
from engramlog_server.projections.views.event_words import UNTOLD
from tests.given.http import messages
from tests.patience import PATIENCE
from tests.rows import each_row


class Scripted:
    """A source that tells what a test made up: an owner's seqs in the order of folding."""

    def __init__(self, *seqs: int) -> None:
        self.seqs = list(seqs)
        self.looks = self.reads = self.pages = 0
        self.fails = 0
        self.gaps: set[int] = set()

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

    def past(self, _owner: str, after: int, check: Check) -> Mark:
        """The number after a seq, as the change log finds it."""
        check(0, len(self.seqs))
        if after in self.seqs:
            return Mark("b", 0, 0, self.seqs.index(after) + 1)
        higher = (number for number, seq in enumerate(self.seqs) if seq > after)
        return Mark("b", 0, 0, next(higher, len(self.seqs)))

    def page(self, _owner: str, mark: Mark, most: int) -> tuple[Tail, Mark]:
        """As many as are asked for, and no more."""
        self.pages += 1
        end = min(mark.number + most, len(self.seqs))
        return tail(*self.seqs[mark.number : end], start=mark.number), mark._replace(number=end)

    def stored(self, _owner: str, seqs: Sequence[int]) -> list[Stored]:
        """Each recorded nine months after it occurred, by one principal; `gaps` are in the log no more."""
        if not self.gaps.isdisjoint(seqs):
            raise LogGap("not in the log any more")
        beside = (b"1788000000000000", b"job:sweep", b"0:0", b"", bytes(32))
        body = b'{"type":"MemoryDeleted","actor":"system","occurred_at":"2025-11-22T08:00:00Z","data":{"reason":"because"}}'
        return [Stored(seq, "MemoryDeleted.1", bytes(16), "o", body, beside) for seq in seqs]


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

    assert asyncio.run(scene()) == FAILED


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


@each_row(
    ("after", "expected"),
    [(0, [1, 2, 9, 7, 8, 10]), (2, [9, 7, 8, 10]), (9, [7, 8, 10]), (8, [10]), (5, [9, 7, 8, 10]), (10, []), (99, [])],
)
def test_what_follows_a_position_is_what_was_folded_after_it(after: int, expected: list[int]) -> None:
    past, last = past_of(tail(1, 2, 9, 7, 8, 10), after, {})
    assert ([change.seq for change in past], last) == (expected, after)


def test_entries_of_one_event_are_one_change() -> None:
    entries = [*tail(4, 4).entries, *tail(6).entries]
    found = changes_of(Tail(10, [4, 5, 6], entries), 10, {})
    assert [(change.number, change.seq, len(change.entries)) for change in found] == [(10, 4, 2), (12, 6, 1)]


def test_a_client_is_not_told_again_what_its_past_held() -> None:
    async def scene() -> tuple[bool, FeedChange | None]:
        client = Client("o", 0, 1)
        client.begin([], "0:3", 3)
        kept = client.offer(FeedChange(2, 3, (), UNTOLD))
        return kept, await client.next(0.001)

    assert asyncio.run(scene()) == (True, None)


def test_a_long_past_is_read_page_by_page_as_the_client_takes_it() -> None:
    async def scene() -> tuple[list[str], list[int], list[str]]:
        source = Scripted(*range(1, 21))
        feeds = feeds_of(source, page=5)
        client = await feeds.join("o", 0)
        stream = feeds.stream(client)
        pages, taken = [source.pages], await ids(stream, 1)
        for _ in range(4):
            taken += await ids(stream, 5)
            pages.append(source.pages)
        source.seqs += [21]
        live = await ids(stream, 1)
        feeds.leave(client)
        return taken, pages, live

    taken, pages, live = asyncio.run(scene())
    assert taken == ["open 0:0", *(f"change 0:{seq}" for seq in range(1, 21))]
    assert pages == [0, 1, 2, 3, 4]
    assert live == ["change 0:21"]


def test_what_comes_while_the_past_is_read_follows_it_and_nothing_is_told_twice() -> None:
    async def scene() -> list[str]:
        source = Scripted(*range(1, 12))
        feeds = feeds_of(source, page=3)
        client = await feeds.join("o", 4)
        stream = feeds.stream(client)
        taken = await ids(stream, 3)
        source.seqs += [12, 13]
        await until(lambda: len(client._queue) == 2)
        taken += await ids(stream, 7)
        feeds.leave(client)
        return taken

    assert asyncio.run(scene()) == ["open 0:4", *(f"change 0:{seq}" for seq in range(5, 14))]


def test_a_place_that_is_not_found_in_time_is_refused_and_leaves_no_client_behind() -> None:
    async def scene() -> int:
        feeds = feeds_of(Scripted(1, 2, 3), look_back_seconds=-1.0)
        with pytest.raises(DeadlineExceeded):
            await feeds.join("o", 1)
        return feeds.clients

    assert asyncio.run(scene()) == 0


def test_a_past_that_a_rebuild_took_away_ends_the_feed_with_its_last_id() -> None:
    class Dropped(Scripted):
        def page(self, _owner: str, mark: Mark, _most: int) -> tuple[Tail, Mark]:
            return tail(start=mark.number), mark

    async def scene() -> tuple[list[str], str | None]:
        feeds = feeds_of(Dropped(1, 2, 3))
        client = await feeds.join("o", 1)
        taken = await ids(feeds.stream(client), 2)
        feeds.leave(client)
        return taken, client.ended

    assert asyncio.run(scene()) == (["open 0:1", "end 0:1"], FAILED)


def beside_of(source: Scripted, after: int | None, *new: int) -> list[dict[str, Any]]:
    """What a client is told beside the entries of its first changes, and all that was sent."""

    async def scene() -> list[dict[str, Any]]:
        feeds = feeds_of(source)
        client = await feeds.join("o", after)
        stream = feeds.stream(client)
        await anext(stream)
        source.seqs += new
        sent = [next(messages(iter((await anext(stream)).decode().split("\n")))) for _ in new or source.seqs]
        feeds.leave(client)
        return [one["data"]["changes"][0] for one in sent]

    return asyncio.run(scene())


@each_row(("source", "after", "new"), [(Scripted(1), None, (2, 3)), (Scripted(1, 2), 0, ())])
def test_a_change_tells_when_it_was_recorded_by_whom_and_how_late_and_no_words(
    source: Scripted, after: int | None, new: tuple[int, ...]
) -> None:
    for told in beside_of(source, after, *new):
        assert (told["recorded_at"], told["principal"]) == ("2026-08-29T10:40:00Z", "job:sweep")
        assert (told["actor"], told["late_by"]) == ("system", 24_201_600.0)
        assert "because" not in str(told)


def test_a_feed_goes_on_where_the_log_holds_an_event_no_more() -> None:
    source = Scripted(1)
    source.gaps = {2}
    assert [one["recorded_at"] for one in beside_of(source, None, 2)] == [None]
