"""Sessions that ended become episodes, and what replies rest on is recorded."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from engramlog_server.consumers.jobs.episodes import MODEL, EpisodeJob
from engramlog_server.consumers.jobs.lifecycle import owners_of
from engramlog_server.consumers.jobs.opened import OpenedStore, Walked, model_stopped
from engramlog_server.events.errors import BadSetting

EPISODES_SECONDS = 240.0
"""After so long a partition's owners are left to the next run: a sweep must not wait for a whole import."""


def run(opened: OpenedStore, partition: int) -> Walked:
    """Episodes for the owners with new turns. If the model fails, the rest waits for the next run."""
    served, until = opened.served, monotonic() + EPISODES_SECONDS
    chat = served.chat if served.summaries == MODEL else None
    if chat is not None and chat.rests:
        return Walked(0, 0, 0)
    job = EpisodeJob(opened.log, opened.views, chat=chat, seen=served.looked_at)

    def do(owner: str, go_on: Callable[..., None]) -> int:
        if (chat is not None and chat.rests) or monotonic() > until:
            return 0
        try:
            done = job.carry_out(owner, on_progress=go_on)
        except BadSetting as error:  # the model cannot be made, for any owner
            model_stopped(served, chat, "summarising", error.message)
            return 0
        if done.refused:
            served.tell("summaries refused", owner=owner, refused=done.refused, by_model=done.by_model)
        if done.down:
            model_stopped(served, chat, "summarising", done.failure or "no answer")
        return done.appended

    return opened.each_owner(partition, do, job.changed(partition, owners_of(opened.wire, opened.tags[partition])))
