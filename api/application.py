"""The application as its faces see it: everything joined on one store. `ops.wiring` builds it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from api.exchange.chats import Chats
from api.exchange.records import Records
from api.revealing import Revealer
from api.services.accesses import AccessRecorder
from api.services.cleaning import Cleaner
from api.services.comparing import Comparer
from api.services.context import Contexts
from api.services.deleting import Deleter
from api.services.episodes import Episodes
from api.services.extracting import Extractor
from api.services.facts import Facts
from api.services.grounds import Grounds
from api.services.knowing import Knower
from api.services.living import Living
from api.services.reading import Reader
from api.services.remembering import Rememberer
from api.services.replaying import Replayer
from api.services.restoring import Restorer
from api.services.store.embedding import Embeddings
from api.services.store.operating import Operator
from api.services.store.owners import Owners
from api.services.synonyms import Synonyms
from api.services.uses import Uses
from api.services.writing import Writer
from events.log import EventLog
from projections.redis.view import RedisViews


@dataclass(frozen=True, slots=True)
class Application:
    """One store, opened."""

    log: EventLog
    views: RedisViews
    reader: Reader
    writer: Writer
    rememberer: Rememberer
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
    owners: Owners
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
