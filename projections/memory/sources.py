"""Who wrote what, and in which session; and which of these sources a person set aside. Pure.

What is kept of a source is the newest setting aside and the newest bringing back by `occurred_at`; ties go to the setting
aside. So the order in which they arrive decides nothing. Nothing is ever let go: what does not fit is refused, and told.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from engramlog_server.events.envelope import Stored

MOST_SOURCES = 256
"""Sources of one owner that were ever set aside."""
_NEVER = -(1 << 62)


class Author(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who brought an event, and in which session."""

    by: str
    """Its actor and its principal, with a space between; the actor alone where no principal was kept."""
    session: str | None = None

    @property
    def actor(self) -> str:
        """In whose name: user, assistant, judge, system, operator."""
        return self.by.partition(" ")[0]

    @property
    def principal(self) -> str:
        """Who called: a side, a job, a model; empty where it is not known."""
        return self.by.partition(" ")[2]


def by_of(stored: Stored, actor: str) -> str:
    """Who brought an event, as `Author.by`."""
    return by_text(actor, stored.beside[1])


@lru_cache(maxsize=1024)
def by_text(actor: str, principal: bytes) -> str:
    """`Author.by` of an actor and the principal beside its entry; empty where none was kept."""
    return f"{actor} {principal.decode()}" if principal else actor


class NamedSource(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A session, a principal, an actor, or what is several of these at once."""

    session: str | None = None
    principal: str | None = None
    actor: str | None = None

    def wrote(self, author: Author) -> bool:
        """Whether this is where it came from."""
        return (
            (self.session is None or self.session == author.session)
            and (self.principal is None or self.principal == author.principal)
            and (self.actor is None or self.actor == author.actor)
        )


NOBODY = NamedSource()
"""No source: it would be everybody's words."""


class Aside(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of one source. Times are microseconds since 1970."""

    source: NamedSource
    at: int
    """When it was last set aside."""
    seq: int
    """Position of the event that did."""
    brought_at: int | None = None
    """When it was last brought back."""

    @property
    def stands(self) -> bool:
        """Whether it is set aside, and was not brought back since."""
        return self.at > _NEVER and (self.brought_at is None or self.brought_at <= self.at)


Asides = tuple[Aside, ...]
"""Of one owner, in the order in which they first came."""


def set_aside(asides: Asides, source: NamedSource, at: int, seq: int) -> Asides:
    """With this source set aside. Raises ValueError where there is no room for one more."""
    one = known(asides, source)
    if one is not None and at <= one.at:
        return asides
    return _with(asides, Aside(source, at, seq, None if one is None else one.brought_at))


def brought_back(asides: Asides, source: NamedSource, at: int, seq: int) -> Asides:
    """With this source brought back; kept also where it was not set aside yet: that may come late. Raises as `set_aside`."""
    one = known(asides, source) or Aside(source, _NEVER, seq)
    if one.brought_at is not None and at <= one.brought_at:
        return asides
    return _with(asides, msgspec.structs.replace(one, brought_at=at))


def known(asides: Asides, source: NamedSource) -> Aside | None:
    """What is kept of a source; None for nothing."""
    return next((one for one in asides if one.source == source), None)


def aside_of(asides: Asides, author: Author) -> Aside | None:
    """The first that stands of those by which an author's words are withheld; None where none does."""
    return next((one for one in asides if one.stands and one.source.wrote(author)), None)


def _with(asides: Asides, new: Aside) -> Asides:
    if any(one.source == new.source for one in asides):
        return tuple(new if one.source == new.source else one for one in asides)
    if len(asides) >= MOST_SOURCES:
        raise ValueError(f"{MOST_SOURCES} sources were set aside or brought back already, the most of one owner")
    return (*asides, new)
