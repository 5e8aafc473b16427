"""Each test of this folder follows the procedure of docs/operating.md that names it, to its last command."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.runbook.night import PROCEDURES, Night
from tests.places import ROOT
from tests.servers import NO_TOOLS, redis_cli


@pytest.fixture
def night(request: pytest.FixtureRequest) -> Iterator[Night]:
    """The procedure that is marked as run by this test, in an empty folder, on the bundled server."""
    name = f"{request.path.relative_to(ROOT)}::{request.node.name}"
    (procedure,) = (one for one in PROCEDURES.values() if ("runs", name) in one.marks)
    redis_cli()
    if not all(map(shutil.which, ("curl", "jq", "openssl"))):
        pytest.skip(NO_TOOLS)
    folder = Path(tempfile.mkdtemp(prefix="el-", dir="/tmp"))  # a socket's path holds 107 bytes at most
    settings = {"PORT": "0", "PARTITIONS": "2", "JOB_WORKERS": "0"}
    one = Night(procedure, folder, OWNER="alice", **{f"ENGRAMLOG_{name}": value for name, value in settings.items()})
    try:
        yield one
        assert one.broke_off or one.left() == []
    finally:
        one.end()
        shutil.rmtree(folder, ignore_errors=True)
