"""What can be done with all owners of a store: each work by its name, and who does it on an application that is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.application import Application
    from ops.processes.shares import OfOwners
    from ops.settings import Settings


def _replays(application: Application) -> OfOwners:
    from api.services.auditing.replaying_all import StoreReplayer  # noqa: PLC0415 - a process that verifies joins none

    refolder, views = application.replayer.refolder, application.views
    return StoreReplayer(application.reader, refolder, application.log.partitions, views.passing).part


def _health(application: Application) -> OfOwners:
    from api.services.whole.health import StoreHealthLooker  # noqa: PLC0415 - as above

    return StoreHealthLooker(application.reader, application.inbox.count, application.views.passing).part


def _reads(application: Application) -> OfOwners:
    from api.services.whole.reading_turns import StoreTurnReader  # noqa: PLC0415 - as above

    return StoreTurnReader(application.extractor, application.views.passing).part


WORKS: dict[str, Callable[[Application], OfOwners]] = {"replay": _replays, "health": _health, "extract": _reads}


@contextmanager
def opened_for(work: str, settings: Settings) -> Iterator[OfOwners]:
    """Who does such work on the store of these settings."""
    from ops.wiring import open_application  # noqa: PLC0415 - as above

    with open_application(settings) as application:
        yield WORKS[work](application)
