"""An erasure that is killed anywhere: the owner is as it was or fenced, it is told, and the next run ends it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops.erasure.fence_list import ErasureStep, FenceList
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.integration.erasure.erased import ADA, NEIGHBOURS, Erasing, Killed
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.servers import RedisServer

BEFORE = ["before it is written down", "before the fence"]
BEHIND = [
    "after the fence",
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
NOT_PROVEN = 3
"""It is erased, and nothing was noted beforehand by which it could be looked for what is left."""
KILLED = """
import sys
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.erasure.machine import carry_out
from engramlog_server.ops.store import open_the_store
from tests.chaos.fate import DIE, fated
settings = load_settings()
with open_the_store(settings) as store:
    carry_out(store, settings, ErasurePlan("ada", (), "objection"), probe=fated(DIE, sys.argv[1], 1))
"""


def sigkill(point: str) -> int:
    """Have a process erase her, which kills itself at a point; how it ended."""
    killed = subprocess.run(
        [sys.executable, "-P", "-c", KILLED, point],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=4 * PATIENCE,
        check=False,
    )
    return killed.returncode


@pytest.fixture
def store(redis_server: RedisServer, tmp_path: Path) -> Erasing:
    return Erasing(redis_server, tmp_path)


def ends_well(store: Erasing) -> None:
    """The next run erases her wholly, once."""
    done = store.erase()
    assert (done.verified, done.differences, done.events) == (True, [], 2 * store.memories)
    assert store.differences() == []
    assert store.left_of() == []
    assert store.is_silent()
    assert not store.alarm_stands
    assert store.told()[-1]["step"] == "ended"
    store.agree()


def test_all_points_are_named_here(store: Erasing) -> None:
    passed = list[str]()
    assert store.erase(probe=passed.append).verified
    assert list(dict.fromkeys(passed)) == BEFORE + BEHIND


@pytest.mark.parametrize("point", BEFORE)
def test_killed_before_the_fence_the_owner_is_as_it_was(store: Erasing, point: str) -> None:
    before, others = (store.records(ADA), store.answers(ADA), store.events(ADA)), store.neighbourhood()
    store.kill(point)
    assert not store.is_fenced()
    assert (store.records(ADA), store.answers(ADA), store.events(ADA)) == before
    assert store.differences() == []
    assert store.alarm_stands is (point == "before the fence")
    assert [one.step for one in store.listed()] == (["began"] if point == "before the fence" else [])
    ends_well(store)
    assert [one["step"] for one in store.told()] == ["began", "ended"]
    assert store.neighbourhood() == others


@pytest.mark.parametrize("point", BEHIND)
def test_killed_behind_the_fence_nothing_is_said_or_read_and_the_next_run_ends_it(store: Erasing, point: str) -> None:
    others, chains = store.neighbourhood(), store.heads()
    store.kill(point)
    assert store.is_fenced()
    assert store.is_silent()
    assert store.alarm_stands
    assert store.neighbourhood() == others  # nobody else notices
    ended = point == "after the end"
    assert [one["step"] for one in store.told()] == ["began", "ended"][: 1 + ended]
    ends_well(store)
    assert store.neighbourhood() == others
    assert len({one.erasure for one in store.listed()}) == 1
    seq, chain = chains[store.number()]
    assert store.chain_at(store.number(), seq) == chain


@contextmanager
def full_disk() -> Iterator[Callable[[], None]]:
    """Gives what has no file of this process grow any more, until the end."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    "point", ["before it is written down", "before the fence", "after the fence", "before it is proved"]
)
def test_on_a_full_disk_it_is_refused_and_the_next_run_ends_it(store: Erasing, point: str) -> None:
    others = store.neighbourhood()
    with full_disk() as fill, pytest.raises(EngramlogError):
        store.erase(probe=lambda at: fill() if at == point else None)
    assert store.neighbourhood() == others
    assert store.is_fenced() is (point != BEFORE[0]), "the tombstone is written before keys are deleted"
    ends_well(store)
    assert store.neighbourhood() == others


def test_killed_three_times_it_is_one_erasure(store: Erasing) -> None:
    for point in ("before the fence", "after their words", "before files are rewritten"):
        store.kill(point)
    ends_well(store)
    assert [(one["step"], one["ground"], one["reason"]) for one in store.told()] == [
        ("began", "objection", "asked"),
        ("ended", "objection", "asked"),
    ]


@pytest.mark.parametrize("step", ["began", "ended"])
def test_killed_between_the_log_and_the_list_both_tell_the_same_afterwards(
    store: Erasing, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = FenceList.append

    def killed(self: FenceList, one: ErasureStep) -> None:
        if one.step == step:
            raise Killed
        written(self, one)

    monkeypatch.setattr(FenceList, "append", killed)
    with pytest.raises(Killed):
        store.erase()
    monkeypatch.setattr(FenceList, "append", written)
    assert [one["step"] for one in store.told()] == ["began", "ended"][: 1 + (step == "ended")]
    ends_well(store)
    assert len({one["erasure"] for one in store.told()}) == 1


def test_a_list_that_was_lost_is_written_anew_from_the_log_by_the_next_erasure(store: Erasing) -> None:
    store.erase()
    listed = store.listed()
    store.fences.path.unlink()
    store.erase("bob")
    assert [(one.erasure, one.label, one.step, one.event) for one in store.listed()[:2]] == [
        (one.erasure, one.label, one.step, one.event) for one in listed
    ]
    store.agree()


def test_another_run_that_was_quicker_is_gone_on_with(store: Erasing) -> None:
    """Two erasures of the same owner at once: the one that comes second to the fence takes over the other's."""
    first = list[str]()

    def quicker(point: str) -> None:
        if point == "before the fence" and not first:
            first.append("")
            first[0] = store.erase().erasure

    assert store.erase(probe=quicker).erasure == first[0]
    assert not store.alarm_stands
    assert store.differences() == []
    store.agree()


def test_erased_again_it_is_certified_again_under_the_same_erasure(store: Erasing) -> None:
    first, second = store.erase(), store.erase()
    assert (second.erasure, second.label, second.events) == (first.erasure, first.label, first.events)
    assert (second.verified, second.began_at, second.ground) == (True, first.began_at, first.ground)
    assert store.differences() == []
    store.agree()


def test_two_erasures_of_one_partition_each_go_on_with_their_own(store: Erasing) -> None:
    """Another owner of the same partition is erased while the first one's erasure did not end."""
    neighbour = next(one for one in NEIGHBOURS if store.tag(one) == store.tag())
    store.kill("after their words")
    assert store.erase(neighbour).verified
    assert store.alarm_stands  # of ada's
    ends_well(store)
    assert {one["label"] for one in store.told()} == {store.label(), store.label(neighbour)}
    assert store.left_of(neighbour) == []


@pytest.mark.parametrize("point", ["after the fence", "before it is proved"])
def test_again_ends_an_erasure_that_was_killed_without_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], point: str
) -> None:
    cli = Cli(monkeypatch, capsys)
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    assert cli.json("append", "-", stdin=lines([event(1), event(2, "bob")]))["appended"] == 2
    assert sigkill(point) == -signal.SIGKILL
    (done,) = cli.json("erase", "--again", code=NOT_PROVEN)["certificates"]
    assert (done["verified"], done["ground"]) == (True, "objection")
    assert cli.json("alarms")["alarms"] == []
    assert cli.json("verify")["ok"]


@pytest.mark.parametrize(
    "point", ["before the fence", "after the fence", "before a switch", "before files are rewritten"]
)
def test_an_erasure_that_gets_sigkill_with_its_redis_is_ended_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], point: str
) -> None:
    cli = Cli(monkeypatch, capsys)
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    told = [event(at, ("ada", "bob")[at % 2], content=f"the key word is {at} today") for at in range(10)]
    assert cli.json("append", "-", stdin=lines(told))["appended"] == len(told)
    others = cli.json("list", "bob", "--at", "2026-02-01T00:00:00Z"), cli.json("events", "bob")
    assert sigkill(point) == -signal.SIGKILL
    assert "erasure_left" in {one["name"] for one in cli.json("alarms")["alarms"]}
    if point != "before the fence":
        assert cli.json("list", "ada", code=1)["error"] == "OwnerErased"
    done = cli.json("erase", "ada", "--yes", code=0 if point == "before the fence" else NOT_PROVEN)
    assert (done["verified"], done["events"], done["ground"], done["aof"]) == (True, 5, "objection", "rewritten")
    assert cli.json("list", "ada", code=1)["error"] == "OwnerErased"
    assert cli.json("erase", "--again")["certificates"] == []
    assert (cli.json("list", "bob", "--at", "2026-02-01T00:00:00Z"), cli.json("events", "bob")) == others
    assert "erasure_left" not in {one["name"] for one in cli.json("alarms")["alarms"]}
    assert cli.json("verify")["ok"]
