"""What a job works with: the process's models and settings, the opened store, and a loop over the owners of a partition."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from contextlib import ExitStack, closing
from threading import Event as Flag
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

import redis
from rq.timeouts import JobTimeoutException

from engramlog_server.consumers.jobs.episodes import EXTRACTIVE, Seen
from engramlog_server.consumers.jobs.lifecycle import RULE, LifecycleJobs, owners_of
from engramlog_server.consumers.jobs.schedule import schedule_key
from engramlog_server.events.alarms import OWNER_TOO_LARGE, Alarms, Tell
from engramlog_server.events.errors import (
    OF_THE_STORE,
    EngramlogError,
    NotYetFolded,
    OwnerTooLarge,
    StoreError,
    StoreMismatch,
)
from engramlog_server.events.keys import MasterKey, OpenKeyStore
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import Wire, WirePool, open_wire
from engramlog_server.projections.choices import VIEW_BYTES
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.lifecycle.extraction import RULES
from engramlog_server.projections.models.chat import Chat, NoteAsked
from engramlog_server.projections.redis.create import known_identity
from engramlog_server.projections.redis.usage import FoldDebt
from engramlog_server.projections.redis.vectors import RedisVectors
from engramlog_server.projections.redis.view import RedisViews

T = TypeVar("T")
REST_SECONDS = 60.0
"""How long a model that failed is not asked."""
KEPT_BYTES = 64 << 20
"""Views kept in memory: a job looks at one owner after the other."""
UNFOLDED_IN_A_ROW = 3
"""After so many owners whose events no worker folded, the partition is left to a later run."""
NAMED = 3
"""Owners named by an alarm."""


class Lent(Generic[T]):
    """A model that a job process lends to its jobs: made at first need, and not asked for a while after it failed."""

    def __init__(self, make: Callable[[], T], until: list[float] | None = None) -> None:
        """`until`: when it may be asked again, of another that rests with it."""
        self._make = make
        self._made: T | None = None
        self._until = [0.0] if until is None else until

    def __call__(self) -> T:
        """The model. Raises what making it raises."""
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def rests(self) -> bool:
        """Whether it failed less than `REST_SECONDS` ago."""
        return monotonic() < self._until[0]

    def failed(self) -> None:
        """Do not ask it for a while."""
        self._until[0] = monotonic() + REST_SECONDS

    def through(self, wrap: Callable[[T], T]) -> Lent[T]:
        """The same model in a wrapper, such as one that counts its questions; both rest together."""
        return Lent(lambda: wrap(self()), self._until)


class JobResources(NamedTuple):
    """What the jobs of one process share."""

    url: str
    timeout: float
    """Seconds to wait for Redis."""
    tell: Tell
    stop: Flag
    """Set when the process is to stop: the job gives itself up at the next safe place."""
    embedder: Lent[Embedders] | None = None
    """None: nothing is embedded."""
    chat: Lent[Chat] | None = None
    """The language model; None if none is configured."""
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
    """The most that the memories of an owner may take; an owner with more is left out."""
    alarms: Alarms | None = None
    """For owners that jobs leave out."""
    log: Callable[..., RedisEventLog] = RedisEventLog
    """Makes the log that jobs append to."""
    note: NoteAsked | None = None
    """Counts the use of the language model."""
    master: MasterKey | None = None
    """Opens a sealed store."""
    keys: OpenKeyStore | None = None
    """Opens its key store."""


class GivenUp(Exception):
    """The process is to stop. Nothing is lost: the next run goes on."""


class Walked(NamedTuple):
    """Counts of one run over a partition's owners."""

    owners: int
    decided: int
    failed: int


class OpenedStore:
    """A store as one job has it. Close it after the job."""

    def __init__(self, served: JobResources, store_id: str, principal: str, queue: redis.Redis | None = None) -> None:
        """Opens the store at the process's address. `queue`: the queue's Redis, where progress is recorded.

        Raises StoreMismatch if another store is there, and StoreError.
        """
        self.store_id = store_id
        self.served = served
        self._queue = queue
        with ExitStack() as stack:
            client = connect(served.url, timeout=served.timeout, master=served.master, keys=served.keys)
            stack.enter_context(closing(client))
            self.wire = stack.enter_context(closing(open_wire(client)))
            self.tags = tags = _tags(self.wire, store_id)
            self.log = served.log(client, tags, read_debt=FoldDebt(tags), marker=MARKER, principal=principal)
            self.views = RedisViews(client, tags, most_bytes=KEPT_BYTES, most_of_one=served.view_bytes)
            self.vectors = RedisVectors(WirePool(client), tags)
            self.lifecycle = LifecycleJobs(self.log, self.views)
            for part in (self.log, self.views, self.vectors):
                stack.callback(part.close)
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Close every connection."""
        self._stack.close()

    def recorded(self, field: str) -> int:
        """A number that an earlier run recorded next to the queue; 0 if there is none."""
        return int(self._queue.hget(schedule_key(self.store_id), field) or 0) if self._queue is not None else 0

    def record(self, field: str, number: int) -> None:
        """Record a number for the next run."""
        if self._queue is not None:
            self._queue.hset(schedule_key(self.store_id), field, number)

    def go_on(self, _done: int = 0, _total: int = 0) -> None:
        """To be called before each owner and between requests. Raises GivenUp once the process is to stop."""
        if self.served.stop.is_set():
            raise GivenUp

    def each_owner(
        self,
        partition: int,
        do: Callable[[str, Callable[..., None]], int],
        among: Sequence[str] | None = None,
        failed: set[str] | None = None,
    ) -> Walked:
        """Call `do` for every owner of a partition, or those in `among`; it returns how many decisions it appended.

        A failure is logged and stops no other owner; `failed` gets the owner. Without `among` every owner is visited, so that
        the alarm for owners that are too large can be cleared.
        """
        owners = owners_of(self.wire, self.tags[partition]) if among is None else among
        decided, failures, unfolded, large = 0, 0, 0, list[str]()
        for owner in owners:
            try:
                self.go_on()
                decided += do(owner, self.go_on)
                unfolded = 0
            except (GivenUp, StoreError, JobTimeoutException):
                raise
            except Exception as error:  # whatever it is, the other owners must not wait for it
                failures += 1
                if isinstance(error, OwnerTooLarge):
                    large.append(owner)
                if failed is not None:
                    failed.add(owner)
                unfolded = unfolded + 1 if isinstance(error, NotYetFolded) else 0
                self.served.tell("owner skipped", alarm=True, owner=owner, reason=_reason(error))
                if unfolded == UNFOLDED_IN_A_ROW:
                    raise
        if large or among is None:
            self._report_large(f"partition {partition}", large)
        return Walked(len(owners), decided, failures)

    def _report_large(self, subject: str, owners: Sequence[str]) -> None:
        """Raise the alarm for owners that are too large, or clear it if there are none."""
        alarms = self.served.alarms
        if alarms is not None and owners:
            more = "" if len(owners) <= NAMED else " ..."
            alarms.raised(OWNER_TOO_LARGE, subject, f"left out: {', '.join(owners[:NAMED])}{more}")
        elif alarms is not None:
            alarms.cleared(OWNER_TOO_LARGE, subject)


def _tags(wire: Wire, store_id: str) -> Sequence[str]:
    """The tags of a store's partitions. Raises StoreMismatch if another store, or none, is there."""
    identity = known_identity(wire)
    found = identity.store_id if identity else None
    if identity is None or found != store_id:
        raise StoreMismatch(f"the job is about store {store_id}, but this worker's store is {found}", store=store_id)
    return identity.tags


def model_stopped(served: JobResources, model: Lent[Any] | None, what: str, reason: str) -> None:
    """Log that a kind of job stopped because of its model, which rests then. `run` records the reason next to the queue."""
    if model is not None:
        model.failed()
    served.tell(f"{what} stopped", alarm=True, reason=reason)


def _reason(error: Exception) -> str:
    """For the log: our own message about the store, else only the error's type, which contains no contents."""
    ours = isinstance(error, EngramlogError) and error.status in OF_THE_STORE
    return f"{type(error).__name__}: {error}" if ours else type(error).__name__
