"""What docs/stream-format.md says of a sealed entry is enough to open it; and the chain is recomputed without any key."""

from __future__ import annotations

import subprocess
import sys
import zlib
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.cipher import BODIES, VALUES
from engramlog_server.events.keys import KeyRing
from engramlog_server.events.partitions import LogKeys
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from tests.integration.live import live_store, wait_until
from tests.servers import Servers, redis_cli

ROOT = Path(__file__).resolve().parents[3]
KEY = b"m" * 32
OWNER = "小林"


def _measured(*parts: bytes) -> bytes:
    return b"".join(len(one).to_bytes(4, "big") + one for one in parts)


def _keyed(secret: bytes, person: bytes, told: bytes = b"", size: int = 32) -> bytes:
    return blake2b(told, digest_size=size, key=secret, person=person).digest()


def _expanded(stored: bytes, dictionary: bytes) -> bytes:
    assert stored[:1] == b"\xc1"
    return zlib.decompressobj(-15, dictionary).decompress(stored[1:])


def _secret(line: bytes, store: bytes, owner: bytes) -> bytes:
    assert line[:9] == b"\x01" + sha256(b"engramlog master key\0" + KEY).digest()[:8]
    return AESGCM(KEY).decrypt(line[9:21], line[21:], store + b"\0" + owner)


def test_a_body_a_record_and_a_secret_are_opened_as_the_page_says(redis_servers: Servers) -> None:
    with live_store(redis_servers.get("valkey").url, 1, master=KeyRing([KEY])) as store:
        store.start_worker("w")
        store.append(store.created(OWNER, "m1", "早上喝龙井茶"))
        wait_until(store.folded)
        keys, client, tag = LogKeys(store.identity.tags[0]), store.client, store.identity.tags[0]
        (told,) = store.log.read_at(0, [1])
        rows: Any = client.xrange(keys.stream)
        ((_, entry),) = rows
        ((_, salts),) = client.seals.keys.salts([int.from_bytes(entry[b"e"][1:9], "big")]).items()
        name: Any = client.hget(keys.secrets, OWNER)
        line = client.seals.keys.read([name])[name]
        check: Any = client.hget("engramlog:store", "sealed")
        record: Any = client.hget(BuildKeys(tag, FIRST_BUILD).records(OWNER), "m1")
        identity = store.identity.store_id.encode()
    secret = _secret(line, identity, OWNER.encode())
    assert len(_secret(check, identity, b":check")) == 32
    with pytest.raises(InvalidTag):
        _secret(line, identity, b"somebody else")

    assert (entry[b"s"], len(salts)) == (b"", 32)
    bound = _measured(identity, *(entry[one] for one in (b"o", b"t", b"p", b"l", b"d"))) + entry[b"i"] + entry[b"c"]
    assert entry[b"e"][:1] == b"\x02"
    head, size = entry[b"e"][:11], int.from_bytes(entry[b"e"][9:11], "big")
    first, words = entry[b"e"][11 : 11 + size], entry[b"e"][11 + size :]
    cipher = AESGCM(_keyed(secret, b"sealed body", salts[:16]))
    skeleton = cipher.decrypt(bytes(12), first, bound + b"\0skeleton" + head)
    cipher = AESGCM(_keyed(secret, b"sealed body", salts[16:]))
    opened = cipher.decrypt(bytes(12), words, bound + b"\0words" + head)
    digits = entry[b"i"].hex()
    clear = b'"owner":"%b","schema_version":1,"type":"MemoryCreated"}"event_id":"%b","occurred_at":"' % (
        OWNER.encode(),
        "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])).encode(),
    )
    assert skeleton[:1] == b"\0"
    left = _expanded(skeleton[1:], BODIES + clear)
    assert "早上喝龙井茶".encode() not in left
    salt, body = opened[:16], _expanded(opened[16:], BODIES + clear + left)
    assert (salt, body) == (told.salt, told.body)
    assert sha256(salt + body).digest() == entry[b"c"]
    assert "早上喝龙井茶".encode() in body

    place = b"record\0" + OWNER.encode() + b"\0m1"
    assert record[:1] == b"\xc1"
    value = AESGCM(_keyed(secret, b"sealed value")).decrypt(record[1:13], record[13:], place)
    assert record[1:13] == _keyed(_keyed(secret, b"sealed nonce"), b"", _measured(place) + value, 12)
    assert "早上喝龙井茶".encode() in _expanded(value, VALUES + b"m1")


def test_the_chain_of_a_sealed_store_is_recomputed_by_the_script_of_the_page(redis_servers: Servers) -> None:
    with live_store(redis_servers.get("valkey").url, 1, master=KeyRing([KEY])) as store:
        store.start_worker("w")
        store.append(store.created(OWNER, "m1", "早上喝龙井茶"), *(store.mentioned(OWNER, "m1") for _ in range(5)))
        wait_until(store.folded)
        socket = store.client.connection_pool.connection_kwargs["path"]
        asked = [redis_cli(), "-s", socket, "--no-raw"]
        stream = LogKeys(store.identity.tags[0]).stream
        printed = subprocess.run([*asked, "XRANGE", stream, "-", "+"], capture_output=True, check=True).stdout
        found = verify_partition(store.client, 0, store.identity.tags[0])
    script = ROOT / "docs" / "examples" / "recompute_chain.py"
    told = subprocess.run([sys.executable, script], input=printed, capture_output=True, check=True).stdout
    assert found.differences == []
    assert told.decode().split() == ["6", found.head]
