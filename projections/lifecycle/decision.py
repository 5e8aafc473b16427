"""A lifecycle decision: an event that falls due by itself, with why, and an id that the same decision always gets."""

from __future__ import annotations

from typing import Any, NamedTuple

from engramlog_server.events.catalogue import EventData, MemoryDeleted, MemoryMerged
from engramlog_server.events.envelope import derived_id
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import Actor, Trust
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.views.query import moment
from engramlog_server.projections.views.view import WITHHELD

_NO_ID = regex(r"[^A-Za-z0-9\-_.:@/+]")


class Decision(NamedTuple):
    """What a job would append. Planned from a view at an instant; carried out by `consumers.jobs.lifecycle`."""

    job: str
    action: str
    """compress, delete, purge, promote, keep, merge, link, replay, raise, abstract, suggest; of extraction keep_turn, add,
    update, boost, use, negate, flag, assert, refuse, delete, read; of sessions summarise, use."""
    ids: tuple[str, ...]
    due_at: int
    """When it fell due, microseconds: the same whenever the job runs."""
    seq: int
    """The deciding position: the newest event that had changed these memories."""
    reason: str
    data: EventData
    said_at: int | None = None
    """When what it follows from was said, microseconds: the event's own time; None: the moment of the run."""
    actor: Actor = "system"
    session: str | None = None
    """The session that the event belongs to."""
    once: tuple[str, ...] = ()
    """What its id is made of instead, where several jobs may decide the same: it is appended once, whoever was first."""

    model: str | None = None
    """The language model that decided it; None: a rule."""
    trust: Trust | None = None
    """How far that goes which somebody said and it rests on; None: nobody did."""

    @property
    def correlation_id(self) -> str | None:
        """Which job's model decided, as an id that the event carries: `extract:qwen3:8b`; None where a rule did."""
        return None if self.model is None else f"{self.job}:{_NO_ID.sub('-', self.model)}"[:128]

    @property
    def rests_on(self) -> Trust | None:
        """How far that goes which it rests on. What rules tidy up rests on the operator's own policy."""
        tidies = isinstance(self.data, MemoryDeleted | MemoryMerged)
        return ASSERTED if self.trust is None and self.model is None and tidies else self.trust

    def event_id(self, owner: str) -> str:
        """The same for the same decision, so that a job killed halfway or run twice does nothing twice."""
        if self.once:
            return derived_id("lifecycle once", owner, *self.once)
        return derived_id(f"lifecycle {self.job} {self.action}", owner, *self.ids, str(self.seq))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, without any content; a reason in a model's words may hold some."""
        return {
            "job": self.job,
            "action": self.action,
            "ids": list(self.ids),
            "due_at": moment(self.due_at),
            "reason": WITHHELD if detect_sensitivity(self.reason) >= SECRET else self.reason,
            "event": type(self.data).__name__,
        }


def use_of(memory_id: str, reply_id: str) -> tuple[str, ...]:
    """`once` of a use: a memory is used once in a reply, whether a rule or a model finds it."""
    return "use", memory_id, reply_id
