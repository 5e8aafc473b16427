"""The command `engramlog extract`: turns become typed memories, by rules."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from api.cli.app import Json, Owner, app, opened, out, progress, show
from api.cli.tables import Cell, Column, tabulate

COLOURS = {"ADD": "green", "UPDATE": "cyan", "BOOST": "cyan", "NEGATE": "red", "FLAG": "yellow", "SKIP": "dim"}
SHOWN = 200
"""Statements shown in a table."""


@app.command(epilog="Example: `engramlog extract alice --dry-run`, then `engramlog extract alice`")
def extract(
    context: typer.Context,
    owner: Owner,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what every statement would become, and change nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Read the turns that nobody has read yet, and keep what their speakers state as typed memories, by rules, without a model.

    Turns stay as they are: typed memories lie on top. What is said again is a mention, what is taken back is negated, and
    questions, suppositions, quotations and what an assistant says assert nothing. Running it again does nothing twice.
    """
    with opened(context) as application:
        if dry_run:
            answer = application.extractor.rehearse(owner)
        else:
            with progress("decisions", json) as advance:
                answer = application.extractor.extract(owner, on_progress=advance)
    show(answer, json, _told)


def _told(answer: dict[str, Any]) -> None:
    counts = ", ".join(f"{count:,} {name}" for name, count in sorted(answer["counts"].items())) or "nothing new"
    if answer["dry_run"]:
        _table(answer["statements"])
        out.print(Text.assemble(("would ", "yellow"), counts))
        return
    out.print(Text.assemble(("done ", "bold green"), counts))


def _table(statements: list[dict[str, Any]]) -> None:
    if not statements:
        return
    columns = (
        Column("what"),
        Column("class"),
        Column("content", takes_rest=True),
        Column("turn", is_id=True),
        Column("why", "dim"),
    )
    rows: list[dict[str, Cell]] = [
        {
            "what": Text(one["operation"], COLOURS[one["operation"]]),
            "class": Text(one["category"] if one["kind"] == "fact" else f"{one['category']}, {one['kind']}"),
            "content": Text(one["content"]),
            "turn": Text(one["turn_id"]),
            "why": Text(one["reason"]),
        }
        for one in statements[:SHOWN]
    ]
    tabulate(columns, rows, out)
    if len(statements) > SHOWN:
        out.print(Text(f"and {len(statements) - SHOWN:,} more: --json tells all", "dim"))
