"""Every memory of a side, by looking at one after the other: what comparisons of sides are held against."""

from __future__ import annotations

from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.reports.comparison import Side, Standings
from engramlog_server.projections.shapes import SideStanding


def side_standings(side: Side, mode: Mode) -> dict[str, SideStanding]:
    """Each memory's standing, by its id."""
    found = Standings(side, mode)
    return {memory.id: found.of(row, memory) for row, memory in enumerate(side.view.columns)}
