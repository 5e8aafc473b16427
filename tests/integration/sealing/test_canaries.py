"""Nothing that an owner said lies open anywhere in a sealed store: canaries go in by every way, and every place is searched.

The same search of the same story in a store that lies open is the proof that each place is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.sealing.aviary import Aviary, aviary

SEALED, OPEN = "sealed", "open"


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Aviary]]:
    """The same story told to a sealed store and to one that lies open, both by `engramlog up`."""
    folder = tmp_path_factory.mktemp("canaries")
    with aviary(folder / SEALED, sealed=True) as one, aviary(folder / OPEN, sealed=False) as other:
        yield {SEALED: one, OPEN: other}
