"""The command `engramlog episodes`: what sessions leave behind."""

from __future__ import annotations

import typer

from api.cli.app import opened, progress
from api.cli.made import PARTLY, Call, command
from api.operations.reports import EPISODES


@command(
    EPISODES.but(
        more="Also notes which memories the assistant's replies rested on: those put before it of which a reply says what nothing"
        " else there said. Turns stay as they are. Running it again does nothing twice.",
        example="Example: `engramlog episodes alice --dry-run`, then `engramlog episodes alice`",
    )
)
def episodes(call: Call) -> None:
    """Exit code 3 where the model is down."""
    owner, dry_run = call.take("owner", "dry_run")
    with opened(call.context) as application:
        if dry_run:
            answer = application.episodes.make(owner, dry_run=True)
        else:
            with progress("decisions", call.json) as advance:
                answer = application.episodes.make(owner, on_progress=advance)
    call.print(answer)
    if answer["down"]:
        raise typer.Exit(PARTLY)
