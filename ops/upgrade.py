"""`engramlog upgrade`: what it would do, what it refuses, and doing it. The steps are in `consumers.upgrade.steps`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes
from typing import Any

import redis

from consumers.fold.folder import Probe, unprobed
from consumers.fold.presence import LEASE_MS
from consumers.fold.rebuild import LEASE_MS as REBUILD_LEASE_MS
from consumers.fold.rebuild import rebuild_partition, refuse_without_room
from consumers.fold.rebuild_run import RebuildRun
from consumers.upgrade.alone import Company, await_alone, company
from consumers.upgrade.steps import (
    BETWEEN,
    OLD_PARAMETER_SETS,
    bring_over,
    count_vectors,
    drop_vectors,
    finish,
    mark,
    reserved_owners,
    standing,
)
from events.envelope import from_micros, utc_text
from events.errors import EmbeddedRedisError, StoreError, StoreMismatch
from events.partitions import FORMAT
from events.redis.gap import refuse_gap
from events.redis.wire import Wire, connect
from ops.embedded.folder import read_server_file
from ops.embedded.server import EmbeddedRedis
from ops.embedded.store import holds_store
from ops.kept.head_file import HeadFile, heads_path
from ops.kept.heads import refuse_changed_log
from ops.settings import Settings
from ops.store import reach_the_store
from ops.worker_id import new_worker_id
from projections.redis.create import StoreIdentity, check_format, read_identity

EVENTS_A_SECOND = 2_000
"""A cautious figure for telling how long it takes; docs/benchmarks.md has what was measured."""
ALONE_SECONDS = 2 * LEASE_MS / 1_000
"""How long others are given to leave: who was killed counts as living for a lease time."""
MOST_RESERVED_NAMED = 20
"""Owners with a name of the store's own that are told by name."""
CURE = "restore a copy, or, where the change is known and meant, put that file away; nothing was changed"
Progress = Callable[[int, int], None]
"""Hears of how many entries read, of how many: each is read twice."""


class InUse(StoreError):
    """Others use the store, or it is not known whether they do; nothing was changed."""

    status = 409


class NoStore(StoreMismatch):
    """There is no store where the settings say."""


@dataclass(slots=True)
class OldStore:
    """A store of whatever format, reached but not opened for use."""

    client: redis.Redis
    identity: StoreIdentity
    embedded: EmbeddedRedis | None
    settings: Settings

    def wire(self) -> Wire:
        """A connection of one's own."""
        return Wire(self.client)


@contextmanager
def old_store(settings: Settings, *, on_wait: Callable[[str], None] | None = None) -> Iterator[OldStore]:
    """The store of these settings; none is made. Raises NoStore, InUse, or another StoreError."""
    if not settings.redis_url:
        _refuse_empty_folder(settings)
    with reach_the_store(settings, on_wait=on_wait) as (url, embedded, _):
        if embedded is not None and not embedded.owned:
            raise InUse(f"{_who(embedded.folder)} runs on {embedded.folder}: stop it first; nothing was changed")
        client = connect(url, timeout=settings.redis_timeout)
        wire = Wire(client)
        try:
            identity = read_identity(wire)
        finally:
            wire.close()
        try:
            if identity is None:
                raise NoStore(
                    "that Redis holds no store (ENGRAMLOG_REDIS_URL): there is nothing to bring over, and none was made"
                )
            yield OldStore(client, identity, embedded, settings)
        finally:
            client.close()


def _who(folder: Path) -> str:
    """What serves the folder now, by the hint that it left there."""
    running = read_server_file(folder)
    if running is None:
        return "another process"
    return f"`engramlog {'mcp' if running.role == 'shared' else running.role}` (pid {running.started_by})"


def _refuse_empty_folder(settings: Settings) -> None:
    """Raises NoStore where the data folder holds neither a store's name nor anything of Redis."""
    folder = settings.data.expanduser()
    try:
        there = holds_store(folder)
    except OSError as error:
        raise EmbeddedRedisError(
            f"the data folder {folder} cannot be read: {error.strerror}", folder=str(folder)
        ) from error
    if not there:
        raise NoStore(f"{folder} holds no store (ENGRAMLOG_DATA): there is nothing to bring over, and none was made")


def told_beforehand(store: OldStore) -> dict[str, Any]:
    """What an upgrade would do, JSON-ready. Reads only. Raises OtherFormat at a store of a newer release."""
    identity = store.identity
    refuse_newer(identity)
    wire = store.wire()
    try:
        partitions = standing(wire, identity.tags)
        reserved = [name for tag in identity.tags for name in reserved_owners(wire, tag)]
        others = company(wire, LEASE_MS) if store.embedded is None else Company(())
        vectors = 0 if identity.format == str(FORMAT) else count_vectors(wire, identity.tags)
    finally:
        wire.close()
    events = sum(one.head for one in partitions)
    return {
        "store_id": identity.store_id,
        "found": identity.format,
        "writes": str(FORMAT),
        "partitions": identity.partitions,
        "events": events,
        "vectors": vectors,
        "about_seconds": 1 + events // EVENTS_A_SECOND,
        "reserved_owners": len(reserved),
        "reserved_owners_named": sorted(reserved)[:MOST_RESERVED_NAMED],
        "others": [one._asdict() for one in others.others],
        "others_hidden": others.hidden,
        "done": identity.format == str(FORMAT),
        "boundaries": _boundaries(store),
    }


def refuse_newer(identity: StoreIdentity) -> None:
    """Raises OtherFormat at a store of a newer release, and StoreMismatch at one of parameters that no release had."""
    if identity.format not in ("1", BETWEEN):
        check_format(identity)
    elif identity.parameter_set not in OLD_PARAMETER_SETS:
        raise StoreMismatch(
            f"the store was made with parameter set {identity.parameter_set[:40]}; this release brings over stores of"
            f" {' and '.join(OLD_PARAMETER_SETS)}: use the release that wrote it"
        )


def refuse_others(
    store: OldStore, *, alone: bool, seconds: float = ALONE_SECONDS, on_wait: Callable[[str], None]
) -> None:
    """Raises InUse where somebody else could append. `alone`: somebody answers for it that no connection is Engramlog's."""
    wire = store.wire()
    try:
        found = await_alone(wire, LEASE_MS, seconds, only_workers=alone, on_wait=on_wait)
    finally:
        wire.close()
    in_the_way = found.workers if alone else found.appending
    if in_the_way:
        more = f", and {len(in_the_way) - 5} more" if len(in_the_way) > 5 else ""
        cure = "" if found.workers else "; where you know that none of them is Engramlog, --alone says so"
        raise InUse(
            f"others use this store: {'; '.join(one.text for one in in_the_way[:5])}{more}. Stop every `engramlog`, worker and"
            f" producer first{cure}. Nothing was changed",
            others=[one._asdict() for one in in_the_way],
        )
    if found.hidden is not None and not alone:
        raise InUse(
            f"Redis does not tell who is connected ({found.hidden}): stop every `engramlog`, worker and producer, and say so"
            " with --alone, or allow CLIENT LIST. Nothing was changed"
        )


def carry_out(
    store: OldStore,
    *,
    alone: bool = False,
    seconds: float = ALONE_SECONDS,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
    on_wait: Callable[[str], None] = lambda _told: None,
    lease_ms: int = REBUILD_LEASE_MS,
) -> dict[str, Any]:
    """Bring the store over, or go on where an earlier run was killed; gives what was done, JSON-ready.

    Raises before the first change: OtherFormat, InUse, LogGap, LogChanged, StoreFull. Whatever is raised later leaves a store
    that another run goes on with.
    """
    told = told_beforehand(store)
    if told["done"]:
        return told
    refuse_others(store, alone=alone, seconds=seconds, on_wait=on_wait)
    wire = store.wire()
    try:
        _refuse_what_cannot_be(store, wire)
        probe("before the mark")
        if store.identity.format != BETWEEN:
            mark(wire)
            probe("after the mark")
        drop_vectors(wire, store.identity.tags)
        probe("after vectors are dropped")
        bar = _Bar(on_progress, 2 * told["events"])
        for tag, one in zip(store.identity.tags, standing(wire, store.identity.tags), strict=True):
            bring_over(wire, tag, token_bytes, probe=probe, on_progress=bar.within)
            bar.passed(one.head)
        run = RebuildRun.begin(wire, list(range(store.identity.partitions)), anew=False)
        for number in run.rest:
            done = rebuild_partition(
                store.client,
                store.identity.tags[number],
                holder=new_worker_id(),
                probe=probe,
                on_wait=on_wait,
                on_progress=bar.within,
                lease_ms=lease_ms,
            )
            bar.passed(done.seq)
            probe("before a partition is noted")
            run.finished(wire, number)
        probe("before the end")
        run.end(wire)  # first: what stayed would have a later rebuild believe that it was done
        finish(wire)
        probe("after the end")
    finally:
        wire.close()
    store.identity = store.identity._replace(format=str(FORMAT))
    return told_beforehand(store) | {"found": told["found"], "vectors": told["vectors"]}


def _refuse_what_cannot_be(store: OldStore, wire: Wire) -> None:
    """What can be seen before anything is changed: a log that is not whole, no room, heads that are not met."""
    for tag in store.identity.tags:
        refuse_gap(wire, tag)
    if (
        store.identity.format != BETWEEN
    ):  # what a killed run made already counts twice there; Redis refuses what is too much
        refuse_without_room(wire, store.identity.tags)
    file = HeadFile(heads_path(store.settings, store.identity.store_id))
    refuse_changed_log(store, file, range(store.identity.partitions), CURE)


class _Bar:
    """How far all partitions are together."""

    def __init__(self, tell: Progress, total: int) -> None:
        self._tell, self._total, self._passed = tell, total, 0

    def within(self, done: int, _all: int) -> None:
        """So many entries of the partition at hand are done."""
        self._tell(self._passed + done, self._total)

    def passed(self, entries: int) -> None:
        """All of a partition's are."""
        self._passed += entries
        self._tell(self._passed, self._total)


def _boundaries(store: OldStore) -> list[dict[str, Any]]:
    """Where format 2 began, of the partitions that know."""
    wire = store.wire()
    try:
        return [
            {"partition": number, "seq": one.boundary, "at": None if one.at is None else utc_text(from_micros(one.at))}
            for number, one in enumerate(standing(wire, store.identity.tags))
            if one.boundary is not None
        ]
    finally:
        wire.close()
