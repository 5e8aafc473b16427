"""Counts of a list of memories, by the values of its filters. Leaves no trace."""

from __future__ import annotations

from typing import Any

from api.requests.checks import check_mode, check_owner
from api.requests.searching import spans_told
from api.requests.timelines import Progress, TimesAsked, told_times
from api.services.reading import Reader
from api.shapes import Counts
from api.work.patience import current_check, weigh
from projections.checks import Bounds
from projections.reports.listing.counting import facets
from projections.reports.listing.wanted import check_wanted, wanted_of
from projections.views.query import ViewQuery


class Counter:
    """Counts one store's memories. Safe for threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def counts(
        self,
        owner: str,
        *,
        mode: str = "normal",
        as_of: str | None = None,
        known: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
        **filters: Any,
    ) -> Counts:
        """How many memories have each value of each filter, as if that one were not told. `filters`: those of a list."""
        checked = check_mode(mode)
        check_wanted(filters)
        told = TimesAsked(as_of=as_of, known=known, at=at)
        times = TimesAsked(**told, after=after, on_progress=on_progress)
        with self._reader.snapshot(check_owner(owner), **times) as snapshot:
            zone = snapshot.view.parameters.time_zone
            wanted = wanted_of(filters, snapshot.now, zone)
            answer = facets(ViewQuery(snapshot.view, snapshot.now, checked), wanted, Bounds(current_check(), weigh))
        return {**answer, **spans_told(wanted, zone), **told_times(told), **snapshot.place}
