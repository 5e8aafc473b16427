"""`engramlog seal` on a store that lies open: nothing of it is lost or changed, no word lies open, killed anywhere it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.cipher import BODY_MARK, SECRET_BYTES
from engramlog_server.events.errors import OtherFormat, StoreMismatch
from engramlog_server.events.keys import is_name
from engramlog_server.events.partitions import REBUILD_KEY, STORE_KEY, LogKeys, partition_of
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.redis.create import BEING_SEALED, SEALED, SEALING, known_identity, open_store
from tests.given.dumped import dump
from tests.given.samples import again, mention
from tests.integration.unsealed import OWNERS, PARTITIONS, WORD, Unsealed

ONCE = [
    "before the mark",
    "after the mark",
    "after partitions are closed",
    "after vectors are dropped",
    "before files are rewritten",
    "before the end",
    "after the end",
]
PER_PARTITION = [
    "after a page",
    "before a copy is proved",
    "before a copy is taken",
    "after a copy is taken",
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


def test_no_word_lies_open_and_events_chains_digests_and_records_are_the_same(store: Unsealed) -> None:
    before = store.told()
    assert len({key.rpartition(":")[2] for key in store.words()} | {"ev"}) > 2
    answer = store.seal()
    assert store.words() == []
    assert store.told() == before
    assert (answer["found"], answer["done"], answer["events"]) == ("open", True, 2 * 5 * len(OWNERS))
    held = store.client.hgetall(STORE_KEY)
    assert (held[b"format"], SEALING.encode() in held, len(held[SEALED.encode()]) > 32) == (b"2", False, True)


def test_every_entry_keeps_its_id_and_all_that_lay_clear(store: Unsealed) -> None:
    before = {tag: store.client.xrange(f"{{{tag}}}:ev") for tag in store.tags}
    store.seal()
    for tag in store.tags:
        for (old_id, old), (new_id, new) in zip(before[tag], store.client.xrange(f"{{{tag}}}:ev"), strict=True):
            assert (new_id, list(new)) == (old_id, list(old))
            assert {**new, b"e": b"", b"s": b""} == {**old, b"e": b"", b"s": b""}
            assert (new[b"e"][:1], new[b"s"]) == (BODY_MARK, b"")
            assert len(new[b"e"]) < len(old[b"e"])  # compressed


def test_no_key_is_left_but_those_of_a_store_that_was_created_sealed(store: Unsealed) -> None:
    store.seal()
    left = {key.decode() for key in store.client.scan_iter()}
    builds = {store.client.hget(f"{{{tag}}}:meta", "live").decode() for tag in store.tags}  # type: ignore[union-attr]
    assert len(builds) == 1
    live = builds.pop()
    for key in left:
        assert not key.endswith(":sealed")
        name = key.partition(":")[2]
        assert not name.startswith("v") or name.startswith(f"{live}:"), key
    assert REBUILD_KEY not in left
    for tag in store.tags:
        assert not [one for one in store.client.hkeys(f"{{{tag}}}:meta") if one.startswith(b"old:")]


def test_what_is_appended_afterwards_is_sealed_folded_and_known_again(store: Unsealed) -> None:
    events = store.events()
    store.seal()
    log = store.log()
    assert {log.append([again(one)])[0].status for one in events} == {"already_appended"}
    assert log.append([again(events[0], body=events[0].body + b" ")])[0].status == "conflict"
    receipt = log.append([mention("after", owner="ada", memory_id="m0"), mention("new", owner="eve")])[0]
    assert receipt.status == "appended"
    heads = {number: log.head(number) for number in range(PARTITIONS)}
    log.close()
    worker = FoldWorker(store.client, store.tags, "w")
    worker.drain(heads, 60.0)
    worker.hand_over()
    assert store.words() == []
    last = store.client.xrevrange(f"{{{store.tags[partition_of('eve', PARTITIONS)]}}}:ev", count=1)
    assert last[0][1][b"e"][:1] == BODY_MARK


@pytest.mark.parametrize(("point", "passes"), POINTS)
def test_a_sealing_killed_anywhere_goes_on_and_ends_the_same(store: Unsealed, point: str, passes: int) -> None:
    before, events = store.told(), store.events()
    store.kill(point, passes)
    answer = store.seal()
    assert answer["done"]
    assert store.words() == []
    assert store.told() == before
    log = store.log()
    assert {log.append([again(one)])[0].status for one in events} == {"already_appended"}
    log.close()
    assert store.client.exists(REBUILD_KEY) == 0


@pytest.mark.parametrize("point", ["after the mark", "after a copy is taken", "before a switch", "before the end"])
def test_until_it_is_done_nothing_else_opens_the_store_with_the_key_or_without(store: Unsealed, point: str) -> None:
    store.kill(point)
    before = dump(store.client)
    for client in (store.client, connect(store.server.url)):
        wire = open_wire(client)
        for opening in (known_identity, lambda wire: open_store(wire, store_id="other", partitions=1)):
            with pytest.raises(OtherFormat, match="was being sealed, which did not end: run `engramlog seal` again"):
                opening(wire)
        wire.close()
    assert dump(store.client) == before
    assert store.client.hget(STORE_KEY, "format") == BEING_SEALED.encode()


def test_a_process_that_had_the_store_open_writes_nothing_from_the_mark_on(store: Unsealed) -> None:
    log, statuses = store.log(), list[str]()
    by_point = dict[str, dict[str, object]]()

    def probe(at: str) -> None:
        if at in ("after partitions are closed", "after a page", "after a copy is taken", "before the end"):
            before = dump(store.client)
            for owner in (*OWNERS, "somebody-new"):
                receipt = log.append([mention(f"{at}-{owner}", owner=owner)])[0]
                statuses.append(receipt.status)
                assert "was sealed, or is being sealed" in str(receipt.error)
            by_point[at] = before
            assert dump(store.client) == before

    store.seal(probe=probe)
    assert len(by_point) == 4
    assert log.append([mention("late", owner="ada")])[0].status == "failed"
    assert log.append([mention("late", owner="nobody-yet")])[0].status == "failed"
    log.close()
    assert set(statuses) == {"failed"}
    assert WORD not in str(dump(store.client))


def test_a_process_that_had_the_store_open_puts_no_secret_there_in_the_open(store: Unsealed) -> None:
    """A new owner of a chat that is brought along has ids made of its words before anything is appended; afterwards its line would
    have kept that owner out of the sealed store for good."""
    log = store.log()
    line = LogKeys(store.tags[partition_of("somebody-new", PARTITIONS)]).secrets

    def probe(at: str) -> None:
        if at in ("after partitions are closed", "before a copy is taken", "before the end"):
            with pytest.raises(StoreMismatch, match="was sealed, or is being sealed"):
                log.naming("somebody-new", make=True)

    store.seal(probe=probe)
    with pytest.raises(StoreMismatch, match="was sealed, or is being sealed"):
        log.naming("somebody-new", make=True)
    log.close()
    assert not store.client.hexists(line, "somebody-new")
    sealed = store.log()
    assert len(sealed.naming("somebody-new", make=True).secret) == SECRET_BYTES
    sealed.close()
    assert is_name(store.client.hget(line, "somebody-new") or b"")


def test_done_again_it_says_that_there_is_nothing_to_do_and_changes_nothing(store: Unsealed) -> None:
    store.seal()
    before = dump(store.client)
    assert (store.seal()["found"], store.seal()["done"]) == ("sealed", True)
    assert dump(store.client) == before


def test_an_interrupted_sealing_goes_on_under_the_same_key_alone(store: Unsealed, tmp_path: Path) -> None:
    store.kill("after a copy is taken")
    before = dump(store.client)
    other = Unsealed.__new__(Unsealed)
    other.__dict__ |= store.__dict__
    from engramlog_server.ops.keys.master import make_key_file

    make_key_file(tmp_path / "other")
    other.settings = store.settings.model_copy(update={"sealed_by": str(tmp_path / "other")})
    with pytest.raises(StoreMismatch, match="is sealed under another master key"):
        other.seal()
    assert dump(store.client) == before
    assert store.seal()["done"]
