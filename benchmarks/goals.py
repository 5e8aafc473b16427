"""The goals for what an agent gets, next to the figures of the version before (commit a0ca33e3) and those of this run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.measure import Row

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


def _set(table: str, name: str, column: str, before: str, least: float | None, most: float | None = None) -> Goal:
    where = {"set": name, "category": "all"} if table == SEARCH else {"set": name}
    return Goal(f"{name}: {column}", before, least, most, table, column, where)


def _large(language: str, *before: str) -> Iterator[Goal]:
    columns, least = ("hit1", "hit10", "in300", "in600", "in1500"), (0.55, 0.90, 0.60, 0.80, 0.92)
    goals = zip(columns, before, least, strict=True)
    yield from _everyday(f"large {language}", *((column, was, goal, None) for column, was, goal in goals), *_RELATED)


_FACTS = [("in300", ".02-.12", 0.70, None), ("in600", ".02-.12", 0.95, None), ("in1500", ".03-.13", 0.98, None)]
_UNCHANGED = [("ended", "-", None, 0.02), ("flagged", "-", None, 0.15)]
_RELATED = [
    ("related_tokens", "440-1,215", None, 400.0),
    ("related_first3", "-", 0.80, None),
    ("related_useful", "-", 0.35, None),
]
WHOLE = {
    "locomo-en": ((".61", 0.78), (".66", 0.83), (".66", 0.88)),
    "memorybank-zh": ((".67", 0.97), (".72", 0.98), (".72", 0.98)),
    "beam-en": ((".23", 0.329), (".39", 0.486), (".42", 0.519)),
}
"""Sets with the share of whole evidence at a0ca33e3 and its goal, at 500, 1,000 and 2,000 tokens."""
GOALS: tuple[Goal, ...] = (
    *_everyday("facts en", *_FACTS),
    *_everyday("facts zh", *_FACTS),
    *_everyday("facts en", *_UNCHANGED),
    *_everyday("facts zh", *_UNCHANGED),
    *_large("en", ".16", ".35", ".05", ".06", ".08"),
    *_large("zh", ".20", ".34", ".01", ".01", ".01"),
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
    *(
        _set(CONTEXT, name, f"whole@{budget}", before, least)
        for name, goals in WHOLE.items()
        for budget, (before, least) in zip((500, 1_000, 2_000), goals, strict=True)
    ),
    *(_set(LATER, name, "lost@2000", "-", None, 0.05) for name in WHOLE),
    _set(CHATS, "everyday", "recall", ".52", 0.70),
    _set(CHATS, "everyday", "precision", ".95", 0.95),
    _set(CHATS, "everyday", "not facts kept", "-", None, 0.05),
    *(_set(SEARCH, name, f"over bm25@{cut}", "-", 0.0) for name in ("beam-en", "realmem-en") for cut in (1, 5, 10)),
    _own("exact", "precision", ".22", 0.50, None),
    _own("exact", "recall", ".94", 0.90, None),
    *(_own(kind, "related", "-", None, None) for kind in ("followups", "long", "projects")),
    _own("heavier", "heavier first", ".51", 0.90, None),
    _own("asked", "all three", "-", 0.90, None),
    _own("asked-near", "two of three", "-", None, 0.0),
    _own("projects", "another project", "-", None, 0.0),
    _own("speakers", "names the speaker", "-", None, None),
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
