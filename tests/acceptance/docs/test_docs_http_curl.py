"""The curl lines of docs/how-to/http.md are run as they stand, but for the port, against a service as people start it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engramlog_server.ops.token import read_token
from tests.acceptance.docs.test_readme import ROOT
from tests.integration.ops.test_up import running

PAGE = (ROOT / "docs" / "how-to" / "http.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CURL = shutil.which("curl")


@pytest.mark.skipif(CURL is None, reason="there is no curl here")
def test_the_lines_of_the_page_are_answered_and_show_the_token_to_nobody_who_lists_processes(tmp_path: Path) -> None:
    tools, told = tmp_path / "tools", tmp_path / "told"
    tools.mkdir()
    (tools / "curl").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {told}\nexec {CURL} --fail-with-body "$@"\n')
    (tools / "engramlog").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m engramlog_server.ops.main "$@"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    said = [{"messages": [{"role": "user", "content": "I drink tea", "created_at": "2026-01-05T08:00:00Z"}]}]
    (tmp_path / "conversations.json").write_text(json.dumps(said))
    with running(tmp_path / "store") as up:
        port = up.ready().rpartition(":")[2]
        for block in BLOCKS:
            lines = re.sub(r"(curl -sN .*)", r"\1 | head -n 1", block.replace(":8733", f":{port}"))
            done = subprocess.run(
                ["bash", "-euc", lines],
                cwd=tmp_path,
                env={**up.environment, "PATH": f"{tools}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                timeout=200,
                check=False,
            )
            assert done.returncode == 0, f"{lines}\n{done.stdout}\n{done.stderr}"
        token = read_token(tmp_path / "store")
        assert token
        assert "/v1/owners/alice/search" in told.read_text()
        assert token not in told.read_text()
        assert token not in up.log.read_text()
