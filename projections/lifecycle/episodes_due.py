"""Episodes as a plan: what sittings leave behind, decided on what was said and on the episodes there are. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion_view import deleted_turns, rejected_turns
from engramlog_server.projections.memory.episode import PlannedEpisode, groups, is_episode, plan
from engramlog_server.projections.memory.record import HOUR
from engramlog_server.projections.memory.sittings import sittings
from engramlog_server.projections.memory.working_memory import Said
from engramlog_server.projections.views.view import OwnerView

JOB = "sessions"


class DueEpisodes(NamedTuple):
    """What a look at an owner's sittings came to."""

    planned: list[PlannedEpisode]
    waiting_from: int | None
    """Seq of the oldest message that is to become part of a later episode; None for none."""
    next_at: int | None
    """When the next sitting ends if nothing more is said, microseconds since 1970; None where none is open."""


def due(view: OwnerView, told: Sequence[Said], now: int, check: Check = unchecked) -> DueEpisodes:
    """The episodes that fall due at `now`, oldest sitting first, and what is left for later.

    `told`: what was said to the owner in log order, at least from the oldest message on that no episode has.
    """
    forgotten = deleted_turns(view.columns) | rejected_turns(view.columns)
    have = _summed_up(view, forgotten)
    idle = max(int(view.parameters.session_idle_hours * HOUR), 1)
    planned: list[PlannedEpisode] = []
    waiting, ends = [], []
    found_sittings = sittings(told, idle, now)
    for sitting in counted(found_sittings, check, len(found_sittings), every=1):
        found = plan(
            view.owner, sitting.turns, have, ended=sitting.ended, zone=view.parameters.time_zone, forgotten=forgotten
        )
        planned += [one for one in found if view.columns.row(one.data.memory_id) is None]
        if not sitting.ended:
            ends.append(sitting.ends_at)
            waiting += [group[0].seq for group, is_due in groups(sitting.turns, {*have, *forgotten}) if not is_due]
    return DueEpisodes(planned, min(waiting, default=None), min(ends, default=None))


def _summed_up(view: OwnerView, forgotten: Collection[str]) -> set[str]:
    """Turns that an episode has, or had until somebody deleted it; one that went with a turn of its, or is withheld for one,
    is made anew without that."""
    found: set[str] = set()
    for memory, state in zip(view.columns.memories, view.columns.state.tolist(), strict=True):
        gone = state >= Columns.REJECTED and any(turn in forgotten for turn in memory.source_turns)
        if is_episode(memory) and not gone:
            found.update(memory.source_turns)
    return found


def decision(planned: PlannedEpisode) -> Decision:
    """The event that makes an episode: dated with its last message, caused by it, and of its session."""
    said = planned.data.source_turns
    return Decision(
        JOB,
        "summarise",
        (planned.data.memory_id,),
        planned.at,
        planned.last.seq,
        f"{len(said)} {'message' if len(said) == 1 else 'messages'} of one sitting",
        planned.data,
        said_at=planned.at,
        session=planned.last.session,
    )
