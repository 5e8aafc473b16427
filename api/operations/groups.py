"""All operations, in the order in which OpenAPI has them."""

from __future__ import annotations

from api.operations import (
    access,
    answered,
    auditing,
    inbox,
    knowing,
    living,
    reading,
    replaying,
    reports,
    saying,
    sources,
    store,
    writing,
)
from api.operations.definition import Operation
from api.operations.events import EVENTS, PARTITION_EVENTS
from api.operations.looking import instants, operate, proof, times
from api.operations.looking.pictures import CURVES_SVG, MAP_SVG
from api.operations.reading import REVEAL
from api.operations.records import EXPORT, EXPORT_REVEALED, IMPORT_CHATS, IMPORT_RECORDS
from api.operations.reports import EXTRACT
from api.operations.searching import SEARCH
from api.operations.writing import DELETE, DELETE_MANY, RESTORE_MANY

MADE_WHOLE: tuple[Operation, ...] = (
    *reading.OPERATIONS,
    *answered.OPERATIONS,
    *saying.OPERATIONS,
    *writing.OPERATIONS,
    *knowing.OPERATIONS,
    *living.OPERATIONS,
    *inbox.OPERATIONS,
    *reports.OPERATIONS,
    *auditing.OPERATIONS,
    *instants.OPERATIONS,
    *replaying.OPERATIONS,
    *sources.OPERATIONS,
    *times.OPERATIONS,
    *store.OPERATIONS,
    *proof.OPERATIONS,
    *operate.OPERATIONS,
    *access.OPERATIONS,
)
"""Those that one call of a service answers."""
ALL: tuple[Operation, ...] = (
    SEARCH,
    *MADE_WHOLE,
    REVEAL,
    DELETE,
    DELETE_MANY,
    RESTORE_MANY,
    EXTRACT,
    EVENTS,
    PARTITION_EVENTS,
)
OF_FILES: tuple[Operation, ...] = (EXPORT, EXPORT_REVEALED, IMPORT_CHATS, IMPORT_RECORDS, CURVES_SVG, MAP_SVG)
"""Those that stream lines, or answer pictures; the client has its own verbs of them."""
