"""Opening the sealed bodies of entries that were read: their salts and their owners' secrets are asked for, once a batch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

from engramlog_server.events.door.of_the_store import SYSTEM_OWNERS
from engramlog_server.events.entry import commitment
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, KeyUnavailable, OwnerErased
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.secrets import read_ciphers
from engramlog_server.events.redis.wire import Argument, Wire
from engramlog_server.events.redis.wordless import open_left
from engramlog_server.events.sealing.cipher import (
    BODY_MARK,
    NO_SALT,
    SALT_BYTES,
    NotOpened,
    ValueCipher,
    body_about,
    open_body,
)
from engramlog_server.events.sealing.compression import body_dictionary

_PRINCIPAL, _COMMITTED = 1, 4
"""Their places in the fields next to a body; level and digests are between them."""
_BODY = Stored._fields.index("body")
_STORED = tuple.__new__
_NEAR = 512
"""Seqs between two salts that one answer may hold besides."""


def opened(wire: Wire, keys: LogKeys, found: Sequence[Stored]) -> list[Stored]:
    """The entries with their bodies open. Raises StoreError, KeyUnavailable where an owner's key cannot be had, and DamagedState
    where a body does not open under the right key, or what is said of keys and grants lies open in a sealed store: whoever can
    write to Redis would make himself a key. Of one whose words were erased it is what is left (`events.sealing.wordless`); one
    whose salt is lost, or whose owner was erased, stays sealed. Any other that lies open in a sealed store does not open either."""
    sealed = [at for at, one in enumerate(found) if one.body[:1] == BODY_MARK]
    if len(sealed) != len(found) and wire.seals.is_on:
        _refuse_planted(keys, found)
        found = _without_open(found)
    if not sealed:
        return list(found)
    ciphers = read_ciphers(wire, keys, list({found[at].owner: None for at in sealed}))
    salts, answer = _salts(wire, keys, [found[at].seq for at in sealed]), list(found)
    wiped = list[int]()
    for at in sealed:
        one = found[at]
        cipher, salt = ciphers.get(one.owner), salts[one.seq]
        if isinstance(cipher, KeyUnavailable) and not isinstance(cipher, OwnerErased):
            raise cipher
        if isinstance(cipher, ValueCipher):
            if salt == NO_SALT:
                wiped.append(at)
            else:
                answer[at] = open_entry(wire, keys, one, cipher, salt)
    for at, left in _left(wire, keys, [(at, found[at]) for at in wiped], ciphers):
        if left is None:
            raise DamagedState(
                f"what is left of the event at seq {found[at].seq} of partition {{{keys.tag}}} does not open, though its owner's"
                " key does: no erasure wrote it; bring back the backup that has the right one, and see `engramlog verify`",
                partition=keys.tag,
                seq=found[at].seq,
            )
        answer[at] = left
    return answer


def _left(
    wire: Wire, keys: LogKeys, wiped: Sequence[tuple[int, Stored]], ciphers: Mapping[str, ValueCipher | KeyUnavailable]
) -> Iterator[tuple[int, Stored | None]]:
    """What is left of entries without a salt, of those of which anything is; None of what does not open. Raises StoreError."""
    if not wiped:
        return
    values = wire.call("HMGET", keys.wordless, *(one.seq for _, one in wiped))
    for (at, one), value in zip(wiped, values, strict=True):
        cipher = ciphers.get(one.owner)
        if value is not None and isinstance(cipher, ValueCipher):
            yield at, left_of(one, cipher, value)


def left_of(one: Stored, cipher: ValueCipher, value: bytes) -> Stored | None:
    """What is left of an entry whose words were erased, by what is stored of it; None where that does not open."""
    try:
        return _STORED(Stored, (*one[:_BODY], open_left(cipher, one.owner, one.seq, value), one.beside, b""))
    except NotOpened:
        return None


def _refuse_planted(keys: LogKeys, found: Sequence[Stored]) -> None:
    """Raises DamagedState where an event of the store's own owners is not sealed."""
    for one in found:
        if one.owner in SYSTEM_OWNERS and one.body[:1] != BODY_MARK:
            raise DamagedState(
                f"the event at seq {one.seq} of partition {{{keys.tag}}} is said of {one.owner} and lies open in a sealed store: no"
                " append wrote it, so somebody else can write to this Redis; see `engramlog verify`, and bring back the backup"
                " from before",
                partition=keys.tag,
                seq=one.seq,
            )


def _without_open(found: Sequence[Stored]) -> list[Stored]:
    """Entries of a sealed store; one that lies open is given as one that does not open, for no append wrote it. Its chain is the
    same."""
    return [one if one.body[:1] == BODY_MARK else as_shut(one) for one in found]


def as_shut(one: Stored) -> Stored:
    """An entry as one that does not open."""
    beside = one.beside
    if one.salt:
        beside = (*beside[:_COMMITTED], commitment(one.salt, one.body), *beside[_COMMITTED + 1 :])
    return one._replace(body=BODY_MARK + one.body, beside=beside, salt=b"")


def opened_where_it_can_be(
    wire: Wire, keys: LogKeys, found: Sequence[Stored], known: Mapping[str, ValueCipher]
) -> list[Stored]:
    """The same for a fold, which an owner must not stop for others: what does not open stays sealed, and cannot be decoded then.

    `known`: what opens the bodies of some owners. Raises StoreError.
    """
    sealed = [at for at, one in enumerate(found) if one.body[:1] == BODY_MARK]
    if len(sealed) != len(found) and wire.seals.is_on:
        found = _without_open(found)
    if not sealed:
        return list(found)
    unknown = list({owner: None for at in sealed if (owner := found[at].owner) not in known})
    ciphers = {**known, **(read_ciphers(wire, keys, unknown) if unknown else {})}
    salts, answer = _salts(wire, keys, [found[at].seq for at in sealed]), list(found)
    wiped = list[tuple[int, Stored]]()
    for at in sealed:
        one = found[at]
        cipher, salt = ciphers.get(one.owner), salts[one.seq]
        if isinstance(cipher, ValueCipher):
            if salt == NO_SALT:
                wiped.append((at, one))
                continue
            with suppress(DamagedState):
                answer[at] = open_entry(wire, keys, one, cipher, salt)
    for at, left in _left(wire, keys, wiped, ciphers):
        if left is not None:
            answer[at] = left
    return answer


def open_entry(wire: Wire, keys: LogKeys, one: Stored, cipher: ValueCipher, salt: bytes) -> Stored:
    """A sealed entry with its body open, and the salt of its commitment. Raises DamagedState."""
    _, kind, raw_id, owner, sealed, beside, _ = one
    about = body_about(wire.seals.store, raw_id, owner, kind, *beside[_PRINCIPAL : _COMMITTED + 1])
    try:
        opens, body = open_body(cipher.secret, salt, about, sealed, body_dictionary(raw_id, owner, kind))
    except NotOpened as error:
        raise DamagedState(
            f"the body at seq {one.seq} of partition {{{keys.tag}}} does not open, though its owner's key does: it, its salt or"
            " what stands beside it was changed; bring back the backup that has the right one, and see `engramlog verify`",
            partition=keys.tag,
            seq=one.seq,
        ) from error
    return _STORED(Stored, (*one[:_BODY], body, one.beside, opens))


def _salts(wire: Wire, keys: LogKeys, seqs: Sequence[int]) -> dict[int, bytes]:
    """The salt of each seq; zero bytes where there is none."""
    spans = list[list[int]]()
    for seq in sorted(seqs):
        if spans and seq - spans[-1][1] <= _NEAR:
            spans[-1][1] = seq
        else:
            spans.append([seq, seq])
    asked: list[list[Argument]] = [
        ["GETRANGE", keys.salts, SALT_BYTES * first, SALT_BYTES * (last + 1) - 1] for first, last in spans
    ]
    answers: list[Any] = wire.answers(asked)
    starts, raws = [first for first, _ in spans], dict(zip(map(itemgetter(0), spans), answers, strict=True))
    found = dict[int, bytes]()
    for seq in seqs:
        first = starts[bisect_right(starts, seq) - 1] if len(starts) > 1 else starts[0]
        at = SALT_BYTES * (seq - first)
        found[seq] = raws[first][at : at + SALT_BYTES] or NO_SALT
    return found
