"""`engramlog set-aside`: sources whose words are withheld."""

from __future__ import annotations

from api.cli.made import Call, command
from api.operations.definition import Parameter
from api.operations.saying import GROUND_REPORT
from api.operations.sources import ASIDES, BRING_BACK, SET_ASIDE
from events.errors import refused


@command(
    SET_ASIDE,
    ASIDES,
    more=(
        Parameter("undo", bool, "What the source said counts again.", False),
        Parameter(
            "ground", str | None, "Something that memories rest on: withhold those that rest on another digest.", None
        ),
        Parameter("digest", str | None, "With --ground: the digest it has now.", None),
    ),
)
def set_aside(call: Call) -> None:
    """Set a source aside or bring it back; list them if none is named."""
    undo, ground, digest = call.take("undo", "ground", "digest")
    if ground is not None or digest is not None:
        if undo or ground is None or digest is None:
            raise refused("ground", ground, "a URI with --digest, and no --undo")
        call.turn_to(GROUND_REPORT, "--ground", uri=ground, digest=digest)
        return
    named = any(call.given[name] is not None for name in ("session", "principal", "of_actor"))
    if undo or named:
        call.turn_to(BRING_BACK if undo else SET_ASIDE, "a source")
    else:
        call.turn_to(ASIDES, "the list of sources")
