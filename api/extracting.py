"""Extraction by hand: what the turns of an owner would become, and doing exactly that. See docs/extraction.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from api.asked import check_owner
from api.cleaning import Lifecycle, Progress
from api.reading import Reader
from events.log import EventLog
from events.partitions import partition_of
from projections.lifecycle.extracting import verdicts
from projections.lifecycle.judging import Verdict
from projections.memory import SECRET
from projections.sensitivity import detect_sensitivity
from projections.view import WITHHELD

JOB = "extract"


class Extractor:
    """Has the turns of an owner become typed memories. Safe for threads."""

    def __init__(
        self, lifecycle: Lifecycle, log: EventLog, reader: Reader, settle: Callable[[Mapping[int, int]], None]
    ) -> None:
        self._lifecycle = lifecycle
        self._log = log
        self._reader = reader
        self._settle = settle

    def rehearse(self, owner: str) -> dict[str, Any]:
        """What every statement of the unread turns would become, and why; appends nothing and leaves no trace."""
        self._level(check_owner(owner))
        with self._reader.scene(owner) as scene:
            found = verdicts(scene.view, self._log.now())
            answer = {
                "owner": owner,
                "dry_run": True,
                "counts": dict(Counter(one.operation.lower() for one in found)),
                "statements": [_told(one) for one in found],
                "position": scene.position,
            }
        return answer | scene.warning

    def extract(self, owner: str, *, on_progress: Progress = lambda _done, _total: None) -> dict[str, Any]:
        """Append what follows from the unread turns. Running it again, or after it was killed, does nothing twice.

        Raises OwnerQuarantined where the owner's state stands still, ConcurrencyError where it never does.
        """
        self._level(check_owner(owner))
        answer = self._lifecycle.carry_out(owner, [JOB], on_progress=on_progress).as_dict()
        if answer["appended"]:
            self._level(owner)
        return {"owner": owner, "dry_run": False} | answer

    def _level(self, owner: str) -> None:
        """Have everything of the owner's partition folded."""
        partition = partition_of(owner, self._log.partitions)
        head = self._log.head(partition)
        if head:
            self._settle({partition: head})


def _told(verdict: Verdict) -> dict[str, Any]:
    """A verdict, JSON-ready; nothing of a secret."""
    said = verdict.statement
    secret = detect_sensitivity(said.content) >= SECRET
    triple = None if said.triple is None or secret else said.triple._asdict()
    return {
        "operation": verdict.operation,
        "reason": verdict.reason,
        "turn_id": verdict.turn_id,
        "memory_id": verdict.memory_id,
        "other": verdict.other,
        "content": WITHHELD if secret else said.content,
        "category": said.category,
        "kind": said.kind,
        "polarity": said.polarity,
        "asserted": said.asserted,
        "confidence": said.confidence,
        "keywords": [] if secret else list(said.keywords),
        "triple": triple,
        "span": list(said.span),
    }
