"""What sessions leave behind, when asked: episodes, and which memories replies rested on. See docs/explanation/context.md.

The job itself runs by `consumers`, which `api` may not import: `ops.wiring` hands it in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast

from engramlog_server.api.requests.checks import check_owner
from engramlog_server.api.services.cleaning import Progress, RunReport
from engramlog_server.api.shapes import Episode, Left, Used
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.checks import Check
from engramlog_server.projections.language.sensitivity.text_level import detect_sensitivity
from engramlog_server.projections.lifecycle import Decision
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.views.query import moment
from engramlog_server.projections.views.view import WITHHELD


class EpisodeReport(RunReport, Protocol):
    """What a run did for one owner."""

    @property
    def decisions(self) -> Sequence[Decision]:
        """What was decided, in the order in which it was said."""


class EpisodePlanner(Protocol):
    """Plans what an owner's sessions leave behind and carries it out."""

    def plan(self, owner: str, *, check: Check) -> EpisodeReport:
        """What a run would do, without asking a model. `check` is asked between the steps, and may end it."""

    def carry_out(self, owner: str, *, on_progress: Progress, check: Check) -> EpisodeReport:
        """Plan and append; what is appended when `check` ends it stays.

        Raises ConcurrencyError, OwnerQuarantined, BadSetting or StoreError.
        """


class Episodes:
    """Has an owner's sessions leave their episodes. Safe for threads."""

    def __init__(self, planner: EpisodePlanner, log: EventLog, settle: Callable[[Mapping[int, int]], None]) -> None:
        self._planner = planner
        self._log = log
        self._settle = settle

    def make(self, owner: str, *, dry_run: bool = False, on_progress: Progress = lambda _done, _total: None) -> Left:
        """Episodes that fall due and uses that are not noted yet; with `dry_run` what would be, which changes nothing.

        Running it again, or after it was killed, does nothing twice. Raises OwnerQuarantined where the owner's state stands
        still, ConcurrencyError where it never does.
        """
        check_owner(owner)
        check = current_check()
        if dry_run:
            left = self._planner.plan(owner, check=check)
        else:
            left = self._planner.carry_out(owner, on_progress=on_progress, check=check)
        answer = left.as_dict()
        if answer["appended"]:
            partition = partition_of(owner, self._log.partitions)
            self._settle({partition: self._log.head(partition)})
        del answer["decisions"]
        made = {one.action: [each for each in left.decisions if each.action == one.action] for one in left.decisions}
        counts = dict(Counter(one.action for one in left.decisions))
        episodes = [_episode(one) for one in made.get("summarise", ())]
        uses = [_used(one) for one in made.get("use", ())]
        return cast("Left", answer | {"dry_run": dry_run, "counts": counts, "episodes": episodes, "uses": uses})


def _used(made: Decision) -> Used:
    assert made.said_at is not None, "it follows from what was said"
    return {
        "memory_id": made.ids[0],
        "session": made.session,
        "at": moment(made.said_at),
        "reason": made.reason,
    }


def _episode(made: Decision) -> Episode:
    data = made.data
    assert isinstance(data, MemoryCreated), "episodes are memories"
    assert made.said_at is not None, "of what was said"
    return {
        "memory_id": data.memory_id,
        "session": made.session,
        "content": WITHHELD if detect_sensitivity(data.content) >= SECRET else data.content,
        "turns": list(data.source_turns),
        "at": moment(made.said_at),
        "reason": made.reason,
    }
