"""Jobs, capacity and what models took, for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import told_at
from api.cli.show.tables import Column, figure, tabulate
from projections import shapes

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
STATES = ("running", "again", "failed", "queued")


def jobs(told: shapes.JobBoard, console: Console = out) -> None:
    """Each kind of job, why one stopped, and the jobs that run, wait or failed."""
    if told["problem"] is not None:
        console.print(Text(f"the queue does not answer: {told['problem']}", "yellow"))
        return
    scheduled = f"scheduled by {told['leader']}" if told["leader"] else "no job worker, so nothing is scheduled"
    console.print(Text(f"{scheduled}, {told_at(told['at'])}", "dim" if told["leader"] else "yellow"))
    columns = (
        Column("kind"),
        Column("every", "every_minutes", lambda minutes: f"{minutes:g} min" if minutes else "-"),
        Column("last done", "last_done", told_at),
        Column("next", "next_tick", told_at),
        Column("took", "seconds", lambda seconds: "-" if seconds is None else f"{seconds:g} s"),
        *map(figure, STATES),
    )
    tabulate(columns, told["kinds"], console)
    for kind in told["kinds"]:
        for stop in kind["stopped"]:
            many = len(stop["partitions"])
            where = f"{many:,} partition{'' if many == 1 else 's'}"
            console.print(Text(f"{kind['kind']} stopped in {where}: {stop['reason']}", "yellow"))
    for one in told["jobs"]:
        if one["state"] in ("failed", "again"):
            following = f", again {told_at(one['next_try'])}" if one["next_try"] else ""
            line = (
                f"{one['state']}: {one['kind']} of partition {one['partition']}, tick {told_at(one['tick'])}{following}"
            )
            console.print(Text(f"{line}: {one['error'] or 'nothing tells why'}", "red" if not following else "yellow"))
    if told["left_out"]:
        console.print(Text(f"{told['left_out']:,} more jobs", "dim"))


def capacity(told: shapes.Capacity, console: Console = out) -> None:
    """Memory and disk until they are full."""
    memory, disk = told["memory"], told["disk"]
    console.print(Text(f"{told['events']:,} events; {told['growth']['basis']}", "dim"))
    for one in told.get("nodes") or ():
        lasts = "" if one["days_until_full"] is None else f", appends are refused in {one['days_until_full']:,.1f} days"
        console.print(Text(f"node {one['node']}: {_memory(one)}{lasts}", "dim"))
    of = f" of {node}, the fullest node" if (node := memory.get("node")) else ""
    console.print(Text(f"memory{of}: {_memory(memory)}"))
    _until("appends are refused", memory["days_until_full"], memory["full_at"], memory["unknown"], console)
    for part in told["parts"]:
        each = "" if part["bytes_an_event"] is None else f", {part['bytes_an_event']:,.0f} bytes an event"
        console.print(Text(f"  {part['part']}: {_size(part['bytes'])}{each}", "dim"))
    if disk["free_bytes"] is not None:
        console.print(Text(f"disk: {_size(disk['free_bytes'])} free of {_size(disk['total_bytes'])}"))
        if disk["low_at"]:
            _until("a rewrite of the log may find no room", disk["days_until_low"], disk["low_at"], None, console)
    else:
        console.print(Text("disk:"))
    _until("no writes are taken", disk["days_until_full"], disk["full_at"], disk["unknown"], console)
    console.print(Text(f"append-only file: {_size(told['aof']['bytes'])}", "dim"))


def _memory(memory: shapes.MemoryCapacity) -> str:
    most = f" of {_size(memory['max_bytes'])}" if memory["max_bytes"] else ""
    share = f" ({memory['used_share']:.1%})" if memory["used_share"] is not None else ""
    return f"{_size(memory['used_bytes'])}{most}{share}"


def _until(what: str, days: float | None, at: str | None, unknown: str | None, console: Console) -> None:
    if days is None:
        console.print(Text(f"  until {what}: {unknown}", "dim"))
    else:
        style = "red" if days < 7 else "yellow" if days < 30 else ""
        console.print(Text(f"  {what} in {days:,.1f} days, {told_at(at)}", style))


def _size(size: int | None) -> str:
    if size is None:
        return "unknown"
    value, unit = float(size), 0
    while value >= 1_024 and unit < len(UNITS) - 1:
        value, unit = value / 1_024, unit + 1
    return f"{value:,.1f} {UNITS[unit]}" if unit else f"{size:,} bytes"


def models(told: shapes.ModelsUsed, console: Console = out) -> None:
    """The models that are set, and what asking them took."""
    chat, embedder = told["chat"], told["embedder"]
    if chat is None:
        console.print(Text("no language model is set", "dim"))
    else:
        ways = ", ".join(f"{name} {chat[name]}" for name in ("extraction", "reviewer", "summaries"))
        console.print(Text(f"language model {chat['model']} at {chat['host']}: {ways}"))
    if embedder is None:
        console.print(Text("no embedder is set", "dim"))
    else:
        where = f" at {embedder['host']}" if embedder["host"] else ""
        console.print(Text(f"embedder {embedder['name']}{where}"))
    if not told["used"]:
        console.print(Text("no question to a language model was counted yet", "dim"))
        return
    console.print(Text(f"counted since {told['since']}", "dim"))
    figures = (figure("asked"), figure("failed"), figure("requests"))
    tokens = (figure("tokens in", "input_tokens"), figure("tokens out", "output_tokens"))
    rows = [{**one, "day": "in all"} for one in told["used"]] + [{**one} for one in told["days"]]
    tabulate((Column("day"), Column("model"), Column("use"), *figures, *tokens), rows, console)
    if told["lost"]:
        console.print(Text(f"{told['lost']:,} questions could not be counted: the store did not take it", "yellow"))
