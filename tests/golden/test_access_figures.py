"""What stored accesses of each version come to, in figures: sums of 0.2.0, and each access by itself."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from engramlog_server.events.envelope import Stored, micros
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.memory.record import Edge, Memory
from tests.given.events import created, stored
from tests.rows import each_row

FOLDER = Path(__file__).parent / "events"
OWNER = "ann@example.org"
LAST = datetime(2026, 3, 14, 9, 26, 53, 589_793, tzinfo=UTC)
EARLIER = datetime(2026, 2, 2, 9, 26, 53, 589_793, tzinfo=UTC)


def after(kind: str, **changed: str) -> dict[str, Memory]:
    """Two memories of January 2024 after the stored event of a kind."""
    body = (FOLDER / f"{kind}.json").read_text("utf-8").strip()
    for old, new in changed.items():
        body = body.replace(f'"via":"{old}"', f'"via":"{new}"')
    begun = stored([created(of="mem-1", actor="judge"), created(of="mem-4", actor="judge")], OWNER)
    event = Stored(3, kind, bytes(16), OWNER, body.encode(), begun[0].beside)
    return fold_owner([*begun, event]).memories


@each_row(
    ("kind", "counts", "last"),
    [("MemoriesAccessed.1", (2, 1), (LAST, EARLIER)), ("MemoriesAccessed.2", (3, 3), (LAST, LAST))],
)
def test_stored_accesses_count_steady_and_associate_as_on_the_day_they_were_written(
    kind: str, counts: tuple[int, int], last: tuple[datetime, datetime]
) -> None:
    """The golden event of version 2 tells sums too, as a producer may: both count, and reinforce once."""
    found = after(kind)
    for memory_id, other, count, at in zip(("mem-1", "mem-4"), ("mem-4", "mem-1"), counts, last, strict=True):
        one = found[memory_id]
        assert (one.access_count, one.reinforce_count, round(one.stability, 9)) == (count, 1, 28.8)
        assert one.last_accessed_at == one.last_reinforced_at == micros(at)
        assert one.edges == (Edge(other, 0.0, 0.05, "co-hit"),)


def test_the_same_recalled_associates_what_stood_at_the_top_of_a_first_page_and_looked_at_nothing() -> None:
    recalled, looked = (
        after("MemoriesAccessed.2", injection="recall"),
        after("MemoriesAccessed.2", injection="inspection"),
    )
    assert recalled["mem-1"].edges == (
        Edge("mem-4", 0.0, 0.05, "co-hit"),
    )  # `together` alone: its page is a further one
    assert [(one.access_count, one.stability, one.edges) for one in looked.values()] == [(0, 24.0, ())] * 2
