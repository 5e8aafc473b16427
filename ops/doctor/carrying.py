"""Checks side by side, each bounded in time: one that fails or hangs is told as unknown, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from time import monotonic
from typing import NamedTuple

from events.errors import EngramlogError
from ops.doctor.finding import CheckFinding, CheckGroup

Look = Callable[[], list[CheckFinding]]


class Check(NamedTuple):
    """Something to look at."""

    group: CheckGroup
    name: str
    """What is told where it cannot be carried out."""
    look: Look


def carried_out(checks: Sequence[Check], seconds: float) -> list[CheckFinding]:
    """What all of them found, in their order, no later than after so many seconds."""
    found: list[list[CheckFinding] | None] = [None] * len(checks)

    def carry_out(number: int, check: Check) -> None:
        found[number] = _looked(check)

    threads = [
        Thread(target=carry_out, args=(number, check), name=f"doctor {check.name}", daemon=True)
        for number, check in enumerate(checks)
    ]
    ends = monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(ends - monotonic(), 0.0))
    told = list[CheckFinding]()
    for check, one in zip(checks, list(found), strict=True):
        told += [check.group.failed(check.name, f"no answer within {seconds:g} s")] if one is None else one
    return told


def _looked(check: Check) -> list[CheckFinding]:
    try:
        return check.look()
    except EngramlogError as error:
        why = error.message
    except OSError as error:
        why = error.strerror or type(error).__name__
    except Exception as error:  # noqa: BLE001 - a check at fault hides no other
        why = f"{type(error).__name__} in the check itself"  # no more of it: its text may be anybody's
    return [check.group.failed(check.name, why)]
