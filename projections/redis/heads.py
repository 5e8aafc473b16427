"""The heads of a store's chains as they are, and whether its log meets those that were kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from engramlog_server.events.errors import LogGap
from engramlog_server.events.heads import Expected, Head
from engramlog_server.events.partitions import LogKeys, position_text
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.changelog import FIRST_LINK, event_link
from engramlog_server.projections.redis.builds import BuildKeys

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
