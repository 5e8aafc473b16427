"""What waits for a person, as a table."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import effects, part_of, shortened, when
from api.cli.show.tables import Cell, Column, tabulate
from projections import shapes


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
    columns = [
        Column("item", is_id=True),
        Column("what"),
        Column("by"),
        Column("when", if_room=True, is_time=True),
        Column("memory", takes_rest=True),
        Column("would say", takes_rest=True),
    ]
    rows: list[dict[str, Cell]] = [
        {
            "item": one["item"],
            "what": one["kind"],
            "by": Text(one["actor"]),
            "when": when(one["at"]),
            "memory": shortened(one["memory"] or "-"),
            "would say": shortened(one["would_say"] or "-"),
        }
        for one in items
    ]
    tabulate(columns, rows, console)
    console.print(
        "[dim]`engramlog inbox OWNER ITEM --accept`, `amend OWNER ITEM TEXT` or `reject OWNER ITEM` answers one[/]"
    )


def answered(answer: shapes.Answered, console: Console = out) -> None:
    """What was done; the events of it where something else came of them."""
    console.print(Text(answer["done"], "yellow" if answer["done_code"] == "nothing" else "bold green"))
    effects(answer, ("done", "done_code"))
