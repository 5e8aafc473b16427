"""What a restore of seals must not take away: what opens already, of another history or under another key."""

from __future__ import annotations

from pathlib import Path

import pytest

from events.partitions import LogKeys, partition_of
from ops.bringing.frame import old_store
from ops.kept.value_file import ValueFile
from ops.settings import Settings, load_settings
from projections.embedding.vectors import VectorKeys
from tests.acceptance.helpers.cli import Cli
from tests.integration.sealing.machine import AT, OWNERS, Machine, salts_of

MODEL = "hash-8"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Machine:
    return Machine(Cli(monkeypatch, capsys), tmp_path, monkeypatch, capsys)


def went_on_otherwise(machine: Machine, copy: Path) -> None:
    """Somebody puts an older copy back and goes on with it, as if nothing had come after."""
    machine.lose(copy)
    for number, owner in enumerate(("zoe", *OWNERS), 200):
        machine.say(range(number, number + 1), owner)


def refused(machine: Machine) -> str:
    """What a restore is refused with; nothing of the store is another than before."""

    def standing() -> list[object]:
        with old_store(load_settings()) as store:
            wire = store.wire()
            keys = [LogKeys(tag) for tag in store.identity.tags]
            tables = [sorted(wire.call("HGETALL", name)) for one in keys for name in (one.secrets, one.wordless)]
            salts = [salts_of(wire, tag) for tag in store.identity.tags]
            wire.close()
            return [tables, salts, store.identity]

    before = standing()
    told = machine.restore(code=1)
    assert told["error"] == "StoreMismatch"
    assert standing() == before
    return str(told["message"])


def test_the_key_of_who_came_newly_in_a_copy_that_went_on_is_not_written_over(machine: Machine) -> None:
    copy = machine.copy(strip=False)
    machine.say(range(100, 103), "zoe")
    for number, owner in enumerate(OWNERS):
        machine.say(range(110 + 3 * number, 113 + 3 * number), owner)
    machine.cli.json("seals", "save")
    went_on_otherwise(machine, copy)
    kept = machine.answers("zoe", *OWNERS)
    assert "opens by the seals that lie here, and would not by these" in refused(machine)
    assert machine.answers("zoe", *OWNERS) == kept


def test_what_an_erasure_left_is_put_in_no_other_event_s_place(machine: Machine) -> None:
    copy = machine.copy(strip=False)
    machine.say(range(100, 101), "lin-yue")
    machine.erase("lin-yue", "m100")
    machine.lose(copy)
    machine.say(range(200, 201), "lin-yue")
    machine.say(range(201, 202), "团队")
    kept = machine.answers()
    assert "is of another event than the one that stands there" in refused(machine)
    assert machine.answers() == kept


def test_what_was_said_under_a_new_key_after_a_restore_by_older_seals_is_not_lost(machine: Machine) -> None:
    machine.cli.json("seals", "save")
    older = machine.folder / "older"
    older.write_bytes(machine.seals.read_bytes())
    older.chmod(0o600)
    machine.say(range(100, 103), "zoe")
    machine.cli.json("seals", "save")
    machine.lose(machine.copy())
    machine.cli.json("seals", "restore", str(older), "--yes", code=3)
    machine.say(range(200, 201), "zoe")
    for number, owner in enumerate(OWNERS, 201):
        machine.say(range(number, number + 1), owner)
    assert "opens by the seals that lie here, and would not by these" in refused(machine)


def test_seals_that_know_of_an_erasure_before_the_last_do_not_undo_a_readmission(machine: Machine) -> None:
    machine.erase("ada")
    older = machine.seals.read_bytes()
    for number in (100, 200):
        machine.cli("erase", "--readmit", "ada")
        machine.say(range(number, number + 1), "ada")
        if number == 100:
            machine.erase("ada")
    machine.seals.write_bytes(older)
    assert "was readmitted here after an erasure that they do not know" in refused(machine)
    assert machine.answers("ada") == {"ada": ["the key word is w200w today"]}


def test_what_another_program_keeps_in_that_redis_stays_in_a_copy_without_seals(machine: Machine) -> None:
    with old_store(load_settings()) as store:
        wire = store.wire()
        wire.call("MSET", "{shop}:keys", "theirs", "{shop}:keys:7", "theirs")
        wire.close()
    copy = machine.copy()
    assert machine.tables(copy) == set()
    with old_store(Settings(data=copy)) as store:
        wire = store.wire()
        assert wire.call("EXISTS", "{shop}:keys", "{shop}:keys:7") == 2
        wire.close()


def test_a_list_that_cannot_be_read_is_told_before_the_store_is_marked(machine: Machine) -> None:
    machine.erase("ada")
    (machine.data / "erasures.jsonl").chmod(0o644)
    assert machine.restore(code=1)["error"] == "StoreUnavailable"
    (machine.data / "erasures.jsonl").chmod(0o600)
    machine.cli("status")


def test_of_who_was_readmitted_nothing_is_back_that_was_kept_of_before(machine: Machine) -> None:
    machine.cli("delete", "ada", "m0")
    machine.cli("delete", "团队", "m2")
    file = machine.data / "rejections.jsonl"
    with old_store(load_settings()) as store:
        identity = store.identity
        kept = ValueFile(file, identity.store_id, identity.partitions)
        assert {one.owner for one in kept.read().kept.values()} == {"ada", "团队"}
    copy = machine.copy(strip=False)
    machine.erase("ada")
    machine.cli("erase", "--readmit", "ada")
    machine.say(range(100, 101), "ada")
    machine.cli.json("seals", "save")
    machine.lose(copy)
    assert {one.owner for one in kept.read().kept.values()} == {"ada", "团队"}
    names = [VectorKeys(identity.tags[partition_of(one, identity.partitions)]).wholes(MODEL, one) for one in OWNERS]
    with old_store(load_settings()) as store:
        wire = store.wire()
        for name in names:
            wire.call("HSET", name, "text", "vector")
        wire.close()
    machine.restore()
    with old_store(load_settings()) as store:
        wire = store.wire()
        assert [wire.call("EXISTS", name) for name in names] == [0, 1, 1]
        wire.close()
    assert {one.owner for one in kept.read().kept.values()} == {"团队"}
    assert machine.cli.json("list", "ada", *AT)["memories"] == []
