"""What sessions leave behind, carried out: episodes of what was said, and that a memory was used in a reply.

Both follow from what was said, which the fold keeps nothing of. It is read back from the log: the first time everything, then
from the oldest message on that waits for its episode. How far that is, is remembered by this process alone and found again by
reading: nothing depends on it but time. Decisions have ids of what they are made of, so a run that is killed is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from engramlog_server.consumers.jobs.lifecycle import (
    WAIT_SECONDS,
    LifecycleJobs,
    LifecycleRun,
    Settle,
    folded_by_workers,
)
from engramlog_server.events.errors import ModelFailed
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.checks import Bounds, Check, unchecked
from engramlog_server.projections.lifecycle import Decision
from engramlog_server.projections.lifecycle.sessions import decision, due, uses
from engramlog_server.projections.memory.working_memory import PlannedEpisode
from engramlog_server.projections.models.chat import Chat, ModelUsage
from engramlog_server.projections.models.texts import summary_by
from engramlog_server.projections.redis.said import Since, said_since
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.view import OwnerView

OFF, EXTRACTIVE, MODEL = "off", "extractive", "model"
"""How episodes are written by jobs: not at all, of what was said, by the model."""
ASKED_AT_ONCE = 20
"""Episodes that a model writes before they are appended: as much is lost of its work at most."""
MOST_SEEN = 100_000
"""Owners of whom a process remembers how far it read."""
Progress = Callable[[int, int], None]


class Seen(NamedTuple):
    """How far an owner's sessions were looked at."""

    applied: int
    """How many events of the owner were folded then."""
    read_to: int
    """Seq of the newest event that was read."""
    waiting_from: int | None
    """Seq of the oldest message that waits for its episode."""
    next_at: int | None
    """When a sitting ends by itself, microseconds since 1970."""


@dataclass(slots=True)
class EpisodeRun(LifecycleRun):
    """What a run did for one owner."""

    by_model: int = 0
    """Episodes in a model's words."""
    refused: int = 0
    """Episodes for which the model gave nothing that can be used: told without it."""
    usage: ModelUsage = field(default_factory=ModelUsage)
    """What asking took."""
    failure: str | None = None
    """Why the model could be asked no more, or its last answer not be used."""
    down: bool = False
    """Whether its endpoint failed: the episodes left are told at the next run."""

    def as_dict(self) -> dict[str, Any]:
        """As of any run, and what the model did."""
        # Named, as a dataclass with slots is another class than the one that `super()` would look for.
        told = {name: getattr(self, name) for name in ("by_model", "refused", "failure", "down")}
        return LifecycleRun.as_dict(self) | told | self.usage._asdict()


class EpisodeJob:
    """Runs this on one store. `chat` makes the model that writes episodes; without, they are made of what was said.

    `seen` outlives it where a process opens the store again for every job.
    """

    def __init__(
        self,
        log: EventLog,
        views: RedisViews,
        settle: Settle = folded_by_workers,
        *,
        chat: Callable[[], Chat] | None = None,
        seen: dict[str, Seen] | None = None,
    ) -> None:
        self._log = log
        self._views = views
        self._settle = settle
        self._lifecycle = LifecycleJobs(log, views, settle)
        self._chat = chat
        self._seen = {} if seen is None else seen

    def changed(self, partition: int, owners: Sequence[str], *, now: int | None = None) -> list[str]:
        """Those of a partition's owners who may have left something since they were looked at: in two round trips."""
        moment = self._log.now() if now is None else now
        found = []
        for owner, applied in zip(owners, self._views.applied(partition, owners), strict=True):
            seen = self._seen.get(owner)
            if seen is None or seen.applied != applied or (seen.next_at is not None and moment >= seen.next_at):
                found.append(owner)
        return found

    def plan(self, owner: str, *, now: int | None = None, check: Check = unchecked) -> EpisodeRun:
        """What a run would do, without asking a model: nothing is appended. `now` in microseconds, else the store's clock."""
        newest = self._level(owner)
        read = self._read(owner, None, check)
        with self._views.view(owner, after=newest, wait_seconds=WAIT_SECONDS, bounds=Bounds(check)) as (view, standing):
            run = _Run(read, None, None, check)
            return EpisodeRun(owner, run.decide(view, self._log.now() if now is None else now), 0, standing.position)

    def carry_out(
        self,
        owner: str,
        *,
        now: int | None = None,
        on_progress: Progress = lambda _done, _total: None,
        check: Check = unchecked,
    ) -> EpisodeRun:
        """Plan and append. Raises as `LifecycleJobs.carry_out`, and what making the model raises.

        Where the model cannot be reached, `down` says so; what was appended until then stays, and the next run goes on.
        """
        newest = self._level(owner)
        partition = partition_of(owner, self._log.partitions)
        applied = self._views.applied(partition, [owner])[0]
        seen = self._seen.get(owner)
        if seen is not None and seen.applied > applied:
            seen = None  # the log came back shorter
        left, texts = EpisodeRun(owner), dict[str, str | None]()
        run = _Run(self._read(owner, seen, check), seen, None if self._chat is None else texts, check)
        while True:
            waiting = self._write(left, run, texts, newest, now, on_progress, check)
            done = self._lifecycle.carry_out_plan(owner, run.decide, now=now, on_progress=on_progress, check=check)
            run.uses_told = True
            left.decisions += done.decisions
            left.appended += done.appended
            left.position = done.position or left.position
            if not waiting:
                break
        if left.down:
            return left  # what is left is looked for again
        if len(self._seen) >= MOST_SEEN:
            self._seen.clear()
        self._seen[owner] = Seen(applied, run.read.newest, run.waiting_from, run.next_at)
        return left

    def _level(self, owner: str) -> int:
        """Have what is in the owner's partition folded; gives its head."""
        partition = partition_of(owner, self._log.partitions)
        newest = self._log.head(partition)
        if newest:
            self._settle({partition: newest})
        return newest

    def _read(self, owner: str, seen: Seen | None, check: Check) -> Since:
        if seen is None:
            return said_since(self._views, owner, self._log.partitions, 0, 0, check)
        oldest = seen.read_to + 1 if seen.waiting_from is None else seen.waiting_from
        return said_since(self._views, owner, self._log.partitions, oldest, seen.read_to, check)

    def _write(
        self,
        left: EpisodeRun,
        run: _Run,
        texts: dict[str, str | None],
        newest: int,
        now: int | None,
        on_progress: Progress,
        check: Check,
    ) -> bool:
        """Have the model write the next episodes that fall due, while no view is held; whether there are more after them."""
        if self._chat is None:
            return False
        with self._views.view(left.owner, after=newest, wait_seconds=WAIT_SECONDS, bounds=Bounds(check)) as (view, _):
            planned = due(view, run.read.said, self._log.now() if now is None else now, check).planned
            zone = view.parameters.time_zone
        fresh = [one for one in planned if _key(one) not in texts]
        for number, one in enumerate(fresh[:ASKED_AT_ONCE]):
            check(number, len(fresh))
            on_progress(number, len(fresh))
            try:
                chat = self._chat()
                run.model = chat.model
                text, usage = summary_by(chat, one.turns, zone)
                texts[_key(one)] = text
                left.by_model += 1
            except ModelFailed as failed:
                left.usage = left.usage.plus(ModelUsage(*failed.usage))
                left.failure, left.down = failed.message, failed.down
                if failed.down:
                    return False
                texts[_key(one)] = None
                left.refused += 1
            else:
                left.usage = left.usage.plus(usage)
        return len(fresh) > ASKED_AT_ONCE


class _Run:
    """What was read, and what is decided on it; how far that reaches is told after each decision."""

    def __init__(self, read: Since, seen: Seen | None, texts: Mapping[str, str | None] | None, check: Check) -> None:
        """`texts`: what a model wrote, None where it could not; episodes without are left for later. None: no model writes."""
        self.read = read
        self._after = 0 if seen is None else seen.read_to
        self._texts = texts
        self._check = check
        self.model: str | None = None
        """Whose words they are."""
        self.waiting_from: int | None = None
        self.next_at: int | None = None
        self.uses_told = False
        """Set once they are appended: what is decided after that is only what a model wrote meanwhile."""

    def decide(self, view: OwnerView, now: int) -> list[Decision]:
        """The episodes that fall due and the uses that are not in the log yet, as their last words were said."""
        found = due(view, self.read.said, now, self._check)
        self.waiting_from, self.next_at = found.waiting_from, found.next_at
        decided = [one for each in found.planned if (one := self._worded(each)) is not None]
        if not self.uses_told:
            known = self.read.appended
            found_used = uses(view, self.read.said, self._after, self._check)
            decided += [one for one in found_used if UUID(one.event_id(view.owner)).bytes not in known]
        return sorted(decided, key=lambda one: one.seq)

    def _worded(self, planned: PlannedEpisode) -> Decision | None:
        made = decision(planned)
        if self._texts is None:
            return made
        if _key(planned) not in self._texts:
            return None
        text = self._texts[_key(planned)]
        if text is None:
            return made
        data: Any = msgspec.structs.replace(planned.data, content=text)
        return made._replace(data=data, actor="judge", reason=f"{made.reason}, in a model's words", model=self.model)


def _key(planned: PlannedEpisode) -> str:
    return " ".join((planned.data.memory_id, *planned.data.source_turns))
