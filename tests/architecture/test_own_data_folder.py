"""A test session keeps nothing in the data folder of who runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import gettempdir

import pytest

from engramlog.home import data_folder
from engramlog_server.ops.settings import Settings

ASKED = "from engramlog_server.ops.settings import Settings; print(Settings().data)"


@pytest.mark.skipif(sys.platform == "darwin", reason="XDG_DATA_HOME does not move the data folder of macOS")
def test_a_test_session_has_a_data_folder_of_its_own_and_so_have_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGRAMLOG_DATA", raising=False)
    told = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)

    folders = {Settings().data, data_folder(), Path(told.stdout.strip())}

    assert len(folders) == 1
    assert folders.pop().is_relative_to(gettempdir())
