"""What became of a request about many memories, as every face tells it: what was done, and of whatever was not, why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from engramlog_server.api.shapes import Change, Deleted, Removed, RestoredMany, Skipped, Warned
from engramlog_server.events.errors import EngramlogError, InputError, NotFound
from engramlog_server.projections.fold.reasons import reason_told
from engramlog_server.projections.views.query import moment


@dataclass(slots=True)
class ManyReport:
    """What became of a request about memories that are named."""

    WORD: ClassVar[str] = "done"
    """What is done with them."""

    owner: str
    ids: list[str]
    """As asked for, each once."""
    position: str
    """Where the last of it stands, or the position at which it was found that there is nothing to write."""
    done: list[str] = field(default_factory=list)
    also: dict[str, str] = field(default_factory=dict)
    """What went along: id -> reason."""
    left: dict[str, str] = field(default_factory=dict)
    """What might have gone along, and did not: id -> why."""
    values: list[str] = field(default_factory=list)
    """Those of which what they say is rejected too, or is rejected no more."""
    dry_run: bool = False
    """Whether this only tells what would be done: nothing was written."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Id -> why nothing was done with it."""
    waiting: list[str] = field(default_factory=list)
    """Written, and parked behind an event of the owner that cannot be folded."""
    changes: list[Change] = field(default_factory=list)
    """Change-log entries of it."""
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
        """0 all of it is done; 3 partly, or something was left; else 1 nothing, 2 no id with which it could ever be done."""
        if self.done or self.waiting or self.spared:
            return 3 if self.skipped or self.waiting or self.left else 0
        return 2 if len(self.beyond_change) == len(self.ids) else 1

    @property
    def refusal(self) -> InputError | None:
        """Why nothing at all could be done, where no id names a memory that any event can change."""
        if self.exit_code != 2:
            return None
        found = list(self.beyond_change.values())
        if len(found) == 1:
            return found[0]
        kind = NotFound if all(isinstance(one, NotFound) for one in found) else InputError
        told = f"nothing was {self.WORD}: {found[0].message} (and {len(found) - 1:,} more)"
        return kind(told, owner=self.owner, skipped=self.skipped_in_order)

    @property
    def skipped_in_order(self) -> list[Skipped]:
        """With what nothing was done and why, in the order asked for."""
        return listed({one: self.skipped[one] for one in self.ids if one in self.skipped})

    @property
    def values_done(self) -> list[str]:
        """Of what was done, that of which what it says is rejected too, or is no more."""
        done = set(self.done)
        return [one for one in self.values if one in done]


@dataclass(slots=True)
class DeletionReport(ManyReport):
    """What became of a request to delete. What was made of them and is still there is `left`."""

    WORD: ClassVar[str] = "deleted"

    still_said_in: list[str] = field(default_factory=list)
    """Turns' memories that stand and say what was deleted."""
    hidden: list[str] = field(default_factory=list)
    """What was merged into what was deleted."""
    restorable_until: int | None = None
    """When what was deleted now is purged, by the owner's parameter; microseconds since 1970."""

    @property
    def deleted(self) -> list[str]:
        """What was deleted."""
        return self.done

    def as_dict(self) -> Deleted:
        """JSON-ready: what was deleted, what was skipped and why, in the order asked for."""
        answer: Deleted = {
            "owner": self.owner,
            "deleted": self.done,
            "skipped": self.skipped_in_order,
            "also": listed(self.also),
            "left_alone": listed(self.left),
            "still_said_in": self.still_said_in,
            "hidden_with": self.hidden,
            "rejected": self.values_done,
            "dry_run": self.dry_run,
            "position": self.position,
            "restorable_until": moment(self.restorable_until),
        }
        if self.waiting:
            answer["waiting"] = self.waiting
        if self.error is not None:
            answer["error"] = self.error.as_dict()
        return {**answer, **self.warning}

    def as_effects(self) -> Removed:
        """The same of a single id, as any verb answers: with `id` and `changes`."""
        return {"id": self.ids[0], "changes": self.changes, **self.as_dict()}


@dataclass(slots=True)
class RestorationReport(ManyReport):
    """What became of a request to restore. What went with them and stays deleted is `left`."""

    WORD: ClassVar[str] = "restored"

    @property
    def restored(self) -> list[str]:
        """What was restored."""
        return self.done

    def as_dict(self) -> RestoredMany:
        """JSON-ready: what was restored, what was skipped and why, in the order asked for."""
        answer: RestoredMany = {
            "owner": self.owner,
            "restored": self.done,
            "skipped": self.skipped_in_order,
            "also": listed(self.also),
            "not_restored": listed(self.left),
            "readmitted": self.values_done,
            "dry_run": self.dry_run,
            "position": self.position,
        }
        if self.waiting:
            answer["waiting"] = self.waiting
        if self.error is not None:
            answer["error"] = self.error.as_dict()
        return {**answer, **self.warning}


def listed(told: dict[str, str]) -> list[Skipped]:
    """Ids with their reasons, as JSON tells them."""
    return [told_of(one, reason) for one, reason in told.items()]


def told_of(memory_id: str, reason: str) -> Skipped:
    """A memory that is left as it is, or goes along, and why."""
    told = reason_told(reason)
    return {"id": memory_id, "reason": reason, "reason_code": told.code, "reason_values": told.told()}
