"""What `engramlog bench scale` found, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from api.cli.app import out

_GROWTH = (
    "layout",
    "sealed",
    "events",
    "owners_at_once",
    "rounds",
    "append_us",
    "redis_us",
    "replicas_us",
    "fold_us",
    "aof_bytes",
    "redis_bytes",
)
_WORKERS = (
    "layout",
    "events",
    "workers",
    "rounds",
    "fold_us",
    "fold_us_span",
    "redis_us",
    "partitions",
    "largest_share",
)
_SLICES = (
    "layout",
    "owners_at_once",
    "before",
    "append_us",
    "redis_us",
    "fold_us",
    "aof_bytes",
    "redis_bytes",
    "worker_bytes",
)
_KINDS = ("stream_bytes", "changes_bytes", "records_bytes", "dedupe_bytes", "owners_bytes", "salts_bytes", "rest_bytes")
_SIZES = ("layout", "sealed", "events", *_KINDS, "owner_bytes", "memory_bytes", "resident_to_used")
_TEXTS = (
    "texts",
    "sealed",
    "body_bytes",
    "stream_bytes",
    "memory_bytes",
    "aof_bytes",
    "redis_us",
    "fold_us",
    "append_us",
)
_AGAIN = (
    "events",
    "sealed",
    "rebuild_us",
    "verify_us",
    "file_bytes",
    "ready_seconds",
    "ready_us",
    "rewritten_bytes",
    "fork_us",
)
_IDLE = ("layout", "partitions", "commands_a_second", "worker_percent", "redis_percent")
_FLAT = ("what", "of", "before", "after", "ratio", "flat_up_to", "rounds", "verdict")
TABLES = {
    "growth": ("stores that grow: microseconds of CPU and bytes an event", _GROWTH),
    "slices": ("the same, part after part of the largest store", _SLICES),
    "workers": ("one log folded again: microseconds of CPU an event", _WORKERS),
    "sizes": ("memory of Redis, bytes an event, an owner, a memory", _SIZES),
    "texts": ("by what people say", _TEXTS),
    "again": ("reading it again: microseconds of CPU an event, bytes of the file, seconds by the clock", _AGAIN),
    "idle": ("a worker with nothing to do", _IDLE),
    "flat": ("what stays what it is", _FLAT),
}  # fmt: skip


def render(answer: dict[str, Any]) -> None:
    """Print what was measured."""
    out.print(f"[dim]{answer['machine']}, load {answer['load'][0]}[/]")
    told = answer["scale"]
    for name, (title, columns) in TABLES.items():
        _table(title, columns, told[name])
    for name, seconds in told["standstill"].items():
        out.print(f"{name.replace('_', ' ')}: {', '.join(map(str, seconds))} s by the clock")


def _table(title: str, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    table = Table(title=title, title_justify="left", title_style="dim")
    for name in columns:
        table.add_column(
            name.replace("_", " "), justify="left" if name in ("layout", "what", "of", "texts") else "right"
        )
    for row in rows:
        style = "red" if row.get("verdict") == "not flat" else None
        table.add_row(*(_cell(row[name]) for name in columns), style=style)
    out.print(table)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " - ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
