"""A page of a change log in another law's numbers: the owner's own events are folded up to it, from the nearest kept moment on.

Which changes there are, and everything else that is told of them, is the stored change log's. A fold holds the owner's records as
they are at one event, and of the changes those of the page.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.api.requests.checks import Progress
from engramlog_server.api.requests.snapshots import Pasts, Snapshot
from engramlog_server.api.shapes import Change
from engramlog_server.api.work.patience import both, current_check, weigh
from engramlog_server.events.errors import DamagedState, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.checks import Bounds
from engramlog_server.projections.fold.by_law import NO_WEIGHTS, ChangeWeights, LawReader
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.fold.owner import OwnerState, dropping, fold_on
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.past.events import OwnerEvents
from engramlog_server.projections.past.folding import Passage, fold_from, to_fold
from engramlog_server.projections.past.moments import NotKept
from engramlog_server.projections.redis.owner_events import OwnerLog
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.hidden import purged_ids

STORED = "weighted"
"""The law whose numbers the change log holds."""
logger = logging.getLogger(__name__)


def check_law(law: str | None) -> str:
    """The law that was asked for, that of the stored numbers where none was; or InputError."""
    if law is not None and law not in LAWS:
        raise refused("law", law, ", ".join(LAWS))
    return law or STORED


class _Page(NamedTuple):
    owner: str
    snapshot: Snapshot
    entries: Sequence[Entry]
    law: str
    on_progress: Progress | None

    @property
    def last(self) -> int:
        """Seq of the last event that has to be folded: an owner's events are folded in their order."""
        return max(one.seq for one in self.entries)

    def reader(self, base: Parameters) -> LawReader:
        """What reads these changes while a fold passes."""
        return LawReader(LAWS[self.law], {(one.seq, one.memory_id) for one in self.entries}, base)


class LawNumbers:
    """Tells the changes of one store's owners in a law's numbers. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, pasts: Pasts) -> None:
        self._log, self._views, self._pasts = log, views, pasts

    def put(
        self,
        owner: str,
        snapshot: Snapshot,
        entries: Sequence[Entry],
        changes: list[Change],
        law: str,
        on_progress: Progress | None = None,
    ) -> None:
        """Put a law's numbers in the place of the stored ones; `changes` tell of `entries`, one each."""
        if law == STORED or not entries:
            return
        found = self._read(_Page(owner, snapshot, entries, law, on_progress))
        for number, entry in enumerate(entries):
            old, new, factors = found.get((entry.seq, entry.memory_id), NO_WEIGHTS)
            delta = None if old is None or new is None else round(new - old, 6)
            changes[number] = {
                **changes[number],
                "law": law,
                "old_weight": old,
                "new_weight": new,
                "delta": delta,
                "factors": factors,
            }

    def _read(self, page: _Page) -> dict[tuple[int, str], ChangeWeights]:
        owner, past = page.owner, page.snapshot.past
        view, standing = self._views.glance(owner)
        log = self._pasts.source(owner, page.on_progress)
        secret = self._log.secrets_of([owner]).get(owner, b"")
        bounds = Bounds(current_check(), weigh)
        times = self._views.moments.events(owner, standing.build, view.state, log, bounds)
        seqs = None if past is None else past.seqs
        if times is not None and (seqs is None or times.seqs[: len(seqs)].tolist() == list(seqs)):
            try:
                return self._from_a_moment(page, standing.build, view.state, times, log, secret)
            except NotKept:  # an event is about what is purged by now: only the log still tells of it
                logger.debug("no kept moment serves for %s", owner)
            except DamagedState as error:
                logger.warning(error.message)
        check = both(current_check(), page.on_progress)
        wanted = [one for one in seqs or self._views.changelogs.seqs(owner, check) if one <= page.last]
        weigh(len(wanted))
        reader = page.reader(self._views.base)
        steps = fold_on(
            OwnerState(),
            {},
            log.read(wanted),
            dropping(log.held),
            base=self._views.base,
            check=current_check(),
            total=len(wanted),
            secret=secret,
        )
        for _, step in steps:
            reader.took(step)
        return reader.found

    def _from_a_moment(
        self, page: _Page, build: str, state: OwnerState, times: OwnerEvents, log: OwnerLog, secret: bytes
    ) -> dict[tuple[int, str], ChangeWeights]:
        """What a fold reads that begins before the page's first event and ends behind its last."""
        moments, owner = self._views.moments, page.owner
        first = int(times.seqs.searchsorted(min(one.seq for one in page.entries)))
        upto = int(times.seqs.searchsorted(page.last, "right"))
        start, head = moments.begin(owner, build, times, None, first, state)
        numbers = to_fold(start, times, None, upto)
        weigh(len(numbers))
        keeping = None
        if len(numbers) >= moments.limits.fold and head is not None:
            with self._views.view(owner, bounds=Bounds(current_check(), weigh)) as (today, _):
                purged = frozenset(purged_ids(today.columns))
            keeping = moments.keeping(
                owner, build, head, start, Passage(times, None, numbers, state, purged, bool(secret))
            )
        reader = page.reader(self._views.base)
        check = current_check()
        fold_from(start, times, numbers, log.read, secret=secret, keeping=keeping, took=reader.took, check=check)
        return reader.found
