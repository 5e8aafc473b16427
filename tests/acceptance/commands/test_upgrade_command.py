"""`engramlog upgrade` beside release 0.2.0 itself: what that made is brought over, and what was brought over it refuses."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from events.heads import Head
from ops.kept.head_file import HeadFile
from tests.acceptance.helpers.cli import Cli, event, lines, run
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.release_0_2_0 import STORY, Release, dump, let_go, pinned, restore, unpacked
from tests.servers import RedisServer, Servers

pytestmark = pytest.mark.xdist_group("release-0.2.0")
"""One process unpacks it, once."""
OWNERS = ("ada", "lin-yue", "团队")
AT = "2026-02-01T00:00:00Z"
KILLED = """
import sys
from ops.settings import load_settings
from ops.bringing.frame import old_store
from ops.bringing.upgrade import carry_out
from tests.chaos.fate import DIE, fated
with old_store(load_settings()) as store:
    carry_out(store, probe=fated(DIE, sys.argv[1], 1))
"""


@pytest.fixture(scope="session")
def release() -> Iterator[Release]:
    """0.2.0."""
    with unpacked() as found:
        yield found


@pytest.fixture(scope="session")
def made(release: Release, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A data folder of 0.2.0 whose `up` was killed, and what it told before."""
    folder = tmp_path_factory.mktemp("old") / "data"
    release.tell_story(ENGRAMLOG_DATA=str(folder))
    verify, status, *listed = release.ask(["verify"], ["status"], *map(_list, OWNERS), ENGRAMLOG_DATA=str(folder))
    told = {"verify": verify, "status": status, "listed": dict(zip(OWNERS, map(_listed, listed), strict=True))}
    up = _up(release, folder)
    up.send_signal(signal.SIGKILL)
    up.communicate()
    return folder, told


def _up(release: Release, folder: Path) -> subprocess.Popen[bytes]:
    """`engramlog up` of 0.2.0, which is ready."""
    up = release.start(["up", "--port", "0"], ENGRAMLOG_DATA=str(folder), ENGRAMLOG_JOB_WORKERS="0")
    assert up.stdout is not None
    assert up.stderr is not None
    for line in up.stderr:
        if b'"ready"' in line or (b" ready" in line and b"redis" not in line):
            return up
    raise AssertionError(f"0.2.0 did not get ready: {up.communicate()}")


def _list(owner: str) -> list[str]:
    return ["list", owner, "--mode", "review", "--at", AT]


def _listed(answer: dict[str, Any]) -> dict[str, Any]:
    """What folding gives that no later release meant to change: texts, states and weights of what an owner has."""
    return {one["id"]: (one["memory"], round(one["weight"], 9)) for one in answer["memories"]}


@pytest.fixture
def folder(made: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, as the README's words make one; settings name it."""
    copy = tmp_path / "data"
    shutil.copytree(made[0], copy, ignore=shutil.ignore_patterns("*.sock"))
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(copy))
    return copy


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(monkeypatch, capsys)


def test_a_store_of_0_2_0_that_was_killed_is_brought_over_meets_its_heads_and_goes_on(
    made: tuple[Path, dict[str, Any]], folder: Path, cli: Cli, tmp_path: Path
) -> None:
    told = made[1]
    noted = [
        Head(one["partition"], one["checkpoint"], one["chain"]) for one in told["status"]["partitions"] if one["head"]
    ]
    for path in (folder / "heads.jsonl", tmp_path / "noted.jsonl"):
        HeadFile(path).append("2026-11-20T00:00:00Z", told["status"]["store_id"], noted)
    assert cli.json("upgrade", "--yes")["done"]
    verified = cli.json("verify", "--against", str(tmp_path / "noted.jsonl"))
    assert (verified["ok"], verified["heads"]["compared"]) == (True, 2 * len(noted))
    assert verified["chains"] == told["verify"]["chains"]
    assert {owner: _listed(cli.json(*_list(owner))) for owner in OWNERS} == told["listed"]
    answer = cli.json("append", "-", stdin=lines([event(1, "ada", content="after the change 之后")]))
    assert answer["appended"] == 1
    assert cli.json("verify", "--against", str(tmp_path / "noted.jsonl"))["ok"]


@pytest.mark.parametrize("point", ["after the mark", "after a page", "after a boundary", "before a switch"])
def test_an_upgrade_that_gets_sigkill_with_its_redis_goes_on_when_run_again(folder: Path, cli: Cli, point: str) -> None:
    root = ROOT
    killed = subprocess.run(
        [sys.executable, "-P", "-c", KILLED, point],
        env=os.environ | {"ENGRAMLOG_DATA": str(folder), "PYTHONPATH": str(root)},
        capture_output=True,
        timeout=4 * PATIENCE,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert "run `engramlog upgrade`" in cli("status", code=1).err
    told = cli("upgrade", code=2).out
    assert "this goes" in told
    assert "cp -a" not in told  # a copy of what was begun is no way back
    assert cli.json("upgrade", "--yes")["found"] == "1>2"
    assert cli.json("verify")["ok"]


def test_it_is_refused_while_a_service_of_0_2_0_runs_on_the_folder(release: Release, folder: Path, cli: Cli) -> None:
    up = _up(release, folder)
    try:
        assert f"`engramlog up` (pid {up.pid}) runs on {folder}" in cli("upgrade", "--yes", code=1).err
        up.send_signal(signal.SIGTERM)
        up.communicate(timeout=4 * PATIENCE)
    finally:
        up.kill()
        up.communicate()
    assert release.ask(["verify"], ENGRAMLOG_DATA=str(folder))[0]["ok"]


def test_0_2_0_refuses_the_result_by_name_and_writes_nothing(
    release: Release, redis_servers: Servers, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    redis_server = redis_servers.get("redis-6.2")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path))
    environment = {"ENGRAMLOG_REDIS_URL": redis_server.url, "ENGRAMLOG_DATA": str(tmp_path)}
    with redis_server.client() as client:
        let_go(client)
        restore(client, pinned()["keys"])
        assert release.ask(["status"], **environment)[0]["events"] == pinned()["told"]["status"]["events"]
        client.connection_pool.disconnect()
        cli("upgrade", "--yes")
        before = dump(client)
        for words in (["up", "--port", "0"], ["-c", STORY]):
            told = release.run(*words, code=1, **environment)
            assert "the store was made with parameter set 2026-11.2; this release knows 2026-11" in told.out + told.err
        assert dump(client) == before


@pytest.fixture
def unbrought(
    redis_servers: Servers, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[redis.Redis]:
    """The pinned store of 0.2.0 in a Redis that settings name."""
    server = redis_servers.get("redis-6.2")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", server.url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path))
    with server.client() as client:
        let_go(client)
        restore(client, pinned()["keys"])
        yield client


def test_every_command_on_a_store_of_0_2_0_says_what_to_run_and_changes_nothing(
    unbrought: redis.Redis, cli: Cli, tmp_path: Path
) -> None:
    before, file = dump(unbrought), tmp_path / "events.jsonl"
    file.write_text("{}\n")
    for words in ("status", "list ada", f"append {file}", "verify", "rebuild", "heads", "worker"):
        told = cli(*words.split(), code=1).err
        assert "is of format 1, as release 0.2 wrote it" in told
        assert "run `engramlog upgrade`" in told
    assert dump(unbrought) == before


def test_a_service_on_a_store_of_0_2_0_ends_at_once_and_says_what_to_run(unbrought: redis.Redis) -> None:
    before = dump(unbrought)
    told = run(
        ["up", "--port", "0"], {"ENGRAMLOG_REDIS_URL": os.environ["ENGRAMLOG_REDIS_URL"]}, stdin=subprocess.DEVNULL
    )
    assert told.code == 1
    assert "run `engramlog upgrade`" in told.err
    assert dump(unbrought) == before


def test_without_yes_it_tells_what_it_would_do_and_changes_nothing(folder: Path, cli: Cli) -> None:
    told = cli("upgrade", code=2)
    assert "of log format 1" in told.out
    assert f"cp -a {folder} {folder}-format-1" in told.out
    assert "Less than a minute;" in told.out
    assert "--yes" in told.err
    answer = cli.json("upgrade", code=2)
    assert (answer["error"], answer["plan"]["found"], answer["plan"]["done"]) == ("InputError", "1", False)
    assert "of format 1" in cli("status", code=1).err


def test_done_again_it_says_that_there_is_nothing_to_do(folder: Path, cli: Cli) -> None:
    cli("upgrade", "--yes")
    assert "there is nothing to do" in cli("upgrade").out
    assert cli.json("upgrade", "--yes")["found"] == "2"


def test_where_there_is_no_store_none_is_made(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    for nothing in (tmp_path / "none", tmp_path / "empty"):
        monkeypatch.setenv("ENGRAMLOG_DATA", str(nothing))
        assert f"{nothing} holds no store" in cli("upgrade", "--yes", code=1).err
        assert not nothing.exists() or list(nothing.iterdir()) == []


def test_a_redis_without_a_store_stays_empty(
    redis_server: RedisServer, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    assert "holds no store" in cli("upgrade", "--yes", code=1).err
    with redis_server.client() as client:
        assert client.dbsize() == 0
