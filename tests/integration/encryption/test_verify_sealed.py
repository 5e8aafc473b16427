"""A sealed store is proven by its log as an open one is: whatever byte is changed, moved or laid open, a verification says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from urllib.parse import unquote

import msgspec
import pytest

from engramlog_server.consumers.verify.findings import LIES_OPEN
from engramlog_server.consumers.verify.store import verify_store
from engramlog_server.events.catalogue import SynonymDefined
from engramlog_server.events.cipher import SECRET_BYTES, salts_id
from engramlog_server.events.keys import KeyRing
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.embedding.vectors import VectorKeys
from engramlog_server.projections.redis.builds import (
    FIRST_BUILD,
    VECTOR,
    BuildKeys,
    cipher_of,
    open_moment,
    open_pack,
    open_record,
    open_synonyms,
    open_vector,
)
from engramlog_server.projections.redis.store import decode_quarantine
from tests.integration.consumers.verify.test_verify import KINDS
from tests.integration.live import Live, live_store
from tests.servers import RedisServer
from tests.tampering import OWNERS, STUCK, findings, kinds_of, missed, populate

MASTER = KeyRing([b"m" * 32])
FLIPS = 150
"""On each of two servers."""


@contextmanager
def sealed_store(url: str, partitions: int = 1) -> Iterator[Live]:
    """A sealed store for the length of a test."""
    with live_store(url, partitions, master=MASTER) as store:
        yield store


def keys_of(store: Live, owner: str) -> BuildKeys:
    """The keys of an owner's live build."""
    return BuildKeys(store.tag_of(owner), FIRST_BUILD)


def told(store: Live) -> set[str]:
    """What a verification tells."""
    return {one["what"] for one in findings(store)}


def test_every_flip_of_a_bit_is_found_in_every_kind_of_key(redis_server: RedisServer) -> None:
    with sealed_store(redis_server.url, 2) as store:
        populate(store)
        assert kinds_of(store) == KINDS
        assert findings(store) == []
        unfound, _ = missed(store, Random(5), FLIPS)
        assert unfound == [], "\n".join(unfound)
        assert findings(store) == []


def test_no_word_of_an_owner_lies_in_it(redis_server: RedisServer) -> None:
    """Else the tests beside this one would prove an open store."""
    with sealed_store(redis_server.url) as store:
        populate(store)
        everything = b"".join(store.client.dump(key) or b"" for key in store.client.scan_iter())
        (entry,) = store.log.read_at(0, [1])
    assert "我喜欢咖啡".encode() in entry.body
    assert "咖啡".encode() not in everything


class Reached:
    """What a test of tampering reaches of a populated store."""

    def __init__(self, store: Live) -> None:
        self.live, self.client = store, store.client
        self.keys = keys_of(store, OWNERS[1])
        self.wire = open_wire(store.client)

    def rewrite(self, seq: int, change: Callable[[dict[bytes, bytes]], None], over: int | None = None) -> None:
        """Change the fields of an entry; `over`: the entry that it is laid over."""
        stream, target = self.keys.log.stream, b"%d-0" % (over or seq)
        rows: Any = self.client.xrange(stream)
        held = dict(next(fields for key, fields in rows if key == b"%d-0" % seq))
        change(held)
        self.client.delete(stream)
        for key, fields in rows:
            self.client.xadd(stream, held if key == target else fields, id=key)

    def salt(self, seq: int, salts: bytes | None = None) -> bytes:
        """The salts of an entry; put others there, or with nothing take them away."""
        rows: Any = self.client.xrange(self.keys.log.stream, f"{seq}-0", f"{seq}-0")
        number, keys = salts_id(rows[0][1][b"e"]), self.client.seals.keys
        found = keys.salts([number]).get(number, b"")
        if salts is not None:
            keys.put_salts({number: salts})
        if salts == b"":
            keys.delete_salts([number])
        return found

    def swap(self, table: str, one: str, other: str) -> None:
        """Swap two fields of a hash."""
        held: Any = self.client.hmget(table, one, other)
        self.client.hset(table, mapping={one: held[1], other: held[0]})

    def opened(self, table: str, name: str, opened: Callable[[bytes], bytes]) -> None:
        """Lay a value of a hash open."""
        raw: Any = self.client.hget(table, name)
        value = opened(raw)
        assert value != raw
        self.client.hset(table, name, value)


def _others(fields: dict[bytes, bytes], name: bytes, value: bytes) -> None:
    assert fields[name] != value
    fields[name] = value


def _flip(raw: bytes, at: int) -> bytes:
    return bytes([*raw[:at], raw[at] ^ 1, *raw[at + 1 :]])


def _an_entry_open(store: Reached) -> None:
    (entry,) = store.live.log.read_at(0, [3])

    def change(fields: dict[bytes, bytes]) -> None:
        fields[b"e"], fields[b"s"] = entry.body, entry.salt

    store.rewrite(3, change)


def _another_body(store: Reached) -> None:
    """The whole of another entry's, with its salt: only what it is bound to tells them apart."""
    row: Any = store.client.xrange(store.keys.log.stream, "4-0", "4-0")
    store.rewrite(3, lambda fields: _others(fields, b"e", row[0][1][b"e"]))


def _copied_to_another_seq(store: Reached) -> None:
    store.rewrite(3, lambda fields: None, over=4)
    store.salt(4, store.salt(3))


def _a_secret_open(store: Reached) -> None:
    line: Any = store.client.hget(store.keys.log.secrets, OWNERS[1])
    secret = store.client.seals.secrets({OWNERS[1]: line})[OWNERS[1]]  # type: ignore[attr-defined]
    store.client.hset(store.keys.log.secrets, OWNERS[1], secret)


def _a_chunk_open(store: Reached) -> None:
    raw: Any = store.client.get(store.keys.tail(OWNERS[1]))
    cipher = cipher_of(store.wire, store.keys, OWNERS[1])
    opened = open_pack(cipher, OWNERS[1], raw)
    assert opened != raw
    store.client.set(store.keys.tail(OWNERS[1]), opened)


def _a_moment_open(store: Reached) -> None:
    owner = OWNERS[1]
    table, cipher = store.keys.moments(owner), cipher_of(store.wire, store.keys, owner)
    number = next(name for name in store.client.hkeys(table) if name.isdigit())  # type: ignore[union-attr]
    store.opened(table, number.decode(), lambda raw: open_moment(cipher, owner, int(number), raw))


def _synonyms_open(store: Reached) -> None:
    owner = OWNERS[1]
    unseal = open_synonyms(cipher_of(store.wire, store.keys, owner), owner)
    assert unseal is not None

    def opened(raw: bytes) -> bytes:
        told = msgspec.msgpack.decode(raw)
        at = next(n for n, one in enumerate(told) if isinstance(one, bytes) and one[:1] == b"\xc1")
        told[at] = msgspec.msgpack.decode(unseal(told[at]))
        return msgspec.msgpack.encode(told)

    store.opened(store.keys.owners, owner, opened)


def _a_reason_open(store: Reached) -> None:
    cipher = cipher_of(store.wire, store.keys, STUCK)
    store.opened(
        store.keys.quarantine, STUCK, lambda raw: msgspec.msgpack.encode(decode_quarantine(raw, cipher, STUCK))
    )


def _record_open(store: Reached) -> None:
    cipher = cipher_of(store.wire, store.keys, OWNERS[1])
    store.opened(store.keys.records(OWNERS[1]), "m1", lambda raw: open_record(cipher, OWNERS[1], "m1", raw))


def _vectors(store: Reached) -> tuple[str, str, list[bytes]]:
    """An owner's vectors: their table, the model, the keys of the contents."""
    tables: Any = store.client.scan_iter(VectorKeys(store.keys.tag).wholes("*", OWNERS[1]).replace("%2A", "*"))
    (table,) = (name.decode() for name in tables)
    model = unquote(table.split(":vec:")[1].partition(":")[0])
    keys: Any = store.client.hkeys(table)
    return table, model, keys


def _a_vector_open(store: Reached) -> None:
    (table, model, (key, *_)), owner = _vectors(store), OWNERS[1]
    cipher = cipher_of(store.wire, store.keys, owner)
    held: Any = store.client.hgetall(table)
    raw = held[key]
    value = open_vector(cipher, VECTOR, owner, model, key, raw)
    assert value != raw
    store.client.hset(table, mapping={key: value})


def _vectors_swapped(store: Reached) -> None:
    table, _, (one, other, *_) = _vectors(store)
    held: Any = store.client.hmget(table, [one, other])
    store.client.hset(table, mapping={one: held[1], other: held[0]})


UNOPENED, LOCKED = (
    "a sealed body that does not open",
    "an owner's key that cannot be had: nothing of it was compared, nor what is counted over all owners",
)


def _without_words(body: bytes) -> bytes:
    return body[: 11 + int.from_bytes(body[9:11], "big")]


TAMPERED: dict[str, tuple[Callable[[Reached], object], str]] = {
    "a byte of a body": (
        lambda store: store.rewrite(3, lambda fields: _others(fields, b"e", _flip(fields[b"e"], 40))),
        UNOPENED,
    ),
    "a body's mark": (
        lambda store: store.rewrite(3, lambda fields: _others(fields, b"e", _flip(fields[b"e"], 0))),
        f"an entry that {LIES_OPEN}",
    ),
    "a body's salts": (
        lambda store: store.rewrite(3, lambda fields: _others(fields, b"e", _flip(fields[b"e"], 3))),
        "a sealed entry without its salt",
    ),
    "words cut off": (
        lambda store: store.rewrite(3, lambda fields: _others(fields, b"e", _without_words(fields[b"e"]))),
        UNOPENED,
    ),
    "a salt": (lambda store: store.salt(3, _flip(store.salt(3), 5)), UNOPENED),
    "a salt of words": (lambda store: store.salt(3, _flip(store.salt(3), 20)), UNOPENED),
    "a salt taken away": (lambda store: store.salt(3, b""), "a sealed entry without its salt"),
    "another principal": (lambda store: store.rewrite(3, lambda fields: _others(fields, b"p", b"else")), UNOPENED),
    "another owner": (
        lambda store: store.rewrite(3, lambda fields: _others(fields, b"o", OWNERS[3].encode())),
        UNOPENED,
    ),
    "another commitment": (lambda store: store.rewrite(3, lambda fields: _others(fields, b"c", b"c" * 32)), UNOPENED),
    "another body and salt": (_another_body, UNOPENED),
    "an entry copied to another seq": (_copied_to_another_seq, "the chain over stored events"),
    "a salt beside a sealed body": (
        lambda store: store.rewrite(3, lambda fields: _others(fields, b"s", b"s" * 16)),
        "a sealed entry stored with the salt of its commitment",
    ),
    "an entry open": (_an_entry_open, f"an entry that {LIES_OPEN}"),
    "lines of two owners": (lambda store: store.swap(store.keys.log.secrets, OWNERS[0], OWNERS[1]), LOCKED),
    "a byte of a line": (
        lambda store: store.opened(store.keys.log.secrets, OWNERS[1], lambda raw: _flip(raw, len(raw) - 1)),
        LOCKED,
    ),
    "a line open": (_a_secret_open, f"a secret that {LIES_OPEN}"),
    "a line open of another secret": (
        lambda store: store.client.hset(store.keys.log.secrets, OWNERS[1], b"x" * SECRET_BYTES),
        f"a secret that {LIES_OPEN}",
    ),
    "no line": (lambda store: store.client.hdel(store.keys.log.secrets, OWNERS[1]), "an owner without a secret"),
    "records of two memories": (lambda store: store.swap(store.keys.records(OWNERS[1]), "m0", "m1"), "a memory"),
    "a record open": (_record_open, "a memory"),
    "a chunk open": (_a_chunk_open, "packs of a change log, not as a commit writes them"),
    "a moment open": (_a_moment_open, f"a kept moment that {LIES_OPEN}"),
    "synonyms open": (_synonyms_open, "an owner's state"),
    "a reason open": (_a_reason_open, "why an owner stands still"),
    "a vector open": (_a_vector_open, f"a vector that {LIES_OPEN}"),
    "vectors of two contents": (_vectors_swapped, "a vector that cannot be read"),
    "no check line": (
        lambda store: store.client.hdel("engramlog:store", "sealed"),
        "unexpected field of the store's identity",
    ),
    "another check line": (
        lambda store: store.opened("engramlog:store", "sealed", lambda raw: _flip(raw, len(raw) - 1)),
        "the line by which the master key of a sealed store is known",
    ),
}


def test_what_was_changed_moved_or_laid_open_is_found_and_named(redis_server: RedisServer) -> None:
    with sealed_store(redis_server.url) as store:
        populate(store)
        store.start_worker("more")
        whole = {key: store.client.dump(key) for key in store.client.scan_iter()}
        keys = store.client.seals.keys
        salts = keys.salts(list(keys.salt_ids(1 << 53)))
        store.stop_worker("more")
        missing = dict[str, set[str]]()
        for name, (do, what) in TAMPERED.items():
            do(Reached(store))
            found = told(store)
            if what not in found:
                missing[name] = found
            keys.put_salts(salts)
            store.client.flushdb()
            for key, raw in whole.items():
                store.client.restore(key, 0, raw)  # type: ignore[arg-type]
        assert missing == {}
        assert findings(store) == []


@pytest.mark.parametrize("name", ["a record open", "synonyms open", "a chunk open"])
def test_what_lies_open_is_called_so(redis_server: RedisServer, name: str) -> None:
    with sealed_store(redis_server.url) as store:
        populate(store)
        TAMPERED[name][0](Reached(store))
        (found,) = findings(store)
    assert LIES_OPEN in str(found)
    assert found["owner"] == OWNERS[1]


def test_an_owner_whose_key_cannot_be_had_is_left_out_and_the_others_are_compared(redis_server: RedisServer) -> None:
    with sealed_store(redis_server.url) as store:
        populate(store)
        mine = Reached(store)
        TAMPERED["a byte of a line"][0](mine)
        (found,) = findings(store)
        assert (found["what"], found["owner"]) == (LOCKED, OWNERS[1])
        assert "is not in the key store" in found["problem"]
        mine.swap(mine.keys.records(OWNERS[0]), "m0", "m1")
        assert {(one["what"], one["owner"]) for one in findings(store)} == {
            (LOCKED, OWNERS[1]),
            ("a memory", OWNERS[0]),
        }
        bucket = next(store.client.scan_iter(f"{{{store.identity.tags[0]}}}:ids:*"))
        store.client.delete(bucket)
        assert any("dedupe" in one for one in told(store))


def test_an_open_store_is_still_an_open_one_after_a_sealed_one_was_verified(redis_server: RedisServer) -> None:
    for master in (MASTER, None):
        redis_server.reset()
        with live_store(redis_server.url, 1, master=master) as store:
            wire = open_wire(store.client)
            assert verify_store(wire).differences == []
            wire.close()


def test_another_master_key_is_refused_before_anything_is_compared(redis_server: RedisServer) -> None:
    with sealed_store(redis_server.url) as store:
        store.append(store.event(SynonymDefined(keyword="java", synonym="coffee"), OWNERS[0]))
        with pytest.raises(Exception, match="sealed under another master key"):
            Live(redis_server.url, 1, master=KeyRing([b"o" * 32]))
