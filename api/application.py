"""The application as its faces see it: every service on one store, each joined when it is first asked for.

A command imports what it needs and nothing else. What stands on jobs or on the store's own parts is joined by `ops.wiring`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast, overload

from engramlog_server.events.log import written_to

if TYPE_CHECKING:
    from engramlog_server.api.access import Confined, Revealer
    from engramlog_server.api.exchange.chats import Chats
    from engramlog_server.api.exchange.records import Records
    from engramlog_server.api.services.accesses import AccessRecorder
    from engramlog_server.api.services.answers import Answers
    from engramlog_server.api.services.capacity import Capacities, JobQueue, ModelUses, Supervision
    from engramlog_server.api.services.comparison import Comparer, Differ
    from engramlog_server.api.services.context import Contexts
    from engramlog_server.api.services.deleting import Deleter, Restorer
    from engramlog_server.api.services.events import Events, Heads, OwnerHeads
    from engramlog_server.api.services.inbox import Inbox
    from engramlog_server.api.services.jobs import Cleaner, Embeddings, Episodes, Extractor
    from engramlog_server.api.services.keys import AccessFollower, AccessKeys, Reads
    from engramlog_server.api.services.knowing import Facts, Knower, Synonyms
    from engramlog_server.api.services.living import Living, TimeLines
    from engramlog_server.api.services.operating import Operator, Owners
    from engramlog_server.api.services.reading import Counter, Reader
    from engramlog_server.api.services.remembering import Rememberer
    from engramlog_server.api.services.replaying import Replayer
    from engramlog_server.api.services.retracting import Retracter
    from engramlog_server.api.services.sources import Grounds, NamedSources, Sources
    from engramlog_server.api.services.writing import CatchUp, Writer
    from engramlog_server.events.log import EventLog
    from engramlog_server.projections.access.caller import Caller
    from engramlog_server.projections.models.expansion import Expander
    from engramlog_server.projections.ranking.question import Senses
    from engramlog_server.projections.redis.view import RedisViews

_T = TypeVar("_T")


class joined(cached_property[_T]):  # noqa: N801 - a decorator, as the one that it narrows
    """A service that is joined when it is first asked for, once whichever threads ask: Python 3.12 took that lock away."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> _T: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | _T:
        if not isinstance(instance, Application):
            return self
        with instance.joining:
            return super().__get__(instance, owner)


class Application(ABC):
    """One store, opened. Safe for threads."""

    recovery: str | None = None
    """What was cut off a torn log when the embedded Redis started."""
    mended: str | None = None
    """What was done about a data folder that others could enter."""
    restored: str | None = None
    """What was said again, for the store lacked rejections that are kept outside of it."""

    def __init__(self, log: EventLog, views: RedisViews, catch_up: CatchUp, meanings: Senses | None) -> None:
        """Without `meanings` search reads words alone."""
        self.joining = RLock()
        self.log = log
        self.views = views
        self._catch_up = catch_up
        self._meanings = meanings
        self._expander: Expander | None = None
        """Rewords questions by a model; None if no model is set."""

    @classmethod
    def services(cls) -> set[str]:
        """The names of all that is joined."""
        return {name for kind in cls.__mro__ for name, member in vars(kind).items() if isinstance(member, joined)}

    def join(self) -> Self:
        """Join every service now, in a process that stays: no question pays for an import, what is missing is told at the start."""
        for name in self.services():
            getattr(self, name)
        return self

    def cache_counts(self) -> dict[tuple[str, str], int]:
        """How often each cache of this process was asked, by its name and where what was asked for was found."""
        return {("view", found): count for found, count in self.views.asked.items()}

    def for_(self, caller: Caller) -> Application:
        """The same as one caller may use it: itself for whoever may do everything, else what `api.access` lets him reach."""
        if caller.is_unlimited and caller.key_id is None:
            return self
        from engramlog_server.api.access import Confined

        confined: Confined = Confined(self, caller, self.reads.record)
        return cast("Application", confined)

    def allow(self, call: str, given: Mapping[str, Any], owners: Sequence[str]) -> None:  # noqa: B027 - everything is allowed
        """Allow all owners: a caller without a key has the data folder, and so every owner."""

    def named(self, owner: str, name: str) -> str:
        """The id of the memory that a name means, an id or a handle. Raises InputError for a handle that several have."""
        return self.reader.named(owner, name)

    def close(self) -> None:
        """Write what was read and is not written yet."""
        if "reads" in vars(self):
            self.reads.flush()

    @abstractmethod
    def turns_written(self, owner: str) -> None:
        """Called after turns of an owner were written."""

    @abstractmethod
    def texts_written(self, owner: str, texts: int) -> None:
        """Called after a single write of so many texts of an owner."""

    def await_turns(self, _owner: str) -> None:  # noqa: B027 - nothing is read here unless `turns_written` has it read
        """Wait a moment until what was written of an owner is read."""

    def settle(self) -> None:
        """Append and have folded what was recorded of accesses, where any could be."""
        if "accesses" in vars(self) and (until := written_to(self.accesses.flush())):
            self._catch_up(until)

    @property
    @abstractmethod
    def accesses(self) -> AccessRecorder: ...

    @property
    @abstractmethod
    def operator(self) -> Operator: ...

    @property
    @abstractmethod
    def supervision(self) -> Supervision: ...

    @property
    @abstractmethod
    def heads(self) -> Heads: ...

    @property
    @abstractmethod
    def job_queue(self) -> JobQueue: ...

    @property
    @abstractmethod
    def capacities(self) -> Capacities: ...

    @property
    @abstractmethod
    def model_uses(self) -> ModelUses: ...

    @property
    @abstractmethod
    def owners(self) -> Owners: ...

    @property
    @abstractmethod
    def cleaner(self) -> Cleaner: ...

    @property
    @abstractmethod
    def embeddings(self) -> Embeddings: ...

    @property
    @abstractmethod
    def episodes(self) -> Episodes: ...

    @property
    @abstractmethod
    def extractor(self) -> Extractor: ...

    @joined
    def reader(self) -> Reader:
        from engramlog_server.api.services.reading import Reader

        return Reader(self.log, self.views, self.accesses, self._meanings, self.await_turns, self._expander)

    @joined
    def access_follower(self) -> AccessFollower:
        from engramlog_server.api.services.keys import AccessFollower

        return AccessFollower(self.log)

    @joined
    def keys(self) -> AccessKeys:
        from engramlog_server.api.services.keys import AccessKeys

        return AccessKeys(self.log, self.writer, self.access_follower)

    @joined
    def reads(self) -> Reads:
        from engramlog_server.api.services.keys import Reads

        return Reads(self.log, self.writer, self.events)

    @joined
    def writer(self) -> Writer:
        from engramlog_server.api.services.writing import Writer

        writer = Writer(self.log, self.views, self.reader, self._catch_up)
        writer.on_turns, writer.on_texts = self.turns_written, self.texts_written
        return writer

    @joined
    def rememberer(self) -> Rememberer:
        from engramlog_server.api.services.remembering import Rememberer

        return Rememberer(self.log, self.writer, self.turns_written, self.await_turns)

    @joined
    def deleter(self) -> Deleter:
        from engramlog_server.api.services.deleting import Deleter

        return Deleter(self.log, self.reader, self.writer, self.views)

    @joined
    def restorer(self) -> Restorer:
        from engramlog_server.api.services.deleting import Restorer

        return Restorer(self.log, self.reader, self.writer, self.views)

    @joined
    def counter(self) -> Counter:
        from engramlog_server.api.services.reading import Counter

        return Counter(self.reader)

    @joined
    def records(self) -> Records:
        from engramlog_server.api.exchange.records import Records

        return Records(self.log, self.views, self.reader, self.writer)

    @joined
    def revealer(self) -> Revealer:
        from engramlog_server.api.access import Revealer

        return Revealer(self.reader, self.records, self.writer, self.accesses)

    @joined
    def chats(self) -> Chats:
        from engramlog_server.api.exchange.chats import Chats

        return Chats(self.log, self.reader, self.writer, self.turns_written)

    @joined
    def replayer(self) -> Replayer:
        from engramlog_server.api.services.replaying import Replayer

        return Replayer(self.log, self.reader)

    @joined
    def retracter(self) -> Retracter:
        from engramlog_server.api.services.retracting import Retracter

        return Retracter(self.log, self.views, self.reader, self.writer)

    @joined
    def differ(self) -> Differ:
        from engramlog_server.api.services.comparison import Differ

        return Differ(self.log, self.reader, self.views)

    @joined
    def comparer(self) -> Comparer:
        from engramlog_server.api.services.comparison import Comparer

        return Comparer(self.reader, self.views)

    @joined
    def knower(self) -> Knower:
        from engramlog_server.api.services.knowing import Knower

        return Knower(self.reader)

    @joined
    def facts(self) -> Facts:
        from engramlog_server.api.services.knowing import Facts

        return Facts(self.reader)

    @joined
    def sources(self) -> Sources:
        from engramlog_server.api.services.sources import Sources

        return Sources(self.views, self.reader, self.writer)

    @joined
    def synonyms(self) -> Synonyms:
        from engramlog_server.api.services.knowing import Synonyms

        return Synonyms(self.reader, self.writer)

    @joined
    def grounds(self) -> Grounds:
        from engramlog_server.api.services.sources import Grounds

        return Grounds(self.log, self.reader, self.writer)

    @joined
    def contexts(self) -> Contexts:
        from engramlog_server.api.services.context import Contexts

        return Contexts(self.log, self.views, self.reader, self.accesses)

    @joined
    def events(self) -> Events:
        from engramlog_server.api.services.events import Events

        return Events(self.log, self.views, self.reader)

    @joined
    def answers(self) -> Answers:
        from engramlog_server.api.services.answers import Answers

        return Answers(self.log, self.views, self.reader)

    @joined
    def named_sources(self) -> NamedSources:
        from engramlog_server.api.services.sources import NamedSources

        return NamedSources(self.views, self.reader)

    @joined
    def time_lines(self) -> TimeLines:
        from engramlog_server.api.services.living import TimeLines

        return TimeLines(self.log, self.views, self.reader)

    @joined
    def owner_heads(self) -> OwnerHeads:
        from engramlog_server.api.services.events import OwnerHeads

        return OwnerHeads(self.reader)

    @joined
    def inbox(self) -> Inbox:
        from engramlog_server.api.services.inbox import Inbox

        return Inbox(self.log, self.reader, self.writer)

    @joined
    def living(self) -> Living:
        from engramlog_server.api.services.living import Living

        return Living(self.reader, self.writer)


Opener = Callable[[], AbstractContextManager[Application]]
