"""Deleting many memories at once: core and system ones are left alone, and whatever stays is named with the reason.

Seed 003, "批量删除": ids separated in any way, core memories skipped. Deletions are soft and can be undone for 30 days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.asked import check_memory_id, check_owner, refused
from api.reading import Reader
from api.writing import Writer
from events.catalogue import MemoryDeleted
from events.envelope import prepare
from events.errors import EngramlogError, InputError, NotFound
from events.log import Receipt
from events.vocabulary import MAX_REQUEST_EVENTS
from projections.memory import DAY, Memory
from projections.query import moment
from projections.scene import trouble_with

SPARED = ("core", "system")
"""Tiers that are never deleted here."""
_BETWEEN = re.compile(r"[\s,;，、；]+")
"""What may stand between ids; none of it can stand inside one."""


def split_ids(texts: Iterable[str]) -> list[str]:
    """Ids separated by commas, semicolons, spaces or newlines in any mixture, Chinese ones too; each once, in order."""
    return list(dict.fromkeys(one for text in texts for one in _BETWEEN.split(text) if one))


@dataclass(slots=True)
class Deletion:
    """What became of a request to delete."""

    owner: str
    ids: list[str]
    """As asked for, each once."""
    position: str
    """Where the last deletion stands, or the position at which it was found that there is nothing to write."""
    deleted: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    """Id -> why it was not deleted."""
    waiting: list[str] = field(default_factory=list)
    """Written, and parked behind an event of the owner that cannot be folded."""
    changes: list[dict[str, Any]] = field(default_factory=list)
    """Change-log entries of the deletions."""
    restorable_until: int | None = None
    """When what was deleted now is purged, by the owner's parameter; microseconds since 1970."""
    error: EngramlogError | None = None
    """What stopped it between two requests."""
    warning: dict[str, Any] = field(default_factory=dict)
    """`quarantined`, where the owner is."""
    spared: bool = False
    """Whether a core or system memory was left alone."""
    beyond_change: dict[str, InputError] = field(default_factory=dict)
    """Those of the skipped that no event can change: unknown, purged or merged away."""

    @property
    def exit_code(self) -> int:
        """0 all deleted; 3 partly, or a core or system memory left alone; else 1 nothing, 2 no id that could be deleted."""
        if self.deleted or self.waiting or self.spared:
            return 3 if self.skipped or self.waiting else 0
        return 2 if len(self.beyond_change) == len(self.ids) else 1

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: what was deleted, what was skipped and why, in the order asked for."""
        answer: dict[str, Any] = {
            "owner": self.owner,
            "deleted": self.deleted,
            "skipped": [{"id": one, "reason": self.skipped[one]} for one in self.ids if one in self.skipped],
            "position": self.position,
            "restorable_until": moment(self.restorable_until),
        }
        if self.waiting:
            answer["waiting"] = self.waiting
        if self.error is not None:
            answer["error"] = self.error.as_dict()
        return answer | self.warning

    def as_effects(self) -> dict[str, Any]:
        """The same of a single id, as any verb answers: with `id` and `changes`."""
        return {"id": self.ids[0], "changes": self.changes} | self.as_dict()

    @property
    def refusal(self) -> InputError | None:
        """Why nothing at all could be deleted, where no id names a memory that any event can change."""
        if self.exit_code != 2:
            return None
        found = list(self.beyond_change.values())
        if len(found) == 1:
            return found[0]
        kind = NotFound if all(isinstance(one, NotFound) for one in found) else InputError
        told = f"nothing was deleted: {found[0].message} (and {len(found) - 1:,} more)"
        return kind(told, owner=self.owner, skipped=self.as_dict()["skipped"])


class Deleter:
    """Deletes memories of one store. Safe for threads."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def delete_many(
        self,
        owner: str,
        ids: Sequence[str],
        *,
        actor: str = "user",
        occurred_at: str | None = None,
        on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> Deletion:
        """Soft delete, in requests of 1,000 ids; `on_progress` is told (done, total).

        Raises InputError for an owner, an id, an actor or a time that cannot be: then nothing is written.
        """
        check_owner(owner)
        wanted = [check_memory_id(one) for one in dict.fromkeys(ids)]
        if not wanted:
            raise refused("ids", "none", "the ids of memories to delete")
        when = self._writer.when(occurred_at)
        answer, standing = self._judged(owner, wanted, when)
        if answer.refusal is not None:
            return answer
        receipts: list[Receipt] = []
        for start in range(0, len(standing), MAX_REQUEST_EVENTS):
            request = standing[start : start + MAX_REQUEST_EVENTS]
            data: list[Any] = [MemoryDeleted(memory_id=one) for one in request]
            events = [prepare(self._writer.event(one, owner, when, actor)) for one in data]
            try:
                receipts += self._writer.append_all(events)
            except EngramlogError as problem:
                if not receipts:
                    raise
                answer.error = problem
                answer.skipped |= dict.fromkeys(standing[start:], f"not written: {problem.message}")
                break
            on_progress(len(receipts), len(standing))
        if receipts:
            self._tell(answer, standing[: len(receipts)], receipts)
        return answer

    def _judged(self, owner: str, wanted: list[str], when: int) -> tuple[Deletion, list[str]]:
        """What stays and why, and the ids that a deletion would change."""
        with self._reader.scene(owner) as scene:
            answer = Deletion(owner, wanted, scene.position, warning=scene.warning)
            kept = int(scene.view.parameters.deleted_kept_days * DAY)
            found: dict[str, Memory] = {}
            for one in wanted:
                try:
                    found[one] = self._reader.memory(scene, owner, one)
                except NotFound as problem:
                    answer.beyond_change[one] = problem
        answer.restorable_until = when + kept
        standing = []
        for one, memory in found.items():
            if trouble_with(memory) is not None and (trouble := self._trouble_of(owner, one)) is not None:
                answer.beyond_change[one] = trouble
            elif memory.deleted_at is not None:
                answer.skipped[one] = f"memory {one} was deleted already, {moment(memory.deleted_at)}"
            elif memory.tier in SPARED:
                answer.skipped[one] = f"memory {one} is of tier {memory.tier}: core and system memories are left alone"
                answer.spared = True
            else:
                standing.append(one)
        answer.skipped |= {one: refusal.message for one, refusal in answer.beyond_change.items()}
        return answer, standing

    def _trouble_of(self, owner: str, memory_id: str) -> InputError | None:
        """Why no verb can change this memory, in the words of all verbs."""
        try:
            self._writer.standing(owner, memory_id)
        except InputError as problem:
            return problem
        return None

    def _tell(self, answer: Deletion, written: list[str], receipts: list[Receipt]) -> None:
        """Wait for the fold, and read from the change log what each deletion did."""
        self._writer.settle(receipts)
        answer.position = receipts[-1].position or answer.position
        answer.changes = self._writer.effects(answer.owner, receipts)
        with self._reader.scene(answer.owner) as scene:
            answer.warning = scene.warning
        did = {one["memory"]: one for one in answer.changes}
        for one in written:
            if one not in did:
                answer.waiting.append(one)
            elif did[one]["decision"] == "ignored":
                answer.skipped[one] = did[one]["reason"]
            else:
                answer.deleted.append(one)
