"""Whose memories a call is about, and the store it is answered from.

The owner is a fact of the connection: of the process over stdio, of the URL over HTTP. No tool takes it as an argument, so
nothing that a model is talked into saying reaches another owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from api.application import Application, Opener
from api.requests.checks import check_owner
from events.errors import InputError

_OWNER: ContextVar[str] = ContextVar("owner")


class Session(NamedTuple):
    """The store and the owner, for the length of one call."""

    application: Application
    owner: str


class Connection:
    """What every tool stands on. `owner`: whom this server is for; None where each request's URL tells it."""

    def __init__(self, opener: Opener, owner: str | None, heard: Callable[[str], None] = lambda _owner: None) -> None:
        """`heard` is told the owner after each call."""
        self.owner = None if owner is None else check_owner(owner)
        self._opener = opener
        self._heard = heard

    @contextmanager
    def told(self, owner: str | None) -> Iterator[None]:
        """Everything within is about this owner, which a request named; a server of one owner serves no other."""
        if owner is not None and self.owner not in (None, owner):
            raise InputError(f"owner: got {owner!r}; allowed: {self.owner}, whom this server is for", field="owner")
        chosen = owner or self.owner
        if chosen is None:
            raise InputError(
                "owner: got none; allowed: a URL that ends with it (/mcp/alice), or a server started with --owner",
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
            yield Session(application, owner)
            self._heard(owner)
