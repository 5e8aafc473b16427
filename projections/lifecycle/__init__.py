"""Lifecycle: what falls due by itself. Each job is a pure function (view, now) -> decisions; none has a state of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.extraction import extractions, raises
from engramlog_server.projections.lifecycle.merging import links, merges
from engramlog_server.projections.lifecycle.patterns import abstractions
from engramlog_server.projections.lifecycle.review import rehearsals, reviews
from engramlog_server.projections.lifecycle.suggestion import JOB as SUGGEST
from engramlog_server.projections.lifecycle.suggestion import suggestions
from engramlog_server.projections.lifecycle.sweep import sweep
from engramlog_server.projections.views.view import OwnerView

Plan = Callable[[OwnerView, int], list[Decision]]
"""What is decided on an owner's state at a moment, microseconds."""
Job = Callable[[OwnerView, int, Check], list[Decision]]
"""The same by one job, which asks between its steps whether to go on."""
LEVELS = "levels"
"""The job whose owner's entries are read again before it plans."""
MERGE = "merge"
"""The job that reads the vectors of an owner who has some."""
JOBS: Mapping[str, Job] = {
    "sweep": sweep,
    "review": reviews,
    MERGE: merges,
    "link": links,
    "replay": rehearsals,
    LEVELS: raises,
    "abstract": abstractions,
}
"""In the order in which they run: what is deleted is neither reviewed nor merged."""
COMPARING: Mapping[str, Job] = {SUGGEST: suggestions}
"""What compares vectors of the owner's, and so is planned only where it is named."""
EXTRACTION: Mapping[str, Job] = {"extract": extractions}
"""What is planned and carried out in the same way, but only where it is named."""
FINAL = frozenset({"delete", "purge", "merge"})
"""Actions after which nothing else is to be decided about a memory."""


def plan(view: OwnerView, now: int, jobs: Sequence[str] = tuple(JOBS), check: Check = unchecked) -> list[Decision]:
    """What the jobs would do at `now`, microseconds. What one job deletes, purges or merges no other decides about."""
    decisions: list[Decision] = []
    decided: set[str] = set()
    named = [(name, job) for name, job in {**JOBS, **COMPARING, **EXTRACTION}.items() if name in jobs]
    for _, job in counted(named, check, len(named), every=1):
        found = [one for one in job(view, now, check) if decided.isdisjoint(one.ids)]
        decisions += found
        decided.update(memory_id for one in found if one.action in FINAL for memory_id in one.ids)
    return decisions


__all__ = ["COMPARING", "EXTRACTION", "JOBS", "LEVELS", "MERGE", "SUGGEST", "Decision", "Job", "Plan", "plan"]
