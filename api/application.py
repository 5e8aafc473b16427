"""The application as its faces see it: everything joined on one store. `ops.wiring` builds it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from api.accesses import AccessRecorder
from api.chats import Chats
from api.cleaning import Cleaner
from api.comparing import Comparer
from api.context import Contexts
from api.deleting import Deleter
from api.embedding import Embeddings
from api.episodes import Episodes
from api.extracting import Extractor
from api.facts import Facts
from api.grounds import Grounds
from api.knowing import Knower
from api.living import Living
from api.operating import Operator
from api.reading import Reader
from api.records import Records
from api.replaying import Replayer
from api.restoring import Restorer
from api.revealing import Revealer
from api.synonyms import Synonyms
from api.uses import Uses
from api.writing import Writer
from events.log import EventLog
from projections.redis.view import RedisViews


@dataclass(frozen=True, slots=True)
class Application:
    """One store, opened."""

    log: EventLog
    views: RedisViews
    reader: Reader
    writer: Writer
    deleter: Deleter
    restorer: Restorer
    records: Records
    revealer: Revealer
    chats: Chats
    replayer: Replayer
    comparer: Comparer
    knower: Knower
    facts: Facts
    operator: Operator
    accesses: AccessRecorder
    living: Living
    cleaner: Cleaner
    embeddings: Embeddings
    episodes: Episodes
    extractor: Extractor
    synonyms: Synonyms
    grounds: Grounds
    contexts: Contexts
    uses: Uses
    recovery: str | None = None
    """What was cut off a torn log when the embedded Redis started."""
    mended: str | None = None
    """What was done about a data folder that others could enter."""


Opener = Callable[[], AbstractContextManager[Application]]
