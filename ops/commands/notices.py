"""What a command says while it waits: nothing at first, then one line, rewritten in place where somebody looks on."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from rich.console import Console
from rich.markup import escape

PATIENCE_SECONDS = 1.5
AGAIN_SECONDS = 2.0


def patient(console: Console) -> Callable[[str], None]:
    """`on_wait` for opening a store: silent for 1.5 s, then a line at most every two seconds."""
    next_at = monotonic() + PATIENCE_SECONDS

    def tell(message: str) -> None:
        nonlocal next_at
        if monotonic() >= next_at:
            next_at = monotonic() + AGAIN_SECONDS
            console.print(f"[dim]{escape(message)}[/]", soft_wrap=True)

    return tell
