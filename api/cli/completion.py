"""What TAB completes: modes, laws, and the owners and memories of the running store."""

from __future__ import annotations

from typing import Any, Protocol

import typer

MODES = ("normal", "review", "debug")
LAWS = ("weighted", "ebbinghaus", "consolidating", "tiered")


class Names(Protocol):
    """Where names are looked up, in a moment or not at all."""

    def owners(self, begun: str) -> list[str]:
        """Owners whose names begin so."""

    def memories(self, owner: str, begun: str) -> list[str]:
        """Ids of an owner's memories that begin so."""


def modes(incomplete: str) -> list[str]:
    """The modes of reading that begin so."""
    return [mode for mode in MODES if mode.startswith(incomplete)]


def laws(incomplete: str) -> list[str]:
    """The laws that begin so."""
    return [law for law in LAWS if law.startswith(incomplete)]


def owners(context: typer.Context, incomplete: str) -> list[str]:
    """Owners of the running store that begin so."""
    names = _names(context)
    return [] if names is None else names.owners(incomplete)


def memories(context: typer.Context, incomplete: str) -> list[str]:
    """Ids of the owner's memories that begin so; none before an owner is named."""
    names, owner = _names(context), context.params.get("owner")
    return names.memories(owner, incomplete) if names is not None and isinstance(owner, str) else []


def _names(context: typer.Context) -> Names | None:
    joined: Any = context.find_root().obj
    return getattr(joined, "names", None)
