"""A server over standard input and output that is confined to a key: whose it is, is looked up anew at each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.mcp.connection import WhoAsks
from events.errors import AccessDenied
from projections.access.caller import Caller

if TYPE_CHECKING:
    from api.application import Application


def confined_to(key: str) -> WhoAsks:
    """Whoever has this key, or this token made of one, as the book of the store says now; revoked, it opens nothing at once."""

    def who(application: Application) -> Caller:
        from projections.access.recognising import recognised

        found = recognised(application.access_follower.admitting(), key, application.log.now())
        if found.caller is None:
            raise AccessDenied(f"ENGRAMLOG_KEY: got {found.got}; allowed: a key of this store that lives")
        return found.caller

    return who
