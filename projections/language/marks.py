"""What is told of an event beside its body: how sensitive its words are, and what it states. Pure; the log is handed `MARKER`."""

from __future__ import annotations

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION
from engramlog_server.events.envelope import AnyEvent, Marker, Marks
from engramlog_server.projections.language.orders import is_doubtful
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES, holds_words, level_of
from engramlog_server.projections.language.statements import STATEMENT_RULES, statements_of, values_of


def mark(event: AnyEvent) -> Marks:
    """Its level, 0 to 3, and its statements, each as the bytes that are to be keyed. Decided once, when it is appended."""
    return Marks(level_of(event), statements_of(event), values_of(event))


WORDLESS = frozenset(
    f"{name}.{version}"
    for name, latest in LATEST_VERSION.items()
    if not holds_words(EVENT_TYPES[name])
    for version in range(1, latest + 1)
)
MARKER = Marker(LEVEL_RULES, STATEMENT_RULES, mark, WORDLESS, is_doubtful)
