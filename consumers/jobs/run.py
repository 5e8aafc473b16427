"""The one job function and the kinds of jobs that it runs.

A payload holds ids, never contents, nor the store's address, which may hold a password: the worker's process knows the address.
Every job only appends events (or vectors), and can be killed anywhere: run again, it goes on and does nothing twice.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, NamedTuple

import redis
from rq import Retry, get_current_job

from engramlog_server.consumers.jobs.embedding import EmbeddingJob
from engramlog_server.consumers.jobs.episodes import MODEL, OFF, EpisodeJob
from engramlog_server.consumers.jobs.extraction import ExtractionJob
from engramlog_server.consumers.jobs.lifecycle import RULE, LifecycleRun, owners_of
from engramlog_server.consumers.jobs.opened import (
    GivenUp,
    JobResources,
    Lent,
    OpenedStore,
    Walked,
    model_stopped,
)
from engramlog_server.consumers.jobs.owner_texts import folded_to, live_build, owners_since
from engramlog_server.consumers.jobs.raw_memories import judge_raw
from engramlog_server.consumers.jobs.reviewing import REVIEW, AbstractionJob, ReviewJob, merges_since
from engramlog_server.consumers.jobs.schedule import STOPPED, done_field, folded_field, schedule_key
from engramlog_server.consumers.verify.partition import Levels
from engramlog_server.events.alarms import LOG_CHANGED, LOG_ROLLED_BACK, PARTITION_GAP
from engramlog_server.events.cipher import BODY_MARK, salts_id
from engramlog_server.events.errors import BadSetting, EmbedderFailed, StoreFull
from engramlog_server.events.keys import ID_SHIFT, UNUSED_SECONDS, second_of
from engramlog_server.events.partitions import ALARMS_KEY, LogKeys
from engramlog_server.events.redis.durability import RECEIPT_LOST
from engramlog_server.events.redis.log import pages
from engramlog_server.events.redis.secrets import secret_lines
from engramlog_server.events.redis.server import redis_micros
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.embedding.encoders import Likeness
from engramlog_server.projections.lifecycle import LEVELS
from engramlog_server.projections.lifecycle.extraction import JUDGE, RULES
from engramlog_server.projections.lifecycle.review import ModelReviewer
from engramlog_server.projections.models.chat import (
    FOR_EXTRACTION,
    FOR_PATTERNS,
    FOR_REVIEW,
    FOR_SUMMARIES,
    Chat,
    CountedChat,
)
from engramlog_server.projections.redis.vectors import Meanings

UPKEEP_JOBS = ("sweep", "review")
"""Names in `projections.lifecycle.JOBS`."""
REVIEW_SECONDS = 180.0
"""After so long a partition's reviews are left to the next run: the jobs of other partitions wait for this one."""


def upkeep(opened: OpenedStore, partition: int) -> Walked:
    """The lifecycle, then vectors of purged memories, which are removed also if nothing is embedded any more."""
    chat = opened.served.chat if opened.served.reviewer != RULE else None
    carry_out = opened.lifecycle.carry_out if chat is None else ReviewedByModel(opened, chat).carry_out
    walked = lifecycle(opened, partition, UPKEEP_JOBS, carry_out)
    if opened.vectors.models():
        EmbeddingJob(opened.vectors, None, opened.served.tell).walk(partition, stop=opened.served.stop.is_set)
    return walked


def lifecycle(
    opened: OpenedStore,
    partition: int,
    jobs: Sequence[str],
    carry_out: Callable[..., LifecycleRun],
    failed: set[str] | None = None,
) -> Walked:
    """The lifecycle jobs for every owner of a partition; owners with a failure are added to `failed`."""

    def do(owner: str, go_on: Callable[..., None]) -> int:
        return carry_out(owner, jobs, on_progress=go_on).appended

    return opened.each_owner(partition, do, failed=failed)


class ReviewedByModel:
    """`LifecycleJobs.carry_out` with a model as reviewer, while it answers and there is time. Without it nothing is reviewed."""

    def __init__(self, opened: OpenedStore, chat: Lent[Chat]) -> None:
        self._served = opened.served
        self._lifecycle = opened.lifecycle
        self._chat = chat
        self._until = monotonic() + REVIEW_SECONDS
        self._reviewing = ReviewJob(
            self._lifecycle, lambda: ModelReviewer(chat()), "model", self._served.tell, self._spent
        )

    def carry_out(self, owner: str, jobs: Sequence[str], *, on_progress: Callable[[int, int], None]) -> LifecycleRun:
        """The jobs; without the review if the model rests, or the time is over."""
        if self._chat.rests or self._spent():
            others = [name for name in jobs if name != REVIEW]
            return self._lifecycle.carry_out(owner, others, on_progress=on_progress)
        try:
            done = self._reviewing.carry_out(owner, jobs, on_progress=on_progress)
        except BadSetting as error:  # the model cannot be made: what came before the review is done
            model_stopped(self._served, self._chat, "reviewing", error.message)
            return LifecycleRun(owner)
        if done.down:
            model_stopped(self._served, self._chat, "reviewing", done.failure or "")
        return done

    def _spent(self) -> bool:
        return monotonic() > self._until


MERGE_SECONDS = 180.0
"""After so long no model is asked about the merges of a partition any more: `cleanup --job merge` asks about the rest."""
DAILY_JOBS = ("merge", "link", "replay", "abstract")
"""Names in `projections.lifecycle.JOBS`."""


class MergedByModel:
    """`LifecycleJobs.carry_out`, of which `merge` also asks a model, while it answers and there is time.

    It is asked only about groups with a statement behind `since`, a position of the log: about each group once.
    """

    def __init__(self, opened: OpenedStore, chat: Lent[Chat], since: int) -> None:
        self._served = opened.served
        self._lifecycle = opened.lifecycle
        self._chat = chat
        self._until = monotonic() + MERGE_SECONDS
        self._merging = AbstractionJob(self._lifecycle, self._lifecycle, chat, merges_since(since))

    def carry_out(self, owner: str, jobs: Sequence[str], *, on_progress: Callable[[int, int], None]) -> LifecycleRun:
        """The jobs; by rules alone if the model rests, or the time is over."""
        if self._chat.rests or monotonic() > self._until:
            return self._lifecycle.carry_out(owner, jobs, on_progress=on_progress)
        try:
            done = self._merging.carry_out(owner, jobs, on_progress=on_progress)
        except BadSetting as error:  # the model cannot be made: what rules do is done
            model_stopped(self._served, self._chat, "merging", error.message)
            return LifecycleRun(owner)
        if done.down:
            model_stopped(self._served, self._chat, "merging", done.failure or "")
        return done.other


def daily(opened: OpenedStore, partition: int) -> Walked:
    """The daily jobs, then levels for those owners whose entries older rules judged, or none; once unused salts and keys too.

    Merges are asked about up to the position of the last run at which the model answered.
    """
    failed = set[str]()
    if (embedders := opened.served.embedder) is not None:
        opened.lifecycle.senses = Meanings(embedders(), opened.vectors)
    chat = opened.served.chat if opened.served.reviewer != RULE else None
    carry_out: Callable[..., LifecycleRun] = opened.lifecycle.carry_out
    asked_to, field = folded_to(opened.wire, opened.tags[partition]), folded_field("daily", partition)
    if chat is not None:
        since = opened.recorded(field)
        carry_out = MergedByModel(opened, chat, since if since <= asked_to else 0).carry_out
    walked = lifecycle(opened, partition, DAILY_JOBS, carry_out, failed)
    if chat is not None and not chat.rests:
        opened.record(field, asked_to)
    levels = Levels(opened.wire, opened.log, opened.tags[partition], partition)
    waiting = levels.waiting(opened.go_on)

    def reread(owner: str, go_on: Callable[..., None]) -> int:
        return opened.lifecycle.carry_out(owner, (LEVELS,), on_progress=go_on, check=go_on).appended

    failed.intersection_update(waiting.owners)
    raised = opened.each_owner(partition, reread, [owner for owner in waiting.owners if owner not in failed], failed)
    levels.read(waiting.seq, failed)
    if partition == 0 and opened.wire.seals.is_on:
        remove_unused(opened.wire, opened.tags, opened.served.stop.is_set)
    return Walked(walked.owners, walked.decided + raised.decided, walked.failed + raised.failed)


EMBED = "embed"
EMBED_SECONDS = 240.0
"""After so long the rest is left to the next job: a sweep must not wait for a whole import's vectors."""


def embed(opened: OpenedStore, partition: int) -> Walked:
    """Vectors for the owners that changed. An embedder that fails rests for a minute."""
    served, until = opened.served, monotonic() + EMBED_SECONDS
    embedder = served.embedder
    if embedder is not None and embedder.rests:
        return Walked(0, 0, 0)
    job = EmbeddingJob(opened.vectors, None if embedder is None else embedder(), served.tell)
    try:
        done = job.walk(partition, stop=lambda: served.stop.is_set() or monotonic() > until)
    except (EmbedderFailed, BadSetting, StoreFull) as error:
        model_stopped(served, embedder, "embedding", error.message)
        return Walked(0, 0, 1)
    if served.stop.is_set():
        raise GivenUp
    return Walked(done["owners"], done["embedded"] + done["dropped"], done["failed"])


EXTRACT = "extract"
EXTRACT_SECONDS = 240.0
"""After so long a partition's turns are left to the next run: a sweep must not wait for a whole import."""


def extract(opened: OpenedStore, partition: int) -> Walked:
    """Extraction for the owners with new events. If the model fails, the rest waits for the next run."""
    served, until = opened.served, monotonic() + EXTRACT_SECONDS
    chat = None if served.extraction == RULES else served.chat
    if served.extraction != RULES and chat is None:
        model_stopped(served, chat, "extraction", "ENGRAMLOG_EXTRACTION is model, and ENGRAMLOG_MODEL is not set")
        return Walked(0, 0, 0)
    if chat is not None and chat.rests:
        return Walked(0, 0, 0)
    if (embedders := served.embedder) is not None:
        opened.lifecycle.alike = Likeness(lambda: embedders().bilingual())
    job = ExtractionJob(opened.views, opened.lifecycle, chat, served.seen)
    incomplete = set[str]()

    def over() -> bool:
        return served.stop.is_set() or monotonic() > until

    def do(owner: str, go_on: Callable[..., None]) -> int:
        if (chat is not None and chat.rests) or over():
            incomplete.add(owner)
            return 0
        try:
            found = job.extract(owner, stop=over, on_progress=go_on)
        except BadSetting as error:  # the model cannot be made, for any owner
            model_stopped(served, chat, "extraction", error.message)
            incomplete.add(owner)
            return 0
        if found.left:
            incomplete.add(owner)
        if found.refused:
            turn_id, reason = next(iter(found.refused.items()))
            facts = {"owner": owner, "turns": len(found.refused), "turn_id": turn_id, "reason": reason}
            served.tell("operations refused", alarm=True, **facts)
        if found.trouble is not None and found.trouble.down:
            model_stopped(served, chat, "extraction", found.trouble.message)
        elif found.trouble is not None:
            served.tell("turns skipped", alarm=True, owner=owner, reason=found.trouble.message)
        return found.done.appended

    tag, field = opened.tags[partition], folded_field(EXTRACT, partition)
    to, since = folded_to(opened.wire, tag), opened.recorded(field)
    since = since if since <= to else 0  # the store came back shorter
    walked = opened.each_owner(
        partition, do, owners_since(opened.wire, live_build(opened.wire, tag), since), incomplete
    )
    if not incomplete:
        opened.record(field, to)
    return walked


EPISODES_SECONDS = 240.0
"""After so long a partition's owners are left to the next run: a sweep must not wait for a whole import."""


def sessions(opened: OpenedStore, partition: int) -> Walked:
    """Episodes for the owners with new turns. If the model fails, the rest waits for the next run."""
    served, until = opened.served, monotonic() + EPISODES_SECONDS
    chat = served.chat if served.summaries == MODEL else None
    if chat is not None and chat.rests:
        return Walked(0, 0, 0)
    job = EpisodeJob(opened.log, opened.views, chat=chat, seen=served.looked_at)

    def do(owner: str, go_on: Callable[..., None]) -> int:
        if (chat is not None and chat.rests) or monotonic() > until:
            return 0
        try:
            done = job.carry_out(owner, on_progress=go_on)
        except BadSetting as error:  # the model cannot be made, for any owner
            model_stopped(served, chat, "summarising", error.message)
            return 0
        if done.refused:
            served.tell("summaries refused", owner=owner, refused=done.refused, by_model=done.by_model)
        if done.down:
            model_stopped(served, chat, "summarising", done.failure or "no answer")
        return done.appended

    return opened.each_owner(partition, do, job.changed(partition, owners_of(opened.wire, opened.tags[partition])))


FUNCTION = "consumers.rq_jobs.run"
"""The one job function, as a payload names it. The name is compared, never looked up."""
DAY_MINUTES = 1_440
GIVEN_UP = 1_000
"""How often workers that stop may hand a job on; that is no failure."""


def _no_model(_served: JobResources) -> None:
    """For a kind that needs no model, or works without it."""


class JobKind(NamedTuple):
    """A kind of job."""

    do: Callable[[OpenedStore, int], Walked]
    """Does it for one partition."""
    every_minutes: float | None
    """How often it is due; None: as often as the store's setting says."""
    model: Callable[[JobResources], Lent[Any] | None] = _no_model
    """The model that it needs and that may be down; None if the settings name none."""
    asks_for: str | None = None
    """The use of a language model under which its requests are counted."""


JOBS: Mapping[str, JobKind] = {
    "upkeep": JobKind(upkeep, None, lambda served: served.chat if served.reviewer != RULE else None, FOR_REVIEW),
    "daily": JobKind(daily, DAY_MINUTES, asks_for=FOR_PATTERNS),
    EXTRACT: JobKind(
        extract, 10 / 60, lambda served: served.chat if served.extraction != RULES else None, FOR_EXTRACTION
    ),
    "sessions": JobKind(sessions, 10, lambda served: served.chat if served.summaries == MODEL else None, FOR_SUMMARIES),
    JUDGE: JobKind(judge_raw, 5),
    EMBED: JobKind(embed, 1, lambda served: served.embedder),
}
"""Every kind of job. `judge` is for raw memories that `consumers.jobs.raw_memories` left behind."""
FORMER_JOBS = frozenset({"links"})
"""Kinds of earlier releases. Their jobs can still be in the queue after an upgrade, and have nothing to do."""
Kinds = Mapping[str, float | None]
"""Kinds that are scheduled, each with `JobKind.every_minutes`."""


def usual(*names: str) -> Kinds:
    """These kinds, each as often as it is due."""
    return {name: JOBS[name].every_minutes for name in names}


KINDS: Kinds = usual("upkeep", "daily")
"""The lifecycle. All other kinds are optional."""


def kinds_of(extraction: str, summaries: str, *, embed_minutes: int | None) -> Kinds:
    """The kinds of jobs that are scheduled, by the settings of the same names."""
    wanted = {EXTRACT: extraction != OFF, "sessions": summaries != OFF, JUDGE: True}
    kinds = {**KINDS, **usual(*(name for name, is_wanted in wanted.items() if is_wanted))}
    return kinds if embed_minutes is None else kinds | {EMBED: embed_minutes}


_SERVING: ContextVar[JobResources] = ContextVar("serving")


@contextmanager
def serving(served: JobResources) -> Iterator[None]:
    """Jobs that run in this thread within the context use these resources."""
    token = _SERVING.set(served)
    try:
        yield
    finally:
        _SERVING.reset(token)


def run(kind: str, store_id: str, partition: int, tick: str) -> dict[str, int] | Retry:
    """The one job function: a kind of job for one partition, scheduled at `tick`.

    Returns counts, or a Retry if the process is to stop. Raises StoreError if the store cannot be used, which RQ tries again,
    and BadSetting for a kind that this release does not know.
    """
    served = _SERVING.get()
    job = JOBS.get(kind)
    if job is None:
        raise BadSetting(
            f"job kind: got {kind!r}; allowed: {', '.join(JOBS)}; is a newer release scheduling?", setting="kind"
        )
    stopped, began, model = list[str](), monotonic(), job.model(served)
    rested = model is not None and model.rests
    current = get_current_job()
    queue = None if current is None else current.connection

    def tell(fact: str, **facts: Any) -> None:
        if fact.endswith(" stopped"):
            stopped.append(str(facts.get("reason")))
        served.tell(fact, **facts)

    try:
        opened = OpenedStore(served._replace(tell=tell, chat=_counted(job, served)), store_id, f"job:{kind}", queue)
        try:
            walked = job.do(opened, partition)
        finally:
            opened.close()
    except GivenUp:
        served.tell("job postponed", kind=kind, partition=partition, tick=tick)
        return Retry(max=GIVEN_UP)
    if queue is not None:
        key, reason = schedule_key(store_id), f"{STOPPED}{kind}:{partition}"
        if stopped:
            queue.hset(key, reason, stopped[0])
        elif not rested and not (model is not None and model.rests):  # a model that was not asked proves nothing
            _record_done(queue, key, done_field(kind, partition), monotonic() - began)
            queue.hdel(key, reason)
    counts = walked._asdict()
    if walked.decided or walked.failed:
        served.tell("job done", kind=kind, partition=partition, tick=tick, **counts)
    return counts


def _record_done(queue: redis.Redis, key: str, field: str, seconds: float) -> None:
    """Record when the job was done, by the clock of the queue's Redis, and how long it took."""
    now, micros = queue.time()
    queue.hset(key, field, f"{int(now) * 1_000 + int(micros) // 1_000} {round(seconds * 1_000)}")


def _counted(job: JobKind, served: JobResources) -> Lent[Chat] | None:
    """The language model as a kind of job asks it: with a count of its questions if there is a ledger."""
    chat, note, asks_for = served.chat, served.note, job.asks_for
    if chat is None or note is None or asks_for is None:
        return chat
    return chat.through(lambda made: CountedChat(made, asks_for, note))


LACKS_ENTRIES = frozenset({LOG_CHANGED, LOG_ROLLED_BACK, PARTITION_GAP, RECEIPT_LOST})
"""Alarms of a log that is not what it was."""


def remove_unused(
    wire: Wire, tags: Sequence[str], stop: Callable[[], bool] = lambda: False, *, after_seconds: int = UNUSED_SECONDS
) -> int:
    """Delete salts that were reserved so many seconds ago and that no entry of any partition has, and keys that were made then and
    that no owner has; how many.

    Nothing is deleted while an alarm says that the log lacks something: once the whole one is brought back, its entries need them.
    `stop`: whether to give up; then nothing is deleted. Raises StoreError.
    """
    if not LACKS_ENTRIES.isdisjoint(one.partition(b"|")[0].decode() for one in wire.call("HKEYS", ALARMS_KEY)):
        return 0
    store, then = wire.seals.keys, redis_micros(wire) // 1_000_000 - after_seconds
    ids = array("q", store.salt_ids(then << ID_SHIFT))
    is_used = bytearray(len(ids))
    names = {name for name, _ in store.every() if second_of(name) < then}
    for tag in tags if ids or names else ():
        names.difference_update(line for _, line in secret_lines(wire, tag))
        for page in pages(wire, LogKeys(tag)):
            if stop():
                return 0
            for salt in (salts_id(one.body) for one in page if one.body[:1] == BODY_MARK):
                if (at := bisect_left(ids, salt)) < len(ids) and ids[at] == salt:
                    is_used[at] = 1
    salts = [one for one, used in zip(ids, is_used, strict=True) if not used]
    return (store.delete_salts(salts) if salts else 0) + (store.delete(names) if names else 0)
