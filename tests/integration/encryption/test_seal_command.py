"""`engramlog seal` as people run it: in a data folder, whose files hold no word afterwards, and killed with its Redis."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from secrets import token_hex

import pytest

from engramlog_server.ops.keys.master import make_key_file
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.servers import RedisServer

OWNERS = ("ada", "lin-yue", "团队")
KILLED = """
import sys
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.encryption import carry_out
from engramlog_server.ops.store_replacement import old_store
from tests.chaos.fate import DIE, fated
with old_store(load_settings()) as store:
    carry_out(store, probe=fated(DIE, sys.argv[1], 1))
"""
READS = [("list", one, "--mode", "review", "--at", "2026-02-01T00:00:00Z") for one in OWNERS] + [
    ("events", one) for one in OWNERS
]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(monkeypatch, capsys)


@pytest.fixture
def words(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Words of a store that lies open in a data folder; each stands there once in a memory of its own."""
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    found = [token_hex(8) for _ in range(30)]
    told = [event(at, OWNERS[at % 3], content=f"the key word is {word} today") for at, word in enumerate(found)]
    assert cli.json("append", "-", stdin=lines(told))["appended"] == len(told)
    cli.json("list", "ada")
    return [one.encode() for one in found]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A file with a master key."""
    make_key_file(tmp_path / "key")
    return tmp_path / "key"


def lying_open(folder: Path, words: list[bytes]) -> set[str]:
    """Files of a folder that hold any of the words."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name for path in files if any(word in path.read_bytes() for word in words)}


def answers(cli: Cli) -> list[object]:
    return [cli.json(*one) for one in READS]


def test_no_file_of_the_folder_holds_a_word_and_every_answer_is_the_same(
    cli: Cli, words: list[bytes], key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, chains = answers(cli), cli.json("verify", "--heads")
    assert lying_open(tmp_path / "data", words)
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    answer = cli.json("seal", "--yes")
    assert (answer["found"], answer["done"], answer["events"], answer["aof"]) == ("open", True, len(words), "rewritten")
    assert answer["not_proven"] == []
    assert lying_open(tmp_path / "data", words) == set()
    assert answers(cli) == before
    assert cli.json("verify", "--heads")["heads"] == chains["heads"]
    assert lying_open(tmp_path / "data", words) == set()
    monkeypatch.delenv("ENGRAMLOG_SEALED_BY")
    assert "this store is sealed, and no master key was given" in cli("status", code=1).err


@pytest.mark.parametrize(
    "point", ["after the mark", "after a page", "after a copy is taken", "before a switch", "before the end"]
)
def test_a_sealing_that_gets_sigkill_with_its_redis_goes_on_when_run_again(
    cli: Cli, words: list[bytes], key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    before = answers(cli)
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    killed = subprocess.run(
        [sys.executable, "-P", "-c", KILLED, point],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=4 * PATIENCE,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert "run `engramlog seal` again" in cli("status", code=1).err
    assert "this goes on with it" in " ".join(cli("seal", code=2).out.split())
    with monkeypatch.context() as without:
        without.delenv("ENGRAMLOG_SEALED_BY")
        assert "this store is half sealed, and no master key was given" in cli("seal", "--yes", code=1).err
    assert cli.json("seal", "--yes")["found"] == "half sealed"
    assert answers(cli) == before
    assert lying_open(tmp_path / "data", words) == set()


def test_without_yes_it_tells_what_it_would_do_and_changes_nothing(
    cli: Cli, words: list[bytes], key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    told = cli("seal", code=2)
    assert "30 events of 3 owners" in told.out
    assert f"cp -a {tmp_path / 'data'} {tmp_path / 'data'}-open" in told.out
    assert "Less than a minute;" in told.out
    assert "--yes" in told.err
    answer = cli.json("seal", code=2)
    assert (answer["error"], answer["plan"]["found"], answer["plan"]["done"]) == ("NotConfirmed", "open", False)
    assert cli.json("status")["events"] == len(words)


def test_a_data_folder_for_which_no_key_is_set_is_sealed_by_a_key_of_its_own(
    cli: Cli, words: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, file = answers(cli), tmp_path / "data" / "master-key"
    monkeypatch.delenv("ENGRAMLOG_SEALED_BY")
    assert f"a new one, in {file}" in " ".join(cli("seal", code=2).out.split())
    assert not file.exists()
    assert cli.json("seal", "--yes")["done"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert answers(cli) == before
    assert lying_open(tmp_path / "data", words) == set()
    file.unlink()
    assert "no master key was given" in cli("status", code=1).err
    for words in (["seal"], ["seal", "--yes"]):
        told = cli(*words, code=1).err
        assert "this store is sealed, and no master key was given: set ENGRAMLOG_SEALED_BY" in told
        assert "put the file master-key back" in told
    assert not file.exists(), "the key of a sealed store is never made anew"


def test_where_there_is_no_store_none_is_made(
    tmp_path: Path, cli: Cli, key: Path, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "none"))
    assert "holds no store" in cli("seal", "--yes", code=1).err
    assert not (tmp_path / "none").exists()
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    assert "holds no store" in cli("seal", "--yes", code=1).err
    with redis_server.client() as client:
        assert client.dbsize() == 0
