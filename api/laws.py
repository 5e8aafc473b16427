"""The laws there are, as every face tells them. Asks no store."""

from __future__ import annotations

from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.shapes import Laws, LawShape


def laws() -> Laws:
    """Every law there is: its formula, factors, thresholds at the defaults, and where it comes from. Asks no store."""
    return {"laws": [_law(law) for law in LAWS.values()]}


def _law(law: Law) -> LawShape:
    return {
        "name": law.name,
        "formula": law.formula,
        "factors": dict(law.factors),
        "thresholds": {"normal": law.normal_threshold(DEFAULTS), "review": law.review_threshold(DEFAULTS)},
        "source": law.source,
    }
