"""Reading everything that is held of an owner, of one moment: what is told now is read as it is written out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from api.exchange.everything.bundle import Everything
from api.exchange.everything.said import said_lines
from api.exchange.record_fields import Data
from api.requests.checks import LineTerms, told_lines
from api.requests.snapshots import Snapshot
from api.services.auditing.owners_today import turns_aside
from api.services.reading import Reader
from events.partitions import parse_position
from projections.memory.deletion_view import forgotten_turns
from projections.memory.record import SECRET, Memory
from projections.redis.view import RedisViews
from projections.views.event_words import OwnerToday
from projections.views.query import moment


def _decides(memory: Memory) -> bool:
    """Whether words that name it may not be told as they are."""
    gone = memory.purged_at is not None or memory.deleted_at is not None or memory.merged_into is not None
    return gone or memory.sensitivity >= SECRET


class Gatherer:
    """Reads on one store what an export of everything holds beside the memories."""

    def __init__(self, views: RedisViews, reader: Reader) -> None:
        self._views, self._reader = views, reader

    def gathered(self, owner: str, snapshot: Snapshot, times: LineTerms) -> Everything:
        """Everything of the moment of a snapshot, which is asked while it is held. Words are told as far as they may be today."""
        view, present = snapshot.view, snapshot.present
        forgotten = forgotten_turns(present.columns)
        if snapshot.past is not None:
            forgotten |= forgotten_turns(view.columns)
        deciding = {one.id: one for one in present.columns.memories if _decides(one)}
        asides = present.state.asides
        turns = cache(lambda: turns_aside(self._views, owner, asides))
        today = OwnerToday(deciding.get, lambda: forgotten, asides, turns)
        seqs = self._reader.seqs(owner, snapshot)
        last = max(seqs, default=0)
        position, chain = self._views.partition_chain(owner)
        head: Data = {
            "owner": owner,
            "position": snapshot.position,
            "instant": moment(snapshot.now),
            **told_lines(times),
            "profile": view.state.profile,
            "parameters": dict(view.state.parameters),
            "events": len(seqs),
            "chain": snapshot.chain.hex(),
            "partition_chain": {"position": position, "chain": chain},
            **snapshot.told,
        }
        lines = LineTerms(as_of=times.get("as_of"), known=times.get("known"))
        return Everything(
            head,
            lambda: said_lines(self._reader.stored(owner, seqs), snapshot.partition, today),
            lambda: self._changes(owner, last, lines),
        )

    def _changes(self, owner: str, last: int, lines: LineTerms) -> Iterator[Data]:
        """The change log up to a seq: what was folded since the moment is not told of it."""
        for page in self._reader.history_pages(owner, **lines):
            for change in page["changes"]:
                if parse_position(change["position"])[1] <= last:
                    yield dict(change)
