"""What is known as triples: subject, predicate, object, with the memories that are their evidence (memory.md, section 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from api.requests.checks import check_limit
from api.requests.timelines import LineTerms
from api.services.reading import Reader
from api.shapes import Fact, FactEvidence, FactsKnown
from api.work.patience import weigh
from events.errors import refused
from events.text.saying import is_text
from projections.memory.columns import Columns
from projections.memory.record import Memory
from projections.memory.triples import KnownTriple, is_about, triples_of
from projections.views.query import card, moment
from projections.views.view import OwnerView

MOST_FACTS = 1_000
MOST_EVIDENCE = 5
"""Memories whose text is told with a triple; `backing` names all."""
MOST_LETTERS = 200
"""Longest name of an entity, as in validation."""


class Facts:
    """Answers which triples hold for an owner. Safe for threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def facts(
        self, owner: str, *, about: str | None = None, limit: int = 50, offset: int = 0, **times: Unpack[LineTerms]
    ) -> FactsKnown:
        """Triples by subject, predicate and object, or only those of which `about` is subject or object. Leaves no trace.

        Raises InputError for an owner, an entity, a limit or a place in time that cannot be.
        """
        wanted = check_limit(limit, MOST_FACTS)
        if about is not None:
            _check_entity(about)
        with self._reader.snapshot(owner, **times) as snapshot:
            columns = snapshot.view.columns
            found, known = _triples(snapshot.view, about)
            start = max(offset, 0)
            return {
                "owner": owner,
                "about": about,
                "facts": [_told(triple, columns) for triple in found[start : start + wanted]],
                "total": len(found),
                "offset": start,
                "known": known,
                "as_of": times.get("as_of"),
                "known_by": times.get("known"),
                **snapshot.place,
            }


def _triples(view: OwnerView, about: str | None) -> tuple[Sequence[KnownTriple], int]:
    """The triples asked for, and how many are known; of whoever is told less, those that are backed by what he is told."""
    if not view.is_narrowed:
        return view.graph.triples if about is None else view.graph.about(about), len(view.graph.triples)
    weigh(len(view) // 2)
    known = triples_of(view.columns, view.told)
    return [one for one in known if about is None or is_about(one, about)], len(known)


def _check_entity(about: str) -> None:
    if not is_text(about, MOST_LETTERS):
        raise refused("about", about[:60], f"an entity: some text in UTF-8 of at most {MOST_LETTERS} characters")


def _told(triple: KnownTriple, columns: Columns) -> Fact:
    """A triple with its evidence, the newest memories first."""
    rows = [row for row in map(columns.row, triple.backing) if row is not None]
    memories = sorted((columns.memories[row] for row in rows), key=lambda one: (-one.created_at, one.id))
    return {
        "subject": triple.subject,
        "predicate": triple.predicate,
        "object": triple.object,
        "negation": triple.negation,
        "degree": triple.degree,
        "condition": triple.condition,
        "asserted_at": moment(triple.at),
        "backing": list(triple.backing),
        "evidence": [_evidence(one) for one in memories[:MOST_EVIDENCE]],
    }


def _evidence(memory: Memory) -> FactEvidence:
    told = card(memory, "full")
    return {
        "id": told["id"],
        "memory": told["memory"],
        "status": told["status"],
        "trust": told["trust"],
        "speaker": told["speaker"],
        "source_turns": told["source_turns"],
        "created_at": told["created_at"],
    }
