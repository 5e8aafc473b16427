"""How a question was taken apart, as an answer tells it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question was taken apart."""

    way: str = "whole"
    """`whole`, `several`, `compared`, `named`: said with a name for a role, or a role for a name."""
    parts: tuple[str, ...] = ()
    many: bool = False
    """Whether several things answer it together."""
    ordered: bool = False
    """Whether they are asked for in the order of time."""
    brought: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Row -> what brought it in, by number from 0 of `parts`."""
