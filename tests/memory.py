"""Where the tests of `--part rest` keep their stores: in memory, where the machine has a disk of memory with room.

A private Redis waits for the disk at every write that it acknowledges, and a test writes hundreds: half of the time of these
tests was that wait. What a store does when a process is killed is the same there, and the tests that guard a promise
(`--part quick`) stay on the disk. Who names `--basetemp` has what tests left, where he says.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

IN_MEMORY = Path("/dev/shm")
OURS = "engramlog-"
"""Before the id of the process whose folder it is."""
LEAST_ROOM = 2 << 30
"""Bytes: some ten times what a whole run leaves."""


def has_room(place: Path, least: int = LEAST_ROOM) -> bool:
    """Whether so many bytes are free at `place`, we may write there, and programs may be started from there."""
    try:
        found = os.statvfs(place)
    except OSError:
        return False
    return (
        os.access(place, os.W_OK | os.X_OK)
        and found.f_bavail * found.f_frsize >= least
        and not found.f_flag & getattr(os, "ST_NOEXEC", 0)
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before pytest asks where temporary folders go; pytest-xdist tells its workers."""
    if config.getoption("--part") != "rest" or config.option.basetemp is not None or not has_room(IN_MEMORY):
        return
    clear_left(IN_MEMORY)
    folder = IN_MEMORY / f"{OURS}{os.getpid()}"  # short: a socket's path holds 107 bytes at most
    if not made_anew(folder):
        return
    config.option.basetemp = str(folder / "t")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def made_anew(folder: Path) -> bool:
    """Whether the folder is there now, ours alone and empty; not where its name is another user's."""
    try:
        if is_ours(folder):
            shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed, whose id was given again
        folder.mkdir(mode=0o700)
    except OSError:
        return False
    return True


def clear_left(place: Path) -> None:
    """Remove what runs left that were killed: memory that nobody else gives back."""
    for folder in place.glob(f"{OURS}*"):
        number = folder.name.removeprefix(OURS)
        if number.isdecimal() and not Path(f"/proc/{number}").exists() and is_ours(folder):
            shutil.rmtree(folder, ignore_errors=True)


def is_ours(folder: Path) -> bool:
    """Whether this is a folder of this user, and no link to one."""
    try:
        found = folder.lstat()
    except OSError:  # another run was quicker
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
