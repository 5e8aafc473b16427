"""Questions that were asked again in other words: proposed as what somebody keeps asking. Pure.

The judge counts a question that is asked again in the same words. Here turns that are a question and little else are compared by
their vectors, as recorded: three of one speaker that ask the same, of which rules tell at least two apart, are proposed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from engramlog_server.events.trust import PROPOSED
from engramlog_server.projections.checks import Check, counted
from engramlog_server.projections.embedding.compared import RowsLookedAt, looked_at
from engramlog_server.projections.embedding.meaning import KnownVectors, centred
from engramlog_server.projections.language.extraction.rules import questions
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.joining import may_be_compared
from engramlog_server.projections.lifecycle.judge.candidates import asks_something
from engramlog_server.projections.lifecycle.judge.judging import ASKED_OFTEN, often_asked
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.creating import suggestion
from engramlog_server.projections.memory.kind import is_turn
from engramlog_server.projections.memory.record import UNCOMPRESSED, Memory
from engramlog_server.projections.memory.suggestion import ASKED
from engramlog_server.projections.views.view import OwnerView

LEAST_COSINE = 0.6
LEAST_SHARE = 0.6
"""Of a turn's letters that its question must have: then the turn's vector is the question's."""
MOST_READ = 10_000
"""Turns that are read for questions, the newest: the rules of extraction take most of the job's time."""
MOST_COMPARED = 2_000
"""Questions among them that are compared, the newest."""
MOST_NAMED = 20
"""Turns that a proposal names: the one whose words it has, with which it goes, and the newest."""


class _Asked(NamedTuple):
    row: int
    turn: Memory
    question: str


def turns_to_read(view: OwnerView, vectors: KnownVectors) -> RowsLookedAt:
    """The newest turns that may be questions, and how many are not read, by reason."""
    fit = may_be_compared(view)
    memories = view.columns.memories
    for row in np.flatnonzero(fit).tolist():
        fit[row] = asks_still(memories[row])
    return looked_at(fit, vectors, MOST_READ)


def questions_in(view: OwnerView, turns: RowsLookedAt, check: Check) -> tuple[list[_Asked], RowsLookedAt]:
    """The newest questions in these turns, oldest first; and the turns that were read for them, others counted as older."""
    asked: list[_Asked] = []
    read = 0
    for row in counted(reversed(turns.rows.tolist()), check, turns.rows.size):
        if len(asked) == MOST_COMPARED:
            break
        read += 1
        if (one := _asked(view, row)) is not None:
            asked.append(one)
    unread = int(turns.rows.size) - read
    return asked[::-1], turns._replace(rows=turns.rows[unread:], older=turns.older + unread)


def asked_again(
    view: OwnerView, found: Sequence[_Asked], vectors: KnownVectors, job: str, now: int
) -> Iterator[Decision]:
    """Proposals of what was asked three times or more in other words, the most often asked first."""
    if len(found) < ASKED_OFTEN:
        return
    wholes = centred(vectors.wholes[[one.row for one in found]])
    near = wholes @ wholes.T >= LEAST_COSINE
    taken: set[int] = set()
    for at in sorted(range(len(found)), key=lambda one: (-int(near[one].sum()), one)):
        beside = (other for other in np.flatnonzero(near[at]).tolist() if other not in taken)
        group = [other for other in beside if found[other].turn.speaker == found[at].turn.speaker]
        if at in taken or len(group) < ASKED_OFTEN:
            continue
        taken.update(group)
        if decided := _decided(view, [found[one] for one in group], found[at], job, now):
            yield decided


def _asked(view: OwnerView, row: int) -> _Asked | None:
    """A turn that is a question and little else; None for anything else."""
    memory = view.columns.memories[row]
    if not asks_still(memory):
        return None
    asked = questions(TurnText(memory.id, memory.content, "user", memory.speaker))
    if len(asked) != 1 or len(asked[0]) < LEAST_SHARE * len(memory.content) or not asks_something(asked[0]):
        return None
    return _Asked(row, memory, asked[0])


def asks_still(memory: Memory) -> bool:
    """Whether a turn of the user's stands, and is neither taken back nor sensitive."""
    stands = memory.source == "user" and state_of(memory) == Columns.LIVE and not memory.is_negated
    return stands and memory.sensitivity < UNCOMPRESSED and is_turn(memory)


def _decided(view: OwnerView, group: Sequence[_Asked], middle: _Asked, job: str, now: int) -> Decision | None:
    """The event that proposes it; None where rules find all of them alike, or one of them was named by a proposal before."""
    least = view.parameters.merge_similarity
    if all(similarity(one.question, middle.question) >= least for one in group):
        return None
    turns = _named([one.turn for one in sorted(group, key=lambda one: one.turn.created_seq)], middle.turn)
    ids = tuple(one.id for one in turns)
    known = (one for one in view.columns if one.id.startswith(ASKED))
    if any(not set(one.summarises).isdisjoint(ids) for one in known):
        return None
    memory_id = f"{ASKED}{view.naming.made('asked again', *ids)}"
    name = middle.turn.speaker if middle.turn.speaker not in (None, "user") else None
    why = f"asked in {len(group)} turns, in other words"
    level = max(one.sensitivity for one in turns) or None
    text = often_asked(name, middle.question)
    data = suggestion(memory_id, text, why, ids, kind="question", speaker=middle.turn.speaker, sensitivity=level)
    due, seq = min(turns[-1].created_at, now), max(one.changed_seq for one in turns)
    once = ("suggestion", memory_id)
    return Decision(job, job, (memory_id, *ids), due, seq, why, data, said_at=due, once=once, trust=PROPOSED)


def _named(turns: Sequence[Memory], middle: Memory) -> Sequence[Memory]:
    newest = turns[-MOST_NAMED:]
    return newest if middle in newest else [middle, *newest[1:]]
