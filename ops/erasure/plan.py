"""What an erasure would do, and what it refuses. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from engramlog_server.api.application import Application
from engramlog_server.consumers.erasure import count_entries, read_log, standing_of
from engramlog_server.events.catalogue import ErasureGround, TurnRecorded
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.events.errors import (
    DamagedState,
    InputError,
    NotFound,
    OwnerQuarantined,
    StoreUnavailable,
    refused,
)
from engramlog_server.events.partitions import LogKeys, label_of, partition_of, position_text
from engramlog_server.events.redis.secrets import refuse_erased
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.vocabulary import is_id
from engramlog_server.ops.erasure.fence_list import FenceList
from engramlog_server.ops.kept.rejections import ValueFile, values_path
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.reports.erasure import MOST_TOLD, OwnersLog, Reach, SaidAgain, Sayings

MOST_NAMED = 1_000
TRIES = 10
"""How often a deletion is asked for again whose effects could not be read, for the owner is told of all the time: under its key it
is carried out once."""


class ErasurePlan(NamedTuple):
    """What is to be erased, and why."""

    owner: str
    ids: tuple[str, ...] = ()
    """Memories and turns, at most 1,000; none: the owner, with all of its entries."""
    ground: ErasureGround = "other"
    reason: str = ""
    begun: bool = False
    """Whether an erasure of the same was begun before: what an older copy of the store has nothing of is passed over then."""


def owner_plan(store: OpenStore, settings: Settings, owner: str) -> dict[str, Any]:
    """What erasing the owner would do, JSON-ready. Reads only. Raises InputError where it cannot be erased, NotFound for nobody."""
    tag, number = partition_to_erase_in(store, owner)
    with closing(store.wire()) as wire:
        line, erasure = standing_of(wire, tag, owner)
        entries = count_entries(wire, tag, owner)
        if line is None and not entries.total:
            raise NotFound(f"owner: got {owner!r}; allowed: an owner with events in this store", owner=owner)
        live = (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode()
        keys = BuildKeys(tag, live)
        counts = wire.answers(
            [
                ["HLEN", keys.records(owner)],
                ["LLEN", keys.parked(owner)],
                ["HLEN", keys.moments(owner)],
            ]
        )
    listed = FenceList.of(settings, store.identity.store_id).read()
    kept = values_file(store, settings).read().kept.values()
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
            "events of other owners about it: they are theirs",
        ],
    }


def words_plan(application: Application, store: OpenStore, plan: ErasurePlan) -> dict[str, Any]:
    """What erasing these memories would do, in three lists: what goes, what says it elsewhere, what stays. JSON-ready but for
    `seqs`, the entries that go. Reads only.

    Raises InputError where they cannot be erased, NotFound for one that nothing tells of, OwnerErased, DamagedState.
    """
    tag, number = partition_to_erase_in(store, plan.owner)
    with closing(store.wire()) as wire:
        refuse_erased(wire, LogKeys(tag), plan.owner)
        refuse_stuck(wire, tag, plan.owner)
        told, log = list(read_log(wire, tag, plan.owner)), OwnersLog()
        for one, event in told:
            log.take(one, event)
        named = reached(log, plan, {}).named
        reach = reached(log, plan, dict(deleted_with(application, plan.owner, named, dry_run=True)))
        refuse_broken(reach, plan, number)
        again = _said_again(told, reach)
    return {
        "owner": plan.owner,
        "label": label_of(store.identity.store_id, plan.owner),
        "partition": number,
        "ids": list(plan.ids),
        "seqs": {one.seq for one in reach.entries},
        "goes": {
            "memories": [{"id": one, "why": why} for one, why in reach.memories.items()],
            "turns": [{"id": turn, "session": session, "why": why} for (turn, session), why in reach.turns.items()],
            "entries": len(reach.entries),
            "by_type": reach.counts,
        },
        "elsewhere": {
            "of_the_same_turns": list(reach.siblings),
            "corrections": list(reach.corrections),
            "triples": [position_text(number, seq) for seq in reach.triples],
            "says_it_too": [
                {
                    "position": position_text(number, one.seq),
                    "type": one.type,
                    "of": one.of,
                    "how": one.how,
                    "share": one.share,
                    "text": one.text,
                }
                for one in again[:MOST_TOLD]
            ],
            "more": max(len(again) - MOST_TOLD, 0),
            "unread": [position_text(number, seq) for seq in reach.unread],
        },
        "stays": [
            "ids of memories, turns, sessions and events, types, times, levels, weights and order: folds take them",
            "keyed digests of statements, by which a repetition is recognized and refused; useless without the owner's key",
            "other statements of the same, unless you name them too; synonyms, and events of other owners",
        ],
    }


def reached(log: OwnersLog, plan: ErasurePlan, also: dict[str, str]) -> Reach:
    """What goes. Raises NotFound for an id that nothing tells of and of which no erasure began, InputError for one of turns of
    several sessions."""
    if not 1 <= len(plan.ids) <= MOST_NAMED:
        raise refused("ids", len(plan.ids), f"1 to {MOST_NAMED:,} ids of memories or turns")
    found = log.reach(plan.ids, also)
    if found.unknown and not plan.begun:
        raise NotFound(
            f"ids: got {found.unknown[0][:80]!r}; allowed: ids of memories or turns of owner {plan.owner}",
            owner=plan.owner,
            ids=list(found.unknown[:20]),
        )
    for name, each in found.several.items():
        raise refused("ids", name[:80], f"a turn of one session alone: {', '.join(each[:MOST_TOLD])}")
    return found


def refuse_broken(reach: Reach, plan: ErasurePlan, partition: int) -> None:
    """Raise DamagedState where an entry of the owner's cannot be read any more: folded anew the owner would stand still there."""
    if reach.broken:
        position = position_text(partition, reach.broken[0])
        raise DamagedState(
            f"the event at {position} of owner {plan.owner} cannot be read, and a fold of the owner would stop there;"
            " restore the backup that has it, and see `engramlog verify`",
            owner=plan.owner,
            position=position,
        )


def deleted_with(
    application: Application, owner: str, named: Sequence[str], *, dry_run: bool, key: str | None = None
) -> Iterator[tuple[str, str]]:
    """Delete what is named and stands; what goes along, and why. What cannot be deleted any more is none of it."""
    with application.reader.snapshot(owner) as snapshot:
        ids = [one for one in named if snapshot.view.get(one) is not None]
    if not ids:
        return
    never, left = True, TRIES
    while True:
        try:
            report = application.deleter.delete_many(owner, ids, core=True, never=never, dry_run=dry_run, key=key)
            break
        except InputError as error:
            if not never or error.context.get("field") != "never":
                raise
            never = False  # what nobody has a digest of cannot be rejected, and is erased all the same
        except StoreUnavailable:
            left -= 1
            if not left:
                raise
    if report.error is not None:
        raise report.error
    yield from report.also.items()
    yield from ((one, "it was merged into what is named") for one in report.hidden)


def refuse_stuck(wire: Wire, tag: str, owner: str) -> None:
    """Raise OwnerQuarantined where an event of the owner could not be folded: what would be said now would wait behind it."""
    keys = BuildKeys(tag, (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode())
    if wire.call("HEXISTS", keys.quarantine, owner):
        raise OwnerQuarantined(
            f"owner {owner} is stopped at an event that could not be folded: see `engramlog dead`, fix or discard it, then"
            " erase",
            owner=owner,
        )


def _said_again(told: Sequence[tuple[Stored, AnyEvent | None]], reach: Reach) -> list[SaidAgain]:
    """What says it too, without a link."""
    going, linked = {one.seq for one in reach.entries}, {*reach.siblings, *reach.corrections}
    gone, left = list[tuple[Stored, AnyEvent]](), list[tuple[Stored, AnyEvent]]()
    for one, event in told:
        if event is not None:
            (gone if one.seq in going else left).append((one, event))
    found = [one for one in Sayings(gone).found_in(left) if one.of not in linked and one.of not in reach.memories]
    memories = {one.of for one in found if one.type != TurnRecorded.__name__}
    return [  # a turn and its memory are one
        one for one in found if one.type != TurnRecorded.__name__ or one.of.rpartition("/")[2] not in memories
    ]


def values_file(store: OpenStore, settings: Settings) -> ValueFile:
    """The rejections of values that this machine keeps."""
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
