"""Past releases: what was measured of them, a row a run, in a file of the repository; and what is slower now, in words."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from api.version import program_version

FILE = Path(__file__).parent / "history.jsonl"
TOLD = 0.15
"""A figure that differs by more than this share is told."""
Figures = dict[str, float]
Row = dict[str, Any]
_COSTS = ("client_us", "server_us", "aof_bytes")


def figures(answer: Mapping[str, Any]) -> Figures:
    """What of an answer is kept: less is better in each."""
    return dict(_figures(answer))


def _figures(answer: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for row in answer.get("fold_costs", ()):
        how = f"live {row['at_a_time']}" if row["at_a_time"] else f"backlog, workers {row['workers']}"
        yield from _costs(f"fold, {row['texts']}, {how}, owners {row['owners']}", row)
    for row in answer.get("append_costs", ()):
        yield from _costs(f"append, {row['texts']}, from {row['way']}, {row['at_a_time']} at a time", row)
    for row in answer.get("rebuild_costs", ()):
        yield from _costs(f"rebuild, {row['texts']}", row)
    for row in answer.get("rules", ()):
        yield f"rules, {row['texts']}, rules_us", row["rules_us"]
    if held := answer.get("held"):
        yield f"owners held, {held['owners'][1]} to {held['owners'][0]}, times", held["times"]
    for name in ("append", "fold", "rebuild"):
        for row in answer.get(name, ()):
            yield f"{row['what']}, by clock, us", row["microseconds_each"]
    for row in answer.get("search", {}).get("rows", ()):
        yield (
            f"search, {row['memories']} {row['texts']}, {row['events_a_second']} a second, p50_ms",
            row["whole_ms"]["p50"],
        )


def _costs(what: str, row: Row) -> Iterator[tuple[str, float]]:
    for name in _COSTS:
        yield f"{what}, {name}", row[name]


def rows(file: Path = FILE) -> list[Row]:
    """Every row, oldest first. Raises OSError and orjson.JSONDecodeError where the file is not what `record` writes."""
    return [orjson.loads(line) for line in file.read_bytes().splitlines() if line]


def row_of(answer: Mapping[str, Any], command: str, now: datetime | None = None) -> Row:
    """A run as it is kept."""
    return {
        "release": program_version(),
        "commit": _commit(),
        "date": (now or datetime.now(UTC)).date().isoformat(),
        "machine": answer["machine"],
        "load": answer["load"][0],
        "command": command,
        "figures": figures(answer),
    }


def record(row: Row, file: Path = FILE) -> None:
    """Add a row at the end."""
    with file.open("ab") as written:
        written.write(orjson.dumps(row) + b"\n")


def _commit() -> str:
    """Of the checkout, short, with `+` where files differ from it; empty where there is none."""
    command = ["git", "-C", str(FILE.parent), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def compared(row: Row, past: list[Row]) -> Row:
    """Each figure beside the newest one of the same name on the same kind of machine; `told` says what differs, in words."""
    found, told = [], []
    for name, now in row["figures"].items():
        before = next(
            (one for one in reversed(past) if name in one["figures"] and one["machine"] == row["machine"]), None
        )
        if before is None:
            continue
        was = before["figures"][name]
        found.append({"figure": name, "was": was, "now": now, "release": before["release"], "commit": before["commit"]})
        if was and abs(now / was - 1) > TOLD:
            word = "worse" if now > was else "better"
            at = f"{before['release']} ({before['commit'] or 'no commit'}, {before['date']}, load {before['load']})"
            told.append(
                f"{word} by {abs(now / was - 1):.0%}: {name}: {was:g} at {at}, {now:g} now (load {row['load']})"
            )
    compared_with = f"{len(found)} of {len(row['figures'])} figures were measured before on {row['machine']}"
    return {"rows": found, "told": sorted(told, reverse=True), "compared": compared_with}
