"""What became of a request to restore many memories, as every face tells it."""

from __future__ import annotations

from dataclasses import dataclass, field

from api.services.deletion import skipped
from events.errors import EngramlogError, InputError, NotFound
from projections.shapes import RestoredMany, Skipped, Warned


@dataclass(slots=True)
class RestorationReport:
    """What became of a request to restore memories."""

    owner: str
    ids: list[str]
    """As asked for, each once."""
    position: str
    """Where the last restoration stands, or the position at which it was found that there is nothing to write."""
    restored: list[str] = field(default_factory=list)
    also: dict[str, str] = field(default_factory=dict)
    """What came back with them: id -> reason."""
    stays: dict[str, str] = field(default_factory=dict)
    """What went with them and stays deleted: id -> why."""
    readmitted: list[str] = field(default_factory=list)
    """Those of which what they say was rejected, and is no more."""
    dry_run: bool = False
    skipped: dict[str, str] = field(default_factory=dict)
    """Id -> why it was not restored."""
    waiting: list[str] = field(default_factory=list)
    """Written, and parked behind an event of the owner that cannot be folded."""
    error: EngramlogError | None = None
    """What stopped it between two requests."""
    warning: Warned = field(default_factory=Warned)
    """`behind`, and `quarantined` where the owner is."""
    beyond_change: dict[str, InputError] = field(default_factory=dict)
    """Those of the skipped that no event can change: unknown, purged or merged away."""

    @property
    def exit_code(self) -> int:
        """0 all restored; 3 partly, or what went with them stays deleted; else 1 nothing, 2 no id that could be restored."""
        if self.restored or self.waiting:
            return 3 if self.skipped or self.waiting or self.stays else 0
        return 2 if len(self.beyond_change) == len(self.ids) else 1

    @property
    def refusal(self) -> InputError | None:
        """Why nothing at all could be restored, where no id names a memory that any event can change."""
        if self.exit_code != 2:
            return None
        found = list(self.beyond_change.values())
        if len(found) == 1:
            return found[0]
        kind = NotFound if all(isinstance(one, NotFound) for one in found) else InputError
        told = f"nothing was restored: {found[0].message} (and {len(found) - 1:,} more)"
        return kind(told, owner=self.owner, skipped=self.as_dict()["skipped"])

    def as_dict(self) -> RestoredMany:
        """JSON-ready: what was restored, what was skipped and why, in the order asked for."""
        answer: RestoredMany = {
            "owner": self.owner,
            "restored": self.restored,
            "skipped": [skipped(one, self.skipped[one]) for one in self.ids if one in self.skipped],
            "also": _listed(self.also),
            "not_restored": _listed(self.stays),
            "readmitted": [one for one in self.readmitted if one in self.restored],
            "dry_run": self.dry_run,
            "position": self.position,
        }
        if self.waiting:
            answer["waiting"] = self.waiting
        if self.error is not None:
            answer["error"] = self.error.as_dict()
        return {**answer, **self.warning}


def _listed(told: dict[str, str]) -> list[Skipped]:
    return [skipped(one, reason) for one, reason in told.items()]
