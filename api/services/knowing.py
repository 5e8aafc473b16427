"""What is known: how sure we are of a topic, a map of it, what a memory is associated with, facts and synonyms.

A fact is a triple of subject, predicate and object, with the memories that are its evidence. Asking leaves no trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, cast

from engramlog_server.api.checks import (
    LineTerms,
    TimesAsked,
    check_limit,
    check_mode,
    check_owner,
    check_query,
    masked,
    times_answer,
)
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Given, Writer
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.api.work import current_check, weigh
from engramlog_server.events.catalogue import SynonymDefined
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.vocabulary import is_text
from engramlog_server.projections.choices import LEAST_WEIGHT, MOST_NODES
from engramlog_server.projections.decide.commands import Tell
from engramlog_server.projections.index.associations import Link
from engramlog_server.projections.language.synonyms import MOST_PAIRS, expand, known_pairs, paired, word_key
from engramlog_server.projections.laws.modes import Visibility
from engramlog_server.projections.memory.columns import Columns, KnownTriple, is_about, triples_of
from engramlog_server.projections.memory.record import LEVELS, SECRET, Memory
from engramlog_server.projections.reports.health import assess
from engramlog_server.projections.reports.knowledge_map import knowledge_map
from engramlog_server.projections.shapes import (
    Assessment,
    AssociationTree,
    BackedTriple,
    Branch,
    Fact,
    FactEvidence,
    FactsKnown,
    KnowledgeMap,
    SynonymPair,
    SynonymSaid,
    SynonymsKnown,
    WordExpansion,
)
from engramlog_server.projections.views.query import ViewQuery, card, moment, seen_at, told_beside
from engramlog_server.projections.views.view import OwnerView

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
            found, known = _triples_known(snapshot.view, about)
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


def _triples_known(view: OwnerView, about: str | None) -> tuple[Sequence[KnownTriple], int]:
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
        return {**answer, **times_answer(times), **snapshot.place}

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
        return {**answer, **times_answer(times), **snapshot.place}

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
                **times_answer(times),
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


MOST_WORD = 100
"""Longest word or phrase, as in validation."""


class Synonyms:
    """Defines and tells the synonyms of one store's owners. Safe for threads."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def define(
        self, owner: str, word: str, synonym: str, *, similarity: float = 0.8, **given: Unpack[Given]
    ) -> SynonymSaid:
        """From here on the owner's searches for one of two words find the other; with a similarity of 0 they do not.

        The same pair again takes the new similarity. Raises InputError for words or a similarity that cannot be.
        """
        check_owner(owner)
        _check_word("word", word)
        _check_word("synonym", synonym)
        if not 0 <= similarity <= 1:
            raise refused("similarity", similarity, "a number from 0 to 1")
        if paired(word, synonym, similarity) is None or word_key(word) == word_key(synonym):
            raise refused("synonym", synonym, f"another word than {word}")
        data = SynonymDefined(keyword=word, synonym=synonym, similarity=float(similarity))
        told = {"word": word, "synonym": synonym, "similarity": float(similarity)}
        return cast("SynonymSaid", self._writer.carry_out(owner, Tell((data,), told=told), **given).answer)

    def synonyms(self, owner: str, *, of: str | None = None, **times: Unpack[LineTerms]) -> SynonymsKnown:
        """The owner's own pairs, by their words; of a word also what it is looked for by, and which of that is known to all.

        Leaves no trace. Raises InputError for an owner, a word or a place in time that cannot be.
        """
        if of is not None:
            _check_word("of", of)
        with self._reader.snapshot(owner, **times) as snapshot:
            pairs, place = snapshot.view.synonyms, snapshot.place
        mine = pairs if of is None else tuple(pair for pair in pairs if word_key(of) in map(word_key, pair[:2]))
        told: list[SynonymPair] = [
            {"word": masked(one), "synonym": masked(other), "similarity": similarity} for one, other, similarity in mine
        ]
        return {
            "owner": owner,
            "of": of,
            "synonyms": [one for one in told if one["similarity"]],
            "silenced": [one for one in told if not one["similarity"]],
            "total": sum(similarity > 0 for _, _, similarity in pairs),
            "most": MOST_PAIRS,
            "known": known_pairs(of) if of is not None else {},
            "expansion": _expansion(of, pairs),
            "as_of": times.get("as_of"),
            "known_by": times.get("known"),
            **place,
        }


def _expansion(of: str | None, pairs: tuple[tuple[str, str, float], ...]) -> WordExpansion | None:
    if of is None:
        return None
    found = expand([of], pairs)
    return {"original": of, "synonyms": found.synonyms.get(of, {}), "related": found.related.get(of, {})}


def _check_word(field: str, word: str) -> None:
    if not is_text(word, MOST_WORD):
        raise refused(field, word[:60], f"a word or phrase in UTF-8 of at most {MOST_WORD} characters")
