"""Heads of chains, and how the log meets those that somebody holds, for people."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from api import shapes
from api.cli.app import out
from api.cli.show.memories import told_at
from api.cli.show.tables import Column, figure, tabulate

STYLES = {"agrees": "green", "differs": "bold red", "missing": "bold red", "unread": "yellow"}


def chain_heads(told: shapes.ChainHeads, file: str) -> None:
    """Every head, and the file in which they are kept."""
    keeping = told["keeping"]
    out.print(f"[dim]heads of store {told['store_id']}[/]", highlight=False)
    columns = (
        figure("partition", show=str),
        figure("seq", show=str),
        Column("recorded", "at", _recorded),
        Column("chain"),
    )
    tabulate(columns, told["heads"])
    if keeping is not None:
        last = f", the last at {keeping['last']}" if keeping["last"] else ""
        out.print(f"[dim]{keeping['lines']} lines are kept in {escape(file)}{last}[/]", highlight=False)


def _recorded(at: str | None) -> str:
    return told_at(at) if at else ""


def heads_compared(told: shapes.HeadsCompared, console: Console = out) -> None:
    """Which partitions agree, which do not, and what was not reached."""
    if told["agrees"]:
        console.print(f"[bold green]ok[/] {told['heads']:,} heads in {told['lines']:,} lines, all met")
    elif told["differing"] or told["missing"]:
        console.print(f"[bold red]{told['differing'] + told['missing']:,} of {told['heads']:,} heads are not met[/]")
    else:
        console.print(f"[bold yellow]not proven[/]: {told['agreed']:,} of {told['heads']:,} heads are met")
    columns = (
        figure("partition"),
        Column("state", show=lambda state: Text(state, STYLES[state])),
        figure("heads"),
        figure("met up to", "last_agreed"),
        figure("read to", "read_to"),
        figure("log", "appended"),
        figure("behind"),
    )
    tabulate(columns, told["partitions"])
    for one in told["unmet"]:
        found = "nothing there" if one["found"] is None else f"found {one['found'][:16]}..."
        line = f"{one['position']}, line {one['line']}: kept {one['kept'][:16]}..., {found} ({one['state']})"
        console.print(Text(line, STYLES[one["state"]]))
    for problem in told["problems"]:
        console.print(Text(f"the heads contradict themselves: {problem}", "red"))
    for store in told["other_stores"]:
        console.print(Text(f"heads of another store: {store}", "red"))
    if told["uncovered"]:
        numbers = ", ".join(str(one) for one in told["uncovered"])
        console.print(Text(f"no head of partition {numbers}: nothing is proven of it", "dim"))
