"""What people decide for an owner: its settings, how sensitive a memory is, looks at secrets, what is dropped."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engramlog_server.events.parameters import ParameterValue, Profile
from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import Face, Id, Position, Raised, Reason, Revealing, Rules, Sensitivity, Shown


class ProfileChosen(Shape, frozen=True, kw_only=True):
    """From here on this law gates the owner's recall and lifecycle."""

    profile: Profile


class ParametersChanged(Shape, frozen=True, kw_only=True):
    """From here on these parameters hold for the owner; names and bounds in events/parameters.py."""

    parameters: Annotated[dict[str, ParameterValue], Field(min_length=1, max_length=500)]


class SensitivitySet(Shape, frozen=True, kw_only=True):
    """A person says how sensitive a memory is: the only way down from what rules found in its words."""

    memory_id: Id
    level: Sensitivity
    reason: Reason


class SensitivityRaised(Shape, frozen=True, kw_only=True):
    """Newer rules find more in a memory's words than was found when they were appended. Never lowers."""

    memory_id: Id
    level: Raised
    rules: Rules


class MemoriesRevealed(Shape, frozen=True, kw_only=True):
    """Texts of secrets are shown to somebody. Written before they are; changes no memory, and holds none of their text."""

    memory_ids: Shown
    by: Revealing
    face: Face
    reason: Reason = ""


class EventDiscarded(Shape, frozen=True, kw_only=True):
    """Somebody drops one parked event of this owner for good; the rest of its parked events fold now."""

    position: Position
    reason: Reason = ""
