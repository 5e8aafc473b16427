"""`engramlog bench`: figures as ratios against a limit, measured in one run, interleaved, medians of the rounds."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from os import cpu_count
from typing import Annotated, Any

import typer

from api.cli.app import Json, app, err, show
from events.errors import refused
from ops.bench.asked import QUICK, TRAFFIC, Asked, numbers, words
from ops.bench.texts.sets import SETS

WHAT = (
    "append",
    "fold",
    "rebuild",
    "jobs",
    "search",
    "meaning",
    "living",
    "space",
    "sealing",
    "erasing",
    "backup",
    "past",
    "audit",
    "console",
    "extract",
    "door",
    "scale",
    "peers",
)
APART = ("scale", "peers")
"""Not in `all`: one takes the best part of an hour, what the other compares with is an extra."""
LOAD = 1.0
"""Above this, figures say more about what else runs."""
Rows = dict[str, Any]


@app.command(epilog="Example: `engramlog bench fold --texts talk --rounds 7` or `engramlog bench all --json`")
def bench(
    what: Annotated[str, typer.Argument(help=f"{', '.join(WHAT)} or all.")] = "all",
    rounds: Annotated[int, typer.Option(help="Rounds of each comparison; the median counts.", min=1, max=100)] = 5,
    events: Annotated[int, typer.Option(help="Events in a round.", min=100, max=1_000_000)] = 10_000,
    texts: Annotated[str, typer.Option(help=f"Of append and fold: {', '.join(SETS)}; some, with commas.")] = "",
    traffic: Annotated[str, typer.Option(help=f"Of fold: {', '.join(TRAFFIC)}.")] = "",
    live: Annotated[str, typer.Option(help="Of append and fold: how many events come at a time, such as 1,100.")] = "",
    owners: Annotated[str, typer.Option(help="Of fold, live: how many owners the worker holds, such as 20,1000.")] = "",
    workers: Annotated[str, typer.Option(help="Of fold, backlog: how many worker processes, such as 1,2.")] = "",
    memories: Annotated[
        str, typer.Option(help="Of search: only loading and asking one owner of so many, such as 1000000.")
    ] = "",
    scales: Annotated[
        str, typer.Option(help="Of scale: how many events the stores hold, such as 100000,1000000; 10000000 at most.")
    ] = "",
    history: Annotated[
        bool, typer.Option("--history", help="Tell what was better or worse in the newest row.")
    ] = False,
    record: Annotated[bool, typer.Option("--record", help="Add a row to the table of past releases.")] = False,
    profile: Annotated[bool, typer.Option("--profile", help="Show where the fold's time goes.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: to see that it runs, not to measure.")] = False,
    json: Json = False,
) -> None:
    """Measure against the limits, on a private Redis of its own: raw XADD and XRANGE, empty jobs, the parts of a search.

    `append` and `fold` are measured by CPU, the client's and Redis's apart, on several sets of texts, as a backlog and live.
    The limit of `extract`, turns read by rules, is cutting the same made-up texts into terms once. `console` is what a page asks,
    over HTTP, beside what it could not do without; `sealing` is the same work at a sealed and at an open store; `erasing` is
    an erasure beside a rebuild of its partition, and what it costs those who append and read afterwards; `backup` is one made,
    checked and restored beside a rebuild, and appending meanwhile; `meaning` is questions
    with meaning, by each model that is built in. `door` is what one caller can do to others: it starts an `engramlog
    up` of its own. `scale` tells which cost of an event stays what it is in larger stores, on three primaries, with three workers;
    `peers` takes texts through other libraries. `all` leaves out both.
    """
    from ops.bench.render import render  # noqa: PLC0415 - needed by no other command

    if what not in (*WHAT, "all"):
        raise refused("what", what, ", ".join((*WHAT, "all")))
    if scales and what != "scale":
        raise refused("scales", scales, "with `engramlog bench scale` alone")
    if memories:
        sizes = numbers("memories", memories)
        show(_large(sizes), json, render)
        return
    if what == "scale":
        from ops.bench.scale.shown import render as rendered  # noqa: PLC0415

        show(_scale(texts, scales, workers, 1 if quick else rounds, quick=quick), json, rendered)
        return
    if record and quick:
        raise refused("record", "--record --quick", "--record without --quick: small sizes are no measurement")
    usual = QUICK if quick else Asked()
    asked = usual._replace(
        texts=words("texts", texts, tuple(SETS)) if texts else usual.texts,
        traffic=words("traffic", traffic, TRAFFIC) if traffic else usual.traffic,
        live=numbers("live", live) if live else usual.live,
        owners=numbers("owners", owners) if owners else usual.owners,
        workers=numbers("workers", workers) if workers else usual.workers,
    )
    chosen = tuple(one for one in WHAT if one not in APART) if what == "all" else (what,)
    answer = _run(chosen, asked, 300 if quick else events, 2 if quick else rounds, quick=quick, profile=profile)
    if history or record:
        lists = "".join(f" --{name} {','.join(map(str, asked[at]))}" for at, name in enumerate(asked._fields))
        _keep(answer, f"bench {what} --rounds {rounds} --events {events}{lists}", history=history, record=record)
    show(answer, json, render)


def _scale(texts: str, scales: str, workers: str, rounds: int, *, quick: bool) -> Rows:
    from ops.bench.scale import measure as scale  # noqa: PLC0415
    from ops.settings import load_settings  # noqa: PLC0415

    usual = scale.SMALL if quick else scale.USUAL
    asked = usual._replace(
        redis_server=load_settings().redis_server,
        texts=words("texts", texts, tuple(SETS))[0] if texts else usual.texts,
        scales=tuple(sorted(numbers("scales", scales))) if scales else usual.scales,
        workers=tuple(sorted(numbers("workers", workers))) if workers else usual.workers,
        rounds=rounds,
    )
    load = [round(one, 2) for one in os.getloadavg()]
    if load[0] > LOAD:
        err.print(f"[yellow]the load is {load[0]:.1f}: other work runs here, and figures taken beside it say less[/]")
    told = scale.measure(asked, err)
    machine = f"{platform.machine()}, {cpu_count()} cores, Python {platform.python_version()}, Redis {told['redis']}"
    return {"machine": machine, "load": load, "scale": told}


def _large(sizes: tuple[int, ...]) -> Rows:
    from ops.bench import search_large  # noqa: PLC0415
    from ops.bench.server import bench_server  # noqa: PLC0415
    from ops.settings import load_settings  # noqa: PLC0415

    load = [round(one, 2) for one in os.getloadavg()]
    with bench_server(redis_server=load_settings().redis_server) as server:
        machine = (
            f"{platform.machine()}, {cpu_count()} cores, Python {platform.python_version()}, Redis {server.version}"
        )
        return {"machine": machine, "load": load, "search_large": search_large.measure(server, sizes)}


def _keep(answer: Rows, command: str, *, history: bool, record: bool) -> None:
    from ops.bench import history as kept  # noqa: PLC0415

    row = kept.row_of(answer, command)
    if history:
        answer["history"] = kept.compared(row, kept.rows())
    if record:
        kept.record(row)
        answer["recorded"] = {"file": str(kept.FILE), "figures": len(row["figures"])}


def _say(told: str) -> None:
    if err.is_terminal:
        err.print(f"[dim]measuring: {told} ...[/]")


def _run(chosen: tuple[str, ...], asked: Asked, events: int, rounds: int, *, quick: bool, profile: bool) -> Rows:
    from ops.bench import append, door, extract, fold, jobs, living, past, rebuild, search, space  # noqa: PLC0415
    from ops.bench import profile as profiled  # noqa: PLC0415
    from ops.bench.costs import auditing, backups, console, erasing, matrix, meaning, sealing  # noqa: PLC0415
    from ops.bench.costs.capacity import capacity  # noqa: PLC0415
    from ops.bench.server import bench_server  # noqa: PLC0415
    from ops.settings import load_settings  # noqa: PLC0415

    sizes, redis_server = (300,) if quick else search.SIZES, load_settings().redis_server
    load = os.getloadavg()
    if load[0] > LOAD:
        err.print(f"[yellow]the load is {load[0]:.1f}: other work runs here, and figures taken beside it say less[/]")
    with bench_server(redis_server=redis_server) as server, bench_server(redis_server=redis_server) as beside:
        measures: dict[str, Callable[[], Any]] = {
            "append": lambda: [one.as_dict() for one in append.measure(server, events, rounds)],
            "append_costs": lambda: matrix.appends(server, asked, events, rounds, _say),
            "rules": lambda: matrix.rule_costs(asked, events, rounds, _say),
            "fold": lambda: [one.as_dict() for one in fold.measure(server, events, rounds)],
            "fold_costs": lambda: matrix.fold(server, beside, asked, events, rounds, _say),
            "held": lambda: matrix.held(server, beside, asked, events, rounds, _say),
            "rebuild": lambda: [one.as_dict() for one in rebuild.measure(server, events, rounds)],
            "rebuild_costs": lambda: matrix.rebuilds(server, asked, events, rounds, _say),
            "jobs": lambda: [one.as_dict() for one in jobs.measure(server, min(events, 2_000), rounds)],
            "search": lambda: search.measure(server, sizes, 20 if quick else search.QUERIES),
            "meaning": lambda: meaning.measure(server, *(meaning.SMALL if quick else meaning.SIZES), rounds=rounds),
            "living": lambda: living.measure(sizes, max(rounds, 2)),
            "space": lambda: space.measure(server, min(events, 5_000)),
            "sealing": lambda: sealing.measure(server, asked.texts, events, rounds),
            "erasing": lambda: erasing.measure(server, asked.texts, events, rounds),
            "backup": lambda: backups.measure(server, beside, asked.texts, events, rounds),
            "past": lambda: past.measure(server, events, max(rounds, 3)),
            "audit": lambda: auditing.measure(server, events, rounds),
            "console": lambda: console.measure(server, *(console.SMALL if quick else console.SIZES), rounds=rounds),
            "extract": lambda: [one.as_dict() for one in extract.measure(min(events, 2_000), rounds)],
            "peers": lambda: matrix.peers(server, asked, events, rounds, _say),
            "door": lambda: door.measure(redis_server, quick=quick),
        }
        answer: Rows = {
            "machine": f"{platform.machine()}, {cpu_count()} cores, Python {platform.python_version()}, Redis {server.version}",
            "load": [round(one, 2) for one in load],
        }
        for name in chosen:
            for part in (name, *PARTS.get(name, ())):
                _say(part)
                answer[part] = measures[part]()
        if "fold_costs" in answer:
            answer["capacity"] = capacity(answer["fold_costs"])
        if profile or "fold" in chosen:
            answer["profile"] = profiled.measure(server, events)
    return answer


PARTS = {"append": ("append_costs", "rules"), "fold": ("fold_costs", "held"), "rebuild": ("rebuild_costs",)}
"""What is measured beside a thing: what it costs by CPU."""
