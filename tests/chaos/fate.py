"""What a process of the fault test meets on its way: at the n-th pass of a named point it dies or falls asleep."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable

DIE, SLEEP = "die", "sleep"
SIGNALS = {DIE: signal.SIGKILL, SLEEP: signal.SIGSTOP}


def fated(fate: str | None, point: str | None, passes: int) -> Callable[[str], None]:
    """A probe that sends this process SIGKILL (`die`) or SIGSTOP (`sleep`) at the n-th pass of a named point."""
    left = passes

    def probe(passed: str) -> None:
        nonlocal left
        if passed == point and fate is not None:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), SIGNALS[fate])

    return probe


def parser(description: str | None) -> argparse.ArgumentParser:
    """The arguments that every process of the cast takes."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--lease-ms", type=int, default=1_000)
    arguments.add_argument("--fate", choices=sorted(SIGNALS))
    arguments.add_argument("--at", help="the named point")
    arguments.add_argument("--passes", type=int, default=1)
    return arguments
