"""The wheel holds the console: every file is served from an installed copy, the licences of what is not ours among them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from tests.places import ROOT
from tests.wheels import built

OPEN = """
import json, sys
from unittest.mock import MagicMock
from fastapi.testclient import TestClient
from engramlog_server.api.http import document
from engramlog_server.api.http.app import create_app

with TestClient(create_app(MagicMock()), base_url="http://127.0.0.1:8733") as client:
    told = {}
    for path in document.console_files():
        answer = client.get("/" if path == "index.html" else f"/console/{path}")
        told[path] = [answer.status_code, len(answer.content)]
    print(json.dumps([document.__file__, told]))
"""


def test_a_wheel_holds_every_file_of_the_console_and_serves_it(tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    with ZipFile(built(ROOT, tmp_path)) as wheel:
        wheel.extractall(installed)
    folder = ROOT / "api" / "console"
    there = {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    assert {"index.html"} < set(there)
    copies = {path: (installed / "engramlog_server" / "api" / "console" / path).read_bytes() for path in there}
    assert copies == there
    served = subprocess.run(
        [sys.executable, "-P", "-c", OPEN],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )
    place, told = json.loads(served.stdout)
    assert Path(place).is_relative_to(installed)
    assert told.keys() == there.keys()
    assert [path for path, (status, size) in told.items() if status != 200 or size == 0] == []


def test_what_is_not_ours_has_its_licence_beside_it() -> None:
    """Whatever lies in `lib` was written by others."""
    lib = ROOT / "api" / "console" / "lib"
    for script in lib.rglob("*.js"):
        licences = [one for one in script.parent.iterdir() if "license" in one.name.lower()]
        assert licences, f"{script} has no licence beside it"
