"""What is known: how sure we are of a topic, a map of it, and what a memory is associated with. Leaves no trace."""

from __future__ import annotations

from typing import Unpack

from api.requests.checks import check_mode, check_query
from api.requests.snapshots import Snapshot
from api.requests.timelines import TimesAsked, told_times
from api.services.reading import Reader
from api.shapes import Assessment, AssociationTree, BackedTriple, Branch, KnowledgeMap
from api.work.patience import current_check
from events.errors import InputError, refused
from projections.choices import LEAST_WEIGHT, MOST_NODES
from projections.index.associations import Link
from projections.laws.modes import Visibility
from projections.memory.columns import Columns
from projections.memory.record import LEVELS, SECRET, Memory
from projections.reports.assess import assess
from projections.reports.knowledge_map import knowledge_map
from projections.views.corrected import seen_at
from projections.views.query import ViewQuery, card, told_beside

MOST_DEPTH = 4
MOST_IN_TREE = 500


class Knower:
    """Answers questions about what an owner's memories amount to. Safe for threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def assess(self, owner: str, topic: str, **times: Unpack[TimesAsked]) -> Assessment:
        """How sure we are about a topic, with evidence and advice."""
        _check_topic(topic)
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = assess(snapshot.view, topic, snapshot.now)
        return {**answer, **told_times(times), **snapshot.place}

    def map(
        self,
        owner: str,
        topic: str | None = None,
        *,
        depth: int = 2,
        least: float = LEAST_WEIGHT,
        limit: int = MOST_NODES,
        mode: str = "normal",
        **times: Unpack[TimesAsked],
    ) -> KnowledgeMap:
        """Nodes, edges and clusters around a topic, or of the strongest of all that is known."""
        if topic is not None:
            _check_topic(topic)
        checked = check_mode(mode)
        _check_depth(depth)
        if not 0 <= least <= 1:
            raise refused("least", least, "a number from 0 to 1")
        if not 1 <= limit <= 1_000:
            raise refused("limit", limit, "a whole number from 1 to 1000")
        with self._reader.snapshot(owner, **times) as snapshot:
            view = snapshot.view
            answer = knowledge_map(
                ViewQuery(view, snapshot.now, checked),
                topic,
                depth=depth,
                least=least,
                most=limit,
                near=self._reader.vectors_of(view, owner),
                check=current_check(),
            )
            if view.is_narrowed:
                answer["withheld"] = []
        return {**answer, **told_times(times), **snapshot.place}

    def associations(
        self, owner: str, memory_id: str, *, depth: int = 1, mode: str = "review", **times: Unpack[TimesAsked]
    ) -> AssociationTree:
        """What a memory is associated with, as a tree: the strongest first, each memory once."""
        checked = check_mode(mode)
        _check_depth(depth)
        with self._reader.snapshot(owner, **times) as snapshot:
            memory = self._reader.memory(snapshot, owner, memory_id)
            row = snapshot.view.columns.row(memory.id)
            assert row is not None
            view = snapshot.view
            seen = seen_at(view, snapshot.now, checked)
            return {
                **card(memory, LEVELS[int(seen.levels[row])]),
                **told_beside(view, memory),
                "owner": owner,
                "associations": _tree(snapshot, seen, row, depth),
                "triples": _triples(snapshot, memory.id),
                "mode": checked,
                **told_times(times),
                **snapshot.place,
            }


def _check_topic(topic: str) -> None:
    try:
        check_query(topic)
    except InputError as error:
        raise refused("topic", error.context["got"], error.context["allowed"]) from None


def _check_depth(depth: int) -> None:
    if not 1 <= depth <= MOST_DEPTH:
        raise refused("depth", depth, f"a whole number from 1 to {MOST_DEPTH}")


def _tree(snapshot: Snapshot, seen: Visibility, row: int, depth: int) -> list[Branch]:
    """Breadth first from a row, at most 500 memories, each once: at the fewest steps, under the first branch that has it."""
    view, shown = snapshot.view, {row}
    tree: list[Branch] = []
    frontier = [(row, tree)]
    for _ in range(depth):
        following = []
        for at, branches in frontier:
            for link in view.associations.neighbours(at, view.parameters):
                if link.to_row in shown or not seen.shown[link.to_row] or len(shown) > MOST_IN_TREE:
                    continue
                shown.add(link.to_row)
                branch = _branch(view.columns.memories[link.to_row], LEVELS[int(seen.levels[link.to_row])], link)
                branches.append(branch)
                following.append((link.to_row, branch["associations"]))
        frontier = following
    return tree


def _branch(memory: Memory, level: str, link: Link) -> Branch:
    return {
        **card(memory, level),
        "link": link.link,
        "weight": round(link.weight, 6),
        "base": round(link.base, 6),
        "boost": round(link.boost, 6),
        "associations": [],
    }


def _triples(snapshot: Snapshot, memory_id: str) -> list[BackedTriple]:
    """The triples that a memory backs; a deleted one backs none."""
    columns = snapshot.view.columns
    row = columns.row(memory_id)
    if row is None or columns.standing()[row] >= Columns.DELETED or columns.sensitivity[row] >= SECRET:
        return []
    return [
        {"subject": f.subject, "predicate": f.predicate, "object": f.object, "negation": f.negation}
        for f in columns.memories[row].facts
    ]
