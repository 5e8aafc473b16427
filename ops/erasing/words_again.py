"""Words that were erased and came back with an older copy of the store: erased again by the list, before anything answers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from engramlog_server.consumers.erasing.looked import note_looked, unlooked
from engramlog_server.consumers.erasing.words import fence_names, wipe_entries
from engramlog_server.events.catalogue import MemoryErased
from engramlog_server.events.envelope import Event, derived_id, prepare
from engramlog_server.events.errors import KeyUnavailable, OwnerErased, StoreUnavailable
from engramlog_server.events.log import Appendable, AppendReceipt
from engramlog_server.events.of_the_store import ERASURES, label_of
from engramlog_server.events.partitions import LogKeys, parse_position, partition_of
from engramlog_server.events.redis.secrets import read_seqs
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.cipher import ValueCipher
from engramlog_server.events.sealing.key_store import Wiped, has_words
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.ops.erasing.fence_list import AT_ONCE, ErasureStep, secret_lines
from engramlog_server.ops.erasing.words_list import WordsGoing, erased_by, going_by, going_in
from engramlog_server.projections.redis.store import slices

_DIGITS = 16
Append = Callable[[Sequence[Appendable]], list[AppendReceipt]]


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
    if not (steps := erased_by(listed)):
        return WipedAgain()
    # The newest line of each counts: what was certified again ended twice, and the log has one of both.
    # An older copy of the key store has words' salts again, though the log is of now.
    whole = wire.seals.keys.salts([one for step in listed for one in step.salts]).values()
    lacking = bool(lacks(wire, tags, list(steps.values()))) or any(map(has_words, whole))
    older = list(tags) if lacking else unlooked(wire, tags, _steps_of(listed), _noted())
    until, back = dict[int, int](), list[str]()
    for tag, owner, cipher in _owners(wire, older, listed[0].store, {one.label for one in steps.values()}):
        mine = [one for one in listed if one.erasure in steps and one.label == label_of(one.store, owner)]
        events = list[Event[MemoryErased]]()
        for one, going in going_by(mine, cipher, owner).values():
            fence_names(wire, tag, cipher.secret, going.memories, going.turns)
            seqs = _seqs(wire, tag, owner, going)
            had_words = wipe_entries(wire, tag, owner, seqs, Wiped(one.erasure, tags.index(tag), 0))
            if not (lacking or had_words):
                continue  # this node has all of it: words went last
            back += [] if lacking else [one.erasure]
            at = datetime.fromisoformat(_began(listed, one))
            events += [erased_event(owner, memory_id, one.erasure, at, one.reason) for memory_id in going.memories]
        for some in slices(events, MAX_REQUEST_EVENTS):
            for receipt in append([prepare(one) for one in some]):
                if not receipt.written or receipt.position is None:
                    raise StoreUnavailable(
                        f"words that were erased came back, and could not be erased again: {receipt.error}"
                    )
                partition, seq = parse_position(receipt.position)
                until[partition] = max(until.get(partition, 0), seq)
    if wire.many:
        note_looked(wire, older, _steps_of(listed), _noted())
    return WipedAgain(until, tuple(back))


def _noted() -> str:
    """How this machine notes that it looked for words: each machine has a list of its own."""
    return f"words:{sha256(socket.gethostname().encode()).hexdigest()[:_DIGITS]}"


def _steps_of(listed: Iterable[ErasureStep]) -> list[tuple[str, str]]:
    """Erasure and step of each."""
    return [(one.erasure, one.step) for one in listed]


def _began(listed: Sequence[ErasureStep], one: ErasureStep) -> str:
    """When an erasure began, as its events tell it."""
    return next(step.at for step in listed if step.erasure == one.erasure and step.step in ("began", "fenced"))


def _seqs(wire: Wire, tag: str, owner: str, going: WordsGoing) -> list[int]:
    found = list[int]()
    for some in slices(going.event_ids, AT_ONCE):
        found += read_seqs(wire, LogKeys(tag), owner, some).values()
    return found


def _owners(wire: Wire, tags: Sequence[str], store_id: str, labels: set[str]) -> Iterator[tuple[str, str, ValueCipher]]:
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


def unfinished_words(
    wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep], alarmed: Collection[str] = ()
) -> Mapping[tuple[str, str], WordsGoing]:
    """Owner and erasure -> what goes: of erasures that did not end, or whose end this copy of the log lacks. Raises StoreError.

    `alarmed`: erasures of which it is told that they did not end; one that ended right before its process died is among them.
    """
    lacking = lacks(wire, tags, listed) if listed else set[str]()
    left = dict[str, ErasureStep]()
    for one in listed:
        if one.step != "ended" or one.event in lacking or one.erasure in alarmed:
            left[one.erasure] = one
        else:
            left.pop(one.erasure, None)
    if not left:
        return {}
    found = dict[tuple[str, str], WordsGoing]()
    for _, owner, cipher in _owners(wire, tags, listed[0].store, {one.label for one in left.values()}):
        for one in left.values():
            if one.label == label_of(one.store, owner) and (going := going_in(one, cipher, owner)) is not None:
                found[owner, one.erasure] = going
    return found
