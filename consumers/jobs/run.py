"""What jobs do. One function is enqueued, `run`; it looks up a table, opens its own connections, and only appends events.
The embedding job appends none: it writes vectors, which follow from what is folded.

A payload holds ids, never contents, nor the store's address, which may hold a password: the worker's process knows where
its store is. Every job is resumable: killed anywhere and run again, it goes on, and does nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from rq import Retry, get_current_job
from rq.timeouts import JobTimeoutException

from consumers.jobs.embedding import EmbeddingJob
from consumers.jobs.episodes import MODEL, OFF
from consumers.jobs.leader import STOPPED, done_field, schedule_key
from consumers.jobs.lifecycle import RULE, LifecycleJobs, LifecycleRun, owners_of
from consumers.jobs.linking import folded_to, owners_since
from consumers.jobs.owner_texts import live_build
from consumers.jobs.reviewing import REVIEW
from consumers.jobs.rq.episodes import PartitionEpisodes
from consumers.jobs.rq.extraction import PartitionExtraction
from consumers.jobs.rq.lent import Lent, LentThrough
from consumers.jobs.rq.linking import LINKS, PartitionLinks, folded_field
from consumers.jobs.rq.reviewing import ReviewedByModel
from consumers.jobs.rq.serving import JobResources
from consumers.verify.levels import Levels
from events.alarms import OWNER_TOO_LARGE, Alarms
from events.errors import (
    BadSetting,
    EmbedderFailed,
    EngramlogError,
    NotYetFolded,
    OwnerTooLarge,
    StoreError,
    StoreFull,
    StoreMismatch,
)
from events.redis.log import RedisEventLog
from events.redis.wire import Wire, WirePool, connect
from events.sealing.untold import OF_THE_STORE
from projections.language.marks import MARKER
from projections.lifecycle import LEVELS
from projections.lifecycle.extracting import RULES
from projections.models.chat import Chat
from projections.models.counted import FOR_EXTRACTION, FOR_REVIEW, FOR_SUMMARIES, CountedChat
from projections.redis.create import known_identity
from projections.redis.debt import FoldDebt
from projections.redis.vectors import RedisVectors
from projections.redis.view import RedisViews

FUNCTION = "consumers.rq_jobs.run"
"""The one job function, as a payload names it. The name is compared, never looked up."""
DAY_MINUTES = 1_440
KEPT_BYTES = 64 << 20
"""A job looks at one owner after the other; what it has seen need not be kept."""
UNFOLDED_IN_A_ROW = 3
"""After so many owners whose events nobody folded, the partition is left to a later run."""
NAMED = 3
"""Owners that an alarm names."""
GIVEN_UP = 1_000
"""How often a job may be handed on by workers that stop; that is no failure."""
EMBED_SECONDS = 240.0
"""After so long an embedding job leaves the rest to the next one: a sweep must not wait for a whole import's vectors."""


class Kind(NamedTuple):
    """A kind of scheduled job: what is run for every owner of a partition, and how often."""

    jobs: tuple[str, ...]
    """Names in `projections.lifecycle.JOBS`."""
    every_minutes: float | None
    """None: as often as the store's setting says."""


USES: Mapping[str, str] = {"extract": FOR_EXTRACTION, "upkeep": FOR_REVIEW, "sessions": FOR_SUMMARIES}
"""What each kind of job asks a language model for."""
KINDS: Mapping[str, Kind] = {
    "upkeep": Kind(("sweep", "review"), None),
    "daily": Kind(("merge", "link", "replay"), DAY_MINUTES),
}
EXTRACT = "extract"
EXTRACTION: Mapping[str, Kind] = {EXTRACT: Kind((), 10 / 60)}
"""Turns become typed memories, for owners with new events."""
SESSIONS: Mapping[str, Kind] = {"sessions": Kind((), 10)}
"""Sessions that ended become episodes, and what replies rest on is noted; scheduled unless the settings say otherwise."""
LINKING: Mapping[str, Kind] = {LINKS: Kind((), 5)}
"""What is new is linked; scheduled where something was folded since."""
EMBED = "embed"
EMBEDDING: Mapping[str, Kind] = {EMBED: Kind((), 1)}
"""Scheduled beside them where anything may be embedded; more seldom where that is told."""


def kinds_of(extraction: str, summaries: str, *, embed_minutes: int | None) -> Mapping[str, Kind]:
    """The kinds of jobs that are scheduled, by the settings of the same names."""
    embedding = {kind: told._replace(every_minutes=embed_minutes) for kind, told in EMBEDDING.items()}
    wanted = ((extraction != OFF, EXTRACTION), (summaries != OFF, SESSIONS), (embed_minutes is not None, embedding))
    return {**KINDS, **LINKING, **{name: kind for asked, kinds in wanted if asked for name, kind in kinds.items()}}


_SERVING: ContextVar[JobResources] = ContextVar("serving")


@contextmanager
def serving(served: JobResources) -> Iterator[None]:
    """Within it, jobs that run in this thread are about this store."""
    token = _SERVING.set(served)
    try:
        yield
    finally:
        _SERVING.reset(token)


class GivenUp(Exception):
    """The process is to stop: nothing is lost, the next run goes on."""


class Walked(NamedTuple):
    """What a walk over a partition's owners came to."""

    owners: int
    decided: int
    failed: int


def run(kind: str, store_id: str, partition: int, tick: str) -> dict[str, int] | Retry:
    """The one job function: a kind of job for one partition, scheduled at `tick`.

    Gives counts; or a Retry where the process stops meanwhile. Raises StoreError where the store cannot be used, which RQ
    tries again, and BadSetting for a kind that this release does not know.
    """
    served = _SERVING.get()
    job = JOBS.get(kind)
    if job is None:
        raise BadSetting(
            f"job kind: got {kind!r}; allowed: {', '.join(JOBS)}; is a newer release scheduling?", setting="kind"
        )
    stopped, began, asked = list[str](), monotonic(), _asked(kind, served)
    rested = asked is not None and asked.rests

    def tell(fact: str, **facts: Any) -> None:
        if fact.endswith(" stopped"):
            stopped.append(str(facts.get("reason")))
        served.tell(fact, **facts)

    client = connect(served.url, timeout=served.timeout, master=served.master)
    try:
        opened = _opened(client, served._replace(tell=tell, chat=_counted(kind, served)), store_id, f"job:{kind}")
        try:
            walked = job(opened, partition)
        finally:
            opened.close()
    except GivenUp:
        served.tell("job given up", kind=kind, partition=partition, tick=tick)
        return Retry(max=GIVEN_UP)
    finally:
        client.close()
    if stopped:
        _note_stopped(f"{STOPPED}{kind}:{partition}", store_id, stopped[0])
    elif not rested and not (asked is not None and asked.rests):  # who was not asked has neither failed nor answered
        _note_done(kind, partition, store_id, monotonic() - began)
    counts = walked._asdict()
    if walked.decided or walked.failed:
        served.tell("job done", kind=kind, partition=partition, tick=tick, **counts)
    return counts


def _counted(kind: str, served: JobResources) -> Lent[Chat] | None:
    """The language model as a kind of job asks it: where somebody counts, every question is."""
    chat, note = served.chat, served.note
    if chat is None or note is None:
        return chat
    return LentThrough(chat, lambda made: CountedChat(made, USES[kind], note) if kind in USES else made)


def _asked(kind: str, served: JobResources) -> Lent[Any] | None:
    """Whom a kind of job asks who may be down; None where the settings name nobody."""
    by_model = {
        "extract": served.extraction != RULES,
        "sessions": served.summaries == MODEL,
        "upkeep": served.reviewer != RULE,
    }
    return served.embedder if kind == EMBED else served.chat if by_model.get(kind) else None


def _note_stopped(field: str, store_id: str, reason: str) -> None:
    """Say beside the queue why the job stopped."""
    job = get_current_job()
    if job is not None:
        job.connection.hset(schedule_key(store_id), field, reason)


def _note_done(kind: str, partition: int, store_id: str, seconds: float) -> None:
    """Say beside the queue that the job ran through just now, by that Redis's clock, and how long it took."""
    job = get_current_job()
    if job is not None:
        now, micros = job.connection.time()
        told = f"{int(now) * 1_000 + int(micros) // 1_000} {round(seconds * 1_000)}"
        job.connection.hset(schedule_key(store_id), done_field(kind, partition), told)
        job.connection.hdel(schedule_key(store_id), f"{STOPPED}{kind}:{partition}")


class Opened(NamedTuple):
    """A store as a job has it."""

    store_id: str
    wire: Wire
    tags: Sequence[str]
    log: RedisEventLog
    views: RedisViews
    lifecycle: LifecycleJobs
    vectors: RedisVectors
    served: JobResources
    close: Callable[[], None]


def _opened(client: Any, served: JobResources, store_id: str, principal: str) -> Opened:
    """The store at the process's URL, if it is the one that the job is about."""
    wire = Wire(client)
    identity = known_identity(wire)
    found = identity.store_id if identity else None
    if identity is None or found != store_id:
        wire.close()
        raise StoreMismatch(f"the job is about store {store_id}, but this worker's store is {found}", store=store_id)
    log = served.log(client, identity.tags, read_debt=FoldDebt(identity.tags), marker=MARKER, principal=principal)
    views = RedisViews(client, identity.tags, most_bytes=KEPT_BYTES, most_of_one=served.view_bytes)
    vectors = RedisVectors(WirePool(client), identity.tags)

    def close() -> None:
        for one in (wire, log, views, vectors):
            one.close()

    return Opened(store_id, wire, identity.tags, log, views, LifecycleJobs(log, views), vectors, served, close)


def _walk(opened: Opened, partition: int, jobs: Sequence[str], left: set[str] | None = None) -> Walked:
    """The lifecycle jobs for every owner of a partition; who had any trouble is put into `left`."""
    served, lifecycle = opened.served, opened.lifecycle
    carry_out: Callable[..., LifecycleRun] = lifecycle.carry_out
    if REVIEW in jobs and served.reviewer != RULE and served.chat is not None:
        carry_out = ReviewedByModel(lifecycle, served.chat, served.tell).carry_out

    def do(owner: str, go_on: Callable[..., None]) -> int:
        return carry_out(owner, jobs, on_progress=go_on).appended

    return _each(opened, partition, do, left=left)


def _each(
    opened: Opened,
    partition: int,
    do: Callable[[str, Callable[..., None]], int],
    among: Sequence[str] | None = None,
    left: set[str] | None = None,
) -> Walked:
    """Something for every owner of a partition, or those `among` them; `do` gives how much it decided.

    Without `among` each is looked at, so that the alarm of those who are too large ends where there is none. An owner's
    trouble is told, and stops no other; who had any is put into `left`.
    """

    go_on = partial(_go_on, opened)
    owners = owners_of(opened.wire, opened.tags[partition]) if among is None else among
    decided, failed, unfolded, large = 0, 0, 0, list[str]()
    for owner in owners:
        try:
            go_on()
            decided += do(owner, go_on)
            unfolded = 0
        except (GivenUp, StoreError, JobTimeoutException):
            raise
        except Exception as error:  # whatever it is, the other owners must not wait for it
            failed += 1
            if isinstance(error, OwnerTooLarge):
                large.append(owner)
            if left is not None:
                left.add(owner)
            unfolded = unfolded + 1 if isinstance(error, NotYetFolded) else 0
            opened.served.tell("owner left out", alarm=True, owner=owner, reason=_reason(error))
            if unfolded == UNFOLDED_IN_A_ROW:
                raise
    if large or among is None:
        _tell_large(opened.served.alarms, f"partition {partition}", large)
    return Walked(len(owners), decided, failed)


def _tell_large(alarms: Alarms | None, subject: str, owners: Sequence[str]) -> None:
    """Raise the alarm of those who are too large, or clear it where there is none any more."""
    if alarms is not None and owners:
        more = "" if len(owners) <= NAMED else " ..."
        alarms.raised(OWNER_TOO_LARGE, subject, f"left out: {', '.join(owners[:NAMED])}{more}")
    elif alarms is not None:
        alarms.cleared(OWNER_TOO_LARGE, subject)


def _go_on(opened: Opened, _done: int = 0, _total: int = 0) -> None:
    """Before each owner and between two requests: give up here once the process is to stop."""
    if opened.served.stop.is_set():
        raise GivenUp


def _extract(opened: Opened, partition: int) -> Walked:
    """Turns become typed memories. A model that is down is told of, and asked again in a minute."""
    extracting = PartitionExtraction(opened.views, opened.lifecycle, opened.served)
    if not extracting.may_begin():
        return Walked(0, 0, 0)
    job, key, field = get_current_job(), schedule_key(opened.store_id), folded_field(EXTRACT, partition)
    to, since = (
        folded_to(opened.wire, opened.tags[partition]),
        0 if job is None else int(job.connection.hget(key, field) or 0),
    )
    since = since if since <= to else 0  # the store came back shorter
    owners = owners_since(opened.wire, live_build(opened.wire, opened.tags[partition]), since)
    walked = _each(opened, partition, extracting.extract, owners)
    if job is not None and not walked.failed and extracting.complete:
        job.connection.hset(key, field, to)
    return walked


def _sessions(opened: Opened, partition: int) -> Walked:
    """What sessions left behind, for the owners to whom something was said. A model that is down is left alone for a minute."""
    episodes = PartitionEpisodes(opened.log, opened.views, opened.served)
    if episodes.rests:
        return Walked(0, 0, 0)
    changed = episodes.job.changed(partition, owners_of(opened.wire, opened.tags[partition]))
    return _each(opened, partition, episodes.leave, changed)


def _links(opened: Opened, partition: int) -> Walked:
    """Links for what is new since the last run, by whatever door it came."""
    job, key, field = get_current_job(), schedule_key(opened.store_id), folded_field(LINKS, partition)
    since = None if job is None else job.connection.hget(key, field)
    new = PartitionLinks(opened.wire, opened.tags, opened.lifecycle, partition, since)
    walked = _each(opened, partition, new.link, new.owners())
    if job is not None:
        job.connection.hset(key, field, new.to)
    return walked


def _upkeep(opened: Opened, partition: int, jobs: Sequence[str]) -> Walked:
    """The lifecycle, then what is left of it in vectors: what was purged leaves them also where nothing embeds any more."""
    walked = _walk(opened, partition, jobs)
    if opened.vectors.models():
        without = EmbeddingJob(opened.vectors, None, opened.served.tell)
        without.walk(partition, stop=opened.served.stop.is_set)
    return walked


def _daily(opened: Opened, partition: int) -> Walked:
    """The daily jobs, then levels by newer rules for those owners whose entries older ones judged, or none."""
    left = set[str]()
    walked = _walk(opened, partition, KINDS["daily"].jobs, left)
    levels = Levels(opened.wire, opened.log, opened.tags[partition], partition)
    waiting = levels.waiting(partial(_go_on, opened))

    def reread(owner: str, go_on: Callable[..., None]) -> int:
        return opened.lifecycle.carry_out(owner, (LEVELS,), on_progress=go_on, check=go_on).appended

    left.intersection_update(waiting.owners)
    raised = _each(opened, partition, reread, [one for one in waiting.owners if one not in left], left)
    levels.read(waiting.seq, left)
    return Walked(walked.owners, walked.decided + raised.decided, walked.failed + raised.failed)


def _embed(opened: Opened, partition: int) -> Walked:
    """Vectors for the owners of a partition that changed. An embedder that is down is told of, and asked again in a minute."""
    served, began = opened.served, monotonic()
    lent = served.embedder
    if lent is not None and lent.rests:
        return Walked(0, 0, 0)
    embedding = EmbeddingJob(opened.vectors, None if lent is None else lent(), served.tell)
    try:
        done = embedding.walk(partition, stop=lambda: served.stop.is_set() or monotonic() - began > EMBED_SECONDS)
    except (EmbedderFailed, BadSetting, StoreFull) as error:
        if lent is not None:
            lent.failed()
        served.tell("embedding stopped", alarm=True, partition=partition, reason=error.message)
        return Walked(0, 0, 1)
    if served.stop.is_set():
        raise GivenUp
    return Walked(done["owners"], done["embedded"] + done["dropped"], done["failed"])


def _reason(error: Exception) -> str:
    """Why, for the log: our own words about the store, else only the error's kind, which holds nothing that anybody said."""
    told = isinstance(error, EngramlogError) and error.status in OF_THE_STORE
    return f"{type(error).__name__}: {error}" if told else type(error).__name__


JOBS: Mapping[str, Callable[[Opened, int], Walked]] = {
    "upkeep": partial(_upkeep, jobs=KINDS["upkeep"].jobs),
    "daily": _daily,
    "extract": _extract,
    "sessions": _sessions,
    LINKS: _links,
    EMBED: _embed,
}
"""The table that `run` looks up: what is done for one partition, by kind."""
