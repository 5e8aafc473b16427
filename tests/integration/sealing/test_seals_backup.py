"""The seals' own backup: the machine is lost, and all comes back but what was erased."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli
from tests.integration.sealing.machine import AT, EVENTS, Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Machine:
    return Machine(Cli(monkeypatch, capsys), tmp_path, monkeypatch, capsys)


def forget_list(machine: Machine) -> None:
    """The list of what was erased is lost with the machine."""
    (machine.data / "erasures.jsonl").unlink(missing_ok=True)


@pytest.mark.parametrize("strip", [True, False], ids=["stripped", "whole"])
def test_the_machine_is_lost_and_all_comes_back_but_what_was_erased(machine: Machine, strip: bool) -> None:
    before, copy = machine.answers("lin-yue", "团队"), machine.copy(strip=strip)
    machine.erase("ada")
    (done,) = machine.erase("lin-yue", "m4")
    kept = machine.answers("lin-yue", "团队")
    assert kept["团队"] == before["团队"]
    assert [one for one in before["lin-yue"] if "w4w" in one]
    machine.lose(copy)
    forget_list(machine)
    answer = machine.restore()
    assert answer["found"] == ("stripped" if strip else "whole")
    assert answer["entries"] == {
        "opens": EVENTS - 5,
        "erased": 4,
        "wordless": 1,
        "lies_open": 0,
        "not_openable": 0,
        "locked": 0,
        "damaged": 0,
    }
    assert (answer["newer_than_seals"], answer["owners_erased"]) == (0, 1)
    assert answer["lost"] > 0
    assert machine.answers("lin-yue", "团队") == kept
    assert machine.cli.json("list", "ada", *AT, code=1)["error"] == "OwnerErased"
    assert "w4w" not in machine.cli("events", "lin-yue").out
    assert machine.differences(1) == [
        "a key that was destroyed by no erasure that the log tells of",
        "entries that lost their words by no erasure that the log tells of",
    ]
    again = machine.erase("--again")
    assert {one["erasure"] for one in again} >= {done["erasure"]}
    assert len(again) == 2
    assert machine.differences(0) == []
    assert machine.answers("lin-yue", "团队") == kept
    assert machine.cli.json("seals", "save")["replaced"]


def test_without_the_seals_a_stripped_copy_opens_nothing_and_nothing_opens_it(machine: Machine) -> None:
    (machine.data / "rejections.jsonl").write_bytes(b"")
    copy = machine.copy()
    assert machine.tables(machine.data) == {"keys", "salts"}
    assert machine.tables(copy) == set()
    assert machine.folded(machine.data) > 0
    assert machine.folded(copy) == 0
    assert not (copy / "rejections.jsonl").exists()
    machine.lose(copy)
    for words in (["list", "ada"], ["status"], ["seals", "save"], ["rebuild"]):
        assert "engramlog seals restore FILE" in machine.cli(*words, code=1).err
    assert machine.cli.json("seals", "strip", str(copy), "--yes")["keys"] == 0


def test_no_secret_or_salt_lies_in_any_file_of_a_stripped_copy(machine: Machine) -> None:
    from ops.bringing.frame import old_store
    from ops.settings import Settings
    from tests.integration.sealing.machine import salts_of

    with old_store(Settings(data=machine.data)) as store:
        wire = store.wire()
        tables = [wire.call("HGETALL", f"{{{tag}}}:keys") for tag in store.identity.tags]
        salts = [salts_of(wire, tag) for tag in store.identity.tags]
        wire.close()
    secrets = [line[20:36] for table in tables for line in table[1::2]]
    secrets += [table[at : at + 16] for table in salts for at in range(16, len(table), 16)]
    assert len(secrets) == EVENTS + 3

    def found(folder: Path) -> int:
        files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        return sum(any(one in raw for raw in files) for one in secrets)

    assert found(machine.data) == len(secrets)
    assert found(machine.copy()) == 0


def test_what_is_newer_than_the_seals_is_told_and_opens_only_by_seals_of_its_own(machine: Machine) -> None:
    machine.cli.json("seals", "save")
    machine.say(range(100, 103), "团队")
    stripped, whole, all_of_it = machine.copy(), machine.copy(strip=False), machine.answers("团队")
    machine.lose(stripped)
    answer = machine.restore(code=3)
    assert (answer["newer_than_seals"], answer["entries"]["not_openable"], answer["entries"]["opens"]) == (3, 3, EVENTS)
    assert len(machine.differences(1)) >= 3
    machine.lose(whole)
    assert machine.restore()["entries"]["opens"] == EVENTS + 3
    assert machine.answers("团队") == all_of_it
    assert machine.differences(0) == []


def test_after_a_restore_by_older_seals_newer_ones_open_the_rest(machine: Machine) -> None:
    machine.cli.json("seals", "save")
    older = machine.folder / "older"
    older.write_bytes(machine.seals.read_bytes())
    older.chmod(0o600)
    machine.say(range(100, 103), "团队")
    machine.cli.json("seals", "save")
    copy, everything = machine.copy(), machine.answers("团队")
    machine.lose(copy)
    assert machine.cli.json("seals", "restore", str(older), "--yes", code=3)["entries"]["not_openable"] == 3
    assert machine.restore()["entries"]["not_openable"] == 0
    assert machine.answers("团队") == everything


def test_who_was_readmitted_after_the_copy_is_back_without_a_word_of_before(machine: Machine) -> None:
    copy = machine.copy()
    machine.erase("ada")
    machine.cli("erase", "--readmit", "ada")
    machine.say(range(100, 101), "ada")
    machine.cli.json("seals", "save")
    machine.lose(copy)
    forget_list(machine)
    assert machine.restore()["entries"]["erased"] == 4
    assert machine.answers("ada") == {"ada": []}
    machine.say(range(200, 201), "ada")
    assert machine.answers("ada") == {"ada": ["the key word is w200w today"]}


def test_a_master_key_that_was_replaced_since_the_copy_opens_what_comes_back(machine: Machine) -> None:
    before, copy = machine.answers(), machine.copy()
    machine.cli("master-key", "rotate")
    machine.cli("master-key", "rewrap")
    machine.cli.json("seals", "save")
    ring = machine.key.read_text().splitlines(keepends=True)
    keys = [number for number, line in enumerate(ring) if line.strip() and not line.startswith("#")]
    machine.key.write_text("".join(line for number, line in enumerate(ring) if number != keys[0]))
    machine.lose(copy)
    machine.restore()
    assert machine.answers() == before
    assert machine.differences(0) == []


def test_seals_save_says_what_it_needs(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    told = machine.cli.json("seals", "save")
    assert (told["events"], told["owners"], told["erased"], told["replaced"]) == (EVENTS, 3, 0, None)
    assert machine.cli.json("seals", "save")["replaced"] == told["saved_at"]
    assert machine.seals.stat().st_mode & 0o777 == 0o600
    assert "in the data folder" in machine.cli("seals", "save", str(machine.data / "seals"), code=2).err
    assert "a folder that is there" in machine.cli("seals", "save", str(machine.folder / "no" / "seals"), code=2).err
    monkeypatch.delenv("ENGRAMLOG_SEALS_BACKUP")
    assert "ENGRAMLOG_SEALS_BACKUP" in machine.cli("seals", "save", code=2).err
    machine.seals.chmod(0o604)
    assert "could be read by others" in machine.cli("seals", "save", str(machine.seals), code=2).err
    machine.seals.chmod(0o600)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(machine.folder / "another"))
    machine.say(range(1))
    assert "holds the seals of store" in machine.cli("seals", "save", str(machine.seals), code=1).err
    monkeypatch.setenv("ENGRAMLOG_DATA", str(machine.folder / "open"))
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
    machine.say(range(1))
    assert "lies open" in machine.cli("seals", "save", str(machine.folder / "more"), code=1).err


def test_an_older_copy_does_not_replace_newer_seals_nor_does_one_that_went_on(machine: Machine) -> None:
    copy = machine.copy(strip=False)
    machine.erase("ada")
    newest = machine.seals.read_bytes()
    machine.lose(copy)
    forget_list(machine)
    (machine.data / "receipts.json").unlink(missing_ok=True)
    assert "this is an older copy" in machine.cli("seals", "save", code=1).err
    machine.say(range(100, 130), "ada")
    machine.say(range(130, 160), "团队")
    machine.cli("master-key", "show")
    assert "went on from one" in machine.cli("seals", "save", code=1).err
    assert machine.seals.read_bytes() == newest


def test_an_erasure_states_how_old_the_seals_are(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (done,) = machine.erase("ada")
    assert done["ended_at"] <= done["seals_saved_at"]
    assert not [one for one in done["not_proven"] if "seals" in one]
    machine.seals.rename(machine.folder / "elsewhere")
    machine.seals.symlink_to(machine.folder / "elsewhere")
    (words,) = machine.erase("lin-yue", "m4")
    assert words["seals_saved_at"] is None
    assert [one for one in words["not_proven"] if "was not written anew" in one and "is a link" in one]
    monkeypatch.delenv("ENGRAMLOG_SEALS_BACKUP")
    (last,) = machine.erase("lin-yue", "m7")
    assert last["seals_saved_at"] is None
    assert not [one for one in last["not_proven"] if "seals" in one]


def test_seals_that_could_not_be_replaced_tell_how_old_they_are(machine: Machine) -> None:
    saved = machine.cli.json("seals", "save")["saved_at"]
    raw = machine.seals.read_bytes()
    machine.seals.write_bytes(re.sub(rb'"heads":\[\d', b'"heads":[9', raw))
    (done,) = machine.erase("ada")
    assert done["seals_saved_at"] == saved
    assert [one for one in done["not_proven"] if "was not written anew" in one]


def test_seals_of_another_history_or_store_are_refused_with_nothing_changed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = machine.copy(strip=False)
    machine.say(range(100, 103), "团队")
    machine.cli.json("seals", "save")
    machine.lose(early)
    machine.say(range(200, 206), "团队")
    fork = machine.copy()
    machine.lose(fork)
    refused = machine.cli.json("seals", "restore", str(machine.seals), "--yes", code=1)
    assert refused["error"] == "StoreMismatch"
    assert "another history" in refused["message"]
    assert machine.tables(machine.data) == set()
    monkeypatch.setenv("ENGRAMLOG_DATA", str(machine.folder / "another"))
    machine.say(range(3))
    assert "and here lies store" in machine.cli("seals", "restore", str(machine.seals), "--yes", code=1).err


def test_a_file_that_is_damaged_is_told_before_anything_is_changed(machine: Machine) -> None:
    machine.cli.json("seals", "save")
    machine.lose(machine.copy())
    raw = bytearray(machine.seals.read_bytes())
    raw[-40] ^= 1
    machine.seals.write_bytes(raw)
    assert "is not what was written" in machine.cli("seals", "restore", str(machine.seals), "--yes", code=2).err
    assert machine.tables(machine.data) == set()
    assert "No such file" in machine.cli("seals", "restore", str(machine.folder / "no"), "--yes", code=2).err
    told = machine.cli("seals", "restore", str(machine.seals), code=2)
    assert "without seals" in told.out
    assert "--yes" in told.err
