"""Laws: pure functions (memory, now, parameters) -> weight with its factors. one more is one file and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from projections.laws.law import Law, Reading
from projections.laws.weighted import WEIGHTED

LAWS: Mapping[str, Law] = {law.name: law for law in (WEIGHTED,)}

__all__ = ["LAWS", "WEIGHTED", "Law", "Reading"]
