"""All operations, in the order in which OpenAPI has them."""

from __future__ import annotations

from collections.abc import Mapping

from engramlog_server.api.operations import (
    access,
    auditing,
    events,
    inbox,
    knowing,
    living,
    reading,
    records,
    replaying,
    reports,
    saying,
    searching,
    sources,
    store,
    writing,
)
from engramlog_server.api.operations.definition import Operation
from engramlog_server.api.operations.needs import BESIDES, Need

MODULES = (
    *(searching, reading, saying, writing, knowing, living, inbox, reports, auditing),
    *(replaying, sources, events, store, access, records),
)
"""Those that define operations."""
_ROUTED = tuple(
    dict.fromkeys(
        one for module in MODULES for one in vars(module).values() if isinstance(one, Operation) and one.is_routed
    )
)
ALL: tuple[Operation, ...] = tuple(one for one in _ROUTED if one.answer and one not in vars(records).values())
"""Those that are asked and answered in JSON."""
MADE_WHOLE: tuple[Operation, ...] = tuple(one for one in ALL if not one.apart)
"""Those that one call of a service answers."""
OF_FILES: tuple[Operation, ...] = tuple(one for one in _ROUTED if one not in ALL)
"""Those that stream lines, or answer pictures; the client has its own verbs of them."""
NEEDS: Mapping[str, Need] = {**{one.call: one.needs for one in _ROUTED if one.needs is not None}, **BESIDES}
"""What a caller with a key needs for each call of a service; nobody with a key makes any other call."""
