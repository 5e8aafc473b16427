"""Suggestions: what says the same, belongs together, or was asked again in other words is proposed to a person. Pure.

    v' = v - n / (n + 10) * mean of the owner's n statements, of length 1      so that no model has a floor
    merge: cosine' >= 0.6, and one says all that the other says in the same frame, contradicting nothing of it
    link:  cosine' >= 0.6, and 0.25 to 0.5 of their words are shared: what shares more is linked without a question

Each of the two is among the three nearest of the other. A suggestion changes nothing before a person accepts it; it goes with
each of the two, and where one of them is said in other words. What a person would not have is not suggested again.

The judge counts a question that is asked again in the same words. Here turns that are a question and little else are compared
by their vectors, as recorded (cosine' >= 0.55, and not one form that names another thing): three of one speaker that ask the
same, of which rules tell at least two apart, are proposed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

import numpy as np

from engramlog_server.events.catalogue import MemoryDeleted
from engramlog_server.events.trust import PROPOSED
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.decide.merge import contradicts
from engramlog_server.projections.embedding.choosing import RowsLookedAt, VectorsCompared, looked_at
from engramlog_server.projections.embedding.meaning import KnownVectors, Vectors, centred
from engramlog_server.projections.language.extraction.rules import questions
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.prompt_text import cut, is_chinese, one_line
from engramlog_server.projections.language.questions import asks_another
from engramlog_server.projections.language.similar import similarity, wording
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.known import asks_something
from engramlog_server.projections.lifecycle.judge.statements import ASKED_OFTEN, often_asked
from engramlog_server.projections.lifecycle.merging import framed_apart, may_be_compared, may_merge
from engramlog_server.projections.memory.columns import Columns, Rows, state_of
from engramlog_server.projections.memory.kind import (
    ASKED,
    Suggested,
    is_asked_again,
    is_statement,
    is_turn,
    suggested_by,
    suggestion,
    suggestion_id,
)
from engramlog_server.projections.memory.record import UNCOMPRESSED, Memory
from engramlog_server.projections.views.view import OwnerView

ASKED_ALIKE = 0.55
"""Cosine of two questions from which they ask the same, unless they name different things in one form."""
LEAST_NAMED = 2
"""Words of a question that is compared by meaning: three that are near tell more than one that is short."""
LEAST_SHARE = 0.6
"""Of a turn's letters that its question must have: then the turn's vector is the question's."""
MOST_READ = 10_000
"""Turns that are read for questions, the newest: the rules of extraction take most of the job's time."""
MOST_QUESTIONS = 2_000
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
        if len(asked) == MOST_QUESTIONS:
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
    near = wholes @ wholes.T >= ASKED_ALIKE
    taken: set[int] = set()
    for at in sorted(range(len(found)), key=lambda one: (-int(near[one].sum()), one)):
        if at in taken:
            continue
        group = [at]
        beside = (other for other in np.flatnonzero(near[at]).tolist() if other != at and other not in taken)
        for other in (one for one in beside if found[one].turn.speaker == found[at].turn.speaker):
            if not any(asks_another(found[other].question, found[one].question) for one in group[:MOST_NAMED]):
                group.append(other)
        if len(group) < ASKED_OFTEN:
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
    if (
        len(asked) != 1
        or len(asked[0]) < LEAST_SHARE * len(memory.content)
        or not asks_something(asked[0], LEAST_NAMED)
    ):
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


JOB: Final = "suggest"
MOST_WAITING = 20
"""Suggestions that wait for one owner at a time: no rule that is not certain fills an inbox."""
MOST_COMPARED = 10_000
"""Statements that are compared, the newest: a hundred million cosines, some seconds."""
NEAREST = 3
LEAST_COSINE = 0.6
LEAST_SHARED = 0.25
"""Of the words of two that may be linked: by meaning alone models bring together what is built alike."""
_BLOCK = 256
_MOST_QUOTED = 160
"""Characters of each of the two that a suggestion quotes."""


class _Pair(NamedTuple):
    suggested: Suggested
    cosine: float
    a: Memory
    b: Memory


def suggestions(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """The suggestions that there are to make, the nearest first, and before them those that go.

    `view.vectors_today` are the vectors of its rows; without them nothing is compared. What was looked at, and what not, stands
    in `view.compared_today` after it.
    """
    known = [one for one in view.columns if _is_ours(one) and state_of(one) == Columns.PROPOSED]
    going = [one for one in (_going(view, one) for one in known) if one is not None]
    room = MOST_WAITING - len(known) + len(going)
    vectors = view.vectors_today
    if vectors is None:
        return going
    statements, turns = _statements(view, vectors), turns_to_read(view, vectors)
    if room <= 0:
        nothing = np.zeros(0, dtype=np.int64)
        view.compared_today = VectorsCompared(
            vectors.model, statements._replace(rows=nothing), turns._replace(rows=nothing), full=True
        )
        return going
    pairs = _pairs(view, statements.rows, vectors, check)
    found = (one for pair in pairs if (one := _made(view, pair, now)) is not None)
    questions, turns = questions_in(view, turns, check)
    again = asked_again(view, questions, vectors, JOB, now)
    made = list(islice(chain(again, found), room + 1))
    view.compared_today = VectorsCompared(vectors.model, statements, turns, full=len(made) > room)
    return [*going, *made[:room]]


def _statements(view: OwnerView, vectors: KnownVectors) -> RowsLookedAt:
    fit = may_be_compared(view)
    memories = view.columns.memories
    for row in np.flatnonzero(fit).tolist():
        fit[row] = _is_fit(memories[row])
    return looked_at(fit, vectors, MOST_COMPARED)


def _made(view: OwnerView, pair: _Pair, now: int) -> Decision | None:
    """The event that makes a suggestion; None where it was made before, whatever became of it."""
    memory_id = _id_of(view, pair.suggested, pair.a, pair.b)
    if view.get(memory_id) is not None:
        return None
    ids = (pair.a.id, pair.b.id)
    why = f"cosine {pair.cosine:.2f} above what the owner's statements have in common"
    levels = max(pair.a.sensitivity, pair.b.sensitivity)
    told = {"confidence": round(min(pair.cosine, 1.0), 6), "sensitivity": levels or None}
    data = suggestion(memory_id, _text_of(pair), why, ids, **told)
    due = min(max(pair.a.updated_at, pair.b.updated_at), now)
    seq = max(pair.a.changed_seq, pair.b.changed_seq)
    once = ("suggestion", memory_id)
    return Decision(JOB, JOB, (memory_id, *ids), due, seq, why, data, said_at=due, once=once, trust=PROPOSED)


def _id_of(view: OwnerView, suggested: Suggested, a: Memory, b: Memory) -> str:
    """Made of the two and what they say: said in other words, it is another suggestion."""
    parts = sorted((one.id, one.content) for one in (a, b))
    return suggestion_id(suggested, view.naming.made("suggestion", *(part for one in parts for part in one)))


def _text_of(pair: _Pair) -> str:
    a, b = (cut(one_line(one.content), _MOST_QUOTED) for one in (pair.a, pair.b))
    if is_chinese(a) or is_chinese(b):
        return f"「{a}」和「{b}」" + ("说的似乎是同一件事" if pair.suggested == "merge" else "似乎有关联")
    return f'"{a}" and "{b}" seem to ' + ("say the same" if pair.suggested == "merge" else "belong together")


def _going(view: OwnerView, known: Memory) -> Decision | None:
    """That a suggestion goes of which a piece no longer stands, or says something else; None where all stand."""
    suggested = suggested_by(known)
    pieces = [one for one in map(view.get, known.summarises) if one is not None]
    if suggested is None:
        stands = len(pieces) == len(known.summarises) and all(map(asks_still, pieces))
    else:
        pieces = [one for one in pieces if _is_fit(one)]
        stands = len(pieces) == 2 and _id_of(view, suggested, *pieces) == known.id
    if stands:
        return None
    seq = max([known.changed_seq, *(one.changed_seq for one in pieces)])
    since = max([known.created_at, *(one.stamp for one in pieces)])
    reason = "a piece of it no longer stands as it was"
    data = MemoryDeleted(memory_id=known.id, policy="auto_cleanup", reason=reason)
    return Decision(JOB, "delete", (known.id,), since, seq, reason, data)


def _is_ours(memory: Memory) -> bool:
    """Whether this job made it."""
    return suggested_by(memory) is not None or is_asked_again(memory)


def _is_fit(memory: Memory) -> bool:
    """Whether a memory may be suggested: it states something by itself, stands, and is neither sensitive nor in doubt."""
    stands = state_of(memory) == Columns.LIVE and not memory.is_negated and memory.retired_at is None
    return stands and memory.sensitivity < UNCOMPRESSED and not memory.waiting and is_statement(memory)


def _pairs(view: OwnerView, rows: Rows, vectors: KnownVectors, check: Check) -> list[_Pair]:
    """What may be suggested, the nearest first."""
    memories = view.columns.memories
    if rows.size < 2:
        return []
    near = _nearest(centred(vectors.wholes[rows]), check)
    found = []
    for at, others in counted(enumerate(near), check, len(near)):
        for other, cosine in others:
            if at < other and any(one == at for one, _ in near[other]):
                a, b = memories[rows[at]], memories[rows[other]]
                suggested = _suggested(view, a, b)
                if suggested is not None:
                    found.append(_Pair(suggested, cosine, a, b))
    return sorted(found, key=lambda one: (-one.cosine, one.a.id, one.b.id))


def _nearest(wholes: Vectors, check: Check) -> list[list[tuple[int, float]]]:
    """For each vector up to three others at the least cosine or above, the nearest first."""
    near: list[list[tuple[int, float]]] = []
    starts = range(0, len(wholes), _BLOCK)
    for start in counted(starts, check, len(starts), every=1):
        cosines = wholes[start : start + _BLOCK] @ wholes.T
        for at, row in enumerate(cosines, start):
            row[at] = -1.0
            near.append([(int(other), float(row[other])) for other in _best(row)])
    return near


def _best(cosines: Vectors) -> Iterator[int]:
    enough: Rows = np.flatnonzero(cosines >= LEAST_COSINE)
    return iter(enough[np.lexsort((enough, -cosines[enough]))][:NEAREST].tolist())


def _suggested(view: OwnerView, a: Memory, b: Memory) -> Suggested | None:
    """What of two that are near may be suggested; None where they are joined, contradict each other, or say the same by rule."""
    if _tied(a, b) or contradicts(a.content, b.content) or may_merge(a, b, view.parameters) is None:
        return None
    said_a, said_b = set(wording(a.content)), set(wording(b.content))
    if (said_a <= said_b or said_b <= said_a) and framed_apart(a, b, view.parameters) is None:
        return "merge"
    shared = similarity(a.content, b.content)
    linked = any(edge.to == b.id for edge in a.edges) or any(edge.to == a.id for edge in b.edges)
    return "link" if LEAST_SHARED <= shared < view.parameters.related_similarity and not linked else None


def _tied(a: Memory, b: Memory) -> bool:
    return any(
        other.id in (*one.conflicts, *one.merged_from, one.corrects, one.superseded_by)
        for one, other in ((a, b), (b, a))
    )
