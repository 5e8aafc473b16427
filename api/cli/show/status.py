"""The state of the store, a line for each thing and a table of troubles; and strengths of memories as coloured bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.show.generic import answer, part, size, value_text
from engramlog_server.api.cli.show.memories import part_of, times_of
from engramlog_server.api.cli.show.tables import Column, figure, has_room, ident, instant, plain, tabulate, words
from engramlog_server.events.text import many
from engramlog_server.projections import shapes

TOLD = frozenset(
    {"store_id", "at", "events", "memories", "lag", "workers", "memory", "lifecycle", "listening", "sealed", "sealing", "embedder",
     "notice", "nodes", "partitions", "inboxes", "accesses", "backed_up", "refused"}
)  # fmt: skip
"""Fields that have a line here, if all is well."""


def store(told: Mapping[str, Any], console: Console = out) -> None:
    """Print the lines, then what needs somebody."""
    answer(
        {
            "store": told["store_id"],
            "at": told["at"],
            "events": f"{told['events']:,}, {_folded(told)}" if told["events"] else "none",
            "memories": told["memories"],
            "workers": _workers(told["workers"]),
            "memory": _room(told["memory"]),
            "jobs": _jobs(told["lifecycle"]),
            "inboxes": _counted(told["inboxes"]),
            "refused": told["refused"] or None,
            "accesses": _counted(
                {name: count for name, count in told["accesses"].items() if name not in ("recorded", "blocks")}
            ),
            "embedder": _embedder(told["embedder"]),
            "listening": _listening(told["listening"]),
            "backed up": told["backed_up"],
            "contents": told["notice"].removeprefix("contents are "),
        },
        console,
    )
    part({name: value for name, value in _troubles(told).items() if value}, console)
    console.print(
        Text("--jobs, --capacity, --models and --owners show more; --json has every partition, worker and node", "dim"),
        soft_wrap=True,
    )


def _folded(told: Mapping[str, Any]) -> str:
    return f"{told['lag']:,} of them wait to be folded" if told["lag"] else "all of them folded"


def _workers(workers: list[Mapping[str, Any]]) -> str | None:
    named = (f"{one['worker']} ({many(len(one['partitions']), 'partition')})" for one in workers)
    return ", ".join(named) or None


def _room(memory: Mapping[str, Any]) -> str:
    if memory["max_bytes"] is None:
        return f"{size(memory['used_bytes'])}, without a limit"
    text = f"{size(memory['used_bytes'])} of {size(memory['max_bytes'])}"
    an_event = value_text("bytes_an_event", memory["bytes_an_event"])
    if an_event == "-" or memory["events_until_full"] is None:
        return text
    return f"{text}, {an_event} bytes an event: room for {memory['events_until_full']:,} more"


def _jobs(lifecycle: Mapping[str, Any]) -> str:
    if lifecycle["leader"] is None:
        return "none: nothing is scheduled"
    counts = ", ".join(
        f"{lifecycle[name]:,} {name}" for name in ("queued", "running", "failed") if lifecycle[name] is not None
    )
    following = lifecycle["next_tick"]
    return ", ".join(one for one in (counts, following and f"next at {following[11:16]} UTC") if one)


def _counted(counts: Mapping[str, Any]) -> str | None:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or None


def _embedder(embedder: Mapping[str, Any] | None) -> str | None:
    if embedder is None:
        return None
    loaded = embedder.get("loaded")
    return f"{embedder['name']}{f' ({plain(loaded)})' if loaded else ''}"


def _listening(listening: Mapping[str, Any] | None) -> str | None:
    if listening is None:
        return None
    ends = listening["certificate_ends"]
    return f"by {listening['by']}{f', certificate until {ends[:10]}' if ends else ''}"


def _troubles(told: Mapping[str, Any]) -> dict[str, Any]:
    """What is not as it should be, and fields that have no line here."""
    lifecycle, held = told["lifecycle"], bool(told["workers"])
    strange = [
        one
        for one in told["partitions"]
        if one["lag"] or one["quarantined"] or one["rebuild"] or (held and one["holder"] is None)
    ]
    nodes = told["nodes"] if len(told["nodes"]) > 1 else [one for one in told["nodes"] if one["problem"]]
    return {
        "jobs": {name: lifecycle.get(name) for name in ("stopped", "problem") if lifecycle.get(name)},
        "sealing": told["sealing"] if told["sealing"]["problem"] or told["sealing"]["owners_locked"] else None,
        "embedder": {"missing": missing} if (missing := (told["embedder"] or {}).get("missing")) else None,
        "partitions": strange,
        "nodes": nodes,
    } | {name: value for name, value in told.items() if name not in TOLD}


BAR = 20
"""Columns of a bar of strength 100, half as many where there is no room."""


def health(answer: shapes.MemoryHealth, console: Console = out) -> None:
    """All live memories, a bar each."""
    total, colours = answer["total"], answer["colours"]
    if not total:
        console.print(f"[yellow]No live memories[/] [dim](position {_place(answer)})[/]")
        return
    counts = ", ".join(f"[{name}]{count:,} {name}[/]" for name, count in colours.items())
    console.print(
        f"{_part(answer)}{many(total, 'live memory', 'live memories')}, mean strength {answer['mean_strength']:g}: {counts}"
        f"  [dim]{_profile_of(answer)}[/]"
    )
    _strengths(answer, console)


def fading(answer: shapes.Fading, console: Console = out) -> None:
    """What is nearly forgotten."""
    total = answer["total"]
    if not total:
        console.print(
            f"[green]Nothing is fading[/]: none of {many(answer['live'], 'live memory', 'live memories')} is under strength"
            f" {answer['under']} [dim](position {_place(answer)})[/]"
        )
        return
    console.print(
        f"{_part(answer)}{total:,} of {many(answer['live'], 'live memory', 'live memories')} under strength {answer['under']}"
        f"  [dim]{_profile_of(answer)}[/]"
    )
    _strengths(answer, console)
    console.print("[dim]`engramlog reinforce OWNER ID` holds one better[/]")


def _strengths(answer: shapes.MemoryHealth | shapes.Fading, console: Console) -> None:
    found = answer["memories"]
    if not found:
        console.print(f"[dim]{answer['offset']:,} were passed over[/]")
        return
    columns = [
        ident(),
        Column("strength"),
        words("memory"),
        figure("stability", "stability_hours", _hours),
        instant("reinforced", "last_reinforced_at", if_room=True),
        *([instant("archives", "archives_at")] if any(m["archives_at"] for m in found) else []),
        *([instant("deletes", "deletes_at")] if any(m["deletes_at"] for m in found) else []),
    ]
    tabulate(columns, [{**m, "strength": _bar(m["strength"], m["colour"], console)} for m in found], console)
    if any(m["archives_at"] or m["deletes_at"] for m in found):
        console.print(
            f"[dim]archives, deletes: what the {answer['profile']} law does if nothing touches them; the next sweep carries out"
            " what has passed[/]"
        )


def _bar(strength: int, colour: str, console: Console) -> Text:
    """The strength as a bar and in figures; at least a mark where anything is left."""
    width = BAR if has_room(console) else BAR // 2
    full, empty = ("#", ".") if console.options.ascii_only else ("█", "░")
    filled = max(round(strength * width / 100), 1 if strength else 0)
    return Text.assemble((f"{strength:3d} ", colour), (full * filled, colour), (empty * (width - filled), "dim"))


def _hours(hours: float) -> str:
    return f"{hours:,.1f} h" if hours < 1000 else f"{hours / 24:,.0f} d"


def _part(answer: shapes.MemoryHealth | shapes.Fading) -> str:
    """Which page it is, where it is not all."""
    return part_of(answer["offset"], len(answer["memories"]), answer["total"])


def _place(answer: Mapping[str, object]) -> str:
    return escape(f"{answer['position']}{times_of(answer)}")


def _profile_of(answer: shapes.MemoryHealth | shapes.Fading) -> str:
    return f"profile {answer['profile']}, position {_place(answer)}"
