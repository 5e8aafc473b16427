"""Key stores: one SQLite file if all processes of a store run on one host, or a Redis of its own if several hosts use it."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from secrets import token_bytes, token_hex
from threading import RLock
from time import monotonic, sleep
from typing import Any, TypeVar

from engramlog_server.consumers.encryption import rewrite_files
from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.keys import (
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
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import Argument, Script, Wire, WirePool, elements, keys_like, pairs
from engramlog_server.events.text import shown
from engramlog_server.ops.clock import this_second
from engramlog_server.ops.durable import not_private, sync_path
from engramlog_server.projections.redis.store import slices

SETTING = "ENGRAMLOG_KEYS"
WAIT_SECONDS = 30.0
"""How long another process that writes or reads is waited for."""
PAGE = 500
NEAR = 8
"""Salts that are read one by one only if so many others lie between two of them."""
_T = TypeVar("_T")
_TABLES = """
CREATE TABLE IF NOT EXISTS about (field TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS keys (name BLOB PRIMARY KEY, line BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS salts (id INTEGER PRIMARY KEY, value BLOB NOT NULL);
"""


class FileKeyStore:
    """A `KeyStore` in a SQLite file with a write-ahead log: each write is synced, and what is deleted is overwritten."""

    def __init__(self, path: Path, *, make: bool) -> None:
        """Raises StoreMismatch if there is no file and none is to be made, or others could read it; StoreUnavailable."""
        self._path, self._lock = path, RLock()
        _refuse_unfit(path, make=make)
        self._db, self._pool = self._do(self._open), SaltPool(self._reserve, this_second)
        self._id = str(self._do(self._begun))

    @property
    def id(self) -> str:
        """See `KeyStore.id`."""
        return self._id

    @property
    def place(self) -> str:
        """See `KeyStore.place`."""
        return str(self._path)

    def read(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """See `KeyStore.read`."""

        def read() -> dict[bytes, bytes]:
            rows = [self._db.execute("SELECT name, line FROM keys WHERE name = ?", (one,)).fetchone() for one in names]
            return dict(row for row in rows if row is not None)

        return self._do(read)

    def new_name(self) -> bytes:
        """See `KeyStore.new_name`."""
        return new_name(this_second())

    def put(self, keys: Mapping[bytes, bytes]) -> None:
        """See `KeyStore.put`."""
        self._write(lambda: self._db.executemany("INSERT OR REPLACE INTO keys VALUES (?, ?)", keys.items()))

    def replace(self, keys: Mapping[bytes, tuple[bytes, bytes]]) -> int:
        """See `KeyStore.replace`."""
        rows = [(new, name, old) for name, (old, new) in keys.items()]
        return self._changed("UPDATE keys SET line = ? WHERE name = ? AND line = ?", [rows])

    def delete(self, names: Collection[bytes]) -> int:
        """See `KeyStore.delete`."""
        return self._changed("DELETE FROM keys WHERE name = ?", [[(name,) for name in names]])

    def every(self) -> Iterator[tuple[bytes, bytes]]:
        """See `KeyStore.every`."""
        some, after = "SELECT name, line FROM keys WHERE name > ? ORDER BY name LIMIT ?", b""
        while rows := self._do(partial(self._rows, some, (after, PAGE))):
            yield from rows
            after = rows[-1][0]

    def take(self, count: int) -> list[tuple[int, bytes]]:
        """See `KeyStore.take`."""
        return self._pool.take(count)

    def _reserve(self, count: int) -> list[tuple[int, bytes]]:
        def reserve() -> list[tuple[int, bytes]]:
            (last,) = self._db.execute("SELECT max(id) FROM salts").fetchone()
            first = max((last or 0) + 1, this_second() << ID_SHIFT)
            rows = [(first + number, token_bytes(SALTS_BYTES)) for number in range(count)]
            self._db.executemany("INSERT INTO salts VALUES (?, ?)", rows)
            return rows

        return self._write(reserve)

    def put_salts(self, salts: Mapping[int, bytes]) -> None:
        """See `KeyStore.put_salts`."""
        self._write(lambda: self._db.executemany("INSERT OR REPLACE INTO salts VALUES (?, ?)", salts.items()))

    def salts(self, ids: Sequence[int]) -> dict[int, bytes]:
        """See `KeyStore.salts`."""

        def read() -> dict[int, bytes]:
            if ids and max(ids) - min(ids) < NEAR * len(ids):
                wanted, span = set(ids), (min(ids), max(ids))
                found = self._db.execute("SELECT id, value FROM salts WHERE id BETWEEN ? AND ?", span)
                return {number: value for number, value in found if number in wanted}
            rows = [self._db.execute("SELECT id, value FROM salts WHERE id = ?", (one,)).fetchone() for one in ids]
            return dict(row for row in rows if row is not None)

        return self._do(read)

    def wipe(self, entries: Mapping[int, Wiped]) -> int:
        """See `KeyStore.wipe`."""
        pages = (
            [
                (wiped_value(value, entries[one]), one, value)
                for one, value in self.salts(some).items()
                if has_words(value)
            ]
            for some in slices(list(entries), PAGE)
        )
        return self._changed("UPDATE salts SET value = ? WHERE id = ? AND value = ?", pages)

    def wiped(self) -> Iterator[tuple[int, Wiped]]:
        """See `KeyStore.wiped`."""
        some = "SELECT id, value FROM salts WHERE id > ? AND length(value) != ? ORDER BY id LIMIT ?"
        after = 0
        while rows := self._do(partial(self._rows, some, (after, SALTS_BYTES, PAGE))):
            yield from ((number, found) for number, value in rows if (found := read_wiped(value)) is not None)
            after = rows[-1][0]

    def delete_salts(self, ids: Collection[int]) -> int:
        """See `KeyStore.delete_salts`."""
        pages = ([(one,) for one in some] for some in slices(list(ids), PAGE))
        return self._changed("DELETE FROM salts WHERE id = ?", pages)

    def salt_ids(self, before: int) -> Iterator[int]:
        """See `KeyStore.salt_ids`."""
        some, most = "SELECT id FROM salts WHERE id > ? AND id < ? ORDER BY id LIMIT ?", 20 * PAGE
        after = 0
        while rows := self._do(partial(self._rows, some, (after, before, most))):
            yield from (number for (number,) in rows)
            after = rows[-1][0]

    def erasures(self) -> set[bytes] | None:
        """See `KeyStore.erasures`."""
        return None

    def add_erasures(self, lines: Collection[bytes]) -> None:
        """See `KeyStore.add_erasures`: one host needs no second list."""

    def server(self) -> str | None:
        """See `KeyStore.server`."""
        return None

    def close(self) -> None:
        """See `KeyStore.close`."""
        with self._lock:
            self._db.close()

    def _rows(self, statement: str, values: tuple[int | bytes, ...]) -> list[Any]:
        return self._db.execute(statement, values).fetchall()

    def _open(self) -> sqlite3.Connection:
        made = sqlite3.connect(self._path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "trusted_schema=OFF"):
            made.execute(f"PRAGMA {pragma}")
        return made

    def _begun(self) -> str:
        """The id; drawn if the file is new."""
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone():
            self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
        self._db.execute("INSERT OR IGNORE INTO about VALUES ('id', ?)", (token_hex(ID_BYTES),))
        found: str = self._db.execute("SELECT value FROM about WHERE field = 'id'").fetchone()[0]
        return found

    def _changed(self, statement: str, pages: Iterable[Sequence[tuple[bytes | int, ...]]]) -> int:
        """Change or delete rows, a page in a transaction, so that nothing of before is left in the files; the number of rows. Also
        removes from the files what a process changed that was killed before this."""
        done = sum(self._write(partial(self._db.executemany, statement, rows)).rowcount for rows in pages if rows)
        self._truncate()
        return done

    def _write(self, what: Callable[[], _T]) -> _T:
        def write() -> _T:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                done = what()
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
            return done

        return self._do(write)

    def _truncate(self) -> None:
        """Have nothing of before be left in the write-ahead log: wait until no reader needs it."""
        end = monotonic() + WAIT_SECONDS
        while self._do(lambda: self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())[0]:
            if monotonic() > end:
                raise StoreUnavailable(
                    f"the key store {self._path} is read without a pause, so what was deleted is still in its write-ahead log; run"
                    " it again",
                    retry_after=10,
                )
            sleep(0.05)

    def _do(self, what: Callable[[], _T]) -> _T:
        try:
            with self._lock:
                return what()
        except sqlite3.Error as error:
            raise StoreUnavailable(
                f"the key store {self._path} cannot be used: {error}", file=str(self._path)
            ) from error


def _refuse_unfit(path: Path, *, make: bool) -> None:
    """Make the file if it is absent and may be made; raise StoreMismatch if it is absent, or not private.

    Looks at it without opening it: SQLite's locks on a file end once its process closes any descriptor of it, and then the next
    process that ends removes the write-ahead log of those that go on.
    """
    with suppress(FileNotFoundError):
        try:
            found = path.lstat()
            wrong = "is a link" if stat.S_ISLNK(found.st_mode) else not_private(found)
        except FileNotFoundError:
            raise
        except OSError as error:
            wrong = f"cannot be read ({error.strerror})"
        if wrong is not None:
            raise StoreMismatch(f"the key store {path} {wrong}; nothing was read or written", setting=SETTING)
        return
    if not make:
        raise StoreMismatch(
            f"the keys of this store are missing: there is no {path}. Put that file back, or set {SETTING} to where the keys are: a"
            " Redis of their own if several hosts use this store. Nothing was read or written",
            setting=SETTING,
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another was quicker
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        sync_path(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"the key store {path} cannot be made: {error.strerror}", file=str(path)) from error


_ID, _UNWRITTEN = b"id", b"unwritten"
"""Fields besides keys. The second is not empty while deleted values may be in files of the Redis: it is set in the same moment as
values are deleted, so no process that writes the files for its own deletions clears it for another's that are yet to come."""
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
