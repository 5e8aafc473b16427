"""A partition's log copied sealed under the same ids, proved equal entry by entry, and taken for the old one by one script.

Redis changes no entry in place. So the stream is copied beside itself, as are the names of owners' keys;
what is left of a killed copy is gone on with. Nothing of the old log is touched until the copy was read back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from engramlog_server.consumers.encryption.remnants import drop_other_builds
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.events.encryption.cipher import (
    BODY_MARK,
    NotOpened,
    ValueCipher,
    body_about,
    body_dictionary,
    open_body,
    salts_id,
    seal_body,
)
from engramlog_server.events.encryption.seals import whole_secret
from engramlog_server.events.encryption.skeleton import skeleton_of
from engramlog_server.events.entry import commitment
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, OtherFormat
from engramlog_server.events.partitions import MOVED, SEALED_META, LogKeys
from engramlog_server.events.redis.gap import refuse_gap, refuse_holes
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.scan import PAGE, pairs
from engramlog_server.events.redis.wire import Argument, Script, Wire
from engramlog_server.projections.fold.changelog import FIRST_LINK, event_link

READ_COUNT = 500
_BODY, _SALT = 7, 19
"""Where they stand among an entry's fields and values."""
_PRINCIPAL, _COMMITTED = 1, 4
Progress = Callable[[int], None]
"""Hears of how many entries were read, as they are."""

PUT = Script(
    "put sealed entries",
    """
-- KEYS: copy of the stream. ARGV: newest seq of the copy, then of each entry how many fields and values it has,
-- and these. A page is written whole or not, and by whoever knows how far the copy is.
local call = redis.call
local seq = tonumber(ARGV[1])
if call('XLEN', KEYS[1]) ~= seq then return call('XLEN', KEYS[1]) end
local at = 2
while at <= #ARGV do
  local many = tonumber(ARGV[at])
  seq = seq + 1
  call('XADD', KEYS[1], seq .. '-0', unpack(ARGV, at + 1, at + many))
  at = at + many + 1
end
return seq
""",
)
TAKE = Script(
    "take a sealed log",
    """
-- KEYS: meta, stream, its copy, secrets, their copy. ARGV: field, its value afterwards, head, owners
local call = redis.call
if call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return 'done' end
local head, owners = tonumber(ARGV[3]), tonumber(ARGV[4])
if tonumber(call('HGET', KEYS[1], 'head') or '0') ~= head or call('XLEN', KEYS[2]) ~= head or call('XLEN', KEYS[3]) ~= head
  or call('HLEN', KEYS[4]) ~= owners or call('HLEN', KEYS[5]) ~= owners then return 'elsewhere' end
if head > 0 then
  call('UNLINK', KEYS[2])
  call('RENAME', KEYS[3], KEYS[2])
end
if owners > 0 then
  call('UNLINK', KEYS[4])
  call('RENAME', KEYS[5], KEYS[4])
end
call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'ok'
""",
)


class CopyKeys(NamedTuple):
    """Where the copy of a partition's log lies until it is taken for it."""

    stream: str
    secrets: str

    @classmethod
    def of(cls, tag: str) -> CopyKeys:
        """Of a partition."""
        return cls(*(f"{{{tag}}}:{name}:sealed" for name in ("ev", "keys")))


class OpenLog(NamedTuple):
    """A partition's log as it lies open."""

    head: int
    chain: bytes
    owners: int


class NotEqual(DamagedState):
    """A sealed copy is not what it was made of; the log that lies open stands as it was."""


class AlreadySealed(OtherFormat):
    """A body of a store that lies open begins as a sealed one does."""


def look(wire: Wire, tag: str, *, on_progress: Progress = lambda _read: None) -> OpenLog:
    """Read a partition's log and say what it is; reads only.

    Raises LogGap where it is not whole, DamagedState where a body is not the one that was committed to, or an owner has no secret.
    """
    keys, after, chain, known = LogKeys(tag), 0, FIRST_LINK, dict[str, bytes]()
    refuse_gap(wire, tag)
    while batch := entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", READ_COUNT), tag):
        refuse_holes(batch, after, tag)
        known |= _secrets(wire, keys, batch, known)
        for one in batch:
            _refuse_what_cannot_be_sealed(one, tag)
            chain = event_link(chain, one)
        after = batch[-1].seq
        on_progress(len(batch))
    return OpenLog(after, chain, int(wire.call("HLEN", keys.secrets)))


def is_taken(wire: Wire, tag: str) -> bool:
    """Whether a partition is sealed already."""
    return bool(wire.call("HGET", LogKeys(tag).meta, SEALED_META) == MOVED.encode())


def bring_over(wire: Wire, tag: str, *, probe: Probe = unprobed, on_progress: Progress = lambda _read: None) -> bool:
    """Copy, prove and take a partition's log; False where that was done before. The wire's seals are on.

    Raises what `look` raises, and NotEqual where the copy is not the log: it is dropped, and what lies open is untouched.
    """
    if is_taken(wire, tag):
        return False
    keys, copy = LogKeys(tag), CopyKeys.of(tag)
    drop_other_builds(wire, tag)  # what a killed rebuild folded lies open, and is not gone on with
    _copy_log(wire, keys, copy, probe, on_progress)
    _copy_secrets(wire, keys, copy)
    probe("before a copy is proved")
    try:
        found = _prove(wire, keys, copy, on_progress)
    except NotEqual:
        wire.call("UNLINK", *copy)
        raise
    probe("before a copy is taken")
    names = [keys.meta, keys.stream, copy.stream, keys.secrets, copy.secrets]
    if wire.run(TAKE, names, [SEALED_META, MOVED, found.head, found.owners]) == b"elsewhere":
        raise NotEqual(
            f"partition {{{tag}}} changed while it was sealed: somebody writes to this Redis; stop that, and run `engramlog seal`"
            " again",
            partition=tag,
        )
    probe("after a copy is taken")
    return True


def _copy_log(wire: Wire, keys: LogKeys, copy: CopyKeys, probe: Probe, on_progress: Progress) -> None:
    after, known = int(wire.call("XLEN", copy.stream)), dict[str, bytes]()
    on_progress(after)
    while rows := wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", READ_COUNT):
        batch = entries(rows, keys.tag)
        refuse_holes(batch, after, keys.tag)
        known |= _secrets(wire, keys, batch, known)
        salts, sealed = wire.seals.keys.take(len(batch)), list[Argument]()
        for (_, held), one, salt in zip(rows, batch, salts, strict=True):
            _refuse_what_cannot_be_sealed(one, keys.tag)
            sealed += [len(held), *_sealed(wire, held, one, known[one.owner], salt)]
        reached = wire.run(PUT, [copy.stream], [after, *sealed])
        after = batch[-1].seq
        if reached != after:
            raise NotEqual(
                f"partition {{{keys.tag}}}: its copy reaches {reached}, and not {after}: another process seals it too",
                partition=keys.tag,
            )
        probe("after a page")
        on_progress(len(batch))


def _sealed(wire: Wire, held: Sequence[bytes], one: Stored, secret: bytes, salts: tuple[int, bytes]) -> list[bytes]:
    """An entry's fields and values, its body sealed with the salt of its commitment."""
    found = list(held)
    parts = one.body, skeleton_of(one.kind, one.body)
    found[_BODY] = seal_body(secret, salts, _about(wire, one), one.salt, parts, _dictionary(one))
    found[_SALT] = b""
    return found


def _about(wire: Wire, one: Stored) -> bytes:
    return body_about(wire.seals.store, one.raw_id, one.owner, one.kind, *one.beside[_PRINCIPAL : _COMMITTED + 1])


def _dictionary(one: Stored) -> bytes:
    return body_dictionary(one.raw_id, one.owner, one.kind)


def _copy_secrets(wire: Wire, keys: LogKeys, copy: CopyKeys) -> None:
    """All of them anew: a page is wrapped at once, and what a killed run wrapped is not gone on with."""
    wire.call("UNLINK", copy.secrets)
    every = pairs(wire, keys.secrets)
    while some := dict(islice(every, PAGE)):
        secrets = {owner.decode(): secret for owner, secret in some.items()}
        lines = wire.seals.lines({owner: whole_secret(owner, secret) for owner, secret in secrets.items()})
        wire.call("HSET", copy.secrets, *(part for pair in lines.items() for part in pair))


def _prove(wire: Wire, keys: LogKeys, copy: CopyKeys, on_progress: Progress) -> OpenLog:
    """Read the copy back and open all of it. Raises NotEqual at the first thing that is not as it lies open."""
    lines = dict(pairs(wire, copy.secrets))
    secrets, owners = _unwrapped(wire, lines), 0
    for owner, secret in pairs(wire, keys.secrets):
        owners += 1
        if secrets.get(owner.decode()) != secret:
            raise _not_equal(keys, f"the secret of owner {owner.decode()!r}")
    after, open_chain, chain = 0, FIRST_LINK, FIRST_LINK
    while True:
        span: list[Argument] = [f"{after + 1}-0", "+", "COUNT", READ_COUNT]
        asked: list[list[Argument]] = [
            ["XRANGE", keys.stream, *span],
            ["XRANGE", copy.stream, *span],
        ]
        rows, copied = wire.answers(asked)
        if not rows and not copied:
            return OpenLog(after, chain, owners)
        if len(rows) != len(copied):
            raise _not_equal(keys, f"how many entries follow on {after}")
        both = [
            (*entries([row], keys.tag), *entries([other], keys.tag)) for row, other in zip(rows, copied, strict=True)
        ]
        salts = wire.seals.keys.salts([salts_id(sealed.body) for _, sealed in both])
        for row, other, (one, sealed) in zip(rows, copied, both, strict=True):
            salt = salts.get(salts_id(sealed.body), b"")
            _compare(wire, keys, (row, one), (other, sealed), ValueCipher(secrets[one.owner]), salt)
            open_chain, chain = event_link(open_chain, one), event_link(chain, sealed)
            if chain != open_chain:
                raise _not_equal(keys, f"the chain at entry {one.seq}")
        after = one.seq
        on_progress(len(rows))


def _compare(
    wire: Wire,
    keys: LogKeys,
    before: tuple[Any, Stored],
    after: tuple[Any, Stored],
    cipher: ValueCipher,
    salt: bytes,
) -> None:
    (row, one), (copied, sealed) = before, after
    clear = [(at, part) for at, part in enumerate(row[1]) if at not in (_BODY, _SALT)]
    same = [(at, part) for at, part in enumerate(copied[1]) if at not in (_BODY, _SALT)]
    if row[0] != copied[0] or clear != same or sealed.salt or sealed.body[:1] != BODY_MARK:
        raise _not_equal(keys, f"the fields next to the body of entry {one.seq}")
    try:
        opened = open_body(cipher.secret, salt, _about(wire, sealed), sealed.body, _dictionary(sealed))
    except NotOpened:
        raise _not_equal(keys, f"the body of entry {one.seq}, which does not open,") from None
    if opened != (one.salt, one.body):
        raise _not_equal(keys, f"the body of entry {one.seq}")


def _unwrapped(wire: Wire, lines: Mapping[bytes, bytes]) -> dict[str, bytes]:
    """What a process that never saw these secrets opens them to."""
    strange, found, every = wire.seals.again(), dict[str, bytes](), iter(lines.items())
    strange.store, strange.is_on = wire.seals.store, True
    while some := list(islice(every, PAGE)):
        found |= strange.secrets({owner.decode(): line for owner, line in some})
    return found


def _not_equal(keys: LogKeys, what: str) -> NotEqual:
    return NotEqual(
        f"partition {{{keys.tag}}}: {what} is another in the sealed copy than in the log; the log is untouched, the copy dropped."
        " Somebody else writes to this Redis, or its memory fails: find out, and run `engramlog seal` again",
        partition=keys.tag,
    )


def _secrets(wire: Wire, keys: LogKeys, batch: Sequence[Stored], known: Mapping[str, bytes]) -> dict[str, bytes]:
    """The secrets of a batch's owners, of those that are not known yet. Raises DamagedState where one has none."""
    owners = list(dict.fromkeys(one.owner for one in batch if one.owner not in known))
    if not owners:
        return {}
    lines = dict(zip(owners, wire.call("HMGET", keys.secrets, *owners), strict=True))
    if lacking := sorted(owner for owner, line in lines.items() if line is None):
        raise DamagedState(
            f"partition {{{keys.tag}}}: owner {lacking[0]!r} has events and no secret; see `engramlog verify`",
            partition=keys.tag,
        )
    return {owner: whole_secret(owner, line) for owner, line in lines.items()}


def _refuse_what_cannot_be_sealed(one: Stored, tag: str) -> None:
    if one.body[:1] == BODY_MARK:
        raise AlreadySealed(
            f"entry {one.seq} of partition {{{tag}}} is sealed already, in a store that lies open", format="2"
        )
    if commitment(one.salt, one.body) != one.beside[_COMMITTED]:
        raise DamagedState(
            f"the body at seq {one.seq} of partition {{{tag}}} is not the one that was committed to; see `engramlog verify`, and"
            " bring back the backup that has the right one",
            partition=tag,
            seq=one.seq,
        )
