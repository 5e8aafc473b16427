"""The commands about an owner's synonyms: synonym, synonyms."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from api.cli.app import (
    ActorOption,
    AfterOption,
    AsOfOption,
    Json,
    KeyOption,
    KnownOption,
    OccurredOption,
    Owner,
    app,
    opened,
    out,
    progress,
    show,
)
from api.cli.commands.reading import FOLDING
from api.cli.show.memories import number
from api.cli.show.tables import Cell, Column, tabulate


@app.command(epilog="Example: `engramlog synonym alice coffee 咖啡 --similarity 0.9`")
def synonym(
    context: typer.Context,
    owner: Owner,
    word: Annotated[str, typer.Argument(help="A word or phrase.", show_default=False)],
    synonym: Annotated[str, typer.Argument(metavar="SYNONYM", help="What it also means.", show_default=False)],
    similarity: Annotated[
        float, typer.Option(help="How alike, 0 to 1; 0 says that they are no synonyms.", min=0, max=1)
    ] = 0.8,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Two words mean the same in this owner's searches from here on. At most 256 pairs; 0 takes one out."""
    with opened(context) as application:
        answer = application.synonyms.define(
            owner, word, synonym, similarity=similarity, actor=actor, occurred_at=occurred_at, key=key
        )
    show(answer, json, _defined)


@app.command(epilog="Example: `engramlog synonyms alice` or `engramlog synonyms alice --of coffee`")
def synonyms(
    context: typer.Context,
    owner: Owner,
    of: Annotated[
        str | None,
        typer.Option("--of", help="A word: what it is looked for by, known synonyms too.", show_default=False),
    ] = None,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """The synonyms that an owner defined, and what searches for a word look for. Leaves no trace."""
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.synonyms.synonyms(owner, of=of, as_of=as_of, known=known, after=after, on_progress=advance)
    show(answer, json, _synonyms)


def _defined(answer: dict[str, Any], console: Console = out) -> None:
    for change in answer["changes"]:
        style = "yellow" if change["decision"] == "ignored" else ""
        console.print(Text(f"{answer['word']}, {answer['synonym']}: {change['reason']}", style))
    console.print(Text(f"position {answer['position']}", "dim"))


def _synonyms(answer: dict[str, Any], console: Console = out) -> None:
    total, pairs = answer["total"], [*answer["synonyms"], *answer["silenced"]]
    head = f"{total:,} pair{'' if total == 1 else 's'} of at most {answer['most']}, position {answer['position']}"
    console.print(Text(head, "dim" if total else "yellow"))
    if pairs:
        rows: list[dict[str, Cell]] = [
            {
                "word": Text(one["word"]),
                "synonym": Text(one["synonym"]),
                "similarity": number(one["similarity"], 2) if one["similarity"] else Text("no synonym", "yellow"),
            }
            for one in pairs
        ]
        tabulate((Column("word"), Column("synonym"), Column("similarity", right=True)), rows, console)
    if answer["expansion"] is not None:
        for name in ("synonyms", "related"):
            told = ", ".join(f"{word} {alike:g}" for word, alike in answer["expansion"][name].items()) or "none"
            console.print(Text.assemble((f"{name} of {answer['of']}: ", "dim"), told))
