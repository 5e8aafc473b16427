"""Options of commands that draw a picture into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramlog_server.api.cli.command import Call
from engramlog_server.api.operations.definition import Option
from engramlog_server.api.operations.reports import LOOK
from engramlog_server.events.errors import refused

if TYPE_CHECKING:
    from pathlib import Path

    from engramlog_server.api.pictures.svg import Look

LOOK_OPTIONS = tuple(
    one.but(
        kind=one.kind | None,
        default=None,
        description=f"With --out, of a picture: {one.description[0].lower()}{one.description[1:].rstrip('.')};"
        f" [default: {one.default}]",
        option=Option(),
    )
    for one in LOOK
)


def look_of(call: Call, path: Path | None, otherwise: str = "nothing without --out") -> Look:
    """How the picture is to look. Raises InputError where that is told and nothing is drawn."""
    from engramlog_server.api.pictures.svg import checked_look

    names = [one.name for one in LOOK]
    told = {name: value for name, value in zip(names, call.take(*names), strict=True) if value is not None}
    if path is None and told:
        name, value = next(iter(told.items()))
        raise refused(name, str(value), otherwise)
    return checked_look(**told)
