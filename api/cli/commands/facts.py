"""The command about what is known as triples: facts."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from api.cli.app import AfterOption, AsOfOption, Json, KnownOption, Owner, app, opened, out, progress, show
from api.cli.commands.reading import FOLDING
from api.cli.show.memories import number, part_of, shortened, when
from api.cli.show.tables import Cell, Column, tabulate

SHOWN_EVIDENCE = 2
"""Memories shown with a triple in a table."""


@app.command(epilog="Example: `engramlog facts alice` or `engramlog facts alice --about 拉面`")
def facts(
    context: typer.Context,
    owner: Owner,
    about: Annotated[
        str | None,
        typer.Option("--about", help="Only triples of which this is subject or object.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many, 1 to 1000.")] = 50,
    offset: Annotated[int, typer.Option(help="How many to pass over.", min=0)] = 0,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """What is known as triples, with the memories that are their evidence. Leaves no trace.

    A triple holds while any memory that is neither deleted nor purged backs it; a secret memory backs nothing that is told.
    """
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.facts.facts(
            owner, about=about, limit=limit, offset=offset, as_of=as_of, known=known, after=after, on_progress=advance
        )
    show(answer, json, _facts)


def _facts(answer: dict[str, Any], console: Console = out) -> None:
    found, total = answer["facts"], answer["total"]
    about = f" about {answer['about']}" if answer["about"] is not None else ""
    of_all = f" of {answer['known']:,}" if about else ""
    part = part_of(answer["offset"], len(found), total)
    head = f"{part}{total:,} fact{'' if total == 1 else 's'}{about}{of_all}, position {answer['position']}"
    console.print(Text(head, "dim" if found else "yellow"))
    if not found:
        return
    columns = (
        Column("subject"),
        Column("predicate"),
        Column("object"),
        Column("degree", right=True),
        Column("condition", if_room=True),
        Column("asserted", "dim"),
        Column("evidence", takes_rest=True),
    )
    rows: list[dict[str, Cell]] = [
        {
            "subject": Text(one["subject"]),
            "predicate": Text(f"{'not ' if one['negation'] else ''}{one['predicate']}"),
            "object": Text(one["object"]),
            "degree": number(one["degree"], 2),
            "condition": Text(one["condition"] or "-"),
            "asserted": when(one["asserted_at"], console),
            "evidence": _evidence(one),
        }
        for one in found
    ]
    tabulate(columns, rows, console)


def _evidence(fact: dict[str, Any]) -> Text:
    """The newest memories behind a triple, and how many more there are."""
    told = Text()
    for one in fact["evidence"][:SHOWN_EVIDENCE]:
        status = "" if one["status"] == "live" else f" ({one['status'].replace('_', ' ')})"
        told.append(one["id"], "cyan").append(f"{status}: ").append(shortened(one["memory"])).append("\n")
    if (more := len(fact["backing"]) - SHOWN_EVIDENCE) > 0:
        told.append(f"and {more:,} more\n", "dim")
    told.right_crop(1)
    return told
