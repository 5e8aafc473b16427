"""A key store in a Redis of its own, for a store that several hosts use."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from secrets import token_hex

from engramlog_server.consumers.sealing.leaving import rewrite_files
from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.redis.scan import pairs
from engramlog_server.events.redis.wire import Argument, Script, Wire, WirePool, connect
from engramlog_server.events.sealing.key_store import ID_BYTES, is_name
from engramlog_server.events.text.urls import shown
from engramlog_server.ops.keys.file import SETTING

_ID = b"id"
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


class RedisKeyStore:
    """A `KeyStore` in a hash of a Redis that is not the log's. It must sync every write."""

    def __init__(self, url: str, store_id: str, *, make: bool, timeout: float = 10.0) -> None:
        """Raises StoreMismatch if there are no keys of this store and none are to be made, or the Redis does not sync every write;
        StoreUnavailable."""
        self._place, self._key = shown(url), f"engramlog:keys:{store_id}"
        self._client = connect(url, timeout=timeout)
        self._wires = WirePool(self._client)
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
        """See `KeyStore.delete`. Has Redis write its files again, and waits for them."""
        if not names:
            return 0
        with self._wires.wire() as wire:
            done: int = wire.call("HDEL", self._key, *names)
            unproven = rewrite_files(wire, again="engramlog erase").not_proven if done else ()
        if unproven:
            raise StoreUnavailable(f"keys were deleted from the key store {self._place}, but {unproven[0]}")
        return done

    def every(self) -> Iterator[tuple[bytes, bytes]]:
        """See `KeyStore.every`."""
        with self._wires.wire() as wire:
            yield from ((name, line) for name, line in pairs(wire, self._key) if is_name(name))

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
