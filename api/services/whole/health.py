"""How the memories of many owners are held, and what of them wants a look. Nothing is written, no trace is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from api.requests.checks import parse_instant, parse_line
from api.requests.whole import HealthAsked
from api.services.reading import Reader
from api.services.whole.walking import Passing, walk
from api.work.patience import current_check
from projections.reports.many.health import StoreHealth
from projections.views.view import OwnerView

Waiting = Callable[[str, OwnerView], int]
"""How many things wait for a person (`Inbox.count`)."""


def health_asked(*, as_of: str | None = None, known: str | None = None, at: str | None = None) -> HealthAsked:
    """The same, checked once for all owners. Raises InputError naming the field."""
    for field, moment in (("as_of", as_of), ("known", known)):
        parse_line(moment, field)
    if at is not None:
        parse_instant(at)
    return HealthAsked(as_of, known, at)


class StoreHealthLooker:
    """Looks at owners one after the other. Safe for threads."""

    def __init__(self, reader: Reader, waiting: Waiting, passing: Passing) -> None:
        self._reader, self._waiting, self._passing = reader, waiting, passing

    def part(self, owners: Sequence[str], asked: HealthAsked) -> StoreHealth:
        """The figures of these owners. One that cannot be read is counted by why; raises what is wrong with more than one."""
        found = StoreHealth()

        def take(owner: str) -> None:
            with self._reader.snapshot(owner, **asked.times()) as snapshot:
                waiting = self._waiting(owner, snapshot.view)
                one = StoreHealth()
                one.take(owner, snapshot.view, snapshot.now, waiting, current_check())
                one.quarantined = int(snapshot.quarantine is not None)
                one.behind = int(snapshot.quarantine is None and snapshot.behind > 0)
            found.add(one)

        return walk(owners, found, take, self._passing)
