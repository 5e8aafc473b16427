"""`engramlog upgrade`: what it would do, what it refuses, and doing it. The steps are in `consumers.upgrade.steps`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from secrets import token_bytes
from typing import Any

from consumers.fold.folder import Probe, unprobed
from consumers.fold.rebuild import LEASE_MS as REBUILD_LEASE_MS
from consumers.fold.rebuild import rebuild_partition, refuse_without_room
from consumers.fold.rebuild_run import RebuildRun
from consumers.upgrade.steps import (
    BETWEEN,
    OLD_PARAMETER_SETS,
    UpgradeProgress,
    bring_over,
    drop_vectors,
    finish,
    mark,
    reserved_owners,
    standing,
)
from events.envelope import from_micros, utc_text
from events.errors import StoreMismatch
from events.partitions import FORMAT
from events.redis.gap import refuse_gap
from events.redis.wire import Wire
from ops.bringing.frame import ALONE_SECONDS, CURE, Bar, OldStore, Progress, brought_over, what_is_there
from ops.kept.head_file import HeadFile, heads_path
from ops.kept.heads import refuse_changed_log
from ops.worker_id import new_worker_id
from projections.redis.create import StoreIdentity, check_format

EVENTS_A_SECOND = 2_000
"""A cautious figure for telling how long it takes; docs/benchmarks.md has what was measured."""
MOST_RESERVED_NAMED = 20
"""Owners with a name of the store's own that are told by name."""


def told_beforehand(store: OldStore) -> dict[str, Any]:
    """What an upgrade would do, JSON-ready. Reads only. Raises OtherFormat at a store of a newer release."""
    identity = store.identity
    refuse_newer(identity)
    done = identity.format == str(FORMAT)
    with closing(store.wire()) as wire:
        if wire.many and not done:
            raise StoreMismatch(
                "a store of an older release is brought over on one Redis, and this one lies on a cluster: load a copy of all its"
                " keys into one Redis, run `engramlog upgrade` there (ENGRAMLOG_REDIS_URL), and move it into the cluster then"
                " (`redis-cli --cluster import`). Nothing was changed",
                mode="cluster",
            )
        partitions = standing(wire, identity.tags)
        reserved = [name for tag in identity.tags for name in reserved_owners(wire, tag)]
        events = sum(one.head for one in partitions)
        told = what_is_there(store, wire, events=events, seconds=events // EVENTS_A_SECOND, done=done)
    return told | {
        "found": identity.format,
        "writes": str(FORMAT),
        "reserved_owners": len(reserved),
        "reserved_owners_named": sorted(reserved)[:MOST_RESERVED_NAMED],
        "boundaries": _boundaries(partitions),
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

    def steps(wire: Wire, told: Mapping[str, Any]) -> dict[str, Any]:
        _refuse_what_cannot_be(store, wire)
        probe("before the mark")
        if store.identity.format != BETWEEN:
            mark(wire)
            probe("after the mark")
        drop_vectors(wire, store.identity.tags)
        probe("after vectors are dropped")
        bar = Bar(on_progress, 2 * told["events"])
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
        store.identity = store.identity._replace(format=str(FORMAT))
        return {}

    return brought_over(store, told_beforehand, steps, alone=alone, seconds=seconds, on_wait=on_wait)


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


def _boundaries(partitions: Sequence[UpgradeProgress]) -> list[dict[str, Any]]:
    """Where format 2 began, of the partitions that know."""
    return [
        {"partition": number, "seq": one.boundary, "at": None if one.at is None else utc_text(from_micros(one.at))}
        for number, one in enumerate(partitions)
        if one.boundary is not None
    ]
