"""How much a request may send, by route: one table.

What stands here is told by every refusal, by the OpenAPI document and by docs/http.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from api.http.access.bearer import MOST_OPEN, OPEN_POST
from api.http.structure import Most

MIB: Final = 1024 * 1024
DEPTH: Final = 100


class BodyLimit(NamedTuple):
    """What the body of a request may be."""

    size: int
    """Bytes."""
    most: Most
    """Values and depth of its JSON."""


SMALL: Final = BodyLimit(MIB, Most(20_000, DEPTH))
"""Of every route that is not named below."""
MCP: Final = BodyLimit(16 * MIB, Most(100_000, DEPTH))
"""Of a request of the MCP server: a hundred turns of 64 KiB, escaped."""
OTHERS: Final[Mapping[str, BodyLimit]] = MappingProxyType(
    {
        "/v1/heads/check": BodyLimit(16 * MIB, Most(100, DEPTH)),
        "/v1/events": BodyLimit(64 * MIB, Most(500_000, DEPTH)),
        "/v1/owners/{owner}/import/records": BodyLimit(64 * MIB, Most(500_000, DEPTH)),
        "/v1/owners/{owner}/chats": BodyLimit(16 * MIB, Most(1_000_000, DEPTH)),
        OPEN_POST: BodyLimit(MOST_OPEN, Most(20, DEPTH)),
    }
)


def limit_of(path: str) -> BodyLimit:
    """The limit of a path as it was sent: percent-encoded, so that an owner is one segment."""
    segments = path.split("/")
    for route, limit in OTHERS.items():
        pattern = route.split("/")
        if len(pattern) == len(segments) and all(
            asked == sent or asked.startswith("{") for asked, sent in zip(pattern, segments, strict=True)
        ):
            return limit
    return SMALL
