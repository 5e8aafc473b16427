"""The wheels of a tree, and an environment in which they are installed with what they declare that they need, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

BUILD = "import sys; from hatchling.build import build_{0}; print(build_{0}(sys.argv[1]))"
NOTHING = frozenset({""})
"""No extra was asked for."""


def built(tree: Path, folder: Path, kind: str = "wheel") -> Path:
    """The wheel of a tree, or its source distribution (`sdist`), in a folder."""
    command = [sys.executable, "-c", BUILD.format(kind), str(folder)]
    ran = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    return folder / ran.stdout.split()[-1]


class Installed:
    """An environment of its own with wheels in it, the program's first.

    What it needs comes from the environment of the tests, link by link, so that no network is asked: each distribution that the
    program's metadata ask for, and those that these ask for. What was installed as a wheel is not among them.
    """

    def __init__(self, wheels: Sequence[Path], folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin" / "python"
        install = ["install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", *map(str, wheels)]
        subprocess.run([sys.executable, "-m", "pip", "--python", str(self.python), *install], check=True)
        self.packages = next(folder.glob("lib/python*/site-packages"))
        there = {canonicalize_name(one.stem.partition("-")[0]): one for one in self.packages.glob("*.dist-info")}
        self._own = Distribution.at(there["engramlog"])
        for needed in _needed(self._own):
            if canonicalize_name(needed.name) not in there:
                self._link(needed)

    def environment(self, **more: str) -> dict[str, str]:
        """Of a user of this installation: no path to the tree, no setting of the tests."""
        left = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ENGRAMLOG_"))}
        return left | {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"} | more

    def asked(self, program: str, cwd: Path) -> str:
        """What a program prints there."""
        command = [str(self.python), "-P", "-c", program]
        ran = subprocess.run(command, cwd=cwd, env=self.environment(), capture_output=True, text=True, check=True)
        return ran.stdout

    def _link(self, needed: Distribution) -> None:
        for top in {one.parts[0] for one in needed.files or ()} - {"..", "__pycache__"}:
            (self.packages / top).symlink_to(Path(str(needed.locate_file(top))))


def _needed(of: Distribution) -> Iterator[Distribution]:
    """What a distribution needs to run, itself left out: by the requirements that each states, as far as they apply here."""
    told, waiting = dict[str, frozenset[str]](), [(of, NOTHING)]
    while waiting:
        found, extras = waiting.pop()
        for one in map(Requirement, found.requires or ()):
            if one.marker is not None and not any(one.marker.evaluate({"extra": extra}) for extra in extras):
                continue
            name, asked = canonicalize_name(one.name), NOTHING | one.extras
            if name in told and asked <= told[name]:
                continue
            needed = distribution(name)
            if name not in told:
                yield needed
            told[name] = told.get(name, NOTHING) | asked
            waiting.append((needed, told[name]))
