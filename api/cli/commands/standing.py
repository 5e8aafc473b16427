"""Commands by which a person decides what a memory may do: stand in every prompt, be shown."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.app import ActorOption, Json, KeyOption, MemoryId, OccurredOption, Owner, ReasonOption, app, opened
from api.cli.commands.writing import done


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
    done(answer, json)


@app.command(epilog='Example: `engramlog sensitivity alice pin 0 --reason "an example out of a book"`')
def sensitivity(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    level: Annotated[
        int, typer.Argument(metavar="LEVEL", help="0 public, 1 general, 2 sensitive, 3 secret.", show_default=False)
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why, in words; kept in the log.", show_default=False)],
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Say how sensitive a memory is, up or down: the one way down from what rules found in its words.

    It holds for the words that it has now: other words are looked at anew. Only a user or an operator may say so.
    """
    with opened(context) as application:
        answer = application.writer.set_sensitivity(
            owner, memory_id, level, reason=reason, actor=actor, occurred_at=occurred_at, key=key
        )
    done(answer, json)
