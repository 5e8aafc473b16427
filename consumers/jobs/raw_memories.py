"""Memories that were appended raw are judged at once, by a thread of the process that leads the schedule.

An append notes the memories to be judged, and the note wakes the thread (`projections.redis.job_notes`). A raw memory waits for no
tick, no other job and no start of a worker: only until it is folded, and for raw memories that were noted before it. The job
`judge` does the same for what a thread that died left behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from math import inf
from threading import Thread
from time import monotonic

from engramlog_server.consumers.jobs.opened import GivenUp, JobResources, OpenedStore, Walked
from engramlog_server.consumers.jobs.owner_texts import folded_to
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import EngramlogError
from engramlog_server.projections.checks import Check
from engramlog_server.projections.embedding.encoders import Likeness
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.language.text import holds_texts
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.extraction import JUDGE, judgements
from engramlog_server.projections.views.view import OwnerView

JUDGE_SECONDS = 120.0
"""After so long a partition's rest is left to the next run."""
MOST_EVENTS = 2_000
"""Raw events judged in one run."""


def judge_raw(opened: OpenedStore, partition: int, most: int = MOST_EVENTS, to: float = inf) -> Walked:
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


MOST_AT_ONCE = 200
"""Raw events of a partition that are judged before other partitions have their turn."""
WAIT_SECONDS = 0.5
"""How long it waits for a note before it looks again whether this process leads."""
SOONEST_SECONDS, LATEST_SECONDS = 0.05, 5.0
"""How long it waits before it tries again what is not folded yet, or failed: each time twice as long. A note ends the wait."""


class RawMemories:
    """Judges raw memories while this process leads, from a thread of its own."""

    def __init__(self, resources: JobResources, store_id: str, leads: Callable[[], bool]) -> None:
        """`leads`: whether this process leads the schedule. The thread also ends if the resources' `stop` is set."""
        self._resources = resources
        self._store_id = store_id
        self._leads = leads
        self._opened: OpenedStore | None = None
        self._again = SOONEST_SECONDS
        self._trouble = ""
        self._thread = Thread(target=self._run, name="raw memories", daemon=True)
        holds_texts(self)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float | None = None) -> None:
        """Set the resources' `stop` and wait for the thread's end, at most so many seconds. Idempotent."""
        self._resources.stop.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def forget(self) -> None:
        """Keep nothing of any owner any more: something was erased. From any thread."""
        if (opened := self._opened) is not None:
            seals = opened.wire.seals
            for owner in {*opened.views.held_owners(), *seals.held_owners()}:
                opened.views.forget(owner)
                seals.forget(owner)
                opened.log.forget(owner)

    def _run(self) -> None:
        stop = self._resources.stop
        while not stop.is_set():
            try:
                if self._leads():
                    self.judge()
                else:
                    self._close()
                    stop.wait(WAIT_SECONDS)
            except GivenUp:
                break
            except Exception as error:  # noqa: BLE001 - the thread's end would leave raw memories to a job every five minutes
                self._close()
                self._report(error)
                stop.wait(WAIT_SECONDS)
            else:
                self._trouble = ""
        self._close()

    def judge(self) -> None:
        """Judge what waits, or wait for a note. Raises what the store raises, and GivenUp."""
        opened = self._opened = self._opened or OpenedStore(self._resources, self._store_id, f"job:{JUDGE}")
        unjudged, began = opened.views.unjudged, monotonic()
        notes = unjudged.notes()
        waiting = unjudged.waiting()
        runs = [
            judge_raw(opened, partition, MOST_AT_ONCE, folded_to(opened.wire, opened.tags[partition]))
            for partition in waiting
        ]
        if any(walked.owners > walked.failed for walked in runs):
            self._again = SOONEST_SECONDS
            self._resources.stop.wait(
                min(monotonic() - began, WAIT_SECONDS)
            )  # of one process others have half of the time
        elif waiting:
            unjudged.wait(notes, self._again)
            self._again = min(2 * self._again, LATEST_SECONDS)
        else:
            self._again = SOONEST_SECONDS
            unjudged.wait(notes, WAIT_SECONDS)

    def _report(self, error: Exception) -> None:
        reason = error.message if isinstance(error, EngramlogError) else type(error).__name__
        if reason != self._trouble:
            self._trouble = reason
            self._resources.tell("raw memories delayed", reason=reason, alarm=not isinstance(error, EngramlogError))

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None
