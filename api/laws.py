"""The laws there are, as every face tells them. Asks no store."""

from __future__ import annotations

from typing import Any

from events.parameters import DEFAULTS
from projections.laws import LAWS
from projections.laws.law import Law


def laws() -> dict[str, Any]:
    """Every law there is: its formula, factors, thresholds at the defaults, and where it comes from. Asks no store."""
    return {"laws": [_law(law) for law in LAWS.values()]}


def _law(law: Law) -> dict[str, Any]:
    return {
        "name": law.name,
        "formula": law.formula,
        "factors": dict(law.factors),
        "thresholds": {"normal": law.normal_threshold(DEFAULTS), "review": law.review_threshold(DEFAULTS)},
        "source": law.source,
    }
