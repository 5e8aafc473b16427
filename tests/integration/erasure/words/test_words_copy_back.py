"""An older copy is brought back: words that were erased since are gone before anything answers, as long as the list is there."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from engramlog_server.ops.erasure.machine import carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.main import main
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import application_on
from tests.acceptance.helpers.cli import Cli, Ran, event, lines, turn
from tests.integration.erasure.erased import Killed
from tests.integration.erasure.test_copy_back import AT, KEPT, LIST, alarms
from tests.integration.erasure.test_copy_back import bring_back as redis_back
from tests.integration.erasure.words.erased_words import without_search

MOST_PARTITIONS = 4
HEADS = "heads.jsonl"
WORD = "marten"
"""In what is erased."""


class Patient(Cli):
    """An operator who sees that the store came back with another history, wants it, and asks again."""

    def __call__(self, *words: str, code: int = 0, stdin: bytes = b"") -> Ran:
        for _ in range(MOST_PARTITIONS):
            self._capture.readouterr()
            self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            found, told = main(list(words)), self._capture.readouterr()
            if "ReceiptLost" not in told.err:
                break
            assert main(["alarms", "--clear", "receipt_lost"]) == 0
        assert found == code, f"{words} ended with {found}\n{told.out}\n{told.err}"
        return Ran(found, told.out, told.err)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Patient(monkeypatch, capsys)


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of an erasure."""
    return without_search(monkeypatch)


@pytest.fixture
def folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with two owners; and copies of it beside: of before, and of before a memory was told."""
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    told = [event(at, ("ada", "bob")[at % 2], content=f"keeps note {at} today") for at in range(6)]
    assert cli.json("append", "-", stdin=lines(told))["appended"] == len(told)
    copytree(tmp_path / "data", tmp_path / "older")
    more = [event(8, "ada", content=f"keeps a {WORD}"), event(10, "ada", content="keeps a boat")]
    assert cli.json("append", "-", stdin=lines(more))["appended"] == 2
    cli.json("import", "turns", "-", stdin=lines([turn(1, f"a {WORD} in the garden", session="s9")]))
    copytree(tmp_path / "data", tmp_path / "copy")
    return tmp_path / "data"


def bring_back(folder: Path, *, but: tuple[str, ...]) -> None:
    """The Redis of the copy, with the heads that were kept of it."""
    redis_back(folder, but=but)
    (folder / HEADS).unlink(missing_ok=True)
    if (folder.parent / "copy" / HEADS).exists():
        (folder / HEADS).write_bytes((folder.parent / "copy" / HEADS).read_bytes())


def erase(cli: Cli, ended: int, *ids: str) -> dict[str, Any]:
    found: dict[str, Any] = cli.json("erase", "ada", *ids, "--yes", code=ended)
    assert found["verified"]
    return found


def everything(cli: Cli, owner: str = "ada") -> str:
    """All that is told of an owner."""
    return json.dumps(
        [
            cli.json("list", owner, *AT, "--mode", "debug"),
            cli.json("events", owner),
            cli.json("history", owner),
            cli.json("search", owner, "what is in the garden", "--mode", "debug"),
        ],
        ensure_ascii=False,
    )


def of_bob(cli: Cli) -> tuple[Any, Any]:
    return cli.json("list", "bob", *AT), cli.json("events", "bob")["events"]


def test_the_words_are_gone_before_anything_answers_and_again_certifies_it(cli: Cli, folder: Path, ended: int) -> None:
    bob, noted = of_bob(cli), cli("verify", "--heads", "--json").out
    (turn_id,) = (
        one["id"] for one in cli.json("list", "ada", *AT, "--mode", "debug")["memories"] if "garden" in one["memory"]
    )
    assert WORD in everything(cli)
    first = erase(cli, ended, "m8", turn_id)
    assert WORD not in everything(cli)
    bring_back(folder, but=(LIST, KEPT))
    assert WORD not in everything(cli)
    assert "erased_came_back" in alarms(cli, code=1)
    assert of_bob(cli) == bob
    assert "erased for good" in cli("append", "-", stdin=lines([event(99, "ada", memory_id="m8")]), code=2).err
    (done,) = cli.json("erase", "--again", code=ended)["certificates"]
    assert (done["erasure"], done["events"], done["memories"]) == (first["erasure"], first["events"], first["memories"])
    assert (done["verified"], done["differences"], done["ground"]) == (True, [], first["ground"])
    assert not {"erased_came_back", "erasure_left"} & alarms(cli)
    assert cli.json("verify")["ok"]
    assert WORD not in everything(cli)
    assert of_bob(cli) == bob
    (folder.parent / "heads.json").write_text(noted)
    verdict = cli.json("verify", "--against", str(folder.parent / "heads.json"))
    assert verdict["ok"]
    assert verdict["heads"]["compared"] > 0
    assert cli.json("erase", "--again")["certificates"] == []


def test_a_copy_that_lacks_the_memory_altogether_is_fenced_all_the_same(cli: Cli, folder: Path, ended: int) -> None:
    erase(cli, ended, "m8")
    copy = folder.parent / "copy"
    copy.rename(folder.parent / "newer")
    (folder.parent / "older").rename(copy)
    bring_back(folder, but=(LIST, KEPT))
    bob = of_bob(cli)
    refused = cli("append", "-", stdin=lines([event(8, "ada", content=f"keeps a {WORD}")]), code=2)
    assert "erased for good" in refused.err
    assert cli.json("append", "-", stdin=lines([event(10, "ada", content="keeps a boat")]))["appended"] == 1
    assert of_bob(cli) == bob
    assert cli.json("verify")["ok"]
    assert WORD not in everything(cli)
    (done,) = cli.json("erase", "--again", code=ended)["certificates"]
    assert (done["memories"], done["events"], done["verified"]) == (1, 0, True)
    assert not {"erased_came_back", "erasure_left"} & alarms(cli)
    assert cli.json("erase", "--again")["certificates"] == []


@pytest.mark.parametrize("point", ["after they are deleted", "after the fence", "after their words", "after a switch"])
def test_a_copy_of_the_midst_of_an_erasure_is_finished_by_again(cli: Cli, folder: Path, ended: int, point: str) -> None:
    bob, settings = of_bob(cli), Settings(data=folder)

    def probe(at: str) -> None:
        if at == point:
            raise Killed

    with (
        pytest.raises(Killed),
        open_the_store(settings) as store,
        application_on(store, settings, stays=False) as application,
    ):
        carry_out(store, settings, ErasurePlan("ada", ("m8",), "objection"), application, probe=probe)
    copy = folder.parent / "copy"
    copy.rename(folder.parent / "newer")
    copytree(folder, copy)
    first = erase(cli, ended, "m8")
    bring_back(folder, but=(LIST, KEPT))
    assert f"keeps a {WORD}" not in everything(cli)
    (done,) = cli.json("erase", "--again", code=ended)["certificates"]
    assert (done["erasure"], done["events"], done["verified"]) == (first["erasure"], first["events"], True)
    assert cli.json("verify")["ok"]
    assert f"keeps a {WORD}" not in everything(cli)
    assert not {"erased_came_back", "erasure_left"} & alarms(cli)
    assert of_bob(cli) == bob


def test_the_whole_owner_erased_later_takes_along_what_was_left(cli: Cli, folder: Path, ended: int) -> None:
    erase(cli, ended, "m8")
    assert cli.json("erase", "ada", "--yes", code=ended)["verified"]
    assert cli.json("list", "ada", code=1)["error"] == "OwnerErased"
    assert cli.json("verify")["ok"]
    with open_the_store(Settings(data=folder)) as store:
        assert not [key for tag in store.identity.tags for key in [f"{{{tag}}}:wl"] if store.client.exists(key)]
    refused = cli.json("erase", "ada", "m8", "--yes", code=1)
    assert refused["error"] == "OwnerErased"
    assert cli.json("erase", "--again")["certificates"] == []
    bring_back(folder, but=(LIST, KEPT))
    assert cli.json("list", "ada", code=1)["error"] == "OwnerErased"
    assert all(one["verified"] for one in cli.json("erase", "--again", code=ended)["certificates"])
    assert cli.json("verify")["ok"]


def test_erased_readmitted_and_single_memories_erased_then(cli: Cli, folder: Path, ended: int) -> None:
    erase(cli, ended, "m8")
    cli.json("erase", "ada", "--yes", code=ended)
    cli.json("erase", "--readmit", "ada")
    told = [event(20, "ada", content=f"keeps another {WORD}"), event(22, "ada", content="keeps a drum")]
    assert cli.json("append", "-", stdin=lines(told))["appended"] == 2
    assert erase(cli, ended, "m20")["events"] == 1
    assert WORD not in everything(cli)
    assert "a drum" in everything(cli)
    assert cli.json("verify")["ok"]
    # under its new key she is told of by the old ids again: who speaks there is another word
    assert (
        cli.json("append", "-", stdin=lines([event(30, "ada", content="keeps bees", memory_id="m8")]))["appended"] == 1
    )
    assert cli.json("erase", "--again")["certificates"] == []
    assert cli.json("verify")["ok"]
