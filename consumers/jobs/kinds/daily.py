"""Merges, associations and replays of every owner, once a day; then levels by newer rules."""

from __future__ import annotations

from collections.abc import Callable

from engramlog_server.consumers.jobs.kinds.upkeep import lifecycle
from engramlog_server.consumers.jobs.opened import OpenedStore, Walked
from engramlog_server.consumers.verify.levels import Levels
from engramlog_server.projections.lifecycle import LEVELS

DAILY_JOBS = ("merge", "link", "replay")
"""Names in `projections.lifecycle.JOBS`."""


def run(opened: OpenedStore, partition: int) -> Walked:
    """The daily jobs, then levels for those owners whose entries older rules judged, or none."""
    failed = set[str]()
    walked = lifecycle(opened, partition, DAILY_JOBS, failed)
    levels = Levels(opened.wire, opened.log, opened.tags[partition], partition)
    waiting = levels.waiting(opened.go_on)

    def reread(owner: str, go_on: Callable[..., None]) -> int:
        return opened.lifecycle.carry_out(owner, (LEVELS,), on_progress=go_on, check=go_on).appended

    failed.intersection_update(waiting.owners)
    raised = opened.each_owner(partition, reread, [owner for owner in waiting.owners if owner not in failed], failed)
    levels.read(waiting.seq, failed)
    return Walked(walked.owners, walked.decided + raised.decided, walked.failed + raised.failed)
