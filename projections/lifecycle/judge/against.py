"""What a statement means for what is known: one look, by which extraction judges and every door at which something is told. Pure.

Whoever asks decides what follows: what he may end, what he only flags (`judging` for turns, `telling` for what is told by itself).

Whether its owner rejected a statement is asked before anything follows from it. The fold decides, and would pass it over. But
"I live in Lisbon" ends "I live in Porto"; so what is rejected ends nothing either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from engramlog_server.events.catalogue import FactAsserted
from engramlog_server.events.entry import SECRET_BYTES, digest
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.extraction.fleeting import of_another_time
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple
from engramlog_server.projections.language.statements import statement, statements_in
from engramlog_server.projections.lifecycle.judge.candidates import Candidates
from engramlog_server.projections.lifecycle.judge.holding import HOLDS_ALWAYS, HOLDS_ONCE, outcome
from engramlog_server.projections.lifecycle.judge.known import KnownMemory, core
from engramlog_server.projections.memory.rejection import refusing
from engramlog_server.projections.views.view import OwnerView

MOST_REASON = 300
"""Characters of a reason."""
Meaning = Literal["replaces", "may replace", "denies", "changes", "changed since", "contradicts", "refines"]
"""It takes the place of a value, or may; it says the reverse of a triple; it says that something changed, or what was said later
does; it contradicts; it says more of the same."""


class Finding(NamedTuple):
    """What a statement means for something that is known."""

    meaning: Meaning
    known: tuple[KnownMemory, ...]
    reason: str
    sure: bool
    """Whether it may be acted upon; else it is to be flagged."""
    alike: float = 1.0
    by_characters: bool = False
    """See `Relation`."""


def against(
    shelf: Candidates,
    statement: ExtractedStatement,
    near: Iterable[tuple[float, KnownMemory]],
    *,
    speaker: str | None,
    said_at: int,
    year: int | None,
    turns: tuple[str, ...] = (),
    is_beside: Callable[[float, KnownMemory], bool],
    refining: bool = False,
) -> Iterator[Finding]:
    """What it means for each thing known, the weightiest first; each is looked for when it is asked for.

    `near`: what is on its topic, the most alike first, of which `is_beside` says whether it is to be compared at all. What one of
    `turns`, in which it was said, has told already is passed over but for triples, of which whoever asks must know. `refining`:
    what it says more fully is told too.
    """
    triple = statement.triple
    if triple is not None and triple.predicate in HOLDS_ONCE | HOLDS_ALWAYS:
        values = [one for one in shelf.in_slot(triple, speaker) if not _comes_from(one[0], turns)]
        new = (statement.content, triple.object)
        outcomes = [
            (one, outcome(triple.predicate, new, (one.content, value), year, statement.correction))
            for one, value in values
        ]
        if replaced := tuple(known for known, what in outcomes if what == "replaces"):
            yield Finding("replaces", replaced, "it holds only once", sure=True)
        if doubtful := tuple(known for known, what in outcomes if what == "may"):
            yield Finding("may replace", doubtful, "two values where one holds", sure=False)
    denied = shelf.denied(statement.triple, speaker) if statement.triple is not None else None
    if denied is not None:
        yield Finding("denies", (denied,), "the speaker says the reverse", sure=True)
    since = shelf.changed_since(statement.content, speaker, said_at)
    if since is not None and not _comes_from(since[0], turns):
        yield Finding("changed since", (since[0],), since[1].reason, since[1].sure)
    changed = shelf.changed(statement.content, speaker, said_at)
    if changed is not None and not _comes_from(changed[0], turns):
        yield Finding("changes", (changed[0],), changed[1].reason, changed[1].sure)
    now = not of_another_time(core(statement.content), year)
    for alike, known in near:
        if _comes_from(known, turns) or not is_beside(alike, known):
            continue
        relation = compare(statement.content, known.content)
        if relation.kind == "contradicts":
            reason = "; ".join(relation.reasons)[:MOST_REASON]
            yield Finding("contradicts", (known,), reason, relation.sure and now, alike, relation.by_characters)
        elif refining and known.refined_by(statement):
            yield Finding("refines", (known,), f"said more fully (similarity {alike:.2f})", sure=True, alike=alike)


def ended(
    statement: ExtractedStatement, near: Callable[[str], Iterable[tuple[float, KnownMemory]]], least: float
) -> KnownMemory | None:
    """The memory of what a statement takes back: "stopped running" ends "likes running", not "likes music"."""
    if statement.ends is None:
        return None
    found = (
        known for alike, known in near(statement.ends) if alike >= least and known.polarity > 0 and not known.negated
    )
    return next(found, None)


def _comes_from(known: KnownMemory, turns: tuple[str, ...]) -> bool:
    return any(map(known.comes_from, turns))


Rejected = Literal["words", "triple"]


def rejected_by(view: OwnerView, content: str, triple: StatedTriple | None, said_at: int) -> Rejected | None:
    """By what nothing follows from a statement of this time (microseconds since 1970); None where something may."""
    rejections, secret = view.state.rejections, view.naming.secret
    if not rejections or len(secret) != SECRET_BYTES:
        return None
    if refusing(rejections, (digest(secret, statement(content)),), said_at) is not None:
        return "words"
    if triple is None:
        return None
    subject, predicate, thing, negation, _, condition = triple
    fact = FactAsserted(
        subject=subject, predicate=predicate, object=thing, negation=negation, condition=condition, evidence=("m",)
    )
    found = refusing(rejections, (digest(secret, one) for one in statements_in(fact)), said_at)
    return None if found is None else "triple"
