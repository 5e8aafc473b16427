"""Opening a store: the embedded one or a Redis by its URL, its identity, and everything joined on it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import uuid4

from engramlog_server.api.checks import behalf_in_hand
from engramlog_server.events.alarms import KEYS_OLDER
from engramlog_server.events.errors import EmbeddedRedisError, StoreUnavailable
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.durability import Proof
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import (
    STORE_SETTING,
    await_loaded,
    connect,
    refuse_eviction,
    refuse_kind,
    refuse_replica,
)
from engramlog_server.events.redis.wire import StoreClient, Wire, WirePool, open_wire
from engramlog_server.events.text import AUTO
from engramlog_server.ops.clock import Tell, now_micros, silent
from engramlog_server.ops.embedded.disk import DiskGuard, look
from engramlog_server.ops.embedded.folder import Role, private_folder
from engramlog_server.ops.embedded.process import url_of
from engramlog_server.ops.embedded.server import EmbeddedRedis, find_redis_server, open_folder
from engramlog_server.ops.kept.receipts import ReceiptFile, ReceiptKeeper, receipts_path
from engramlog_server.ops.kept.rejections import KeepingLog, ValueFile, ValueKeeper, values_path
from engramlog_server.ops.keys.master import NAME, exists_at, key_file_of, key_in, keys_of, make_key_file, master_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.tracebacks import log_words
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.redis.create import (
    STORE_RESTORED,
    FromBackup,
    StoreIdentity,
    open_store,
    read_identity,
)
from engramlog_server.projections.redis.usage import FoldDebt
from engramlog_server.projections.redis.vectors import RedisVectors
from engramlog_server.projections.redis.view import RedisViews

LOADING_SECONDS = 600.0
"""How long a command waits while a Redis of its own operator loads its data set."""
MOST_LOCKED = 5
"""Entries that the key store does not open of which an alarm tells."""
SHARED_SECONDS = 20.0
"""How long a question to an MCP server waits at most while Redis loads: its client does not wait for ever."""


@dataclass(slots=True)
class OpenStore:
    """A store that can be used: connections, log, views and vectors on one identity."""

    url: str
    client: StoreClient
    identity: StoreIdentity
    log: KeepingLog
    views: RedisViews
    vectors: RedisVectors
    embedded: EmbeddedRedis | None
    alarms: RedisAlarms
    receipts: ReceiptKeeper
    values: ValueKeeper
    mended: str | None = None
    """What was done about a data folder that others could enter, in a sentence."""
    fenced: Mapping[int, int] = field(default_factory=dict)
    """By partition up to where must be folded what was erased again when the store was opened: it came back with an older copy."""
    key: Path | None = None
    """The file of the master key; None where the store lies open, or a key service has the key."""
    keys: str | None = None
    """Where the key store is, as the setting says it; None if the store lies open."""
    wires: WirePool = field(init=False)
    """Connections that are kept, for what is asked every few seconds."""

    def __post_init__(self) -> None:
        self.wires = WirePool(self.client)

    @property
    def told(self) -> dict[str, str]:
        """What a process of ours has to be told of it, by the names of settings: it may hold a password."""
        key = {} if self.key is None else {"ENGRAMLOG_SEALED_BY": str(self.key.absolute())}
        keys = {} if self.keys is None else {"ENGRAMLOG_KEYS": self.keys}
        return {"ENGRAMLOG_REDIS_URL": self.url, **key, **keys}

    def wire(self) -> Wire:
        """A connection of one's own."""
        return open_wire(self.client)

    def close(self) -> None:
        """Close every idle connection."""
        self.receipts.stop()
        self.values.close()
        self.log.close()
        self.views.close()
        self.vectors.close()
        self.alarms.close()
        self.wires.close()
        self.client.close()


def folder_of(embedded: EmbeddedRedis | None) -> Path | None:
    """The data folder of an embedded store."""
    return None if embedded is None else embedded.folder


class Reached(NamedTuple):
    """A Redis that answers, whatever it holds."""

    url: str
    embedded: EmbeddedRedis | None
    mended: str | None
    """As in `OpenStore`."""


@contextmanager
def reach_the_store(
    settings: Settings, role: Role = "command", *, on_wait: Callable[[str], None] | None = None
) -> Iterator[Reached]:
    """The Redis of these settings, started where it is the embedded one. Raises StoreError where it cannot be reached."""
    if settings.redis_url:
        _check(settings, settings.redis_url, role, on_wait)
        yield Reached(settings.redis_url, None, None)
        return
    folder, mended = private_folder(settings.data)
    embedded = open_folder(
        folder,
        role,
        binary=find_redis_server(settings.redis_server),
        maxmemory=settings.redis_maxmemory,
        on_wait=on_wait,
    )
    with embedded:
        try:
            yield Reached(url_of(embedded.socket_path), embedded, mended)
        except StoreUnavailable as error:
            if died := embedded.died():
                raise EmbeddedRedisError(died) from error  # and why: its last lines, and its disk where that is full
            raise


@contextmanager
def open_the_store(
    settings: Settings, role: Role = "command", *, on_wait: Callable[[str], None] | None = None, tell: Tell = silent
) -> Iterator[OpenStore]:
    """The store of these settings, created where there is none; alarms are told by `tell`. Raises StoreError where it cannot be
    opened."""
    with (
        reach_the_store(settings, role, on_wait=on_wait) as (url, embedded, mended),
        _joined(settings, url, embedded, tell) as store,
    ):
        if embedded is not None:
            embedded.record_store(store.identity.store_id, store.identity.partitions, list(store.identity.tags))
            store.mended = mended
            if embedded.recovery:
                store.alarms.raised("log_cut", "", embedded.recovery)
            if embedded.owned and role != "up":
                DiskGuard(embedded.folder, store.client, store.alarms, lambda: look(embedded.folder)).check()
        yield store


@contextmanager
def wire_to(url: str, timeout: float, **opens: Any) -> Iterator[Wire]:
    """One connection, closed at the end of the block; `opens`: what opens a sealed store."""
    client = connect(url, timeout=timeout, **opens)
    with closing(client), closing(open_wire(client)) as wire:
        yield wire


def _check(settings: Settings, url: str, role: Role, on_wait: Callable[[str], None] | None) -> None:
    """That a Redis of somebody's own can hold a store, and has loaded what it has."""
    with wire_to(url, settings.redis_timeout) as wire:
        await_loaded(wire, SHARED_SECONDS if role == "shared" else LOADING_SECONDS, on_wait)
        refuse_kind(wire, STORE_SETTING)
        refuse_eviction(wire, STORE_SETTING)
        if role == "up":
            refuse_replica(wire, STORE_SETTING)


def check_queue(url: str | None, timeout: float) -> None:
    """Refuse a queue of its own on a node of a Cluster, or a Sentinel (StoreMismatch): jobs and their schedule are keys that belong
    together.

    One that does not answer now passes: job workers wait for it, and look again.
    """
    if url:
        with wire_to(url, timeout) as wire, suppress(StoreUnavailable):
            refuse_kind(wire, "ENGRAMLOG_QUEUE_URL")


class _FencedAgain(NamedTuple):
    """What came back with an older copy of the store, and was erased before."""

    owners: int = 0
    words: Mapping[int, int] = MappingProxyType({})
    """By partition up to where must be folded that memories are erased."""
    erasures: Sequence[str] = ()
    """Of words, that are to be done again though the log tells their end."""

    def __str__(self) -> str:
        told = []
        if self.owners:
            told.append(f"{self.owners:,} owner{' was' if self.owners == 1 else 's were'} fenced again")
        if self.words:
            told.append("words of single memories were erased again")
        return ", and ".join(told)


def _fenced_again(
    settings: Settings, wire: Wire, identity: StoreIdentity, again: Callable[[], RedisEventLog]
) -> _FencedAgain:
    """Fence owners, and erase words, that were erased and came back with an older copy. Raises StoreUnavailable where the list
    cannot be read: nothing is answered then."""
    if identity.sealed is None:
        return _FencedAgain()
    from engramlog_server.ops.erasure.fence_list import FenceList  # noqa: PLC0415 - of a sealed store

    listed = FenceList.of(settings, identity.store_id)
    listed.share(wire.seals.keys)
    if not os.path.lexists(listed.path):
        return _FencedAgain()
    from engramlog_server.ops.erasure.fence_list import fence_again, wipe_again  # noqa: PLC0415 - where there is a list

    owners = len(fence_again(wire, identity.tags, listed.read()))
    if not (words := listed.read_words()):
        return _FencedAgain(owners)
    with closing(again()) as log:
        return _FencedAgain(owners, *wipe_again(wire, identity.tags, words, log.append))


def _report_locked(wire: Wire, identity: StoreIdentity, alarms: RedisAlarms) -> None:
    """An alarm for each of the first few entries that the key store does not open, because it seems to be an older copy than the
    log. It stands until that entry opens: newer ones do at once."""
    if identity.sealed is None:
        return
    from engramlog_server.ops.erasure.fence_list import without_keys  # noqa: PLC0415 - of a sealed store

    told = {one.subject for one in alarms.standing() if one.name == KEYS_OLDER}
    found = without_keys(wire, identity.tags, told)
    for position in found[:MOST_LOCKED]:
        alarms.raised(
            KEYS_OLDER,
            position,
            f"the key store {wire.seals.keys.place} does not open {len(found)} of the newest entries"
            f" ({', '.join(found[:MOST_LOCKED])}): it is an older copy, or lost something. Later entries cannot be opened,"
            " and later rejections have no effect. Put the newer one back",
        )
    for position in told.difference(found):
        alarms.cleared(KEYS_OLDER, position)


def report_restored(restored: FromBackup | None, alarms: RedisAlarms) -> None:
    """An alarm while a store that was restored is nobody's yet."""
    if restored is not None and restored.stands:
        alarms.raised(STORE_RESTORED, "", restored.text)


@contextmanager
def _joined(settings: Settings, url: str, embedded: EmbeddedRedis | None, tell: Tell) -> Iterator[OpenStore]:
    client = connect(url, timeout=settings.redis_timeout)
    wire = open_wire(client)
    data = folder_of(embedded)
    mine = None if data is None or settings.sealed_by is not None else data / NAME
    if mine is not None and not exists_at(mine) and read_identity(wire) is None and make_key_file(mine):
        tell("master key made", file=str(mine), advice="keep a copy of it apart from the store")
    wire.seals.master, wire.seals.open_keys = master_of(settings, data), keys_of(settings)
    identity = open_store(
        wire, store_id=str(uuid4()), partitions=settings.partitions, embedder=lambda: settings.embedder or AUTO
    )
    again = partial(RedisEventLog, client, identity.tags, own_clock=now_micros, marker=MARKER, says_again=True)
    returned = _fenced_again(settings, wire, identity, again)
    alarms = RedisAlarms(WirePool(client), f"{socket.gethostname()}-{os.getpid()}", tell)
    _report_locked(wire, identity, alarms)
    wire.close()
    log_words(identity.sealed is None)
    log = KeepingLog(
        client,
        identity.tags,
        proof=Proof(settings.min_replicas, settings.wait_fsync),
        own_clock=now_micros,
        alarms=alarms,
        read_debt=FoldDebt(identity.tags),
        marker=MARKER,
        principal=settings.principal,
        highest=settings.highest_trust,
        on_behalf=behalf_in_hand,
    )
    vectors = RedisVectors(WirePool(client), identity.tags)
    receipts = ReceiptKeeper(log, ReceiptFile(receipts_path(settings, identity.store_id), identity.store_id), alarms)
    kept = ValueFile(values_path(settings, identity.store_id), identity.store_id, identity.partitions)
    values = log.keeper = ValueKeeper(log, again, kept, alarms)
    most = settings.view_bytes
    views = RedisViews(client, identity.tags, most_bytes=most, most_of_one=most)
    if (
        identity.restored is None or not identity.restored.stands
    ):  # a copy lacks what the original said, and says so itself
        views.on_head = log.see_head
    store = OpenStore(url, client, identity, log, views, vectors, embedded, alarms, receipts, values)
    store.key = key_in(data, settings)
    if identity.sealed is not None:
        file = key_file_of(settings, identity.store_id)
        store.keys = settings.keys if file is None else str(file.absolute())
    report_restored(identity.restored, alarms)
    if told := str(returned):
        store.fenced = returned.words
        alarms.raised("erased_came_back", "", told)
    for erasure in returned.erasures:
        alarms.raised(
            "erasure_left", erasure, "a node of the cluster came back as it was before: `engramlog erase --again`"
        )
    receipts.start()
    try:
        yield store
    finally:
        store.close()
