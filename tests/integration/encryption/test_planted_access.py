"""Whoever can write to Redis, and has no master key, makes himself no key of a sealed store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engramlog_server.api.services.keys import AccessFollower
from engramlog_server.events.envelope import canonical, dedupe_field
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import ACCESS, LogKeys, access_id, dedupe_bucket, partition_of
from engramlog_server.projections.access.keys import MadeKey, make_key
from tests.given.access import everybody as given
from tests.given.http import HttpStore, http_store

OWNER = "ada"
NAME = "intruder"


def planted(http: HttpStore, made: MadeKey) -> None:
    """Write into Redis, as somebody who found it open would, that there is a key and that it may read everything."""
    client, tags = http.store.client, http.store.identity.tags
    keys = LogKeys(tags[partition_of(ACCESS, len(tags))])
    grants = [{"verbs": ["read"], "owners": ["*"], "modes": ["normal"], "sensitivity": 2, "actors": ["user"]}]
    said = {
        "KeyIssued": {"key_id": made.key_id, "principal": NAME, "public": made.public, "digest": made.digest},
        "GrantsSet": {"principal": NAME, "grants": grants},
    }
    first = len(http.application.access_follower.said()) + 1
    like = client.xrange(keys.stream)[-1][1]
    for number, (kind, data) in enumerate(said.items(), first):
        seq, told = int(client.hget(keys.meta, "head")) + 1, access_id(number)  # type: ignore[arg-type]
        body = canonical(
            {
                "event_id": told,
                "type": kind,
                "owner": ACCESS,
                "occurred_at": "2026-11-27T09:00:00Z",
                "actor": "user",
                "schema_version": 1,
                "data": {"number": number, **data},
            }
        )
        raw = bytes.fromhex(told.replace("-", ""))
        entry = {**like, b"t": f"{kind}.1".encode(), b"o": ACCESS.encode(), b"i": raw, b"e": body, b"s": bytes(16)}
        client.xadd(keys.stream, entry, id=f"{seq}-0")
        client.hset(keys.meta, "head", seq)
        field = dedupe_field(ACCESS, raw)
        client.hset(keys.dedupe_of(dedupe_bucket(field)), field, os.urandom(8) + str(seq).encode())  # type: ignore[arg-type]


@pytest.mark.parametrize("sealed", [True, False])
def test_a_key_that_was_written_into_redis_opens_a_store_that_lies_open_and_no_sealed_one(
    tmp_path: Path, sealed: bool
) -> None:
    made = make_key(os.urandom)
    with http_store(tmp_path, worker=False, sealed_by=None if sealed else "none") as http:
        given.issued(http, "desk", "read", owners=[OWNER])
        planted(http, made)
        anew = AccessFollower(http.application.log)
        if not sealed:
            assert made.key_id in anew.book().keys, "what is planted here is what the store reads"
            return
        with pytest.raises(StoreUnavailable, match=r"nobody with a key is admitted.*not encrypted, in a sealed store"):
            anew.book()
        answer = http.client.get("/v1/me", headers={"authorization": f"Bearer {made.text}"})
        assert answer.status_code in (401, 503), "for a second this process goes by what it knew"
        assert http.client.get("/v1/me").status_code == 200, "the folder's token asks nothing of the log"
