"""An owner's view after some events, and searches of it, for tests of what reads views. No store."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import FactAsserted
from engramlog_server.events.envelope import Naming
from engramlog_server.projections.fold.owner import OwnerHistory
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import Filters, SearchRequest
from engramlog_server.projections.redis.view import in_order
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created, folded, linked, secret_of

HOUR = 1 / 24
"""In days."""
Found = dict[str, Any]


NAMING = Naming("ada", secret_of("ada"))


def viewed(*events: Told) -> OwnerView:
    """The owner after these events."""
    return named(OwnerView.of_history("ada", folded(*events)))


def named(view: OwnerView) -> OwnerView:
    """The same, told by what ids are made of its owner's words."""
    view.naming = NAMING
    return view


def asked(
    view: OwnerView, query: str, day: float = 0, mode: Mode = "normal", limit: int = 5, **wish: Any
) -> dict[str, Any]:
    """The answer to a search."""
    filters = Filters(**{name: wish.pop(name) for name in Filters._fields if name in wish})
    return search(ViewQuery(view, at(day), mode), query, limit, SearchRequest(**wish, filters=filters))


def found(view: OwnerView, query: str, day: float = 0, **asking: Any) -> dict[str, Found]:
    """Results by id, best first."""
    return {one["id"]: one for one in asked(view, query, day, **asking)["results"]}


def brought(view: OwnerView, query: str, day: float = 0, **asking: Any) -> dict[str, Found]:
    """What the hits bring to mind, by id."""
    return {one["id"]: one for one in asked(view, query, day, associations=True, **asking)["associated"]}


def way(one: Found) -> list[tuple[str, str, str]]:
    """The steps of a path: from, link, to."""
    steps = one["path"] if "path" in one else one["explain"]["path"]
    return [(step["from"], step["link"], step["to"]) for step in steps]


def potter(on: float = 0) -> list[Told]:
    """A kiln and, by association, clay and then a fair: three memories that share no word."""
    return [
        created("The kiln broke", "kiln", on),
        created("Mud was late", "clay", on),
        created("A missed fair", "fair", on),
        linked("kiln", "clay", on, 0.9),
        linked("clay", "fair", on, 0.9),
    ]


def noted(content: str, of: str, day: float = 0, **data: Any) -> Told:
    """What an assistant noted: stability 24 h, so that strength falls as in seed 004's table."""
    return created(content, of, day, "assistant", **data)


def fact(subject: str, predicate: str, object_: str, *evidence: str, negation: bool = False) -> Told:
    """A triple with its evidence."""
    data = FactAsserted(subject=subject, predicate=predicate, object=object_, evidence=evidence, negation=negation)
    return Told(data, 0, "judge")


CHAIN = (
    noted("The kiln broke", "kiln"),
    noted("Clay was late", "clay"),
    noted("The fair was missed", "fair"),
    linked("kiln", "clay", weight=0.8),
    linked("clay", "fair", weight=0.6),
)
"""Two edges from what is found by "kiln" to what is not."""


def moved(view: OwnerView, before: OwnerHistory | None, now: OwnerHistory) -> OwnerView:
    """A view brought forward by what changed, as Redis tells it."""
    known: dict[str, Memory] = {} if before is None else before.memories
    changed = [one for name, one in now.memories.items() if known.get(name) != one]
    view.follow(now.owner, sorted(changed, key=in_order))
    return view


def anew(history: OwnerHistory) -> OwnerView:
    return OwnerView("ada", history.owner, sorted(history.memories.values(), key=in_order))
