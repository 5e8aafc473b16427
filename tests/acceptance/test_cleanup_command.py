"""`engramlog cleanup` as people run it: look first, then do exactly that, for one owner or for all."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from api.cli import cleaning
from tests.acceptance.helpers.cli import Cli, event, lines, run
from tests.servers import Servers

OLD = "2024-01-05T08:00:00Z"


@pytest.fixture
def cli(redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("redis-6.2").url)
    return Cli(monkeypatch, capsys)


def remember(cli: Cli, owner: str = "ada") -> None:
    """Under the Ebbinghaus law: two memories that it lets go, one of them deleted long ago, and one that lasts."""
    number = sum(map(ord, owner)) * 10
    told = [
        event(number, owner, "ProfileChosen", memory_id="x", profile="ebbinghaus"),
        event(number + 1, owner, memory_id="tea", content="I like tea"),
        event(number + 2, owner, memory_id="bus", content="The bus leaves at nine"),
        event(number + 3, owner, memory_id="name", content="My name is Ada", category="identity"),
        event(number + 4, owner, "MemoryDeleted", memory_id="bus"),
    ]
    del told[0]["data"]["memory_id"]
    cli("append", "-", stdin=lines([one | {"occurred_at": OLD} for one in told]))


def test_a_dry_run_prints_action_memory_since_when_and_why_and_a_run_then_does_exactly_that(cli: Cli) -> None:
    remember(cli)
    before = cli.json("status")["events"]
    told = cli("cleanup", "ada", "--dry-run").out
    rows = [line.split() for line in told.splitlines()[2:4]]
    assert [row[:4] for row in rows] == [
        ["purge", "bus", "2024-02-04", "08:00"],
        ["delete", "tea", "2024-01-27", "00:59"],
    ]
    assert "deleted 30 days ago or more" in told
    assert "the ebbinghaus law lets it go" in told
    assert "would be done: 1 deleted, 1 purged; nothing was changed" in told
    assert "the log still holds its text until contents are sealed" in told
    foreseen = cli.json("cleanup", "ada", "--dry-run")
    assert cli.json("status")["events"] == before
    done = cli.json("cleanup", "ada")
    assert done["decisions"] == foreseen["decisions"]
    assert cli.json("status")["events"] == before + 2
    assert "Nothing is due." in cli("cleanup", "ada").out


def test_after_a_run_it_says_what_was_done_and_how_to_undo_it(cli: Cli) -> None:
    remember(cli)
    told = cli("cleanup", "ada").out
    assert told.startswith("done 1 deleted, 1 purged\n")
    assert "What was deleted can be brought back for 30 days: engramlog restore ada ID" in told
    cli("restore", "ada", "tea")
    assert {one["id"] for one in cli.json("list", "ada", "--mode", "review")["memories"]} == {"tea", "name"}
    assert "purged: only a tombstone is left" in cli("restore", "ada", "bus", code=2).err


def test_every_owner_at_once_with_what_failed_told_at_the_end(cli: Cli, redis_servers: Servers) -> None:
    from ops.settings import Settings
    from ops.wiring import open_application
    from tests.acceptance.helpers.store import Store

    for owner in ("ada", "bo", "林"):
        remember(cli, owner)
    with open_application(Settings()) as application:
        Store(application).poison("bo")
    told = cli("cleanup", "--all", "--dry-run", code=3)
    assert "2 of 3 owners" in told.out
    assert told.out.count("the ebbinghaus law lets it go") == 2
    assert "owner" in told.out.splitlines()[0]
    assert "bo: owner bo is quarantined" in told.out
    done = cli.json("cleanup", "--all", code=3)
    assert (done["counts"], done["owners"]) == ({"purge": 2, "delete": 2}, 3)
    assert sorted(one["owner"] for one in done["decided"]) == ["ada", "林"]
    assert [one["owner"] for one in done["failed"]] == ["bo"]
    assert "bo is quarantined" in cli("cleanup", "bo", code=1).err


def test_jobs_are_named_one_by_one(cli: Cli) -> None:
    told = [event(number, memory_id=f"m{number}", content="I drink green tea every morning") for number in (1, 2)]
    cli("append", "-", stdin=lines(told))
    assert {one["job"] for one in cli.json("cleanup", "ada", "--dry-run")["decisions"]} == {"sweep"}
    assert "1 merged" in cli("cleanup", "ada", "--job", "merge").out
    assert (
        "job: got 'dance'; allowed: sweep, review, merge, link, replay"
        in cli("cleanup", "ada", "--job", "dance", code=2).err
    )


@pytest.mark.parametrize("words", [["cleanup"], ["cleanup", "ada", "--all"]])
def test_an_owner_or_all_of_them_and_not_both(cli: Cli, words: list[str]) -> None:
    assert "name an owner, or give --all for every owner, and not both" in cli(*words, code=2).err


def test_status_says_that_nothing_is_scheduled_without_a_job_worker(cli: Cli) -> None:
    assert "lifecycle: no job worker, so nothing is scheduled; last tick -, next -; 0 jobs queued" in cli("status").out


def test_status_says_that_the_queue_does_not_answer(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_QUEUE_URL", "unix:///nowhere/at-all")
    assert "lifecycle: the queue does not answer (no connection to Redis" in cli("status").out
    assert cli.json("status")["lifecycle"]["queued"] is None


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("QUEUE_URL", "http://localhost", "a URL that begins with redis://"),
        ("JOB_WORKERS", "-1", "greater than or equal to 0"),
        ("LIFECYCLE_MINUTES", "59", "greater than or equal to 60"),
    ],
)
def test_a_setting_that_cannot_be_used_says_what_is_allowed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    monkeypatch.setenv(f"ENGRAMLOG_{name}", value)
    assert allowed in cli("status", code=2).err


def test_over_owners_a_bar_is_shown_where_somebody_looks_on(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(cli)
    terminal = Console(width=80, file=StringIO(), force_terminal=True)
    monkeypatch.setattr(cleaning, "err", terminal)
    cli("cleanup", "--all")
    assert "1/1" in terminal.file.getvalue()  # type: ignore[attr-defined]


def test_it_needs_no_redis_of_one_s_own_and_no_job_worker(tmp_path: Path) -> None:
    environment = {"ENGRAMLOG_DATA": str(tmp_path / "store")}
    assert run(["cleanup", "--all", "--json"], environment).json["owners"] == 0
