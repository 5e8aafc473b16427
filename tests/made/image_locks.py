"""What the image installs, as locks of their own: those of `requirements.lock` that running, and building a wheel, lead to.

`make lock` writes them. Versions and hashes are those of the one lock, so what is tested is what runs.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable

from tests.audit.locks import OURS, pins
from tests.audit.needs import needed, project
from tests.places import ROOT

FOLDER = ROOT / "ops" / "deploy" / "image"
HEAD = "# Made by `make image-locks` of requirements.lock: what {}.\n"
_ENTRY = re.compile(r"(?m)^[a-z0-9][^\n]*(?:\n +--hash=\S+(?: \\)?)+")


def taken(lock: str, names: Iterable[str]) -> str:
    """The entries of a lock that pin one of these names, as they stand there; a package may have several."""
    wanted = set(names)
    entries = [found[0] for found in _ENTRY.finditer(lock)]
    return "".join(f"{entry}\n" for entry in entries if next(pins(f"{entry}\n")).name in wanted)


def image_locks() -> dict[str, str]:
    """Each file of the image's folder, by its name, as it is to be."""
    lock = OURS.read_text("utf-8")
    built = project_needs_to_be_built()
    return {
        "requirements.lock": HEAD.format("Engramlog runs by") + taken(lock, needed(project()["dependencies"])),
        "build.lock": HEAD.format("its wheel is built by") + taken(lock, needed(built)),
    }


def project_needs_to_be_built() -> list[str]:
    """What the project names as its build system."""
    found: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    return found


def main() -> int:
    """Write them."""
    for name, text in image_locks().items():
        (FOLDER / name).write_text(text, "utf-8")
        sys.stdout.write(f"{(FOLDER / name).relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
