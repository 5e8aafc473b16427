"""Writing what readers and jobs make of a build to be quick: only into the live build, and only onto what it was made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from engramlog_server.events.errors import DamagedState, StoreError
from engramlog_server.events.redis.wire import Argument, Script, WirePool
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.builds import BuildKeys

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
            f"{what} of owner {owner} cannot be read ({error}); {then}`engramlog rebuild` makes it anew", owner=owner
        ) from error
