"""Which of the memories that were brought up are kept first where the budget is short. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from projections.choices import MOST_RESULTS
from projections.prompt.block import Line
from projections.views.view import OwnerView


def made_at(view: OwnerView, memory_id: str) -> tuple[int, int]:
    """When a memory was made, and its place in the log; (0, 0) of one that the view does not know."""
    memory = view.get(memory_id)
    return (0, 0) if memory is None else (memory.created_at, memory.created_seq)


def kept_first(view: OwnerView, lines: Sequence[Line]) -> dict[str, list[int]]:
    """The closest first, of more lines than are close that stand in the order of time; nothing where they are kept as shown.

    It is read off the lines, so that a block that is made again from its ids is kept alike.
    """
    made = [made_at(view, line.id) for line in lines]
    if len(lines) <= MOST_RESULTS or made != sorted(made):
        return {}
    return {"retrieved": sorted(range(len(lines)), key=lambda at: (-(lines[at].relevance or 0.0), at))}
