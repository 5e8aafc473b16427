"""Laws: pure functions (memory, now, parameters) -> weight with its factors.

One more is a class with the methods of `Law`, its instance in `LAWS` and its name in `events.parameters.Profile`.
"""

from __future__ import annotations

from collections.abc import Mapping

from engramlog_server.projections.laws.law import CONSOLIDATING, EBBINGHAUS, TIERED, WEIGHTED, Law, Reading

LAWS: Mapping[str, Law] = {law.name: law for law in (WEIGHTED, EBBINGHAUS, CONSOLIDATING, TIERED)}

__all__ = ["LAWS", "WEIGHTED", "Law", "Reading"]
