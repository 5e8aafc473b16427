"""Turns become typed memories: by rules, or by a language model while it answers and there is time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from engramlog_server.consumers.jobs.extraction import ExtractionJob
from engramlog_server.consumers.jobs.leader import folded_field
from engramlog_server.consumers.jobs.linking import folded_to, owners_since
from engramlog_server.consumers.jobs.opened import OpenedStore, Walked, model_stopped
from engramlog_server.consumers.jobs.owner_texts import live_build
from engramlog_server.events.errors import BadSetting
from engramlog_server.projections.embedding.likeness import Likeness
from engramlog_server.projections.lifecycle.extracting import RULES

EXTRACT = "extract"
EXTRACT_SECONDS = 240.0
"""After so long a partition's turns are left to the next run: a sweep must not wait for a whole import."""


def run(opened: OpenedStore, partition: int) -> Walked:
    """Extraction for the owners with new events. If the model fails, the rest waits for the next run."""
    served, until = opened.served, monotonic() + EXTRACT_SECONDS
    chat = None if served.extraction == RULES else served.chat
    if served.extraction != RULES and chat is None:
        model_stopped(served, chat, "extraction", "ENGRAMLOG_EXTRACTION is model, and ENGRAMLOG_MODEL is not set")
        return Walked(0, 0, 0)
    if chat is not None and chat.rests:
        return Walked(0, 0, 0)
    if (embedders := served.embedder) is not None:
        opened.lifecycle.alike = Likeness(lambda: embedders().bilingual())
    job = ExtractionJob(opened.views, opened.lifecycle, chat, served.seen)
    incomplete = set[str]()

    def over() -> bool:
        return served.stop.is_set() or monotonic() > until

    def do(owner: str, go_on: Callable[..., None]) -> int:
        if (chat is not None and chat.rests) or over():
            incomplete.add(owner)
            return 0
        try:
            found = job.extract(owner, stop=over, on_progress=go_on)
        except BadSetting as error:  # the model cannot be made, for any owner
            model_stopped(served, chat, "extraction", error.message)
            incomplete.add(owner)
            return 0
        if found.left:
            incomplete.add(owner)
        if found.refused:
            turn_id, reason = next(iter(found.refused.items()))
            facts = {"owner": owner, "turns": len(found.refused), "turn_id": turn_id, "reason": reason}
            served.tell("operations refused", alarm=True, **facts)
        if found.trouble is not None and found.trouble.down:
            model_stopped(served, chat, "extraction", found.trouble.message)
        elif found.trouble is not None:
            served.tell("turns left unread", alarm=True, owner=owner, reason=found.trouble.message)
        return found.done.appended

    tag, field = opened.tags[partition], folded_field(EXTRACT, partition)
    to, since = folded_to(opened.wire, tag), opened.recorded(field)
    since = since if since <= to else 0  # the store came back shorter
    walked = opened.each_owner(
        partition, do, owners_since(opened.wire, live_build(opened.wire, tag), since), incomplete
    )
    if not incomplete:
        opened.record(field, to)
    return walked
