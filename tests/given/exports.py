"""Memories for tests of exporting, and what their lines become when they are imported for another owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from engramlog_server.api.exchange.export import (
    ExportOptions,
    Made,
    Selection,
    line_of,
    markdown_pieces,
    selection,
    untold,
)
from engramlog_server.api.exchange.records import ImportedRecords, RecordOptions, import_records
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    CLOCK,
    Story,
    Told,
    accessed,
    created,
    linked,
    memory,
    mentioned,
    promoted,
    reinforced,
    revised,
    stored,
)

SECRET = "my password is hunter2"
RICH: dict[str, Any] = {
    "summary": "coffee", "confidence": 0.9, "importance": 2.0, "speaker": "Ada 艾达", "keywords": ("Coffee", "咖啡"),
    "tags": ("drinks",), "emotion": -0.25, "project": "kitchen", "task": "T-7", "sensitivity": 1, "verified": True,
    "source_turns": ("t1", "t2"), "corrects": "tea", "summarises": ("a", "b"), "modality": "audio",
}  # fmt: skip
LIVED = memory.given(
    created("I like tea", of="tea"),
    Told(created(day=1, **RICH).data, 1, "user", {"session_id": "morning"}),
    linked("m", "tea", day=2, weight=0.4),
    mentioned(day=3),
    accessed("m", day=4.5, count=3),
    reinforced(day=5, outcome="used", from_memory="tea"),
    reinforced(day=6, outcome="task_success"),
    promoted("core", day=7),
    revised("I like espresso", day=8, summary="espresso", keywords=("espresso",)),
)
"""Two memories that stand, one of which has been through everything that an import can bring along."""


def view_of(events: Iterable[Told], owner: str = "ada") -> OwnerView:
    return OwnerView.of_history(owner, fold_owner(stored(events, owner)))


def exported(story: Story, **options: Any) -> list[dict[str, Any]]:
    return list(export_lines(view_of(story.events), ExportOptions(**options)))


def imported(lines: Iterable[dict[str, Any]], owner: str = "bo") -> tuple[ImportedRecords, OwnerView]:
    """The answer of importing lines for another owner, and that owner's view."""
    log = InMemoryEventLog(lambda: CLOCK)
    answer = import_records(log, [orjson.dumps(line) for line in lines], RecordOptions(owner=owner, core=True))
    history = fold_owner(log.read(partition_of(owner, log.partitions), 0, 10_000))
    return answer, OwnerView.of_history(owner, history)


EVERY = ExportOptions()


def export_lines(view: OwnerView, options: ExportOptions = EVERY) -> Iterator[dict[str, Any]]:
    """The lines of an export of a view; `selection` tells what is left out."""
    memories = selection(view, options).memories
    exported = {memory.id for memory in memories}
    return (line_of(memory, exported) for memory in memories)


def export_text(view: OwnerView, now: int, options: ExportOptions = EVERY) -> Iterator[str]:
    """The text of an export of a view."""
    return text_of(view, now, selection(view, options))


def text_of(view: OwnerView, now: int, chosen: Selection, made: Made = untold) -> Iterator[str]:
    """The text of what was chosen of a view."""
    return markdown_pieces(view.owner, view.law, view.parameters, now, chosen, made)
