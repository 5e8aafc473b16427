"""The book of access: what the events of keys and grants fold into, at the newest of them or at any instant. Pure.

A grant's pattern is an owner's name, the beginning of names before `/*`, or `*` for all. Names are compared as they are: nothing
in one is a regular expression, and no name of the store's own (`:`) is covered by any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from engramlog_server.events.catalogue import OWNERS_RULE, Grant, GrantsSet, KeyIssued, KeyRevoked, Verb
from engramlog_server.events.envelope import micros
from engramlog_server.events.errors import refused
from engramlog_server.events.standing import OWN
from engramlog_server.events.text import INVISIBLE
from engramlog_server.events.vocabulary import is_id
from engramlog_server.projections.shapes import GrantHeld

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
