"""Tools and resources that run where their class of work says, for the owner of their connection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from api.mcp.connection import Connection
from api.requests.speaking import come_in_by
from api.work.admission import Admission
from api.work.patience import Work


def admitted(function: Callable[..., Any], work: Work, admission: Admission) -> Callable[..., Any]:
    """The function as a coroutine that asks for admission first; its arguments and its answer stay."""

    @wraps(function)
    async def placed(*args: Any, **given: Any) -> Any:
        return await admission.run(work, Connection.told_owner(), partial(come_in_by, "mcp", function, *args, **given))

    return placed
