"""Who has memories here."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from api.cli.app import Json, app, opened, out, show
from api.cli.show.tables import Column, tabulate

LIMIT = 100
"""Owners of a page, as the service has it: that is loaded when it is asked."""


@app.command(epilog="Example: `engramlog owners --prefix conv-`")
def owners(
    context: typer.Context,
    prefix: Annotated[
        str | None, typer.Option("--prefix", help="Only owners whose names begin so.", show_default=False)
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", help="The next page: the last name of the one before.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many, 1 to 1000.")] = LIMIT,
    json: Json = False,
) -> None:
    """Who has memories here: owners by name, in pages, with how many memories each has."""
    with opened(context) as application:
        answer = application.owners.owners(prefix=prefix, after=after, limit=limit)
    show(answer, json, _page)


def _page(answer: dict[str, Any]) -> None:
    found, matching = answer["owners"], answer["matching"]
    if not found:
        out.print("no owners" if not matching else "no more owners")
        return
    columns = (Column("owner", is_id=True), Column("memories", right=True), Column("partition", right=True))
    rows = [
        {"owner": escape(one["owner"]), "memories": f"{one['memories']:,}", "partition": str(one["partition"])}
        for one in found
    ]
    tabulate(columns, rows)
    out.print(f"[dim]{len(found):,} of {matching:,} owner{'' if matching == 1 else 's'}[/]")
    if answer["next"] is not None:
        out.print(f"[dim]more: --after {escape(answer['next'])}[/]", soft_wrap=True)
