"""Counts of a list of memories, for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import times_of
from projections import shapes

_FACETS = ("status", "level", "trust", "tier", "category", "kind", "tag", "sensitivity", "source", "flag", "law")


def counts(answer: shapes.Counts, console: Console = out) -> None:
    """A line for each filter: its values that some memory has, with how many."""
    total = answer["total"]
    head = f"{total:,} {'memory' if total == 1 else 'memories'}, {answer['mode']} mode, position {answer['position']}"
    console.print(Text(head + times_of(answer), "dim"))
    width = max(map(len, _FACETS))
    for name in _FACETS:
        facet: shapes.FacetCounts = answer[f"by_{name}"]  # type: ignore[literal-required]
        told = [f"{one['value']} {one['count']:,}" for one in facet["counts"] if one["count"]]
        more = f", {facet['left_out']:,} more" if facet["left_out"] else ""
        console.print(Text.assemble((f"{name:{width}}  ", "bold"), (", ".join(told) or "-") + more))
