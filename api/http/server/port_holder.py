"""Who listens on a port of this machine, as far as this user may see: for the refusal of one that is taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from events.alarms import one_line
from events.text.urls import without_secrets

PROC = Path("/proc")
LISTENS = "0A"
"""The state of a socket that listens, in the kernel's tables."""
MOST_LINKS = 200_000
"""Open files that are looked at."""
MOST_NAME = 40
"""Characters of a program's name or a folder that are shown."""
UNKNOWN = "another process"


def holder_of(port: int, proc: Path = PROC) -> str:
    """The program and its process id, `engramlog up` with its folder; "another process" where that cannot be seen."""
    with suppress(OSError, ValueError, IndexError):
        wanted = {f"socket:[{inode}]" for inode in _inodes(port, proc)}
        for link in islice(_links(proc), MOST_LINKS) if wanted else ():
            with suppress(OSError):
                if str(link.readlink()) in wanted:
                    return _told(proc / link.parts[len(proc.parts)])
    return UNKNOWN


def _inodes(port: int, proc: Path) -> Iterator[str]:
    """The sockets that listen on a port, by number."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError), (proc / "net" / table).open() as lines:
            for line in islice(lines, 1, None):
                fields = line.split()
                if fields[3] == LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _links(proc: Path) -> Iterator[Path]:
    """The open files of every process of which they may be seen."""
    for process in proc.iterdir():
        if process.name.isdecimal():
            with suppress(OSError):
                yield from (process / "fd").iterdir()


def _told(process: Path) -> str:
    """What a process is called, and of what it is the service."""
    words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    program = Path(words[0]).name or "a program"
    name = one_line(program, MOST_NAME)
    for number, word in enumerate(words[:8]):
        if word == "ops.main" or Path(word).name == "engramlog":
            verb = next((one for one in words[number + 1 :] if not one.startswith("-")), "")
            name = f"`engramlog {one_line(verb, MOST_NAME)}`{_store_of(process) if verb == 'up' else ''}"
    return f"{name} (pid {process.name})"


def _store_of(process: Path) -> str:
    """Of which store another `up` is, where its environment may be read and says so."""
    with suppress(OSError):
        environment = (process / "environ").read_bytes().decode("utf-8", "replace").split("\0")
        told = dict(entry.split("=", 1) for entry in environment if "=" in entry)
        if url := told.get("ENGRAMLOG_REDIS_URL"):
            return f" of {one_line(without_secrets(url), 3 * MOST_NAME)}"
        return f" of {one_line(told.get('ENGRAMLOG_DATA') or 'the default folder', 3 * MOST_NAME)}"
    return ""
