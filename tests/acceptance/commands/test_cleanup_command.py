"""`engramlog cleanup` as people run it: look first, then do exactly that, for one owner or for all."""

from __future__ import annotations

from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from engramlog_server.api.cli import app
from engramlog_server.events.envelope import micros
from engramlog_server.events.errors import ModelFailed
from engramlog_server.ops.models import LazyModel
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.models.chat import ModelChat
from tests.acceptance.helpers.cli import Cli, event, flat, lines, run
from tests.doubles.scripted_chat import Says, ScriptedChat, keeps
from tests.rows import each_row
from tests.servers import Servers

OLD = "2024-01-05T08:00:00Z"


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
    with open_application(Settings()) as application:  # as if a sweep had looked then
        application.views.deletions.add(owner, {"bus": micros(datetime.fromisoformat(OLD))}, 0)


def test_a_dry_run_prints_action_memory_since_when_and_why_and_a_run_then_does_exactly_that(cli: Cli) -> None:
    remember(cli)
    before = cli.json("status")["events"]
    told = cli("cleanup", "ada", "--dry-run").out
    rows = [line.split() for line in told.splitlines() if line.startswith(("purge", "delete"))]
    assert [row[:4] for row in rows] == [
        ["purge", "bus", "2024-02-04", "08:00"],
        ["delete", "tea", "2024-01-27", "00:59"],
    ]
    assert "deleted 30 days ago or more" in told
    assert "the ebbinghaus law lets it go" in told
    assert "counts purge 1, delete 1" in flat(told) or "counts delete 1, purge 1" in flat(told)
    assert "the log still holds its text" in told
    foreseen = cli.json("cleanup", "ada", "--dry-run")
    assert cli.json("status")["events"] == before
    done = cli.json("cleanup", "ada")
    assert done["decisions"] == foreseen["decisions"]
    assert cli.json("status")["events"] == before + 2
    assert "Nothing is due." in cli("cleanup", "ada").out


def test_after_a_run_it_says_what_was_done_and_how_to_undo_it(cli: Cli) -> None:
    remember(cli)
    told = cli("cleanup", "ada").out
    assert "delete 1" in told
    assert "Deleted memories can be restored for 30 days: engramlog delete --undo OWNER ID" in told
    cli("delete", "--undo", "ada", "tea")
    assert {one["id"] for one in cli.json("list", "ada", "--mode", "review")["memories"]} == {"tea", "name"}
    assert "purged: only a tombstone is left" in cli("delete", "--undo", "ada", "bus", code=2).err


def test_every_owner_at_once_with_what_failed_told_at_the_end(cli: Cli, redis_servers: Servers) -> None:
    from tests.acceptance.helpers.store import Store

    for owner in ("ada", "bo", "林"):
        remember(cli, owner)
    with open_application(Settings()) as application:
        Store(application).poison("bo")
    told = cli("cleanup", "--all", "--dry-run", code=3)
    assert "owners 3" in flat(told.out)
    assert told.out.count("the ebbinghaus law lets it go") == 2
    assert "owner bo is quarantined" in flat(told.out)
    done = cli.json("cleanup", "--all", code=3)
    assert (done["counts"], done["owners"]) == ({"purge": 2, "delete": 2}, 3)
    assert sorted(one["owner"] for one in done["decided"]) == ["ada", "林"]
    assert [one["owner"] for one in done["failed"]] == ["bo"]
    assert "bo is quarantined" in cli("cleanup", "bo", code=1).err


def reviewed_by(monkeypatch: pytest.MonkeyPatch, says: Says) -> ScriptedChat:
    """Settings under which this model reviews."""
    chat = ScriptedChat(says)
    monkeypatch.setenv("ENGRAMLOG_MODEL", chat.model)
    monkeypatch.setenv("ENGRAMLOG_MODEL_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("ENGRAMLOG_REVIEWER", "model")
    monkeypatch.setattr(
        "engramlog_server.ops.models.chat_of", lambda _settings: LazyModel(lambda: cast("ModelChat", chat))
    )
    return chat


def decayed(cli: Cli) -> None:
    """Under the tiered profile: three memories that a reviewer is asked about, one of them without a choice."""
    told = [
        event(1, "ada", "ProfileChosen", memory_id="x", profile="tiered"),
        *(event(number, "ada", memory_id=f"m{number}", content=f"entry{number}") for number in (2, 3)),
        event(4, "ada", memory_id="name", content="My name is Ada", category="identity"),
    ]
    del told[0]["data"]["memory_id"]
    cli("append", "-", stdin=lines([one | {"occurred_at": OLD} for one in told]))


def test_a_dry_run_says_which_reviewer_would_be_asked_what_and_asks_nothing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    decayed(cli)
    assert cli.json("cleanup", "ada", "--dry-run", "--job", "review")["reviewer"] == "rule"
    chat = reviewed_by(monkeypatch, keeps)
    told = cli("cleanup", "ada", "--dry-run", "--job", "review").out
    rows = [line.split() for line in told.splitlines()]
    assert [row[:2] for row in rows if row[:1] in (["keep"], ["decay"])] == [
        ["decay", "m2"],
        ["decay", "m3"],
        ["keep", "name"],
    ]
    assert "reviewer model scripted-1" in flat(told)
    foreseen = cli.json("cleanup", "ada", "--dry-run", "--job", "review")
    assert (foreseen["reviewer"], [one["id"] for one in foreseen["asked"]]) == ("model scripted-1", ["m2", "m3"])
    assert chat.asked == []


def test_a_run_says_what_the_reviewer_was_asked_and_what_was_left_open(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    decayed(cli)
    reviewed_by(monkeypatch, lambda _asked: {"action": "DELETE", "reason": "it is over"})
    told = cli("cleanup", "ada", "--job", "review").out
    assert "left open 1 held back 1 requests 2" in flat(told)
    assert "reviewer model scripted-1 counts keep 1, delete 1" in flat(told)
    done = cli.json("cleanup", "--all", "--job", "review")
    assert (done["counts"], done["reviewer"], done["decided"][0]["left_open"]) == ({"delete": 1}, "model scripted-1", 0)
    assert "Nothing is due." in cli("cleanup", "ada", "--job", "review").out


def test_a_reviewer_that_fails_is_told_and_nothing_is_decided(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(_asked: object) -> dict[str, str]:
        raise ModelFailed("the model does not answer", down=True)

    decayed(cli)
    reviewed_by(monkeypatch, unreachable)
    told = cli("cleanup", "ada", "--job", "review", code=3).out
    assert "left open 2" in flat(told)
    assert "the model does not answer" in told
    assert cli.json("cleanup", "--all", "--job", "review", code=3)["counts"] == {}
    cli("cleanup", "ada", "--job", "review", "--dry-run")


def test_jobs_are_named_one_by_one(cli: Cli) -> None:
    told = [event(number, memory_id=f"m{number}", content="I drink green tea every morning") for number in (1, 2)]
    cli("append", "-", stdin=lines(told))
    assert {one["job"] for one in cli.json("cleanup", "ada", "--dry-run")["decisions"]} == {"sweep"}
    assert "merge 1" in cli("cleanup", "ada", "--job", "merge").out
    assert (
        "job: got 'dance'; allowed: sweep, review, merge, link, replay"
        in cli("cleanup", "ada", "--job", "dance", code=2).err
    )


@each_row("words", [["cleanup"], ["cleanup", "ada", "--all"]])
def test_an_owner_or_all_of_them_and_not_both(cli: Cli, words: list[str]) -> None:
    assert "name an owner, or give --all for every owner, and not both" in cli(*words, code=2).err


def test_status_says_that_nothing_is_scheduled_without_a_job_worker(cli: Cli) -> None:
    assert "jobs none: nothing is scheduled" in flat(cli("status").out)


def test_status_says_that_the_queue_does_not_answer(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_QUEUE_URL", "unix:///nowhere/at-all")
    assert "problem no connection to Redis" in flat(cli("status").out)
    assert cli.json("status")["lifecycle"]["queued"] is None


@each_row(
    ("name", "value", "allowed"),
    [
        ("QUEUE_URL", "http://localhost", "a URL that begins with redis://"),
        ("JOB_WORKERS", "-1", "a whole number from 0 to 64"),
        ("REVIEWER", "model", "rule, or model where ENGRAMLOG_MODEL names one"),
        ("REVIEWER", "nobody", "rule, or model where ENGRAMLOG_MODEL names one"),
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
    monkeypatch.setattr(app, "err", terminal)
    cli("cleanup", "--all")
    assert "1/1" in terminal.file.getvalue()  # type: ignore[attr-defined]


def test_it_needs_no_redis_of_one_s_own_and_no_job_worker(tmp_path: Path) -> None:
    environment = {"ENGRAMLOG_DATA": str(tmp_path / "store")}
    assert run(["cleanup", "--all", "--json"], environment).json["owners"] == 0
