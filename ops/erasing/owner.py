"""Erasing an owner: what it would do, what it refuses, and doing it. The steps are in `consumers.erasing`.

The order is what makes it safe to be killed anywhere: what is meant is written down first, then the owner is fenced and its key
destroyed by one write, then all that was made of its words goes, then Redis writes its files anew, then it is certified. Every step
can be done again, and a run that finds the fence goes on behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_bytes
from typing import Any, Literal, NamedTuple

import msgspec

from engramlog_server.consumers.erasing.steps import (
    Entries,
    count_entries,
    drop_from_builds,
    drop_salts,
    drop_vectors_of,
    fence,
    opened_of,
    readmit,
    standing_of,
)
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.consumers.fold.rebuild import LEASE_MS, rebuild_partition, refuse_without_room
from engramlog_server.consumers.sealing.leaving import Rewritten
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.catalogue import ErasureGround, OwnerErasure
from engramlog_server.events.entry import SECRET_BYTES
from engramlog_server.events.envelope import decode, from_micros, new_event_id, utc_text
from engramlog_server.events.errors import KeyUnavailable, NotFound, StoreUnavailable, refused
from engramlog_server.events.of_the_store import ERASURES, label_of
from engramlog_server.events.partitions import LogKeys, partition_of, position_text
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.seals import erased_name
from engramlog_server.events.standing import Speaker
from engramlog_server.events.validation import make_event, ready
from engramlog_server.events.vocabulary import is_id
from engramlog_server.ops.embedded.rewriting import rewrite_all
from engramlog_server.ops.erasing.fence_list import ErasureStep, FenceList, list_path, open_erasures
from engramlog_server.ops.erasing.left import left_behind
from engramlog_server.ops.erasing.residue import NOT_KNOWN, Probes, Residue, probes_of, residue_of
from engramlog_server.ops.kept.rejections import ValueFile, values_path
from engramlog_server.ops.keys.backup import saved_anew
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.ops.worker_id import new_worker_id
from engramlog_server.projections.fold.builds import BuildKeys
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.redis.store import read_checkpoint

ALARM = "erasure_left"
AGAIN = "engramlog erase"
STEPS = 5
"""Of which progress is told: reading the log, folding anew, taking away, writing files, proving."""
Progress = Callable[[int, int], None]


class ErasurePlan(NamedTuple):
    """What is to be erased, and why."""

    owner: str
    ground: ErasureGround
    reason: str = ""


class ErasureCertified(msgspec.Struct, frozen=True, kw_only=True):
    """That something was erased for good: when, by whom, on what ground. It names nobody: `label` is known again by the owner's
    name."""

    erasure: str
    store_id: str
    label: str
    ground: str
    reason: str
    by: str
    began_at: str
    ended_at: str
    events: int
    """Entries of the log that nobody can read any more."""
    until: str
    """Up to where the partition was folded without it."""
    chain: str
    """The log's chain there: what an auditor noted before still meets it."""
    position: str
    """Of the event that says so, in the log's own chain."""
    verified: bool
    """Whether the partition's log, chains and state agreed afterwards."""
    differences: list[dict[str, Any]]
    aof: str
    dump: str
    keys_saved_at: str | None
    """When the backup of the keys was written last: what was erased before cannot be opened by it. None where none is kept."""
    not_proven: list[str]
    """What could not be seen to from here, and what to do about it, a sentence each."""
    residue: Residue | None = None
    """What a search of Redis and of the files of this machine found afterwards."""


class ErasureCertificate(ErasureCertified, frozen=True, kw_only=True):
    """That an owner was erased."""

    open_entries: int
    """Entries of it that lie open, put there past Engramlog, and so can still be read."""


def told_beforehand(store: OpenStore, settings: Settings, owner: str) -> dict[str, Any]:
    """What erasing the owner would do, JSON-ready. Reads only. Raises InputError where it cannot be erased, NotFound for nobody."""
    tag, number = partition_to_erase_in(store, owner)
    wire = store.wire()
    try:
        line, erasure = standing_of(wire, tag, owner)
        entries = count_entries(wire, tag, owner)
        if line is None and not entries.total:
            raise NotFound(f"owner: got {owner!r}; allowed: one of whom the store has anything", owner=owner)
        live = (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode()
        keys = BuildKeys(tag, live)
        counts = wire.answers(
            [
                ["HLEN", keys.records(owner)],
                ["LLEN", keys.parked(owner)],
                ["HLEN", keys.moments(owner)],
            ]
        )
    finally:
        wire.close()
    listed = FenceList(list_path(settings, store.identity.store_id), store.identity.store_id).read()
    kept = _values(store, settings).read().kept.values()
    memories, parked, moments = map(int, counts)
    return {
        "owner": owner,
        "label": label_of(store.identity.store_id, owner),
        "partition": number,
        "erasure": erasure,
        "ended": erasure is not None and any(one.erasure == erasure and one.step == "ended" for one in listed),
        "events": entries.total,
        "open_entries": entries.open,
        "last": position_text(number, entries.last) if entries.last else None,
        "memories": memories,
        "parked": parked,
        "moments": moments,
        "kept_rejections": sum(one.owner == owner for one in kept),
        "stays": [
            "the owner's name, and ids, types, times, levels and order of its entries in the log: the chain runs over them",
            "that it was erased, when, by whom and on what ground, under `:erasures`, without its name",
            "what other owners were told about it: that is theirs",
        ],
    }


def carry_out(
    store: OpenStore,
    settings: Settings,
    plan: ErasurePlan,
    *,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
    on_wait: Callable[[str], None] = lambda _told: None,
    lease_ms: int = LEASE_MS,
) -> ErasureCertificate:
    """Erase the owner, or go on where an earlier run was killed; gives the certificate.

    Raises InputError, NotFound, StoreFull before the first change; whatever is raised later leaves an owner that is fenced or as it
    was, and another run goes on.
    """
    told = told_beforehand(store, settings, plan.owner)
    tag, number = partition_to_erase_in(store, plan.owner)
    label, run = told["label"], _Run(store, settings, plan)
    with wire_of(store) as wire:
        refuse_without_room(wire, [tag])
        refuse_without_key(store)
        run.catch_up(wire)
        erasure = told["erasure"] or run.begun(label)
        if erasure is None:
            erasure = new_event_id()
            probe("before it is written down")
            run.say(erasure, "began", label)
        elif run.began_at(erasure) is None:
            run.say(erasure, "began", label)  # by a list that a copy brought back
        run.goes_on_with(erasure)
        store.alarms.raised(
            ALARM,
            erasure,
            f"an erasure began and did not end: `{AGAIN}` of the same owner, or with --again, goes on with it",
        )
        probes = Probes((), NOT_KNOWN)
        if told["erasure"] is None:
            probes = probes_of(wire, tag, plan.owner)
            probe("before the fence")
            mine, erasure = erasure, fence(wire, tag, plan.owner, erasure)
            if erasure != mine:  # another run was quicker, and this one goes on with its erasure
                store.alarms.cleared(ALARM, mine)
                run.goes_on_with(erasure)
        on_progress(1, STEPS)
        probe("after the fence")
        store.views.forget(plan.owner)
        store.client.seals.forget(plan.owner)
        store.log.forget(plan.owner)
        entries = drop_salts(wire, tag, plan.owner)
        on_progress(2, STEPS)
        probe("after its salts")
        refuse_without_key(store)
        build = rebuild_partition(
            store.client, tag, holder=new_worker_id(), probe=probe, on_wait=on_wait, lease_ms=lease_ms, anew=True
        ).new
        on_progress(3, STEPS)
        probe("after it was folded without the owner")
        drop_from_builds(wire, tag, plan.owner, but=build)
        drop_vectors_of(wire, tag, plan.owner)
        _values(store, settings).forget(plan.owner)
        probe("before files are rewritten")
        rewritten = rewrite_all(store.embedded, wire, on_wait, AGAIN)
        on_progress(4, STEPS)
        probe("before it is proved")
        done = run.ended(erasure, label, wire, (number, tag, build), entries, rewritten)
        probe("after the end")
        done = msgspec.structs.replace(done, residue=residue_of(store, settings, probes))
        store.alarms.cleared(ALARM, erasure)
        on_progress(5, STEPS)
    return done


def readmit_owner(store: OpenStore, settings: Settings, owner: str, reason: str = "") -> dict[str, Any]:
    """Have an owner who was erased be spoken of again, under a new key; nothing of before comes back. JSON-ready.

    Raises InputError where it was not erased, or that did not end.
    """
    tag, number = partition_to_erase_in(store, owner)
    store_id = store.identity.store_id
    with wire_of(store) as wire:
        _, erasure = standing_of(wire, tag, owner)
        if erasure is None:
            raise refused("owner", owner[:80], "an owner who was erased: of this one everything stands")
        if erasure in open_erasures(FenceList(list_path(settings, store_id), store_id).read()) or owner in left_behind(
            wire, (tag,)
        ):
            raise refused(
                "owner", owner[:80], f"one whose erasure has ended: `{AGAIN}` of the same owner goes on with it"
            )
        run = _Run(store, settings, ErasurePlan(owner, "other", reason))
        fresh = wire.seals.lines({owner: token_bytes(SECRET_BYTES)})[owner]
        at, position = run.say(erasure, "readmitted", label_of(store_id, owner))
        readmit(wire, tag, owner, fresh)
    store.views.forget(owner)
    store.client.seals.forget(owner)
    store.log.forget(owner)
    return {"owner": owner, "erasure": erasure, "partition": number, "readmitted_at": at, "position": position}


class _Run:
    """What is said of an erasure: events of `:erasures`, and the list beside the store."""

    def __init__(self, store: OpenStore, settings: Settings, plan: ErasurePlan) -> None:
        store_id = store.identity.store_id
        self._list = FenceList(list_path(settings, store_id), store_id)
        self._store, self._settings, self._plan = store, settings, plan

    def catch_up(self, wire: Wire) -> None:
        """Have the list say all that the log says: a run may have been killed between the two, or the list was lost."""
        number = partition_of(ERASURES, self._store.identity.partitions)
        listed = {(one.erasure, one.step) for one in self._list.read()}
        for one in opened_of(wire, self._store.identity.tags[number], ERASURES):
            told, at = decode(one.kind, one.body).data, one.recorded or 0
            if isinstance(told, OwnerErasure) and (told.erasure, told.step) not in listed:
                listed.add((told.erasure, told.step))
                store_id, when = self._store.identity.store_id, utc_text(from_micros(at))
                step = ErasureStep(
                    store_id, told.erasure, told.label, told.step, when, id_text(one.raw_id), told.ground, told.reason
                )
                self._list.append(step)

    def goes_on_with(self, erasure: str) -> None:
        """From here on the ground is the one that was told when this erasure began."""
        for one in self._list.read():
            if one.erasure == erasure:
                self._plan = self._plan._replace(ground=one.ground, reason=one.reason)
                return

    def begun(self, label: str) -> str | None:
        """An erasure of the same owner that began, and was killed before the fence stood."""
        ended, found = set[str](), None
        for one in self._list.read():
            if one.label == label and one.step == "began":
                found = one.erasure
            elif one.label == label:
                ended.add(one.erasure)
        return None if found in ended else found

    def began_at(self, erasure: str) -> str | None:
        """When it began, by the list."""
        return next((one.at for one in self._list.read() if one.erasure == erasure and one.step == "began"), None)

    def say(
        self,
        erasure: str,
        step: Literal["began", "ended", "readmitted"],
        label: str,
        key: bytes = b"",
        **more: Any,
    ) -> tuple[str, str]:
        """Say it in the log, then in the list; gives when, and its position. Raises StoreError."""
        log = self._store.log
        now, by = log.now(), Speaker("job", log.principal)
        data = OwnerErasure(
            erasure=erasure, step=step, label=label, ground=self._plan.ground, reason=self._plan.reason, **more
        )
        event = make_event(data, owner=ERASURES, occurred_at=from_micros(now), actor="system", now=now, by=by)
        (receipt,) = log.append([ready(event, by)])
        if not receipt.written or receipt.position is None:
            raise StoreUnavailable(f"that an owner is erased could not be written down: {receipt.error}")
        at = utc_text(from_micros(now))
        plan, store_id = self._plan, self._store.identity.store_id
        self._list.append(
            ErasureStep(store_id, erasure, label, step, at, event.event_id, plan.ground, plan.reason, key=key.hex())
        )
        return at, receipt.position

    def ended(
        self, erasure: str, label: str, wire: Wire, where: tuple[int, str, str], entries: Entries, rewritten: Rewritten
    ) -> ErasureCertificate:
        """Prove the partition, say that it is done, and certify it."""
        number, tag, build = where
        began, (line, _) = self.began_at(erasure) or "", standing_of(wire, tag, self._plan.owner)
        verdict = verify_partition(self._store.client, number, tag)
        checkpoint = read_checkpoint(wire, BuildKeys(tag, build))
        until, chain = position_text(number, checkpoint.seq), checkpoint.head.hex()
        unproven = [*rewritten.not_proven]
        if entries.open:
            unproven.append(
                f"{entries.open} entries of the log lie open in this sealed store, put there past Engramlog, and can still be read:"
                " see `engramlog verify`"
            )
        at, position = self.say(
            erasure,
            "ended",
            label,
            erased_name(line or b""),
            events=entries.total,
            until=until,
            chain=chain,
            unproven=len(unproven),
        )
        kept = saved_anew(self._store, self._settings)  # with the end of this erasure in it
        return ErasureCertificate(
            erasure=erasure,
            store_id=self._store.identity.store_id,
            label=label,
            ground=self._plan.ground,
            reason=self._plan.reason,
            by=self._store.log.principal,
            began_at=began,
            ended_at=at,
            events=entries.total,
            open_entries=entries.open,
            until=until,
            chain=chain,
            position=position,
            verified=not verdict.differences,
            differences=verdict.differences[:20],
            aof=rewritten.aof,
            dump=rewritten.dump,
            keys_saved_at=kept.saved_at,
            not_proven=[*unproven, *kept.not_proven],
        )


@contextmanager
def wire_of(store: OpenStore) -> Iterator[Wire]:
    """A connection of its own, closed at the end."""
    wire = store.wire()
    try:
        yield wire
    finally:
        wire.close()


def refuse_without_key(store: OpenStore) -> None:
    """Raise KeyUnavailable where the master key cannot be had: folded anew without it, everybody else would stand still."""
    standing = store.client.seals.look()
    if not standing.reachable:
        raise KeyUnavailable(
            f"the master key {standing.key} cannot be had, which everybody else of the partition is folded anew with:"
            f" {standing.reason}; run `{AGAIN}` again once it can"
        )


def _values(store: OpenStore, settings: Settings) -> ValueFile:
    identity = store.identity
    return ValueFile(values_path(settings, identity.store_id), identity.store_id, identity.partitions)


def partition_to_erase_in(store: OpenStore, owner: str) -> tuple[str, int]:
    """The owner's partition: tag and number. Raises InputError where no key could be destroyed."""
    if not is_id(owner) or owner.startswith(":"):
        raise refused(
            "owner", owner[:80], "an owner's name that does not begin with a colon: those are the store's own"
        )
    if not store.client.seals.is_on:
        raise refused(
            "owner",
            owner[:80],
            "an owner of a sealed store: this one lies open, so there is no key that could be destroyed; `engramlog seal` first",
        )
    number = partition_of(owner, store.identity.partitions)
    return store.identity.tags[number], number
