"""Callers: what they may do, what answers show them, and which events they may send; and the book of access. Pure.

The book is what the events of keys and grants fold into, at the newest of them or at any instant. A grant's pattern is an owner's
name, the beginning of names before `/*`, or `*` for all. Names are compared as they are: nothing in one is a regular expression,
and no name of the store's own (`:`) is covered by any.

A caller has layers of grants: those of the key's principal, and with a token made of the key, what that token asks for.
Callers may do what a grant of every layer allows, so a token can never do more than its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from engramlog_server.events.catalogue import OWNERS_RULE, Grant, GrantsSet, KeyIssued, KeyRevoked, SensitivitySet, Verb
from engramlog_server.events.envelope import LOCAL, AnyEvent, from_micros, micros, utc_text
from engramlog_server.events.errors import AccessDenied, refused
from engramlog_server.events.standing import OWN
from engramlog_server.events.text import INVISIBLE
from engramlog_server.events.trust import lowest
from engramlog_server.events.vocabulary import Reading, Trust, is_id
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.shapes import GrantHeld, WhoAsks

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


VERBS: tuple[Verb, ...] = get_args(Verb)
ALL = "*"
BELOW = "/*"
"""What the pattern of a beginning ends with."""
OF_THE_STORE = frozenset({"operate", "admin", "audit"})
"""Verbs that also exist for the store as a whole; then only for all owners."""
LEAST_TOLD = 2
"""Below this sensitivity a grant is of what withholds by it (`OF_LITTLE`)."""
OF_LITTLE: frozenset[Verb] = frozenset({"produce", "read"})


def covers(pattern: str, owner: str) -> bool:
    """Whether a pattern covers an owner."""
    if owner.startswith(OWN):
        return False
    if pattern == ALL:
        return True
    return owner.startswith(pattern[:-1]) if pattern.endswith(BELOW) else owner == pattern


def is_named(grant: Grant, owner: str) -> bool:
    """Whether a grant names the owner himself, not one of many."""
    return owner in grant.owners and owner != ALL and not owner.endswith(BELOW)


def grants(one: Grant, verb: Verb, owner: str | None, mode: str | None, actor: str | None) -> bool:
    """Whether a grant lets do this. `owner`: None of the store as a whole, which only `*` is."""
    if verb not in one.verbs or (mode is not None and mode not in one.modes):
        return False
    if actor is not None and actor not in one.actors:
        return False
    return ALL in one.owners if owner is None else any(covers(pattern, owner) for pattern in one.owners)


def check_pattern(pattern: str, field: str = "owners") -> str:
    """The pattern itself. Raises InputError for another text, or for a name of the store's own."""
    named = pattern.removesuffix(BELOW)
    if pattern != ALL and (not is_id(named) or named.startswith(OWN) or INVISIBLE.search(named)):
        raise refused(field, pattern[:128], f"{OWNERS_RULE}, none of the store's own")
    return pattern


def check_grant(one: Grant, field: str = "grants") -> Grant:
    """The grant itself. Raises InputError for what no grant can be."""
    for pattern in one.owners:
        check_pattern(pattern, f"{field}.owners")
    if "admin" in one.verbs and one.owners != (ALL,):
        raise refused(
            f"{field}.owners",
            ", ".join(one.owners),
            "* alone: a principal that makes keys could grant itself any owner",
        )
    if one.sensitivity < LEAST_TOLD and not OF_LITTLE.issuperset(one.verbs):
        told = ", ".join(sorted(OF_LITTLE))
        raise refused(
            f"{field}.sensitivity",
            one.sensitivity,
            f"2 or 3; 0 and 1 only where the verbs are {told}, which withhold by it",
        )
    if one.sensitivity > LEAST_TOLD and "reveal" not in one.verbs:
        raise refused(f"{field}.sensitivity", one.sensitivity, "0 to 2; 3 with the verb reveal")
    for name, values in (("verbs", one.verbs), ("owners", one.owners), ("modes", one.modes), ("actors", one.actors)):
        if len(set(values)) != len(values):
            raise refused(f"{field}.{name}", ", ".join(values), "each once")
    return one


def told(one: Grant) -> GrantHeld:
    """A grant as JSON has it, whole."""
    return {
        "verbs": list(one.verbs),
        "owners": list(one.owners),
        "modes": list(one.modes),
        "sensitivity": one.sensitivity,
        "actors": list(one.actors),
        "trust": one.trust,
    }


KeyState = Literal["live", "expired", "revoked"]
MOST_LIVE = 2
"""Keys of a principal that live at once: the one in use, and the one that takes its place."""


class Key(NamedTuple):
    """A key as the store knows it."""

    key_id: str
    principal: str
    public: bytes
    digest: str
    issued_at: int
    """Microseconds since 1970, as all times here."""
    expires_at: int | None = None
    revoked_at: int | None = None

    def state(self, now: int) -> KeyState:
        """What it is at an instant."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and now >= self.expires_at else "live"


@dataclass(frozen=True, slots=True)
class AccessBook:
    """Who has which keys and grants, after so many events."""

    number: int = 0
    """Of the last event that it holds."""
    keys: Mapping[str, Key] = field(default_factory=dict)
    grants: Mapping[str, tuple[Grant, ...]] = field(default_factory=dict)

    def after(self, data: Any, at: int) -> AccessBook:
        """The book after one more event of an instant. An event about an unknown key changes nothing."""
        return self.after_all([(data, at)])

    def after_all(self, said: Iterable[tuple[Any, int]]) -> AccessBook:
        """The same after several, in order."""
        keys, grants, number = dict(self.keys), dict(self.grants), self.number
        for data, at in said:
            number = data.number
            if isinstance(data, KeyIssued):
                ends = None if data.expires_at is None else micros(data.expires_at)
                key = Key(data.key_id, data.principal, bytes.fromhex(data.public), data.digest, at, ends)
                keys.setdefault(data.key_id, key)
            elif isinstance(data, KeyRevoked):
                found = keys.get(data.key_id)
                if found is not None and found.revoked_at is None:
                    keys[data.key_id] = found._replace(revoked_at=at)
            elif isinstance(data, GrantsSet):
                grants[data.principal] = data.grants
        return AccessBook(number, keys, grants)

    def live(self, principal: str, now: int) -> list[Key]:
        """The keys of a principal that live."""
        return [one for one in self.keys.values() if one.principal == principal and one.state(now) == "live"]

    @property
    def principals(self) -> list[str]:
        """Everybody who has, or had, a key or a grant, by name."""
        return sorted({*self.grants, *(one.principal for one in self.keys.values())})
