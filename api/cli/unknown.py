"""An owner of whom nothing is recorded: most often a name that is spelled otherwise. Said once, whatever was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text

from api.cli.app import err
from api.operations.definition import Given, Operation
from api.showing import UNKNOWN

FOUND = ("answers", "changes", "count", "events", "memories", "results")
"""Fields that hold, or count, what an answer has found."""


def is_unknown(ask: Callable[[Operation, Given], Any], owner: object, answer: Mapping[str, Any]) -> bool:
    """Whether an answer about an owner has found nothing because nothing is recorded of him; `ask` looks, where it may be so."""
    found = [answer[name] for name in FOUND if name in answer]
    if not isinstance(owner, str) or not found or any(found) or answer.get("hint") or _may_come(answer):
        return False
    from api.operations.reading import OWNER_HISTORY

    page = ask(OWNER_HISTORY, {"owner": owner, "limit": 1})
    return not page["changes"] and not _may_come(page)


def _may_come(answer: Mapping[str, Any]) -> bool:
    """Whether there is something that is not folded."""
    return bool(answer.get("behind") or answer.get("quarantined"))


def tell_unknown(owner: str) -> None:
    """In one line on standard error, with the way on."""
    err.print(Text(UNKNOWN.format(owner=owner), "yellow"), soft_wrap=True)
