"""The command by which a producer reports what memories rest on: ground."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from api.cli.app import ActorOption, Json, OccurredOption, Owner, app, opened, out, show


@app.command(epilog="Example: `engramlog ground alice https://wiki.example.org/flats sha256:9f86d081884c7d65`")
def ground(
    context: typer.Context,
    owner: Owner,
    uri: Annotated[str, typer.Argument(metavar="URI", help="What memories rest on.", show_default=False)],
    digest: Annotated[str, typer.Argument(metavar="DIGEST", help="The digest it has now.", show_default=False)],
    limit: Annotated[int, typer.Option("-k", "--limit", help="Memories at the most, 1 to 1000.")] = 1_000,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    json: Json = False,
) -> None:
    """Something has this digest now: memories that rest on another one are withheld from normal mode, those on this one come back.

    Reported again it changes nothing. Where more memories rest on it than the limit, the answer says how many are left.
    """
    with opened(context) as application:
        answer = application.grounds.report(owner, uri, digest, limit=limit, actor=actor, occurred_at=occurred_at)
    show(answer, json, _reported)
    if "quarantined" in answer:
        raise typer.Exit(3)


def _reported(answer: dict[str, Any], console: Console = out) -> None:
    for name, style in (("withheld", "yellow"), ("back", "green")):
        if answer[name]:
            console.print(Text.assemble((f"{name}: ", style), ", ".join(answer[name])))
    if not answer["withheld"] and not answer["back"]:
        console.print(Text("Nothing changed: no memory rests on it with anything else to know", "dim"))
    if answer["left"]:
        console.print(Text(f"{answer['left']:,} more rest on it: report it again", "yellow"))
    if answer["newer"]:
        console.print(Text(f"of {answer['newer']:,} something newer is known", "dim"))
    console.print(Text(f"position {answer['position']}", "dim"))
