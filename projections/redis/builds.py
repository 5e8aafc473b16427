"""A build: one folding of a partition's log under one name, with a checkpoint of its own; its keys, and how its words are sealed.

The name holds the projection's version (`v1`, `v1.2` for its second rebuild), so that readers know which code it is of. What
readers and jobs make of a build to be quick is written only into the live one, and only onto what it was made from. Old builds
leave in pieces, ten minutes after a switch: readers that still hold one begin again.

What is stored of an owner's words outside the log is sealed and opened here, and each value is bound to its place. An unencrypted
store has no cipher: its bytes are stored as they are. Opening raises DamagedState where bytes do not open.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from engramlog_server.events.cipher import (
    VALUES,
    NotExpanded,
    NotOpened,
    ValueCipher,
    compressed,
    expanded,
    record_dictionary,
)
from engramlog_server.events.errors import DamagedState, KeyUnavailable, StoreError
from engramlog_server.events.partitions import Key, KeyOf, LogKeys, declared
from engramlog_server.events.redis.secrets import read_cipher
from engramlog_server.events.redis.wire import Argument, Script, Wire, WirePool
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.changelog import chunks_of, laid
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.language.patterns import regex

FIRST_BUILD = f"v{PROJECTION_VERSION}"


_NAME = regex(r"v(0|[1-9][0-9]{0,8})(\.[1-9][0-9]{0,8})?\Z")


def is_build(name: str) -> bool:
    """Whether this is a build's name."""
    return _NAME.match(name) is not None


def version_of(build: str) -> int:
    """The projection version in a build's name."""
    return int(build[1:].partition(".")[0])


def next_build(build: str) -> str:
    """A fresh name for a rebuild by this release, after `build`."""
    number = int(build.partition(".")[2] or 0) if version_of(build) == PROJECTION_VERSION else -1
    return f"v{PROJECTION_VERSION}.{number + 1}" if number >= 0 else FIRST_BUILD


@dataclass(frozen=True, slots=True)
class BuildKeys:
    """Keys of one build of one partition."""

    tag: str
    build: str
    prefix: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefix", f"{{{self.tag}}}:{self.build}:")

    @property
    def log(self) -> LogKeys:
        """The keys of the partition's log."""
        return LogKeys(self.tag)

    checkpoint = Key("ck")
    """Hash: seq, head, digest, memories, and the lease: epoch, holder, until."""
    owners = Key("own")
    """Hash: owner -> owner state, the token of views."""
    quarantine = Key("q")
    """Hash: owner -> why its fold stands still."""
    records = KeyOf[str]("st")
    """Hash: memory id -> record."""
    changelog = KeyOf[str]("log")
    """Hash: number of a pack's first event among the owner's, from 1 -> packed change log and seqs of the owner's events."""
    tail = KeyOf[str]("tail", "string")
    """String: the newest of the change log, until it is a pack."""
    changes = KeyOf[str]("chg", "zset")
    """Sorted set: memory id by the owner's version at its last change, accesses too."""
    index = KeyOf[str]("idx")
    """Hash of what readers and jobs made of the change log, to find things in it; holds no contents."""
    moments = KeyOf[str]("past")
    """Hash of what readers made of the owner's past, to begin a fold at; holds contents, and goes when one is purged."""
    parked = KeyOf[str]("park", "list")
    """List: seqs of the owner's parked events, in order."""

    def of_owner(self, owner: str) -> tuple[str, ...]:
        """Every key of one owner."""
        return tuple(f"{self.prefix}{name.decode()}:{owner}" for name in declared(BuildKeys, KeyOf))


T = TypeVar("T")

MAKE = Script(
    "make",
    """
-- KEYS: meta, owners, hash. ARGV: build, owner, field, as what it must stand ('' for none), the owner's token or '' for any,
-- how many fields go, those, then fields and values
if redis.call('HGET', KEYS[1], 'live') ~= ARGV[1] then return 0 end
local token = redis.call('HGET', KEYS[2], ARGV[2])
if not token or (ARGV[5] ~= '' and ARGV[5] ~= token) then return 0 end
if (redis.call('HGET', KEYS[3], ARGV[3]) or '') ~= ARGV[4] then return 0 end
local gone = tonumber(ARGV[6])
redis.call('HSET', KEYS[3], unpack(ARGV, 7 + gone))
if gone > 0 then redis.call('HDEL', KEYS[3], unpack(ARGV, 7, 6 + gone)) end
return 1
""",
)


def write_made(
    wires: WirePool,
    keys: BuildKeys,
    owner: str,
    key: str,
    head: tuple[str, bytes],
    values: Sequence[Argument],
    *,
    gone: Sequence[str] = (),
    token: bytes = b"",
) -> bool:
    """Whether it was written: not where the field of `head` stands otherwise by now, the build is not live, or Redis takes none.

    What is not written is made again by whoever needs it next, so nothing depends on it. `gone`: fields that go with it. `token`:
    as what the owner must stand.
    """
    told: list[Argument] = [keys.build, owner, *head, token, len(gone), *gone, *values]
    try:
        with wires.wire() as wire:
            return bool(wire.run(MAKE, [keys.log.meta, keys.owners, key], told))
    except StoreError:
        return False


def readable(what: str, owner: str, read: Callable[[], T], then: str = "") -> T:
    """What `read` makes of bytes that were made of an owner's log. Raises DamagedState; `then`: what is done instead."""
    try:
        return read()
    except (*UNREADABLE, ValueError) as error:
        raise DamagedState(
            f"{what} of owner {owner} cannot be read ({error}); {then}`engramlog rebuild` makes it again", owner=owner
        ) from error


KEPT_MS = 600_000
_OWNERS_A_PIECE = 50


def drop_retired_builds(wire: Wire, tag: str, now_ms: int) -> list[str]:
    """Drop a partition's builds that were replaced long enough ago; gives their names."""
    meta = LogKeys(tag).meta
    answer = wire.call("HGETALL", meta)
    retired = {
        name.decode()[4:]: int(when)
        for name, when in zip(answer[::2], answer[1::2], strict=True)
        if name.startswith(b"old:")
    }
    due = [build for build, when in retired.items() if now_ms - when >= KEPT_MS]
    for build in due:
        drop_build(wire, BuildKeys(tag, build))
        wire.call("HDEL", meta, f"old:{build}")
    return due


def drop_build(wire: Wire, keys: BuildKeys) -> None:
    """Unlink every key of a build, some owners at a time; what names the owners goes last, so a crash resumes."""
    drop_tables(wire, keys)
    wire.call("UNLINK", keys.checkpoint)


def drop_tables(wire: Wire, keys: BuildKeys, between: Callable[[], None] = lambda: None) -> None:
    """The same but for its checkpoint, whose epoch fences whoever folded it. `between` is called before each piece."""
    names: set[str] = set()
    for table in (keys.owners, keys.quarantine):
        cursor = "0"
        while True:
            cursor_raw, page = wire.call("HSCAN", table, cursor, "COUNT", 500)
            names.update(name.decode() for name in page[::2])
            cursor = cursor_raw.decode()
            if cursor == "0":
                break
    owners = sorted(names)
    for at in range(0, len(owners), _OWNERS_A_PIECE):
        between()
        piece = owners[at : at + _OWNERS_A_PIECE]
        wire.call("UNLINK", *(key for owner in piece for key in keys.of_owner(owner)))
    wire.call("UNLINK", keys.owners, keys.quarantine)


RECORD, CHANGES, REASON, SYNONYMS = b"record", b"changes", b"reason", b"synonyms"
MOMENT, VECTOR, PIECES = b"moment", b"vector", b"pieces"
"""What a sealed value is, which it is bound to."""
SEALED_REASON = "\0"
"""What a sealed reason begins with."""
UNTOLD = "it is sealed, and its owner's key cannot be had"


def place(what: bytes, owner: str, name: bytes = b"") -> bytes:
    """What a value is bound to: what it is, whose, and which. An owner's name holds no zero byte."""
    return b"%b\0%b\0%b" % (what, owner.encode(), name)


def vector_place(what: bytes, owner: str, model: str, key: bytes) -> bytes:
    """What a vector, or its pieces, is bound to. Content keys are of one length, so none runs into a model's name."""
    return place(what, owner, model.encode() + b"\0" + key)


def cipher_of(wire: Wire, keys: BuildKeys, owner: str) -> ValueCipher | None:
    """What seals and opens an owner's values; None where the store lies open. Raises StoreError, KeyUnavailable too."""
    return read_cipher(wire, keys.log, owner)


def opens(found: ValueCipher | KeyUnavailable | None) -> ValueCipher | None:
    """What opens, where it is at hand."""
    return None if isinstance(found, KeyUnavailable) else found


def seal_record(cipher: ValueCipher | None, owner: str, memory_id: str, raw: bytes) -> bytes:
    """A record as it is stored; compressed if it is sealed."""
    if cipher is None:
        return raw
    name = memory_id.encode()
    return cipher.seal(place(RECORD, owner, name), compressed(raw, record_dictionary(name)))


def open_record(cipher: ValueCipher | None, owner: str, memory_id: str | bytes, raw: bytes) -> bytes:
    """A stored record. Raises DamagedState."""
    if cipher is None:
        return raw
    name = memory_id if isinstance(memory_id, bytes) else memory_id.encode()
    return _expanded(
        cipher,
        place(RECORD, owner, name),
        raw,
        lambda: f"the record of memory {name.decode()} of owner {owner}",
        record_dictionary(name),
    )


def seal_chunk(cipher: ValueCipher | None, owner: str, chunk: bytes) -> bytes:
    """What `pack` made, as it is stored."""
    if cipher is None:
        return chunk
    where = place(CHANGES, owner)
    return b"".join(laid(cipher.seal(where, compressed(one, VALUES))) for one in chunks_of(chunk))


def open_pack(cipher: ValueCipher | None, owner: str, raw: bytes) -> bytes:
    """Chunks laid end to end, as `pack` made them. Raises DamagedState."""
    if cipher is None or not raw:
        return raw
    where = place(CHANGES, owner)
    return b"".join(
        laid(_expanded(cipher, where, one, lambda: f"the change log of owner {owner}")) for one in chunks_of(raw)
    )


def seal_moment(cipher: ValueCipher | None, owner: str, number: int, part: bytes) -> bytes:
    """What a moment tells, as it is stored."""
    return part if cipher is None else cipher.seal(place(MOMENT, owner, b"%d" % number), part)


def open_moment(cipher: ValueCipher | None, owner: str, number: int, raw: bytes) -> bytes:
    """What a stored moment tells. Raises DamagedState."""
    if cipher is None:
        return raw
    return opened(cipher, place(MOMENT, owner, b"%d" % number), raw, lambda: f"a kept moment of owner {owner}")


def open_vector(cipher: ValueCipher | None, what: bytes, owner: str, model: str, key: bytes, raw: bytes) -> bytes:
    """A stored vector (`what` is VECTOR) or its pieces (PIECES), packed. Raises DamagedState."""
    if cipher is None:
        return raw
    return opened(cipher, vector_place(what, owner, model, key), raw, lambda: f"a vector of owner {owner}")


def seal_reason(cipher: ValueCipher | None, owner: str, reason: str) -> str:
    """Why an owner stands still, as it is stored: an error may tell what it met."""
    if cipher is None:
        return reason
    return SEALED_REASON + b64encode(cipher.seal(place(REASON, owner), reason.encode())).decode()


def open_reason(cipher: ValueCipher | None, owner: str, stored: str) -> str:
    """A sealed reason; that it is sealed where nothing opens it."""
    try:
        return UNTOLD if cipher is None else cipher.open(place(REASON, owner), b64decode(stored[1:])).decode()
    except ValueError:  # NotOpened too
        return UNTOLD


def seal_synonyms(cipher: ValueCipher | None, owner: str) -> Callable[[bytes], bytes] | None:
    """What seals an owner's synonyms."""
    return None if cipher is None else partial(cipher.seal, place(SYNONYMS, owner))


def open_synonyms(cipher: ValueCipher | None, owner: str) -> Callable[[bytes], bytes] | None:
    """What opens them."""
    return None if cipher is None else partial(cipher.open, place(SYNONYMS, owner))


def _expanded(
    cipher: ValueCipher, where: bytes, raw: bytes, what: Callable[[], str], dictionary: bytes = VALUES
) -> bytes:
    """A stored value that was compressed before it was sealed. Raises DamagedState with what it is."""
    return opened(cipher, where, raw, what, lambda plain: expanded(plain, dictionary))


def opened(
    cipher: ValueCipher,
    where: bytes,
    raw: bytes,
    what: Callable[[], str],
    then: Callable[[bytes], bytes] = lambda plain: plain,
) -> bytes:
    """A stored value, and what `then` makes of it. Raises DamagedState with what it is."""
    try:
        return then(cipher.open(where, raw))
    except (NotOpened, NotExpanded) as error:
        raise DamagedState(
            f"{what()} cannot be read ({error}); the log is the truth: `engramlog verify` shows more, `engramlog rebuild` fixes it"
        ) from error
