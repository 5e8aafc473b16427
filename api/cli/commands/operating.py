"""`engramlog status`: the store, or one part of it in full."""

from __future__ import annotations

from api.cli.made import Call, command
from api.operations.definition import Parameter
from api.operations.store import CAPACITY, JOBS, MODELS, OWNERS, STATUS
from events.errors import refused

PARTS = {"jobs": JOBS, "capacity": CAPACITY, "models": MODELS, "owners": OWNERS}


@command(
    STATUS,
    more=(
        Parameter("jobs", bool, "Show each kind of job, and why one failed.", False),
        Parameter("capacity", bool, "Show how long memory and disk last.", False),
        Parameter("models", bool, "Show the models that are set, and their use.", False),
        Parameter("owners", bool, "List owners by name.", False),
        Parameter("days", int | None, "Days of growth (default 7) or of model use (default 30).", None),
        *(one.but(default=None, kind=int | None, bounds={}) if one.name == "limit" else one for one in OWNERS.question),
    ),
)
def status(call: Call) -> None:
    """The store, or the part that a flag names."""
    parts = [name for name, told in zip(PARTS, call.take(*PARTS), strict=True) if told]
    if len(parts) > 1:
        raise refused(parts[1], f"--{parts[1]} with --{parts[0]}", "one of them")
    call.turn_to(PARTS[parts[0]] if parts else STATUS, f"--{parts[0]}" if parts else "the state of the store")
