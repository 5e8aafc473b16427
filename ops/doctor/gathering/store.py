"""What the store tells of itself: its seals, its log, those who fold it, and what is kept of it on this machine."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from api.services.looking.standing import count_locked, read_partitions
from consumers.fold.presence import LEASE_MS, known_workers
from consumers.jobs.status import lifecycle_status
from events.alarms import KNOWN
from events.envelope import from_micros
from events.errors import EngramlogError, OtherFormat, StoreError
from events.partitions import STORE_KEY, LogKeys
from events.redis.alarms import RedisAlarms
from events.redis.clock import redis_micros, redis_ms
from events.redis.wire import Wire, WirePool, connect
from ops.doctor.deciding import beside, processes, sealing
from ops.doctor.deciding.beside import HeadFacts, SealsFacts, ValueFacts
from ops.doctor.deciding.processes import JobFacts, WorkFacts
from ops.doctor.deciding.sealing import SealingFacts
from ops.doctor.finding import CheckFinding
from ops.doctor.gathering.access import is_public
from ops.doctor.reaching import SECONDS, ReachedStore
from ops.embedded.disk import look
from ops.erasing.fence_list import FenceList, came_back, list_path
from ops.kept.head_file import HeadFile, heads_path
from ops.kept.heads import refuse_changed_log
from ops.kept.value_file import ValueFile, values_path
from ops.sealing.key_file import read_key_file
from ops.sealing.master import key_in
from ops.sealing.place import NONE
from ops.sealing.rewrap import wraps_of
from ops.sealing.seals_file import SealsUnusable, known_seals
from ops.store import silent
from projections.redis.create import StoreIdentity, check_format
from projections.redis.restored import BACKED_UP, backed_up_at, backed_up_with_seals

if TYPE_CHECKING:
    from collections.abc import Callable


class _Log(NamedTuple):
    """A log as it is compared with heads."""

    identity: StoreIdentity
    reached: ReachedStore

    def wire(self) -> Wire:
        """A connection of one's own."""
        return self.reached.wire()


CURE = "restore a copy, or, where the change is known and meant, `--accept-changed-log REASON`"


def look_at_seals(reached: ReachedStore) -> list[CheckFinding]:
    """Whether the store is sealed, and whether its key answers. Raises StoreError."""
    settings, seals, identity = reached.settings, reached.reached.seals, reached.known
    sealed = identity.sealed is not None
    file = key_in(reached.folder, settings)
    facts = SealingFacts(
        sealed,
        seals.look() if sealed and seals.is_on and reached.trouble is None else None,
        None if reached.trouble is None else reached.trouble.message,
        is_set=seals.master is not None,
        open_chosen=settings.sealed_by == NONE,
        file=file,
        inside=file is not None and reached.folder is not None and _is_inside(file, reached.folder),
    )
    return [sealing.contents(facts), *sealing.master_key(facts)]


def _is_inside(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())


def look_at_old_keys(reached: ReachedStore) -> list[CheckFinding]:
    """Keys in the file beside the one that wraps now. Raises StoreError."""
    file, master = key_in(reached.folder, reached.settings), reached.reached.seals.master
    if file is None or master is None or reached.known.sealed is None:
        return []
    ring = read_key_file(file)
    if len(ring.names) == 1:  # nothing is looked through for it
        return [sealing.old_keys(ring.names, ring.name, [])]
    wire = reached.wire()
    try:
        found = wraps_of(wire, reached.known.tags, master)
    finally:
        wire.close()
    return [sealing.old_keys(ring.names, ring.name, [one for one in ring.names if found.need(one)])]


def look_at_heads(reached: ReachedStore) -> list[CheckFinding]:
    """Kept heads, and whether the log meets them. Raises StoreError."""
    identity, settings = reached.known, reached.settings
    file = HeadFile(heads_path(settings, identity.store_id))
    kept, trouble = 0, None
    try:
        kept = len(file.read().expected)
        refuse_changed_log(_Log(identity, reached), file, range(identity.partitions), CURE)
    except StoreError as error:
        trouble = error.message
    return [beside.heads(HeadFacts(kept, file.path, len(settings.head_sinks), trouble), is_public(settings))]


def look_at_rejections(reached: ReachedStore) -> list[CheckFinding]:
    """Kept rejections. Raises StoreError."""
    identity, settings = reached.known, reached.settings
    file = ValueFile(values_path(settings, identity.store_id), identity.store_id, identity.partitions)
    kept, trouble = 0, None
    try:
        book = file.read()
        kept = len(book.kept)
        trouble = f"{file.path}: {book.problems[0]}" if book.problems else None
    except StoreError as error:
        trouble = error.message
    return [beside.rejections(ValueFacts(kept, file.path, trouble, settings.rejections is not None))]


def look_at_erased(reached: ReachedStore) -> list[CheckFinding]:
    """Whether owners who were erased have a key again; nothing of a store that lies open. Raises StoreError."""
    identity, settings = reached.known, reached.settings
    if identity.sealed is None:
        return []
    listed, wire = FenceList(list_path(settings, identity.store_id), identity.store_id).read(), reached.wire()
    try:
        return [sealing.erased(sum(1 for _ in came_back(wire, identity.tags, listed)))]
    finally:
        wire.close()


def look_at_saved_seals(reached: ReachedStore, own: Callable[[], int]) -> list[CheckFinding]:
    """The seals' own backup; nothing of a store that lies open. Raises StoreError."""
    identity, settings = reached.known, reached.settings
    if identity.sealed is None:
        return []
    path, trouble, saved_at = settings.seals_backup, None, None
    try:
        kept = None if path is None else known_seals(path)
        if kept is not None and kept.header.store_id != identity.store_id:
            trouble = f"{path} holds the seals of store {kept.header.store_id}, and this is {identity.store_id}"
        saved_at = None if kept is None else datetime.fromisoformat(kept.header.saved_at)
    except (SealsUnusable, ValueError) as error:
        trouble = error.message if isinstance(error, SealsUnusable) else f"{path} does not tell when it was saved"
    listed = FenceList(list_path(settings, identity.store_id), identity.store_id).read_all() if path is not None else []
    erased_at = max((datetime.fromisoformat(one.at) for one in listed if one.step != "readmitted"), default=None)
    facts = SealsFacts(path, trouble, saved_at is not None, saved_at, erased_at)
    return [beside.seals(facts, from_micros(own()))]


def look_at_copies(reached: ReachedStore, own: Callable[[], int]) -> list[CheckFinding]:
    """When the store was backed up last. Raises StoreError."""
    made, complete = None, True
    if reached.client is not None:
        wire = reached.wire()
        try:
            told = wire.call("HGET", STORE_KEY, BACKED_UP)
        finally:
            wire.close()
        made = None if told is None else backed_up_at(told)
        if made is not None and reached.known.sealed is not None and not backed_up_with_seals(told):
            complete = _saved_since(reached, made)
    return [beside.copies(reached.folder, made, from_micros(own()), complete=complete)]


def _saved_since(reached: ReachedStore, made: datetime) -> bool:
    """Whether the file of seals that is set was saved after a backup was made."""
    try:
        path = reached.settings.seals_backup
        kept = None if path is None else known_seals(path)
        mine = kept is not None and kept.header.store_id == reached.known.store_id
        return kept is not None and mine and datetime.fromisoformat(kept.header.saved_at) >= made
    except (SealsUnusable, ValueError):  # the check of the seals tells of it
        return False


def look_at_clocks(reached: ReachedStore, own: Callable[[], int]) -> list[CheckFinding]:
    """Redis's clock. `own`: this machine's, microseconds since 1970. Raises StoreError."""
    wire = reached.wire()
    try:
        before = own()
        redis = redis_micros(wire)
        found = [beside.redis_clock(redis, (before + own()) // 2)]
        if reached.identity is not None:
            told = wire.answers([["HGET", LogKeys(tag).meta, "rec"] for tag in reached.identity.tags])
            found.append(beside.newest_event(max((int(one) for one in told if one), default=None), redis))
    finally:
        wire.close()
    return found


def look_at_disk(folder: Path | None) -> list[CheckFinding]:
    """The disk of a data folder. Raises OSError."""
    return [beside.disk_elsewhere() if folder is None else beside.disk(folder, look(folder))]


def look_at_work(reached: ReachedStore) -> list[CheckFinding]:
    """Fold workers, what waits for them, and owners that stand still. Raises StoreError."""
    identity, wire = reached.known, reached.wire()
    try:
        now_ms = redis_ms(wire)
        partitions = read_partitions(wire, identity.tags, now_ms)
        live, silent_ones = known_workers(wire, now_ms, LEASE_MS)
        locked = count_locked(wire, identity.tags, partitions) if identity.sealed is not None else 0
    finally:
        wire.close()
    facts = WorkFacts(
        len(live),
        sorted(silent_ones),
        sum(one["lag"] for one in partitions),
        max(
            (one["checkpoint_age"] for one in partitions if one["lag"] and one["checkpoint_age"] is not None),
            default=None,
        ),
        reached.embedded is not None,
    )
    quarantined = sorted(name for one in partitions for name in one["quarantined"])
    return [
        *processes.workers(facts),
        processes.backlog(facts),
        *processes.owners(quarantined, locked),
        processes.jobs(_jobs(reached, wanted=bool(live) and reached.settings.job_workers > 0)),
    ]


def _jobs(reached: ReachedStore, *, wanted: bool) -> JobFacts:
    queue, identity = reached.settings.queue_url, reached.known
    client = connect(queue, timeout=SECONDS) if queue else reached.reached
    wires = WirePool(client)
    try:
        with wires.wire() as wire:
            told = lifecycle_status(wire, identity.store_id, identity.partitions)
    except EngramlogError as error:
        return JobFacts(error.message)
    finally:
        wires.close()
        if queue:
            client.close()
    if told.get("problem"):
        return JobFacts(str(told["problem"]))
    return JobFacts(None, told["leader"], told["failed"], sorted(told["stopped"]), wanted)


def look_at_alarms(reached: ReachedStore) -> list[CheckFinding]:
    """What stands. Raises StoreError."""
    alarms = RedisAlarms(WirePool(reached.reached), "doctor", silent)
    try:
        return processes.alarms(alarms.standing(), {name: kind.meaning for name, kind in KNOWN.items()})
    finally:
        alarms.close()


def look_at_format(reached: ReachedStore) -> list[CheckFinding]:
    """Which store it is, and whether this release can write to it. Raises StoreError."""
    trouble = None
    try:
        check_format(reached.known)
    except OtherFormat as error:
        trouble = error.message
    return [processes.store_format(reached.known.format, trouble)]
