"""Events of the log, printed: a line each with its first words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from engramlog_server.api.cli.app import err, out
from engramlog_server.api.cli.show.tables import Cell, Column, ident, tabulate, when, words
from engramlog_server.events.text import late_words
from engramlog_server.projections.shapes import LogEvents, LoggedEvent

WORDS = 160
"""Characters of an event's words at the most."""
_TOLD_FIRST = ("text", "content", "summary", "correction", "reason", "because", "query", "subject", "keyword", "ground")
_ABOUT = ("memory_id", "into", "turn_id", "profile", "position", "step")


def events(answer: LogEvents) -> None:
    """A page of events."""
    rows(answer["events"], whose=answer["owner"] is None)
    if answer["next"] is not None:
        looked = f"looked at {answer['looked']:,} events up to {answer['looked_to']}; more: --cursor {answer['next']}"
        out.print(f"[dim]{looked}[/]", soft_wrap=True)


def rows(found: Sequence[LoggedEvent], *, whose: bool) -> None:
    """Events as a table; `whose`: with their owners."""
    if not found:
        out.print("[dim]no events[/]")
        return
    columns = [
        Column("position"),
        Column("happened", is_time=True),
        Column("late", style="yellow"),
        ident("owner"),
        Column("type"),
        Column("who", style="dim", if_room=True),
        Column("session", style="dim", if_room=True),
        Column("about", is_id=True, if_room=True),
        words("words"),
    ]
    late = any(one["late_by"] is not None for one in found)
    left_out = {*(() if whose else ("owner",)), *(() if late else ("late",))}
    tabulate([column for column in columns if column.name not in left_out], [_row(one) for one in found])


def line(event: LoggedEvent, *, whose: bool) -> Text:
    """An event that came just now, in one line."""
    cells = _row(event)
    names = ("position", "happened", *(("owner",) if whose else ()), "late", "type", "who", "session", "about", "words")
    told = (str(cells[name]) for name in names)
    return Text("  ".join(one for one in told if one and one != "-"))


def waiting(answer: LogEvents) -> None:
    """That more is waited for, where people look on."""
    if err.is_terminal:
        err.print(f"[dim]following from {answer['head']}, times are UTC; Ctrl-C ends[/]")


def _row(event: LoggedEvent) -> dict[str, Cell]:
    data = event["data"] or {}
    who = "/".join(one for one in (event["actor"], event["principal"], event["model"]) if one)
    about = next((str(data[name]) for name in _ABOUT if data.get(name)), "-")
    return {
        "position": event["position"],
        "happened": Text("-") if event["occurred_at"] is None else when(event["occurred_at"], out),
        "late": "-" if event["late_by"] is None else late_words(event["late_by"]),
        "owner": Text(event["owner"]),
        "type": Text(event["type"], "" if event["folded"] is not False else "yellow"),
        "who": Text(who or "-"),
        "session": Text(event["session_id"] or "-"),
        "about": Text(about),
        "words": Text(_words(event, data)),
    }


def _words(event: LoggedEvent, data: Mapping[str, Any]) -> str:
    if event["problem"] is not None:
        return f"[undecodable, {event['bytes']:,} bytes: {event['problem']}]"
    told = [data[name] for name in _TOLD_FIRST if isinstance(data.get(name), str) and data[name].strip()]
    first = " ".join(told[0].split()) if told else ""
    waits = "" if event["folded"] is not False else "(not folded) "
    return waits + (first if len(first) <= WORDS else f"{first[: WORDS - 1]}…")
