"""The door's rules by themselves: how sensitive a text is and what it states; CPU of texts that were not seen before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Any

from events.catalogue import MemoryCreated
from events.envelope import AnyEvent
from ops.bench.rounds import quiet
from ops.bench.sample import SEED, sample
from projections.language.marks import mark
from projections.language.sensitivity.event_level import level_of
from projections.language.statements import statements_of


def measure(texts: str, count: int, rounds: int) -> dict[str, Any]:
    """Medians over rounds, each of so many new texts."""
    found: dict[str, list[float]] = {"rules_us": [], "level_us": [], "statements_us": []}
    letters = 0.0
    for number in range(rounds):
        for name, rule in (("rules_us", mark), ("level_us", level_of), ("statements_us", statements_of)):
            seed = SEED + 3 * number + len(name)
            events = sample(count, max(count // 20, 1), seed=seed, only_created=True, texts=texts)
            letters += sum(len(one.data.content) for one in events if isinstance(one.data, MemoryCreated))
            found[name].append(_seconds(rule, events) / count * 1e6)
    told = {name: round(median(each), 2) for name, each in found.items()}
    return {"texts": texts, "letters": round(letters / count / rounds / 3), "events": count, "rounds": rounds, **told}


def _seconds(rule: Callable[[AnyEvent], object], events: Sequence[AnyEvent]) -> float:
    with quiet():
        start = process_time()
        for event in events:
            rule(event)
        return process_time() - start
