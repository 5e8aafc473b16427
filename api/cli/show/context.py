"""What stands in a prompt, for people: the block, and which answers used a memory."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api.cli.app import err, out
from api.cli.show.answered import all_replies
from api.cli.show.memories import part_of, times_of
from api.cli.show.tables import Column, ident, instant, plain, tabulate, words
from api.shapes import ContextBlock, MemoryUses


def block(answer: ContextBlock, console: Console = out, *, split: bool = False) -> None:
    """Print the block to standard output, and to standard error what was left out; `split`: an empty line between its parts."""
    halves = [half for half in (answer["stable"], answer["turn"]) if half]
    console.print(Text("\n\n".join(halves) if split else answer["block"]), soft_wrap=True)
    said = [f"{answer['tokens']:,} of {answer['budget']:,} tokens, position {answer['position']}{times_of(answer)}"]
    if (sizes := answer["sizes"]) is not None:
        parts = f"stable part {sizes['stable']:,}, this turn's {sizes['turn']:,}"
        said.append(f"{parts}, the whole conversation {sizes['conversation']:,}")
    if answer["dropped"]:
        said.append(f"no room for: {plain(answer['dropped'])}")
    if answer["left_out"]:
        said.append(f"left out: {plain(answer['left_out'])}")
    if answer["searches"] and not answer["parts"]["retrieved"] and (withheld := answer["searches"][0]["withheld"]):
        said.append(f"normal mode withholds matches: {plain(withheld)}")
    looked = answer["recorded"]["status"] == "off" and not times_of(answer)
    if looked and answer["turn_id"] is not None and answer["injected"]:
        said.append(f"not recorded for {answer['turn_id']}: --trace does, and `engramlog answers` tells of it then")
    err.print(Text("; ".join(said), "dim"), soft_wrap=True)


def used(answer: MemoryUses, console: Console = out) -> None:
    """Which answers used a memory."""
    found, total = answer["uses"], answer["total"]
    console.print(Text.assemble((answer["id"], "bold cyan"), " ", answer["memory"]))
    several = "answer" if total == 1 else "answers"
    part = part_of(answer["offset"], len(found), total)
    console.print(Text(f"used for {part}{total:,} {several}, position {answer['position']}{times_of(answer)}", "dim"))
    if not found:
        return
    columns = (
        ident("turn", "turn_id"),
        Column("session", if_room=True),
        instant("injected", "injected_at"),
        words("asked", "turn.text"),
        words("replied", "replies", all_replies),
    )
    tabulate(columns, found, console)
