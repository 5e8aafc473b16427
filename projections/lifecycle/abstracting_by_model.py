"""Patterns that a language model proposes: what it is shown of an owner, and the events that its claims lead to. Pure.

What was a model's becomes nobody's word by that: each is `proposed`, and waits for a person (docs/explanation/trust.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from engramlog_server.events.trust import PROPOSED
from engramlog_server.projections.lifecycle.abstracting import MOST_PROPOSED, made_of
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.rejecting import rejected_by
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.in_common import may_be_evidence
from engramlog_server.projections.memory.pattern import PREFIX, is_of_pattern
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.models.patterns_by_model import LEAST, Claim, ShownMemory
from engramlog_server.projections.views.view import OwnerView

MOST_SHOWN = 40
"""Memories of one question, the newest."""
MOST_QUESTIONS = 3
"""Questions of one run about one owner, one for each who speaks, those with most memories first."""
ALIKE = 0.5
"""Share of evidence in common, of all that either has, from which a claim is another pattern's."""
Question = tuple[ShownMemory, ...]


def questions(view: OwnerView, now: int) -> list[Question]:  # noqa: ARG001 - looked at as every plan is
    """What a model would be asked: the newest memories of each speaker, where they are of enough days."""
    clock = ZoneInfo(view.parameters.time_zone)
    by_speaker: dict[str, list[Memory]] = defaultdict(list)
    for memory in view.columns:
        if may_be_evidence(memory) and not is_of_pattern(memory.id):
            by_speaker[memory.speaker or ""].append(memory)
    found = []
    for _, said in sorted(by_speaker.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_QUESTIONS]:
        said.sort(key=lambda one: (one.created_at, one.created_seq))
        shown = tuple(ShownMemory(one.id, _day(one, clock), one.content) for one in said[-MOST_SHOWN:])
        if len({one.day for one in shown}) >= LEAST:
            found.append(shown)
    return found


def proposals(view: OwnerView, claims: Sequence[Claim], texts: Mapping[str, str], model: str) -> list[Decision]:
    """The events by which claims are proposed. `texts`: what the evidence said when the model was asked, by id.

    A claim is dropped where a piece says something else by now or stands no longer, where a pattern rests on much the same,
    whatever became of that, and where its words were rejected.
    """
    known = [one for one in view.columns if is_of_pattern(one.id)]
    taken = [frozenset(one.summarises) for one in known]
    room = MOST_PROPOSED - sum(state_of(one) == Columns.PROPOSED for one in known)
    found: list[Decision] = []
    for claim in claims:
        pieces = [view.get(one) for one in claim.evidence]
        memories = [
            one for one in pieces if one is not None and may_be_evidence(one) and one.content == texts.get(one.id)
        ]
        ids = frozenset(claim.evidence)
        if len(found) >= room or len(memories) < len(pieces) or any(_much_the_same(ids, one) for one in taken):
            continue
        newest = max(one.created_at for one in memories)
        if rejected_by(view, claim.statement, None, newest) is not None:
            continue
        taken.append(ids)
        pattern_id = f"{PREFIX}{view.naming.made('pattern of a model', *sorted(ids))}"
        why = f"{len(memories)} memories have it in common, a model says"
        made = made_of(pattern_id, claim.statement, why, memories, "judge")
        found.append(made._replace(trust=PROPOSED, actor="judge", model=model))
    return found


def _much_the_same(ids: frozenset[str], other: frozenset[str]) -> bool:
    return len(ids & other) >= ALIKE * len(ids | other)


def _day(memory: Memory, clock: ZoneInfo) -> str:
    return datetime.fromtimestamp(memory.created_at // 1_000_000, clock).date().isoformat()
