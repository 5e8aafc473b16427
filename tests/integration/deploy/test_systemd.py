"""The systemd units: systemd takes them, each is closed to what it needs, and keys are given and not left lying."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from engramlog_server.ops.processes.life import END_SECONDS
from tests.integration.deploy.read import NO_ANALYZE, SYSTEMD

UNITS = ("engramlog.service", "engramlog-worker@.service")
BACKUP, TIMER = "engramlog-backup.service", "engramlog-backup.timer"
MOST_EXPOSED = 2.0
"""Of `systemd-analyze security`, from 0 (closed) to 10."""


def directives(name: str) -> dict[str, list[str]]:
    """What a unit says, by the name of the directive."""
    found: dict[str, list[str]] = {}
    for line in (SYSTEMD / name).read_text("utf-8").splitlines():
        if line and not line.startswith(("#", "[")):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("name", UNITS)
def test_its_main_process_alone_is_told_to_end_and_is_waited_for(name: str) -> None:
    told = directives(name)
    assert told["KillMode"] == ["mixed"]
    assert float(told["TimeoutStopSec"][0]) > END_SECONDS
    assert told["RestartPreventExitStatus"] == ["2"]
    assert told["StartLimitIntervalSec"] == ["0"]


@pytest.mark.parametrize("name", [*UNITS, BACKUP])
def test_keys_are_given_by_systemd_and_the_master_key_becomes_the_users_own(name: str) -> None:
    told = directives(name)
    given = {one.partition(":")[0] for one in told["LoadCredential"]}
    assert "master-key" in given
    named = set(re.findall(r"%d/([\w.]+)", "\n".join(told["Environment"])))
    assert named | {"master-key"} == given
    sealed = next(one.partition("=")[2] for one in told["Environment"] if one.startswith("ENGRAMLOG_SEALED_BY="))
    assert told["ExecStartPre"][-1] == f"/usr/bin/install -m 0400 ${{CREDENTIALS_DIRECTORY}}/master-key {sealed}"
    runtime = told["RuntimeDirectory"][0]
    assert Path(sealed).parent == Path("/run") / runtime
    assert told["RuntimeDirectoryMode"] == ["0700"]


def test_a_data_folder_is_one_of_the_state_folder_and_its_user_alone_enters() -> None:
    told = directives("engramlog.service")
    assert told["StateDirectory"] == ["engramlog"]
    assert told["StateDirectoryMode"] == ["0700"]
    assert "ENGRAMLOG_DATA=/var/lib/engramlog/data" in told["Environment"]
    (user,) = [line for line in (SYSTEMD / "engramlog.sysusers.conf").read_text("utf-8").splitlines() if line[0] == "u"]
    assert user.split()[1] == "engramlog"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason=NO_ANALYZE)
def test_systemd_takes_them_and_finds_them_closed(tmp_path: Path) -> None:
    """The program is none of this machine's: another stands in its place."""
    names = []
    for name in (*UNITS, BACKUP, TIMER):
        at = tmp_path / name.replace("@", "@1")
        at.write_text((SYSTEMD / name).read_text("utf-8").replace("/opt/engramlog/bin/engramlog", "/bin/true"))
        names.append(str(at))
    ran = subprocess.run(["systemd-analyze", "verify", *names], check=False, capture_output=True, text=True)
    ours = [line for line in ran.stderr.splitlines() if "engramlog" in line]
    assert (ran.returncode, ours) == (0, [])
    for name in names[:-1]:
        told = subprocess.run(
            ["systemd-analyze", "security", "--offline=yes", name], check=False, capture_output=True, text=True
        ).stdout
        (exposed,) = re.findall(r"Overall exposure level for \S+ ([\d.]+)", told)
        assert float(exposed) <= MOST_EXPOSED
