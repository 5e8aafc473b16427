"""What a law is: a weight with its factors, for one memory or for many at once, and the thresholds of the modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from events.parameters import Parameters
from projections.columns import Columns
from projections.memory import Memory

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reading:
    """A weight under a law: as reported (`weight`, clipped), as thresholds read it (`unclipped`), and its factors."""

    weight: float
    unclipped: float
    factors: dict[str, float]


class Law(Protocol):
    """A pure reading of a memory at an instant; `now` in microseconds since 1970."""

    name: str

    def read(self, memory: Memory, now: int, parameters: Parameters) -> Reading:
        """The weight of one memory with every factor by name."""
        ...

    def weights(self, columns: Columns, now: int, parameters: Parameters) -> Floats:
        """Unclipped weights of all rows, shape (rows,); equal to `read` within 1e-12 relative."""
        ...

    def normal_threshold(self, parameters: Parameters) -> float:
        """Least unclipped weight shown in normal mode."""
        ...

    def review_threshold(self, parameters: Parameters) -> float:
        """Least unclipped weight shown in review mode."""
        ...
