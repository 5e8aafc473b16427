"""The TypeScript client: it has the verbs of the Python client, and its own tests pass in Node against a running service."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from engramlog.client import Memory, Verb, Verbs
from tests.given.client import Service
from tests.given.http import TOKEN
from tests.made.client_ts import FOLDER, camel, routes, write
from tests.servers import NO_NODE, NO_REGISTRY

ONE_REQUEST = {"add_many": "append", "edit": "update", "get_all": "list", "delete_all": "deleteMany"}
"""Verbs of several requests in Python, and what sends one of them here."""
PICTURES = {"curves_picture", "map_picture"}
"""For a page, which a program in the browser draws by itself."""


def test_every_verb_of_the_python_client_is_there() -> None:
    source = (FOLDER / "src" / "index.ts").read_text("utf-8")
    by_hand = set(re.findall(r"^  async \*?(\w+)\(", source, re.MULTILINE))
    there = by_hand | {camel(name) for name in routes()}
    verbs = {name for name in dir(Verbs) if isinstance(getattr(Verbs, name), Verb)} - PICTURES
    assert {camel(ONE_REQUEST.get(name, name)) for name in verbs} | {"feed"} <= there
    assert hasattr(Memory, "feed")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client with its tools installed. Skips without node or npm's registry."""
    if shutil.which("npm") is None:
        pytest.skip(NO_NODE)
    folder = tmp_path_factory.mktemp("typescript") / "client-ts"
    left_out = shutil.ignore_patterns("node_modules", "dist", "build", "generated")
    shutil.copytree(FOLDER, folder, ignore=left_out)
    write(folder)
    installed = subprocess.run(["npm", "ci", "--silent"], cwd=folder, capture_output=True, text=True, check=False)
    if installed.returncode and re.search(r"ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN", installed.stderr):
        pytest.skip(NO_REGISTRY)
    assert installed.returncode == 0, installed.stderr
    return folder


def _run(folder: Path, *command: str, **environment: str) -> str:
    told = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def test_it_builds_and_its_tests_pass_against_a_running_service(checkout: Path, running: Service) -> None:
    _run(checkout, "npm", "run", "types")
    _run(checkout, "npm", "run", "build")
    told = _run(checkout, "npm", "test", ENGRAMLOG_URL=running.url, ENGRAMLOG_TOKEN=TOKEN)
    assert re.search(r"^# pass [1-9]", told, re.MULTILINE)
    assert re.search(r"^# skipped 0$", told, re.MULTILINE)
    packed = json.loads(_run(checkout, "npm", "pack", "--dry-run", "--json"))[0]["files"]
    names = {Path(one["path"]).parts[0] for one in packed}
    assert names == {"dist", "package.json", "README.md", "LICENSE"}
    assert "dependencies" not in json.loads((checkout / "package.json").read_text("utf-8"))
