"""Answers as tables and trees for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from api.cli.app import out


def _number(value: float | None, places: int = 4) -> str:
    return "-" if value is None else f"{value:.{places}f}"


def _day(text: str | None) -> str:
    return "-" if text is None else text[:16].replace("T", " ")


def withheld(answer: dict[str, Any]) -> None:
    """What the mode left out, and which mode shows it."""
    for item in answer["withheld"]:
        out.print(f"[dim]withheld: {item['count']} {item['reason'].replace('_', ' ')} (shown by {item['shown_by']})[/]")


def place(answer: dict[str, Any]) -> str:
    """Where and when an answer was computed."""
    return f"{answer.get('mode', '')} mode, position {answer['position']}" + (
        f", as of {answer['as_of']}" if answer.get("as_of") else ""
    )


def results(answer: dict[str, Any]) -> None:
    """Search results."""
    table = Table(title=place(answer), title_justify="left", title_style="dim")
    for name, style in (
        ("id", "cyan"),
        ("memory", ""),
        ("score", "green"),
        ("weight", ""),
        ("level", ""),
        ("when", "dim"),
        ("status", ""),
    ):
        table.add_column(name, style=style, no_wrap=name not in ("memory", "id"), overflow="fold")
    for r in answer["results"]:
        text = f"{r['speaker']}: {r['memory']}" if r["speaker"] else r["memory"]
        state = "" if r["status"] == "live" else r["status"]
        table.add_row(
            escape(r["id"]),
            escape(text),
            _number(r["score"], 3),
            _number(r["weight"], 3),
            r["level"],
            _day(r["created_at"]),
            state,
        )
    out.print(table if answer["results"] else "[yellow]Nothing found.[/]")
    withheld(answer)


def memories(answer: dict[str, Any]) -> None:
    """A list of memories."""
    table = Table(title=f"{answer['total']} memories, {place(answer)}", title_justify="left", title_style="dim")
    for name in ("id", "memory", "category", "weight", "level", "active", "status"):
        table.add_column(name, style="cyan" if name == "id" else "", overflow="fold")
    for m in answer["memories"]:
        table.add_row(
            escape(m["id"]),
            escape(m["memory"][:160]),
            m["category"],
            _number(m["weight"], 3),
            m["level"],
            _day(m["last_activated_at"]),
            m["status"],
        )
    out.print(table)
    withheld(answer)


def fields(answer: dict[str, Any], *, leave_out: Sequence[str] = ()) -> None:
    """Everything of one memory, a field a line."""
    table = Table(show_header=False, box=None, padding=(0, 1))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in answer.items():
        if name in leave_out or value in (None, [], {}):
            continue
        table.add_row(name, escape(str(value)))
    out.print(table)


def changes(rows: Sequence[dict[str, Any]]) -> None:
    """Change-log entries."""
    table = Table(title="change log", title_justify="left", title_style="dim")
    for name in ("position", "time", "event", "memory", "decision", "reason", "old", "new", "delta"):
        table.add_column(name, overflow="fold")
    for c in rows:
        colour = {"ignored": "dim", "negate": "red", "reaffirm": "green", "delete": "red"}.get(c["decision"], "")
        delta = "-" if c["delta"] is None else f"{c['delta']:+.4f}"
        decision = f"[{colour}]{c['decision']}[/]" if colour else c["decision"]
        row = (
            c["position"],
            _day(c["time"]),
            c["event"],
            escape(c["memory"] or "(owner)"),
            decision,
            escape(c["reason"]),
        )
        table.add_row(*row, _number(c["old_weight"]), _number(c["new_weight"]), delta)
    out.print(table)


def reasons(answer: dict[str, Any]) -> None:
    """Why a memory weighs what it weighs."""
    out.print(f"[bold]{escape(answer['id'])}[/] {escape(answer['memory'])}")
    product = " x ".join(f"{name} {value:.4f}" for name, value in answer["factors"].items())
    out.print(
        f"weight [bold green]{answer['weight']:.4f}[/] (unclipped {answer['unclipped_weight']:.4f}) under the {answer['law']} law"
    )
    out.print(f"  = {product}")
    state = "negated" if answer["is_negated"] else "not negated"
    out.print(
        f"level {answer['level']}, {answer['status']}, {state}, {answer['mention_count']} statement(s), position {answer['position']}"
    )
    changes(answer["changes"])
    origins(answer["provenance"])


def origins(told: dict[str, Any]) -> None:
    """The provenance tree."""
    trees: dict[str, Tree] = {}
    root = None
    for node in told["nodes"]:
        events = ", ".join(f"{e['event']} {e['position']}" for e in node["events"][:6])
        turns = f"  turns {', '.join(node.get('source_turns', [])[:8])}" if node.get("source_turns") else ""
        label = f"[cyan]{escape(node['id'])}[/] {'' if node['relation'] == 'root' else '(' + node['relation'] + ')'}{escape(turns)}  [dim]{events}[/]"
        if node["parent"] is None:
            root = trees[node["id"]] = Tree(label)
        else:
            trees[node["id"]] = trees[node["parent"]].add(label)
    out.print("[dim]provenance[/]")
    if root is not None:
        out.print(root)


def effects(answer: dict[str, Any]) -> None:
    """What a verb did."""
    told = {
        name: value
        for name, value in answer.items()
        if name not in ("changes", "owner", "position") and value is not None
    }
    out.print(
        "  ".join(f"[dim]{name}[/] {escape(str(value))}" for name, value in told.items())
        + f"  [dim]at {answer['position']}[/]"
    )
    changes(answer["changes"])


def partitions(answer: dict[str, Any]) -> None:
    """The store's partitions."""
    table = Table(title=f"store {answer['store_id']}", title_justify="left", title_style="dim")
    for name in ("partition", "head", "checkpoint", "lag", "holder", "epoch", "build", "quarantined"):
        table.add_column(
            name,
            justify="right" if name in ("partition", "head", "checkpoint", "lag", "epoch") else "left",
            overflow="fold",
        )
    for p in answer["partitions"]:
        lag = f"[yellow]{p['lag']}[/]" if p["lag"] else "0"
        row = (
            str(p["partition"]),
            str(p["head"]),
            str(p["checkpoint"]),
            lag,
            p["holder"] or "-",
            str(p["epoch"]),
            p["build"],
        )
        table.add_row(*row, escape(", ".join(p["quarantined"])))
    out.print(table)
    memory = answer["memory"]
    used = memory.get("used_bytes")
    out.print(
        f"{answer['events']:,} events, {answer['memories']:,} memories, lag {answer['lag']}, {len(answer['workers'])} worker(s)"
        + (f", {used / 1e6:,.1f} MB in Redis ({memory.get('bytes_an_event', 0):,.0f} bytes an event)" if used else "")
    )
    if memory.get("warning"):
        out.print(f"[yellow]{memory['warning']}[/]")
    out.print(f"[dim]{answer['notice']}[/]")
