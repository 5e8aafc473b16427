"""Memories that were appended raw are judged: what each ends, or may contradict. Verbs judge theirs at the write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from math import inf
from time import monotonic

from engramlog_server.consumers.jobs.opened import OpenedStore, Walked
from engramlog_server.events.envelope import Stored
from engramlog_server.projections.checks import Check
from engramlog_server.projections.embedding.likeness import Likeness
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.raw import JOB, judgements
from engramlog_server.projections.views.view import OwnerView

JUDGE = JOB
JUDGE_SECONDS = 120.0
"""After so long a partition's rest is left to the next run."""
MOST_EVENTS = 2_000
"""Raw events judged in one run."""


def run(opened: OpenedStore, partition: int, most: int = MOST_EVENTS, to: float = inf) -> Walked:
    """Judge the first `most` raw events of a partition, up to seq `to`. Owners that failed are tried again after the others."""
    until, unjudged = monotonic() + JUDGE_SECONDS, opened.views.unjudged
    owners = defaultdict[str, list[Stored]](list)
    spans = [span for span in unjudged.first(partition, most) if span.last <= to]
    if not spans:
        return Walked(0, 0, 0)
    if (embedders := opened.served.embedder) is not None:
        opened.lifecycle.alike = Likeness(lambda: embedders().bilingual())
    seqs = sorted({seq for one in spans for seq in range(one.first, one.last + 1)})
    for one in opened.log.read_at(partition, seqs):
        if one.kind.startswith("MemoryCreated."):
            owners[one.owner].append(one)
    incomplete = set[str]()

    def do(owner: str, go_on: Callable[..., None]) -> int:
        if monotonic() > until:
            incomplete.add(owner)
            return 0
        planner = partial(_planned, entries=owners[owner], check=go_on, alike=opened.lifecycle.alike)
        return opened.lifecycle.carry_out_plan(owner, planner, on_progress=go_on, check=go_on).appended

    walked = opened.each_owner(partition, do, sorted(owners), incomplete)
    left = {one.seq for owner in incomplete for one in owners[owner]}
    late = [span for span in spans if any(span.first <= seq <= span.last for seq in left)]
    unjudged.remove(partition, [span for span in spans if span not in late])
    unjudged.postpone(partition, late, opened.log.head(partition))
    return walked


def _planned(view: OwnerView, _now: int, *, entries: list[Stored], check: Check, alike: Alike) -> list[Decision]:
    return judgements(view, entries, check, alike)
