"""An erasure of single memories that is killed anywhere: gone on with, it leaves what one that was not killed leaves, and nothing
tells the words meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops.erasure.fence_list import ErasureStep, FenceList
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.integration.erasure.erased import Killed
from tests.integration.erasure.test_killed import full_disk
from tests.integration.erasure.words.erased_words import (
    ADA,
    CANARY,
    ENTRIES,
    GOING,
    ErasingWords,
    asked,
    leaks,
    without_search,
)
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.servers import RedisServer, Servers

BEFORE = ["before it is written down", "before they are deleted"]
DELETED = ["after they are deleted", "after the list"]
"""Deleted as anybody deletes: mode debug and the log tell the words still."""
FENCED = ["after the fence"]
"""Tombstones by now, whose entries have their words still."""
WIPED = [
    "after their words",
    "lease taken",
    "before what was left is dropped",
    "between prefetch and commit",
    "before a commit",
    "commit sent",
    "after a commit",
    "before a switch",
    "after a switch",
    "after it was folded without them",
    "before files are rewritten",
    "before it is proved",
    "after the end",
]
POINTS = BEFORE + DELETED + FENCED + WIPED
AHEAD = WIPED[: WIPED.index("after a switch")]
"""The log has lost what the live build was folded from, and `verify` tells so until that is folded anew."""
MODES = ("normal", "review", "debug")
SAID = ("zorro", "felt", "quokka ink", "quokka desk", "spoke of the")
"""By what was deleted; a turn, which is nobody's to delete here, goes at the fence."""
LOG = ("context", "events", "history", "export {'everything': True}", "diff", "/history")
"""Questions that read the log itself, which has its words until they are wiped: the block tells the turns of a session."""
KILLED = """
import sys
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.erasure.machine import carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import application_on
from tests.chaos.fate import DIE, fated
settings = load_settings()
with open_the_store(settings) as store, application_on(store, settings, stays=False) as application:
    plan = ErasurePlan("ada", ("m0", "m2"), "objection")
    carry_out(store, settings, plan, application, probe=fated(DIE, sys.argv[1], 1))
"""


@pytest.fixture
def store(server: RedisServer, tmp_path: Path) -> ErasingWords:
    return ErasingWords(server, tmp_path)


@cache
def unkilled() -> list[dict[str, Any]]:
    """How an erasure that was not killed leaves the store; put there by the first that asks."""
    return []


@pytest.fixture
def expected(redis_servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """How an erasure leaves the store that was not killed."""
    if not unkilled():
        made = ErasingWords(redis_servers.get("valkey"), tmp_path_factory.mktemp("unkilled"))
        assert made.erase_words().verified
        unkilled().append(made.end_state())
    return unkilled()[0]


def untold(told: dict[str, str], point: str) -> list[str]:
    """Questions that tell, at a point, what they may not tell any more."""
    if point in WIPED:
        return leaks(told)
    found = [one for one in leaks(told, (CANARY,) if point in FENCED else SAID) if not any(name in one for name in LOG)]
    # asked for by its id, a deleted memory is told, marked as such: it may be restored
    return [one for one in found if point in FENCED or not one.startswith(("memories/", "export"))]


def ends_well(store: ErasingWords, expected: dict[str, Any], others: dict[str, Any]) -> None:
    """What was gone on with left what one run leaves."""
    assert store.differences() == []
    assert store.end_state() == expected
    assert store.standing(*store.others) == others
    assert not store.alarm_stands
    store.agree_of_words()


def test_all_points_are_named_here(store: ErasingWords) -> None:
    passed = list[str]()
    done = store.erase_words(probe=passed.append)
    assert list(dict.fromkeys(passed)) == POINTS
    assert (done.verified, done.differences, done.not_proven) == (True, [], [])
    assert (done.memories, done.turns, done.events) == (len(GOING), 3, ENTRIES)


@pytest.mark.parametrize("point", POINTS)
def test_killed_anywhere_and_called_again_it_ends_as_if_it_had_not_been(
    expected: dict[str, Any], store: ErasingWords, point: str
) -> None:
    others = store.standing(*store.others)
    store.kill_words(point)
    assert store.alarm_stands is (point != "before it is written down")
    if point not in AHEAD:
        assert store.differences() == []
    assert store.standing(*store.others) == others, "nobody else notices"
    done = store.erase_words()
    assert (done.verified, done.differences, done.memories, done.events) == (True, [], len(GOING), ENTRIES)
    ends_well(store, expected, others)


@pytest.mark.parametrize("point", [*DELETED, *FENCED, "after their words", "before a switch", "after a switch"])
def test_between_a_kill_and_going_on_nobody_is_told_the_words(store: ErasingWords, point: str) -> None:
    store.kill_words(point)
    with store.http() as client:
        assert untold(asked(client, modes=MODES[: 2 if point in DELETED else 3]), point) == []
    assert store.erase_words().verified
    with store.http() as client:
        assert leaks(asked(client)) == []
    assert store.differences() == []


@pytest.mark.parametrize(
    "point", ["before it is written down", "after they are deleted", "after the fence", "before it is proved"]
)
def test_on_a_full_disk_it_is_refused_and_the_next_run_ends_it(
    expected: dict[str, Any], store: ErasingWords, point: str
) -> None:
    others = store.standing(*store.others)
    with full_disk() as fill, pytest.raises(EngramlogError):
        store.erase_words(probe=lambda at: fill() if at == point else None)
    assert store.standing(*store.others) == others
    assert store.erase_words().verified
    ends_well(store, expected, others)


def test_killed_at_four_points_one_after_the_other_it_is_one_erasure(
    expected: dict[str, Any], store: ErasingWords
) -> None:
    others = store.standing(*store.others)
    for point in ("before they are deleted", "after the fence", "before a commit", "before it is proved"):
        store.kill_words(point)
    assert store.erase_words(reason="another").verified
    assert {(one.reason, one.ground) for one in store.told_words()} == {("asked", "objection")}, "as it was begun"
    ends_well(store, expected, others)


@pytest.mark.parametrize("step", ["fenced", "ended"])
def test_killed_between_the_log_and_the_list_both_tell_the_same_afterwards(
    expected: dict[str, Any], store: ErasingWords, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others, written = store.standing(*store.others), FenceList.append

    def killed(self: FenceList, one: ErasureStep) -> None:
        if one.step == step:
            raise Killed
        written(self, one)

    monkeypatch.setattr(FenceList, "append", killed)
    with pytest.raises(Killed):
        store.erase_words()
    monkeypatch.setattr(FenceList, "append", written)
    assert store.erase_words().verified
    ends_well(store, expected, others)


def test_killed_right_after_the_log_has_its_beginning_it_begins_anew(
    store: ErasingWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log names nothing that goes, so nobody can go on with that; nothing was destroyed yet."""
    before, written = store.standing(ADA, *store.others), FenceList.append

    def killed(self: FenceList, one: ErasureStep) -> None:
        raise Killed

    monkeypatch.setattr(FenceList, "append", killed)
    with pytest.raises(Killed):
        store.erase_words()
    monkeypatch.setattr(FenceList, "append", written)
    assert store.standing(ADA, *store.others) == before
    assert store.erase_words().verified
    assert [one.step for one in store.told_words()] == ["began", "began", "ended"]
    assert [one.step for one in store.listed_words()] == ["began", "fenced", "ended"]
    assert store.differences() == []


@pytest.mark.parametrize("point", [*BEFORE[1:], "after the fence", "before a switch", "before it is proved"])
def test_again_ends_one_that_got_sigkill_without_its_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], point: str
) -> None:
    """With its embedded Redis, which dies with it."""
    cli, ended = Cli(monkeypatch, capsys), without_search(monkeypatch)
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    told = [event(at, ("ada", "bob")[at % 2], content=f"the {CANARY} {at} sings") for at in range(6)]
    assert cli.json("append", "-", stdin=lines(told))["appended"] == len(told)
    bob = cli.json("list", "bob", "--at", "2026-02-01T00:00:00Z"), cli.json("events", "bob")
    killed = subprocess.run(
        [sys.executable, "-P", "-c", KILLED, point],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=4 * PATIENCE,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert "erasure_left" in {one["name"] for one in cli.json("alarms")["alarms"]}
    (done,) = cli.json("erase", "--again", code=ended)["certificates"]
    assert (done["verified"], done["ground"], done["memories"], done["events"], done["aof"]) == (
        True,
        "objection",
        2,
        2,
        "rewritten",
    )
    assert cli.json("alarms")["alarms"] == []
    assert cli.json("verify")["ok"]
    left = cli.json("list", "ada", "--mode", "debug", "--at", "2026-02-01T00:00:00Z")["memories"]
    assert {one["id"] for one in left if one["memory"]} == {"m4"}
    assert f"{CANARY} 0" not in str(cli.json("events", "ada"))
    assert (cli.json("list", "bob", "--at", "2026-02-01T00:00:00Z"), cli.json("events", "bob")) == bob
    assert cli.json("erase", "--again")["certificates"] == []
