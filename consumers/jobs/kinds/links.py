"""New memories are linked with related ones, whatever interface wrote them."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from engramlog_server.consumers.jobs.leader import folded_field
from engramlog_server.consumers.jobs.linking import LinkingJob, folded_to
from engramlog_server.consumers.jobs.opened import OpenedStore, Walked

LINKS = "links"
LINK_SECONDS = 120.0
"""After so long a partition's rest is left to the daily job: a sweep must not wait for a whole import."""


def run(opened: OpenedStore, partition: int) -> Walked:
    """Links for what is new since the last run. Owners that are left out wait for the daily job."""
    job, until = LinkingJob(opened.wire, opened.tags, opened.lifecycle), monotonic() + LINK_SECONDS
    field, to = folded_field(LINKS, partition), folded_to(opened.wire, opened.tags[partition])
    since = opened.recorded(field)
    since = since if since <= to else 0  # the store came back shorter
    new = {} if since == to else {memories.owner: memories for memories in job.new(partition, since)}

    def do(owner: str, go_on: Callable[..., None]) -> int:
        return job.link(new[owner], go_on) if monotonic() < until else 0

    walked = opened.each_owner(partition, do, list(new))
    opened.record(field, to)
    return walked
