"""Callers: what they may do, what answers show them, and which events they may send. Pure: the instant is an argument.

A caller has layers of grants: those of the key's principal, and with a token made of the key, what that token asks for.
Callers may do what a grant of every layer allows, so a token can never do more than its key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, get_args

from engramlog_server.events.catalogue import Grant, SensitivitySet, Verb
from engramlog_server.events.entry import LOCAL
from engramlog_server.events.envelope import AnyEvent, from_micros, utc_text
from engramlog_server.events.errors import AccessDenied
from engramlog_server.events.trust import lowest
from engramlog_server.events.vocabulary import Reading, Trust
from engramlog_server.projections.access.book import ALL, LEAST_TOLD, VERBS, grants, is_named, told
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.shapes import WhoAsks

Layer = tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller, by its key or token."""

    name: str
    """The principal: it is recorded with each of the caller's events."""
    layers: tuple[Layer, ...] | None = None
    """None: no limits, as for users who can read the data folder."""
    key_id: str | None = None
    token: str | None = None
    """What a token made of the key calls its bearer."""
    ends: int | None = None
    """When the key or token ends, microseconds since 1970; None: never."""

    @property
    def is_unlimited(self) -> bool:
        """Whether the caller may do everything."""
        return self.layers is None

    def may(
        self,
        verb: Verb,
        owner: str | None,
        *,
        mode: str | None = None,
        actor: str | None = None,
        sensitivity: int = 0,
    ) -> bool:
        """Whether the caller may do this to an owner; None: to the store as a whole. `sensitivity`: that a grant of it reaches."""
        if self.layers is None:
            return True
        return all(
            any(one.sensitivity >= sensitivity and grants(one, verb, owner, mode, actor) for one in layer)
            for layer in self.layers
        )

    def check(
        self,
        verb: Verb,
        owner: str | None,
        *,
        mode: str | None = None,
        actor: str | None = None,
        sensitivity: int = 0,
    ) -> None:
        """Raises AccessDenied if the caller may not, with the grant that would be needed and nothing about the owner."""
        if self.may(verb, owner, mode=mode, actor=actor, sensitivity=sensitivity):
            return
        needed = f"the verb {verb}" + (f" in mode {mode}" if mode else "") + (f" as {actor}" if actor else "")
        needed += f" up to sensitivity {sensitivity}" if sensitivity else ""
        whose = "the store as a whole (owners *)" if owner is None else "this owner"
        raise AccessDenied(
            f"access: {self.name} may not do this; needed: a grant of {needed} on {whose}. `GET /v1/me` tells what this key may",
            principal=self.name,
            verb=verb,
            owner=owner,
            **{name: value for name, value in (("mode", mode), ("actor", actor)) if value is not None},
        )

    def may_anything(self, owner: str) -> bool:
        """Whether the caller may do anything at all to an owner."""
        return any(self.may(verb, owner) for verb in VERBS)

    def most_sensitive(self, verb: Verb, owner: str, mode: str | None = None) -> int:
        """The highest sensitivity of an owner's memories that the caller may see, 0 to 3; -1 for none."""
        if self.layers is None:
            return SECRET
        return min(
            max((one.sensitivity for one in layer if grants(one, verb, owner, mode, None)), default=-1)
            for layer in self.layers
        )

    @property
    def highest(self) -> Trust:
        """The highest trust of the caller's events, about any owner: the lowest in its grants."""
        return lowest(*(one.trust for layer in self.layers or () for one in layer))

    def names(self, owner: str) -> bool:
        """Whether every layer names this very owner: then the past is the caller's own, not another's."""
        return self.layers is None or all(any(is_named(one, owner) for one in layer) for layer in self.layers)

    def patterns(self, verb: Verb) -> Iterator[tuple[str, ...]]:
        """By layer, the patterns of owners for a verb; an owner is covered where one of each layer covers him."""
        for layer in self.layers or ():
            yield tuple(dict.fromkeys(pattern for one in layer if verb in one.verbs for pattern in one.owners))

    def covers_all(self, verb: Verb) -> bool:
        """Whether the caller may do this to all owners."""
        return all(ALL in patterns for patterns in self.patterns(verb))

    def as_dict(self) -> WhoAsks:
        """The caller and its grants, as JSON has them."""
        layers = self.layers or ()
        return {
            "principal": self.name,
            "key": self.key_id,
            "token": self.token,
            "unlimited": self.is_unlimited,
            "grants": [told(one) for one in layers[0]] if layers else [],
            "narrowed_to": [told(one) for one in layers[1]] if len(layers) > 1 else None,
            "expires_at": None if self.ends is None else utc_text(from_micros(self.ends)),
        }


AT_THE_FOLDER = Caller(LOCAL)
"""Whoever shows the token of the data folder, or is at the store itself."""


MODES: tuple[Reading, ...] = get_args(Reading)
"""From the narrowest."""
HIDES_NOTHING = MODES[-1]


class ToldUpTo(NamedTuple):
    """Limits of what an answer shows."""

    mode: Reading
    """What this mode does not show is to the caller as if it were not there."""
    most: int
    """The highest sensitivity shown; the text of a secret needs `reveal`."""

    @property
    def by_mode(self) -> bool:
        """Whether the mode hides anything."""
        return self.mode != HIDES_NOTHING

    @property
    def by_sensitivity(self) -> bool:
        """Whether it withholds more than secrets, which every answer withholds."""
        return self.most < LEAST_TOLD

    @property
    def is_narrow(self) -> bool:
        """Whether anything is kept from the caller that is not kept from everybody."""
        return self.by_mode or self.by_sensitivity


def telling_of(caller: Caller, verb: Verb, owner: str, asked: str | None = None) -> ToldUpTo | None:
    """What a verb shows a caller of an owner; None: everything. `asked`: the mode that the call asks for.

    Mode and sensitivity are those of grants that let do both at once: the highest sensitivity that he has in the mode asked, or
    in any where none is, and then the widest mode in which he has as much.
    """
    if caller.is_unlimited:
        return None
    highest = {mode: caller.most_sensitive(verb, owner, mode) for mode in MODES}
    most = highest[asked] if asked in highest else max(highest.values())
    mode = next((one for one in reversed(MODES) if highest[one] >= most), MODES[0])
    found = ToldUpTo(mode, most)
    return found if found.is_narrow else None


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
            caller.check("reveal", event.owner, sensitivity=SECRET)  # its level now is not read: it may be a secret
    except AccessDenied as error:
        return AccessDenied(
            f"event {event.event_id}, {event.type}: {error.message}", **{**error.context, "event_id": event.event_id}
        )
    return None
