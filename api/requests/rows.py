"""What a list of memories, or its counts, were told of times, as they understood it."""

from __future__ import annotations

from api.shapes import SpansTold
from projections.ranking.conversation_dates import zoned_text
from projections.reports.listing.wanted import RowsWanted


def spans_told(wanted: RowsWanted, zone: str) -> SpansTold:
    """From when, and to when (not included), memories were made or revised, where a filter says so: RFC 3339 in the time zone."""
    found, filters, updated = SpansTold(), wanted.filters, wanted.updated
    if filters.since is not None:
        found["since"] = zoned_text(filters.since, zone)
    if filters.until is not None:
        found["until"] = zoned_text(filters.until, zone)
    if updated.since is not None:
        found["updated_since"] = zoned_text(updated.since, zone)
    if updated.until is not None:
        found["updated_until"] = zoned_text(updated.until, zone)
    return found
