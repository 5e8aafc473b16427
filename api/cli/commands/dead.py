"""Commands about quarantined owners: `engramlog dead list | show | retry | discard`."""

from __future__ import annotations

import typer

from api.cli.app import app
from api.cli.made import Call, command, plain
from api.operations.store import DEAD, DEAD_DISCARD, DEAD_RETRY, DEAD_SHOW
from api.operations.table import entries

dead_app = typer.Typer(no_args_is_help=True, help=entries()["dead"].help)
app.add_typer(dead_app, name="dead")
command(DEAD, on=dead_app, name="list")(plain)
command(DEAD_SHOW, on=dead_app, name="show")(plain)


@command(DEAD_RETRY, on=dead_app, name="retry")
def retry(call: Call) -> None:
    """Exit code 1 where the owner stays quarantined."""
    answer = call.answer()
    call.print(answer)
    raise typer.Exit(0 if answer["freed"] else 1)


command(DEAD_DISCARD, on=dead_app, name="discard")(plain)
