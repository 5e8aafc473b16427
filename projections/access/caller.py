"""Who asks, and what he may do. Pure: the instant is an argument.

A caller has layers of grants: those of his key's principal, and where he shows a token made of the key, what that token asks for.
He may do what a grant of every layer lets do, so a token can never do more than its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from events.catalogue import Grant
from events.catalogue.access import Verb
from events.entry import LOCAL
from events.envelope import from_micros, utc_text
from events.errors import AccessDenied
from events.trust import lowest
from events.vocabulary import Trust
from projections.access.grants import ALL, VERBS, grants, is_named, told
from projections.access.told import ToldCaller
from projections.memory.record import SECRET

Layer = tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class Caller:
    """One who asks, as his key or token says."""

    name: str
    """The principal: it stands beside each event that he brings."""
    layers: tuple[Layer, ...] | None = None
    """None: he may do everything, as whoever can read the data folder may."""
    key_id: str | None = None
    token: str | None = None
    """What a token made of the key calls its bearer."""
    ends: int | None = None
    """When what he shows ends, microseconds since 1970; None: by no date."""

    @property
    def is_unlimited(self) -> bool:
        """Whether he may do everything."""
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
        """Whether he may do this to an owner; None: to the store as a whole. `sensitivity`: that a grant of it reaches."""
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
        """Raises AccessDenied where he may not, with what would be needed and no word about the owner."""
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
        """Whether he may do anything at all to an owner."""
        return any(self.may(verb, owner) for verb in VERBS)

    def most_sensitive(self, verb: Verb, owner: str, mode: str | None = None) -> int:
        """The most sensitive memories of an owner that he is told, 0 to 3; -1 where he is told none."""
        if self.layers is None:
            return SECRET
        return min(
            max((one.sensitivity for one in layer if grants(one, verb, owner, mode, None)), default=-1)
            for layer in self.layers
        )

    @property
    def highest(self) -> Trust:
        """The most that his word reaches, whoever it is about: the least that a grant of his says."""
        return lowest(*(one.trust for layer in self.layers or () for one in layer))

    def names(self, owner: str) -> bool:
        """Whether every layer names the owner himself: then his past is his own, not another's."""
        return self.layers is None or all(any(is_named(one, owner) for one in layer) for layer in self.layers)

    def patterns(self, verb: Verb) -> Iterator[tuple[str, ...]]:
        """By layer, the patterns of owners for a verb; an owner is covered where one of each layer covers him."""
        for layer in self.layers or ():
            yield tuple(dict.fromkeys(pattern for one in layer if verb in one.verbs for pattern in one.owners))

    def covers_all(self, verb: Verb) -> bool:
        """Whether he may do this to all owners."""
        return all(ALL in patterns for patterns in self.patterns(verb))

    def as_dict(self) -> ToldCaller:
        """Who he is and what he may do, as JSON has it."""
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
