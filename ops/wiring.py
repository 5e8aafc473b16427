"""Where the parts are joined: settings in, an application out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from threading import Lock
from time import monotonic, sleep
from typing import Any

from api.application import Application
from api.choices import MODEL, RULES
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
from api.work.patience import current_check
from consumers.fold.presence import live_workers
from consumers.fold.worker import LEASE_MS, FoldWorker
from consumers.jobs.embedding import EmbeddingJob
from consumers.jobs.extraction import ExtractionJob
from consumers.jobs.leader import lifecycle_status
from consumers.jobs.lifecycle import LifecycleJobs, owners_of
from consumers.jobs.sessions import EpisodeJob
from events.errors import NotYetFolded
from events.partitions import LogKeys
from events.redis.gap import refuse_gap
from events.redis.wire import Wire, WirePool, connect
from ops.embedded.folder import Role
from ops.embedders import meanings_of
from ops.kept.heads import keep_quietly
from ops.models import NO_MODEL, Model, model_of
from ops.reviewers import lifecycle_of
from ops.settings import Settings
from ops.store import OpenStore, open_the_store
from ops.worker import new_worker_id
from projections.fold.builds import BuildKeys
from projections.redis.meanings import Meanings

STALLED_SECONDS = 30.0
"""How long a command waits while nothing at all is folded."""
GAP_SECONDS = 0.5
"""How long a command waits in vain before it looks whether a log is whole."""
LEFTOVER_SECONDS = LEASE_MS / 1_000 + 1.0
"""How long a command tries to fold what others left while nothing at all moves."""
SLICE_SECONDS = 0.25
"""How long it folds by itself before it looks again at what is reached and who else is there."""
QUEUE_SECONDS = 2.0
"""How long `status` waits for a queue on another Redis."""
PASSING = "passing"
"""Fact of a worker that only folds what one process appended: nobody relies on it."""
Tell = Callable[..., None]


class FoldCatchUp:
    """Waits until positions are folded: by the store's workers, or by itself where none lives. Safe for threads."""

    def __init__(self, store: OpenStore, tell: Tell) -> None:
        self._store = store
        self._tell = tell
        self._wires = WirePool(store.client)
        self._worker: FoldWorker | None = None
        self._folding = Lock()

    def __call__(self, until: Mapping[int, int]) -> None:
        """Returns when every partition named is folded up to its seq. Raises NotYetFolded where nothing moves any more.

        LogGap where that is because a log is not whole, and what the question in hand ends for.
        """
        check, goal = current_check(), sum(until.values())
        last, stalled_at, looked_at, pause = dict[int, int](), 0.0, 0.0, 0.001
        while True:
            with self._wires.wire() as wire:
                reached = self._checkpoints(wire, until)
                others = bool(lasting_workers(wire))
            missing = {partition: seq for partition, seq in until.items() if reached[partition] < seq}
            if others or not missing:
                self.close()  # nobody else should wait for leases that this process needs no more
            if not missing:
                return
            check(goal - sum(seq - reached[partition] for partition, seq in missing.items()), goal)
            if reached != last:
                last, stalled_at = reached, monotonic() + STALLED_SECONDS
                looked_at = monotonic() + GAP_SECONDS
            elif monotonic() > looked_at:
                looked_at = monotonic() + GAP_SECONDS
                self._refuse_gaps(missing)
            if monotonic() > stalled_at:
                raise NotYetFolded(
                    f"nothing was folded for {STALLED_SECONDS:g} s; see `engramlog status`", checkpoints=reached
                )
            if others:
                sleep(pause)
                pause = min(pause * 2, 0.05)
            else:
                self._fold(missing)

    def _refuse_gaps(self, partitions: Iterable[int]) -> None:
        with self._wires.wire() as wire:
            for partition in partitions:
                refuse_gap(wire, self._store.identity.tags[partition])

    def fold_leftovers(self, on_wait: Callable[[str], None] | None = None) -> None:
        """Fold what a process that died left in the log, on a server that is this process's own; as far as that goes.

        Leases and presence of the dead run out within `LEASE_MS`; whatever does not move for longer is left to operators.
        """
        heads = {partition: self._store.log.head(partition) for partition in range(self._store.identity.partitions)}
        last, stalled_at = dict[int, int](), 0.0
        while True:
            with self._wires.wire() as wire:
                reached = self._checkpoints(wire, heads)
            missing = {partition: seq for partition, seq in heads.items() if reached[partition] < seq}
            if reached != last:
                last, stalled_at = reached, monotonic() + LEFTOVER_SECONDS
            if not missing or monotonic() > stalled_at:
                self.close()
                return
            if on_wait is not None:
                on_wait(
                    f"folding {sum(missing.values()) - sum(reached[p] for p in missing):,} events left by another process"
                )
            self._fold(missing)

    def tend(self, partition: int) -> None:
        """Have what operators ask of a partition carried out at once, where no lasting worker does it."""
        with self._wires.wire() as wire:
            if lasting_workers(wire):
                return
        self.close()  # a new worker looks for requests first
        self._fold({partition: self._store.log.head(partition)})
        self.close()

    def _checkpoints(self, wire: Wire, until: Mapping[int, int]) -> dict[int, int]:
        tags, found = self._store.identity.tags, dict[int, int]()
        for partition in until:
            live = (wire.call("HGET", LogKeys(tags[partition]).meta, "live") or b"").decode()
            found[partition] = int(wire.call("HGET", BuildKeys(tags[partition], live).checkpoint, "seq") or 0)
        return found

    def _fold(self, until: Mapping[int, int]) -> None:
        with self._folding:
            if self._worker is None:
                facts = {PASSING: True}
                tags = self._store.identity.tags
                self._worker = FoldWorker(
                    self._store.client, tags, new_worker_id(), tell=self._tell, facts=facts, alarms=self._store.alarms
                )
            self._worker.drain(until, SLICE_SECONDS)

    def close(self) -> None:
        """Hand over what this process folded."""
        with self._folding:
            worker, self._worker = self._worker, None
            if worker is not None:
                worker.hand_over()

    def end(self) -> None:
        """The same, and close its connections: it is not used any more."""
        self.close()
        self._wires.close()


def workers_of(wire: Wire) -> dict[str, dict[str, Any]]:
    """The fold workers that live now."""
    seconds, micros = wire.call("TIME")
    return live_workers(wire, int(seconds) * 1_000 + int(micros) // 1_000, LEASE_MS)


def lasting_workers(wire: Wire) -> dict[str, dict[str, Any]]:
    """The fold workers that live now and stay: not those of a command that folds what it appended."""
    return {name: facts for name, facts in workers_of(wire).items() if not facts.get(PASSING)}


def owners_of_all(store: OpenStore) -> list[str]:
    """Every owner of a store, by partition."""
    wire = store.wire()
    try:
        return [owner for tag in store.identity.tags for owner in owners_of(wire, tag)]
    finally:
        wire.close()


def quiet(_fact: str, **_facts: Any) -> None:
    """Tells nobody."""


def assemble(
    store: OpenStore,
    catch_up: FoldCatchUp,
    tell: Tell = quiet,
    *,
    queue_url: str | None = None,
    meanings: Meanings | None = None,
    model: Model = NO_MODEL,
) -> Application:
    """Join the parts on an open store; without `meanings` search reads words alone, without a model rules read and review."""
    accesses = AccessRecorder(
        store.log, tell, lambda many, why: store.alarms.raised("accesses_lost", "", why, times=many)
    )
    reader = Reader(store.log, store.views, accesses, meanings)
    writer = Writer(store.log, store.views, reader, catch_up)
    records = Records(store.log, store.views, reader, writer)
    replayer = Replayer(reader, store.views)
    queue = connect(queue_url, timeout=QUEUE_SECONDS) if queue_url else store.client
    schedule = partial(lifecycle_status, queue, store.identity.store_id)
    operator = Operator(
        lambda: Wire(store.client),
        store.identity,
        store.log,
        reader,
        writer,
        workers_of,
        schedule,
        store.alarms,
        meanings,
        let_go=store.log.let_go,
        accesses=accesses.figures,
    )
    lifecycle = LifecycleJobs(store.log, store.views, catch_up)
    keeper = None if meanings is None else EmbeddingJob(store.vectors, lambda: meanings.embedder, tell)
    forget = EmbeddingJob(store.vectors, None, tell).carry_out
    owners = partial(owners_of_all, store)
    recovery = store.embedded.recovery if store.embedded else None
    ways = {RULES: ExtractionJob(store.views, lifecycle)}
    if model.chat is not None:
        ways[MODEL] = ExtractionJob(store.views, lifecycle, model.chat)
    return Application(
        log=store.log,
        views=store.views,
        reader=reader,
        writer=writer,
        rememberer=Rememberer(writer),
        deleter=Deleter(store.log, reader, writer, store.views),
        restorer=Restorer(store.log, reader, writer, store.views),
        records=records,
        revealer=Revealer(reader, records, writer, accesses),
        chats=Chats(store.log, reader, writer),
        replayer=replayer,
        comparer=Comparer(reader, store.views),
        knower=Knower(reader),
        facts=Facts(reader),
        synonyms=Synonyms(reader, writer),
        grounds=Grounds(store.log, reader, writer),
        contexts=Contexts(store.log, store.views, reader, accesses),
        uses=Uses(store.views, reader),
        living=Living(reader, writer),
        cleaner=Cleaner(
            lifecycle_of(model, lifecycle, tell), owners, store.log, reader, catch_up, forget, store.views.passing
        ),
        episodes=Episodes(EpisodeJob(store.log, store.views, catch_up, chat=model.summariser), store.log, catch_up),
        embeddings=Embeddings(keeper, meanings, owners, store.log, reader, catch_up),
        extractor=Extractor(ways, store.log, reader, catch_up, model.prices),
        operator=operator,
        owners=Owners(lambda: Wire(store.client), store.identity.tags),
        accesses=accesses,
        recovery=recovery,
        mended=store.mended,
    )


@contextmanager
def open_application(
    settings: Settings,
    role: Role = "command",
    *,
    tell: Tell = quiet,
    on_wait: Callable[[str], None] | None = None,
) -> Iterator[Application]:
    """The application for a command's duration: accesses are flushed and everything appended is folded at its end."""
    with (
        open_the_store(settings, role, on_wait=on_wait, tell=tell) as store,
        application_on(store, settings, tell=tell, on_wait=on_wait) as application,
    ):
        yield application


@contextmanager
def application_on(
    store: OpenStore, settings: Settings, *, tell: Tell = quiet, on_wait: Callable[[str], None] | None = None
) -> Iterator[Application]:
    """The same on a store that is open already."""
    catch_up, model = FoldCatchUp(store, tell), model_of(settings)
    application = assemble(
        store,
        catch_up,
        tell,
        queue_url=settings.queue_url,
        meanings=meanings_of(settings, store),
        model=model,
    )
    if store.embedded is not None and store.embedded.owned:
        catch_up.fold_leftovers(on_wait)
    try:
        yield application
        application.writer.settle(application.accesses.flush())
        store.receipts.save()
        if store.receipts.moved:
            keep_quietly(store, settings)
    finally:
        model.close()
        catch_up.end()
