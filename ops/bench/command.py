"""`engramlog bench`: figures as ratios against a limit, measured in one run, interleaved, medians of the rounds."""

from __future__ import annotations

import platform
from collections.abc import Callable
from os import cpu_count
from typing import Annotated, Any

import typer
from rich.table import Table

from api.cli.app import Json, app, err, out, show
from events.errors import refused

WHAT = ("append", "fold", "rebuild", "jobs", "search", "living", "space", "past", "extract", "door")
Rows = dict[str, Any]


@app.command(epilog="Example: `engramlog bench fold --rounds 7` or `engramlog bench all --json`")
def bench(
    what: Annotated[str, typer.Argument(help=f"{', '.join(WHAT)} or all.")] = "all",
    rounds: Annotated[int, typer.Option(help="Rounds of each comparison; the median counts.", min=1, max=100)] = 5,
    events: Annotated[int, typer.Option(help="Events in a round.", min=100, max=1_000_000)] = 10_000,
    profile: Annotated[bool, typer.Option("--profile", help="Show where the fold's time goes.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: to see that it runs, not to measure.")] = False,
    json: Json = False,
) -> None:
    """Measure against the limits, on a private Redis of its own: raw XADD and XRANGE, empty jobs, the parts of a search.

    The limit of `extract`, turns read by rules, is cutting the same made-up texts into terms once. `door` is what one caller can
    do to others: it starts an `engramlog up` of its own.
    """
    if what not in (*WHAT, "all"):
        raise refused("what", what, ", ".join((*WHAT, "all")))
    chosen = WHAT if what == "all" else (what,)
    answer = _run(chosen, 300 if quick else events, 2 if quick else rounds, quick=quick, profile=profile)
    show(answer, json, _render)


def _run(chosen: tuple[str, ...], events: int, rounds: int, *, quick: bool, profile: bool) -> Rows:
    from ops.bench import append, door, extract, fold, jobs, living, past, rebuild, search, space  # noqa: PLC0415 - needed by no other command
    from ops.bench import profile as profiled  # noqa: PLC0415
    from ops.bench.server import bench_server  # noqa: PLC0415
    from ops.settings import load_settings  # noqa: PLC0415

    sizes = (300,) if quick else search.SIZES
    with bench_server("everysec", redis_server=load_settings().redis_server) as server:
        measures: dict[str, Callable[[], Any]] = {
            "append": lambda: [one.as_dict() for one in append.measure(server, events, rounds)],
            "fold": lambda: [one.as_dict() for one in fold.measure(server, events, rounds)],
            "rebuild": lambda: [one.as_dict() for one in rebuild.measure(server, events, rounds)],
            "jobs": lambda: [one.as_dict() for one in jobs.measure(server, min(events, 2_000), rounds)],
            "search": lambda: search.measure(server, sizes, 20 if quick else search.QUERIES),
            "living": lambda: living.measure(sizes, max(rounds, 2)),
            "space": lambda: space.measure(server, min(events, 5_000)),
            "past": lambda: past.measure(server, events, max(rounds, 3)),
            "extract": lambda: [one.as_dict() for one in extract.measure(min(events, 2_000), rounds)],
            "door": lambda: door.measure(load_settings().redis_server, quick=quick),
        }
        answer: Rows = {
            "machine": f"{platform.machine()}, {cpu_count()} cores, Python {platform.python_version()}, Redis {server.version}"
        }
        for name in chosen:
            if err.is_terminal:
                err.print(f"[dim]measuring {name} ...[/]")
            answer[name] = measures[name]()
        if profile or "fold" in chosen:
            answer["profile"] = profiled.measure(server, events)
    return answer


def _render(answer: Rows) -> None:
    out.print(f"[dim]{answer['machine']}[/]")
    table = Table(title="ratios: our speed as a share of the limit's", title_justify="left", title_style="dim")
    for name in ("what", "against", "ratio", "from - to", "at least", "us each"):
        table.add_column(name, justify="left" if name in ("what", "against") else "right")
    for name in ("append", "fold", "rebuild", "jobs", "extract"):
        for row in answer.get(name, ()):
            least = row["at_least"]
            colour = "green" if least is None or row["ratio"] >= least else "red"
            spread = f"{row['ratio_min']} - {row['ratio_max']}"
            each = f"{row['microseconds_each']}"
            table.add_row(
                row["what"],
                row["limit"],
                f"[{colour}]{row['ratio']}[/]",
                spread,
                "-" if least is None else str(least),
                each,
            )
    if table.row_count:
        out.print(table)
    _render_search(answer.get("search", {}))
    _render_living(answer.get("living", ()))
    _render_door(answer.get("door", ()))
    for name in ("space", "past"):
        for field, value in answer.get(name, {}).items():
            out.print(f"{name}  {field.replace('_', ' ')}: {value}")
    for part, share in answer.get("profile", {}).get("shares", {}).items():
        out.print(f"profile  {part}: {share:.1%}")


def _render_door(rows: Any) -> None:
    for row in rows:
        colour = "green" if row["holds"] else "red"
        out.print(f"[{colour}]{row['found']}[/]  {row['scene']}: {row['what']} (at most {row['at_most']})")


def _render_living(rows: Any) -> None:
    if not rows:
        return
    table = Table(title="a large owner's life", title_justify="left", title_style="dim")
    table.add_column("memories")
    for row in rows:
        table.add_column(f"{row['memories']:,}", justify="right")
    for name in (field for field in rows[0] if field not in ("memories", "within")):
        words, _, unit = name.rpartition("_")
        table.add_row(f"{words.replace('_', ' ')}, {unit}", *(str(row[name]) for row in rows))
    out.print(table)


def _render_search(told: Rows) -> None:
    if not told:
        return
    table = Table(title="search, milliseconds p50 / p95", title_justify="left", title_style="dim")
    names = ("memories", "texts", "events/s", "whole", "first", "text", "weights", "round trip", "parts")
    for name in (*names, "p50, p95 to parts"):
        table.add_column(name, justify="right")
    for row in told["rows"]:
        spreads = [row[f"{name.replace(' ', '_')}_ms"] for name in names[3:]]
        spread = [f"{one['p50']} / {one['p95']}" for one in spreads]
        ratios = f"{row['p50_to_parts']} / {row['p95_to_parts']}"
        table.add_row(f"{row['memories']:,}", row["texts"], f"{row['events_a_second']:,}", *spread, ratios)
    out.print(table)
    for goal in told["goals"]:
        colour = "green" if goal["holds"] else "red"
        out.print(f"[{colour}]{goal['found']}[/]  {goal['what']} (at most {goal['at_most']})")
