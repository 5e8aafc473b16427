"""The goals for what an agent gets, next to the figures of the version before (commit a0ca33e3) and those of this run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.output import Row

Tables = Mapping[str, Sequence[Row]]
SEARCH, CONTEXT, LATER, CHATS, OWN = "search, review mode", "context", "context, later", "facts of chats", "own rows"


class Goal(NamedTuple):
    """One figure, and what it should be."""

    figure: str
    before: str
    least: float | None
    most: float | None
    table: str
    column: str
    where: Mapping[str, Any] = {}
    """Values of other columns of its row."""


def _everyday(part: str, *goals: tuple[str, str, float | None, float | None]) -> Iterator[Goal]:
    for column, before, least, most in goals:
        yield Goal(f"{part}: {column}", before, least, most, f"everyday: {part}", column)


def _own(kind: str, column: str, before: str, least: float | None, most: float | None) -> Goal:
    return Goal(f"{kind}: {column}", before, least, most, OWN, column, {"rows": kind, "half": "all"})


def _sets(table: str, column: str, goals: Mapping[str, tuple[str, float | None, float | None]]) -> Iterator[Goal]:
    for name, (before, least, most) in goals.items():
        yield Goal(f"{name}: {column}", before, least, most, table, column, {"set": name})


_FACTS = [("in300", ".02-.12", 0.70, None), ("in600", ".02-.12", 0.95, None), ("in1500", ".03-.13", 0.98, None)]
_RELATED = [
    ("related_tokens", "440-1,215", None, 400.0),
    ("related_first3", "-", 0.80, None),
    ("related_useful", "-", 0.35, None),
]
_NONE = (None, None)
GOALS: tuple[Goal, ...] = (
    *_everyday("facts en", *_FACTS),
    *_everyday("facts zh", *_FACTS),
    *_everyday(
        "large en",
        ("hit1", ".16", 0.55, None),
        ("hit10", ".35", 0.90, None),
        ("in300", ".05", 0.60, None),
        ("in600", ".06", 0.80, None),
        ("in1500", ".08", 0.92, None),
        *_RELATED,
    ),
    *_everyday(
        "large zh",
        ("hit1", ".20", 0.55, None),
        ("hit10", ".34", 0.90, None),
        ("in300", ".01", 0.60, None),
        ("in600", ".01", 0.80, None),
        ("in1500", ".01", 0.92, None),
        *_RELATED,
    ),
    *_everyday("tasks", ("whole", ".017", 0.90, None)),
    *_everyday("idle", ("any_related", ".05", None, 0.05), ("tokens_turn", "-", None, 60.0)),
    _own("needed", "related", "-", 0.90, None),
    *_everyday(
        "updates",
        ("current_first_search", ".17", 0.80, None),
        ("current_first_block", ".07", 0.85, None),
        ("noticed_right_one", ".01", 0.60, None),
        ("flagged_another", ".00", None, 0.02),
    ),
    *_everyday("reverse", ("current_first_search", ".27", 0.80, None), ("current_first_block", ".12", 0.85, None)),
    *_everyday(
        "both hold",
        ("wrongly_ended", ".00", None, 0.02),
        ("flagged", ".05", None, 0.15),
        ("both_in_block", ".33", 0.90, None),
    ),
    _own("unsaid", "ended", "-", None, 0.0),
    _own("unsaid", "flagged", "-", None, 2 / 30),
    _own("groups", "ended across people", "-", None, 0.0),
    *_everyday("chats", ("answer_in_block", ".61", 0.95, None)),
    *_sets(CONTEXT, "whole@500", {"locomo-en": ("-", 0.78, None), "memorybank-zh": ("-", 0.97, None)}),
    *_sets(CONTEXT, "whole@1000", {"locomo-en": ("-", 0.83, None), "memorybank-zh": ("-", 0.98, None)}),
    *_sets(CONTEXT, "whole@2000", {"locomo-en": (".66", 0.88, None), "memorybank-zh": (".54", 0.98, None)}),
    *_sets(LATER, "lost@2000", dict.fromkeys(("locomo-en", "memorybank-zh", "beam-en"), ("-", None, 0.05))),
    *_sets(CHATS, "recall", {"everyday": (".52", 0.70, None)}),
    *_sets(CHATS, "precision", {"everyday": (".95", 0.95, None)}),
    *_sets(CHATS, "not facts kept", {"everyday": ("-", None, 0.05)}),
    *(
        goal._replace(where={**goal.where, "category": "all"})
        for cut in (1, 5, 10)
        for goal in _sets(SEARCH, f"over bm25@{cut}", dict.fromkeys(("beam-en", "realmem-en"), ("-", 0.0, None)))
    ),
    _own("exact", "precision", ".22", 0.50, None),
    _own("exact", "recall", ".94", 0.90, None),
    *(_own(kind, "related", "-", *_NONE) for kind in ("followups", "long", "projects")),
    _own("projects", "another project", "-", None, 0.0),
    _own("speakers", "names the speaker", "-", *_NONE),
)


def goal_rows(tables: Tables) -> list[Row]:
    """A row for each goal that the tables have a figure for; a figure for each wait between writing and asking."""
    return [row for goal in GOALS if (row := _row(goal, tables))]


def _row(goal: Goal, tables: Tables) -> Row:
    found = [
        row
        for row in tables.get(goal.table, ())
        if row.get(goal.column) is not None and all(row.get(name) == value for name, value in goal.where.items())
    ]
    if not found:
        return {}
    values = {"now" if not row.get("wait") else f"after {row['wait']:g} s": float(row[goal.column]) for row in found}
    if goal.least is None and goal.most is None:
        return {"figure": goal.figure, "before": goal.before, **values}
    least = float("-inf") if goal.least is None else goal.least
    most = float("inf") if goal.most is None else goal.most + 0.0005
    reached = all(least <= round(one, 3) <= most for one in values.values())
    bound = f">= {goal.least:g}" if goal.most is None else f"<= {goal.most:.3g}"
    return {
        "figure": goal.figure,
        "before": goal.before,
        **values,
        "goal": bound,
        "reached": "yes" if reached else "no",
    }
