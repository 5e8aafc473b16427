"""An older copy is brought back: who was erased since is fenced before anything answers, as long as the list is there."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from tests.acceptance.helpers.cli import Cli, event, lines

AT = ("--at", "2026-02-01T00:00:00Z")
NOT_PROVEN = 3
"""It is erased, and what came back with the copy was not noted beforehand."""
LIST, KEPT = "erasures.jsonl", "rejections.jsonl"


@pytest.fixture
def folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with two owners, one of whom rejected something; and a copy of it beside."""
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    told = [event(at, ("ada", "bob")[at % 2], content=f"the key word is {at} today") for at in range(10)]
    assert cli.json("append", "-", stdin=lines(told))["appended"] == len(told)
    for owner, one in (("ada", "m0"), ("bob", "m1")):
        cli.json("negate", owner, one, "--never")
    copytree(tmp_path / "data", tmp_path / "copy")
    return tmp_path / "data"


def bring_back(folder: Path, *, but: tuple[str, ...] = (LIST,)) -> None:
    """The Redis of the copy, beside what lies in the folder now; `but`: files that stay as they are."""
    copy = folder.parent / "copy"
    rmtree(folder / "appendonlydir", ignore_errors=True)
    for one in folder.glob("appendonly.aof*"):
        one.unlink()
    (folder / "dump.rdb").unlink(missing_ok=True)
    for one in copy.iterdir():
        if one.name.startswith(("appendonly", "dump")):
            copytree(one, folder / one.name) if one.is_dir() else (folder / one.name).write_bytes(one.read_bytes())
    for name in (LIST, KEPT):
        if name not in but and (folder / name).exists():
            (folder / name).unlink()


def alarms(cli: Cli, code: int = 0) -> set[str]:
    """Those that stand; it ends with 1 where one of them stops something."""
    return {one["name"] for one in cli.json("alarms", code=code)["alarms"]}


def acknowledge(cli: Cli) -> None:
    """An operator has seen that the store came back with another history, and wants it: until then nothing is appended."""
    refused = cli.json("erase", "ada", "--yes", code=1)
    assert refused["error"] == "ReceiptLost"
    cli.json("alarms", "--clear", "receipt_lost")


def answers(cli: Cli, owner: str) -> tuple[object, ...]:
    return cli.json("list", owner, *AT), cli.json("events", owner)


def test_who_was_erased_is_fenced_before_anything_answers_and_again_ends_it(cli: Cli, folder: Path) -> None:
    others, noted = answers(cli, "bob"), cli("verify", "--heads", "--json").out
    first = cli.json("erase", "ada", "--yes")
    bring_back(folder, but=(LIST, KEPT))
    refused = cli.json("list", "ada", *AT, code=1)
    assert refused["error"] == "OwnerErased"
    assert {"erased_came_back"} <= alarms(cli, code=1)
    assert answers(cli, "bob") == others
    acknowledge(cli)
    assert "was erased" in cli("append", "-", stdin=lines([event(99)]), code=1).err
    (done,) = cli.json("erase", "--again", code=NOT_PROVEN)["certificates"]
    assert (done["erasure"], done["events"], done["verified"], done["differences"]) == (
        *(first["erasure"], first["events"]),
        *(True, []),
    )
    assert not {"erased_came_back", "erasure_left"} & alarms(cli)
    assert cli.json("verify")["ok"]
    assert answers(cli, "bob") == others
    assert cli.json("list", "ada", *AT, code=1)["error"] == "OwnerErased"
    (folder.parent / "heads.json").write_text(noted)
    verdict = cli.json("verify", "--against", str(folder.parent / "heads.json"))
    assert verdict["ok"]
    assert verdict["heads"]["compared"] > 0
    assert cli.json("erase", "--again")["certificates"] == []


def test_a_key_and_salts_that_are_put_back_are_destroyed_at_the_next_opening(cli: Cli, folder: Path) -> None:
    """By somebody who kept them from before: the log itself is whole, and tells of the erasure."""
    with open_the_store(Settings(data=folder)) as store:
        keys = LogKeys(store.identity.tags[partition_of("ada", store.identity.partitions)])
        held, line = store.client.seals.keys, store.client.hget(keys.secrets, "ada")
        rows, salts = dict(held.every()), held.salts(list(held.salt_ids(1 << 53)))
    cli.json("erase", "ada", "--yes")
    with open_the_store(Settings(data=folder)) as store:
        store.client.hset(keys.secrets, "ada", line)  # type: ignore[arg-type]
        store.client.seals.keys.put(rows)
        store.client.seals.keys.put_salts(salts)
    assert "the keys of 1 erased owner are back in Redis" in cli("doctor", "--json", code=1).out
    assert cli.json("list", "ada", *AT, code=1)["error"] == "OwnerErased"
    assert "erased_came_back" in alarms(cli, code=1)
    (done,) = cli.json("erase", "--again", code=NOT_PROVEN)["certificates"]
    assert done["verified"]
    assert "erased_came_back" not in alarms(cli)
    assert cli.json("verify")["ok"]
    assert "no owner of the list of erasures has a key" in cli("doctor", "--json").out


def test_what_it_rejected_says_nothing_again(cli: Cli, folder: Path) -> None:
    """Its kept rejections went with it; those of others, which the copy has too, stay."""
    held = (folder / KEPT).read_text()
    assert '"ada"' in held
    events = cli.json("erase", "ada", "--yes")["events"]
    kept = [json.loads(line) for line in (folder / KEPT).read_text().splitlines()]
    assert {one["owner"] for one in kept if "owner" in one} == {"bob"}
    bring_back(folder, but=(LIST, KEPT))
    (folder / KEPT).write_text(held)  # an old copy of it too
    cli.json("list", "bob", *AT)
    acknowledge(cli)
    assert [one["events"] for one in cli.json("erase", "--again", code=NOT_PROVEN)["certificates"]] == [events]
    assert '"ada"' not in (folder / KEPT).read_text()  # wrapped secrets beside it may have those letters
    assert cli.json("list", "ada", *AT, code=1)["error"] == "OwnerErased"
    assert cli.json("verify")["ok"]


def test_killed_right_after_it_was_fenced_again_it_is_still_fenced_and_ended(cli: Cli, folder: Path) -> None:
    cli.json("erase", "ada", "--yes")
    bring_back(folder, but=(LIST, KEPT))
    settings = Settings(data=folder)
    with open_the_store(settings) as store:  # and nothing is done about it
        assert {one.name for one in store.alarms.standing()} >= {"erased_came_back"}
    assert cli.json("list", "ada", *AT, code=1)["error"] == "OwnerErased"
    acknowledge(cli)
    assert cli.json("erase", "ada", "--yes", code=NOT_PROVEN)["verified"]
    assert cli.json("verify")["ok"]


def test_without_the_list_nothing_knows_and_the_owner_has_no_key_all_the_same(cli: Cli, folder: Path) -> None:
    """A copy of Redis of before, without what was noted since: the key that it names is nowhere."""
    cli.json("erase", "ada", "--yes")
    bring_back(folder, but=(KEPT,))
    assert cli.json("list", "ada", *AT, code=1)["error"] == "KeyUnavailable"
    acknowledge(cli)
    assert cli.json("erase", "ada", "--yes", code=NOT_PROVEN)["verified"]  # and can be erased again
    assert cli.json("list", "ada", *AT, code=1)["error"] == "OwnerErased"


DAMAGED = {
    "no JSON": b"{nothing\n",
    "another shape": b'{"store": 1}\n',
    "not UTF-8": b"\xff\xfe\n",
    "an unknown step": b'{"store":"s","erasure":"e","label":"l","step":"lost","at":"t","event":"e"}\n',
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_list_that_cannot_be_read_is_refused_by_name_before_anything_answers(
    cli: Cli, folder: Path, what: str
) -> None:
    cli.json("erase", "ada", "--yes")
    held = (folder / LIST).read_bytes()
    (folder / LIST).write_bytes(held + DAMAGED[what])
    for words in (("list", "bob"), ("status",), ("erase", "bob", "--yes")):
        refused = cli.json(*words, code=1)
        assert refused["error"] == "StoreUnavailable"
        assert f"cannot be read at line {held.count(chr(10).encode()) + 1}" in refused["message"]
        assert str(folder / LIST) in refused["message"]
    (folder / LIST).write_bytes(held)
    assert cli.json("list", "bob", *AT)["memories"]


def test_a_list_whose_last_line_was_cut_off_is_read_and_goes_on(cli: Cli, folder: Path) -> None:
    """A writer that died: what it wrote of a line is none."""
    cli.json("erase", "ada", "--yes")
    held = (folder / LIST).read_bytes()
    (folder / LIST).write_bytes(held + b'{"store":"half')
    assert cli.json("erase", "bob", "--yes")["verified"]
    assert (folder / LIST).read_bytes().startswith(held)
    assert b"half" not in (folder / LIST).read_bytes()


def test_a_list_that_others_cannot_read_lies_there_with_nobody_s_name(cli: Cli, folder: Path) -> None:
    cli.json("erase", "ada", "--yes", "--reason", "asked by letter")
    assert (folder / LIST).stat().st_mode & 0o777 == 0o600
    assert b'"ada"' not in (folder / LIST).read_bytes()
