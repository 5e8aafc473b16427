"""All that is stored is proven by folding the log anew: whatever byte is changed, a verification says so."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from random import Random
from threading import Event as Flag
from threading import Thread

import msgspec
import pytest

from engramlog_server.consumers.verify.findings import Oracle
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.catalogue import MemoryDeleted
from engramlog_server.events.errors import UnderReplicated
from engramlog_server.events.redis.durability import Proof
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.ops.commands.proof import render_verified, verified
from engramlog_server.projections.fold.changelog import first_in, pack, unpack
from engramlog_server.projections.fold.partition import WindowLimits
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.job_notes import RedisDeletions
from tests.integration.consumers.fold.test_rebuild_left import discarded, poison
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer
from tests.tampering import OWNERS, STUCK, findings, kinds_of, missed, populate

KINDS = {
    "store", "meta", "ev", "heads", "ctl", "ids", "keys", "ck", "own", "q", "st", "log", "tail", "chg", "park", "idx", "past",
    "del", "vem", "ven", "vea", "vec", "vep",
}  # fmt: skip
FLIPS = 500
"""On each of two servers: a thousand."""


def _keys(store: Live, owner: str) -> BuildKeys:
    return BuildKeys(store.tag_of(owner), FIRST_BUILD)


def test_every_flip_of_a_bit_is_found_in_every_kind_of_key(redis_server: RedisServer) -> None:
    """Seeded, so that what fails once fails always."""
    with live_store(redis_server.url, partitions=2) as store:
        populate(store)
        assert kinds_of(store) == KINDS
        assert findings(store) == []
        unfound, _ = missed(store, Random(11), FLIPS)
        assert unfound == [], "\n".join(unfound)
        assert findings(store) == []


def test_a_body_with_bytes_that_are_no_text_is_found_and_does_not_end_the_verification(
    redis_server: RedisServer,
) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        populate(store)
        stream = _keys(store, OWNERS[0]).log.stream
        entries = store.client.xrange(stream)
        store.client.delete(stream)
        for entry_id, fields in entries:
            if entry_id == b"3-0":
                fields[b"e"] = fields[b"e"].replace(b'"event_id":"', b'"event_id":"\xe2')
            store.client.xadd(stream, fields, id=entry_id)
        found = findings(store)
    assert found
    assert "0:3" in {one.get("position") for one in found} or OWNERS[0] in {one.get("owner") for one in found}


def test_a_weight_in_a_packed_change_log_is_proven_and_the_entry_is_named(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        populate(store)
        keys = _keys(store, OWNERS[1])
        raw = store.client.get(keys.tail(OWNERS[1])) or b""
        size = 4 + int.from_bytes(raw[:4], "big")
        seqs, entries = unpack(raw[:size])
        entries[0] = msgspec.structs.replace(entries[0], new_weight=0.0111)
        store.client.set(keys.tail(OWNERS[1]), pack(first_in(raw), seqs, entries) + raw[size:])
        found = findings(store)
    assert [(one["what"], one["owner"]) for one in found] == [("entries of a change log", OWNERS[1])]
    assert found[0]["entries"] == [f"0:{entries[0].seq} {entries[0].memory_id}"]


def test_what_was_taken_away_or_put_there_is_found_as_well(redis_server: RedisServer) -> None:
    """Whole keys and fields, not only bytes of them."""
    with live_store(redis_server.url, partitions=1) as store:
        populate(store)
        tag, owner = store.identity.tags[0], OWNERS[1]
        keys, client = _keys(store, owner), store.client
        stuck = client.hget(keys.quarantine, STUCK)
        assert stuck is not None
        bucket = next(client.scan_iter(f"{{{tag}}}:ids:*"))
        done = {
            "a sorted set": lambda: client.delete(keys.changes(owner)),
            "a tail": lambda: client.delete(keys.tail(owner)),
            "a part of a tail": lambda: client.setrange(keys.tail(owner), 9, b"\0"),
            "a pack": lambda: client.delete(_keys(store, OWNERS[0]).changelog(OWNERS[0])),
            "a parked list": lambda: client.delete(keys.parked(STUCK)),
            "a quarantine": lambda: client.hdel(keys.quarantine, STUCK),
            "another's quarantine": lambda: client.hset(keys.quarantine, owner, stuck),
            "a head": lambda: client.hdel(keys.log.heads, owner),
            "all heads": lambda: client.delete(keys.log.heads),
            "a bucket of dedupe": lambda: client.delete(bucket),
            "an id more": lambda: client.hset(f"{{{tag}}}:ids:7", bytes(14) + b"\x00\x07", bytes(8) + b"3"),
            "an id of an event to come": lambda: client.hset(
                f"{{{tag}}}:ids:7", bytes(14) + b"\x00\x07", bytes(8) + b"999"
            ),
            "records of nobody": lambda: client.hset(keys.records("nobody"), "m", b"x"),
            "a table of no release": lambda: client.set(f"{{{tag}}}:{FIRST_BUILD}:more", "x"),
            "a table of the log": lambda: client.set(f"{{{tag}}}:other", "x"),
            "a build that nobody makes": lambda: client.hset(f"{{{tag}}}:{FIRST_BUILD}.7:own", "x", "y"),
            "another type": lambda: (client.delete(keys.changes(owner)), client.set(keys.changes(owner), "x")),
            "a key of the store": lambda: client.set("engramlog:more", "x"),
            "a checkpoint's field": lambda: client.hset(keys.checkpoint, "more", "x"),
            "the whole checkpoint": lambda: client.delete(keys.checkpoint),
            "a longer secret": lambda: client.hset(keys.log.secrets, owner, bytes(65)),
            "no secret at all": lambda: client.hdel(keys.log.secrets, owner),
            "a short secret of nobody": lambda: client.hset(keys.log.secrets, "nobody", bytes(31)),
            "a secret of what is no owner": lambda: client.hset(keys.log.secrets, "no owner", bytes(32)),
            "vectors of nobody": lambda: client.hset(f"{{{tag}}}:vec:words%2F1:nobody", bytes(16), b"\x01"),
        }
        whole = {key: client.dump(key) for key in client.scan_iter()}
        missed = []
        for told, do in done.items():
            do()
            if not findings(store):
                missed.append(told)
            client.flushdb()
            for key, raw in whole.items():
                client.restore(key, 0, raw)  # type: ignore[arg-type]
        assert missed == []
        assert findings(store) == []


def test_what_an_append_writes_to_ask_replicas_of_what_was_known_is_no_difference(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("folds")
        told = store.created(OWNERS[0], "told")
        with closing(RedisEventLog(store.client, store.identity.tags, proof=Proof(1, timeout_ms=1))) as asking:
            for _ in range(2):
                with pytest.raises(UnderReplicated):
                    asking.append([told])
        assert store.client.hexists(_keys(store, OWNERS[0]).log.meta, "proved")
        wait_until(store.folded)
        assert findings(store) == []


def test_a_secret_made_for_an_import_that_appended_nothing_is_no_difference(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=2) as store:
        store.log.naming("newcomer", make=True)
        assert findings(store) == []


def test_a_verification_beside_producers_and_workers_blames_nobody(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=2) as store:
        store.start_worker("w1")
        store.append(*(store.created(owner, "m0") for owner in OWNERS))
        stop = Flag()

        def produce() -> None:
            while not stop.is_set():
                store.append(*(store.mentioned(owner, "m0") for owner in OWNERS))

        producer = Thread(target=produce)
        producer.start()
        try:
            found = [one for _ in range(8) for one in findings(store)]
        finally:
            stop.set()
            producer.join()
        wait_until(store.folded)
        assert [one for one in found if "too fast" not in one["what"]] == []
        assert findings(store) == []


def _without_salt(store: Live, seq: int, body: bytes | None = None) -> None:
    """The salt of one entry taken away, its body too where another is given."""
    stream = _keys(store, OWNERS[0]).log.stream
    entries = store.client.xrange(stream)
    store.client.delete(stream)
    for entry_id, fields in entries:
        if entry_id == f"{seq}-0".encode():
            fields[b"s"] = b""
            fields[b"e"] = body or fields[b"e"]
        store.client.xadd(stream, fields, id=entry_id)


def test_what_cannot_be_opened_is_counted_named_shown_and_no_failure_by_itself(
    redis_server: RedisServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        populate(store)
        sound = verified([verify_partition(store.client, 0, store.identity.tags[0])])
        assert (sound["ok"], sound["unopened"], sound["unopened_at"]) == (True, 0, [])
        for seq in range(3, 15):
            _without_salt(store, seq)
        told = verified([verify_partition(store.client, 0, store.identity.tags[0])])
    assert (told["ok"], told["unopened"], told["differences"]) == (True, 12, [])
    assert told["unopened_at"] == [f"0:{seq}" for seq in range(3, 13)]
    assert told["chains"] == sound["chains"]
    render_verified(told)
    said = " ".join(capsys.readouterr().out.split())
    assert "12 not opened at 0:3, 0:4" in said
    assert "and on" in said
    assert "ok" in said


def test_another_body_beside_a_salt_that_was_taken_away_is_found_all_the_same(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        populate(store)
        (entry,) = store.log.read_at(0, [3])
        _without_salt(store, 3, entry.body.replace(b"said", b"sang"))
        found = verify_partition(store.client, 0, store.identity.tags[0])
    assert found.unopened == 1
    assert "dedupe of events" in {one["what"] for one in found.differences}


@pytest.mark.parametrize("whose", ["owner-x", "newcomer"])
def test_a_deletion_while_the_log_is_read_blames_nobody(redis_server: RedisServer, whose: str) -> None:
    """It is noted beside the log at once; of an owner who was compared already, or came only now."""
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        store.append(*(store.created("owner-x", f"m{n}") for n in range(3)))
        wait_until(store.folded)
        store.stop_worker("w1")
        wires, came = WirePool(store.client), list[int]()

        def progress(_done: int, _all: int) -> None:
            if not came:
                came.append(1)
                store.append(store.created(whose, "new"), store.event(MemoryDeleted(memory_id="new"), whose))
                RedisDeletions(wires, store.identity.tags).add(whose, {"new": 1}, store.log.now())

        found = verify_partition(store.client, 0, store.identity.tags[0], on_progress=progress).differences
        RedisDeletions(wires, store.identity.tags).add(whose, {"never": 1}, store.log.now())
        unknown = verify_partition(store.client, 0, store.identity.tags[0]).differences
        wires.close()
    assert came
    assert found == []
    assert [(one["what"], one["memories"]) for one in unknown] == [
        ("deletions of memories that the log does not know", ["never"])
    ]


def test_owners_that_stand_still_and_are_freed_are_proven_in_windows_however_they_end(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is folded owner by owner is what is stored, whichever event a window or a group ends at."""
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        populate(store)
        stuck = poison(store, OWNERS[1])
        store.append(*(store.mentioned(OWNERS[1], "m1") for _ in range(3)), store.mentioned(OWNERS[0], "m1"))
        store.append(discarded(store, OWNERS[1], stuck), store.mentioned(OWNERS[1], "m1"))
        poison(store, OWNERS[1])
        wait_until(store.folded)
        store.stop_worker("w1")
        whole = verify_partition(store.client, 0, store.identity.tags[0])
        assert whole.differences == []
        monkeypatch.setattr("engramlog_server.consumers.verify.partition.READ_COUNT", 1)
        for events, group in ((1, 1), (2, 1), (3, 2), (5, 3), (8, 100)):
            limits = WindowLimits(events=events, piece_events=2, group_events=group)
            monkeypatch.setattr("engramlog_server.consumers.verify.partition.Oracle", partial(Oracle, limits=limits))
            assert verify_partition(store.client, 0, store.identity.tags[0]) == whole
