"""Heads of chains, and how the log meets those that somebody holds, for people."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import told_at
from api.cli.show.tables import Cell, Column, tabulate
from projections import shapes

STYLES = {"agrees": "green", "differs": "bold red", "missing": "bold red", "unread": "yellow"}


def chain_heads(told: shapes.ChainHeads, file: str) -> None:
    """Every head, and the file in which they are kept."""
    keeping = told["keeping"]
    out.print(f"[dim]heads of store {told['store_id']}[/]", highlight=False)
    rows: list[dict[str, Cell]] = [
        {
            "partition": str(one["partition"]),
            "seq": str(one["seq"]),
            "recorded": told_at(one["at"]) if one["at"] else "",
            "chain": str(one["chain"]),
        }
        for one in told["heads"]
    ]
    columns = (Column("partition", right=True), Column("seq", right=True), Column("recorded"), Column("chain"))
    tabulate(columns, rows)
    if keeping is not None:
        last = f", the last at {keeping['last']}" if keeping["last"] else ""
        out.print(f"[dim]{keeping['lines']} lines are kept in {escape(file)}{last}[/]", highlight=False)


def heads_compared(told: shapes.HeadsCompared, console: Console = out) -> None:
    """Which partitions agree, which do not, and what was not reached."""
    if told["agrees"]:
        console.print(f"[bold green]ok[/] {told['heads']:,} heads in {told['lines']:,} lines, all met")
    elif told["differing"] or told["missing"]:
        console.print(f"[bold red]{told['differing'] + told['missing']:,} of {told['heads']:,} heads are not met[/]")
    else:
        console.print(f"[bold yellow]not proven[/]: {told['agreed']:,} of {told['heads']:,} heads are met")
    rows: list[dict[str, Cell]] = [
        {
            "partition": str(one["partition"]),
            "state": Text(one["state"], STYLES[one["state"]]),
            "heads": str(one["heads"]),
            "met up to": "-" if one["last_agreed"] is None else str(one["last_agreed"]),
            "read to": str(one["read_to"]),
            "log": str(one["appended"]),
            "behind": str(one["behind"]),
        }
        for one in told["partitions"]
    ]
    right = ("heads", "met up to", "read to", "log", "behind")
    tabulate((Column("partition", right=True), Column("state"), *(Column(name, right=True) for name in right)), rows)
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
