"""Which route took a request, noted in its scope for whoever counts requests; loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TAKEN = "engramlog.taken"
"""Where in a request's scope the route that took it writes its path, in braces; there where somebody counts."""


def taken_by(scope: Mapping[str, Any], route: str) -> None:
    """Note which route took a request."""
    taken = scope.get(TAKEN)
    if taken is not None:
        taken.append(route)
