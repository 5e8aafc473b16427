"""Which events say what a person rejected: the fold passes them over, whoever appends them, and here it is told sooner.

By what is folded now: what was rejected a moment ago may be missing here, and is refused all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from events.catalogue import MemoryCreated, MemoryMerged, MemoryRevised
from events.envelope import Prepared, decode, micros
from events.errors import EngramlogError
from events.log import EventLog
from events.partitions import partition_of, position_text
from events.statement_digests import digest
from projections.language.statements import statements_of
from projections.memory.rejection import Rejections, refusing
from projections.redis.view import RedisViews

_STATING = tuple(f"{one.__name__}." for one in (MemoryCreated, MemoryRevised, MemoryMerged))
"""How the kinds begin of events of which a memory's words may come."""


class _Known(NamedTuple):
    """What one owner rejected, and what keys it."""

    rejections: Rejections
    secret: bytes


class RefusedValues:
    """Tells what the fold will pass over. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews) -> None:
        self._log = log
        self._views = views

    def of(self, events: Sequence[Prepared]) -> Mapping[str, str]:
        """Event id -> position at which a person rejected what it says; costs two round trips a partition that is told of."""
        stating = [one for one in events if one.kind.startswith(_STATING)]
        try:
            rejections = self._views.rejections({one.owner for one in stating}) if stating else {}
        except EngramlogError:  # a damaged build hinders no producer
            return {}
        secrets = self._log.secrets_of(list(rejections)) if rejections else {}
        known = {owner: _Known(told, secrets[owner]) for owner, told in rejections.items() if secrets.get(owner)}
        found = ((one, self._refused(one, known[one.owner])) for one in stating if one.owner in known)
        return {one.event_id: position for one, position in found if position is not None}

    def _refused(self, event: Prepared, known: _Known) -> str | None:
        told = decode(event.kind, event.body)
        if isinstance(told.data, MemoryCreated) and told.data.source_turns == (told.data.memory_id,):
            return None  # a turn was said all the same
        digests = [digest(known.secret, one) for one in statements_of(told)]
        found = refusing(known.rejections, digests, micros(told.occurred_at))
        partition = partition_of(event.owner, self._log.partitions)
        return None if found is None else position_text(partition, found.seq)
