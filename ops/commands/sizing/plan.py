"""`engramlog plan`: nodes, memory, disks and processes that a store would take. Opens no store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from api.cli.app import Json, app, out, print_json
from events.errors import refused

if TYPE_CHECKING:
    from ops.planning.plan import PlanLine, SizePlan

MOST_BYTES = 10_000_000
"""Of what `engramlog capacity --json` printed."""
_SECONDS = {"seconds": 1.0, "hours": 3_600.0}
_LASTING = (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0))
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


@app.command(
    epilog="Example: `engramlog plan --events-per-day 2000000 --owners 50000 --days 365 --node-gib 128`, or, by a store that is"
    " there, `engramlog capacity --json | engramlog plan --from-capacity - --owners 5000`"
)
def plan(
    owners: Annotated[int, typer.Option(help="How many owners there will be.")],
    events_per_day: Annotated[
        float | None, typer.Option(help="Events a day; without it as many as the store of --from-capacity has.")
    ] = None,
    memories_per_owner: Annotated[
        float | None, typer.Option(help="Memories of an owner in the mean; without it as many as the events make.")
    ] = None,
    active: Annotated[float, typer.Option(help="Share of the owners who are active on a day, 0 to 1.")] = 0.1,
    peak: Annotated[float, typer.Option(help="The busiest second to the mean one.")] = 5.0,
    text: Annotated[int, typer.Option(help="Bytes of a text in the mean.")] = 142,
    days: Annotated[int, typer.Option(help="How long events come; what is told is as it stands then.")] = 365,
    replicas: Annotated[int, typer.Option(help="Of each primary.")] = 1,
    primaries: Annotated[int | None, typer.Option(help="How many there are; without it as many as it takes.")] = None,
    node_gib: Annotated[float, typer.Option(help="Memory of a node, GiB.")] = 64.0,
    hot_hours: Annotated[
        float | None,
        typer.Option(help="Also what it would take if the log of so many hours alone lay in Redis: not so today."),
    ] = None,
    sealed: Annotated[bool, typer.Option("--sealed", help="Of a sealed store.")] = False,
    from_capacity: Annotated[
        str | None,
        typer.Option(
            help="What `engramlog capacity --json` printed of a store, - for what is piped in: its bytes count."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Tell the nodes, memory, disk and processes that a store takes, by what was measured. Opens no store.

    Each line has the likely amount, the least and the most, and the figures that it comes from (docs/planning.md). Nothing is
    promised: what lies far beyond what was measured is told as such.
    """
    import msgspec

    from ops.planning.asked import Demand, check_demand, read_present
    from ops.planning.plan import plan as reckon

    present = None if from_capacity is None else read_present(_read(from_capacity))
    if events_per_day is None:
        events_per_day = present.events_a_day if present else None
    if events_per_day is None:
        raise refused(
            "events_per_day", None, "events a day, or --from-capacity with a store that has grown for an hour"
        )
    demand = Demand(
        events_per_day=events_per_day, owners=owners, memories_per_owner=memories_per_owner, active=active, peak=peak,
        text=text, days=days, replicas=replicas, primaries=primaries, node_gib=node_gib, hot_hours=hot_hours, sealed=sealed,
    )  # fmt: skip
    answer = reckon(check_demand(demand), present)
    if json:
        print_json(msgspec.to_builtins(answer))
        return
    _render(answer)


def _read(file: str) -> bytes:
    try:
        if file == "-":
            return sys.stdin.buffer.read(MOST_BYTES)
        with Path(file).open("rb") as opened:
            return opened.read(MOST_BYTES)
    except OSError as error:
        raise refused("from_capacity", file, f"a file that can be read ({error.strerror})") from error


def _render(answer: SizePlan) -> None:
    for told in answer.assumptions:
        out.print(Text(told, "dim"), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for name in ("what", "likely", "from", "to"):
        table.add_column(name, justify="left" if name == "what" else "right", no_wrap=True)
    table.add_column("by")
    for line in answer.lines:
        table.add_row(*_row(line))
    out.print(table)
    for one in answer.warnings:
        out.print(Text(f"{one.code}: {one.told}", "yellow"), soft_wrap=True)


def _row(line: PlanLine) -> tuple[str, ...]:
    likely, low, high = (_told(one, line.unit) for one in (line.amount.likely, line.amount.low, line.amount.high))
    by = f" ({', '.join(line.by)})" if line.by else ""
    return line.name, likely, low, high, f"{line.told}{by}"


def _told(amount: float, unit: str) -> str:
    """Two digits, or three: no more is known."""
    if unit.startswith("bytes"):
        number = 0
        while amount >= 1_000 and number < len(_UNITS) - 1:
            amount, number = amount / 1_000, number + 1
        return f"{_short(amount)} {_UNITS[number]}{unit[5:]}"
    if unit in _SECONDS:
        return _lasting(amount * _SECONDS[unit])
    return f"{_short(amount)} {unit}".rstrip()


def _lasting(seconds: float) -> str:
    """A time in the unit in which it reads best."""
    unit, size = next(((unit, size) for unit, size in _LASTING if seconds >= 2 * size), ("s", 1.0))
    return f"{_short(seconds / size)} {unit}"


def _short(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 10 or amount == int(amount) else f"{amount:.2g}"
