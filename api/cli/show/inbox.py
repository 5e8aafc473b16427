"""What waits for a person, as a table."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api import shapes
from api.cli.app import out
from api.cli.show.memories import effects, part_of
from api.cli.show.tables import Column, ident, tabulate, words


def inbox(answer: shapes.InboxPage, console: Console = out) -> None:
    """What waits, newest first."""
    items, total = answer["items"], answer["total"]
    if answer["taken"] >= answer["most"]:
        told = f"Full: {answer['taken']:,} places of {answer['most']:,} are taken; what has to wait beyond them changes nothing"
        console.print(f"[yellow]{told}[/]", soft_wrap=True)
        if total < answer["taken"]:
            console.print("[dim]what is set aside or rejected keeps its place until it is deleted[/]", soft_wrap=True)
    if not total:
        console.print("[green]Nothing waits for a person[/]")
        return
    console.print(
        f"{part_of(answer['offset'], len(items), total)}{total:,} {'thing waits' if total == 1 else 'things wait'} for a person"
    )
    columns = (
        ident("item"),
        Column("what", "kind"),
        Column("by", "actor"),
        Column("when", "at", if_room=True, is_time=True),
        words("memory"),
        words("would say", "would_say"),
    )
    tabulate(columns, items, console)
    console.print(
        "[dim]`engramlog inbox OWNER ITEM --accept`, `amend OWNER ITEM TEXT` or `reject OWNER ITEM` answers one[/]"
    )


def answered(answer: shapes.Answered, console: Console = out) -> None:
    """What was done; the events of it where something else came of them."""
    console.print(Text(answer["done"], "yellow" if answer["done_code"] == "nothing" else "bold green"))
    effects(answer, ("done", "done_code"))
