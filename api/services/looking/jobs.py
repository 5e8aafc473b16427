"""The lifecycle jobs of a store, and why one stopped. The queue is read by `consumers`, which `ops` hands in."""

from __future__ import annotations

from collections.abc import Callable

from api.shapes import JobBoard


class JobQueue:
    """Tells the jobs of one store. Safe for threads if `board` is."""

    def __init__(self, board: Callable[[], JobBoard]) -> None:
        self._board = board

    def jobs(self) -> JobBoard:
        """Every kind of job with how it last went, and the jobs that run, wait or failed, at most 200. Reads only."""
        return self._board()
