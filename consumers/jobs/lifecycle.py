"""Lifecycle jobs: decisions are planned on an owner's newest state and appended as events.

A job that is killed is run again and goes on: events that it appended are folded by then and no longer due, and those that are
not folded yet have the same ids. The append names the owner's head that the plan is based on, and is refused if that moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from engramlog_server.consumers.jobs.owner_texts import live_build
from engramlog_server.events.envelope import Prepared, from_micros, principal_of
from engramlog_server.events.errors import (
    ConcurrencyError,
    InputError,
    NotYetFolded,
    OwnerQuarantined,
    StoreUnavailable,
    refused,
)
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.parameters import Parameters
from engramlog_server.events.partitions import SYSTEM_OWNERS, parse_position, partition_of, position_text
from engramlog_server.events.redis.wire import Wire, pairs
from engramlog_server.events.standing import Speaker
from engramlog_server.events.validation import make_event, ready
from engramlog_server.projections.checks import Bounds, Check, unchecked
from engramlog_server.projections.embedding.choosing import VectorsCompared
from engramlog_server.projections.embedding.meaning import KnownVectors
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.lifecycle import JOBS, LEVELS, MERGE, SUGGEST, Decision, Plan, plan
from engramlog_server.projections.lifecycle.extraction import levels_today
from engramlog_server.projections.lifecycle.merging import same_in_other_words
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.ranking.question import Senses
from engramlog_server.projections.redis.builds import version_of
from engramlog_server.projections.redis.view import PartitionStanding, RedisViews
from engramlog_server.projections.views.view import OwnerView

RULE = "rule"
REQUEST = 500
"""Decisions appended at once."""
TRIES = 5
"""How often a plan is made again because new events of the owner arrived."""
WAIT_SECONDS = 10.0
Settle = Callable[[Mapping[int, int]], None]
Seen = TypeVar("Seen")


@dataclass(slots=True)
class LifecycleRun:
    """The result of a run for one owner."""

    owner: str
    decisions: list[Decision] = field(default_factory=list)
    """The decisions, in order."""
    appended: int = 0
    """How many of them are in the log now, including those that an earlier run appended."""
    position: str | None = None
    compared: VectorsCompared | None = None
    """What a job that compares vectors looked at, before its own additions; None if none ran."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: counts by action, and every decision."""
        counts: dict[str, int] = {}
        for one in self.decisions:
            counts[one.action] = counts.get(one.action, 0) + 1
        told = {
            "owner": self.owner,
            "counts": counts,
            "decisions": [one.as_dict() for one in self.decisions],
            "appended": self.appended,
            "position": self.position,
        }
        return told if self.compared is None else told | {"compared": self.compared.told()}


class _RestsOn(NamedTuple):
    """The state that decisions depend on: the owner's parameters, and the memories that they are about."""

    parameters: Parameters
    memories: Mapping[str, Memory | None]

    @classmethod
    def of(cls, view: OwnerView, decisions: Iterable[Decision]) -> _RestsOn:
        """The state in a view."""
        return cls(view.parameters, {memory_id: view.get(memory_id) for one in decisions for memory_id in one.ids})

    def is_the_same(self, now: _RestsOn, decision: Decision) -> bool:
        """Whether the parameters and the decision's memories are unchanged."""
        same = all(self.memories[memory_id] == now.memories[memory_id] for memory_id in decision.ids)
        return same and self.parameters == now.parameters


def folded_by_workers(_until: Mapping[int, int]) -> None:
    """Do nothing: the store's workers fold, and the view waits for them."""


def deleted_in(view: OwnerView) -> dict[str, int]:
    """Memory id -> time of its deletion, of memories that wait to be purged."""
    columns = view.columns
    rows = np.flatnonzero(columns.state == Columns.DELETED).tolist()
    return {columns.memories[row].id: int(columns.deleted_at[row]) for row in rows}


class LifecycleJobs:
    """Runs lifecycle jobs on one store. `settle` folds if no worker does; `senses` has the vectors that jobs compare."""

    reviewer = RULE
    """Who answers in a review."""

    def __init__(
        self, log: EventLog, views: RedisViews, settle: Settle = folded_by_workers, senses: Senses | None = None
    ) -> None:
        self._log = log
        self._views = views
        self.alike: Alike = no_model if senses is None else senses.alike
        self._settle = settle
        self.senses = senses

    def look(
        self, owner: str, see: Callable[[OwnerView, int], Seen], *, now: int | None = None, check: Check = unchecked
    ) -> Seen:
        """What `see` makes of the owner's newest state, all that is in the log folded; nothing is appended.

        Raises OwnerQuarantined where the owner's state stands still, NotYetFolded where nobody folds.
        """
        _, newest = self._level(owner)
        with self._views.view(owner, after=newest, wait_seconds=WAIT_SECONDS, bounds=Bounds(check)) as (view, standing):
            _refuse_quarantined(owner, standing)
            _refuse_another_version(owner, standing)
            moment = self._log.now() if now is None else now
            view.deletions_seen = self._views.deletions.seen(owner, deleted_in(view), moment)
            self._have_named(view)
            return see(view, moment)

    def comparing(self, see: Callable[[OwnerView, int], Seen]) -> Callable[[OwnerView, int], Seen]:
        """The same, to be shown a view with its vectors, where the owner has some."""

        def seen(view: OwnerView, now: int) -> Seen:
            view.vectors_today = None if self.senses is None else self.senses.known_vectors(view, view.owner)
            try:
                return see(view, now)
            finally:
                view.vectors_today = None

        return seen

    def plan(
        self, owner: str, jobs: Sequence[str] = tuple(JOBS), *, now: int | None = None, check: Check = unchecked
    ) -> LifecycleRun:
        """Plan the jobs without appending. `now` in microseconds, by default the store's clock."""
        _, newest = self._level(owner)
        with self._views.view(owner, after=newest, wait_seconds=WAIT_SECONDS, bounds=Bounds(check)) as (view, standing):
            _refuse_another_version(owner, standing)
            moment = self._log.now() if now is None else now
            view.deletions_seen = self._views.deletions.seen(owner, deleted_in(view), moment)
            self._have_named(view)
            looked: list[VectorsCompared] = []
            decisions = self._planned(view, moment, jobs, check, looked)
        return LifecycleRun(owner, decisions, 0, standing.position, _first(looked))

    def carry_out(
        self,
        owner: str,
        jobs: Sequence[str] = tuple(JOBS),
        *,
        now: int | None = None,
        on_progress: Callable[[int, int], None] = lambda _done, _total: None,
        check: Check = unchecked,
    ) -> LifecycleRun:
        """Plan by the laws and append. Raises ConcurrencyError if new events never pause, OwnerQuarantined, StoreError."""
        looked: list[VectorsCompared] = []
        planner = partial(self._planned, jobs=jobs, check=check, looked=looked)
        done = self.carry_out_plan(owner, planner, now=now, on_progress=on_progress, check=check)
        done.compared = _first(looked)
        return done

    def _planned(
        self, view: OwnerView, now: int, jobs: Sequence[str], check: Check, looked: list[VectorsCompared]
    ) -> list[Decision]:
        """What the jobs would do. What a job compares with the owner's state is read before, and forgotten after it.

        `looked` takes in what it looked at.
        """
        if LEVELS in jobs:
            view.judged_today = self._levels_today(view, check)
        try:
            if SUGGEST in jobs:
                view.vectors_today = self._vectors_today(view)
            elif MERGE in jobs and self.senses is not None and same_in_other_words(view, check):
                view.vectors_today = self.senses.known_vectors(view, view.owner)
            decisions = plan(view, now, jobs, check)
            if view.compared_today is not None:
                looked.append(view.compared_today)
            return decisions
        finally:
            view.judged_today = view.vectors_today = view.compared_today = None

    def _vectors_today(self, view: OwnerView) -> KnownVectors:
        """The vectors of the view's rows. Raises InputError if this owner has none."""
        found = None if self.senses is None else self.senses.known_vectors(view, view.owner)
        if found is None:
            raise refused(
                "jobs", SUGGEST, f"an embedder that counts for {view.owner} and is here: vectors are compared"
            )
        return found

    def _levels_today(self, view: OwnerView, check: Check) -> dict[str, int]:
        seqs = self._views.changelogs.seqs(view.owner)[: view.state.applied]
        return levels_today(self._stored(view.owner, seqs), check=check, total=len(seqs))

    def carry_out_plan(
        self,
        owner: str,
        planner: Plan,
        *,
        now: int | None = None,
        on_progress: Callable[[int, int], None] = lambda _done, _total: None,
        check: Check = unchecked,
    ) -> LifecycleRun:
        """What `planner` makes of the owner's newest state, appended; it is asked anew where the owner goes on meanwhile.

        The planner is called while the view is held, so it waits for nothing: what it needs of others is fetched before. Of an
        owner who goes on while a plan is made, what was decided about memories that are as they were is appended all the same.
        `on_progress` gets how many decisions are appended, and of how many; `check` is asked before each request, and where it
        raises, what was appended stays and the next run goes on. Raises as `carry_out`, and what the planner raises.
        """
        done = LifecycleRun(owner)
        for _ in range(TRIES):
            head, newest = self._level(owner)
            with self._views.view(owner, after=newest, wait_seconds=WAIT_SECONDS, bounds=Bounds(check)) as (
                view,
                standing,
            ):
                _refuse_quarantined(owner, standing)
                _refuse_another_version(owner, standing)
                moment = self._log.now() if now is None else now
                view.deletions_seen = self._views.deletions.note(owner, deleted_in(view), moment)
                self._have_named(view)
                decisions = planner(view, moment)
                rests_on = _RestsOn.of(view, decisions)
            if not decisions:
                done.position = done.position or standing.position
                return done
            for _closer in range(TRIES):
                if self._append(owner, decisions, moment, head, done, on_progress, check):
                    gone = {
                        memory_id: moment for one in done.decisions if one.action == "delete" for memory_id in one.ids
                    }
                    self._views.deletions.add(owner, gone, moment)
                    return done
                head, decisions = self._still_true(owner, decisions, rests_on, done)
                if not decisions:
                    break
        raise ConcurrencyError(
            f"owner {owner} went on {TRIES} times while its lifecycle was planned; run it again when less is going on",
            owner=owner,
            appended=done.appended,
        )

    def _still_true(
        self, owner: str, decisions: Sequence[Decision], rests_on: _RestsOn, done: LifecycleRun
    ) -> tuple[int, list[Decision]]:
        """The owner's head now, and what of these decisions was not appended and is about memories that nothing changed since.

        Nothing if some say when something was said: these are planned again, or the mark that turns are read would stand alone.
        """
        head, newest = self._level(owner)
        if any(one.said_at is not None for one in decisions):
            return head, []
        appended = {one.event_id(owner) for one in done.decisions}
        with self._views.view(owner, after=newest, wait_seconds=WAIT_SECONDS) as (view, _standing):
            now = _RestsOn.of(view, decisions)
        left = [one for one in decisions if one.event_id(owner) not in appended]
        return head, [one for one in left if rests_on.is_the_same(now, one)]

    def _have_named(self, view: OwnerView) -> None:
        """Give a view, once, the key that makes ids of its owner's words."""
        if not view.naming.secret:
            view.naming = self._log.naming(view.owner)

    def _level(self, owner: str) -> tuple[int, int]:
        """Have everything of the owner folded, accesses too, which its head does not count; gives its head, and its partition's."""
        partition = partition_of(owner, self._log.partitions)
        head = self._log.owner_head(owner)
        newest = self._log.head(partition)
        if newest:
            self._settle({partition: newest})
        return head, newest

    def _append(
        self,
        owner: str,
        decisions: Sequence[Decision],
        now: int,
        head: int,
        done: LifecycleRun,
        on_progress: Callable[[int, int], None],
        check: Check,
    ) -> bool:
        """Append in requests; False if the owner's head moved, and the rest must be planned again."""
        total, causes = len(decisions), self._causes(owner, decisions)
        for request in _requests(decisions):
            check(len(done.decisions), total)
            while request:
                events = [self._event(owner, one, now, causes) for one in request]
                try:
                    receipts = self._log.append(events, expected_heads={owner: head})
                except InputError:  # the words' id was erased after the decision
                    if self._log.owner_head(owner) == head:
                        raise
                    return False
                taken = {r.event_id for r in receipts if r.status == "conflict"}
                if not taken:
                    break
                # Another run decided the same at another moment: its event stands, the others are sent without it.
                request = [one for one in request if one.event_id(owner) not in taken]  # noqa: PLW2901
            else:
                continue
            if any(receipt.status == "head_mismatch" for receipt in receipts):
                return False
            head = max(head, _newest(request, receipts))
            done.decisions += request
            done.appended += len(request)
            done.position = position_text(partition_of(owner, self._log.partitions), head) if head else None
            on_progress(len(done.decisions), total)
        return True

    def _event(self, owner: str, decision: Decision, now: int, causes: Mapping[int, str]) -> Prepared:
        by = Speaker("job", principal_of(self._log.principal, decision.model))
        event = make_event(
            decision.data,
            owner=owner,
            occurred_at=from_micros(now if decision.said_at is None else decision.said_at),
            actor=decision.actor,
            now=max(now, self._log.now()),
            event_id=decision.event_id(owner),
            causation_id=causes.get(decision.seq),
            session_id=decision.session,
            correlation_id=decision.correlation_id,
            trust=decision.rests_on,
            by=by,
        )
        return ready(event, by)._replace(model=decision.model)

    def _causes(self, owner: str, decisions: Sequence[Decision]) -> dict[int, str]:
        """Seq -> id of the events that caused the decisions."""
        seqs = sorted({decision.seq for decision in decisions})
        return {stored.seq: id_text(stored.raw_id) for stored in self._stored(owner, seqs)}

    def _stored(self, owner: str, seqs: Sequence[int]) -> Iterator[Any]:
        for start in range(0, len(seqs), 1_000):
            yield from self._views.stored(owner, seqs[start : start + 1_000])


def _first(looked: Sequence[VectorsCompared]) -> VectorsCompared | None:
    """What the first of several plans looked at: memories that a run adds have no vector and were not compared."""
    return looked[0] if looked else None


def owners_of(wire: Wire, tag: str) -> list[str]:
    """The owners of a partition, sorted, without the store's own; read in pages from the live build."""
    return sorted({name.decode() for name, _ in pairs(wire, live_build(wire, tag).owners)} - SYSTEM_OWNERS)


def _requests(decisions: Sequence[Decision]) -> Iterator[list[Decision]]:
    """The decisions in requests. Decisions from one turn share a request, which is appended as a whole or not at all."""
    request: list[Decision] = []
    for one in decisions:
        together = bool(request) and one.said_at is not None and request[-1].seq == one.seq
        if len(request) >= REQUEST and not together:
            yield request
            request = []
        request.append(one)
    if request:
        yield request


def _refuse_quarantined(owner: str, standing: PartitionStanding) -> None:
    if standing.quarantine is not None:
        raise OwnerQuarantined(
            f"owner {owner} is quarantined: nothing is decided on a state that stands still", owner=owner
        )


def _refuse_another_version(owner: str, standing: PartitionStanding) -> None:
    """Records of another version lack what the laws read: nothing may be decided on them."""
    if version_of(standing.build) != PROJECTION_VERSION:
        raise NotYetFolded(
            f"the live build {standing.build} was folded by another version, mine is {PROJECTION_VERSION}: nothing is decided on"
            " it; run `engramlog rebuild` first",
            owner=owner,
            build=standing.build,
        )


def _newest(request: Sequence[Decision], receipts: Sequence[AppendReceipt]) -> int:
    """Seq of the newest event that moves the owner's head. Raises StoreUnavailable if an event was not written."""
    newest = 0
    for decision, receipt in zip(request, receipts, strict=True):
        if not receipt.written or receipt.position is None:
            raise StoreUnavailable(receipt.error or f"event {receipt.event_id} was not written ({receipt.status})")
        if decision.action != "replay":
            newest = max(newest, parse_position(receipt.position)[1])
    return newest
