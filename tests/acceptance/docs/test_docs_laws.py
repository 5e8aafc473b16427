"""docs/laws.md: every figure on it is what the code gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from events.catalogue import Imported
from events.parameters import DEFAULTS, Parameters
from projections.laws import LAWS
from projections.laws.consolidating import adaptive_half_life, consolidation
from projections.laws.ebbinghaus import decay_rate, retention, strength
from projections.laws.law import FOREVER
from projections.laws.modes import visibility
from projections.laws.tiered import fallen_at, review_threshold_of
from projections.laws.weighted import (
    drop_curve,
    fade_curve,
    importance_of,
    momentum,
    semantic_boost,
    time_weight,
)
from projections.lifecycle import plan
from projections.memory.columns import Columns
from projections.memory.record import CATEGORIES, DAY, HOUR, Memory
from projections.views.view import OwnerView
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    folded,
    graded,
    kept,
    mentioned,
    moment,
    negated,
    profile,
    promoted,
    reinforced,
    revised,
)
from tests.places import ROOT

LAWS_PAGE = (ROOT / "docs" / "laws.md").read_text("utf-8")
H = 1 / 24
"""An hour in days."""
Rows = Iterator[str]


def line(*cells: object) -> str:
    """A row of a table; figures to four decimals."""
    return "| " + " | ".join(f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |"


def noted(*events: Told, **data: Any) -> Memory:
    """A fact that the judge noted on day 0, after these events: the page's example."""
    return folded(
        created(actor="judge", category="fact", kind="fact") if not data else created(**data), *events
    ).memories["m"]


def weight(law: str, memory: Memory, day: float, asked: Parameters = DEFAULTS) -> float:
    return LAWS[law].read(memory, at(day), asked).unclipped


def _weighted() -> Rows:
    for s in (0.5, 0.3):
        yield line(f"S, s = {s}", *(semantic_boost(d, s, DEFAULTS) for d in (0, 1, 3, 7, 11, 30, 90)))
    yield line("M", *(momentum(n, DEFAULTS) for n in (0, 1, 2, 3, 5, 10)))
    yield line("drop", *(drop_curve(d, DEFAULTS) for d in (0, 7, 30, 60, 90)))
    yield line("fade", *(fade_curve(d, DEFAULTS) for d in (0, 7, 30, 60, 90)))
    for category in CATEGORIES:
        value = importance_of(category, DEFAULTS)
        days = int(value * (value / DEFAULTS.weighted_normal_threshold - 1) / DEFAULTS.alpha_base + 1e-9)
        yield line(
            category, f"{value:g}", *(time_weight(d, value, DEFAULTS) for d in (30, 90, 180, 365)), f"{days} days"
        )
    for scope, factor in (("decay", 0.8), ("decay", 1.0), ("decay", 1.3), ("both", 0.8), ("both", 1.3)):
        chosen, product = replace(DEFAULTS, user_factor=factor), factor if scope == "both" else 1.0
        yield line(f"`{scope}`", f"{factor}", *(1.1 * product * time_weight(d, 1.1, chosen) for d in (0, 30, 90, 180)))


DAYS = (0, 1, 2, 3, 7, 14, 30, 90, 180, 365)


def _side_by_side() -> Rows:
    """On each day the record as it was by then: recalled on days 1 to 7."""
    daily = [noted(*(accessed(day=number) for number in range(1, 8) if number <= day)) for day in DAYS]
    for law in LAWS:
        yield line(law, *(weight(law, noted(), day) for day in DAYS))
        yield line(f"{law}, recalled", *(weight(law, found, day) for found, day in zip(daily, DAYS, strict=True)))


TOUCHES = {
    "nothing": [],
    "`MemoryMentioned`": [mentioned(day=6)],
    "`MemoriesAccessed` via recall, detail, injection": [accessed(day=6)],
    "`MemoriesAccessed` via association": [accessed(day=6, via="association")],
    "`MemoryReinforced` used": [reinforced(day=6)],
    "`MemoryReinforced` task_success": [reinforced(day=6, outcome="task_success")],
    "`MemoryReinforced` task_failure": [reinforced(day=6, outcome="task_failure")],
    "`MemoryReinforced` manual_review": [reinforced(day=6, outcome="manual_review")],
    "`ReviewGraded` 4": [graded(day=6)],
    "`MemoryRevised`": [revised(day=6)],
    "`MemoryNegated` latest_wins": [negated(day=6)],
    "`MemoryNegated` weight_balance": [negated(day=6, resolution="weight_balance")],
    "`MemoryPromoted` to core": [promoted(day=6)],
}


def _touches() -> Rows:
    for name, events in TOUCHES.items():
        yield line(name, *(weight(law, noted(*events), 7) for law in LAWS))


def _left_normal_mode(view: OwnerView) -> float:
    """Days after which normal mode no longer shows the only memory."""

    def shown(now: int) -> bool:
        return bool(visibility(view.columns, view.law, now, view.parameters, "normal").shown[0])

    low, high = at(0), at(4_000)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shown(middle) else (low, middle)
    return (high - at(0)) / DAY


def _untouched() -> Rows:
    """What becomes of a memory that nobody touches, looked at every half hour by a sweep."""
    for name, kind in (*((law, "fact") for law in LAWS), ("tiered", "episode")):
        history = folded(profile(name), created(actor="judge", category="fact", kind=kind))
        view = OwnerView("ada", history.owner, history.memories.values())
        due: dict[str, float] = {}
        for hours in (*range(1, 200), *range(200, 24 * 400, 12)):
            for decision in plan(view, at(hours * H), ["sweep"]):
                what = getattr(decision.data, "level", decision.action)
                due.setdefault(what, (decision.due_at - at(0)) / DAY)
        cells = (_days(due.get(what)) for what in ("summary", "tag", "trace", "archive", "delete"))
        yield line(f"{name}, {kind}", _days(_left_normal_mode(view)), *cells)


def _days(days: float | None) -> str:
    if days is None:
        return "-"
    return f"{days * 24:.1f} h" if days < 7 else f"{days:.1f} d".replace(".0 d", " d")


def _ebbinghaus() -> Rows:
    for stability in (24, 168):
        hours = (0, 12, 24, 48, 72, 168, 720)
        yield line(f"R, S = {stability} h", *(retention(h, stability, 1) for h in hours))
        yield line(f"strength, S = {stability} h", *(strength(retention(h, stability, 1)) for h in hours))
    for count, sure in ((0, 0.0), (0, 0.6), (1, 0.6), (5, 0.8), (10, 0.6), (100, 1.0)):
        older = noted(content="m", actor="operator", confidence=sure, imported=Imported(access_count=count))
        yield line(count, f"{sure:g}", f"{older.stability:.1f} h")
    for told, event in {
        "`MemoriesAccessed` via recall, detail, injection": accessed(day=1),
        "`MemoriesAccessed` via association": accessed(day=1, via="association"),
        **{
            f"`{word}`": reinforced(day=1, outcome=word)
            for word in ("used", "task_success", "manual_review", "task_failure")
        },
    }.items():
        found = noted(event)
        restarted = "begins anew" if found.last_reinforced_at == at(1) else "goes on"
        factor, reading = found.stability / 24, LAWS["ebbinghaus"].read(found, at(2), DEFAULTS)
        yield line(told, f"{factor:.1f}", f"{found.stability:.1f} h", restarted, int(reading.factors["strength"]))
    for sure, count, kind in (
        *((0.6, 0, "lesson"), (0.8, 0, "lesson"), (0.6, 5, "lesson"), (0.6, 0, "pitfall")),
        *((0.8, 5, "lesson"), (0.8, 5, "pitfall")),
    ):
        counters = Imported(stability=24.0, reinforce_count=count)
        found = noted(content="m", confidence=sure, kind=kind, imported=counters)
        percent = LAWS["ebbinghaus"].read(found, at(1), DEFAULTS).factors["strength"]
        yield line(f"{sure:g}", count, kind, f"{decay_rate(found, DEFAULTS):.3f}", int(percent))
    for told, found in (
        ("new, S = 24 h", noted()),
        ("the same at confidence 0.8", noted(content="m", actor="judge", confidence=0.8)),
        ("by hand, S = 168 h", noted(content="m")),
        ("recalled once a day for a week", noted(*(accessed(day=day) for day in range(1, 8)))),
    ):
        columns = Columns()
        columns.put(found)
        ends = LAWS["ebbinghaus"].ends(columns, DEFAULTS)
        yield line(told, *(f"{(int(end[0]) - found.last_reinforced_at) / HOUR:.1f} h" for end in ends))


def _consolidating() -> Rows:
    for count, age, recency in ((0, 0, 1.0), (0, 0, 0.0), (9, 36.5, 0.8), (9, 365, 0.0), (99, 0, 0.0), (99, 365, 1.0)):
        settled = consolidation(count, age, recency, DEFAULTS)
        yield line(count, f"{age:g} d", f"{recency:g}", settled, f"{adaptive_half_life(30, settled, DEFAULTS):.1f} d")
    for count in (0, 1, 9, 99):
        found = noted(*([accessed(day=0, count=count)] if count else []))
        figures = [weight("consolidating", found, day) for day in (7, 30, 60, 90, 180, 365)]
        fallen = next(days for days in range(1, 400) if weight("consolidating", found, days) < 0.3)
        yield line(count, *figures, f"{fallen} d")


def _asked(memory: Memory) -> str:
    """The day on which a reviewer is asked whether it may go."""
    columns = Columns()
    columns.put(memory)
    found = int(fallen_at(columns, np.array([review_threshold_of(memory, DEFAULTS)]), DEFAULTS)[0])
    return "never" if found == FOREVER else f"day {(found - at(0)) / DAY:g}"


def _tiered() -> Rows:
    episode = noted(content="m", kind="episode")
    yield line("fact", *(weight("tiered", noted(), day) for day in (0, 3, 5, 6, 7, 10, 20, 25, 45, 50)))
    yield line("episode", *(weight("tiered", episode, day) for day in (0, 3, 5, 6, 7, 10, 20, 25, 45, 50)))
    for hours in ((0,), (0, 1), (0, 2), (0, 2, 4, 6), (0, 2, 4, 6, 8, 10), (0, 2, 4, 6, 24)):
        found = noted(*(reinforced(day=hour * H) for hour in hours))
        yield line(", ".join(map(str, hours)), f"{found.importance:g}")
    again = [kept(day=25, due_at=moment(25))]
    for told, found in (
        ("a fact that nobody touches", noted()),
        ("looked at on day 8", noted(accessed(day=8))),
        ("used on day 8", noted(reinforced(day=8))),
        ("kept by the reviewer on day 25", noted(*again)),
        ("kept on day 25 and again on day 55", noted(*again, kept(day=55, due_at=moment(55)))),
        ("an episode", episode),
        ("promoted to core", noted(promoted(day=8))),
    ):
        yield line(told, _asked(found))


def _figures() -> Iterator[tuple[str, str]]:
    for part in (_weighted, _side_by_side, _touches, _untouched, _ebbinghaus, _consolidating, _tiered):
        yield from ((part.__name__, row) for row in part())


def test_every_row_of_figures_is_what_the_laws_give() -> None:
    assert [(part, row) for part, row in _figures() if row not in LAWS_PAGE] == []
