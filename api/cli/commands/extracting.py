"""The command `engramlog extract`: turns become typed memories, by rules or by a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from api.choices import MODEL, RULES
from api.cli.app import err, opened, out, progress
from api.cli.made import PARTLY, Call, command
from api.cli.show.tables import Column, ident, tabulate, words
from api.operations.definition import Parameter
from api.operations.reports import EXTRACT
from api.shapes import Statement
from events.errors import refused

COLOURS = {
    "ADD": "green",
    "UPDATE": "cyan",
    "BOOST": "cyan",
    "NEGATE": "red",
    "DELETE": "red",
    "FLAG": "yellow",
    "SKIP": "dim",
}
WORDS = {"keep_turn": "turns kept", "use": "used"}
SHOWN = 200
"""Statements shown in a table."""


@command(
    EXTRACT.but(
        more="Turns stay as they are: typed memories lie on top. What is said again is a mention, what is taken back is negated,"
        " and questions, suppositions, quotations and what an assistant says assert nothing. Running it again does nothing"
        " twice. A dry run by a model asks it about the next ten turns. Exit code 3: the model failed, and the turns that are"
        " left wait for a next run.",
        example="Example: `engramlog extract alice --dry-run`, then `engramlog extract alice`",
    ),
    more=(
        Parameter(
            "again",
            bool,
            "With --dry-run: tell what the rules of today would make of all turns, those that were read before too.",
            False,
        ),
    ),
)
def extract(call: Call) -> None:
    """By rules or by the model of the settings."""
    owner, dry_run, by, again = call.take("owner", "dry_run", "by", "again")
    if again and not dry_run:
        raise refused(
            "again", "no --dry-run", "with --dry-run alone: what another reading made, a person may have changed since"
        )
    if again and by == MODEL:
        raise refused("by", by, f"{RULES} with --again: a model is asked about what nobody has read")
    with opened(call.context) as application:
        if again:
            answer = application.extractor.read_again(owner)
        elif dry_run:
            answer = application.extractor.rehearse(owner, by)
        else:
            with progress("turns" if by == MODEL else "decisions", call.json) as advance:
                answer = application.extractor.extract(owner, by, on_progress=advance)
    call.print(answer, _told)
    if answer.get("trouble"):
        raise typer.Exit(PARTLY)


def _told(answer: Mapping[str, Any]) -> None:
    counts = ", ".join(f"{count:,} {WORDS.get(name, name)}" for name, count in sorted(answer["counts"].items()))
    if answer["dry_run"]:
        table([one for one in answer["statements"] if not answer.get("again") or one["operation"] != "SKIP"])
        if answer.get("gone"):
            gone = ", ".join(answer["gone"][:SHOWN])
            out.print(Text(f"would not be drawn from these turns any more: {gone}", "yellow"))
        out.print(Text.assemble(("would ", "yellow"), counts) if counts else Text("nothing would change", "yellow"))
    else:
        read = f"{answer['read']:,} turns read: " if answer["read"] else ""
        nothing = "nothing" if answer.get("trouble") else "nothing new"
        out.print(Text.assemble(("done ", "bold green"), read, counts or nothing))
    if answer.get("by_rules"):
        out.print(Text(f"{len(answer['by_rules']):,} of them by rules: the model had no usable answer", "yellow"))
    if refused := answer.get("refused"):
        turn_id, reason = next(iter(refused.items()))
        out.print(
            Text(f"{len(refused):,} of them without effect: everything was refused; {turn_id}: {reason}", "yellow")
        )
    if answer["by"] != RULES:
        usage = answer["usage"]
        told = f"{usage['requests']:,} requests, {usage['input_tokens']:,} + {usage['output_tokens']:,} tokens"
        out.print(Text(f"{answer['by']}: {told}", "dim"))
    if answer.get("trouble"):
        err.print(Text.assemble(("stopped ", "bold red"), answer["trouble"]))
    if answer.get("left"):
        out.print(Text(f"{answer['left']:,} turns are still to be read", "yellow"))


def table(statements: Sequence[Statement], console: Console = out) -> None:
    """What every statement would become."""
    if not statements:
        return
    columns = (
        Column("what", "operation", lambda what: Text(what, COLOURS[what])),
        Column("class"),
        words("content"),
        ident("turn", "turn_id"),
        Column("why", "reason", style="dim"),
    )
    rows = [
        {**one, "class": one["category"] if one["kind"] == "fact" else f"{one['category']}, {one['kind']}"}
        for one in statements[:SHOWN]
    ]
    tabulate(columns, rows, console)
    if len(statements) > SHOWN:
        console.print(Text(f"and {len(statements) - SHOWN:,} more: --json tells all", "dim"))
