"""The command by which a person lets a memory stand in every prompt."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.app import Json, KeyOption, MemoryId, OccurredOption, Owner, ReasonOption, app, opened, show
from api.cli.made import PARTLY
from api.cli.show import memories as render


@app.command(epilog="Example: `engramlog promote alice name` or `engramlog promote alice name --to fact`")
def promote(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    to: Annotated[str, typer.Option("--to", help="core or system; or fact or episode, which takes it back.")] = "core",
    reason: ReasonOption = "",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """As an operator, have a memory stand in every prompt, under *Always holds*, or take it from there (`--to fact`).

    You answer for its words: once somebody else revises them it stands there no longer, until it is promoted again.
    """
    with opened(context) as application:
        answer = application.writer.promote(owner, memory_id, to=to, reason=reason, occurred_at=occurred_at, key=key)
    show(answer, json, render.effects)
    if "quarantined" in answer:
        raise typer.Exit(PARTLY)
