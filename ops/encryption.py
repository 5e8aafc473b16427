"""`engramlog seal`: what it would do, what it refuses, and doing it. The steps are in `consumers.encryption`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from secrets import token_bytes
from typing import Any, NamedTuple

import msgspec

from engramlog_server.consumers.encryption import (
    bring_over,
    close,
    drop_failures,
    drop_other_builds,
    drop_vectors,
    finish,
    is_taken,
    look,
    mark,
)
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.consumers.fold.rebuild import LEASE_MS as REBUILD_LEASE_MS
from engramlog_server.consumers.fold.rebuild import RebuildRun, rebuild_partition
from engramlog_server.consumers.jobs.schedule import queue_name
from engramlog_server.events.errors import BadSetting, StoreError, StoreFull, StoreMismatch
from engramlog_server.events.keys import KEY_BYTES, KeyRing, MasterKey
from engramlog_server.events.partitions import FORMAT, LogKeys
from engramlog_server.events.redis.log import APPEND_FULL
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import StoreClient, Wire, open_wire
from engramlog_server.ops.embedded import disk
from engramlog_server.ops.erasure.residue import rewrite_all
from engramlog_server.ops.kept.heads import HeadFile, heads_path, refuse_changed_log
from engramlog_server.ops.kept.rejections import ValueFile, values_path, wrap_kept
from engramlog_server.ops.keys.master import NAME, exists_at, keys_of, make_key_file, master_of
from engramlog_server.ops.processes.life import new_worker_id
from engramlog_server.ops.store import folder_of
from engramlog_server.ops.store_replacement import (
    ALONE_SECONDS,
    CURE,
    Bar,
    OldStore,
    Progress,
    brought_over,
    what_is_there,
)
from engramlog_server.projections.redis.create import BEING_SEALED, check_format, refuse_own_server

EVENTS_A_SECOND = 1_000
"""A cautious figure, to estimate how long it takes; rates that were measured are higher."""
MARGIN = 1.5
"""A sealed log takes more than an open one: 33 bytes a body and 16 of salt an event."""
WRITTEN_SHARE = 2.5
"""Bytes that the append-only file may grow by, for each byte in memory: copies, builds, and the file that takes its place."""


class NoMasterKey(BadSetting):
    """There is nothing to seal a store under."""


class RoomNeeded(NamedTuple):
    """What it takes at most beside what is there, and what there is; None where that is not known or not bounded."""

    memory: int
    memory_free: int | None
    disk: int
    disk_free: int | None

    @property
    def lacking(self) -> tuple[bool, int]:
        """By which the tightest of several is known: how much more is needed than is free, then how much is needed."""
        return self.memory_free is not None, self.memory - (self.memory_free or 0)


def _make_key(store: OldStore) -> None:
    """Make the key of a data folder for which none is set, once it is to be sealed; one that is there stays as it is.

    A store that was being sealed had a key: without it nothing is made. Raises KeyFileUnusable.
    """
    if (file := _file_to_make(store)) is not None:
        make_key_file(file)


def _file_to_make(store: OldStore) -> Path | None:
    folder, identity = folder_of(store.embedded), store.identity
    if folder is None or store.settings.sealed_by is not None or identity.sealed or identity.sealing:
        return None
    return None if exists_at(folder / NAME) else folder / NAME


def seal_plan(store: OldStore) -> dict[str, Any]:
    """What sealing would do, JSON-ready. Reads only. Raises OtherFormat, NoMasterKey, StoreMismatch under another key, or
    where the key of one that is sealed, or half sealed, is gone."""
    identity, master = store.identity, _master(store)
    if identity.format != BEING_SEALED:
        check_format(identity)
    done = identity.sealed is not None
    _begin(store, master, identity.sealed or identity.sealing)
    with closing(store.wire()) as wire:
        events = sum(_heads(wire, identity.tags))
        told = what_is_there(store, wire, events=events, seconds=events // EVENTS_A_SECOND, done=done)
        owners = sum(wire.answers([["HLEN", LogKeys(tag).secrets] for tag in identity.tags]))
        room = None if done else _room(store, wire)
    return told | {
        "found": "sealed" if done else "half sealed" if identity.format == BEING_SEALED else "open",
        "key": master.name if (made := _file_to_make(store)) is None else f"a new one, in {made}",
        "owners": owners,
        "room": None if room is None else room._asdict(),
    }


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
    """Seal the store, or go on where an earlier run was killed; gives what was done, JSON-ready.

    Raises before the first change: NoMasterKey, OtherFormat, InUse, LogGap, LogChanged, DamagedState, StoreFull. Whatever is raised
    later leaves a store that another run goes on with.
    """

    def steps(wire: Wire, told: Mapping[str, Any]) -> dict[str, Any]:
        tags, bar = store.identity.tags, Bar(on_progress, 4 * told["events"])
        _refuse_without_room(store, wire)
        _look_at_all(store, wire, bar)
        line = store.identity.sealing
        if line is None:
            _make_key(store)
            wire.seals.master, wire.seals.open_keys = _master(store), keys_of(store.settings)
            line = wire.seals.new_check(store.identity.store_id)
            probe("before the mark")
            keys = wire.seals.new_keys(store.identity.store_id)
            refuse_own_server(wire)
            mark(wire, line, keys)
            probe("after the mark")
            wire.seals.begin(store.identity.store_id, line, keys)
        close(wire, tags)
        probe("after partitions are closed")
        drop_vectors(wire, tags)
        probe("after vectors are dropped")
        run = RebuildRun.begin(wire, list(range(store.identity.partitions)), anew=False)
        for number, tag in enumerate(tags):
            bring_over(wire, tag, probe=probe, on_progress=bar.passed)
            if number in run.rest:
                done = rebuild_partition(
                    store.client, tag, holder=new_worker_id(), probe=probe, on_wait=on_wait, lease_ms=lease_ms
                )
                bar.passed(done.seq)
                drop_other_builds(wire, tag)
                probe("before a partition is noted")
                run.finished(wire, number)
        identity = store.identity
        file = ValueFile(values_path(store.settings, identity.store_id), identity.store_id, identity.partitions)
        wrap_kept(wire, tags, file)  # it holds owners' secrets, which open all that is sealed now
        unseen = _drop_failures(store, wire)
        probe("before files are rewritten")
        rewritten = rewrite_all(store.embedded, wire, store.settings, on_wait, "engramlog seal")
        rewritten.not_proven.extend(unseen)
        probe("before the end")
        run.end(wire)  # first: what stayed would have a later rebuild believe that it was done
        finish(wire)
        probe("after the end")
        keys = wire.seals.keys.id
        store.identity = identity._replace(sealed=line, sealing=None, format=str(FORMAT), keys=keys)
        answer: dict[str, Any] = msgspec.to_builtins(rewritten)
        return answer

    return brought_over(store, seal_plan, steps, alone=alone, seconds=seconds, on_wait=on_wait)


def _master(store: OldStore) -> MasterKey:
    found = master_of(store.settings, folder_of(store.embedded))
    if found is None and _file_to_make(store) is not None:
        return KeyRing([token_bytes(KEY_BYTES)])  # it is told of, and seals nothing
    if found is None and (store.identity.sealed or store.identity.sealing) is not None:
        raise StoreMismatch(
            f"this store is {'sealed' if store.identity.sealed else 'half sealed'}, and no master key was given: set"
            " ENGRAMLOG_SEALED_BY to the file, or the key service, that it was sealed under, or put the file master-key back into"
            " its data folder. Nothing was changed",
            setting="ENGRAMLOG_SEALED_BY",
        )
    if found is None:
        raise NoMasterKey(
            "sealed_by: got none; allowed: the whole path of a file with a master key, under which the store is sealed; set"
            " ENGRAMLOG_SEALED_BY (docs/how-to/sealing.md says how one is made). Nothing was changed",
            setting="ENGRAMLOG_SEALED_BY",
        )
    return found


def _begin(store: OldStore, master: MasterKey, line: bytes | None) -> None:
    """What seals and opens for this store's client. Raises StoreMismatch where it is sealed, or half sealed, under another key."""
    client = store.client
    assert isinstance(client, StoreClient)
    if client.seals.master is None:
        client.seals.master, client.seals.open_keys = master, keys_of(store.settings)
    client.seals.begin(store.identity.store_id, line, store.identity.keys)


def _heads(wire: Wire, tags: Sequence[str]) -> list[int]:
    return [int(head or 0) for head in wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in tags])]


def _look_at_all(store: OldStore, wire: Wire, bar: Bar) -> None:
    """Every partition that is not sealed yet, from its first entry to its last, and the heads that were kept of all."""
    for tag in store.identity.tags:
        if not is_taken(wire, tag):
            look(wire, tag, on_progress=bar.passed)
    file = HeadFile(heads_path(store.settings, store.identity.store_id))
    refuse_changed_log(store, file, range(store.identity.partitions), CURE)


def _room(store: OldStore, wire: Wire) -> RoomNeeded:
    """One partition is copied and folded at a time, so its log and its share of all else are what is there twice at most. Of a
    Cluster it is the node on which it is tightest."""
    by_node: dict[str, list[str]] = {}
    for tag in store.identity.tags:
        by_node.setdefault(wire.node_of(LogKeys(tag).meta), []).append(tag)
    return max((_room_beside(store, wire, tags) for tags in by_node.values()), key=lambda one: one.lacking)


def _room_beside(store: OldStore, wire: Wire, tags: Sequence[str]) -> RoomNeeded:
    """The same of partitions that lie on one server."""
    lines = wire.at(LogKeys(tags[0]).meta).call("INFO", "memory").decode().splitlines()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    used, limit = int(facts["used_memory"]), int(facts["maxmemory"])
    sizes = [int(wire.call("MEMORY", "USAGE", LogKeys(tag).stream, "SAMPLES", 20) or 0) for tag in tags]
    largest, every = max(sizes), sum(sizes)
    rest = max(used - every, 0) * largest // max(every, 1)
    needed = int(MARGIN * (largest + rest))
    free = None if not limit else max(int(APPEND_FULL * limit) - used, 0)
    if store.embedded is None:
        return RoomNeeded(needed, free, int(WRITTEN_SHARE * used), None)
    there = disk.look(store.embedded.folder)
    return RoomNeeded(needed, free, int(WRITTEN_SHARE * used), max(there.free - there.reserve, 0))


def _refuse_without_room(store: OldStore, wire: Wire) -> None:
    """Raises StoreFull. One that was begun goes on, for what it made already counts twice; Redis refuses what is too much."""
    room = _room(store, wire)
    if store.identity.format == BEING_SEALED:
        return
    if room.memory_free is not None and room.memory > room.memory_free:
        raise StoreFull(
            f"sealing needs about {room.memory:,} bytes of memory more than is in use, and {room.memory_free:,} are left below"
            f" {APPEND_FULL:.0%} of maxmemory: raise it (ENGRAMLOG_REDIS_MAXMEMORY, or CONFIG SET maxmemory). Nothing was changed"
        )
    if room.disk_free is not None and room.disk > room.disk_free:
        raise StoreFull(
            f"sealing may write {room.disk:,} bytes until the append-only file is rewritten, and its disk has"
            f" {room.disk_free:,} free: make room there. Nothing was changed"
        )


def _drop_failures(store: OldStore, wire: Wire) -> list[str]:
    """Drop what is kept of how jobs ended; what could not be seen to, where their queue lies in a Redis of its own."""
    name, url = queue_name(store.identity.store_id), store.settings.queue_url
    if not url:
        drop_failures(wire, name)
        return []
    client = connect(url, timeout=store.settings.redis_timeout)
    queue = open_wire(client)
    try:
        drop_failures(queue, name)
    except StoreError as error:
        return [f"what the queue keeps of failed jobs may hold words for a week ({error.message})"]
    finally:
        queue.close()
        client.close()
    return []
