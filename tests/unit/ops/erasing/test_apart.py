"""Which merges come apart before one of their sources is erased."""

from __future__ import annotations

import pytest

from ops.erasing.apart import comes_apart
from projections.memory.record import Memory


def memory(memory_id: str, into: str | None = None, deleted_at: int | None = None) -> Memory:
    return Memory(
        id=memory_id,
        content="",
        category="fact",
        kind="fact",
        tier="fact",
        source="user",
        created_at=1,
        updated_at=1,
        last_activated_at=1,
        stamp=1,
        created_seq=1,
        merged_into=into,
        deleted_at=deleted_at,
    )


STANDING = [
    memory("ink", "desk"),
    memory("pen", "desk"),
    memory("desk", "room"),
    memory("lamp", "room"),
    memory("room"),
]


@pytest.mark.parametrize(
    ("named", "apart"),
    [
        (("ink",), ["room", "desk"]),
        (("lamp",), ["room"]),
        (("ink", "lamp"), ["room", "desk"]),
        (("desk",), ["room"]),
        (("ink", "desk"), ["room"]),
        (("ink", "room"), []),
        (("room",), []),
        (("nobody",), []),
        ((), []),
    ],
)
def test_the_newest_first_and_none_that_is_named(named: tuple[str, ...], apart: list[str]) -> None:
    assert comes_apart(named, {one.id: one for one in STANDING}.get) == apart


def test_what_somebody_deleted_with_all_its_sources_stays_as_it_is() -> None:
    standing = [memory("ink", "desk"), memory("desk", deleted_at=2)]
    assert comes_apart(("ink",), {one.id: one for one in standing}.get) == []


def test_a_merge_that_leads_into_itself_ends() -> None:
    standing = [memory("a", "b"), memory("b", "a")]
    assert comes_apart(("a",), {one.id: one for one in standing}.get) == []
