"""Bringing a store of 0.2.0 over to log format 2: old entries untouched, killed anywhere it goes on, refused where it must be."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from consumers.fold.worker import FoldWorker
from consumers.jobs.embedding import EmbeddingJob
from consumers.upgrade.steps import standing
from consumers.verify.store_and_log import verify_partition
from events.errors import OtherFormat
from events.parameters import PARAMETER_SET
from events.partitions import REBUILD_KEY, STORE_KEY, LogKeys, partition_of
from events.redis.wire import Wire, WirePool
from ops.bringing.upgrade import told_beforehand
from projections.embedding.choosing import Embedders
from projections.embedding.meaning import embedded_text
from projections.embedding.vectors import VectorKeys, pack
from projections.fold.builds import FIRST_BUILD, BuildKeys
from projections.past.records import fold_records
from projections.redis.create import known_identity, open_store
from projections.redis.vectors import RedisVectors
from tests.doubles.embedding import WordEmbedder
from tests.given.samples import mention
from tests.integration.brought import STREAMS, Brought, again
from tests.release_0_2_0 import PARTITIONS, Release, dump
from tests.servers import RedisServer

ONCE = ["before the mark", "after the mark", "after vectors are dropped", "before the end", "after the end"]
PER_PARTITION = [
    "after a page",
    "before a boundary",
    "after a boundary",
    "lease taken",
    "before what was left is dropped",
    "between prefetch and commit",
    "commit sent",
    "after a commit",
    "before a switch",
    "after a switch",
    "before a partition is noted",
]
POINTS = [(point, 1) for point in ONCE] + [(point, passes) for point in PER_PARTITION for passes in (1, 2)]


@pytest.fixture
def old(redis_server: RedisServer, tmp_path: Path) -> Iterator[Brought]:
    store = Brought(redis_server, tmp_path / "data")
    yield store
    store.client.close()


def test_every_entry_stays_byte_for_byte_the_chain_runs_on_and_the_store_verifies(old: Brought) -> None:
    before = old.entries()
    answer = old.upgrade()
    assert old.entries() == before
    assert (answer["found"], answer["writes"], answer["done"]) == ("1", "2", True)
    assert old.differences() == []
    chains = {str(n): verify_partition(old.client, n, tag).head for n, tag in enumerate(old.tags)}
    assert chains == old.told["verify"]["chains"]
    assert old.client.hmget(STORE_KEY, "format", "parameter_set") == [b"2", PARAMETER_SET.encode()]
    assert list(old.client.scan_iter("*:dd:*")) == []


def test_each_partition_tells_behind_which_entry_the_format_began_and_when(old: Brought) -> None:
    boundaries = old.upgrade()["boundaries"]
    heads = [one["head"] for one in old.told["status"]["partitions"]]
    assert [one["seq"] for one in boundaries] == heads
    assert 0 in heads
    assert sum(heads) == old.told["status"]["events"]
    for tag in old.tags:
        began, recorded = old.client.hmget(LogKeys(tag).meta, "format2_at", "rec")
        assert began == recorded is not None


def test_what_is_appended_afterwards_is_of_the_new_format_recorded_from_the_boundary_on_and_verifies(
    old: Brought,
) -> None:
    old.upgrade()
    log = old.log()
    receipt = log.append([mention("after", owner="ada")])[0]
    assert receipt.status == "appended"
    partition, seq = map(int, str(receipt.position).split(":"))
    stored = log.read(partition, seq - 1)[0]
    began = int(old.client.hget(LogKeys(old.tags[partition]).meta, "format2_at") or 0)
    assert stored.recorded is not None
    assert stored.recorded >= began > 0
    log.close()
    worker = FoldWorker(old.client, old.tags, "w")
    worker.drain({partition: seq}, 60.0)
    worker.hand_over()
    assert old.differences() == []


def test_an_event_of_before_is_known_again_and_its_id_is_free_to_others_of_the_partition(old: Brought) -> None:
    events = old.events()
    old.upgrade()
    log = old.log()
    assert {log.append([again(one)])[0].status for one in events} == {"already_appended"}
    one = events[0]
    at = partition_of(one.owner, PARTITIONS)
    stranger = next(f"s{n}" for n in range(100) if partition_of(f"s{n}", PARTITIONS) == at)
    assert log.append([again(one, stranger)])[0].status == "appended"
    assert log.append([again(one, body=one.body + b" ")])[0].status == "conflict"
    log.close()


@pytest.mark.parametrize(("point", "passes"), POINTS)
def test_an_upgrade_killed_anywhere_goes_on_and_ends_the_same(old: Brought, point: str, passes: int) -> None:
    before, events = old.entries(), old.events()
    old.kill(point, passes)
    assert old.entries() == before
    answer = old.upgrade()
    assert old.entries() == before
    assert answer["done"]
    assert old.differences() == []
    log = old.log()
    assert {log.append([again(one)])[0].status for one in events} == {"already_appended"}
    log.close()
    assert old.client.exists(REBUILD_KEY) == 0


@pytest.mark.parametrize("point", ["after the mark", "after a boundary", "before a switch", "before the end"])
def test_until_it_is_done_nothing_else_opens_the_store(old: Brought, point: str) -> None:
    old.kill(point)
    before, wire = dump(old.client), Wire(old.client)
    for opening in (known_identity, lambda wire: open_store(wire, store_id="other", partitions=1)):
        with pytest.raises(OtherFormat, match=r"was being brought over, which did not end.*engramlog upgrade"):
            opening(wire)
    wire.close()
    assert dump(old.client) == before


def test_done_again_it_says_that_there_is_nothing_to_do_and_changes_nothing(old: Brought) -> None:
    old.upgrade()
    before = dump(old.client)
    assert old.upgrade()["found"] == "2"
    assert dump(old.client) == before


def embedded(old: Brought, *texts: str) -> set[bytes]:
    """Vectors and marks of these texts of ada as 0.2.0 kept them; gives their keys."""
    tables, model = VectorKeys(old.tags[partition_of("ada", PARTITIONS)]), "words/1"
    (one,) = WordEmbedder().texts(["tea"])
    whole, pieces = pack(one)
    for text in texts:
        name = blake2b(text.encode(), digest_size=16).digest()
        old.client.hset(tables.wholes(model, "ada"), name, whole)
        old.client.hset(tables.pieces(model, "ada"), name, pieces)
    old.client.hset(tables.changes(model), "ada", len(texts))
    old.client.hset(tables.seen(model), "ada", "3/7")
    old.client.hset(tables.models, model, "v3/12")
    return set(old.client.scan_iter("{*}:ve*"))


@pytest.mark.parametrize(
    "point", ["after the mark", "after vectors are dropped", "after a boundary", "before a switch", None]
)
def test_vectors_that_0_2_0_named_by_what_anybody_can_make_go_and_are_computed_anew(
    old: Brought, point: str | None
) -> None:
    mine = [one for one in old.events() if one.owner == "ada"]
    texts = sorted({text for memory in fold_records(mine).memories.values() if (text := embedded_text(memory))})
    assert len(embedded(old, *texts)) == 5
    assert told_beforehand(old.store)["vectors"] == len(texts)
    if point is not None:
        old.kill(point)
    answer = old.upgrade()
    assert point is not None or answer["vectors"] == len(texts)
    assert list(old.client.scan_iter("{*}:ve*")) == []
    assert old.upgrade()["vectors"] == 0
    wires = WirePool(old.client)
    vectors = RedisVectors(wires, old.tags)
    for partition in range(PARTITIONS):
        EmbeddingJob(vectors, Embedders.alone(WordEmbedder)).walk(partition)
    names = set(vectors.stored("ada", "words/1"))
    assert names
    assert names.isdisjoint(blake2b(text.encode(), digest_size=16).digest() for text in texts)
    wires.close()
    assert old.differences() == []


def test_nobody_elses_keys_are_taken_for_vectors(old: Brought) -> None:
    tag = old.tags[0]
    others = {b"{other}:vec:m:ada": b"x", f"{{{tag}}}:version".encode(): b"x", b"vec:m:ada": b"x"}
    for key, value in others.items():
        old.client.set(key, value)
    assert told_beforehand(old.store)["vectors"] == 0
    old.upgrade()
    assert {key: old.client.get(key) for key in others} == others


def test_telling_what_it_does_changes_nothing(old: Brought) -> None:
    before = dump(old.client)
    told = told_beforehand(old.store)
    assert (told["found"], told["writes"], told["events"], told["vectors"], told["done"], told["boundaries"]) == (
        "1",
        "2",
        old.told["status"]["events"],
        0,
        False,
        [],
    )
    assert dump(old.client) == before


def test_what_an_earlier_rebuild_left_is_not_gone_on_with(old: Brought) -> None:
    noted = next(one for one in old.told["status"]["partitions"] if one["head"])
    keys = BuildKeys(old.tags[noted["partition"]], FIRST_BUILD)
    old.client.hset(
        keys.checkpoint,
        mapping={"epoch": 1, "seq": noted["head"], "head": bytes.fromhex(noted["chain"]), "digest": "0", "memories": 0},
    )
    old.upgrade()
    assert old.differences() == []


LIVES_ON = r"""
import json, sys
from events.envelope import canonical, new_event_id, prepare_body
from events.redis_log import RedisEventLog
from events.redis_wire import connect
log = RedisEventLog(connect(sys.argv[1], timeout=10.0), sys.argv[2].split())
for owner in ("ada", "lin-yue", "团队", "new"):
    event_id = new_event_id()
    document = {"event_id": event_id, "type": "MemoryMentioned", "schema_version": 1, "owner": owner, "actor": "user",
                "occurred_at": "2026-02-01T08:00:00Z", "data": {"memory_id": "m1"}}
    one = prepare_body(event_id, "MemoryMentioned", 1, owner, canonical(document))
    print(log.append([one])[0].status)
"""
"""A producer of 0.2.0 that looked at the store before it was brought over, and connects anew."""


def test_a_process_of_0_2_0_that_lives_on_and_connects_anew_writes_nothing(old: Brought, tmp_path: Path) -> None:
    release = Release(tmp_path / "release")
    words = ["-c", LIVES_ON, old.server.url, " ".join(old.tags)]
    assert release.run(*words).out.split() == ["appended"] * 4
    old.upgrade()
    before = dump(old.client)
    assert release.run(*words).out.split() == ["failed"] * 4
    assert dump(old.client) == before
    assert old.differences() == []


def test_an_event_that_comes_while_ids_are_written_is_brought_over_too(old: Brought) -> None:
    """No process of 0.2 should live then; one that did would lose nothing."""
    came = False

    def probe(at: str) -> None:
        nonlocal came
        if at == "before a boundary" and not came:
            head = int(old.client.hget(LogKeys("e2").meta, "seq") or 0)
            one = next(one for one in old.events() if partition_of(one.owner, PARTITIONS) == 1)
            body = one.body.replace(one.raw_id.hex()[:8].encode(), b"00000000")
            raw = bytes(4) + one.raw_id[4:]
            old.client.xadd(STREAMS[1], {"t": one.kind, "i": raw, "o": one.owner, "e": body}, id=f"{head + 1}-0")
            old.client.hset(LogKeys("e2").meta, "seq", head + 1)
            old.client.hset(LogKeys("e2").heads, one.owner, head + 1)
            came = True

    old.upgrade(probe=probe)
    assert old.differences() == []
    wire = Wire(old.client)
    assert {one.head == one.boundary for one in standing(wire, old.tags)} == {True}
    wire.close()
