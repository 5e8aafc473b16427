"""What is set aside, for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api import shapes
from api.cli.app import out
from api.cli.show.memories import told_at


def aside(told: shapes.AsideTold | None, console: Console = out) -> None:
    """By whose setting aside a memory is withheld; nothing where it is not."""
    if told is None:
        return
    named = (("session", told["session"]), ("principal", told["principal"]), ("actor", told["of_actor"]))
    source = ", ".join(f"{name} {value}" for name, value in named if value is not None)
    said = f"{source} is set aside since {told_at(told['since'], console)} by {_by(told)}"
    console.print(Text(f"{said}: {told['reason']}" if told["reason"] else said, "yellow"), soft_wrap=True)


def _by(told: shapes.AsideTold) -> str:
    """Who set it aside, as far as the log tells."""
    actor, principal = told.get("by_actor"), told.get("by_principal")
    return f"{actor} ({principal})" if principal else actor or "-"
