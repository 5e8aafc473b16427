"""The commands of the README and of the tour are run as they stand, in order, and must show what the pages say they show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.patience import PATIENCE
from tests.places import ROOT

FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DRAWN = re.compile(r"[─━│┃┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┡┩╇╪]+")


class Step(NamedTuple):
    """One command of the tour and the lines that its output must show, in order."""

    command: str
    shown: list[str]


def steps_of(page: str) -> Iterator[Step]:
    """The commands of a page's console blocks: `$ ` begins one, `> ` carries it on, the rest is output."""
    for block in FENCE.findall(page):
        command, shown = "", list[str]()
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield Step(command, shown)
                command, shown = line[2:], []
            elif line.startswith("> "):
                command += "\n" + line[2:]
            else:
                shown.append(line)
        if command:
            yield Step(command, shown)


def plain(text: str) -> str:
    """Words with one space between: how wide a terminal is, and what tables are drawn with, does not count."""
    return " ".join(DRAWN.sub(" ", text).split())


def missing(shown: list[str], output: str) -> list[str]:
    """The shown lines that do not follow one another in the output; `...` stands for anything left out."""
    found, at, absent = plain(output), 0, []
    for line in shown:
        for part in filter(None, map(plain, line.split("..."))):
            place = found.find(part, at)
            if place < 0:
                absent.append(line)
            else:
                at = place + len(part)
    return absent


def run_tour(page: str, folder: Path, environment: dict[str, str]) -> dict[str, list[str]]:
    """Run the commands of a page in a folder; what went otherwise than the page says, by command."""
    told = {}
    for step in steps_of(page):
        done = subprocess.run(
            ["bash", "-c", step.command],
            check=False,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
        problem = [f"exit code {done.returncode}", done.stderr] if done.returncode else missing(step.shown, done.stdout)
        if problem:
            told[step.command] = [*problem, done.stdout]
    return told


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", ["README.md", "docs/start/quickstart.md", "docs/start/tour.md"])
def test_every_command_of_a_page_succeeds_and_shows_what_the_page_shows(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAMLOG_")} | {
        "ENGRAMLOG_DATA": str(tmp_path / "tour-data"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUTF8": "1",
        "COLUMNS": "160",
    }
    text = (ROOT / page).read_text("utf-8")
    assert run_tour(text, tmp_path, environment) == {}


def test_the_path_that_the_readme_sets_puts_no_other_redis_server_before_that_of_the_system(tmp_path: Path) -> None:
    (line,) = re.findall(r"^export PATH=.*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    told = subprocess.run(
        ["bash", "-c", f'{line}\nprintf %s "$PATH"'],
        cwd=tmp_path,
        env={"PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split(":") == ["/usr/bin", f"{tmp_path}/.venv/bin"]


def test_the_environment_that_make_builds_has_the_client() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("$(READY):")[2].partition("\n\n")[0]
    assert "--editable ./client" in recipe
    assert "client/pyproject.toml" in recipe.splitlines()[0]
