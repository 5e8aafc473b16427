"""The one job function and the kinds of jobs that it runs, one module each in `consumers.jobs.kinds`.

A payload holds ids, never contents, nor the store's address, which may hold a password: the worker's process knows the address.
Every job only appends events (or vectors), and can be killed anywhere: run again, it goes on and does nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, NamedTuple

import redis
from rq import Retry, get_current_job

from engramlog_server.consumers.jobs.episodes import MODEL, OFF
from engramlog_server.consumers.jobs.kinds import daily, embed, extract, judge, links, sessions, upkeep
from engramlog_server.consumers.jobs.leader import STOPPED, done_field, schedule_key
from engramlog_server.consumers.jobs.lifecycle import RULE
from engramlog_server.consumers.jobs.opened import GivenUp, JobResources, Lent, LentThrough, OpenedStore, Walked
from engramlog_server.events.errors import BadSetting
from engramlog_server.projections.lifecycle.extracting import RULES
from engramlog_server.projections.models.chat import Chat
from engramlog_server.projections.models.counted import FOR_EXTRACTION, FOR_REVIEW, FOR_SUMMARIES, CountedChat

FUNCTION = "consumers.rq_jobs.run"
"""The one job function, as a payload names it. The name is compared, never looked up."""
DAY_MINUTES = 1_440
GIVEN_UP = 1_000
"""How often workers that stop may hand a job on; that is no failure."""

JOBS: Mapping[str, Callable[[OpenedStore, int], Walked]] = {
    "upkeep": upkeep.run,
    "daily": daily.run,
    extract.EXTRACT: extract.run,
    "sessions": sessions.run,
    links.LINKS: links.run,
    judge.JUDGE: judge.run,
    embed.EMBED: embed.run,
}
"""What is done for one partition, by kind."""
USES: Mapping[str, str] = {"extract": FOR_EXTRACTION, "upkeep": FOR_REVIEW, "sessions": FOR_SUMMARIES}
"""What each kind of job asks a language model for."""


class Kind(NamedTuple):
    """How often a kind of job is due."""

    every_minutes: float | None
    """None: as often as the store's setting says."""


KINDS: Mapping[str, Kind] = {"upkeep": Kind(None), "daily": Kind(DAY_MINUTES)}
"""The lifecycle. The kinds below are optional."""
EXTRACTION: Mapping[str, Kind] = {"extract": Kind(10 / 60)}
SESSIONS: Mapping[str, Kind] = {"sessions": Kind(10)}
LINKING: Mapping[str, Kind] = {"links": Kind(5)}
JUDGING: Mapping[str, Kind] = {"judge": Kind(5)}
"""For raw memories that `consumers.jobs.raw_memories` left behind."""
EMBEDDING: Mapping[str, Kind] = {"embed": Kind(1)}


def kinds_of(extraction: str, summaries: str, *, embed_minutes: int | None) -> Mapping[str, Kind]:
    """The kinds of jobs that are scheduled, by the settings of the same names."""
    kinds = {**KINDS, **LINKING, **JUDGING}
    if extraction != OFF:
        kinds |= EXTRACTION
    if summaries != OFF:
        kinds |= SESSIONS
    if embed_minutes is not None:
        kinds["embed"] = Kind(embed_minutes)
    return kinds


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
    stopped, began, model = list[str](), monotonic(), _model(kind, served)
    rested = model is not None and model.rests
    current = get_current_job()
    queue = None if current is None else current.connection

    def tell(fact: str, **facts: Any) -> None:
        if fact.endswith(" stopped"):
            stopped.append(str(facts.get("reason")))
        served.tell(fact, **facts)

    try:
        opened = OpenedStore(served._replace(tell=tell, chat=_counted(kind, served)), store_id, f"job:{kind}", queue)
        try:
            walked = job(opened, partition)
        finally:
            opened.close()
    except GivenUp:
        served.tell("job given up", kind=kind, partition=partition, tick=tick)
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


def _counted(kind: str, served: JobResources) -> Lent[Chat] | None:
    """The language model as a kind of job asks it: with a count of its questions if there is a ledger."""
    chat, note = served.chat, served.note
    if chat is None or note is None:
        return chat
    return LentThrough(chat, lambda made: CountedChat(made, USES[kind], note) if kind in USES else made)


def _model(kind: str, served: JobResources) -> Lent[Any] | None:
    """The model that a kind of job needs and that may be down; None if the settings name none."""
    by_model = {
        "extract": served.extraction != RULES,
        "sessions": served.summaries == MODEL,
        "upkeep": served.reviewer != RULE,
    }
    return served.embedder if kind == embed.EMBED else served.chat if by_model.get(kind) else None
