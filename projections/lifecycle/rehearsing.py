"""Replaying important memories, as sleep does (seed 000, phase 3): those due for review are gone through once more.

Only for owners who asked for it (`replay_important`): a replay counts as an access by association, and so changes what every
law but the weighted one says.
"""

from __future__ import annotations

from engramlog_server.events.catalogue import Access, MemoriesAccessed
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.vocabulary import MOST_SHOWN
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.reports.review_due import reviews_due
from engramlog_server.projections.views.view import OwnerView

MOST = MOST_SHOWN
"""Memories replayed in one run."""


def rehearsals(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """One access of all that is important and due by `now`, microseconds; none where the owner did not ask for replays."""
    if not view.parameters.replay_important:
        return []
    check(0, 1)
    due = reviews_due(view, now, limit=MOST)
    memories = [view.columns.memories[int(row)] for row in due.rows]
    if not memories:
        return []
    ids, seq = tuple(memory.id for memory in memories), max(memory.changed_seq for memory in memories)
    data = MemoriesAccessed(accesses=(Access(at=from_micros(now), shown=ids),), via="association")
    reason = f"{len(ids)} important memories are due"
    return [Decision("replay", "replay", ids, int(due.due_at.max()), seq, reason, data)]
