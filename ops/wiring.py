"""The application made of its parts by the settings, with the services that stand on jobs and on the store's own parts.

After a write new texts are embedded, and new turns are extracted, in a thread next to the request. The write is acknowledged first.
Batches and raw appends, turns whose writer may not read, and what another process appended wait for the jobs, as does anything that
fails here or finds the queue full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from math import inf
from pathlib import Path
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from engramlog_server.api.application import Application, joined
from engramlog_server.api.checks import asked_by, caller_in_hand
from engramlog_server.api.choices import MODEL, RULES
from engramlog_server.consumers.fold.presence import LEASE_MS, known_workers
from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.redis.append import TAKES_NOTHING
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import Wire, WirePool, open_wire
from engramlog_server.ops.catch_up import FoldCatchUp
from engramlog_server.ops.clock import Tell, now, silent
from engramlog_server.ops.embedded.folder import Role
from engramlog_server.ops.erasure.watch import ErasedWatch
from engramlog_server.ops.models import NO_MODEL, LazyModel, Model, counted, meanings_of, model_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, open_the_store
from engramlog_server.projections.access.caller import LEAST_TOLD, Caller

if TYPE_CHECKING:
    from engramlog_server.api.services.accesses import AccessRecorder
    from engramlog_server.api.services.capacity import (
        Capacities,
        DiskRoom,
        JobQueue,
        ModelsNamed,
        ModelUses,
        Supervision,
    )
    from engramlog_server.api.services.events import Heads
    from engramlog_server.api.services.jobs import Cleaner, Embeddings, Episodes, Extractor
    from engramlog_server.api.services.operating import Operator, Owners
    from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
    from engramlog_server.events.heads import HeadBook
    from engramlog_server.ops.kept.heads import HeadFile
    from engramlog_server.projections.models.chat import Chat, ModelAsked
    from engramlog_server.projections.models.expansion import Expander
    from engramlog_server.projections.redis.usage import ModelLedger
    from engramlog_server.projections.redis.vectors import Meanings
    from engramlog_server.projections.shapes import EmbedderSet, EmbedderStanding, JobBoard, Schedule
    from engramlog_server.projections.views.view import OwnerView


OFF = "off"


@contextmanager
def open_application(
    settings: Settings, role: Role = "command", *, tell: Tell = silent, on_wait: Callable[[str], None] | None = None
) -> Iterator[Application]:
    """The application for a command's duration: accesses are flushed and everything appended is folded at its end."""
    with (
        open_the_store(settings, role, on_wait=on_wait, tell=tell) as store,
        application_on(store, settings, tell=tell, on_wait=on_wait, stays=role != "command") as application,
    ):
        yield application


def ask_kept_values(store: OpenStore, catch_up: FoldCatchUp, tell: Tell) -> str | None:
    """Look whether the store has all rejections that are kept outside of it, and have folded what was said again, and
    what was erased again; tells that."""
    until = dict(store.fenced)
    for partition, seq in store.values.look().items():
        until[partition] = max(seq, until.get(partition, 0))
    if until:
        try:
            catch_up(until)
        except EngramlogError as error:
            tell("rejections not folded", reason=error.message, alarm=True)
    return store.values.restored


def kept_heads(store: OpenStore, settings: Settings) -> Callable[[], HeadBook]:
    """What reads the heads that are kept of a store on this machine."""
    files: list[HeadFile] = []

    def read() -> HeadBook:
        from engramlog_server.ops.kept.heads import HeadFile, heads_path

        if not files:
            files.append(HeadFile(heads_path(settings, store.identity.store_id)))
        return files[0].read()

    return read


@contextmanager
def application_on(
    store: OpenStore,
    settings: Settings,
    *,
    tell: Tell = silent,
    on_wait: Callable[[str], None] | None = None,
    stays: bool = True,
) -> Iterator[Application]:
    """The same on a store that is open already. `stays`: the process answers more than one command, so all is joined now."""
    catch_up, model = FoldCatchUp(store, tell), model_of(settings)
    application = JoinedApplication(
        store,
        catch_up,
        tell,
        queue_url=settings.queue_url,
        meanings=meanings_of(settings, store),
        model=model,
        kept_heads=kept_heads(store, settings),
        extraction=settings.extraction,
        embeds_writes=stays,
    )
    if stays:
        application.join()
    if store.embedded is not None and store.embedded.owned:
        catch_up.fold_leftovers(on_wait)
    application.restored = ask_kept_values(store, catch_up, tell)
    erased = ErasedWatch(store, settings).every()
    if stays and store.client.seals.is_on:
        erased.start()
    try:
        yield application
        application.settle()
        store.receipts.save()
        if store.receipts.moved:
            from engramlog_server.ops.kept.heads import keep_quietly

            keep_quietly(store, settings)
    finally:
        erased.stop()
        application.close()
        model.close()
        catch_up.end()


QUEUE_SECONDS = 2.0
"""How long `status` waits for a queue on another Redis."""


class JoinedApplication(Application):
    """The application on an open store. Without a model rules read and review."""

    _catch_up: FoldCatchUp
    _meanings: Meanings | None

    def __init__(
        self,
        store: OpenStore,
        catch_up: FoldCatchUp,
        tell: Tell = silent,
        *,
        queue_url: str | None = None,
        meanings: Meanings | None = None,
        model: Model = NO_MODEL,
        kept_heads: Callable[[], HeadBook] | None = None,
        extraction: str = OFF,
        embeds_writes: bool = False,
    ) -> None:
        """`kept_heads` reads the heads that are kept beside this process, where any are. `extraction`: what extracts statements
        from new turns: rules, model or off. `embeds_writes`: embed single writes right after them, in a process that stays."""
        super().__init__(store.log, store.views, catch_up, meanings)
        self.recovery = store.embedded.recovery if store.embedded else None
        self.mended = store.mended
        self._store = store
        self._tell = tell
        self._queue_url = queue_url
        self._model = model
        self._kept_heads = kept_heads
        self._expander = None if model.rewording is None else self._expander_of(model.rewording)
        self._turn_reading = None if extraction == OFF else TurnReading(self, extraction, tell)
        self._embedding_queue = (
            None if meanings is None or not embeds_writes else EmbeddingQueue(meanings, self._view_of, tell)
        )

    def _expander_of(self, chat: LazyModel) -> Expander:
        from engramlog_server.projections.models.chat import FOR_EXPANSION
        from engramlog_server.projections.models.expansion import Expander

        assert self._model.chat_set is not None, "a model is named"
        return Expander(self._model.chat_set["model"], counted(chat, FOR_EXPANSION, self._note_asked), self._tell)

    @contextmanager
    def _view_of(self, owner: str) -> Iterator[OwnerView]:
        with self.views.view(owner) as (view, _):
            yield view

    def texts_written(self, owner: str, texts: int) -> None:
        """Have the texts of a single write embedded soon, after the write is acknowledged."""
        if self._embedding_queue is not None:
            self._embedding_queue.put(owner, texts)

    def turns_written(self, owner: str) -> None:
        """Have the turns extracted soon, after the write is acknowledged."""
        if self._turn_reading is not None:
            self._turn_reading.written(owner)

    def await_turns(self, owner: str) -> None:
        """See `Application.await_turns`."""
        if self._turn_reading is not None:
            self._turn_reading.wait(owner)

    def settle(self) -> None:
        """See `Application.settle`; first the turns that were written are extracted."""
        if self._turn_reading is not None:
            self._turn_reading.close()
        super().settle()

    def close(self) -> None:
        """See `Application.close`."""
        if self._turn_reading is not None:
            self._turn_reading.close()
        if self._embedding_queue is not None:
            self._embedding_queue.close()
        super().close()

    def cache_counts(self) -> dict[tuple[str, str], int]:
        """See `Application.cache_counts`; of questions' vectors too, where one embeds."""
        return super().cache_counts() | {("question", found): count for found, count in self._questions().items()}

    def _questions(self) -> dict[str, int]:
        """How often questions' vectors were asked for in this process, by where they came from; under all models."""
        made = {} if self._meanings is None else self._meanings.embedders.made
        if not made:
            return {}
        from engramlog_server.projections.embedding.embedder import CachingEmbedder

        counts = Counter[str]()
        for embedder in made.values():
            counts.update(embedder.asked if isinstance(embedder, CachingEmbedder) else {})
        return dict(counts)

    @joined
    def accesses(self) -> AccessRecorder:
        from engramlog_server.api.services.accesses import AccessRecorder

        return AccessRecorder(self.log, self._tell, self._report_lost)

    def _report_lost(self, many: int, why: str) -> None:
        """An alarm about accesses that were not recorded; none of a restored copy, which says so itself, and is nobody's yet."""
        if TAKES_NOTHING not in why:
            self._store.alarms.raised("accesses_lost", "", why, times=many)

    @joined
    def operator(self) -> Operator:
        from engramlog_server.api.services.living import OwnerStatistics
        from engramlog_server.api.services.operating import Operator

        store = self._store
        return Operator(
            store.wires,
            store.identity,
            store.log,
            OwnerStatistics(self.views, self.reader, self._meanings),
            self.writer,
            partial(known_workers, lease_ms=LEASE_MS),
            self._schedule,
            store.alarms,
            let_go=store.log.let_go,
            on_head=store.views.on_head,
            min_replicas=store.log.least_replicas,
            accesses=self.accesses.figures,
            embedder=self._embedder_state,
            sealing=store.client.seals.standing,
        )

    def _schedule(self) -> Schedule:
        from engramlog_server.consumers.jobs.schedule import lifecycle_status

        identity = self._store.identity
        with self._queue.wire() as wire:
            return cast("Schedule", lifecycle_status(wire, identity.store_id, identity.partitions))

    def _board(self) -> JobBoard:
        from engramlog_server.consumers.jobs.schedule import job_board

        identity = self._store.identity
        with self._queue.wire() as wire:
            return cast("JobBoard", job_board(wire, identity.store_id, identity.partitions))

    @joined
    def supervision(self) -> Supervision:
        from engramlog_server.api.services.capacity import Supervision

        embedded = self._store.embedded
        return Supervision(self._wire, None if embedded is None else partial(_disk_of, embedded.folder))

    @joined
    def _queue(self) -> WirePool:
        """Connections to the queue of jobs."""
        return WirePool(connect(self._queue_url, timeout=QUEUE_SECONDS)) if self._queue_url else self._store.wires

    @joined
    def heads(self) -> Heads:
        from engramlog_server.api.services.events import Heads

        return Heads(self._store.wires, self._store.identity, self._kept_heads)

    @joined
    def job_queue(self) -> JobQueue:
        from engramlog_server.api.services.capacity import JobQueue

        return JobQueue(self._board)

    @joined
    def capacities(self) -> Capacities:
        from engramlog_server.api.services.capacity import Capacities

        return Capacities(self._store.wires, self._store.identity.tags, self.supervision.kept)

    @joined
    def model_uses(self) -> ModelUses:
        from engramlog_server.api.services.capacity import ModelUses

        return ModelUses(self._store.wires, self._models_named, lambda: self._ledger.lost)

    @joined
    def _ledger(self) -> ModelLedger:
        from engramlog_server.projections.redis.usage import ModelLedger

        return ModelLedger(self._store.wires, now)

    def _note_asked(self, asked: ModelAsked) -> None:
        self._ledger.note(asked)

    def _models_named(self) -> ModelsNamed:
        from engramlog_server.api.services.capacity import ModelsNamed

        return ModelsNamed(self._model.chat_set, self._embedder_set())

    def _embedder_state(self) -> EmbedderStanding | None:
        """What of it is there in this process, and loaded."""
        from engramlog_server.ops.models import standing_of

        return None if self._meanings is None else standing_of(self._meanings.embedders)

    def _embedder_set(self) -> EmbedderSet | None:
        """What compares meanings for owners who chose nothing, and how it was asked in this process."""
        from engramlog_server.ops.models import standing_of

        embedders = None if self._meanings is None else self._meanings.embedders
        standing = None if embedders is None else standing_of(embedders)
        if standing is None:
            return None
        asked, name = self._questions(), standing["name"]
        return {
            "name": name,
            "chosen_by": standing["chosen_by"],
            "host": self._model.embedder_host if name.startswith("openai:") else None,
            "missing": standing["missing"],
            "loaded": bool(standing["loaded"]),
            "questions_computed": asked.get("computed", 0),
            "questions_remembered": asked.get("memory", 0),
        }

    def _chat(self, use: str) -> Callable[[], Chat] | None:
        """The model of the settings, where there is one; what asking it takes is counted for this use."""
        chat = self._model.chat
        return None if chat is None else counted(chat, use, self._ledger.note)

    @joined
    def owners(self) -> Owners:
        from engramlog_server.api.services.operating import Owners

        return Owners(self._store.wires, self._store.identity.tags)

    @joined
    def cleaner(self) -> Cleaner:
        from engramlog_server.api.services.jobs import Cleaner
        from engramlog_server.consumers.jobs.embedding import EmbeddingJob
        from engramlog_server.consumers.jobs.lifecycle import RULE
        from engramlog_server.consumers.jobs.reviewing import AbstractionJob, ReviewJob
        from engramlog_server.projections.lifecycle.review import ModelReviewer
        from engramlog_server.projections.models.chat import FOR_PATTERNS, FOR_REVIEW

        store, model = self._store, self._model
        chat, finder = self._chat(FOR_REVIEW), None if model.finder is None else self._chat(FOR_PATTERNS)
        lifecycle: LifecycleJobs | ReviewJob = self._lifecycle
        if chat is not None and model.reviewer != RULE:
            lifecycle = ReviewJob(self._lifecycle, lambda: ModelReviewer(chat()), model.reviewer, self._tell)
        return Cleaner(
            lifecycle if finder is None else AbstractionJob(lifecycle, self._lifecycle, finder),
            partial(_owners_of_all, store),
            store.log,
            self.reader,
            self._catch_up,
            EmbeddingJob(store.vectors, None, self._tell).carry_out,
            store.views.passing,
        )

    @joined
    def embeddings(self) -> Embeddings:
        from engramlog_server.api.services.jobs import Embeddings
        from engramlog_server.consumers.jobs.embedding import EmbeddingJob

        store, meanings = self._store, self._meanings
        job = None if meanings is None else EmbeddingJob(store.vectors, meanings.embedders, self._tell)
        return Embeddings(job, meanings, partial(_owners_of_all, store), store.log, self._catch_up)

    @joined
    def episodes(self) -> Episodes:
        from engramlog_server.api.services.jobs import Episodes
        from engramlog_server.consumers.jobs.episodes import EpisodeJob
        from engramlog_server.projections.models.chat import FOR_SUMMARIES

        chat = None if self._model.summariser is None else self._chat(FOR_SUMMARIES)
        job = EpisodeJob(self.log, self.views, self._catch_up, chat=chat)
        return Episodes(job, self.log, self._catch_up)

    @joined
    def extractor(self) -> Extractor:
        from engramlog_server.api.services.jobs import Extractor
        from engramlog_server.consumers.jobs.extraction import ExtractionJob
        from engramlog_server.projections.models.chat import FOR_EXTRACTION

        ways = {RULES: ExtractionJob(self.views, self._lifecycle)}
        if (chat := self._chat(FOR_EXTRACTION)) is not None:
            ways[MODEL] = ExtractionJob(self.views, self._lifecycle, chat)
        return Extractor(ways, self.log, self.reader, self._catch_up)

    @joined
    def _lifecycle(self) -> LifecycleJobs:
        from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs

        return LifecycleJobs(self.log, self.views, self._catch_up, self._meanings)

    def _wire(self) -> Wire:
        return open_wire(self._store.client)


def _disk_of(folder: Path) -> DiskRoom:
    """How the disk of a data folder stands. Raises OSError where the folder is gone."""
    from engramlog_server.api.services.capacity import DiskRoom
    from engramlog_server.ops.embedded.disk import look

    disk = look(folder)
    return DiskRoom(disk.free, disk.total, disk.wanted, disk.reserve)


def _owners_of_all(store: OpenStore) -> list[str]:
    """Every owner of a store, by partition."""
    from engramlog_server.consumers.jobs.lifecycle import owners_of

    with closing(store.wire()) as wire:
        return [owner for tag in store.identity.tags for owner in owners_of(wire, tag)]


MOST_TEXTS = 50
"""Texts of one write; a larger batch is left to the job."""
MOST_OWNERS = 1_000
"""Owners that wait for their vectors; the texts of further ones are left to the job."""
PAUSE_SECONDS = 0.05
"""Time without a write before texts are embedded: a burst of writes costs one pass and is not slowed."""
LONGEST_PAUSE_SECONDS = 1.0
MODEL_PAUSE_SECONDS = 3.0
"""Time without a write before a model is asked: it reads a conversation better than single turns."""
EMBEDDING_ENDS_SECONDS, READING_ENDS_SECONDS = 5.0, 20.0
MOST_WAITED_SECONDS = 0.5
"""How long a question waits for turns of its owner that rules are about to read."""
V = TypeVar("V")


class _OwnerQueue(Generic[V]):
    """Owners that wait for something, and the thread that does it, which starts with the first write. Safe for threads."""

    def __init__(self, name: str, pause_seconds: float, longest_seconds: float = inf) -> None:
        """The work begins so long after the last write, and at most so long after the first."""
        self._name, self._pause_seconds, self._longest_seconds = name, pause_seconds, longest_seconds
        self._owners: dict[str, V] = {}
        self._in_hand: set[str] = set()
        self._written_at = self._waits_since = 0.0
        self._changed = Condition()
        self._closing = False
        self._thread: Thread | None = None

    def _put(self, owner: str, what: V) -> None:
        """Under the lock."""
        self._written_at = monotonic()
        if not self._owners:
            self._waits_since = self._written_at
        self._owners[owner] = what
        if self._thread is None and not self._closing:
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _close(self, seconds: float, *, drop: bool) -> None:
        """End the thread after what is in hand, and what waits unless that is to `drop`. Idempotent."""
        with self._changed:
            self._closing = True
            if drop:
                self._owners.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        while (owners := self._next()) is not None:
            self._work(owners)
            self._done(*owners)

    def _next(self) -> dict[str, V] | None:
        """The owners whose turn it is, after the pause; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._owners) or self._closing)
            while not self._closing and (left := self._due() - monotonic()) > 0:
                self._changed.wait(left)
            owners, self._owners = self._owners, {}
            self._in_hand = set(owners)
            return owners or None if self._closing else owners

    def _due(self) -> float:
        return min(self._written_at + self._pause_seconds, self._waits_since + self._longest_seconds)

    def _done(self, *owners: str) -> None:
        with self._changed:
            self._in_hand.difference_update(owners)
            self._changed.notify_all()

    def _work(self, owners: Mapping[str, V]) -> None:
        raise NotImplementedError


class EmbeddingQueue(_OwnerQueue[None]):
    """Embeds what was just written: it can be found by meaning without waiting for the job."""

    def __init__(
        self, meanings: Meanings, view: Callable[[str], AbstractContextManager[OwnerView]], tell: Tell
    ) -> None:
        """`view` gives an owner's view, held for the length of the block."""
        super().__init__("embedding", PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
        self._meanings = meanings
        self._view = view
        self._tell = tell
        self._full = self._fails = False

    def put(self, owner: str, texts: int) -> None:
        """So many texts of an owner were written. Returns at once."""
        if not 0 < texts <= MOST_TEXTS:
            return
        with self._changed:
            if self._closing:
                return
            if len(self._owners) < MOST_OWNERS or owner in self._owners:
                self._put(owner, None)
            elif not self._full:
                self._full = True
                self._tell("embedding queue full", owners=MOST_OWNERS, then="the job embeds the rest", alarm=True)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to embed; whether that came within so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._owners and not self._in_hand, seconds)

    def close(self) -> None:
        """End the thread after the texts in hand; the job embeds the rest. Idempotent."""
        self._close(EMBEDDING_ENDS_SECONDS, drop=True)

    def _work(self, owners: Mapping[str, None]) -> None:
        self._full = False
        for owner in owners:
            if not self._closing:
                self._embed(owner)

    def _embed(self, owner: str) -> None:
        try:
            self._meanings.embed_newest(owner, lambda: self._view(owner), MOST_TEXTS)
        except EngramlogError as error:
            self._report_failed(owner, error.message)
        except Exception as error:  # noqa: BLE001 - nobody else would hear of it; a foreign message may quote a text
            self._report_failed(owner, type(error).__name__)
        else:
            self._fails = False

    def _report_failed(self, owner: str, reason: str) -> None:
        """Report the first failure, not each of many writes while an embedder is down."""
        facts: dict[str, Any] = {"owner": owner, "reason": reason, "then": "the job embeds them"}
        if not self._fails:
            self._fails = True
            self._tell("texts not embedded", **facts, alarm=True)


class TurnReading(_OwnerQueue[Caller]):
    """Extracts the new turns of owners: they become statements without being asked for, in the name of who wrote the turns."""

    def __init__(self, application: Application, by: str, tell: Tell) -> None:
        """`by`: rules or model. A model is asked after a pause, and only if no job worker does it."""
        super().__init__("turn reading", MODEL_PAUSE_SECONDS if by == MODEL else 0.0)
        self._application = application
        self._by = by
        self._tell = tell

    def written(self, owner: str) -> None:
        """Turns of this owner were written by the caller of this request."""
        caller = caller_in_hand()
        if not _may_extract(caller, owner):
            return
        with self._changed:
            before = self._owners.get(owner)
            narrower = before is not None and not caller.is_unlimited and before.is_unlimited
            self._put(owner, before if narrower and before is not None else caller)

    def wait(self, owner: str) -> None:
        """Wait until rules have read what was written of this owner, at most `MOST_WAITED_SECONDS`; a model is not waited for."""
        if self._by != MODEL:
            with self._changed:
                if self._thread is not None and self._thread.is_alive():
                    self._changed.wait_for(
                        lambda: owner not in self._owners and owner not in self._in_hand, MOST_WAITED_SECONDS
                    )

    def close(self) -> None:
        """Extract what rules can still read, then end the thread. Turns left for a model wait for the next run. Idempotent."""
        self._close(READING_ENDS_SECONDS, drop=self._by == MODEL)

    def _work(self, owners: Mapping[str, Caller]) -> None:
        try:
            if self._by == MODEL and self._application.operator.status()["lifecycle"]["leader"] is not None:
                return
        except EngramlogError as error:
            self._tell("turns not extracted", reason=error.message, alarm=True)
            return
        for owner, caller in sorted(owners.items(), key=lambda item: item[0]):
            try:
                self._extract(owner, caller)
            except EngramlogError as error:
                self._tell("turns not extracted", owner=owner, reason=error.message, alarm=True)
            finally:
                self._done(owner)

    def _extract(self, owner: str, written_by: Caller) -> None:
        """In the writer's name, with the grants that the writer has now."""
        application = self._application
        from engramlog_server.projections.access.keys import as_of_now  # loads pyjwt, which no question needs

        caller = as_of_now(application.access_follower.admitting, written_by, application.log.now())
        if caller is not None and _may_extract(caller, owner):
            with asked_by(caller):
                read = application.for_(caller).extractor.extract(owner, self._by)
            application.texts_written(owner, read["read"])


def _may_extract(caller: Caller, owner: str) -> bool:
    """Whether statements may be drawn from an owner's turns in a caller's name."""
    return caller.may("produce", owner) and caller.may("read", owner, sensitivity=LEAST_TOLD)
