"""What is purged or secret today is not told of any past either. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engramlog_server.projections.memory.columns import Columns, Flags, Rows
from engramlog_server.projections.memory.record import SECRET, Memory, with_changes, without_content


def hidden_in(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Those of these records of which no past may show the content either: purged ones and secrets."""
    return {memory.id: memory for memory in memories if memory.purged_at is not None or memory.sensitivity >= SECRET}


def hides_today(columns: Columns) -> Flags:
    """By row: whether no past may show the content."""
    hides: Flags = (columns.sensitivity >= SECRET) | (columns.state == Columns.PURGED)
    return hides


def hidden_ids(columns: Columns) -> list[str]:
    """Ids of these, in the order of rows; of a view, without reading the other records."""
    return _ids(columns, hides_today(columns))


def purged_ids(columns: Columns) -> list[str]:
    """The same of those that are purged."""
    return _ids(columns, columns.state == Columns.PURGED)


def _ids(columns: Columns, which: Flags) -> list[str]:
    rows: Rows = np.flatnonzero(which)
    return [columns.memories[row].id for row in rows.tolist()]


def as_hidden_today(memory: Memory, today: Memory) -> Memory:
    """A record of the past, of which today's record hides the content: a secret, or a tombstone where it was purged."""
    if today.purged_at is None:
        return with_changes(memory, sensitivity=SECRET)
    gone = {"deleted_at": today.deleted_at, "purged_at": today.purged_at}
    return with_changes(memory, **without_content(memory), **gone)
