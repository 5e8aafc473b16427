"""Residue of erased words is put back by hand, in every kind that opens under the owner's living key; what stays is none."""

from __future__ import annotations

import tarfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from events.catalogue import TurnRecorded
from events.envelope import encode
from events.redis.wordless import laid_left
from events.sealing.cipher import SALT_BYTES
from ops.embedded.binary import RedisBinary, find_redis_server
from ops.erasing.probes import Probes
from projections.fold.builds import BuildKeys
from projections.fold.changelog import laid
from projections.fold.owner import OwnerState
from projections.redis.sealed import (
    CHANGES,
    MOMENT,
    REASON,
    RECORD,
    SEALED_REASON,
    SYNONYMS,
    VECTOR,
    place,
    vector_place,
)
from tests.integration.erasing.erased_by_hand import MODEL, OTHER, OWNER, made, served
from tests.integration.erasing.test_residue import found
from tests.integration.erasing.words_by_hand import CANOE, CHINESE, ENGLISH, SHORT, STAYS, SYNONYM, TEXTS, WordsStore
from tests.servers import MISSING, newer_server, wheel_server


class House(NamedTuple):
    """A store where words were erased, the copy of before, and the probes."""

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
    probes = made(folder, binary, WordsStore)
    return House(folder, folder.with_name("data.before"), binary, probes)


@pytest.fixture
def store(house: House, tmp_path: Path) -> Iterator[WordsStore]:
    with served(house.folder, tmp_path / "data", house.binary, WordsStore) as found:
        yield found


def test_a_store_where_only_what_stays_has_the_owners_key_is_clean(store: WordsStore, house: House) -> None:
    told = store.audit(house.probes)
    assert (told.exit_code, told.findings, told.unreached) == (0, [], []), told.lines
    assert told.what == "words"
    assert told.events == len(house.probes.entries) == 5
    assert told.untold == 1, "what was said twice, of which one stays"
    assert house.probes.short == [SHORT]
    assert told.verdict.startswith("clean: nothing of the erased words of owner")
    assert any("1 text that is too short, or in what stays too" in one for one in told.lines)
    assert store.client.hlen(store.build.records(OWNER)) == len(TEXTS), "its places stand, and are no finding"


def test_no_piece_is_taken_that_stands_in_what_stays(store: WordsStore, house: House) -> None:
    assert house.probes.words
    assert not [one for one in house.probes.words if one in CANOE or one in STAYS or one in SYNONYM]
    assert [one for one in house.probes.words if one in ENGLISH]
    assert [one for one in house.probes.words if one in CHINESE]


def test_the_store_of_before_is_full_of_what_is_looked_for(house: House, tmp_path: Path) -> None:
    with served(house.before, tmp_path / "data", house.binary, WordsStore) as store:
        told = store.audit(house.probes)
        tag = store.keys.tag
        assert told.exit_code == 1
        assert found(told, where="redis", place=f"{{{tag}}}:salts") == {"salt", "salt_stands"}
        assert found(told, where="redis", place=f"{{{tag}}}:ev") == {"entry_opens"}
        assert {one.count for one in told.findings if one.where == "redis" and one.what == "entry_opens"} == {5}
        assert found(told, where="redis", place=":st:") == {"says"}
        assert found(told, where="redis", place=":vec:") == {"vector"}
        assert found(told, where="redis", place=":keys") == set()
        assert {"salt", "salt_stands", "entry_opens", "says", "vector"} <= found(told, where=" > loaded")


def sealed(store: WordsStore, what: bytes, name: bytes, text: str) -> bytes:
    return store.cipher.seal(place(what, OWNER, name), msgspec.msgpack.encode(["x", text, 1]))


def a_record(store: WordsStore, text: str) -> str:
    key = BuildKeys(store.keys.tag, "v1.3").records(OWNER)
    store.client.hset(key, "m0", sealed(store, RECORD, b"m0", text))
    return key


def a_change(store: WordsStore, text: str) -> str:
    key = store.build.changelog(OWNER)
    store.client.hset(
        key, "900", laid(sealed(store, CHANGES, b"", "nothing")) + laid(sealed(store, CHANGES, b"", text))
    )
    return key


def a_tail(store: WordsStore, text: str) -> str:
    key = BuildKeys(store.keys.tag, "v1.3").tail(OWNER)
    store.client.set(key, laid(sealed(store, CHANGES, b"", text)))
    return key


def a_moment(store: WordsStore, text: str) -> str:
    key = store.build.moments(OWNER)
    store.client.hset(key, "7", sealed(store, MOMENT, b"7", text))
    return key


def state_with(synonyms: bytes) -> list[object]:
    """An owner's state as it is laid down, with sealed synonyms, and digests that begin as what is sealed does."""
    return [synonyms if name == "synonyms" else b"\xc1" + bytes(40) for name in OwnerState.__struct_fields__]


def synonyms(store: WordsStore, text: str) -> str:
    key = BuildKeys(store.keys.tag, "v1.3").owners
    store.client.hset(key, OWNER, msgspec.msgpack.encode(state_with(sealed(store, SYNONYMS, b"", text))))
    return key


def a_reason(store: WordsStore, text: str) -> str:
    key = BuildKeys(store.keys.tag, "v1.3").quarantine
    told = SEALED_REASON + b64encode(store.cipher.seal(place(REASON, OWNER), f'cannot take "{text}"'.encode())).decode()
    store.client.hset(key, OWNER, msgspec.msgpack.encode([3, "TurnRecorded.1", told]))
    return key


PLANTS: list[Callable[[WordsStore, str], str]] = [a_record, a_change, a_tail, a_moment, synonyms, a_reason]


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, SHORT])
@pytest.mark.parametrize("plant", PLANTS)
def test_what_opens_under_the_living_key_and_has_erased_words_is_found(
    store: WordsStore, house: House, plant: Callable[[WordsStore, str], str], text: str
) -> None:
    key = plant(store, text)
    told = store.audit(house.probes)
    assert told.exit_code == 1
    assert {(one.place, one.what) for one in told.findings if one.where == "redis"} == {(key, "says")}
    said = "\n".join(told.lines) + repr(told) + msgspec.json.encode(told).decode()
    assert not [one for one in (ENGLISH, CHINESE, SHORT, *house.probes.words) if one in said]


@pytest.mark.parametrize("plant", PLANTS)
def test_the_same_of_what_stays_is_no_residue(
    store: WordsStore, house: House, plant: Callable[[WordsStore, str], str]
) -> None:
    for text in (CANOE, STAYS, SYNONYM):
        plant(store, text)
    told = store.audit(house.probes)
    assert (told.exit_code, told.findings) == (0, []), told.lines


def test_what_is_left_of_an_entry_and_has_words_is_found(store: WordsStore, house: House) -> None:
    cipher, ((seq, event),) = store.cipher, store.entry_of("m0")
    left = encode(msgspec.structs.replace(event, data=msgspec.structs.replace(event.data, content="no erased word")))
    store.client.hset(store.keys.wordless, seq, laid_left(cipher, OWNER, seq, house.probes.erasure_id, left))
    assert found(store.audit(house.probes), where="redis", place=":wl") == {"left_says"}
    left = encode(msgspec.structs.replace(event, data=msgspec.structs.replace(event.data, content=ENGLISH)))
    store.client.hset(store.keys.wordless, seq, laid_left(cipher, OWNER, seq, house.probes.erasure_id, left))
    assert found(store.audit(house.probes), where="redis", place=":wl") == {"left_says", "says"}


def test_a_salt_that_stands_again_is_found_and_the_entry_that_opens_by_it(store: WordsStore, house: House) -> None:
    seq = house.probes.entries[0]
    store.client.setrange(store.keys.salts, SALT_BYTES * seq, house.probes.salts[0])
    told = store.audit(house.probes)
    assert found(told, where="redis", place=store.keys.salts) == {"salt", "salt_stands"}
    assert found(told, where="redis", place=store.keys.stream) == {"entry_opens"}
    store.client.setrange(store.keys.salts, SALT_BYTES * seq, b"\1" * SALT_BYTES)
    told = store.audit(house.probes)
    assert found(told, where="redis") == {"salt_stands"}


def test_the_same_said_again_is_found_in_its_entry_and_where_it_was_folded(store: WordsStore, house: House) -> None:
    store.live.append(store.live.event(TurnRecorded(turn_id="t9", role="user", text=f"as I said, {CHINESE}"), OWNER))
    assert found(store.audit(house.probes), where="redis") == {"entry_says"}
    store.live.append(store.live.created(OWNER, "m9", ENGLISH))
    store.fold()
    told = store.audit(house.probes)
    assert found(told, where="redis", place=store.keys.stream) == {"entry_says"}
    assert found(told, where="redis", place=":st:") == {"says"}


def test_what_another_owner_says_is_no_residue(store: WordsStore, house: House) -> None:
    store.live.append(store.live.created(OTHER, "m9", ENGLISH))
    store.fold()
    assert store.audit(house.probes).exit_code == 0


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("text", [ENGLISH, CHINESE, SHORT])
def test_what_was_sealed_and_deleted_is_found_in_the_append_only_file(
    store: WordsStore, house: House, plant: Callable[[WordsStore, str], str], text: str
) -> None:
    plant(store, STAYS)
    store.client.delete(plant(store, text))
    told = store.audit(house.probes)
    assert {(Path(one.where).name.partition(".")[0], one.what) for one in told.findings} == {("appendonly", "says")}
    store.rewrite()
    assert store.audit(house.probes).findings == []


def test_what_was_left_with_words_and_mended_is_found_in_the_append_only_file(store: WordsStore, house: House) -> None:
    ((seq, event),) = store.entry_of("m0")
    before = store.client.hget(store.keys.wordless, seq)
    left = encode(msgspec.structs.replace(event, data=msgspec.structs.replace(event.data, content=ENGLISH)))
    store.client.hset(store.keys.wordless, seq, laid_left(store.cipher, OWNER, seq, house.probes.erasure_id, left))
    store.client.hset(store.keys.wordless, seq, before)
    assert found(store.audit(house.probes), where="appendonly") == {"says"}


def test_words_that_lie_open_are_found_as_of_an_owner(store: WordsStore, house: House) -> None:
    store.client.set("{e0}:x", ENGLISH)
    store.client.rpush("rq:queue:x", CHINESE)
    told = store.audit(house.probes)
    assert found(told, where="redis", place="{e0}:x") == {"word"}
    assert found(told, where="redis", place="rq:queue:x") == {"word"}
    store.client.delete("{e0}:x", "rq:queue:x")
    assert found(store.audit(house.probes), where="appendonly") == {"word"}
    store.rewrite()
    assert store.audit(house.probes).exit_code == 0


def test_the_name_of_a_vector_of_an_erased_text_is_found(store: WordsStore, house: House) -> None:
    store.embed(CANOE, ENGLISH)
    told = store.audit(house.probes)
    assert found(told, where="redis") == {"vector"}
    assert all(":ve" in one.place for one in told.findings if one.where == "redis")


def test_a_vector_that_opens_and_tells_words_is_found(store: WordsStore, house: House) -> None:
    name = b"\7" * 16
    raw = store.cipher.seal(vector_place(VECTOR, OWNER, MODEL, name), ENGLISH.encode())
    store.client.hset(f"{{{store.keys.tag}}}:vec:words%401:{OWNER}", name, raw)
    assert found(store.audit(house.probes), where="redis", place=":vec:") == {"says"}


def test_what_does_not_open_under_the_owners_key_is_told_as_not_looked_through(store: WordsStore, house: House) -> None:
    store.client.hset(store.build.records(OWNER), "m99", b"\xc1" + bytes(60))
    told = store.audit(house.probes)
    assert told.exit_code == 3
    assert any("1 values and entries" in one.why or "do not open" in one.why for one in told.unreached)


def test_kept_rejections_are_digests_and_stay(store: WordsStore, house: House) -> None:
    (store.folder / "rejections.jsonl").write_bytes(f'{{"kind":"value","owner":"{OWNER}"}}\n'.encode())
    assert store.audit(house.probes).exit_code == 0
    (store.folder / "rejections.jsonl").write_bytes(f'{{"owner":"{OWNER}","text":"{ENGLISH}"}}\n'.encode())
    assert found(store.audit(house.probes), where="rejections.jsonl") == {"word"}


def test_a_backup_of_before_is_found_and_one_of_afterwards_is_clean(
    store: WordsStore, house: House, tmp_path: Path
) -> None:
    for name, folder in (("before", house.before), ("after", house.folder)):
        with tarfile.open(tmp_path / f"{name}.tar.gz", "w:gz") as out:
            out.add(folder, "data")
    told = store.audit(house.probes, backups=[tmp_path / "before.tar.gz"])
    assert told.exit_code == 1
    assert {"entry_opens", "says", "salt_stands"} <= found(told, where="before.tar.gz > data/")
    assert found(told, where="redis") == set()
    told = store.audit(house.probes, backups=[tmp_path / "after.tar.gz"])
    assert (told.exit_code, told.findings, told.unreached) == (0, [], [])
