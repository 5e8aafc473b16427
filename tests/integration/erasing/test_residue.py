"""Residue of every kind is put back by hand, found, and told by its place; a store without any is clean."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import tarfile
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
import redis

from events.sealing.cipher import SALT_BYTES, ValueCipher
from ops.embedded.binary import RedisBinary, find_redis_server
from ops.erasing.probes import Probes
from ops.erasing.report import Audit
from projections.fold.builds import BuildKeys
from projections.redis.sealed import RECORD, VECTOR, place, vector_place
from tests.integration.erasing.erased_by_hand import CHINESE, ENGLISH, MODEL, OWNER, SHARED, Store, made, served
from tests.integration.live import wait_until
from tests.servers import MISSING, newer_server, wheel_server


class House(NamedTuple):
    """A store whose owner was erased, the copy of before, and the probes."""

    folder: Path
    before: Path
    binary: RedisBinary
    probes: Probes


@pytest.fixture(scope="module", params=["redis-6.2", "redis-7"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> House:
    path = wheel_server() if request.param == "redis-6.2" else newer_server()
    if path is None:
        pytest.skip(MISSING)
    binary, folder = find_redis_server(str(path)), tmp_path_factory.mktemp("erased") / "data"
    probes = made(folder, binary)
    return House(folder, folder.with_name("data.before"), binary, probes)


@pytest.fixture
def store(house: House, tmp_path: Path) -> Iterator[Store]:
    with served(house.folder, tmp_path / "data", house.binary, Store) as found:
        yield found


def found(told: Audit, *, where: str = "", place: str = "") -> set[str]:
    """What was found in places that are called so."""
    return {one.what for one in told.findings if where in one.where and place in one.place}


def word(probes: Probes) -> bytes:
    """A piece of the owner's words in English."""
    return next(one for one in probes.words if one.isascii()).encode()


def test_a_store_without_residue_is_clean_and_all_of_it_was_looked_through(store: Store, house: House) -> None:
    told = store.audit(house.probes)
    assert (told.exit_code, told.findings, told.unreached) == (0, [], []), told.lines
    looked = {one.where: one for one in told.looked}
    assert looked["redis"].items == store.client.dbsize()
    assert any(" > loaded" in one for one in looked), "what the append-only file packs was loaded"
    assert looked["redis"].bytes > 1_000
    assert told.verdict.startswith("clean: ")


def test_the_store_of_before_is_full_of_what_is_looked_for(house: House, tmp_path: Path) -> None:
    """The same search finds all of it in the copy of before: its silence afterwards tells something."""
    with served(house.before, tmp_path / "data", house.binary, Store) as store:
        told = store.audit(house.probes)
        assert told.exit_code == 1
        tag = store.keys.tag
        assert found(told, where="redis", place=f"{{{tag}}}:keys") == {"line", "no_tombstone"}
        assert found(told, where="redis", place=f"{{{tag}}}:salts") == {"salt", "salt_stands"}
        assert found(told, where="redis", place=f"{{{tag}}}:ev") == {"opens"}
        assert found(told, where="redis", place=":st:") == {"place", "opens"}
        assert found(told, where="redis", place=":tail:") == {"place", "opens"}
        assert found(told, where="redis", place=":vec:") == {"place", "opens", "derived"}
        assert found(told, where="redis", place=":own") == {"place", "opens"}
        assert {"line", "salt", "opens", "place", "no_tombstone", "salt_stands"} <= found(told, where=" > loaded")


def a_string(store: Store, what: bytes) -> None:
    store.client.set("{e0}:x", b"before " + what)


def a_long_string(store: Store, what: bytes) -> None:
    store.client.set("{e0}:x", bytes((1 << 20) - 5) + what + bytes(1 << 20))


def a_field(store: Store, what: bytes) -> None:
    store.client.hset("{e0}:x", what, b"1")


def a_value(store: Store, what: bytes) -> None:
    store.client.hset("{e0}:x", b"1", what)


def an_item(store: Store, what: bytes) -> None:
    store.client.rpush("{e0}:x", *[b"-"] * 300, what)


def a_member(store: Store, what: bytes) -> None:
    store.client.sadd("{e0}:x", what)


def a_sorted_member(store: Store, what: bytes) -> None:
    store.client.zadd("{e0}:x", {what: 1})


def an_entry(store: Store, what: bytes) -> None:
    store.client.xadd("{e0}:x", {b"f": what})


TYPES: list[Callable[[Store, bytes], None]] = [
    a_string, a_long_string, a_field, a_value, an_item, a_member, a_sorted_member, an_entry
]  # fmt: skip


@pytest.mark.parametrize("plant", TYPES)
def test_a_word_in_a_key_of_every_type_is_found_and_never_told(
    store: Store, house: House, plant: Callable[[Store, bytes], None]
) -> None:
    piece = word(house.probes)
    plant(store, piece)
    told = store.audit(house.probes)
    assert told.exit_code == 1
    assert found(told, where="redis", place="{e0}:x") == {"word"}
    said = "\n".join(told.lines) + repr(told) + msgspec.json.encode(told).decode()
    assert piece.decode() not in said


def test_another_database_of_the_same_redis_is_looked_through(store: Store, house: House) -> None:
    with redis.Redis(unix_socket_path=str(store.embedded.socket_path), db=5) as other:
        other.set("{e0}:x", word(house.probes))
    assert found(store.audit(house.probes), where="redis", place="{e0}:x") == {"word"}


def test_a_name_that_tells_words_is_not_told(store: Store, house: House) -> None:
    piece = word(house.probes)
    store.client.set(b"{e0}:" + piece, "x")
    store.client.set(b"cache of " + piece[: len(piece) // 2], piece)
    told = store.audit(house.probes)
    assert [one.what for one in told.findings if one.where == "redis"] == ["word", "word"]
    said = "\n".join(told.lines) + repr(told)
    assert piece.decode() not in said
    assert piece[: len(piece) // 2].decode() not in said


def test_words_in_chinese_are_found_as_they_are_and_in_escapes(store: Store, house: House) -> None:
    store.client.set("{e0}:plain", CHINESE)
    store.client.set("{e0}:escaped", json.dumps({"text": CHINESE}))
    told = store.audit(house.probes)
    assert found(told, where="redis", place="{e0}:plain") == {"word"}
    assert found(told, where="redis", place="{e0}:escaped") == {"word"}


def test_what_others_say_too_is_no_residue(store: Store, house: House) -> None:
    assert house.probes.shared > 0
    store.client.set("{e0}:x", SHARED)
    assert store.audit(house.probes).exit_code == 0


def test_words_in_a_job_are_found_where_rq_packs_them(store: Store, house: House) -> None:
    packed = zlib.compress(pickle.dumps(("f", None, [word(house.probes).decode()], {})))
    store.client.hset("rq:job:embedding-1", mapping={"data": packed, "status": "failed"})
    store.client.xadd("rq:results:embedding-2", {"return_value": b64encode(packed)})
    told = store.audit(house.probes)
    assert found(told, where="redis", place="rq:job:embedding-1") == {"word"}
    assert found(told, where="redis", place="rq:results:embedding-2") == {"word"}
    assert "word" in found(told, where="appendonly")


def test_what_was_deleted_is_found_in_the_append_only_file(store: Store, house: House) -> None:
    store.client.set("gone", word(house.probes))
    store.client.delete("gone")
    told = store.audit(house.probes)
    assert found(told, where="redis") == set()
    assert found(told, where="appendonly") == {"word"}
    store.rewrite()
    assert store.audit(house.probes).exit_code == 0


def test_what_redis_packs_in_its_append_only_file_is_found(store: Store, house: House) -> None:
    store.client.set("x", b"before " + word(house.probes)[:8] + word(house.probes) * 50)
    store.rewrite()
    told = store.audit(house.probes)
    assert found(told, where="> loaded") == {"word"}


def test_what_lies_in_a_dump_is_found_though_its_time_is_over(store: Store, house: House) -> None:
    store.client.set("x", b"-" * 100 + word(house.probes) * 50, px=500)
    assert store.client.save()
    wait_until(lambda: not store.client.exists("x"))
    (store.folder / "dump.rdb").replace(store.folder / "old.rdb")
    store.rewrite()
    told = store.audit(house.probes)
    assert {one.where.partition(str(store.folder))[2] for one in told.findings} <= {"/old.rdb", "/old.rdb > loaded"}
    assert found(told, where="old.rdb > loaded") == {"word"}


def test_a_word_in_files_beside_the_store_are_found(store: Store, house: House) -> None:
    (store.folder / "redis.log.1").write_bytes(b"warning: " + word(house.probes))
    (store.folder / "rejections.jsonl").write_bytes(
        b'{"kind":"value","owner":"bob"}\n{"kind":"value","owner":"ada-lovelace"}\n'
    )
    told = store.audit(house.probes)
    assert found(told, where="redis.log.1") == {"word"}
    assert found(told, where="rejections.jsonl") == {"rejection"}


def test_the_secret_is_found_raw_in_digits_and_in_base64(store: Store, house: House) -> None:
    secret = house.probes.secret
    for name, form in (("raw", secret), ("hex", secret.hex()), ("base64", b64encode(b"at an odd place: " + secret))):
        store.client.hset("{e0}:x", name, form)
        store.client.set(f"{{e0}}:{name}", form)
    told = store.audit(house.probes)
    for name in ("raw", "hex", "base64"):
        assert found(told, where="redis", place=f"{{e0}}:{name}") == {"secret"}


def test_a_line_that_stands_is_found_wrapped_as_it_was_or_anew(store: Store, house: House) -> None:
    about = f"test\0{OWNER}".encode()
    for line, expected in (
        (house.probes.line, {"line", "no_tombstone"}),
        (store.master.wrap([(about, house.probes.secret)])[0], {"no_tombstone"}),
    ):
        store.client.hset(store.keys.secrets, OWNER, line)
        assert found(store.audit(house.probes), where="redis", place=store.keys.secrets) == expected


def test_one_salt_is_found_and_an_entry_that_opens_by_it(store: Store, house: House) -> None:
    salt, seq = house.probes.salts[0], store.seqs()[0]
    store.client.setrange(store.keys.salts, SALT_BYTES * seq, salt)
    told = store.audit(house.probes)
    assert found(told, where="redis", place=store.keys.salts) == {"salt", "salt_stands"}
    assert found(told, where="redis", place=store.keys.stream) == {"opens"}
    assert {one.count for one in told.findings if one.what == "opens" and one.where == "redis"} == {1}
    store.client.setrange(store.keys.salts, SALT_BYTES * seq, b"\1" * SALT_BYTES)
    told = store.audit(house.probes)
    assert found(told, where="redis", place=store.keys.salts) == {"salt_stands"}


def test_a_record_under_an_old_build_is_found_and_that_it_opens(store: Store, house: House) -> None:
    old, cipher = BuildKeys(store.keys.tag, "v1.3"), ValueCipher(house.probes.secret)
    store.client.hset(old.records(OWNER), "m0", cipher.seal(place(RECORD, OWNER, b"m0"), b"a record"))
    store.client.hset(old.owners, OWNER, b"a state")
    told = store.audit(house.probes)
    assert found(told, where="redis", place=":v1.3:st:") == {"place", "opens"}
    assert found(told, where="redis", place=":v1.3:own") == {"place"}


def test_a_vector_is_found_and_that_it_opens(store: Store, house: House) -> None:
    cipher, name = ValueCipher(house.probes.secret), b"\7" * 16
    sealed = cipher.seal(vector_place(VECTOR, OWNER, MODEL, name), b"numbers")
    store.client.hset(f"{{{store.keys.tag}}}:vec:words%401:{OWNER}", name, sealed)
    store.client.set(f"copy of {OWNER}", house.probes.derived[0])
    told = store.audit(house.probes)
    assert found(told, where="redis", place=":vec:") == {"place", "opens"}
    assert "derived" in found(told, where="redis", place="a key whose name is not told")


def test_an_entry_that_lies_open_is_found(store: Store, house: House) -> None:
    number, (_, held) = (
        store.client.xinfo_stream(store.keys.stream)["length"] + 1,
        store.client.xrange(store.keys.stream, count=1)[0],
    )
    store.client.xadd(store.keys.stream, {**held, b"o": OWNER, b"e": b"{}"}, id=f"{number}-0")
    assert "open_entry" in found(store.audit(house.probes), where="redis", place=store.keys.stream)


def test_a_command_that_redis_noted_as_slow_is_found(store: Store, house: House) -> None:
    store.client.config_set("slowlog-log-slower-than", 0)
    store.client.echo(word(house.probes))
    store.client.config_set("slowlog-log-slower-than", 10_000)
    assert found(store.audit(house.probes), where="redis", place="SLOWLOG") == {"word"}


def packed(name: str, raw: bytes) -> bytes:
    """A tar archive, packed by gzip."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        told = tarfile.TarInfo(name)
        told.size = len(raw)
        archive.addfile(told, io.BytesIO(raw))
    return out.getvalue()


def test_a_backup_of_before_is_found_whole_or_in_an_archive(store: Store, house: House, tmp_path: Path) -> None:
    archive = tmp_path / "backup.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        out.add(house.before, "data")
    again = tmp_path / "twice.tar.gz"
    again.write_bytes(packed("inner.tar.gz", archive.read_bytes()))
    told = store.audit(house.probes, backups=[house.before, archive, again])
    assert told.exit_code == 1
    for where in (str(house.before), "backup.tar.gz > data/", "twice.tar.gz > inner.tar.gz > data/"):
        assert {"line", "no_tombstone", "opens", "place"} <= found(told, where=where), where
    assert found(told, where="redis") == set()


def test_words_in_archives_of_every_kind_that_is_opened_are_found(store: Store, house: House, tmp_path: Path) -> None:
    piece = word(house.probes)
    (tmp_path / "a.tar.gz").write_bytes(packed("x.txt", b"." * 3_000_000 + piece))
    (tmp_path / "b.gz").write_bytes(gzip.compress(piece))
    told = store.audit(house.probes, backups=[tmp_path / "a.tar.gz", tmp_path / "b.gz"])
    assert found(told, where="a.tar.gz > x.txt") == {"word"}
    assert found(told, where="b.gz") == {"word"}
    assert told.exit_code == 1


def test_a_backup_of_afterwards_is_clean(store: Store, house: House, tmp_path: Path) -> None:
    archive = tmp_path / "after.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        out.add(house.folder, "data")
    told = store.audit(house.probes, backups=[archive])
    assert told.exit_code == 0, told.lines
    assert any("after.tar.gz > data/" in one.where and "loaded" in one.where for one in told.looked)
    assert ENGLISH not in repr(told)
