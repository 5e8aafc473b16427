"""What stood in the prompts of answers, for people: a page of turns, and one turn with its memories and the block as it was."""

from __future__ import annotations

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import part_of, shortened, times_of, when
from api.cli.show.tables import Cell, Column, tabulate
from projections.shapes import AnsweredInFull, AnsweredTurns, Injected, InjectedMemory, OutcomeTold, TurnSaid

PROOF = {
    True: ("as it was handed out", "green"),
    False: ("not as it was handed out", "red"),
    None: ("unproved", "yellow"),
}


def listed(answer: AnsweredTurns, console: Console = out) -> None:
    """The turns for which memories were put into a prompt."""
    found, total = answer["answers"], answer["total"]
    part = part_of(answer["offset"], len(found), total)
    several = "answer" if total == 1 else "answers"
    console.print(
        Text(
            f"{part}{total:,} {several} with memories in the prompt, position {answer['position']}{times_of(answer)}",
            "dim",
        )
    )
    if not found:
        return
    columns = (
        Column("turn", is_id=True),
        Column("session", if_room=True),
        Column("injected", "dim", is_time=True),
        Column("by", if_room=True),
        Column("memories"),
        Column("asked", takes_rest=True),
        Column("replied", takes_rest=True),
    )
    rows: list[dict[str, Cell]] = [
        {
            "turn": Text(one["id"]),
            "session": Text(one["session"] or "-"),
            "injected": when(one["injected_at"], console) if one["injected_at"] else Text("-"),
            "by": Text(one["principal"] or "-"),
            "memories": Text(str(one["memories"])),
            "asked": shortened(one["turn"]["text"]) if one["turn"] else Text("-"),
            "replied": shortened("\n".join(reply["text"] for reply in one["replies"]) or "-"),
        }
        for one in found
    ]
    tabulate(columns, rows, console)


def whole(answer: AnsweredInFull, console: Console = out) -> None:
    """One turn: what was asked and replied, the memories with how they stand today, and each block in a frame."""
    console.print(Text.assemble((answer["id"], "bold cyan"), f"  session {answer['session'] or '-'}"), soft_wrap=True)
    console.print(Text(f"position {answer['position']}{times_of(answer)}", "dim"))
    _said("asked", answer["turn"], console)
    if answer["recorded_twice"]:
        console.print(Text("other turns were recorded under this id: this is the newest", "yellow"))
    for reply in answer["replies"]:
        _said("replied", reply, console)
    for outcome in answer["outcomes"]:
        _outcome(outcome, console)
    if left := answer["outcomes_left_out"]:
        console.print(Text(f"{left:,} older outcomes are left out", "dim"))
    if answer["note"] is not None:
        console.print(Text(answer["note"], "yellow"), soft_wrap=True)
        return
    _memories(answer["injected_memories"], console)
    if left := answer["injections_left_out"]:
        console.print(Text(f"{left:,} older injections are left out", "dim"))
    for one in answer["injected"]:
        _block(one, console)


def _said(what: str, turn: TurnSaid | None, console: Console) -> None:
    told = Text("not recorded", "dim") if turn is None else Text(turn["text"])
    who = "" if turn is None else f" {turn['speaker'] or turn['role']}"
    console.print(Text.assemble((f"{what}{who}: ", "bold"), told), soft_wrap=True)


def _outcome(one: OutcomeTold, console: Console) -> None:
    why = " (the reply is its cause)" if one["linked_by"] == "cause" else ""
    told = f" {one['outcome']}, {one['actor']} by {one['principal'] or '-'}{why}"
    console.print(Text.assemble(("outcome: ", "bold"), (one["memory"], "cyan"), told), soft_wrap=True)


def _memories(found: list[InjectedMemory], console: Console) -> None:
    columns = (
        Column("rank"),
        Column("memory", is_id=True),
        Column("part", if_room=True),
        Column("close", if_room=True),
        Column("text then", takes_rest=True),
        Column("now"),
    )
    rows: list[dict[str, Cell]] = [
        {
            "rank": Text("-" if one["rank"] is None else str(one["rank"])),
            "memory": Text(one["id"]),
            "part": Text(one["part"] or "-"),
            "close": Text("-" if one["closeness"] is None else f"{one['closeness']:.2f}"),
            "text then": Text(f"[withheld: {one['withheld']}]", "dim")
            if one["memory"] is None
            else shortened(one["memory"]),
            "now": Text(", ".join(dict.fromkeys((one["status"], *one["since"])))),
        }
        for one in found
    ]
    tabulate(columns, rows, console)


def _block(one: Injected, console: Console) -> None:
    """A block in a frame, headed with whether it is the one that was handed out."""
    block = one["block"]
    word, colour = PROOF[block["as_it_was"]]
    title = Text.assemble(f"{one['position']}, {one['principal'] or '-'}: ", (word, colour))
    console.print(Panel(Text(block["text"] or "-"), title=title, title_align="left", border_style="dim"))
    console.print(Text(f"{block['tokens']:,} tokens; {block['why']}", "dim"), soft_wrap=True)
