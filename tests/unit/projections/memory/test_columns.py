"""An owner's memories as columns: one row a memory, whatever happens to it."""

from __future__ import annotations

from engramlog_server.projections.memory.columns import Columns
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    deleted,
    folded,
    mentioned,
    merged,
    negated,
    purged,
    unmerged,
)
from tests.rows import each_row

NAMES = (
    "category", "level", "sensitivity", "state", "conflict", "tier", "created_at", "last_activated_at", "last_mentioned_at",
    "negated_at", "mention_boost", "access_count",
)  # fmt: skip


def columns_of(*events: Told) -> Columns:
    columns = Columns()
    for memory in folded(*events).memories.values():
        columns.put(memory)
    return columns


def row_of(columns: Columns, memory_id: str) -> dict[str, object]:
    row = columns.row(memory_id)
    return {name: getattr(columns, name)[row].item() for name in NAMES}


def test_a_row_holds_what_laws_and_modes_read() -> None:
    columns = columns_of(
        created(category="skill", tier="core", sensitivity=2, day=1),
        mentioned(day=2),
        mentioned(day=3),
        negated(day=4),
        accessed("m", day=5, count=7),
    )
    assert row_of(columns, "m") == {
        "category": 4,
        "level": 0,
        "sensitivity": 2,
        "state": Columns.LIVE,
        "conflict": Columns.KEEP,
        "tier": Columns.CORE,
        "created_at": at(1),
        "last_activated_at": at(3),
        "last_mentioned_at": at(3),
        "negated_at": at(4),
        "mention_boost": 0.5,
        "access_count": 7,
    }
    assert columns.mentions(0) == (at(2), at(3))


@each_row(
    ("resolution", "conflict"),
    [("latest_wins", Columns.SUPERSEDED), ("version_keep", Columns.KEEP), ("weight_balance", Columns.FADE)],
)
def test_the_conflict_tells_which_curve_holds_while_negated(resolution: str, conflict: int) -> None:
    there = [created(), negated(day=1, resolution=resolution)]
    back = [*there, mentioned(day=2)]
    assert [row_of(columns_of(*events), "m")["conflict"] for events in (there, back)] == [conflict, Columns.HELD]


@each_row(
    ("events", "state"),
    [
        ([], Columns.LIVE), ([merged("m", "n", day=1)], Columns.MERGED),
        ([merged("m", "n", day=1), unmerged(day=2)], Columns.LIVE), ([deleted(day=1)], Columns.DELETED),
        ([deleted(day=1), purged(day=31)], Columns.PURGED),
    ],
)  # fmt: skip
def test_the_state_tells_what_hides_a_memory(events: list[Told], state: int) -> None:
    assert row_of(columns_of(created(), created(of="n"), *events), "m")["state"] == state


def test_what_was_merged_stands_and_falls_with_its_merge() -> None:
    chain = [created(), created(of="n"), created(of="o"), merged("m", "n"), merged("all", "o", into="top")]
    hidden = columns_of(*chain, deleted("top", day=3))
    shown = columns_of(*chain, created(of="x"), deleted("x", day=3))
    ids = ("m", "n", "o", "all", "top")
    assert [
        [columns.standing()[columns.row(i)].item() for i in ids] for columns in (hidden, shown)
    ] == [
        [Columns.DELETED] * 5,
        [Columns.MERGED] * 4 + [Columns.LIVE],
    ]  # fmt: skip
    assert hidden.state[hidden.row("m")] == Columns.MERGED


def test_columns_grow_and_keep_what_they_hold() -> None:
    memories = list(folded(*(created(of=f"m{n}", day=n, sensitivity=n % 4) for n in range(100))).memories.values())
    columns = Columns()
    rows = [columns.put(memory) for memory in memories]
    assert rows == list(range(100))
    assert list(columns) == memories
    assert {getattr(columns, name).shape for name in NAMES} == {(100,)}
    assert columns.created_at.tolist() == [at(n) for n in range(100)]
    assert columns.sensitivity.tolist() == [n % 4 for n in range(100)]
