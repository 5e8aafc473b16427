"""The command `engramlog embed`: vectors by hand."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from api.cli.app import Json, app, opened, out, progress, show

PARTLY = 3
LONG = 64
"""Texts from which a bar is shown."""


@app.command(epilog="Example: `ENGRAMLOG_EMBEDDER=minilm engramlog embed alice`; without an owner: all of them")
def embed(
    context: typer.Context,
    owner: Annotated[
        str | None,
        typer.Argument(
            help="Whose memories: a user, an agent, a team; all owners where none is named.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compute the vectors that semantic search lacks; under `up` with an embedder a job does so by itself within a minute.

    What is there is not computed again, so a run that was broken off is simply run again. Vectors of contents that were
    revised, purged or made secret are dropped. **With `openai:` contents leave this machine**, but for secret ones.
    """
    with opened(context) as application:
        if owner is None:
            with progress("owners", json, 0) as advance:
                answer = application.embeddings.embed_all(on_progress=advance)
        else:
            with progress("texts", json, LONG) as advance:
                answer = application.embeddings.embed(owner, on_progress=advance)
    show(answer, json, _told)
    raise typer.Exit(PARTLY if answer["failed"] or answer["left"] else 0)


def _told(answer: dict[str, Any]) -> None:
    by = ", ".join(answer.get("models", ())) or answer["model"]
    done = Text.assemble(("done ", "bold green"), f"{answer['embedded']:,} texts embedded by {by}")
    done.append(f", {answer['already']:,} had been, {answer['left']:,} left; {answer['dropped']:,} vectors dropped")
    out.print(done)
    for one in answer["failed"]:
        where = " ".join(one[name] for name in ("owner", "id") if name in one)
        out.print(Text.assemble((where, "yellow"), f": {one['message']}"))
