"""Waiting for facts, on an event loop and off it: never for a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(fact: Callable[[], bool]) -> None:
    """Let everything else run until something is so; whoever waits sets the end."""
    while not fact():  # noqa: ASYNC110 - what is waited for knows nothing of who waits
        await asyncio.sleep(0)
