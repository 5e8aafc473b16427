"""Answers about a whole store or owner, and comparisons, as tables for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.markup import escape
from rich.text import Text

from api import shapes
from api.cli.app import out
from api.cli.show.memories import told_at
from api.cli.show.tables import grid
from events.partitions import ranges

RIGHT = ("partition", "head", "checkpoint", "lag", "epoch", "memories")


def partitions(answer: dict[str, Any]) -> None:
    """The store's partitions, workers and memory."""
    out.print(f"[dim]store {answer['store_id']}[/]")
    table = grid()
    for name in ("partition", "head", "checkpoint", "lag", "memories", "holder", "epoch", "build", "quarantined"):
        table.add_column(name, justify="right" if name in RIGHT else "left", overflow="fold")
    for p in answer["partitions"]:
        age = f" {p['checkpoint_age']:,.0f} s" if p["checkpoint_age"] else ""
        lag = f"[yellow]{p['lag']:,}{age}[/]" if p["lag"] else "0"
        figures = (f"{p['head']:,}", f"{p['checkpoint']:,}", lag, f"{p['memories']:,}")
        owners = f"[red]{escape(', '.join(p['quarantined']))}[/]" if p["quarantined"] else ""
        table.add_row(
            str(p["partition"]), *figures, escape(p["holder"] or "-"), str(p["epoch"]), escape(p["build"]), owners
        )
    out.print(table)
    _nodes(answer)
    workers = len(answer["workers"])
    rest = "without those: " if answer.get("unreachable") else ""
    out.print(
        f"{rest}{answer['events']:,} events, {answer['memories']:,} memories, lag {answer['lag']:,},"
        f" {workers} worker{'' if workers == 1 else 's'}{_used(answer['memory'])}"
    )
    if answer["memory"].get("warning"):
        out.print(f"[yellow]{answer['memory']['warning']}[/]")
    for alarm in answer["alarms"]:
        colour, about = ("red" if alarm["severity"] == "stopped" else "yellow"), escape(alarm["subject"])
        out.print(f"[{colour}]alarm {escape(alarm['name'])}[/] {about}: {escape(alarm['text'])}")
    if waiting := answer["inboxes"]["waiting"]:
        full = answer["inboxes"]["full"]
        wait = "thing waits" if waiting == 1 else "things wait"
        told = f"; [yellow]{full:,} {'inbox is' if full == 1 else 'inboxes are'} full[/]" if full else ""
        out.print(f"{waiting:,} {wait} for a person{told}")
    if refused := answer["refused"]:
        out.print(
            f"{refused:,} {'event says' if refused == 1 else 'events say'} what was rejected, and changed nothing"
        )
    if lost := answer["accesses"]["lost"]:
        out.print(f"[yellow]{lost:,} accesses were not recorded since the alarm was last cleared[/]")
    if embedder := answer["embedder"]:
        out.print(_embedder(embedder))
    out.print(_schedule(answer["lifecycle"]))
    if made := answer.get("backed_up"):
        out.print(f"[dim]last backup: as it stood at {told_at(made)}[/]")
    if (sealing := answer.get("sealing")) and sealing["on"]:
        out.print(_sealing(sealing))
    else:
        out.print(f"[dim]{escape(answer['notice'])}[/]")


def _nodes(answer: Mapping[str, Any]) -> None:
    """The servers of a Cluster, or one with replicas, and what of the store cannot be reached."""
    nodes: list[shapes.NodeStanding] = answer.get("nodes") or []  # an older service tells none
    if len(nodes) > 1 or any(one["replicas"] or not one["reachable"] for one in nodes):
        table = grid()
        for name in ("node", "slots", "partitions", "memory", "fsynced", "replicas"):
            table.add_column(name, justify="right" if name in ("slots", "memory") else "left", overflow="fold")
        for one in nodes:
            table.add_row(*_node(one))
        out.print(table)
    for one in nodes:
        if one["problem"]:
            out.print(Text(f"{one['name']} cannot be reached: {one['problem']}", "red"))
    for away in answer.get("unreachable") or ():
        where = f" of {away['node']}" if away["node"] else ""
        out.print(Text(f"partitions {ranges(away['partitions'])}{where} cannot be read: {away['problem']}", "red"))
    if unread := answer.get("unread"):
        out.print(Text(f"not told, since it lies on a node that is away: {', '.join(unread)}", "red"))


def _node(one: shapes.NodeStanding) -> list[str | Text]:
    used = "-" if one["used_bytes"] is None else f"{one['used_bytes'] / 1e6:,.1f} MB"
    share = "" if one["used_share"] is None else f" ({one['used_share']:.0%})"
    replicas = [
        f"{replica['name']} {replica['state']}"
        + (f", {replica['behind_bytes']:,} bytes behind" if replica["behind_bytes"] else "")
        for replica in one["replicas"]
    ]
    return [
        Text(one["name"], "" if one["reachable"] else "red"),
        "-" if one["slots"] is None else f"{one['slots']:,}",
        ranges(one["partitions"]) or "-",
        f"{used}{share}",
        {True: "yes", False: "no", None: "-"}[one["fsynced"]],
        Text("; ".join(replicas) or "none", "" if one["replicas"] else "dim"),
    ]


def _sealing(told: shapes.SealingTold) -> Text:
    """Under what contents are sealed, and what is amiss with it."""
    amiss = f"; it cannot be had: {told['problem']}" if told["problem"] else ""
    if locked := told["owners_locked"]:
        amiss += f"; {locked:,} owner{' waits' if locked == 1 else 's wait'} for {'its key' if locked == 1 else 'their keys'}"
    return Text(
        f"sealed under the master key {told['key']}{amiss or ': without it nobody can read them'}",
        "yellow" if amiss else "",
    )


def _embedder(told: shapes.EmbedderStanding) -> Text:
    """What compares meanings in the process that answers."""
    loaded = f"loaded {', '.join(told['loaded'])}" if told["loaded"] else "not loaded yet"
    missing = f"; missing here: {', '.join(told['missing'])}" if told["missing"] else ""
    return Text(f"meanings: {told['name']}, by the {told['chosen_by']}; {loaded}{missing}", "yellow" if missing else "")


def _schedule(told: dict[str, Any]) -> Text:
    """Who schedules the lifecycle jobs, and how they stand."""
    if told.get("problem"):
        return Text(f"lifecycle: the queue does not answer ({told['problem']})", "yellow")
    ticks = f"last tick {told_at(told['last_tick'])}, next {told_at(told['next_tick'])}"
    jobs = f"{told['queued']:,} jobs queued, {told['running']:,} running, {told['failed']:,} failed"
    if told.get("refused"):
        jobs += f", {told['refused']:,} refused that were none of ours"
    if told["leader"] is None:
        return Text(f"lifecycle: no job worker, so nothing is scheduled; {ticks}; {jobs}", "dim")
    beside = "".join(
        f"\n{kind}: every {one['every_minutes']:g} min, last tick {told_at(one['last_tick'])}"
        for kind, one in told["beside"].items()
    )
    stopped = "".join(f"\n{kind} stopped: {reason}" for kind, reason in told["stopped"].items())
    return Text.assemble(f"lifecycle: scheduled by {told['leader']}; {ticks}; {jobs}{beside}", (stopped, "yellow"))


def _used(memory: dict[str, Any]) -> str:
    used = memory.get("used_bytes")
    if not used:
        return ""
    each, node = memory.get("bytes_an_event"), memory.get("node")
    where = f"its fullest node, {escape(node)}" if node else "Redis"
    return f", {used / 1e6:,.1f} MB in {where}" + (f" ({each:,.0f} bytes an event)" if each else "")
