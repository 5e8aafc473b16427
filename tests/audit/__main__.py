"""`make audit`: look what is pinned up in the lists of known weaknesses. pip-audit does it, in an environment of its own.

Ends with 1 where a pinned package is known to be weak, or what audits is not what was pinned. A service that cannot be asked is
told by name, `not audited: ...`, and fails nothing. Where nothing at all was looked up that is the last line, and in CI it fails:
unless there is no network, where nobody could.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import venv
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.audit.answers import AUDITED, NOTHING, Report, read, verdict
from tests.audit.locks import AUDITOR, OURS, SITE, Pin, pinned, shares
from tests.places import ROOT

SERVICES = ("pypi", "osv")
"""Asked in turn, the next one where something was not looked up."""
HOST = "api.osv.dev"
"""Where one of them is: whether there is a network."""
SECONDS = 300
"""For one service and one lock."""
OTHER_FILES = "DO NOT MATCH THE HASHES"
"""What pip says of a file that is not the one that was pinned."""


class NotAudited(Exception):
    """Why nothing can be looked up, in a line."""


class NotWhatWasPinned(Exception):
    """A registry gave another file than the one that was pinned."""


def auditor(folder: Path) -> Path:
    """The program pip-audit, as its lock pins it. Raises NotAudited, NotWhatWasPinned."""
    venv.create(folder, with_pip=True)
    ran = _run(
        *(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--require-hashes", "--requirement", AUDITOR),
    )
    if OTHER_FILES in ran.stderr:
        raise NotWhatWasPinned(ran.stderr.strip())
    if ran.returncode:
        raise NotAudited(f"pip-audit cannot be installed: {_last(ran.stderr)}")
    return folder / "bin" / "pip-audit"


def asked(program: Path, names: Iterable[Pin], service: str, folder: Path) -> Report:
    """What one service says about these packages, each once. Raises NotAudited."""
    answer, file = folder / "answer.json", folder / "asked.txt"
    answer.unlink(missing_ok=True)
    file.write_text("".join(f"{one.name}=={one.version}\n" for one in names))
    options = ("--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", "10")
    ran = _run(program, "-r", file, "-s", service, "-o", answer, *options)
    try:
        return read(json.loads(answer.read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        raise NotAudited(f"{service}: {_last(ran.stderr)}") from None


def audited(program: Path, lock: Path, folder: Path) -> tuple[list[str], int]:
    """What is to be printed about a lock, and the exit code."""
    every = pinned(lock)
    names = [str(one) for one in every]
    report, problems = NOTHING, list[str]()
    for service in SERVICES:
        if report.looked_up.issuperset(names):
            break
        answer = NOTHING
        try:
            for some in shares(every):
                answer |= asked(program, some, service, folder)
        except NotAudited as error:
            problems.append(str(error))
        else:
            if missing := len(set(names) - answer.looked_up):
                problems.append(f"{service} does not know {missing}")
        report |= answer
    return verdict(names, report, problems)


def _run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Raises NotAudited where it takes too long."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired:
        raise NotAudited(f"{Path(words[0]).name} did not end within {SECONDS} s") from None


def _last(text: str) -> str:
    """The last line of what a program complained of."""
    return (text.strip().splitlines() or ["no answer"])[-1][:300]


def main() -> int:
    """Audit every lock."""
    code, looked_up = 0, False
    with TemporaryDirectory() as place:
        try:
            program = auditor(Path(place) / "environment")
        except NotAudited as error:
            print(f"not audited: {error}")
            return nothing_audited()
        except NotWhatWasPinned as error:
            print(f"WEAK pip-audit is not what was pinned:\n{error}")
            return 1
        for lock in (OURS, AUDITOR, SITE):
            lines, found = audited(program, lock, Path(place))
            print(*(f"{lock.relative_to(ROOT)}: {line}" for line in lines), sep="\n")
            code = max(code, found)
            looked_up = looked_up or any(line.startswith(AUDITED) for line in lines)
    return code if looked_up else nothing_audited()


def nothing_audited() -> int:
    """Say that nothing was looked up; the exit code."""
    network = has_network()
    why = "" if network else ": there is no network"
    print(f"NOTHING was audited{why}")
    return int(network and bool(os.environ.get("CI")))


def has_network() -> bool:
    """Whether a service that is asked can be connected to."""
    with suppress(OSError), socket.create_connection((HOST, 443), timeout=5):
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
