"""What a grant covers. Pure.

A pattern is an owner's name, the beginning of names before `/*`, or `*` for all. Names are compared as they are: nothing in one
is a regular expression, and no name of the store's own (`:`) is covered by any.
"""

from __future__ import annotations

from typing import get_args

from engramlog_server.events.catalogue import OWNERS_RULE, Grant, Verb
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
