"""What a job process lends to its jobs: models that are made at first need, and left alone for a while after they failed."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")
REST_SECONDS = 60.0
"""How long a model that failed is left alone."""


class Lent(Generic[T]):
    """A model of a job process, such as its embedder: made at first need, kept, and left alone for a while after it failed."""

    def __init__(self, make: Callable[[], T], rest_seconds: float = REST_SECONDS) -> None:
        self._make = make
        self._made: T | None = None
        self._rest = rest_seconds
        self._until = 0.0

    def __call__(self) -> T:
        """The model. Raises what making it raises."""
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def rests(self) -> bool:
        """Whether it failed a moment ago."""
        return monotonic() < self._until

    def failed(self) -> None:
        """Leave it alone for a while."""
        self._until = monotonic() + self._rest


class LentThrough(Lent[T]):
    """The same model through something else, such as what counts its questions; it rests when the model does."""

    def __init__(self, lent: Lent[T], wrap: Callable[[T], T]) -> None:
        super().__init__(lent)
        self._lent = lent
        self._wrap = wrap

    def __call__(self) -> T:
        """See `Lent`."""
        return self._wrap(self._lent())

    @property
    def rests(self) -> bool:
        """See `Lent`."""
        return self._lent.rests

    def failed(self) -> None:
        """See `Lent`."""
        self._lent.failed()
