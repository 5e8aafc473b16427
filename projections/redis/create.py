"""Creating and opening a store: its id, partitions and tags, the first build of every partition, and the heads of its chains.

A store that was restored from a backup says so of itself, and takes nothing new until it is taken over. Its heads show whether its
log continues the heads that were kept outside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from engramlog_server.events.cipher import BODY_MARK
from engramlog_server.events.errors import LogGap, OtherFormat, StoreMismatch
from engramlog_server.events.heads import Expected, Head
from engramlog_server.events.keys import KEYS_FIELD, SEALED_FIELD
from engramlog_server.events.parameters import PARAMETER_SET
from engramlog_server.events.partitions import (
    FORMAT,
    MAX_PARTITIONS,
    MOVED,
    RESTORED,
    SEALED_META,
    STORE_KEY,
    LogKeys,
    position_text,
    spread_tags,
)
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.server import redis_micros
from engramlog_server.events.redis.wire import Argument, Wire, run_many
from engramlog_server.events.text import NONE, many
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.changelog import FIRST_LINK, event_link
from engramlog_server.projections.fold.partition import Checkpoint
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.store import BEGIN_PARTITION, CREATE_STORE, checkpoint_fields
from engramlog_server.projections.shapes import RestoredTold

BACKED_UP = "backed_up"
"""The field of a store that tells when its last backup was made, as an instant, its id, and whether its keys were saved."""
WITH_KEYS = "keys"
STORE_RESTORED = "store_restored"
"""The alarm of such a store."""


class FromBackup(msgspec.Struct, frozen=True, kw_only=True):
    """What a store was restored from. It stays once the store is taken over."""

    backup: str
    """The id of the backup."""
    moment: str
    """Up to when the backup tells, as an instant."""
    at: str
    """When the restore began."""
    heads: tuple[int, ...]
    """By partition the seq of the newest event that came with it."""
    taken_over: str | None = None
    """When an operator took the store over; None until then."""
    reason: str | None = None
    """Why, as was said then."""

    @property
    def stands(self) -> bool:
        """Whether the store still takes nothing new."""
        return self.taken_over is None

    @property
    def events(self) -> int:
        """How many came with the backup."""
        return sum(self.heads)

    @property
    def text(self) -> str:
        """One sentence, without anybody's words."""
        counted = many(self.events, "event")
        told = f"restored from backup {self.backup}, which tells up to {self.moment} ({counted})"
        if self.taken_over is not None:
            return f"{told}; taken over {self.taken_over}"
        return (
            f"{told}: a copy, and not the original. It answers, and takes nothing new until `engramlog backup take-over`; what the"
            " original said since is not in it"
        )

    @property
    def told(self) -> RestoredTold:
        """The same, JSON-ready."""
        return {
            "backup": self.backup,
            "moment": self.moment,
            "at": self.at,
            "events": self.events,
            "taken_over": self.taken_over,
            "reason": self.reason,
        }


def restored_by(raw: bytes | None) -> FromBackup | None:
    """What the field of a store tells. Raises msgspec.MsgspecError where that cannot be read."""
    return None if raw is None else msgspec.json.decode(raw, type=FromBackup)


def backed_up_at(raw: bytes) -> datetime | None:
    """When a store's last backup was made, by what it tells; None where that cannot be read."""
    try:
        told = datetime.fromisoformat(raw.decode("ascii").partition(" ")[0])
    except ValueError:
        return None
    return told if told.tzinfo is not None else None


def backed_up_with_keys(raw: bytes) -> bool:
    """Whether the keys were saved along with it."""
    return raw.endswith(f" {WITH_KEYS}".encode())


def refuse_copy(restored: FromBackup | None, what: str) -> None:
    """Raise StoreMismatch where a store was restored and nobody took it over: it must not pass for the original."""
    if restored is not None and restored.stands:
        raise StoreMismatch(f"{what}: this store was {restored.text}. Nothing was changed", backup=restored.backup)


def still_stands(wire: Wire) -> bool:
    """Whether the store takes nothing new as it stands now. Raises StoreError."""
    found = restored_by(wire.call("HGET", STORE_KEY, RESTORED))
    return found is not None and found.stands


def take_over(wire: Wire, tags: Sequence[str], restored: FromBackup, at: str, reason: str | None) -> FromBackup:
    """Have every partition take what is new again, and the store say since when. Can be done again where it was killed."""
    wire.answers([["HDEL", LogKeys(tag).meta, RESTORED] for tag in tags])
    taken = msgspec.structs.replace(restored, taken_over=at, reason=reason)
    wire.call("HSET", STORE_KEY, RESTORED, msgspec.json.encode(taken))
    return taken


SEALED = SEALED_FIELD
"""The field of the store that a sealed one has."""
SEALING = "sealing"
"""The same line while a store that lay open is being sealed."""
BEING_SEALED = f"{FORMAT}>sealed"
"""What such a store tells as its format: every release that ever was refuses it."""
RESTORING = f"{FORMAT}>restoring"
"""The same of a store into which a backup is being brought."""


class StoreIdentity(NamedTuple):
    """What was fixed when the store was created."""

    store_id: str
    partitions: int
    tags: tuple[str, ...]
    parameter_set: str
    format: str = "1"
    """Of the log: `1` (release 0.2 and before, which wrote none), `2`, `2>sealed` while it is sealed,
    `2>restoring` while a backup is brought into it."""
    embedder: str = NONE
    """What compares meanings for owners who chose nothing, as was fixed at its creation: none, auto or an embedder's name."""
    sealed: bytes | None = None
    """32 bytes that the master key wrapped, in a sealed store: who cannot open them has another key."""
    embedder_at: int | None = None
    """When that was written down, microseconds; None in stores of before."""
    keys: str | None = None
    """The id of the key store of a sealed store."""
    sealing: bytes | None = None
    """The same as `sealed` of a store that is being sealed."""
    restored: FromBackup | None = None
    """What it was restored from; None where it never was."""


def read_identity(wire: Wire) -> StoreIdentity | None:
    """The store's identity, of whatever format, or None where there is no store. Raises StoreMismatch at what is no store."""
    answer = wire.call("HGETALL", STORE_KEY)
    if not answer:
        return None
    fields = {name.decode(): value for name, value in zip(answer[::2], answer[1::2], strict=True)}
    try:
        tags = tuple(msgspec.json.decode(fields["tags"], type=list[str]))
        identity = StoreIdentity(
            fields["store_id"].decode(),
            int(fields["partitions"]),
            tags,
            fields["parameter_set"].decode(),
            fields.get("format", b"1").decode(),
            fields.get("embedder", NONE.encode()).decode(),
            embedder_at=int(fields["embedder_at"]) if "embedder_at" in fields else None,
            sealed=fields.get(SEALED),
            sealing=fields.get(SEALING),
            keys=fields[KEYS_FIELD].decode() if KEYS_FIELD in fields else None,
            restored=restored_by(fields.get(RESTORED)),
        )
    except (KeyError, ValueError, msgspec.MsgspecError) as error:
        raise StoreMismatch(
            f"{STORE_KEY} is not what this release writes ({error!r}): is this another program's Redis?"
        ) from error
    if not 1 <= identity.partitions <= MAX_PARTITIONS or len(tags) != identity.partitions:
        raise StoreMismatch(f"{STORE_KEY} tells {identity.partitions} partitions and {len(tags)} tags: it was damaged")
    return identity


def known_identity(wire: Wire) -> StoreIdentity | None:
    """The identity of a store that this release can write to; None where there is no store. Raises as `open_store`."""
    identity = read_identity(wire)
    if identity is not None:
        check_format(identity)
        _begin(wire, identity)
    return identity


def _begin(wire: Wire, identity: StoreIdentity) -> None:
    """Have what opens and seals begin. Raises as `Seals.begin`, and StoreMismatch where a sealed store does not say any more that
    it is: what those say who are new would lie open from then on."""
    if identity.sealed is None:
        keys = [LogKeys(tag) for tag in identity.tags]
        asked: list[list[Argument]] = [["HGET", one.meta, SEALED_META] for one in keys]
        logs: list[list[Argument]] = [["XRANGE", one.stream, "-", "+", "COUNT", 1] for one in keys]
        marks = wire.answers([*asked, *logs])
        firsts = [dict(zip(held[::2], held[1::2], strict=True)) for rows in marks[len(asked) :] for _, held in rows]
        if any(marks[: len(asked)]) or any(one.get(b"e", b"")[:1] == BODY_MARK for one in firsts):
            raise StoreMismatch(
                f"this store was sealed, and the field `{SEALED}` of {STORE_KEY}, by which its master key is known, is gone: bring"
                " back the backup that has it; nothing was read or written"
            )
    else:
        told = wire.answers([["HGET", LogKeys(tag).meta, SEALED_META] for tag in identity.tags])
        if identity.keys is None or {b"1", b"2"} & set(told):
            raise OtherFormat(
                "this store was sealed by an unreleased version that kept keys and salts in the Redis of the log; this release does"
                " not read them: export with that version, and import into a new store",
                format="2",
            )
    wire.seals.begin(identity.store_id, identity.sealed, identity.keys)
    if identity.sealed is not None:
        refuse_own_server(wire)


def refuse_own_server(wire: Wire) -> None:
    """Raise StoreMismatch if the key store is a Redis that holds the log: each copy of it would hold the keys too."""
    theirs = wire.seals.keys.server()
    if theirs is not None and any(theirs.encode() in one.call("INFO", "server") for _, one in wire.servers()):
        raise StoreMismatch(
            "ENGRAMLOG_KEYS: got the Redis that holds the log; allowed: another server, so that no copy of the log holds keys;"
            " nothing was read or written",
            setting="ENGRAMLOG_KEYS",
        )


def check_format(identity: StoreIdentity) -> None:
    """Raise OtherFormat where this release must not write to the store."""
    if identity.format == str(FORMAT):
        return
    if identity.format == BEING_SEALED:
        raise OtherFormat(
            "this store was being sealed, which did not end: run `engramlog seal` again, which goes on with it; nothing else opens"
            " it meanwhile",
            format=identity.format,
        )
    if identity.format == RESTORING:
        raise OtherFormat(
            "this store is being restored from a backup, which did not end: run `engramlog backup restore` of the same folder"
            " again, which goes on with it; nothing else opens it meanwhile",
            format=identity.format,
        )
    if identity.format in ("1", f"1>{FORMAT}"):
        raise OtherFormat(
            f"the log of this store is of format {identity.format}, which release 0.2 wrote; this release reads format {FORMAT}"
            " alone and has no upgrade: use release 0.2, or an empty store",
            format=identity.format,
        )
    raise OtherFormat(
        f"the log of this store is of format {identity.format[:20]}, of a newer release; this one knows format {FORMAT}:"
        " use the release that wrote it",
        format=identity.format[:20],
    )


def check_parameters(identity: StoreIdentity) -> None:
    """Raise StoreMismatch where a store was made with other parameters than this release knows."""
    if identity.parameter_set != PARAMETER_SET:
        raise StoreMismatch(
            f"the store was made with parameter set {identity.parameter_set}; this release knows {PARAMETER_SET} alone:"
            " use the release that made the store, or an empty one"
        )


def open_store(
    wire: Wire, *, store_id: str, partitions: int, embedder: Callable[[], str] | None = None
) -> StoreIdentity:
    """The store's identity; a new store takes the `store_id` and `partitions` given. Safe to run at the same time anywhere.

    `embedder` tells what a new store has compare meanings; it is asked for a new store alone.
    """
    identity = read_identity(wire)
    if identity is None:
        tags: Sequence[str] = spread_tags(partitions)
        fields: list[Argument] = [
            "store_id",
            store_id,
            "partitions",
            partitions,
            "tags",
            msgspec.json.encode(tags),
            "parameter_set",
            PARAMETER_SET,
            "format",
            FORMAT,
        ]
        if embedder is not None:
            fields += ["embedder", embedder(), "embedder_at", redis_micros(wire)]
        if wire.seals.master is not None:
            fields += [SEALED, wire.seals.new_check(store_id), KEYS_FIELD, wire.seals.new_keys(store_id)]
            refuse_own_server(wire)
        wire.run(CREATE_STORE, [STORE_KEY], fields)
        identity = read_identity(wire)
        assert identity is not None
    check_format(identity)
    _begin(wire, identity)
    check_parameters(identity)
    every, first = [BuildKeys(tag, FIRST_BUILD) for tag in identity.tags], checkpoint_fields(Checkpoint())
    named = [(keys.log.meta, keys.log.stream, keys.checkpoint) for keys in every]
    run_many(wire, BEGIN_PARTITION, [(names, (FIRST_BUILD, *first)) for names in named])
    if identity.sealed is not None:
        wire.pipeline([["HSETNX", LogKeys(tag).meta, SEALED_META, MOVED] for tag in identity.tags])
    return identity


READ_COUNT = 500
EVERYTHING = 1 << 62
HeadState = Literal["agrees", "differs", "missing", "unread"]
WORST_FIRST: tuple[HeadState, ...] = ("differs", "missing", "unread")


class LiveHead(NamedTuple):
    """A partition's head now."""

    build: str
    seq: int
    """Of the live build's checkpoint."""
    chain: str
    appended: int
    """The head of the log."""


def live_heads(wire: Wire, tags: Sequence[str]) -> list[LiveHead]:
    """Every partition's head: two small reads each, in two round trips. Raises StoreError."""
    metas = wire.answers([["HMGET", LogKeys(tag).meta, "live", "head"] for tag in tags])
    builds = [(live or b"").decode() for live, _ in metas]
    keys = [BuildKeys(tag, build).checkpoint for tag, build in zip(tags, builds, strict=True)]
    folded = wire.answers([["HMGET", key, "seq", "head"] for key in keys])
    return [
        LiveHead(build, int(seq or 0), (chain or FIRST_LINK).hex(), int(appended or 0))
        for build, (_, appended), (seq, chain) in zip(builds, metas, folded, strict=True)
    ]


def chain_on(wire: Wire, tag: str, head: Head, to: int) -> str | None:
    """The chain at `to`, from a head before it and the log's entries between; None where they are not all there."""
    chain = bytes.fromhex(head.chain)
    for seq, link in _links(wire, tag, head.seq, chain, to):
        if seq == to:
            return link.hex()
    return chain.hex() if to == head.seq else None


def _links(wire: Wire, tag: str, after: int, chain: bytes, to: int) -> Iterator[tuple[int, bytes]]:
    stream = LogKeys(tag).stream
    while after < to:
        batch = entries(wire.call("XRANGE", stream, f"{after + 1}-0", f"{to}-0", "COUNT", READ_COUNT), tag)
        for one in batch:
            if one.seq != after + 1:
                return
            after, chain = one.seq, event_link(chain, one)
            yield after, chain
        if not batch:
            return


class Unmet(NamedTuple):
    """A kept head that the log does not meet."""

    partition: int
    seq: int
    kept: str
    found: str | None
    """The chain that the log gives there; None where the log has no such entry."""
    line: int

    @property
    def text(self) -> str:
        """One sentence."""
        where = position_text(self.partition, self.seq)
        if self.found is None:
            return f"a kept head reaches {where}, and the log does not"
        return f"the log's chain at {where} is {self.found[:16]}..., kept was {self.kept[:16]}..."


def unmet_heads(partition: int, expected: Mapping[int, Expected], found: Mapping[int, str]) -> list[Unmet]:
    """Kept heads of a partition that the chains found do not meet, in their order."""
    return [
        Unmet(partition, seq, one.chain, found.get(seq), one.line)
        for seq, one in sorted(expected.items())
        if found.get(seq) != one.chain
    ]


class Recomputed(NamedTuple):
    """A partition's chain, computed from its first entry."""

    found: dict[int, str]
    """The chain at the seqs that were asked for, as far as it was computed."""
    read_to: int
    whole: bool
    """Whether it ended at what was asked for, or where the log does; not for having read enough."""


def recompute(
    wire: Wire, tag: str, seqs: Container[int], to: int, *, most: int = EVERYTHING, check: Check = unchecked
) -> Recomputed:
    """The chain at these seqs up to `to`, from at most so many entries. Raises StoreError, and what `check` raises."""
    found, at, end = {0: FIRST_LINK.hex()}, 0, min(to, most)
    try:
        for seq, chain in _links(wire, tag, 0, FIRST_LINK, end):
            at = seq
            if seq % READ_COUNT == 1:
                check(seq, end)
            if seq in seqs:
                found[seq] = chain.hex()
    except LogGap:
        return Recomputed(found, at, whole=True)  # heads beyond it are not met, and told so
    return Recomputed(found, at, whole=end == to or at < end)


def check_log(wire: Wire, partition: int, tag: str, expected: Mapping[int, Expected]) -> list[Unmet]:
    """Recompute a partition's chain from its first entry, and compare with every kept head. Raises StoreError."""
    if not expected:
        return []
    return unmet_heads(partition, expected, recompute(wire, tag, expected, max(expected)).found)


class PartitionMet(NamedTuple):
    """How one partition's log meets the heads that somebody holds of it."""

    partition: int
    heads: int
    unmet: list[tuple[Unmet, HeadState]]
    """In their order; those that were not reached too."""
    last_agreed: int | None
    read_to: int
    appended: int
    behind: int
    """Entries after the farthest head."""

    @property
    def counts(self) -> Counter[HeadState]:
        """How many heads stand how."""
        told = Counter(state for _, state in self.unmet)
        told["agrees"] = self.heads - len(self.unmet)
        return told

    @property
    def state(self) -> HeadState:
        """The worst of them."""
        there = self.counts
        return next((state for state in WORST_FIRST if there[state]), "agrees")


def meet(partition: int, expected: Mapping[int, Expected], appended: int, read: Recomputed) -> PartitionMet:
    """What a recomputed chain says about heads. Pure."""
    unmet = [
        (one, _state(one, appended, read)) for one in unmet_heads(partition, expected, read.found)
    ]  # fmt: skip
    agreed = expected.keys() - {one.seq for one, _ in unmet}
    behind = max(appended - max(expected, default=0), 0)
    return PartitionMet(partition, len(expected), unmet, max(agreed, default=None), read.read_to, appended, behind)


def _state(one: Unmet, appended: int, read: Recomputed) -> HeadState:
    if one.found is not None:
        return "differs"
    return "missing" if one.seq > appended or read.whole else "unread"
