"""Whose words are set aside, and brought back: a session, or whoever wrote. A person says so; nothing is deleted by it."""

from __future__ import annotations

from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import Actor, Id, Name, Reason


class SourceSetAside(Shape, frozen=True, kw_only=True):
    """A person sets a source aside: what it said, before and after, is withheld until it is brought back.

    At least one of `session`, `principal` and `actor`; what is named together must hold together.
    """

    session: Id | None = None
    principal: Name | None = None
    actor: Actor | None = None
    reason: Reason = ""


class SourceBroughtBack(Shape, frozen=True, kw_only=True):
    """A person brings back a source that was set aside, named as it was then."""

    session: Id | None = None
    principal: Name | None = None
    actor: Actor | None = None
    reason: Reason = ""
