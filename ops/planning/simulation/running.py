"""A simulation from its beginning to its end, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from events.errors import InputError
from ops.planning.simulation.asked import SimulationAsked
from ops.planning.simulation.faults import Fates
from ops.planning.simulation.flows import CAUGHT_UP, GIGABYTE, Flow, Sample
from ops.planning.simulation.ground import SimulatedGround
from ops.planning.simulation.load import largest_share

MISSING = "`engramlog simulate` needs SimPy: `pip install 'engramlog[simulation]'`"
FIRST_SECONDS = 30.0
"""The beginning, in which workers share out what nobody holds yet, counts in no quantile."""
HAPPENING_SECONDS = 300.0
"""For so long after something happened what comes is told as its doing, or until the next thing happens."""


class Moved(msgspec.Struct, frozen=True):
    """What something that happened did."""

    kind: str
    at: float
    taken_over_seconds: float | None
    """Until every partition was folded again; None where that did not come, 0 where none was let go."""
    worst_lag_seconds: float
    caught_up_seconds: float | None
    """Until every partition was less than a second behind again; None where that did not come."""
    stalled_seconds: float
    """In which appends waited."""
    most_tries: int
    """Of taking leases, in one second."""
    most_commands: float
    most_lease_cpu: float


class Simulated(msgspec.Struct, frozen=True):
    """What came of a simulation. Lag is in seconds from an event's append to its fold."""

    asked: SimulationAsked
    events: float
    folded: float
    rate_mean: float
    rate_most: float
    busiest_owner_rate: float
    """At the peak, of the owner with the largest share."""
    partition_most: float
    """The largest share of a partition over the mean."""
    lag_half: float
    lag_most: float
    lag_worst: float
    worst_partition: int
    behind_seconds: float
    """In which some partition was more than a second behind."""
    stalled_seconds: float
    refused: float
    """Events that were refused after `patience`, and came again."""
    turned_away: float
    """Events that a full primary refused."""
    full_at: float | None
    ram_gb: float
    """Of the fullest primary, at the end."""
    aof_gb: float
    """Written by all primaries, before any rewrite."""
    network_mb_most: float
    """Of all primaries in a second, at the busiest."""
    node_cpu_half: float
    node_cpu_most: float
    worker_cpu_half: float
    worker_cpu_most: float
    commands_half: float
    commands_most: float
    lease_commands: float
    lease_cpu: float
    tries: int
    tries_in_vain: int
    happened: tuple[Moved, ...]
    hours: tuple[dict[str, float], ...]
    """Hour by hour: rate, lag, CPU, RAM."""


def simulate(asked: SimulationAsked) -> tuple[Simulated, list[Sample]]:
    """Run it. The same for the same question. Raises InputError, also where SimPy is not installed."""
    try:
        import simpy  # noqa: PLC0415 - an extra, which only this needs
    except ImportError as error:
        raise InputError(MISSING) from error
    asked = asked.checked()
    env = simpy.Environment()
    ground = SimulatedGround(asked, env, np.random.Generator(np.random.PCG64(asked.seed)))
    flow = Flow(ground)
    fates = Fates(ground, flow)
    for _ in range(asked.workers):
        fates.start_worker()
    for one in asked.happenings:
        env.process(fates.happens(one))
    env.process(flow.run())
    env.run(until=asked.seconds)
    return _told(asked, ground, flow), flow.samples


def _told(asked: SimulationAsked, ground: SimulatedGround, flow: Flow) -> Simulated:
    samples = flow.samples
    steady = [one for one in samples if one.at > min(FIRST_SECONDS, asked.seconds / 2)]
    table, steps = np.array(steady), np.array([one.step for one in steady])
    column = dict(zip(Sample._fields, table.T, strict=True))
    worst = steady[int(column["lag_worst"].argmax())]
    peak = float(column["rate"].max())
    per_event = flow.network / max(flow.appended, 1.0)
    return Simulated(
        asked=asked,
        events=round(flow.appended),
        folded=round(flow.folded),
        rate_mean=_short(flow.appended / asked.seconds),
        rate_most=_short(peak),
        busiest_owner_rate=_short(max(largest_share(asked) * peak, asked.hot_owner)),
        partition_most=_short(float(flow.shares.max() * asked.partitions)),
        lag_half=_short(_quantile(column["lag_half"], column["appended"] * steps, 0.5)),
        lag_most=_short(_quantile(column["lag_most"], column["appended"] * steps, 0.99)),
        lag_worst=_short(worst.lag_worst),
        worst_partition=worst.worst,
        behind_seconds=_short(float(steps[column["lag_worst"] > CAUGHT_UP].sum())),
        stalled_seconds=_short(flow.stalled),
        refused=round(flow.refused),
        turned_away=round(flow.turned_away),
        full_at=None if flow.full_at is None else _short(flow.full_at),
        ram_gb=_short(samples[-1].ram / GIGABYTE),
        aof_gb=_short(flow.aof / GIGABYTE),
        network_mb_most=_short(per_event * float(column["appended"].max()) / 1e6),
        node_cpu_half=_short(_quantile(column["node_cpu"], steps, 0.5)),
        node_cpu_most=_short(float(column["node_cpu"].max())),
        worker_cpu_half=_short(_quantile(column["worker_cpu"], steps, 0.5)),
        worker_cpu_most=_short(float(column["worker_cpu"].max())),
        commands_half=_short(_quantile(column["commands"], steps, 0.5)),
        commands_most=_short(float(column["commands"].max())),
        lease_commands=_short(_quantile(column["lease_commands"], steps, 0.5)),
        lease_cpu=_short(_quantile(column["lease_cpu"], steps, 0.5)),
        tries=ground.tries.taken + ground.tries.in_vain,
        tries_in_vain=ground.tries.in_vain,
        happened=tuple(_moved(asked, ground, samples, number) for number in range(len(asked.happenings))),
        hours=tuple(_hours(samples)),
    )


def _moved(asked: SimulationAsked, ground: SimulatedGround, samples: Sequence[Sample], number: int) -> Moved:
    one = asked.happenings[number]
    following = asked.happenings[number + 1].at if number + 1 < len(asked.happenings) else asked.seconds
    end = min(one.at + HAPPENING_SECONDS, following)
    span = [sample for sample in samples if one.at < sample.at <= end]
    if not span:
        return Moved(one.kind, one.at, None, 0.0, None, 0.0, 0, 0.0, 0.0)
    return Moved(
        kind=one.kind,
        at=one.at,
        taken_over_seconds=_until(one.at, span, lambda sample: sample.unheld > 0),
        worst_lag_seconds=_short(max(sample.lag_worst for sample in span)),
        caught_up_seconds=_until(one.at, span, lambda sample: sample.lag_worst > CAUGHT_UP),
        stalled_seconds=_short(sum(sample.step for sample in span if sample.waiting > sample.rate * CAUGHT_UP / 10)),
        most_tries=ground.tries.most(one.at, end),
        most_commands=_short(max(sample.commands for sample in span)),
        most_lease_cpu=_short(max(sample.lease_cpu for sample in span)),
    )


def _until(at: float, span: Sequence[Sample], holds: Any) -> float | None:
    """Seconds until something holds no more; None where it holds at the end."""
    last = max((place for place, sample in enumerate(span) if holds(sample)), default=None)
    if last is None:
        return 0.0
    return None if last == len(span) - 1 else _short(span[last].at - at)


def _hours(samples: Sequence[Sample]) -> list[dict[str, float]]:
    found = []
    for hour in range(int((samples[-1].at - 1e-6) // 3_600) + 1):
        some = [one for one in samples if hour * 3_600 < one.at <= (hour + 1) * 3_600]
        weights = np.array([one.step for one in some])
        rates = np.array([one.appended for one in some])
        found.append(
            {
                "hour": float(hour),
                "rate": _short(float((rates * weights).sum() / weights.sum())),
                "lag_most": _short(_quantile(np.array([one.lag_most for one in some]), weights, 0.99)),
                "lag_worst": _short(max(one.lag_worst for one in some)),
                "node_cpu": _short(max(one.node_cpu for one in some)),
                "worker_cpu": _short(max(one.worker_cpu for one in some)),
                "ram_gb": _short(some[-1].ram / GIGABYTE),
            }
        )
    return found


def _quantile(values: Any, weights: Any, share: float) -> float:
    order = np.argsort(values, kind="stable")
    summed = np.cumsum(weights[order])
    return float(values[order[min(int(np.searchsorted(summed, share * summed[-1])), len(order) - 1)]])


def _short(value: float) -> float:
    """Four digits: what is told is no more exact than that."""
    return float(f"{value:.4g}")
