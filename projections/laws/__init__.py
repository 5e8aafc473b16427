"""Laws: pure functions (memory, now, parameters) -> weight with its factors.

One more is a file here that ends in `LAW = ...`, and its name in `events.parameters.Profile`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import get_args

from engramlog_server.events.parameters import Profile
from engramlog_server.projections.laws.law import Law, Reading

LAWS: Mapping[str, Law] = {
    name: import_module(f"engramlog_server.projections.laws.{name}").LAW for name in get_args(Profile)
}
WEIGHTED = LAWS["weighted"]

__all__ = ["LAWS", "WEIGHTED", "Law", "Reading"]
