"""Locks of requirements: what they pin, by which hashes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.places import ROOT

OURS = ROOT / "requirements.lock"
AUDITOR = ROOT / "tests" / "audit" / "requirements.lock"
"""Pins pip-audit, which is installed into an environment of its own."""
SITE = ROOT / "zensical.lock"
"""Pins the generator of the site, which has its own environment too."""
_LINE = re.compile(r"(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>\S+)(?: ; (?P<where>.+))?")
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


class Pin(NamedTuple):
    """One package of a lock."""

    name: str
    version: str
    where: str | None
    """On which machines it is installed, as a marker; None: on all."""
    hashes: int

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class NotALock(ValueError):
    """A line of a lock is none that pins a package by its hashes."""


def pins(text: str) -> Iterator[Pin]:
    """What a lock pins. Raises NotALock at an address, an option, a version that is not exact, or a package without a hash."""
    for entry in re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n?", "", text)).splitlines():
        if not entry.strip():
            continue
        head, *rest = re.split(r"\s+(?=--)", entry.strip())
        found = _LINE.fullmatch(head)
        if found is None:
            raise NotALock(f"got {head[:80]!r}; allowed: a name, `==` and a version")
        if not rest or not all(map(_HASH.fullmatch, rest)):
            raise NotALock(f"{head}: got {(rest or ['no hash'])[0][:80]!r}; allowed: SHA-256 hashes alone")
        yield Pin(found["name"], found["version"], found["where"], len(rest))


def pinned(path: Path) -> list[Pin]:
    """What a file pins. Raises NotALock."""
    return list(pins(path.read_text()))


def shares(every: Iterable[Pin]) -> list[list[Pin]]:
    """All pins, in so many lists that none has a package twice: some machines get one version of it, some another."""
    found = list[list[Pin]]()
    for one in every:
        place = next((some for some in found if all(other.name != one.name for other in some)), None)
        if place is None:
            found.append([one])
        else:
            place.append(one)
    return found
