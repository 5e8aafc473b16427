"""What is purged or secret today is not told of any past either. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from projections.memory.columns import Columns, Flags, Rows
from projections.memory.record import SECRET, Memory, with_changes, without_content


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


def secret_ids(columns: Columns) -> list[str]:
    """Those that are secrets, or that a merge stands for which is one."""
    found = _ids(columns, columns.sensitivity >= SECRET)
    waiting, known = [columns.memories[row] for row in map(columns.row, found) if row is not None], set(found)
    for merge in waiting:
        for row in map(columns.row, merge.merged_from):
            if row is not None and columns.memories[row].merged_into == merge.id:
                memory = columns.memories[row]
                if memory.id not in known:
                    known.add(memory.id)
                    found.append(memory.id)
                    waiting.append(memory)
    return found


def purged_ids(columns: Columns) -> list[str]:
    """The same of those that are purged."""
    return _ids(columns, columns.state == Columns.PURGED)


def gone_ids(columns: Columns) -> list[str]:
    """Those that are deleted or purged, or that a merge stands for which is."""
    return _ids(columns, columns.standing() >= Columns.DELETED)


def _ids(columns: Columns, which: Flags) -> list[str]:
    rows: Rows = np.flatnonzero(which)
    return [columns.memories[row].id for row in rows.tolist()]


def as_hidden_today(memory: Memory, today: Memory) -> Memory:
    """A record of the past, of which today's record hides the content: a secret, or a tombstone where it was purged."""
    if today.purged_at is None:
        return with_changes(memory, sensitivity=SECRET)
    gone = {"deleted_at": today.deleted_at, "purged_at": today.purged_at}
    return with_changes(memory, **without_content(memory), **gone)
