"""Every combination that was asked for, a row each; what is being measured is told as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ops.bench.asked import Asked
from ops.bench.costs import append, backlog, live, rebuild, rules
from ops.bench.server import BenchServer

Rows = list[dict[str, Any]]
Say = Callable[[str], None]
_MOST_FOR_PEERS = 2_000
_LONG = 4
"""So much fewer events where each is a page long."""


def fold(server: BenchServer, beside: BenchServer, asked: Asked, events: int, rounds: int, say: Say) -> Rows:
    """The fold of a backlog and live."""
    return [
        row
        for texts in asked.texts
        for rows in _folds(server, beside, asked, texts, _fewer(texts, events), rounds, say)
        for row in rows
    ]


def _folds(
    server: BenchServer, beside: BenchServer, asked: Asked, texts: str, events: int, rounds: int, say: Say
) -> Iterator[Rows]:
    if "backlog" in asked.traffic:
        say(f"folding a backlog of {texts}")
        yield backlog.measure(server, beside, texts, events, asked.workers, rounds)
    if "live" in asked.traffic:
        for owners in asked.owners:
            say(f"folding {texts} live, {owners:,} owners")
            yield live.measure(server, beside, texts, owners, asked.live, rounds, events)


def held(
    server: BenchServer, beside: BenchServer, asked: Asked, events: int, rounds: int, say: Say
) -> dict[str, Any] | None:
    """What many owners in memory cost one event; None where live traffic was not asked for."""
    if "live" not in asked.traffic:
        return None
    few, many = asked.held
    say(f"one event at a time, {few:,} and {many:,} owners in memory")
    return live.held(server, beside, asked.texts[0], few, many, rounds, events)


def appends(server: BenchServer, asked: Asked, events: int, rounds: int, say: Say) -> Rows:
    """Appending, by how many events come at a time."""
    found = Rows()
    for texts in asked.texts:
        say(f"appending {texts}")
        found += append.measure(server, texts, _fewer(texts, events), (*asked.live, 1_000), rounds)
    return found


def rebuilds(server: BenchServer, asked: Asked, events: int, rounds: int, say: Say) -> Rows:
    """Rebuilding."""
    found = Rows()
    for texts in asked.texts:
        say(f"rebuilding {texts}")
        found.append(rebuild.measure(server, texts, _fewer(texts, events), rounds))
    return found


def rule_costs(asked: Asked, events: int, rounds: int, say: Say) -> Rows:
    """The door's rules by themselves."""
    found = Rows()
    for texts in asked.texts:
        say(f"rules on {texts}")
        found.append(rules.measure(texts, min(_fewer(texts, events), 2_000), rounds))
    return found


def peers(server: BenchServer, asked: Asked, events: int, rounds: int, say: Say) -> Rows:
    """The same texts through other libraries."""
    from ops.bench.peers import measure  # noqa: PLC0415 - what it needs is needed by nothing else

    count = min(events, _MOST_FOR_PEERS)
    return [measure.measure(server, texts, count, measure.QUESTIONS, rounds, say) for texts in asked.texts]


def _fewer(texts: str, events: int) -> int:
    return max(events // _LONG, 100) if texts == "answers" else events
