"""What only real processes can show: commands that are killed, that meet, and that are read by something that leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from engramlog_server.ops.embedded.process import connect
from tests.acceptance.helpers.cli import lines, run, start, turn, written
from tests.integration.live import wait_until
from tests.patience import PATIENCE

TURNS = [turn(n, f"turn {n} says 早上喝茶", f"owner-{n % 5}") for n in range(1_500)]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An embedded store of this test."""
    return {"ENGRAMLOG_DATA": str(tmp_path / "data")}


def logged_bytes(folder: Path) -> int:
    """How much the embedded server has written to its log."""
    return sum(file.stat().st_size for file in folder.glob("data/appendonlydir/*"))


def test_an_import_killed_half_way_is_made_whole_by_the_next_one(tmp_path: Path, environment: dict[str, str]) -> None:
    file = written(tmp_path / "turns.jsonl", TURNS)
    killed = start(["import", "turns", "-"], environment, stdin=subprocess.PIPE)
    assert killed.stdin is not None
    killed.stdin.write(lines(TURNS[:1_200]))
    killed.stdin.flush()
    wait_until(lambda: logged_bytes(tmp_path) > 200_000)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    answer = json.loads(run(["import", "turns", file, "--json"], environment).out)
    assert answer["already_appended"] > 0
    assert answer["already_appended"] % 200 == 0  # what a request holds of one owner is written whole or not at all
    assert answer["appended"] + answer["already_appended"] == 3_000
    verdict = json.loads(run(["verify", "--json"], environment).out)
    assert (verdict["ok"], verdict["events"], verdict["memories"]) == (True, 3_000, 1_500)


def events_in(folder: Path) -> int:
    """How many events the store holds that a command uses now; 0 where its Redis does not answer yet."""
    try:
        socket = json.loads((folder / "data" / "server.json").read_bytes())["socket"]
        with connect(Path(socket)) as client:
            return sum(int(client.hget(key, "head") or 0) for key in client.scan_iter("*:meta", count=1_000))
    except (OSError, RedisError):
        return 0


def test_what_a_killed_process_appended_is_found_by_the_next_command_that_only_reads(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    killed = start(["import", "turns", "-"], environment, stdin=subprocess.PIPE)
    assert killed.stdin is not None
    killed.stdin.write(lines([turn | {"conversation": "ada"} for turn in TURNS[:600]]))
    killed.stdin.flush()
    wait_until(lambda: events_in(tmp_path) == 1_000)  # its first request, which is of one partition
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    answer = json.loads(run(["search", "ada", "turn 3", "--mode", "review", "--json"], environment).out)
    assert answer["results"][0]["id"] == "t3"
    status = json.loads(run(["status", "--json"], environment).out)
    assert (status["lag"], status["events"]) == (0, 1_000)


def test_two_imports_of_one_file_at_once_append_it_once(tmp_path: Path, environment: dict[str, str]) -> None:
    file = written(tmp_path / "turns.jsonl", TURNS[:300])
    both = [start(["import", "turns", file, "--json"], environment) for _ in range(2)]
    answers = [json.loads(process.communicate(timeout=PATIENCE)[0]) for process in both]
    assert sorted(one["appended"] for one in answers) == [0, 600]
    assert sum(one["already_appended"] for one in answers) == 600
    verdict = json.loads(run(["verify", "--json"], environment).out)
    assert (verdict["ok"], verdict["events"]) == (True, 600)


def test_output_is_utf_8_whatever_the_locale_and_a_reader_may_leave(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    run(["import", "turns", written(tmp_path / "turns.jsonl", TURNS[:400])], environment)
    plain = {**environment, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    told = run(["list", "owner-1", "--mode", "debug", "--json"], plain)
    assert "早上喝茶" in json.loads(told.out)["memories"][0]["memory"]
    process = start(["list", "owner-1", "--mode", "debug", "-k", "80", "--json"], environment)
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, b"")


def test_a_command_whose_output_is_closed_does_what_it_was_told_and_ends_in_one_line(
    environment: dict[str, str],
) -> None:
    words = " ".join(
        f"'{one}'" for one in (sys.executable, "-P", "-m", "engramlog_server.ops.main", "add", "ada", "I drink tea")
    )
    ran = subprocess.run(
        ["/bin/sh", "-c", f"exec {words} <&- >&-"],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1)
    assert [one["memory"] for one in json.loads(run(["list", "ada", "--json"], environment).out)["memories"]] == [
        "I drink tea"
    ]


def test_a_full_standard_error_changes_nothing_of_an_answer(environment: dict[str, str]) -> None:
    run(["add", "ada", "I drink tea"], environment)
    with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123 - it is a device
        words = [sys.executable, "-P", "-m", "engramlog_server.ops.main", "context", "ada", "What do I drink?"]
        ran = subprocess.run(words, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=full, check=False)
    assert (ran.returncode, b"I drink tea" in ran.stdout) == (0, True)
