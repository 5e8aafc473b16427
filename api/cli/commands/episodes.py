"""The command `engramlog episodes`: what sessions leave behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.text import Text

from api.cli.app import opened, out, progress
from api.cli.made import PARTLY, Call, command
from api.cli.show.tables import Column, ident, tabulate, words
from api.operations.reports import EPISODES
from api.shapes import Left

SHOWN = 100
"""Rows shown in a table."""


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
    call.print(answer, _told)
    if answer["down"]:
        raise typer.Exit(PARTLY)


def _told(answer: Left) -> None:
    made, used = answer["episodes"], answer["uses"]
    _table((Column("said", "at", is_time=True), words("episode", "content")), made)
    _table((ident("memory", "memory_id"), Column("used", "at", is_time=True), words("why", "reason")), used)
    told = f"{len(made):,} {'episode' if len(made) == 1 else 'episodes'}, {len(used):,} {'use' if len(used) == 1 else 'uses'}"
    out.print(Text.assemble(("would make ", "yellow") if answer["dry_run"] else ("done ", "bold green"), told))
    if answer["by_model"] or answer["refused"]:
        out.print(
            Text(f"{answer['by_model']:,} by the model, {answer['refused']:,} refused and made without it", "dim")
        )
    if answer["down"]:
        out.print(Text(f"stopped: {answer['failure']}; what is left is made by the next run", "yellow"))


def _table(columns: tuple[Column, ...], rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    tabulate(columns, rows[:SHOWN], out)
    if len(rows) > SHOWN:
        out.print(Text(f"and {len(rows) - SHOWN:,} more: --json tells all", "dim"))
