"""How far an event's word goes: what whoever brings it may reach at most, decided at the door and told beside the entry.

A payload may only lower it (`trust` of the envelope). An entry tells it only where it is less than `asserted`, so that entries
from before go on as they did.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, get_args

Trust = Literal["proposed", "imported", "inferred", "asserted"]
"""From the least to the most."""
ASSERTED: Trust = "asserted"
INFERRED: Trust = "inferred"
IMPORTED: Trust = "imported"
PROPOSED: Trust = "proposed"
TRUSTS: tuple[Trust, ...] = get_args(Trust)
ORDER: Mapping[Trust, int] = {one: number for number, one in enumerate(TRUSTS)}
_CODES: Mapping[Trust, bytes] = {PROPOSED: b"p", IMPORTED: b"m", INFERRED: b"i"}
_TOLD: Mapping[bytes, Trust] = {code: one for one, code in _CODES.items()}


def lowest(*told: Trust | None) -> Trust:
    """The least of these; None says nothing, and nothing said is `asserted`."""
    return min((one for one in told if one is not None), key=ORDER.__getitem__, default=ASSERTED)


def overrides(by: Trust, known: Trust) -> bool:
    """Whether what is said with trust `by` may negate, revise, merge or delete what is known with `known`.

    Only what the user himself said stands above the rest, and only a proposal below it.
    """
    return by == ASSERTED or (by != PROPOSED and known != ASSERTED) or known == PROPOSED


@lru_cache(maxsize=256)
def with_trust(level: bytes, trust: Trust | None) -> bytes:
    """`rules:level` as an entry tells it, and behind it what its trust is where it is less than `asserted`: `1:0:i`."""
    code = None if trust is None else _CODES.get(trust)
    return level if code is None else b"%s:%s" % (level, code)


@lru_cache(maxsize=256)
def parted(told: bytes) -> tuple[bytes, Trust | None]:
    """`rules:level` and the trust beside it; None where none is told, as in entries from before. Raises ValueError for another."""
    level, colon, code = told.rpartition(b":")
    if level.count(b":") != 1:
        return told, None
    if code not in _TOLD:
        raise ValueError(f"trust: got {code!r}; allowed: i, m or p")
    return level, _TOLD[code] if colon else None
