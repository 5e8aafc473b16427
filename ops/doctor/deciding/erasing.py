"""Erasures that are not over: of which it is not proven that nothing is left. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from events.envelope import from_micros, utc_text
from ops.doctor.finding import STORE, CheckFinding, many, named

CURE = (
    "`engramlog erase OWNER --audit`, with the ids where single memories were erased, tells what is left and where; what is looked"
    " for goes once nothing is, and after 30 days with the next `engramlog erase`"
)


def unproven(kept: Mapping[str, float]) -> CheckFinding:
    """What is kept of erasures to look for. `kept`: by their ids since when, in seconds since 1970, UTC."""
    check = "erasures"
    if not kept:
        return STORE.ok(check, "nothing is kept of an erasure that was not proven")
    since = utc_text(from_micros(int(min(kept.values()) * 1_000_000)))[:10]
    return STORE.advice(
        check,
        f"of {many(len(kept), 'erasure')} it is not proven that nothing is left, and what is looked for is kept, sealed, since"
        f" {since}: {named(sorted(kept))}",
        CURE,
    )
