"""Every kind of figures of many owners: what a line of JSON may hold, told apart by its `work`."""

from __future__ import annotations

from projections.reports.many.health import StoreHealth
from projections.reports.many.moved import StoreMoved
from projections.reports.many.reading import TurnsRead

AnyFigures = StoreMoved | StoreHealth | TurnsRead
