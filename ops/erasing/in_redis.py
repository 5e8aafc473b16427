"""Looking through a Redis: every key and value of every type in every database, and what the owner's places should hold now.

What is looked for of an owner who is gone is told here; `ops.erasing.words_in_redis` goes the same ways for single memories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import redis
from redis.exceptions import MovedError

from events.entry import SECRET_BYTES
from events.envelope import Stored
from events.errors import LogGap, StoreError
from events.partitions import LogKeys
from events.redis.log import entries
from events.redis.wire import Wire
from events.sealing.cipher import (
    BODY_MARK,
    NO_SALT,
    SALT_BYTES,
    NotOpened,
    body_about,
    open_body,
)
from events.sealing.seals import is_tombstone
from ops.erasing.needles import Needles
from ops.erasing.own_values import OwnValues
from ops.erasing.probes import Probes
from ops.erasing.report import AuditReport

PAGE = 500
HASH_PAGE = 100
"""Fields asked for at once: a vector's pieces may take 98 KB."""
STRING_PAGE = 1 << 20
_OTHER = re.compile(r"\{[^}]*\}:|engramlog[:-]|rq:")
_PRINCIPAL, _COMMITTED = 1, 4
"""Where they stand beside a body."""
_LEAST_NAME = 3
"""Characters of an owner's name from which on a key of others that has it between its colons is told."""


class RedisLook:
    """One look through one Redis."""

    def __init__(self, where: str, client: redis.Redis, probes: Probes, needles: Needles, report: AuditReport) -> None:
        """`where`: what it is called in the report. `client`: whose replies are bytes."""
        self._where, self._client = where, client
        self._probes, self._needles, self._report = probes, needles, report
        self._values = OwnValues(probes)
        self._keys = LogKeys(probes.tag)
        name = re.escape(probes.owner)
        self.holds_places = True
        """Whether the owner's partition lies here; of a Cluster one node has it."""
        self._named = re.compile(rf"(?:\A|[:{{}}|/]){name}(?:\Z|[:{{}}|/])")

    def look(self) -> None:
        """Look through all of it. What cannot be asked is told as not reached; raises nothing of Redis."""
        before, keys = self._needles.looked, 0
        with self._reached("it"):
            numbers = [int(name[2:]) for name in self._client.info("keyspace") if name.startswith("db")]
            for number in sorted({*numbers, self._database}):
                with self._in(number) as client:
                    keys += self._through(client)
                    self._places(client)
        self.look_at_slow_log()
        self._report.looked(self._where, keys, self._needles.looked - before)

    def look_at_slow_log(self) -> None:
        """The first words of commands that took long."""
        with self._reached("SLOWLOG"):
            for one in self._client.slowlog_get(100_000):
                self._report.hits(self._where, "SLOWLOG", self._needles.in_value(_bytes(one["command"])))

    @property
    def _database(self) -> int:
        return int(self._client.connection_pool.connection_kwargs.get("db") or 0)

    @contextmanager
    def _in(self, number: int) -> Iterator[redis.Redis]:
        """A client of one of its databases."""
        pool = self._client.connection_pool
        made = redis.ConnectionPool(
            connection_class=pool.connection_class, **{**pool.connection_kwargs, "db": number}
        )  # fmt: skip
        with redis.Redis(connection_pool=made) as client:
            yield client
        made.disconnect()

    @contextmanager
    def _reached(self, what: str) -> Iterator[None]:
        try:
            yield
        except (redis.RedisError, StoreError, OSError) as error:
            self._report.unreached(self._where, f"{what} could not be looked through ({type(error).__name__})")

    def _through(self, client: redis.Redis) -> int:
        """Every key; how many there are."""
        seen = set[bytes]()
        for told in client.scan_iter(count=PAGE):
            key = _bytes(told)
            if key in seen:
                continue
            seen.add(key)
            with self._reached(self._report.name_of(key)):
                self._key(client, key, client.type(key))
        return len(seen)

    def _key(self, client: redis.Redis, key: bytes, kind: Any) -> None:
        name = self._report.name_of(key)
        self._report.hits(self._where, name, self._needles.in_value(key))
        reader = _READERS.get(kind)
        if kind == b"none":  # it went meanwhile
            return
        if reader is None:
            self._report.unreached(self._where, f"{name} is of a type that is not known here")
            return
        text = key.decode("utf-8", "backslashreplace")
        opens = self._values.opener(text)
        if opens is not None or self._names_owner(text):
            self._own_place(name)
        if kind == b"string" and opens is None and client.strlen(key) > STRING_PAGE:
            self._report.hits(self._where, name, self._needles.in_stream(_long(client, key)))
            return
        for field, value in reader(client, key):
            for part in (field, value):
                if hits := self._needles.in_value(part):
                    self._report.hits(self._where, name, hits)
            if self._values.is_own_field(text, field):
                self._own_place(name)
                self._own_values(name, self._values.in_field(text, value))
            self._own_values(name, self._values.left(text, field, value))
            if opens is not None:
                self._own_values(name, opens(field, value))

    def _own_place(self, name: str) -> None:
        """A key or a field of the owner's own is there."""
        self._report.found(self._where, name, "place")

    def _own_values(self, name: str, opened: Iterator[bytes]) -> None:
        """Values of the owner's own that open."""
        for _ in opened:
            self._report.found(self._where, name, "opens")

    def _names_owner(self, text: str) -> bool:
        """Whether a key of nobody we know has the owner's name between its colons."""
        return len(self._probes.owner) >= _LEAST_NAME and not _OTHER.match(text) and bool(self._named.search(text))

    def _places(self, client: redis.Redis) -> None:
        """The owner's line, and its entries with their salts."""
        try:
            client.exists(self._keys.meta)
        except MovedError:
            self.holds_places = False
            return
        self._line(client)
        if client.type(self._keys.stream) != b"stream":
            return
        after, wire = 0, Wire(client)
        try:
            while answer := wire.call("XRANGE", self._keys.stream, f"{after + 1}-0", "+", "COUNT", PAGE):
                page = entries(answer, self._keys.tag)
                after = page[-1].seq
                if mine := [one for one in page if one.owner == self._probes.owner]:
                    self._entries(client, mine)
        except LogGap:
            self._report.unreached(self._where, f"{self._keys.stream} has an entry that no append wrote")
        finally:
            wire.close()

    def _line(self, client: redis.Redis) -> None:
        line = client.hget(self._keys.secrets, self._probes.owner)
        if isinstance(line, bytes) and not (is_tombstone(line) and len(line) != SECRET_BYTES):
            self._report.found(self._where, self._keys.secrets, "no_tombstone")

    def _entries(self, client: redis.Redis, mine: Sequence[Stored]) -> None:
        """Some entries of the owner's, at least one, in their order."""
        for one, salt in zip(mine, self._salts(client, mine), strict=True):
            if salt != NO_SALT:
                self._report.found(self._where, self._keys.salts, "salt_stands")
            if one.body[:1] != BODY_MARK:
                self._report.found(self._where, self._keys.stream, "open_entry")
            elif self._body(one, salt) is not None:
                self._report.found(self._where, self._keys.stream, "opens")

    def _salts(self, client: redis.Redis, mine: Sequence[Stored]) -> list[bytes]:
        """The salt of each, as it stands; zero bytes where there is none."""
        first, last = SALT_BYTES * mine[0].seq, SALT_BYTES * (mine[-1].seq + 1)
        raw: Any = client.getrange(self._keys.salts, first, last - 1)
        raw = raw.ljust(last - first, b"\0")
        return [raw[(at := SALT_BYTES * one.seq - first) : at + SALT_BYTES] for one in mine]

    def _body(self, one: Stored, salt: bytes) -> bytes | None:
        """The body of a sealed entry, where its salt opens it, or none does."""
        if len(one.beside) <= _COMMITTED:
            return None
        principal, committed = one.beside[_PRINCIPAL], one.beside[_COMMITTED]
        about = body_about(self._probes.store_id.encode(), one.raw_id, one.owner, one.kind, principal, committed)
        for key_salt in {salt, NO_SALT}:
            with suppress(NotOpened):
                return open_body(self._probes.secret, key_salt, about, one.body)[1]
        return None


def _long(client: Any, key: bytes) -> Iterator[bytes]:
    """A long string, a page at a time."""
    at = 0
    while page := client.getrange(key, at, at + STRING_PAGE - 1):
        assert isinstance(page, bytes)
        yield page
        at += len(page)


def _string(client: Any, key: bytes) -> Iterator[tuple[bytes, bytes]]:
    yield b"", _bytes(client.get(key) or b"")


def _hash(client: Any, key: bytes) -> Iterator[tuple[bytes, bytes]]:
    yield from client.hscan_iter(key, count=HASH_PAGE)


def _list(client: Any, key: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while page := client.lrange(key, at, at + HASH_PAGE - 1):
        yield from ((b"", _bytes(one)) for one in page)
        at += len(page)


def _set(client: Any, key: bytes) -> Iterator[tuple[bytes, bytes]]:
    yield from ((one, b"") for one in client.sscan_iter(key, count=PAGE))


def _zset(client: Any, key: bytes) -> Iterator[tuple[bytes, bytes]]:
    yield from ((one, b"") for one, _ in client.zscan_iter(key, count=PAGE))


def _stream(client: Any, key: bytes) -> Iterator[tuple[bytes, bytes]]:
    after, page = "-", list[Any]()
    while page := client.xrange(key, after, "+", count=PAGE):
        after = f"({page[-1][0].decode()}"
        for _, held in page:
            yield from (held or {}).items()


_READERS: dict[bytes, Callable[[Any, bytes], Iterator[tuple[bytes, bytes]]]] = {
    b"string": _string,
    b"hash": _hash,
    b"list": _list,
    b"set": _set,
    b"zset": _zset,
    b"stream": _stream,
}


def _bytes(told: Any) -> bytes:
    return told if isinstance(told, bytes) else str(told).encode()
