"""`engramlog health --all` and `extract --all`: sums of what is told of each owner, whoever counts, however often it is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.services.extracting import Extractor
from api.services.whole.reading_turns import TROUBLED_IN_A_ROW, StoreTurnReader, reading_asked
from events.errors import ConcurrencyError, InputError, ModelFailed
from ops.main import main
from ops.settings import Settings
from ops.wiring import open_application
from tests.acceptance.helpers.store import Store, day
from tests.given.events import Told, created, deleted, in_conflict, in_session, negated, profile
from tests.patience import PATIENCE

OWNERS = [f"owner-{number}" for number in range(7)] + ["团队"]
AT = ("--at", day(60))
HOW = ("seconds", "processes", "dask", "done_before")
Capture = pytest.CaptureFixture[str]


def turn(text: str, turn_id: str, on: float = 0) -> Told:
    """A turn as an import leaves it."""
    return created(text, turn_id, on, kind="episode", source="user", source_turns=(turn_id,), speaker="user")


def told_of(number: int) -> list[Told]:
    """What is told of an owner."""
    told = [profile(("weighted", "tiered", "ebbinghaus")[number % 3], day=0)]
    told += [turn("I live in Berlin. I love jazz.", "t1", 1), turn("I hate mushrooms.", "t2", number)]
    told += [created("My sister plays the cello", "sister", 2), created("She hates the cello", "hates", 3)]
    told += [in_conflict("sister", "hates")] * (number % 2)
    told += [negated("hates", 9)] * (number % 3 == 1)
    told += [deleted("sister", 20)] * (number % 4 == 3)
    told += [in_session(created("drink water", "water", 39, actor="assistant"), f"s{number}")]
    told += [replace(created("She plays golf", "golf", 30), extra={"trust": "proposed"})] * (number % 2)
    return told


@contextmanager
def service(folder: Path) -> Iterator[Store]:
    """A sealed store on its embedded Redis, which commands join as they join that of `engramlog up`."""
    with open_application(Settings(data=folder, redis_url=None), "up") as application:
        yield Store(application)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    return tmp_path / "data"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    with service(folder) as opened:
        for number, owner in enumerate(OWNERS):
            opened.tell(owner, *told_of(number))
        yield opened


def ran(capsys: Capture, *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == code, capsys.readouterr()
    out = capsys.readouterr().out
    return json.loads(out) if out else None


def figures(answer: dict[str, Any]) -> dict[str, Any]:
    """What was found, without how."""
    return {name: value for name, value in answer.items() if name not in HOW}


def journals(folder: Path) -> list[Path]:
    return sorted((folder / "many").iterdir()) if (folder / "many").exists() else []


def test_health_is_the_sum_of_what_is_told_of_each_owner(store: Store, capsys: Capture) -> None:
    answer = ran(capsys, "health", "--all", *AT)
    sums, colours, states = Counter[str](), Counter[str](), Counter[str]()
    for owner in OWNERS:
        held, stats = ran(capsys, "health", owner, *AT), ran(capsys, "stats", owner, *AT)
        inbox, asides = ran(capsys, "inbox", owner), ran(capsys, "asides", owner)
        colours.update(held["colours"])
        states.update(stats["by_state"])
        sums.update(
            live=held["total"],
            memories=stats["memories"],
            shown=stats["shown_in_normal_mode"],
            events=stats["events"],
            secret=stats["secret"],
            negated=stats["negated"],
            waiting=inbox["total"],
            asides=asides["total"],
            archives=sum(one["archives_at"] is not None for one in held["memories"]),
            deletes=sum(one["deletes_at"] is not None for one in held["memories"]),
            conflicting=sum(bool(one.get("possible_conflicts")) for one in held["memories"]),
        )
    assert sum(answer.pop("archives").values()) == sums.pop("archives")
    assert sum(answer.pop("deletes").values()) == sums.pop("deletes")
    assert {name: answer[name] for name in sums} == dict(sums)
    assert answer["colours"] == dict(colours)
    assert answer["by_state"] == {name: many for name, many in states.items() if many}
    assert answer["owners"] == len(OWNERS)
    assert answer["waiting"] > 0 < answer["conflicting"]
    assert answer["profiles"] == {"weighted": 3, "tiered": 3, "ebbinghaus": 2}


def test_several_processes_find_what_one_finds(store: Store, capsys: Capture) -> None:
    one, two = (ran(capsys, "health", "--all", *AT, "--processes", count) for count in ("1", "2"))
    assert figures(one) == figures(two)
    assert (one["processes"], two["processes"], two["dask"]) == (1, 2, None)
    assert main(["health", "--all", *AT]) == 0
    said = capsys.readouterr().out
    assert f"{len(OWNERS)} owners: " in said
    assert "wait for a person" in said
    assert "nothing was written to the store" in said


def test_a_dry_run_of_all_is_the_sum_of_those_of_each_and_writes_nothing(store: Store, capsys: Capture) -> None:
    before = ran(capsys, "status")["events"]
    answer = ran(capsys, "extract", "--all", "--dry-run")
    counts = Counter[str]()
    for owner in OWNERS:
        counts.update(ran(capsys, "extract", owner, "--dry-run")["counts"])
    assert (answer["counts"], answer["owners"], answer["appended"]) == (dict(counts), len(OWNERS), 0)
    assert counts["add"] >= 3 * len(OWNERS)
    assert ran(capsys, "status")["events"] == before


def test_what_is_written_is_what_each_would_write_and_once(store: Store, folder: Path, capsys: Capture) -> None:
    rehearsed = ran(capsys, "extract", "--all", "--dry-run")
    answer = ran(capsys, "extract", "--all", "--processes", "2")
    assert (answer["counts"]["add"], answer["changed"], answer["read"]) == (
        rehearsed["counts"]["add"],
        len(OWNERS),
        2 * len(OWNERS),
    )
    again = ran(capsys, "extract", "--all")
    assert (again["counts"], again["appended"], again["read"]) == ({}, 0, 0)
    seen = ran(capsys, "extract", "--all", "--dry-run", "--again")
    assert (seen["changed"], seen["read"]) == (0, 2 * len(OWNERS))
    assert journals(folder) == []
    assert main(["extract", "--all"]) == 0
    assert "nothing new" in capsys.readouterr().out


KILLED_AFTER_TWO = """
import os, sys
from ops.many.journal import Journal
from ops.main import main
add = Journal.add
def killed(self, one):
    if len(self.done) == 2:
        os.kill(os.getpid(), 9)
    add(self, one)
Journal.add = killed
sys.exit(main(sys.argv[1:]))
"""


def test_reading_that_was_killed_is_gone_on_with_and_nothing_is_written_twice(
    store: Store, folder: Path, capsys: Capture
) -> None:
    """Killed after a third part was appended and before it was written down: what it appended stands once."""
    rehearsed = ran(capsys, "extract", "--all", "--dry-run")["counts"]["add"]
    command = [sys.executable, "-P", "-c", KILLED_AFTER_TWO, "extract", "--all", "--processes", "1"]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == -9, done.stderr
    (path,) = journals(folder)
    kept = [json.loads(line)["figures"] for line in path.read_bytes().splitlines()[1:]]
    again = ran(capsys, "extract", "--all")
    assert again["done_before"] == sum(one["owners"] for one in kept) < len(OWNERS)
    assert journals(folder) == []
    made = ran(capsys, "health", "--all")["by_source"]["judge"]
    assert made == rehearsed
    assert ran(capsys, "extract", "--all")["appended"] == 0


def test_one_who_stands_still_is_left_out_and_keeps_no_other_from_it(store: Store, capsys: Capture) -> None:
    store.poison(OWNERS[0])
    answer = ran(capsys, "extract", "--all", code=3)
    assert (answer["left_out"], answer["changed"]) == ({"OwnerQuarantined": 1}, len(OWNERS) - 1)
    held = ran(capsys, "health", "--all", code=3)
    assert (held["quarantined"], held["owners"], held["left_out"]) == (1, len(OWNERS), {})
    assert main(["extract", "--all", "--dry-run"]) == 3
    assert "looked at as of before an event that could not be folded" in capsys.readouterr().out


def test_of_one_owner_again_tells_what_todays_rules_would_make(store: Store, capsys: Capture) -> None:
    ran(capsys, "extract", OWNERS[1])
    store.tell(OWNERS[1], created("User owns a boat", "boat", 5, source="judge", source_turns=("t1",)))
    answer = ran(capsys, "extract", OWNERS[1], "--dry-run", "--again")
    assert (answer["gone"], answer["counts"]["gone"]) == (["boat"], 1)
    assert {one["operation"] for one in answer["statements"]} == {"SKIP"}
    assert main(["extract", OWNERS[1], "--dry-run", "--again"]) == 0
    assert "would not be drawn from these turns any more: boat" in capsys.readouterr().out
    whole = ran(capsys, "extract", "--all", "--dry-run", "--again")
    assert (whole["counts"]["gone"], whole["most"][0]["changes"] > 0) == (1, True)


class _Failing:
    """An extractor whose model fails of some owners."""

    def __init__(self, *of: str) -> None:
        self.of, self.asked = of, list[str]()

    def extract(self, owner: str, _by: str) -> dict[str, Any]:
        self.asked.append(owner)
        if owner == "busy":
            raise ConcurrencyError("goes on", owner=owner)
        trouble = "the model is down" if owner in self.of else None
        return {"counts": {}, "read": 1, "left": int(trouble is not None), "appended": 0, "trouble": trouble}


def walked(failing: _Failing, *owners: str) -> Any:
    extractor: Any = failing
    return StoreTurnReader(extractor, lambda _owner: nullcontext()).part(owners, reading_asked(by="model"))


def test_a_model_that_fails_of_one_owner_is_told_and_of_several_in_a_row_ends_the_run() -> None:
    found = walked(_Failing("b", "d"), "a", "b", "c", "d", "busy")
    assert (found.troubled, found.left, found.owners, found.left_out) == (2, 2, 5, {"ConcurrencyError": 1})
    failing = _Failing("a", "b", "c", "d")
    with pytest.raises(
        ModelFailed, match=f"failed of {TROUBLED_IN_A_ROW} owners one after the other: the model is down"
    ):
        walked(failing, "a", "b", "c", "d")
    assert failing.asked == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"by": "magic"}, "by: got 'magic'; allowed: rules or model"),
        ({"again": True}, "again: got 'no --dry-run'"),
        ({"again": True, "dry_run": True, "by": "model"}, "by: got 'model'; allowed: rules with --again"),
    ],
)
def test_what_cannot_be_asked_of_turns_is_refused_by_its_name(asked: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        reading_asked(**asked)


def test_an_extractor_has_what_is_asked_of_it() -> None:
    assert {"extract", "rehearse", "read_again"} <= set(dir(Extractor))
