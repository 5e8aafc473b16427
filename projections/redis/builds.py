"""A build: one folding of a partition's log under one name, with a checkpoint of its own; what is made of it, and how it goes.

The name holds the projection's version (`v1`, `v1.2` for its second rebuild), so that readers know which code it is of. What
readers and jobs make of a build to be quick is written only into the live one, and only onto what it was made from. Old builds
leave in pieces, ten minutes after a switch: readers that still hold one begin again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from engramlog_server.events.errors import DamagedState, StoreError
from engramlog_server.events.partitions import Key, KeyOf, LogKeys, declared
from engramlog_server.events.redis.wire import Argument, Script, Wire, WirePool
from engramlog_server.events.text import UNREADABLE
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


def drop_retired_builds(wire: Wire, tag: str, now_ms: int, kept_ms: int = KEPT_MS) -> list[str]:
    """Drop a partition's builds that were replaced long enough ago; gives their names."""
    meta = LogKeys(tag).meta
    answer = wire.call("HGETALL", meta)
    retired = {
        name.decode()[4:]: int(when)
        for name, when in zip(answer[::2], answer[1::2], strict=True)
        if name.startswith(b"old:")
    }
    due = [build for build, when in retired.items() if now_ms - when >= kept_ms]
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
