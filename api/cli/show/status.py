"""The state of the store as an operator reads it: a line for each thing, and a table only of what is not as it should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.show.generic import answer, part, size, told_value
from engramlog_server.api.cli.show.tables import plain
from engramlog_server.events.text import many

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
    an_event = told_value("bytes_an_event", memory["bytes_an_event"])
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
