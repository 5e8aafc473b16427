"""`engramlog simulate`: a day of a store of any size in virtual time; opens no store and asks no server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from api.cli.app import Json, app, out, show
from api.cli.show.tables import Cell, Column, tabulate

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = (
    "worker-killed, -ended, -joins, workers-restarted, rolling-upgrade, primary-killed, node-slow, slots-moved, burst"
)


@app.command(
    epilog="Example: `engramlog simulate --events-per-day 1e9 --owners 1e8 --fail worker-killed@20h --fail primary-killed@20h30m`"
)
def simulate(
    events_per_day: Annotated[float, typer.Option(help="Events that are appended in a day of 24 hours.")] = 1e9,
    peak: Annotated[
        float | None,
        typer.Option(
            help="Events a second at eight in the evening; 5.2 times the mean, unless told. The mean: no curve."
        ),
    ] = None,
    owners: Annotated[float, typer.Option(help="Owners they are about.")] = 1e8,
    zipf: Annotated[float, typer.Option(help="Owner number n has a share as 1 / n^zipf; 0: all alike.")] = 0.7,
    hot_owner: Annotated[float, typer.Option(help="Events a second of one owner beside all others.")] = 0.0,
    at_once: Annotated[
        float, typer.Option(help="Events of one partition that an append brings, on the average.")
    ] = 10.0,
    partitions: Annotated[int, typer.Option(help="Of the store, 1 to 1024.")] = 1_024,
    primaries: Annotated[int, typer.Option(help="Of the Cluster; 1: one Redis.")] = 4,
    workers: Annotated[int, typer.Option(help="Fold workers, a core each.")] = 8,
    hours: Annotated[float, typer.Option(help="How long it lasts.")] = 24.0,
    starts: Annotated[float, typer.Option(help="Hour of the day at which it begins.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed, the same answer.", min=0)] = 7,
    fail: Annotated[
        list[str] | None,
        typer.Option(help=f"KIND@TIME after the beginning, such as worker-killed@20h30m; as often as needed. {KINDS}."),
    ] = None,
    ram_gb: Annotated[float, typer.Option(help="`maxmemory` of a primary, gigabytes.")] = 128.0,
    hot_hours: Annotated[
        float | None,
        typer.Option(help="Reckon as if events left RAM for an archive after so many hours, their state aside."),
    ] = None,
    lease_ms: Annotated[int, typer.Option(help="How long a worker's lease lasts.")] = 3_000,
    rtt_ms: Annotated[float, typer.Option(help="Between workers and primaries and back.")] = 0.3,
    fsync_ms: Annotated[float, typer.Option(help="What an answer to a write waits for the disk.")] = 1.0,
    node_timeout: Annotated[float, typer.Option(help="`cluster-node-timeout`, seconds.")] = 15.0,
    picture: Annotated[bool, typer.Option("--picture/--no-picture", help="Draw rate and lag over the time.")] = True,
    json: Json = False,
) -> None:
    """Reckon a day of a store of any size in virtual time: lag, CPU, RAM, leases, and what failures do. Opens no store.

    Workers share partitions by the product's own decisions; events are flows by partition. docs/simulation.md tells what is
    simulated, what is not, and how it compares with real runs. Needs the extra `simulation`.
    """
    import msgspec

    from ops.planning.simulation.asked import DAY, SimulationAsked, happenings_of
    from ops.planning.simulation.running import simulate as simulated

    given = SimulationAsked(
        events_per_day=events_per_day, peak=5.2 * events_per_day / DAY if peak is None else peak, owners=owners, zipf=zipf,
        hot_owner=hot_owner, at_once=at_once, request=at_once, partitions=partitions, primaries=primaries, workers=workers,
        hours=hours, starts=starts, seed=seed, happenings=happenings_of(fail or ()), ram_gb=ram_gb, hot_hours=hot_hours,
        lease_ms=lease_ms, rtt_ms=rtt_ms, fsync_ms=fsync_ms, node_timeout=node_timeout,
    )  # fmt: skip
    found, samples = simulated(given)

    def render(answer: Mapping[str, Any]) -> None:
        from ops.planning.simulation.picture import course

        if picture:
            out.print(Text.from_ansi(course(samples, min(out.width, 120))))
        figures(answer)

    show(msgspec.to_builtins(found), json, render)


def figures(answer: Mapping[str, Any]) -> None:
    """What came of it, then what each thing that happened did."""
    rows: list[dict[str, Cell]] = [{"what": what, "": told} for what, told in _figures(answer)]
    tabulate([Column("what"), Column("")], rows, out)
    if answer["happened"]:
        names = ("at", "happened", "folded again", "worst lag", "level again", "appends waited", "lease tries/s")
        rows = [
            dict(
                zip(
                    names,
                    (
                        _clock(one["at"]), one["kind"], _seconds(one["taken_over_seconds"]), _seconds(one["worst_lag_seconds"]),
                        _seconds(one["caught_up_seconds"]), _seconds(one["stalled_seconds"]), f"{one['most_tries']:,}",
                    ),
                    strict=True,
                )
            )
            for one in answer["happened"]
        ]  # fmt: skip
        tabulate([Column(name, right=name not in {"at", "happened"}) for name in names], rows, out)
    if answer["full_at"] is not None:
        told = f"a primary is full after {_clock(answer['full_at'])}: {answer['turned_away']:,} events were refused"
        out.print(Text(told, "red"))
    out.print(Text(f"simulated, seed {answer['asked']['seed']}: docs/simulation.md tells how far to trust it", "dim"))


def _figures(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    lags = (_seconds(answer[name]) for name in ("lag_half", "lag_most", "lag_worst"))
    cpu = {
        name: f"{answer[name]:.0%}" for name in ("node_cpu_half", "node_cpu_most", "worker_cpu_half", "worker_cpu_most")
    }
    return [
        ("events", f"{answer['events']:,} appended, {answer['folded']:,} folded"),
        ("events a second", f"{answer['rate_mean']:,} mean, {answer['rate_most']:,} at most"),
        (
            "lag",
            "{} half, {} the 99th percentile, {} at worst".format(*lags) + f" (partition {answer['worst_partition']})",
        ),
        ("more than a second behind", f"some partition for {_seconds(answer['behind_seconds'])}"),
        (
            "appends waited",
            f"somewhere for {_seconds(answer['stalled_seconds'])}; {answer['refused']:,} refused and sent again",
        ),
        ("busiest primary", f"{cpu['node_cpu_half']} of a core half the time, {cpu['node_cpu_most']} at most"),
        ("busiest worker", f"{cpu['worker_cpu_half']} of a core half the time, {cpu['worker_cpu_most']} at most"),
        (
            "workers' commands a second",
            f"{answer['commands_half']:,} half the time, {answer['commands_most']:,} at most",
        ),
        ("of these for leases", f"{answer['lease_commands']:,}, {answer['lease_cpu']:.1%} of a primary's core"),
        ("tries of leases", f"{answer['tries']:,}, {answer['tries_in_vain']:,} in vain"),
        (
            "largest partition",
            f"{answer['partition_most']} times the mean; busiest owner {answer['busiest_owner_rate']:,}/s",
        ),
        ("RAM", f"{answer['ram_gb']:,} GB of the fullest primary at the end"),
        ("append-only files", f"{answer['aof_gb']:,} GB written"),
        ("network", f"{answer['network_mb_most']:,} MB a second at the busiest"),
    ]


def _seconds(value: float | None) -> str:
    if value is None:
        return "not seen"
    if value < 1.0:
        return f"{value * 1_000:.0f} ms"
    return f"{value:,.1f} s"


def _clock(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3_600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}"
