"""A key store in a Redis of its own, for a store that several hosts use."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from secrets import token_bytes, token_hex

from engramlog_server.consumers.encryption.remnants import rewrite_files
from engramlog_server.events.encryption.key_store import (
    ID_BYTES,
    ID_SHIFT,
    SALTS_BYTES,
    SaltPool,
    Wiped,
    has_words,
    is_name,
    new_name,
    read_wiped,
    wiped_value,
)
from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.redis.client import connect
from engramlog_server.events.redis.scan import elements, keys_like, pairs
from engramlog_server.events.redis.wire import Argument, Script, Wire, WirePool
from engramlog_server.events.text import shown
from engramlog_server.ops.clock import this_second
from engramlog_server.ops.keys.file import SETTING
from engramlog_server.projections.redis.store import slices

_ID, _UNWRITTEN = b"id", b"unwritten"
"""Fields besides keys. The second is not empty while deleted values may be in files of the Redis: it is set in the same moment as
values are deleted, so no process that writes the files for its own deletions clears it for another's that are yet to come."""
PAGE = 500
REPLACE = Script(
    "replace keys",
    """
-- KEYS: keys. ARGV: name, line that it must have, its new line, in turn. Answer: how many were replaced.
local done = 0
for i = 1, #ARGV, 3 do
  if redis.call('HGET', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
    done = done + 1
  end
end
return done
""",
)
DELETE = Script(
    "delete keys or salts",
    """
-- KEYS: keys, then the hash of each field. ARGV: what is unwritten from now on, then the fields. Answer: how many were deleted.
local done = 0
for i = 2, #ARGV do
  done = done + redis.call('HDEL', KEYS[i], ARGV[i])
end
redis.call('HSET', KEYS[1], 'unwritten', ARGV[1])
return done
""",
)
WIPE = Script(
    "wipe salts",
    """
-- KEYS: keys, ids of wiped salts, then the hash of each salt. ARGV: what is unwritten from now on, then id, value that it must
-- have, its new value, in turn. Answer: how many were replaced.
local done = 0
for i = 2, #ARGV, 3 do
  local bucket = KEYS[3 + (i - 2) / 3]
  if redis.call('HGET', bucket, ARGV[i]) == ARGV[i + 1] then
    redis.call('SADD', KEYS[2], ARGV[i])
    redis.call('HSET', bucket, ARGV[i], ARGV[i + 2])
    done = done + 1
  end
end
redis.call('HSET', KEYS[1], 'unwritten', ARGV[1])
return done
""",
)
RESERVE = Script(
    "reserve salts",
    """
-- KEYS: keys. ARGV: least first id, how many. Answer: the first id; below 2^53, as Lua counts.
local first = math.max(tonumber(redis.call('HGET', KEYS[1], 'next') or '0'), tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'next', string.format('%.0f', first + tonumber(ARGV[2])))
return string.format('%.0f', first)
""",
)
_BUCKET = 7
"""Salts lie in hashes of so many ids, as a power of two: Redis packs small hashes."""


class RedisKeyStore:
    """A `KeyStore` in a hash of a Redis that is not the log's. It must sync every write."""

    def __init__(self, url: str, store_id: str, *, make: bool, timeout: float = 10.0) -> None:
        """Raises StoreMismatch if there are no keys of this store and none are to be made, or the Redis does not sync every write;
        StoreUnavailable."""
        self._place, self._key = shown(url), f"engramlog-keys:{store_id}"
        self._client = connect(url, timeout=timeout)
        self._wires, self._pool = WirePool(self._client), SaltPool(self._reserve, this_second)
        with self._wires.wire() as wire:
            _refuse_unsynced(wire)
            if make:
                wire.call("HSETNX", self._key, _ID, token_hex(ID_BYTES))
            found = wire.call("HGET", self._key, _ID)
        if found is None:
            self.close()
            raise StoreMismatch(
                f"the keys of this store are missing: {self._place} ({SETTING}) has no {self._key}. Set {SETTING} to the Redis that"
                " has them, or bring its backup back. Nothing was read or written",
                setting=SETTING,
            )
        self._id: str = found.decode("ascii", "replace")

    @property
    def id(self) -> str:
        """See `KeyStore.id`."""
        return self._id

    @property
    def place(self) -> str:
        """See `KeyStore.place`."""
        return self._place

    def read(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """See `KeyStore.read`."""
        if not names:
            return {}
        with self._wires.wire() as wire:
            lines = wire.call("HMGET", self._key, *names)
        return {name: line for name, line in zip(names, lines, strict=True) if line is not None}

    def new_name(self) -> bytes:
        """See `KeyStore.new_name`."""
        return new_name(this_second())

    def put(self, keys: Mapping[bytes, bytes]) -> None:
        """See `KeyStore.put`."""
        told: list[Argument] = [part for pair in keys.items() for part in pair]
        if told:
            with self._wires.wire() as wire:
                wire.call("HSET", self._key, *told)

    def replace(self, keys: Mapping[bytes, tuple[bytes, bytes]]) -> int:
        """See `KeyStore.replace`."""
        told: list[Argument] = [part for name, (old, new) in keys.items() for part in (name, old, new)]
        if not told:
            return 0
        with self._wires.wire() as wire:
            done: int = wire.run(REPLACE, [self._key], told)
            return done

    def delete(self, names: Collection[bytes]) -> int:
        """See `KeyStore.delete`."""
        if not names:
            return 0
        return self._deleted([(self._key, one) for one in names])

    def every(self) -> Iterator[tuple[bytes, bytes]]:
        """See `KeyStore.every`."""
        with self._wires.wire() as wire:
            yield from ((name, line) for name, line in pairs(wire, self._key) if is_name(name))

    def take(self, count: int) -> list[tuple[int, bytes]]:
        """See `KeyStore.take`."""
        return self._pool.take(count)

    def _reserve(self, count: int) -> list[tuple[int, bytes]]:
        with self._wires.wire() as wire:
            first = int(wire.run(RESERVE, [self._key], [this_second() << ID_SHIFT, count]))
            rows = [(first + number, token_bytes(SALTS_BYTES)) for number in range(count)]
            self._put_salts(wire, rows)
        return rows

    def put_salts(self, salts: Mapping[int, bytes]) -> None:
        """See `KeyStore.put_salts`."""
        with self._wires.wire() as wire:
            if salts:
                self._put_salts(wire, list(salts.items()))
            if wiped := [number for number, value in salts.items() if not has_words(value)]:
                wire.call("SADD", self._wiped, *wiped)
                wire.run(RESERVE, [self._key], [max(salts) + 1, 0])

    def salts(self, ids: Sequence[int]) -> dict[int, bytes]:
        """See `KeyStore.salts`."""
        if not ids:
            return {}
        with self._wires.wire() as wire:
            values = wire.answers([["HGET", self._bucket(one), one] for one in ids])
        return {one: value for one, value in zip(ids, values, strict=True) if value is not None}

    def wipe(self, entries: Mapping[int, Wiped]) -> int:
        """See `KeyStore.wipe`."""
        done = 0
        with self._wires.wire() as wire:
            for some in slices(list(entries), PAGE):
                rows = [(one, old) for one, old in self.salts(some).items() if has_words(old)]
                told: list[Argument] = [token_hex(ID_BYTES)]
                for one, old in rows:
                    told += (one, old, wiped_value(old, entries[one]))
                done += int(wire.run(WIPE, [self._key, self._wiped, *(self._bucket(one) for one, _ in rows)], told))
            self._write_files(wire)
        return done

    def wiped(self) -> Iterator[tuple[int, Wiped]]:
        """See `KeyStore.wiped`."""
        with self._wires.wire() as wire:
            ids = sorted({int(one) for one in elements(wire, self._wiped)})
        for some in slices(ids, PAGE):
            for number, value in self.salts(some).items():
                if (found := read_wiped(value)) is not None:
                    yield number, found

    def delete_salts(self, ids: Collection[int]) -> int:
        """See `KeyStore.delete_salts`."""
        return self._deleted([(self._bucket(one), one) for one in ids])

    def salt_ids(self, before: int) -> Iterator[int]:
        """See `KeyStore.salt_ids`."""
        with self._wires.wire() as wire:
            keys = [key for key, _ in keys_like(wire, f"{self._key}:s:*")]
            for key in sorted(keys, key=lambda one: int(one.rpartition(b":")[2])):
                yield from sorted(one for name in wire.call("HKEYS", key) if (one := int(name)) < before)

    def _bucket(self, number: int) -> str:
        return f"{self._key}:s:{number >> _BUCKET}"

    @property
    def _wiped(self) -> str:
        return f"{self._key}:w"

    def _put_salts(self, wire: Wire, rows: Sequence[tuple[int, bytes]]) -> None:
        told = dict[str, list[Argument]]()
        for number, value in rows:
            told.setdefault(self._bucket(number), []).extend((number, value))
        wire.answers([["HSET", key, *pairs_of] for key, pairs_of in told.items()])

    def _deleted(self, fields: Sequence[tuple[str, bytes | int]]) -> int:
        """Delete fields of hashes, also from the files; the number deleted."""
        done = 0
        with self._wires.wire() as wire:
            for some in slices(fields, PAGE):
                names: list[Argument] = [field for _, field in some]
                done += int(wire.run(DELETE, [self._key, *(key for key, _ in some)], [token_hex(ID_BYTES), *names]))
            self._write_files(wire)
        return done

    def _write_files(self, wire: Wire) -> None:
        """Have Redis write its files again after what was deleted, also by a process that was killed."""
        if not (deleted := wire.call("HGET", self._key, _UNWRITTEN)):
            return
        if unproven := rewrite_files(wire, again="engramlog erase").not_proven:
            raise StoreUnavailable(
                f"what was deleted from the key store {self._place} may be in its files: {unproven[0]}"
            )
        wire.run(REPLACE, [self._key], [_UNWRITTEN, deleted, b""])  # unless another process deleted meanwhile

    def erasures(self) -> set[bytes] | None:
        """See `KeyStore.erasures`."""
        with self._wires.wire() as wire:
            return set(elements(wire, f"{self._key}:e"))

    def add_erasures(self, lines: Collection[bytes]) -> None:
        """See `KeyStore.add_erasures`."""
        if lines:
            with self._wires.wire() as wire:
                wire.call("SADD", f"{self._key}:e", *lines)

    def server(self) -> str | None:
        """See `KeyStore.server`."""
        with self._wires.wire() as wire:
            return run_id(wire)

    def close(self) -> None:
        """See `KeyStore.close`."""
        self._wires.close()
        self._client.close()


def run_id(wire: Wire) -> str | None:
    """By what a Redis is known until it is started again. Raises StoreError."""
    lines = wire.call("INFO", "server").decode("utf-8", "replace").splitlines()
    return next((line.partition(":")[2] for line in lines if line.startswith("run_id:")), None)


def _refuse_unsynced(wire: Wire) -> None:
    told = wire.pipeline([["CONFIG", "GET", one] for one in ("appendonly", "appendfsync")])
    if any(isinstance(one, Exception) or len(one) != 2 for one in told):
        return  # a managed Redis that tells nobody: its operator answers for it
    if [one[1] for one in told] != [b"yes", b"always"]:
        raise StoreMismatch(
            f"{SETTING}: got a Redis that does not sync every write; allowed: one with `appendonly yes` and `appendfsync always`:"
            " an event is written once its key is on disk. Nothing was read or written",
            setting=SETTING,
        )
