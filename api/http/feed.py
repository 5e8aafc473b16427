"""The change feed: an owner's committed change-log entries as server-sent events, from any position on; and waiting for events.

One message tells all that one event changed; its id is the event's position, so resuming with it is exact. One poller a
partition and process reads what is new and fans it out. Order is the order of folding, which is not always that of positions:
events parked by a quarantine fold when it ends. A client too slow for what comes is ended with its last id and may come again.

No request takes a thread while it waits for the log to grow. One thread a process waits for all partitions at once, as long as
anybody does. New events are read once a partition, and only the requests about their owner look again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import orjson
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi.sse import format_sse_event

from engramlog_server.api.choices import PAUSE
from engramlog_server.api.work import Patience
from engramlog_server.events.errors import BeyondHead, LogGap, StoreError, StoreUnavailable, TooManyRequests
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of, position_text

if TYPE_CHECKING:
    from engramlog_server.projections.fold.changelog import Entry
    from engramlog_server.projections.redis.history import Mark
    from engramlog_server.projections.redis.view import RedisViews, Tail
    from engramlog_server.projections.views.event_words import Telling


SLOW = "too slow"


class FeedChange(NamedTuple):
    """What one event changed."""

    number: int
    """How many events of the owner were folded before it."""
    seq: int
    entries: tuple[Entry, ...]
    told: Telling
    """What the log holds of the event beside."""


class Client:
    """One reader of an owner's feed; lives on the event loop."""

    def __init__(self, owner: str, partition: int, bound: int) -> None:
        self.owner = owner
        self.partition = partition
        self.backlog: deque[FeedChange] = deque()
        """What it asked for of the past, a page at a time."""
        self.mark: Mark | None = None
        """Where the rest of the past is read from; None where there is none."""
        self.last = ""
        """Position of the last change it was sent."""
        self.ended: str | None = None
        self._since = 0
        self._queue: deque[FeedChange] = deque()
        self._bound = bound
        self._wake = asyncio.Event()

    def begin(self, past: Sequence[FeedChange], last: str, since: int, mark: Mark | None = None) -> None:
        """`past` first, and what lies between a mark and `since`; then what is offered from the event number `since` on."""
        self.last, self._since = last, since
        self.go_on(past, mark)

    def go_on(self, past: Sequence[FeedChange], mark: Mark | None) -> None:
        """With a page of the past, and where the next one begins."""
        if self.ended is None:
            self.backlog.extend(one for one in past if one.number < self._since)
            self.mark = None if mark is None or mark.number >= self._since else mark

    def offer(self, change: FeedChange) -> bool:
        """Queue a change; False where that ended the client, which has taken too little."""
        if self.ended or change.number < self._since:
            return True
        if len(self._queue) >= self._bound:
            self.end(SLOW)
            return False
        self._queue.append(change)
        self._wake.set()
        return True

    def end(self, reason: str) -> None:
        """No more changes: what waits is dropped, so that the last id is that of what was sent."""
        if self.ended is None:
            self.ended = reason
            self._queue.clear()
            self.backlog.clear()
            self.mark = None
            self._wake.set()

    async def next(self, patience: float) -> FeedChange | None:
        """The next change; None after `patience` seconds without any, and at the end."""
        if self.backlog:
            return self.backlog.popleft()
        if not self._queue and self.ended is None:
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), patience)
            except TimeoutError:
                return None
        return self._queue.popleft() if self._queue else None


Told = Mapping[int, "Telling"]
"""Seq -> what the log holds of the event beside its entries."""


def changes_of(tail: Tail, since: int, told: Told) -> list[FeedChange]:
    """The changes of the events from number `since` on, in the order of folding; events that changed nothing are left out."""
    from engramlog_server.projections.views.event_words import UNTOLD

    number = {seq: index for index, seq in enumerate(tail.seqs, tail.start)}
    grouped = ((seq, tuple(entries)) for seq, entries in groupby(tail.entries, key=lambda entry: entry.seq))
    return [
        FeedChange(number[seq], seq, entries, told.get(seq, UNTOLD)) for seq, entries in grouped if number[seq] >= since
    ]


def past_of(tail: Tail, after: int | None, told: Told) -> tuple[list[FeedChange], int]:
    """What a client gets of the past, and the seq that it has already seen."""
    if after is None:
        return [], tail.seqs[-1] if tail.seqs else 0
    if after in tail.seqs:
        since = tail.start + tail.seqs.index(after) + 1
    else:  # no event of this owner, but a position that some answer told: everything that may have come later
        since = next((i for i, seq in enumerate(tail.seqs, tail.start) if seq > after), tail.start + len(tail.seqs))
    return changes_of(tail, since, told), after


STOPPING = "server stops"
ROLLED_BACK = "the log was rolled back"
FAILED = "the feed failed"
Count = Callable[[str], None]


class Limits(NamedTuple):
    """How patient the feeds are."""

    queue: int = 1_000
    """Changes that wait for one client."""
    poll_seconds: float = 0.1
    heartbeat_seconds: float = 15.0
    send_seconds: float = 30.0
    """How long a client may take nothing at all before its connection is cut."""
    most: int = 500
    """Feeds that are open at once: half of the connections."""
    most_of_owner: int = 50
    """Of one owner."""
    page: int = 500
    """Events of the past that are read at a time, as the client takes them."""
    look_back_seconds: float = 10.0
    """How long the place where a feed begins may be looked for in the past."""


class _Followed:
    """An owner that clients follow, and how far its changes were fanned out."""

    def __init__(self) -> None:
        self.clients: set[Client] = set()
        self.since: int | None = None
        """None until the first client knows where it begins."""
        self.starting = asyncio.Lock()


class Feeds:
    """All feeds of one process. Everything but reading the store happens on one event loop."""

    def __init__(
        self,
        source: RedisViews,
        partitions: int,
        head: Callable[[int], int],
        limits: Limits = Limits(),  # noqa: B008 - immutable
        on_closed: Count = lambda _reason: None,
    ) -> None:
        self._source = source
        self._partitions = partitions
        self._head = head
        self.limits = limits
        self._on_closed = on_closed
        self._followed: dict[int, dict[str, _Followed]] = {}
        self._pollers: dict[int, asyncio.Task[None]] = {}
        self._limiter: anyio.CapacityLimiter | None = None
        self._closing = False
        self.clients = 0
        """How many feeds are being read."""

    async def join(self, owner: str, after: int | None) -> Client:
        """A client that gets what was folded after the owner's event at seq `after`, or from now on.

        Raises BeyondHead for a seq that does not exist, TooManyRequests where as many are open as may be, DeadlineExceeded
        where its place in a long past is not found in time, StoreError where the store does not answer.
        """
        if self._closing:
            raise StoreUnavailable("the server is stopping; come again", retry_after=1)
        partition = partition_of(owner, self._partitions)
        self._check_room(owner, partition)
        client = Client(owner, partition, self.limits.queue)
        followed = self._followed.setdefault(partition, {}).setdefault(owner, _Followed())
        followed.clients.add(client)
        self.clients += 1
        try:
            async with followed.starting:  # first listening, then looking back: nothing falls between
                past, last, seen, mark = await self._call(self._past, owner, partition, after)
                client.begin(past, position_text(partition, last), seen, mark)
                followed.since = seen if followed.since is None else followed.since
        except BaseException:
            self.leave(client)
            raise
        if partition not in self._pollers:
            self._pollers[partition] = asyncio.create_task(self._poll(partition), name=f"feed {partition}")
        return client

    def _check_room(self, owner: str, partition: int) -> None:
        followed = self._followed.get(partition, {}).get(owner)
        of_owner = len(followed.clients) if followed else 0
        for found, most, whose in (
            (self.clients, self.limits.most, ""),
            (of_owner, self.limits.most_of_owner, f" of {owner}"),
        ):
            if found >= most:
                raise TooManyRequests(
                    f"{found} feeds{whose} are open; at most {most} are allowed: end one, or come again",
                    retry_after=5,
                    limit=most,
                    owner=owner,
                )

    def leave(self, client: Client) -> None:
        """Forget a client; the last of a partition stops its poller."""
        owners = self._followed.get(client.partition, {})
        followed = owners.get(client.owner)
        if followed is not None and client in followed.clients:
            followed.clients.remove(client)
            self.clients -= 1
            if not followed.clients:
                del owners[client.owner]
        if not owners:
            self._followed.pop(client.partition, None)
            poller = self._pollers.pop(client.partition, None)
            if poller is not None:
                poller.cancel()

    def close(self) -> None:
        """End every feed, each with its last id. For the event loop; new clients are refused."""
        self._closing = True
        for partition in list(self._followed):
            for client in self._all(partition):
                self._end(client, STOPPING)

    def _all(self, partition: int) -> list[Client]:
        return [client for one in self._followed.get(partition, {}).values() for client in one.clients]

    def _end(self, client: Client, reason: str) -> None:
        if client.ended is None:
            client.end(reason)
            self._on_closed(reason)

    def _past(self, owner: str, partition: int, after: int | None) -> tuple[list[FeedChange], int, int, Mark | None]:
        """Changes to begin with, the seq that was seen, where the present begins, and where the rest of the past is read from."""
        tail = self._newest(owner, partition, after)
        seen = tail.start + len(tail.seqs)
        if after is None or after in tail.seqs:
            return *past_of(tail, after, self._told(owner, tail, after)), seen, None
        patience = Patience()
        patience.begin(self.limits.look_back_seconds)
        return [], after, seen, self._source.past(owner, after, patience.check)

    def _newest(self, owner: str, partition: int, after: int | None) -> Tail:
        """The newest pack tells where the present is, and most clients come again soon."""
        if after is not None and after > (head := self._head(partition)):
            raise BeyondHead(
                f"position {position_text(partition, after)} does not exist: the head is {position_text(partition, head)}",
                owner=owner,
                head=head,
            )
        (applied,) = self._source.applied(partition, [owner])
        since = max(applied - 1, 0)
        tail = self._source.tail(owner, since)
        if tail.start > since:
            raise StoreUnavailable(f"the change log of {owner} changes too fast to be read; come again", retry_after=1)
        return tail

    async def _read_on(self, client: Client) -> None:
        """Read the next page of the past that a client asked for, as it has taken the one before."""
        while client.mark is not None and not client.backlog:
            mark = client.mark
            try:
                tail, told, following = await self._call(self._page, client.owner, mark)
            except StoreError:
                self._end(client, FAILED)
                return
            if following.number <= mark.number:  # a rebuild took it away: the client comes again with its last id
                self._end(client, FAILED)
                return
            client.go_on(changes_of(tail, mark.number, told), following)

    def _page(self, owner: str, mark: Mark) -> tuple[Tail, Told, Mark]:
        """A page of the past with what the log holds beside, and where to go on."""
        tail, following = self._source.page(owner, mark, self.limits.page)
        return tail, self._told(owner, tail), following

    def _told(self, owner: str, tail: Tail, after: int | None = 0) -> Told:
        """What the log holds of a tail's events, read once for all clients and without their words; nothing after None.

        Of what it holds no more nothing is told beside: the feed goes on.
        """
        from engramlog_server.projections.views.event_words import telling

        seqs = [] if after is None else sorted({entry.seq for entry in tail.entries})
        found: dict[int, Telling] = {}
        for start in range(0, len(seqs), self.limits.page):
            with suppress(LogGap):
                stored = self._source.stored(owner, seqs[start : start + self.limits.page])
                found |= {one.seq: telling(one)._replace(words=None) for one in stored}
        return found

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """In a thread of our own few, so that feeds and slow questions do not wait for each other."""
        self._limiter = self._limiter or anyio.CapacityLimiter(4)
        return await run_sync(function, *arguments, limiter=self._limiter)

    async def _poll(self, partition: int) -> None:
        """Fan out what is new for the owners of one partition, until nobody follows any."""
        try:
            while owners := self._followed.get(partition):
                await asyncio.sleep(self.limits.poll_seconds)
                waiting = {name: one.since for name, one in owners.items() if one.since is not None}
                try:
                    found = await self._call(self._look, partition, waiting)
                except StoreError:
                    continue  # the feeds stand still until the store answers again
                for name, (applied, tail, told) in found.items():
                    if name in owners:
                        self._fan_out(owners[name], applied, tail, told)
        finally:  # cancelled when nobody is left; a failure must not leave anybody waiting for ever
            for client in self._all(partition):
                self._end(client, FAILED)

    def _look(self, partition: int, waiting: dict[str, int]) -> dict[str, tuple[int, Tail, Told]]:
        from engramlog_server.projections.redis.view import Tail

        found: dict[str, tuple[int, Tail, Told]] = {}
        counts = self._source.applied(partition, list(waiting))
        for (owner, since), applied in zip(waiting.items(), counts, strict=True):
            if applied != since:
                tail = self._source.tail(owner, since) if applied > since else Tail(applied, [], [])
                found[owner] = applied, tail, self._told(owner, tail)
        return found

    def _fan_out(self, followed: _Followed, applied: int, tail: Tail, told: Told) -> None:
        since = followed.since or 0
        if applied < since:
            for client in list(followed.clients):
                self._end(client, ROLLED_BACK)
            return
        if tail.start > since:
            return  # read while it changed: the next round reads it again
        for change in changes_of(tail, since, told):
            for client in followed.clients:
                if not client.offer(change):
                    self._on_closed(SLOW)
        followed.since = tail.start + len(tail.seqs)

    async def stream(self, client: Client) -> AsyncIterator[bytes]:
        """The client's messages as server-sent events, to the end."""
        from engramlog_server.projections.fold.changelog import describe

        told: dict[str, object] = {"owner": client.owner, "position": client.last}
        yield format_sse_event(event="open", id=client.last, data_str=_json(told), retry=1_000)
        while client.ended is None:
            await self._read_on(client)
            change = await client.next(self.limits.heartbeat_seconds)
            if change is not None:
                position = position_text(client.partition, change.seq)
                told = {
                    "owner": client.owner,
                    "position": position,
                    "changes": [change.told.beside(describe(one, client.partition)) for one in change.entries],
                }
                yield format_sse_event(event="change", id=position, data_str=_json(told))
                client.last = position
            elif client.ended is None:
                yield format_sse_event(comment="still here")
        yield self.ended(client, client.ended)

    def ended(self, client: Client, reason: str) -> bytes:
        """The last message, with why there is no other."""
        told = {"owner": client.owner, "position": client.last, "reason": reason}
        return format_sse_event(event="end", id=client.last, data_str=_json(told))


def _json(told: Mapping[str, object]) -> str:
    return orjson.dumps(told).decode()


MOST = 500
"""Who may wait at once: half of the connections."""
MOST_OF_OWNER = 50
BLOCK_SECONDS = 0.25
"""How long the thread waits before it hears of those who came meanwhile."""


class _Waiting(NamedTuple):
    partition: int
    owner: str | None
    """None: anybody's event will do."""
    head: int
    """Up to which whoever waits has looked."""
    came: asyncio.Future[None]


class Waits:
    """All who wait in one process. For one event loop."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._waiting: list[_Waiting] = []
        self._heads: dict[int, int] = {}
        self._watch: asyncio.Task[None] | None = None
        self._limiter: CapacityLimiter | None = None
        self._closing = False

    async def wait(self, partition: int, owner: str | None, head: int, seconds: float) -> None:
        """Until an event with a seq beyond `head` is appended, the owner's or anybody's, or so many seconds are over.

        Raises TooManyRequests where as many wait as may, StoreUnavailable where the server stops.
        """
        with self._place(partition, owner, head) as one:
            self._heads[partition] = min(head, self._heads.get(partition, head))
            if self._watch is None or self._watch.done():
                self._watch = asyncio.create_task(self._watching(), name="waits")
            with suppress(TimeoutError):
                await asyncio.wait_for(one.came, seconds)

    @contextmanager
    def _place(self, partition: int, owner: str | None, head: int) -> Iterator[_Waiting]:
        if self._closing:
            raise StoreUnavailable("the server is stopping; come again", retry_after=1)
        mine = sum(1 for one in self._waiting if one.owner == owner)
        named = "any event of a partition" if owner is None else owner
        for found, most, whose in ((len(self._waiting), MOST, ""), (mine, MOST_OF_OWNER, f" for {named}")):
            if found >= most:
                raise TooManyRequests(
                    f"{found} requests wait{whose}; at most {most} may: ask without a wait, or come again",
                    retry_after=5,
                    limit=most,
                )
        one = _Waiting(partition, owner, head, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        try:
            yield one
        finally:
            self._waiting.remove(one)
            if all(other.partition != partition for other in self._waiting):
                self._heads.pop(partition, None)

    async def _watching(self) -> None:
        """Look for as long as anybody waits."""
        self._limiter = self._limiter or CapacityLimiter(1)
        while self._waiting:
            heads = dict(self._heads)
            try:
                grown: dict[int, list[Any]] = await run_sync(self._look, heads, limiter=self._limiter)
            except StoreError:
                await asyncio.sleep(PAUSE)  # who waits looks again when his time is over
                continue
            for partition, entries in grown.items():
                self._tell(partition, entries, heads[partition])
            if grown:
                await asyncio.sleep(PAUSE)

    def _look(self, heads: dict[int, int]) -> dict[int, list[Any]]:
        return {one: self._log.read(one, heads[one]) for one in self._log.wait_beyond(heads, BLOCK_SECONDS)}

    def _tell(self, partition: int, entries: list[Any], beyond_head: int) -> None:
        """Tell who waits what came behind a head. Where one came meanwhile who has looked less far, the next look begins there."""
        from engramlog_server.api.services.events import beyond

        for one in self._waiting:
            if one.partition == partition and not one.came.done():
                news = [entry for entry in entries if entry.seq > one.head]
                if beyond(news, one.owner, one.head) is None:
                    one.came.set_result(None)
        if entries and self._heads.get(partition, -1) >= beyond_head:
            self._heads[partition] = entries[-1].seq

    def close(self) -> None:
        """End every wait; new ones are refused. For the event loop."""
        self._closing = True
        for one in self._waiting:
            if not one.came.done():
                one.came.set_exception(StoreUnavailable("the server is stopping; come again", retry_after=1))
