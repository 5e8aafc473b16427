"""Backups that are made while a store is used: whole, private, of one moment, and without a key of a sealed store."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from engramlog_server.consumers import backup
from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.partitions import STORE_KEY, LogKeys
from engramlog_server.ops.backup.folder import check_backup, entries_of, open_backup
from engramlog_server.ops.backup.make import make_backup
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import OpenStore, open_the_store
from engramlog_server.projections.redis.create import RESTORING
from tests.integration.backup.depot import EVENTS, Depot, prepared


def everything(folder: Path) -> bytes:
    """All that lies in a backup, unpacked."""
    return b"".join(
        gzip.decompress(one.read_bytes()) if one.suffix == ".gz" else one.read_bytes()
        for one in sorted(folder.iterdir())
    )


def heads(store: OpenStore) -> list[int]:
    wire = store.wire()
    try:
        return [int(wire.call("HGET", LogKeys(tag).meta, "head") or 0) for tag in store.identity.tags]
    finally:
        wire.close()


def test_it_is_private_proved_and_noted_and_check_says_the_same_without_a_store(
    depot: Depot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = depot.folder / "backup"
    told = depot.cli.json("backup", "make", str(made))
    assert (told["events"], told["partitions"], told["sealed"], told["noted"]) == (EVENTS, 2, depot.sealed, True)
    assert made.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in made.iterdir()} == {0o600}
    assert [one.name for one in depot.folder.glob(".backup*")] == []
    assert told["bytes"] == sum(one.stat().st_size for one in made.glob("*.gz"))
    depot.lose()
    monkeypatch.delenv("ENGRAMLOG_SEALED_BY")
    checked = depot.cli.json("backup", "check", str(made))
    assert (checked["backup"], checked["events"], checked["open_to_others"]) == (told["backup"], EVENTS, False)
    assert sum(one["seq"] for one in checked["heads"]) == EVENTS
    assert not depot.data.exists()
    made.chmod(0o755)
    assert depot.cli.json("backup", "check", str(made))["open_to_others"] is False
    (made / "manifest.json").chmod(0o644)
    assert depot.cli.json("backup", "check", str(made))["open_to_others"] is True
    assert "make its folder 0700" in depot.cli("backup", "check", str(made)).out


def test_a_sealed_one_holds_no_key_salt_or_word_and_an_open_one_is_told_to_be_open(depot: Depot) -> None:
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        lines = [line for tag in store.identity.tags for line in wire.call("HGETALL", LogKeys(tag).secrets)[1::2]]
        keys = wire.seals.keys if depot.sealed else None
        held = [] if keys is None else [line for _, line in keys.every()]
        salts = [] if keys is None else list(keys.salts(list(keys.salt_ids(1 << 53))).values())
        wire.close()
    assert len(lines) == 3
    assert len(salts) >= (EVENTS if depot.sealed else 0)
    raw = everything(depot.make())
    assert any(one in raw for one in [*(held or lines), *salts]) is not depot.sealed
    assert (b"the key word is" in raw) is not depot.sealed
    told = depot.cli("backup", "make", str(depot.folder / "more")).out
    assert ("anyone with this backup can read it" in told) is not depot.sealed


def test_what_is_appended_meanwhile_is_not_in_it_and_what_was_before_is(depot: Depot) -> None:
    said = iter(range(100, 100_000))

    def meanwhile(point: str) -> None:
        if point in ("after the heads are read", "after a page", "after a partition"):
            receipts = store.log.append(
                [prepared(number, f"owner-{number % 7}") for number in (next(said), next(said))]
            )
            assert all(one.written for one in receipts)

    with open_the_store(load_settings()) as store:
        before = heads(store)
        told = make_backup(store, load_settings(), depot.folder / "backup", probe=meanwhile)
        after = heads(store)
    assert (told.events, sum(before)) == (EVENTS, EVENTS)
    assert sum(after) > EVENTS
    folder = open_backup(depot.folder / "backup")
    assert check_backup(folder).events == EVENTS
    for number in range(2):
        owners = {one.held[5] for page in entries_of(folder, number, lambda _row: None) for one in page}
        assert not [owner for owner in owners if owner.startswith(b"owner-")]


def test_a_deletion_that_is_known_after_the_heads_were_read_is_not_told_of(lying_open: Depot) -> None:
    def meanwhile(point: str) -> None:
        if point == "before the heads are read":
            wire = store.wire()
            wire.call("HSET", LogKeys(store.identity.tags[0]).deletions, "later", b"x")
            wire.close()

    with open_the_store(load_settings()) as store:
        make_backup(store, load_settings(), lying_open.folder / "backup", probe=meanwhile)
    assert b"later" not in everything(lying_open.folder / "backup")


def test_places_that_cannot_be_used_are_refused_by_name(depot: Depot) -> None:
    made = depot.make()
    before = everything(made)
    assert "which is there already" in depot.cli("backup", "make", str(made), code=2).err
    link = depot.folder / "link"
    link.symlink_to(depot.folder / "nowhere")
    assert "which is there already" in depot.cli("backup", "make", str(link), code=2).err
    assert "in the data folder" in depot.cli("backup", "make", str(depot.data / "b"), code=2).err
    assert "whose folder is not there" in depot.cli("backup", "make", str(depot.folder / "no" / "b"), code=2).err
    assert everything(made) == before
    assert sorted(one.name for one in depot.folder.glob("*b*")) == ["backup"]


def test_two_of_the_same_name_do_not_write_over_each_other(lying_open: Depot) -> None:
    def second(point: str) -> None:
        if point == "after the heads are read":
            with pytest.raises(StoreUnavailable, match="another backup is being made under this name"):
                make_backup(store, load_settings(), lying_open.folder / "backup")

    with open_the_store(load_settings()) as store:
        make_backup(store, load_settings(), lying_open.folder / "backup", probe=second)
    assert lying_open.cli.json("backup", "check", str(lying_open.folder / "backup"))["events"] == EVENTS


def test_a_name_that_is_taken_meanwhile_stays_as_it_is(lying_open: Depot) -> None:
    taken = lying_open.folder / "backup"

    def takes(point: str) -> None:
        if point == "before it has its name":
            taken.mkdir()

    with open_the_store(load_settings()) as store, pytest.raises(Exception, match="which is there by now"):
        make_backup(store, load_settings(), taken, probe=takes)
    assert list(taken.iterdir()) == []
    assert not (lying_open.folder / ".backup.making").exists()


def test_a_disk_that_takes_nothing_leaves_nothing(lying_open: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with open_the_store(load_settings()) as store:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(Exception, match="No space left"):
            make_backup(store, load_settings(), lying_open.folder / "backup")
    assert not list(lying_open.folder.glob("*backup*"))


@pytest.mark.parametrize("damage", ["dedupe", "body", "gap", "chain"])
def test_a_damaged_store_gives_no_backup(lying_open: Depot, damage: str) -> None:
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        tag = next(one for one in store.identity.tags if wire.call("XLEN", LogKeys(one).stream) > 1)
        keys = LogKeys(tag)
        if damage == "dedupe":
            wire.call("UNLINK", *(keys.dedupe_of(bucket) for bucket in range(512)))
            expected = "no line of its own in the table of dedupe"
        elif damage == "gap":
            wire.call("XDEL", keys.stream, "1-0")
            expected = "its log begins at 2"
        else:
            rows = wire.call("XRANGE", keys.stream, "-", "+")
            wire.call("UNLINK", keys.stream)
            for at, (name, held) in enumerate(rows):
                if not at and damage == "body":
                    held[7] = held[7].replace(b"key", b"kez")
                elif not at:
                    held[9] = b"1"
                wire.call("XADD", keys.stream, name, *held)
            expected = {
                "body": "another body than the one that was committed to",
                "chain": "is another than was folded",
            }[damage]
        with pytest.raises(Exception, match=expected):
            make_backup(store, load_settings(), lying_open.folder / "backup")
        wire.close()
    assert not list(lying_open.folder.glob("*backup*"))


def test_a_store_that_changes_its_format_meanwhile_gives_none(lying_open: Depot) -> None:
    def sealed(point: str) -> None:
        if point == "after a partition":
            wire = store.wire()
            wire.call("HSET", STORE_KEY, "format", RESTORING)
            wire.close()

    with open_the_store(load_settings()) as store, pytest.raises(StoreMismatch, match="while it was read"):
        make_backup(store, load_settings(), lying_open.folder / "backup", probe=sealed)
    assert not list(lying_open.folder.glob("*backup*"))


def test_a_page_is_what_one_answer_holds_and_no_more(lying_open: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup, "PAGE", 2)
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        found = [
            [page for page, _ in backup.read_entries(wire, tag, head)]
            for tag, head in zip(store.identity.tags, heads(store), strict=True)
        ]
        wire.close()
    assert sum(len(page) for pages in found for page in pages) == EVENTS
    assert {len(page) for pages in found for page in pages} <= {1, 2}


def test_no_backup_of_a_sealed_store_is_made_by_oversight_without_its_keys(
    sealed: Depot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENGRAMLOG_KEYS_BACKUP")
    (backups := sealed.folder / "backups").mkdir()
    for words in (["make", str(backups / "monday")], ["make", "--keep", "7", str(backups)]):
        assert "--keys: got nothing; allowed: a file apart from" in sealed.cli("backup", *words, code=2).err
        assert "in the data folder" in sealed.cli("backup", *words, "--keys", str(sealed.data / "s"), code=2).err
        both = [*words, "--keys", str(sealed.keys), "--without-keys"]
        assert "nothing with --without-keys" in sealed.cli("backup", *both, code=2).err
    assert list(backups.iterdir()) == []
    bare = str(backups / "bare")
    assert "incomplete" in sealed.cli("backup", "make", bare, "--without-keys").out
    assert "its keys are not at hand" in sealed.cli("backup", "check", bare, code=3).out
    told = {one["check"]: one for one in sealed.cli.json("doctor", code=1)["checks"]}
    assert (told["copies"]["result"], "incomplete" in told["copies"]["found"]) == ("wrong", True)
    done = sealed.cli.json("backup", "make", str(backups / "whole"), "--keys", str(sealed.keys))
    assert done["keys"]["events"] == EVENTS
    assert sealed.cli.json("backup", "check", bare, "--keys", str(sealed.keys))["incomplete"] is None
    told = {one["check"]: one["result"] for one in sealed.cli.json("doctor")["checks"]}
    assert told["copies"] == "ok"


def test_keys_that_were_saved_since_make_the_last_backup_whole(sealed: Depot) -> None:
    sealed.cli.json("backup", "make", str(sealed.folder / "bare"), "--without-keys")
    sealed.cli.json("backup", "keys")
    told = {one["check"]: one["result"] for one in sealed.cli.json("doctor")["checks"]}
    assert told["copies"] == "ok"


def test_a_store_that_lies_open_has_no_keys_to_save(lying_open: Depot) -> None:
    made, keys = str(lying_open.folder / "backup"), str(lying_open.folder / "keys")
    assert "has no keys" in lying_open.cli("backup", "make", made, "--keys", keys, code=2).err
    assert lying_open.cli.json("backup", "make", made, "--without-keys")["keys"] is None
    assert lying_open.cli.json("backup", "check", made)["incomplete"] is None
