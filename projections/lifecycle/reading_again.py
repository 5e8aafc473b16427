"""Reading turns again that were read before: what would come to be of them by the rules of today, and what would not. Pure.

Nothing is carried out of it. What today's rules make is judged against what is known, as a first reading is: what somebody deleted
or rejected is not made again. A first reading takes a turn of which something was drawn for known; here each statement is looked
for by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.lifecycle.extracting import turns_heard
from engramlog_server.projections.lifecycle.judge.candidates import Candidates
from engramlog_server.projections.lifecycle.judge.correcting import judge
from engramlog_server.projections.lifecycle.judge.judging import Verdict
from engramlog_server.projections.lifecycle.judge.known import core, says_again
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.kind import is_drawn, is_statement
from engramlog_server.projections.views.view import OwnerView

KNOWN = "known from this turn"
MORE = "in a turn of which something else was drawn"


class ReadAgain(NamedTuple):
    """What a reading of all turns comes to."""

    turns: int
    """That were read again."""
    verdicts: list[Verdict]
    """On each statement of today's rules: SKIP is known, or not kept."""
    gone: list[str]
    """Ids of live memories that were drawn from these turns, and that today's rules would not draw."""


def read_again(view: OwnerView, now: int, check: Check = unchecked) -> ReadAgain:
    """Read all turns of an owner once more, whoever read them first."""
    heard = turns_heard(view, again=True, check=check)
    turns = {one.turn.turn_id: one for one in heard if one.unread}
    shelf, told, verdicts = Candidates(view, check), set[str | None](), list[Verdict]()
    judged, least = judge(heard, view, now, check), view.parameters.merge_similarity
    for one in counted(judged, check, len(judged)):
        near = shelf.near(one.statement.content, turns[one.turn_id].turn.speaker)
        told.update([one.memory_id, *(known.id for _, known in near if _says(one, known.content, least))])
        is_more = (
            one.reason == KNOWN
            and view.get(one.memory_id or "") is None
            and not any(_says(one, content, least) for content in shelf.contents_of(one.turn_id))
        )
        verdicts.append(one._replace(operation="ADD", reason=MORE) if is_more else one)
    gone = [name for name in _drawn(view, turns.keys(), check) if name not in told]
    return ReadAgain(len(turns), verdicts, gone)


def _says(one: Verdict, content: str, least: float) -> bool:
    """Whether a content says what a statement says, whatever has become of it."""
    return similarity(core(one.statement.content), core(content)) >= least and says_again(one.statement, content)


def _drawn(view: OwnerView, turns: Collection[str], check: Check) -> Iterator[str]:
    """Ids of live memories that were drawn from these turns alone."""
    columns = view.columns
    live = (columns.standing() == Columns.LIVE).nonzero()[0].tolist()
    for row in counted(live, check, len(live)):
        memory = columns.memories[row]
        if is_drawn(memory) and is_statement(memory) and all(turn in turns for turn in memory.source_turns):
            yield memory.id
