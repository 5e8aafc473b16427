"""What became of an answer: how it went with memories, as it was reported for its turn or read out of its reply."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from api.shapes import OutcomeTold
from events.catalogue import MemoryReinforced
from events.envelope import Stored, decode, micros
from events.partitions import position_text
from projections.checks import Check
from projections.fold.changelog import numbers_of
from projections.redis.view import RedisViews
from projections.views.answered import TurnAnswered
from projections.views.query import moment

MOST_OUTCOMES = 100
_REPORTS, _ = numbers_of(MemoryReinforced.__name__, "reinforce")
_PIECE = 500


class Outcomes(NamedTuple):
    """The newest that are of one answer, oldest first, and how many others there are."""

    told: list[OutcomeTold]
    left_out: int


def outcomes_of(
    views: RedisViews, owner: str, partition: int, one: TurnAnswered, within: Collection[int] | None, check: Check
) -> Outcomes:
    """What was reported of an answer: all reports about the owner are looked at. `within`: only in these events of the owner.

    Ids of turns are what producers chose: where several turns have one, what was reported under it is told of each.
    """
    turns = [turn for turn in (one.turn, *one.replies) if turn is not None]
    named = {one.turn_id, *(turn.turn_id for turn in turns)} - {None}
    causes = {turn.event_id for turn in turns}
    newest, found = deque[OutcomeTold](maxlen=MOST_OUTCOMES), 0
    for stored in _reports(views, owner, within, check):
        event = decode(stored.kind, stored.body)
        data = event.data
        assert isinstance(data, MemoryReinforced)
        by_turn = data.turn_id in named
        if not by_turn and event.causation_id not in causes:
            continue
        found += 1
        newest.append(
            {
                "position": position_text(partition, stored.seq),
                "at": moment(micros(event.occurred_at)),
                "memory": data.memory_id,
                "outcome": data.outcome,
                "from_memory": data.from_memory,
                "actor": event.actor,
                "principal": stored.principal,
                "linked_by": "turn_id" if by_turn else "cause",
            }
        )
    return Outcomes(list(newest), found - len(newest))


def _reports(views: RedisViews, owner: str, within: Collection[int] | None, check: Check) -> Iterator[Stored]:
    """Every report of how it went with a memory, in the order of the log, each once."""
    entries = views.changelogs.entries(owner, check=check)
    seqs = dict.fromkeys(entry.seq for _, entry in entries if entry.type == _REPORTS)
    for piece in _pieces([seq for seq in seqs if within is None or seq in within]):
        yield from views.stored(owner, piece)


def _pieces(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(seqs), _PIECE):
        yield seqs[start : start + _PIECE]
