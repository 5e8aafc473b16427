"""What to try next, told beside an answer where little was found or something was left out; none of it in anybody's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from api.shapes import Found, Hit, Withheld
from projections.laws.modes import AGED

LEAST_RELEVANCE = 0.6
"""What seed 001 (section 3.1.2) asks for unless told. Here it marks and does not cut: of questions about conversations only
one in seven has any memory that reaches it, and with the cut the right one is among the first five in 7 of 100, not 79."""
UNTOLD = ("sensitive", "deleted", "rejected")
"""What no agent is told how to see."""


def search_hint(found: Found, least: float | None, less_relevant: Callable[[], Found]) -> str | None:
    """What to make of an answer, and what else there is; `less_relevant` asks again without a least relevance."""
    hint = None
    if least is None:
        hint = _marked(found["results"])
    elif not found["results"] and least > 0:
        hint = _below(less_relevant(), least)
    told = [one for one in (hint, *_left_out(found["withheld"])) if one is not None]
    return "; ".join(told) or None


def _left_out(withheld: Sequence[Withheld]) -> list[str]:
    """How much is withheld that could be seen, and by which argument."""
    aged = sum(one["count"] for one in withheld if one["reason"] in AGED)
    past = sum(one["count"] for one in withheld if one["reason"] not in (*AGED, *UNTOLD))
    told = [f"{aged} more are old and match less: include_faded=true shows them"] if aged else []
    return told + ([f"{past} more do not hold as they were said: mode=review shows them, marked"] if past else [])


def _marked(results: Sequence[Hit]) -> str | None:
    """That none of what is shown is surely meant, where that is so."""
    best = max((one["relevance"] for one in results), default=1.0)
    if best >= LEAST_RELEVANCE:
        return None
    return f"none reaches a relevance of {LEAST_RELEVANCE:g} (the best {best:.2f}): leads, to be checked before you rely on them"


def _below(below: Found, least: float) -> str | None:
    """What there is under the least relevance asked for, which nothing reaches; None where there is nothing."""
    if not below["results"]:
        return None
    best = int(max(one["relevance"] for one in below["results"]) * 100) / 100
    return f"nothing reaches {least:g}; {below['total']} memories are less relevant: ask for at most {best:.2f}, or for none"
