"""`engramlog set-aside`: sources whose words are withheld."""

from __future__ import annotations

from api.cli.made import Call, command
from api.operations.definition import Parameter
from api.operations.sources import ASIDES, BRING_BACK, SET_ASIDE


@command(SET_ASIDE, ASIDES, more=(Parameter("undo", bool, "What the source said counts again.", False),))
def set_aside(call: Call) -> None:
    """Set a source aside or bring it back; list them if none is named."""
    (undo,) = call.take("undo")
    named = any(call.given[name] is not None for name in ("session", "principal", "of_actor"))
    if undo or named:
        call.turn_to(BRING_BACK if undo else SET_ASIDE, "a source")
    else:
        call.turn_to(ASIDES, "the list of sources")
