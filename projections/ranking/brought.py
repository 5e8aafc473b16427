"""What the best hits of a search bring to mind: over associations, then over triples, with the way there. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NotRequired, TypedDict

from engramlog_server.projections.laws.modes import Visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import LEVELS
from engramlog_server.projections.memory.triples import KnownTriple, ReachedMemory
from engramlog_server.projections.ranking.spreading import Activated, spread
from engramlog_server.projections.views.query import ViewQuery, card, told_beside
from engramlog_server.projections.views.records import Card
from engramlog_server.projections.views.view import OwnerView

Step = TypedDict(
    "Step",
    {"from": str, "to": str, "link": str, "weight": NotRequired[float | None], "negation": NotRequired[bool | None]},
)
"""One step on the way to what is brought to mind: an edge between memories, or a triple between entities."""


class Associated(Card):
    """A memory that the hits bring to mind."""

    activation: float
    weight: float
    path: list[Step]


MOST_ACTIVATED = 50
"""How many memories beside the direct hits are considered."""
MOST_ASSOCIATED = 5


def brought_to_mind(
    asked: ViewQuery,
    query: str,
    seeds: Sequence[tuple[int, float]],
    shown: set[int],
    seen: Visibility,
    admits: Callable[[int], bool],
) -> list[Associated]:
    """What the best hits bring to mind and the results do not show: over associations, then over triples.

    `admits`: whether a row may be reached.
    """
    view, now, _ = asked
    over_edges = spread(seeds, view.associations, view.parameters, MOST_ACTIVATED, admits)
    over_triples = view.graph.walk(
        query,
        view.columns,
        view.parameters.spread_depth,
        MOST_ACTIVATED,
        hop=view.parameters.spread_decay,
        admits=_backed(view, seen),
    )
    told: dict[int, tuple[float, list[Step]]] = {}
    for way in over_edges:
        told[way.row] = (way.activation, path_told(view.columns, way))
    for reached in over_triples:
        if admits(reached.row) and reached.activation > told.get(reached.row, (0.0, []))[0]:
            told[reached.row] = (reached.activation, _triples_told(reached))
    rows = sorted((row for row in told if row not in shown), key=lambda row: (-told[row][0], -row))
    answer: list[Associated] = []
    for row in rows[:MOST_ASSOCIATED]:
        memory = view.columns.memories[row]
        reading = view.law.read(memory, now, view.parameters)
        answer.append(
            {
                **card(memory, LEVELS[int(seen.levels[row])]),
                **told_beside(view, memory),
                "activation": round(told[row][0], 6),
                "weight": round(reading.weight, 6),
                "path": told[row][1],
            }
        )
    return answer


def admits_shown(seen: Visibility) -> Callable[[int], bool]:
    """Whether a row may be reached: only what the mode shows."""
    return lambda row: bool(seen.shown[row])


def _backed(view: OwnerView, seen: Visibility) -> Callable[[KnownTriple], bool]:
    """Whether a shown memory backs a triple, itself or as a source of it: what only hidden ones say is not walked."""

    def admits(triple: KnownTriple) -> bool:
        heirs = (_heir(view.columns, memory_id) for memory_id in triple.backing)
        return any(row is not None and bool(seen.shown[row]) for row in heirs)

    return admits


def _heir(columns: Columns, memory_id: str) -> int | None:
    """The row of a memory, or of what it was merged into."""
    row = columns.row(memory_id)
    while row is not None and (into := columns.memories[row].merged_into) is not None:
        row = columns.row(into)
    return row


def path_told(columns: Columns, way: Activated) -> list[Step]:
    """The way of an activation, edge by edge."""
    return [
        {
            "from": columns.memories[start].id,
            "to": columns.memories[link.to_row].id,
            "link": link.link,
            "weight": round(link.weight, 6),
        }
        for start, link in zip(way.path, way.links, strict=False)
    ]


def _triples_told(reached: ReachedMemory) -> list[Step]:
    return [
        {"from": triple.subject, "to": triple.object, "link": triple.predicate, "negation": triple.negation}
        for triple in reached.path
    ]
