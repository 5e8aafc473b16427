"""The context block, and one answer with the blocks of its prompt, printed."""

from __future__ import annotations

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from engramlog_server.api.cli.app import err, out
from engramlog_server.api.cli.show import generic
from engramlog_server.api.cli.show.memories import times_of
from engramlog_server.api.cli.show.tables import plain
from engramlog_server.projections.shapes import AnsweredInFull, ContextBlock, Injected

PROOF = {
    True: ("as it was handed out", "green"),
    False: ("not as it was handed out", "red"),
    None: ("unproved", "yellow"),
}


def whole(answer: AnsweredInFull, console: Console = out) -> None:
    """One turn: what was asked and replied, the memories with how they stand today, and each block in a frame."""
    replies = [f"{one['speaker'] or one['role']}: {one['text']}" for one in answer["replies"]]
    asked = "not recorded" if answer["turn"] is None else None
    generic.answer({**answer, "asked": asked, "injected": None, "replies": replies}, console)
    for one in answer["injected"]:
        _block(one, console)


def _block(one: Injected, console: Console) -> None:
    """A block in a frame, headed with whether it is the one that was handed out."""
    block = one["block"]
    word, colour = PROOF[block["as_it_was"]]
    title = Text.assemble(f"{one['position']}, {one['principal'] or '-'}: ", (word, colour))
    console.print(Panel(Text(block["text"] or "-"), title=title, title_align="left", border_style="dim"))
    console.print(Text(f"{block['tokens']:,} tokens; {block['why']}", "dim"), soft_wrap=True)


def block(answer: ContextBlock, console: Console = out, *, split: bool = False) -> None:
    """Print the block to standard output, and to standard error what was left out; `split`: an empty line between its parts."""
    halves = [half for half in (answer["stable"], answer["turn"]) if half]
    console.print(Text("\n\n".join(halves) if split else answer["block"]), soft_wrap=True)
    said = [f"{answer['tokens']:,} of {answer['budget']:,} tokens, position {answer['position']}{times_of(answer)}"]
    if (sizes := answer["sizes"]) is not None:
        parts = f"stable part {sizes['stable']:,}, this turn's {sizes['turn']:,}"
        said.append(f"{parts}, the whole conversation {sizes['conversation']:,}")
    if answer["dropped"]:
        said.append(f"did not fit the budget: {plain(answer['dropped'])}")
    if answer["left_out"]:
        said.append(f"left out: {plain(answer['left_out'])}")
    if answer["searches"] and not answer["parts"]["retrieved"] and (withheld := answer["searches"][0]["withheld"]):
        said.append(f"normal mode withholds matches: {plain(withheld)}")
    looked = answer["recorded"]["status"] == "off" and not times_of(answer)
    if looked and answer["turn_id"] is not None and answer["injected"]:
        said.append(f"not recorded for {answer['turn_id']}: --trace records it, and `engramlog answers` shows it then")
    err.print(Text("; ".join(said), "dim"), soft_wrap=True)
