"""What an event needs that is sent as it is: no more may be said so than by the verbs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from events.catalogue import SensitivitySet
from events.catalogue.access import Verb
from events.envelope import AnyEvent
from events.errors import AccessDenied
from projections.access.caller import Caller
from projections.memory.record import SECRET

VERBS_OF_TYPES: Mapping[str, Verb] = {
    "TurnRecorded": "produce",
    "ToolResultRecorded": "produce",
    "MemoryCreated": "produce",
    "MemoryMentioned": "produce",
    "MemoriesAccessed": "produce",
    "MemoryReinforced": "produce",
    "MemoriesLinked": "produce",
    "FactAsserted": "produce",
    "GroundChanged": "produce",
    "TurnsExtracted": "produce",
    "MemoryNegated": "correct",
    "MemoryRevised": "correct",
    "MemoryMerged": "correct",
    "MemoryUnmerged": "correct",
    "MemoryCompressed": "correct",
    "MemoryPromoted": "correct",
    "MemoryKept": "correct",
    "FactRetracted": "correct",
    "SynonymDefined": "correct",
    "ProfileChosen": "correct",
    "ParametersChanged": "correct",
    "SensitivitySet": "correct",
    "SensitivityRaised": "correct",
    "ValueRejected": "correct",
    "ValueReadmitted": "correct",
    "SourceSetAside": "correct",
    "SourceBroughtBack": "correct",
    "MemoryDeleted": "delete",
    "MemoryRestored": "delete",
    "MemoryPurged": "delete",
    "MemoryErased": "delete",
    "EventDiscarded": "operate",
    "ReviewGraded": "review",
    "ReviewSettled": "review",
    "MemoriesRevealed": "reveal",
    "KeyIssued": "admin",
    "KeyRevoked": "admin",
    "GrantsSet": "admin",
    "ReadRecorded": "admin",
    "OwnerErasure": "admin",
    "WordsErasure": "admin",
}
"""By type."""


def check_said(caller: Caller, event: AnyEvent) -> AccessDenied | None:
    """Why a caller may not send this event, or None."""
    try:
        caller.check(VERBS_OF_TYPES[event.type], event.owner, actor=event.actor)
        if event.type == SensitivitySet.__name__ and event.data.level < SECRET:
            caller.check("reveal", event.owner, sensitivity=SECRET)  # nobody looks what it is now: it may be a secret
    except AccessDenied as error:
        return AccessDenied(
            f"event {event.event_id}, {event.type}: {error.message}", **{**error.context, "event_id": event.event_id}
        )
    return None
