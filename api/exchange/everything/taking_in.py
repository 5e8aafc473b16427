"""Reading what an export of everything holds beside memories: what was said is said again, all else its own log tells. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from api.exchange.everything.bundle import CHANGE, END, HEAD
from api.exchange.everything.said import CONTEXT, QUESTION, SAID, SHOWN, TOOL, TURN
from api.exchange.record_fields import short
from api.exchange.record_shapes import FORMAT, PART
from events.envelope import derived_id
from events.errors import refused
from events.standing import claimable

OF_THE_LOG = (HEAD, CONTEXT, QUESTION, SHOWN, CHANGE, END)
"""Parts that tell of the log that they come from; the log that takes the others in tells its own."""
PARTS = (*SAID, *OF_THE_LOG)
_TYPES = {TURN: "TurnRecorded", TOOL: "ToolResultRecorded"}


class PartLine(NamedTuple):
    """One such line."""

    part: str
    event: Mapping[str, Any] | None = None
    """What it says again, as an envelope for whoever takes it in; None where it says nothing again."""
    withheld: bool = False
    """Whether its words were left out when it was exported, so that there is nothing to say."""


def read_part(record: Mapping[str, Any], owner: str) -> PartLine:
    """What a line with a `part` tells an owner who takes it in. Raises InputError naming the field.

    Of the same owner an event keeps its id, so that what is there already is not said twice; another's is derived from it.
    """
    part, version = record[PART], record.get("engramlog")
    if part not in PARTS:
        raise refused(PART, short(part), ", ".join(PARTS))
    if version != FORMAT or isinstance(version, bool):
        raise refused("engramlog", short(version), f"{FORMAT}: the version of an exported line that this release reads")
    if part not in SAID:
        return PartLine(part)
    if record.get("withheld") or record.get("unreadable"):
        return PartLine(part, withheld=True)
    event = record.get("event")
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        raise refused("event", short(event), f"the {_TYPES[part]} that was exported")
    if event.get("type") != _TYPES[part]:
        raise refused("event.type", short(event.get("type")), _TYPES[part])
    if event.get("owner") == owner:
        return PartLine(part, event)
    kept = {name: value for name, value in event.items() if name not in ("causation_id", "trust")}
    actor = event.get("actor") if event.get("actor") in claimable("import") else "system"
    made = derived_id("import said", owner, str(event.get("event_id")))
    return PartLine(part, {**kept, "owner": owner, "actor": actor, "event_id": made})
