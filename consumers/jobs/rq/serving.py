"""What the jobs of one process stand on: its store, whom it tells, what it was lent, and what it remembers between jobs."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from threading import Event as Flag
from typing import NamedTuple

from consumers.fold.folder import Tell
from consumers.jobs.episodes import EXTRACTIVE, Seen
from consumers.jobs.lifecycle import RULE
from consumers.jobs.rq.lent import Lent
from events.alarms import Alarms
from events.redis.log import RedisEventLog
from events.sealing.seals import MasterKey
from projections.choices import VIEW_BYTES
from projections.embedding.choosing import Embedders
from projections.lifecycle.extracting import RULES
from projections.models.chat import Chat
from projections.models.counted import NoteAsked


class JobResources(NamedTuple):
    """What the jobs of this process stand on."""

    url: str
    timeout: float
    """Seconds to wait for Redis."""
    tell: Tell
    stop: Flag
    """Set when the process is to stop: the job gives itself up at the next safe place."""
    embedder: Lent[Embedders] | None = None
    """What embeds, unless nothing is to."""
    chat: Lent[Chat] | None = None
    """The language model, where one is configured."""
    reviewer: str = RULE
    """Who reviews: the rule, or the model."""
    extraction: str = RULES
    """Who reads turns: rules, or the model."""
    seen: MutableMapping[str, int] | None = None
    """What this process knows of turns without a memory (`consumers.jobs.extraction`)."""
    summaries: str = EXTRACTIVE
    """How episodes are written."""
    looked_at: dict[str, Seen] | None = None
    """How far this process looked at sessions (`consumers.jobs.episodes`)."""
    view_bytes: int = VIEW_BYTES
    """The most that the memories of an owner may take; who has more is left out."""
    alarms: Alarms | None = None
    """Where it is told whom jobs leave out."""
    log: Callable[..., RedisEventLog] = RedisEventLog
    """Makes the log that jobs append to."""
    note: NoteAsked | None = None
    master: MasterKey | None = None
    """What opens the store where it is sealed."""
    """Counts what asking the language model took."""
