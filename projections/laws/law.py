"""What a law is: a weight with its factors, for one memory or for many at once, and the thresholds of the modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.memory.record import Memory

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from engramlog_server.projections.memory.columns import Columns

    Floats = npt.NDArray[np.float64]
    Instants = npt.NDArray[np.int64]
else:
    Floats = Instants = Any  # named in annotations alone, which nothing evaluates

    class _Numpy:
        """numpy, imported when a law first computes many weights: laws are named and described without it."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module("numpy"), name)
            setattr(self, name, found)
            return found

    np = _Numpy()

__all__ = ["FOREVER", "Ends", "Floats", "Instants", "Law", "Reading", "never", "np"]

FOREVER = (2**63 - 1) // 4
"""Stands for an instant that does not come."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A weight under a law: as reported (`weight`, clipped), as thresholds read it (`unclipped`), and its factors."""

    weight: float
    unclipped: float
    factors: dict[str, float]


class Ends(NamedTuple):
    """When the law itself, with no further event, archives and deletes each row; FOREVER where it does not. Shape (rows,)."""

    archived: Instants
    deleted: Instants


class Law(Protocol):
    """A pure reading of a memory at an instant; `now` in microseconds since 1970."""

    name: str
    source: str
    """The published design it comes from."""
    formula: str
    factors: Mapping[str, str]
    """Every factor of a reading by name, with its unit and what it says."""

    def read(self, memory: Memory, now: int, parameters: Parameters) -> Reading:
        """The weight of one memory with every factor by name."""
        ...

    def weights(self, columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
        """Unclipped weights of all rows, shape (rows,), at one instant or at one each; equal to `read` within 1e-12 relative."""
        ...

    def ends(self, columns: Columns, parameters: Parameters) -> Ends:
        """When the law archives and deletes what no event touches any more."""
        ...

    def normal_threshold(self, parameters: Parameters) -> float:
        """Least unclipped weight shown in normal mode."""
        ...

    def review_threshold(self, parameters: Parameters) -> float:
        """Least unclipped weight shown in review mode."""
        ...


def never(columns: Columns) -> Ends:
    """No ends: nothing is archived or deleted by such a law itself."""
    return Ends(np.full(len(columns), FOREVER), np.full(len(columns), FOREVER))
