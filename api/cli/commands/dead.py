"""Commands about quarantined owners: `engramlog dead list | show | retry | discard`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from api.cli.app import Json, Owner, app, opened, out, show
from api.cli.show import memories as render
from api.cli.show.tables import grid

dead_app = typer.Typer(no_args_is_help=True, help="Owners whose fold stands still, and the events that wait behind it.")
app.add_typer(dead_app, name="dead")


def _table(rows: list[dict[str, Any]], *names: str) -> None:
    table = grid()
    for name in names:
        table.add_column(name.replace("_", " "), overflow="fold", no_wrap=name in ("position", "event_id", "kind"))
    for row in rows:
        table.add_row(*(escape(str(row.get(name, ""))) for name in names))
    out.print(table if rows else "[green]None.[/]")


@dead_app.command("list", epilog="Example: `engramlog dead list`")
def list_(context: typer.Context, json: Json = False) -> None:
    """Every quarantined owner, why, and how many of its events wait."""
    with opened(context) as application:
        answer = application.operator.dead()
    show(answer, json, lambda told: _table(told["quarantined"], "owner", "position", "kind", "parked", "reason"))


@dead_app.command("show", epilog="Example: `engramlog dead show alice`")
def show_(context: typer.Context, owner: Owner, json: Json = False) -> None:
    """An owner's parked events. Contents are not shown."""
    with opened(context) as application:
        answer = application.operator.dead_show(owner)
    show(answer, json, lambda told: _table(told["parked"], "position", "kind", "event_id", "bytes", "problem"))


@dead_app.command(epilog="Example: `engramlog dead retry alice`")
def retry(context: typer.Context, owner: Owner, json: Json = False) -> None:
    """Fold an owner's parked events again, after an upgrade say. Carried out by the worker that holds its partition."""
    with opened(context) as application:
        answer = application.operator.dead_retry(owner)
    show(
        answer,
        json,
        lambda told: out.print(
            "[green]freed[/]" if told["freed"] else f"[yellow]still stuck: {escape(told['dead']['reason'])}[/]"
        ),
    )
    raise typer.Exit(0 if answer["freed"] else 1)


@dead_app.command(epilog='Example: `engramlog dead discard alice 3:128 --reason "written by a broken producer"`')
def discard(
    context: typer.Context,
    owner: Owner,
    position: Annotated[str, typer.Argument(help="The parked position to drop.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why, in words; kept in the log.")] = "",
    json: Json = False,
) -> None:
    """Drop one parked event for good, by an event of its own; the rest of the owner's parked events fold then."""
    with opened(context) as application:
        answer = application.operator.dead_discard(owner, position, reason)
    show(answer, json, render.fields)
