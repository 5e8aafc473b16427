"""What became of a request to delete, as every face tells it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from events.errors import EngramlogError, InputError, NotFound
from projections.fold.reasons import reason_told
from projections.shapes import Change, Skipped, Warned
from projections.views.query import moment


@dataclass(slots=True)
class DeletionReport:
    """What became of a request to delete."""

    owner: str
    ids: list[str]
    """As asked for, each once."""
    position: str
    """Where the last deletion stands, or the position at which it was found that there is nothing to write."""
    deleted: list[str] = field(default_factory=list)
    also: dict[str, str] = field(default_factory=dict)
    """What went with them because it was made of them: id -> reason."""
    left_alone: dict[str, str] = field(default_factory=dict)
    """Made of them, and still there: id -> why."""
    still_said_in: list[str] = field(default_factory=list)
    """Turns' memories that stand and say what was deleted."""
    rejected: list[str] = field(default_factory=list)
    """Those of which what they say is rejected too."""
    dry_run: bool = False
    """Whether this only tells what would be done: nothing was written."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Id -> why it was not deleted."""
    waiting: list[str] = field(default_factory=list)
    """Written, and parked behind an event of the owner that cannot be folded."""
    changes: list[Change] = field(default_factory=list)
    """Change-log entries of the deletions."""
    restorable_until: int | None = None
    """When what was deleted now is purged, by the owner's parameter; microseconds since 1970."""
    error: EngramlogError | None = None
    """What stopped it between two requests."""
    warning: Warned = field(default_factory=Warned)
    """`behind`, and `quarantined` where the owner is."""
    spared: bool = False
    """Whether a core or system memory was left alone."""
    beyond_change: dict[str, InputError] = field(default_factory=dict)
    """Those of the skipped that no event can change: unknown, purged or merged away."""

    @property
    def exit_code(self) -> int:
        """0 all deleted; 3 partly, or something was left alone; else 1 nothing, 2 no id that could be deleted."""
        if self.deleted or self.waiting or self.spared:
            return 3 if self.skipped or self.waiting or self.left_alone else 0
        return 2 if len(self.beyond_change) == len(self.ids) else 1

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: what was deleted, what was skipped and why, in the order asked for."""
        answer: dict[str, Any] = {
            "owner": self.owner,
            "deleted": self.deleted,
            "skipped": [skipped(one, self.skipped[one]) for one in self.ids if one in self.skipped],
            "also": _listed(self.also),
            "left_alone": _listed(self.left_alone),
            "still_said_in": self.still_said_in,
            "rejected": [one for one in self.rejected if one in self.deleted],
            "dry_run": self.dry_run,
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


def _listed(told: dict[str, str]) -> list[Skipped]:
    return [skipped(one, reason) for one, reason in told.items()]


def skipped(memory_id: str, reason: str) -> Skipped:
    """A memory that is left as it is, or goes along, and why."""
    told = reason_told(reason)
    return {"id": memory_id, "reason": reason, "reason_code": told.code, "reason_values": told.told()}
