"""Of all that operators are handed: settings are settings, command lines are the program's, and no secret lies there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from engramlog_server.ops.settings import Settings
from tests.integration.deploy.read import DEPLOY, SETTING, taken, texts
from tests.places import ROOT
from tests.wheels import built

CALL = re.compile(r"(?m)(?:/opt/engramlog/bin/|^|(?<!-n)[ `(])engramlog ([a-z][a-z-]*[^`\n|;)]*)")
"""The program, called in a line of a shell or a unit; behind `-n` it is a namespace."""
ONE_OFF = re.compile(r"docker (?:compose run [^\n]*?\b(?:api|worker)|run [^\n]*?engramlog:latest) ([a-z][^`\n|;)]*)")
"""The same, in a container."""
SHELL = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def calls(text: str, *, page: bool) -> list[str]:
    """The program's arguments, wherever a text calls it; of a page in its shells alone."""
    lines = "\n".join(SHELL.findall(text)) if page else re.sub(r"(?m)^\s*#.*$", "", text)
    lines = lines.replace("\\\n", " ")
    return [re.split(" {2,}#", found)[0].strip() for pattern in (CALL, ONE_OFF) for found in pattern.findall(lines)]


@pytest.mark.parametrize("path", texts())
def test_every_setting_that_is_named_is_one(path: str) -> None:
    named = {name.lower() for name in SETTING.findall(texts()[path])}
    assert {name for name in named if not name.endswith("_")} <= set(Settings.model_fields), path


@pytest.mark.parametrize("path", [path for path in texts() if path.endswith((".md", ".service"))])
def test_every_command_line_is_one_that_the_program_takes(path: str) -> None:
    told = calls(texts()[path].replace("%i", "1"), page=path.endswith(".md"))
    assert told, path
    for line in told:
        assert taken(shlex.split(line)), line


@pytest.mark.parametrize("line", ["worker --metric-port 9461", "wroker", "key new", "up --workers none"])
def test_a_line_that_the_program_does_not_take_is_seen(line: str) -> None:
    with pytest.raises(Exception, match=r"."):
        taken(shlex.split(line))


def test_no_password_token_or_key_lies_there() -> None:
    for path, text in texts().items():
        assert not re.search(r"egl_[A-Za-z0-9]{16}|egm1 |BEGIN [A-Z ]*PRIVATE KEY|:[0-9a-f]{32,}@", text), path


def test_the_wheel_has_nothing_of_it(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(built(ROOT, tmp_path)) as wheel:
        names = wheel.namelist()
    assert "engramlog_server/ops/main.py" in names
    assert not [name for name in names if "ops/deploy" in name]
    assert DEPLOY.is_dir()
