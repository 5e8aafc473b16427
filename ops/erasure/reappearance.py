"""What was erased and lies there all the same: an older copy of the store, or of its keys, came back, or an erasure did not end.

At every opening the list of erasures is compared with the store, before anything answers: erased owners are fenced again, their
keys deleted from the key store, and words that came back are erased again. A store on one Redis comes back as a whole: its log then
lacks what the list tells. Of a Cluster one node alone may come back with an older copy, while the log of `:erasures` is on another:
so each partition notes up to which of the list it was looked through, after the fences, on the same node.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from engramlog_server.consumers.erasure import destroy_keys, fence, fence_names, wipe_entries
from engramlog_server.events.catalogue import MemoryErased
from engramlog_server.events.encryption.cipher import BODY_MARK, ValueCipher, salts_id
from engramlog_server.events.encryption.key_store import Wiped, has_words, is_name
from engramlog_server.events.encryption.seals import erased_name, erasure_of, is_tombstone
from engramlog_server.events.envelope import Event, derived_id, prepare
from engramlog_server.events.errors import KeyUnavailable, OwnerErased, StoreUnavailable
from engramlog_server.events.log import Appendable, AppendReceipt
from engramlog_server.events.of_the_store import ERASURES, label_of
from engramlog_server.events.partitions import FENCED_META, LogKeys, parse_position, partition_of, position_text
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.secrets import read_seqs, readmission, secret_lines
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.ops.erasure.fence_list import (
    ErasureStep,
    WordsGoing,
    going_by,
)
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.store import slices

ALARM = "erasure_left"
AT_ONCE = 1_000
_DIGITS = 16
Append = Callable[[Sequence[Appendable]], list[AppendReceipt]]


def came_back(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> Iterator[tuple[str, str, str]]:
    """Owners of the list whose erasure ended and who have a line, each with the partition's tag and the erasure: an older copy of
    the store came back, or somebody put the line back. Looks at the lines themselves, whatever the log says. Raises StoreError.
    """
    wanted = {one.label: one.erasure for one in listed if one.step == "ended"}
    for tag in tags if wanted else ():
        for owner, line in secret_lines(wire, tag):
            if is_tombstone(line) or (erasure := wanted.get(label_of(listed[0].store, owner))) is None:
                continue
            if not _readmitted(wire, tag, owner, erasure):
                yield tag, owner, erasure


def returned_keys(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[bytes]:
    """Names of erased owners' keys that the key store has all the same: an older copy of it came back. Raises StoreError.

    Compares the key store with the list and with every tombstone of Redis.
    """
    names = {bytes.fromhex(one.key) for one in listed if one.key}
    for tag in tags:
        names.update(erased_name(line) for _, line in secret_lines(wire, tag) if is_tombstone(line))
    return list(wire.seals.keys.read([one for one in names if is_name(one)]))


def fence_again(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[str]:
    """Fence those who came back, and delete erased owners' keys that are in the key store again; the owners. Raises StoreError."""
    found = list[str]()
    destroy_keys(wire, returned_keys(wire, tags, listed))
    for tag, owner, erasure in came_back(wire, tags, listed):
        fence(wire, tag, owner, erasure)
        found.append(owner)
    return found


def _readmitted(wire: Wire, tag: str, owner: str, erasure: str) -> bool:
    line = wire.call("HGET", LogKeys(tag).readmitted, owner)
    return line is not None and readmission(owner, line)[1] == erasure


def left_behind(wire: Wire, tags: Sequence[str], unended: Collection[str] = ()) -> list[str]:
    """Those of them of whom the live build has something, or the newest entry has its salt, or whose erasure is one of these.

    Raises StoreError.
    """
    found = list[str]()
    for tag in tags:
        keys = LogKeys(tag)
        live = BuildKeys(tag, (wire.call("HGET", keys.meta, "live") or b"").decode())
        for owner, line in secret_lines(wire, tag):
            if not is_tombstone(line):
                continue
            state, records, stuck, head = wire.answers(
                [
                    ["HEXISTS", live.owners, owner],
                    ["EXISTS", live.records(owner)],
                    ["HEXISTS", live.quarantine, owner],
                    ["HGET", keys.heads, owner],
                ]
            )
            seq = int(head or 0)
            newest = entries(wire.call("XRANGE", keys.stream, f"{seq}-0", f"{seq}-0"), tag) if seq else []
            salts = wire.seals.keys.salts([salts_id(one.body) for one in newest])
            if state or records or stuck or salts or erasure_of(line) in unended:
                found.append(owner)
    return found


def erased_event(owner: str, memory_id: str, erasure: str, at: datetime, reason: str) -> Event[MemoryErased]:
    """That a memory is erased: the same event whenever it is said again."""
    return Event[MemoryErased](
        event_id=derived_id("erase words", owner, erasure, memory_id),
        type=MemoryErased.__name__,
        owner=owner,
        occurred_at=at,
        actor="operator",
        data=MemoryErased(memory_id=memory_id, reason=reason, erasure=erasure),
    )


def lacks(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> set[str]:
    """Those events of the list that the log does not have: it is an older copy. Raises StoreError."""
    keys, events = LogKeys(tags[partition_of(ERASURES, len(tags))]), {one.event for one in listed}
    known = set[str]()
    for some in slices(sorted(events), AT_ONCE):
        known |= read_seqs(wire, keys, ERASURES, some).keys()
    return events - known


class WipedAgain(NamedTuple):
    """What came back, and was taken out again."""

    until: Mapping[int, int] = MappingProxyType({})
    """By partition up to where must be folded before anything is answered."""
    erasures: tuple[str, ...] = ()
    """Those whose end the log tells, though a node of the Cluster came back as it was before: they are to be done again."""


def wipe_again(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep], append: Append) -> WipedAgain:
    """Take those words of the list again out of a store whose log lacks something of it, or that lies on a Cluster of which a node
    came back. Raises StoreError, KeyUnavailable where it cannot be known whose they are."""
    # The newest line of each counts: what was certified again ended twice, and the log has one of both.
    if not (steps := {one.erasure: one for one in listed if one.step in ("fenced", "ended")}):
        return WipedAgain()
    # An older copy of the key store has words' salts again, though the log is of now.
    whole = wire.seals.keys.salts([one for step in listed for one in step.salts]).values()
    lacking = bool(lacks(wire, tags, list(steps.values()))) or any(map(has_words, whole))
    older = list(tags) if lacking else _unlooked(wire, tags, listed)
    until, back = dict[int, int](), list[str]()
    for tag, owner, cipher in owners_with(wire, older, listed[0].store, {one.label for one in steps.values()}):
        mine = [one for one in listed if one.erasure in steps and one.label == label_of(one.store, owner)]
        events = list[Event[MemoryErased]]()
        for one, going in going_by(mine, cipher, owner).values():
            fence_names(wire, tag, cipher.secret, going.memories, going.turns)
            seqs = _seqs(wire, tag, owner, going)
            had_words = wipe_entries(wire, tag, owner, seqs, Wiped(one.erasure, tags.index(tag), 0))
            at = datetime.fromisoformat(_began(listed, one))
            mine_again = [erased_event(owner, each, one.erasure, at, one.reason) for each in going.memories]
            there = read_seqs(wire, LogKeys(tag), owner, [each.event_id for each in mine_again])
            if not (lacking or had_words or len(there) < len(mine_again)):
                continue  # this node has all of it
            back += [] if lacking else [one.erasure]
            events += mine_again
        for some in slices(events, MAX_REQUEST_EVENTS):
            for receipt in append([prepare(one) for one in some]):
                if not receipt.written or receipt.position is None:
                    raise StoreUnavailable(
                        f"words that were erased came back, and could not be erased again: {receipt.error}"
                    )
                partition, seq = parse_position(receipt.position)
                until[partition] = max(until.get(partition, 0), seq)
    if wire.many:
        wire.answers([["HSET", LogKeys(tag).meta, _noted(), _mark(listed)] for tag in older])
    return WipedAgain(until, tuple(back))


def _unlooked(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[str]:
    """The partitions of a Cluster that were not looked through for all that is listed; none of one server. Raises StoreError."""
    if not wire.many:
        return []
    found = wire.answers([["HGET", LogKeys(tag).meta, _noted()] for tag in tags])
    return [tag for tag, mark in zip(tags, found, strict=True) if mark != _mark(listed)]


def _noted() -> str:
    """How this machine notes that it looked for words: each machine has a list of its own."""
    return f"{FENCED_META}words:{sha256(socket.gethostname().encode()).hexdigest()[:_DIGITS]}"


def _mark(listed: Sequence[ErasureStep]) -> bytes:
    lines = sorted(f"{one.erasure} {one.step}" for one in listed)
    return sha256("\n".join(lines).encode()).hexdigest()[:_DIGITS].encode()


def _began(listed: Sequence[ErasureStep], one: ErasureStep) -> str:
    """When an erasure began, as its events tell it."""
    return next(step.at for step in listed if step.erasure == one.erasure and step.step in ("began", "fenced"))


def _seqs(wire: Wire, tag: str, owner: str, going: WordsGoing) -> list[int]:
    found = list[int]()
    for some in slices(going.event_ids, AT_ONCE):
        found += read_seqs(wire, LogKeys(tag), owner, some).values()
    return found


def owners_with(
    wire: Wire, tags: Sequence[str], store_id: str, labels: set[str]
) -> Iterator[tuple[str, str, ValueCipher]]:
    """Those owners whose labels these are: partition's tag, name, and what opens its values."""
    for tag in tags:
        for owner, line in secret_lines(wire, tag):
            if label_of(store_id, owner) in labels:
                found = wire.seals.ciphers({owner: line})[owner]
                if isinstance(found, OwnerErased):
                    continue
                if isinstance(found, KeyUnavailable):
                    raise found
                yield tag, owner, found


def without_keys(wire: Wire, tags: Sequence[str], also: Collection[str] = ()) -> list[str]:
    """Positions of newest entries, one of a partition, and of these others, that nothing in the key store opens, though they are
    not erased: the key store is an older copy than the log. Raises StoreError."""
    answers = wire.answers([["XREVRANGE", LogKeys(tag).stream, "+", "-", "COUNT", 1] for tag in tags])
    asked = [(tag, one) for tag, answer in zip(tags, answers, strict=True) for one in entries(answer, tag)]
    for position in also:
        with suppress(ValueError, IndexError):  # it is none of this store
            partition, seq = parse_position(position)
            answer = wire.call("XRANGE", LogKeys(tags[partition]).stream, f"{seq}-0", f"{seq}-0")
            asked += [(tags[partition], one) for one in entries(answer, tags[partition])]
    sealed = [(tag, one) for tag, one in asked if one.body[:1] == BODY_MARK]
    there, found = wire.seals.keys.salts([salts_id(one.body) for _, one in sealed]), dict[str, None]()
    for tag, one in sealed:
        if salts_id(one.body) not in there:
            keys = LogKeys(tag)
            line, again = wire.answers([["HGET", keys.secrets, one.owner], ["HGET", keys.readmitted, one.owner]])
            since = 0 if again is None else readmission(one.owner, again)[0]
            if line is not None and not is_tombstone(line) and one.seq > since:
                found[position_text(tags.index(tag), one.seq)] = None
    return list(found)
