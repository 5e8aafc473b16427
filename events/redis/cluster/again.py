"""What may be sent again: what a cluster surely did not carry out, in the order in which it was asked for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any, TypeGuard

from redis.exceptions import AskError, ClusterDownError, ExecAbortError, MovedError, TryAgainError

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.cluster.routing import SentGroup

NOT_DONE = (AskError, TryAgainError, ClusterDownError)
"""Refusals (MOVED is an ASK to redis-py) after which a command was surely not carried out, and may be later."""
PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.02, 0.2
"""Between two tries of what cannot be carried out yet: at first, and at most."""
MOST_MOVES = 3
"""How often a command follows a slot at once to where it lies now, patient or not."""


class SlotLeft(StoreUnavailable):
    """A slot lies on another node than when it was used last: what is remembered of it may be of another history."""


class Retries:
    """How often, and after which pauses, something is tried again that cannot be carried out yet."""

    def __init__(self, patience: float) -> None:
        self.pause = 0.0
        """Seconds to wait before the next turn."""
        self._end = monotonic() + patience
        self._moves = self._pauses = 0

    def again(self, found: Sequence[Any]) -> bool:
        """Whether to try again, by what refused it. A slot that lies elsewhere is followed at once, as often as `MOST_MOVES`."""
        moved = any(isinstance(one, MovedError | SlotLeft) for one in found)
        moved = moved and all(isinstance(one, MovedError | SlotLeft | ExecAbortError | bytes) for one in found)
        self._moves += moved
        if moved and self._moves <= MOST_MOVES:
            self.pause = 0.0
            return True
        if monotonic() >= self._end:
            return False
        self.pause = min(PAUSE_SECONDS * 2 ** min(self._pauses, 8), MOST_PAUSE_SECONDS)
        self._pauses += 1
        return True


def surely_not(answer: Any) -> bool:
    """Whether what was asked was surely not carried out, and may be later."""
    return isinstance(answer, NOT_DONE) or (isinstance(answer, StoreUnavailable) and answer.not_done)


def is_on_its_way(answer: Any) -> TypeGuard[AskError]:
    """Whether the key is no more where it was asked for, and its slot lies there still."""
    return isinstance(answer, AskError) and not isinstance(answer, MovedError)


def may_pass(error: Exception) -> bool:
    """Whether a read may be tried again."""
    return isinstance(error, (*NOT_DONE, StoreUnavailable))


def not_done(groups: Sequence[SentGroup], answers: Sequence[Any]) -> list[SentGroup]:
    """The groups that were surely not carried out, and may be sent again in their order. Raises StoreUnavailable where one was sent
    and not answered.

    None of a slot of which a later one was carried out, where any of that slot may change something: their order would be another.
    """
    for answer in answers:
        if isinstance(answer, StoreUnavailable) and not answer.not_done:
            raise answer
    refused = [group for group in groups if _is_refused(group, answers)]
    first: dict[int, int] = {}
    for group in refused:
        first.setdefault(group.slot, group.numbers[0])
    done = (group for group in groups if group.slot in first and not _is_refused(group, answers))
    written = {group.slot for group in groups if group.writes}
    mixed = {group.slot for group in done if group.numbers[0] > first[group.slot]} & written
    return [group for group in refused if group.slot not in mixed]


def _is_refused(group: SentGroup, answers: Sequence[Any]) -> bool:
    """Whether nothing of it was carried out: of what stands between MULTI and EXEC all is refused where one command is."""
    last = answers[group.numbers[-1]]
    if group.key is None:
        return surely_not(last)
    return isinstance(last, Exception) and any(surely_not(answers[number]) for number in group.numbers)
