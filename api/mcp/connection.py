"""Whose memories a call is about, and the store it is answered from.

The owner is a fact of the connection: of the process over stdio, of the URL over HTTP. No tool takes it as an argument, so
nothing that a model is talked into saying reaches another owner. Who asks is a fact of it too. A server over standard input and
output that is confined to a key looks up at each call whose key it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from engramlog_server.api.checks import asked_by, caller_in_hand, check_owner
from engramlog_server.events.errors import AccessDenied, InputError
from engramlog_server.projections.access.caller import Caller

if TYPE_CHECKING:
    from engramlog_server.api.application import Application, Opener


_OWNER: ContextVar[str] = ContextVar("owner")
WhoAsks = Callable[["Application"], Caller]
"""Tells who asks, looked at anew in the store that he asks. Raises AccessDenied where nobody is recognised any more."""


def in_hand(_application: Application) -> Caller:
    """Whoever was told with the request; over standard input and output, whoever started the server."""
    return caller_in_hand()


def confined_to(key: str) -> WhoAsks:
    """Whoever has this key, or this token made of one, as the book of the store says now; revoked, it opens nothing at once."""

    def who(application: Application) -> Caller:
        from engramlog_server.projections.access.keys import recognised

        found = recognised(application.access_follower.admitting(), key, application.log.now())
        if found.caller is None:
            raise AccessDenied(f"ENGRAMLOG_KEY: got {found.got}; allowed: a key of this store that lives")
        return found.caller

    return who


class Session(NamedTuple):
    """The store, as the caller may use it, and the owner, for the length of one call."""

    application: Application
    owner: str

    def named(self, memory_id: str) -> str:
        """The id of the memory that a key means, an id or a handle."""
        return self.application.named(self.owner, memory_id)


class Connection:
    """What every tool stands on. `owner`: whom this server is for; None where each request's URL tells it."""

    def __init__(
        self,
        opener: Opener,
        owner: str | None,
        who: WhoAsks = in_hand,
    ) -> None:
        """`who` tells whose call it is."""
        self.owner = None if owner is None else check_owner(owner)
        self._opener = opener
        self._who = who

    @contextmanager
    def told(self, owner: str | None) -> Iterator[None]:
        """Everything within is about this owner, which a request named; a server of one owner serves no other."""
        if owner is not None and self.owner not in (None, owner):
            raise InputError(f"owner: got {owner!r}; allowed: {self.owner}, the owner of this server", field="owner")
        chosen = owner or self.owner
        if chosen is None:
            raise InputError(
                "owner: got nothing; allowed: a URL that ends with it (/mcp/alice), or a server started with --owner",
                field="owner",
            )
        token = _OWNER.set(check_owner(chosen))
        try:
            yield
        finally:
            _OWNER.reset(token)

    @staticmethod
    def told_owner() -> str:
        """The owner that was told."""
        return _OWNER.get()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The store, opened for one call of the owner that was told."""
        owner = _OWNER.get()
        with self._opener() as application:
            caller = self._who(application)
            with asked_by(caller):
                yield Session(application.for_(caller), owner)

    def denied(self, caller: Caller, owner: str) -> None:
        """Record that a caller asked for an owner to whom he may do nothing. Raises StoreError."""
        with self._opener() as application:
            application.reads.record(caller, "denied", "mcp", owner)
