"""The HTTP face: one FastAPI application over the service layer that the command line stands on too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from engramlog_server.api.admission import UNBOUNDED, Admission, AdmissionLimits, Buckets, Rates
from engramlog_server.api.application import Application
from engramlog_server.api.choices import program_version
from engramlog_server.api.http import problem
from engramlog_server.api.http.callers import GONE, Admits, Callers, Provider, Sessions, in_force_of, is_open, nobody
from engramlog_server.api.http.document import describe, serve_console, serve_reference
from engramlog_server.api.http.feed import Feeds, Limits, Waits
from engramlog_server.api.http.guard import Guard, Refused, untold
from engramlog_server.api.http.metrics import Metrics, MetricSources, readings
from engramlog_server.api.http.routes import commands, console, events, operations, records
from engramlog_server.api.http.routes.commands import AnswersFor, answers_nothing
from engramlog_server.api.http.routing import Parts

DESCRIPTION = """An event-sourced memory store for AI agents: one log, many readings, and a reason for every weight.

Errors are `application/problem+json` with `type`, `title`, `status`, `detail` and, where a value was refused, `field`, `got`
and `allowed`. Owners and memory ids in paths are percent-encoded, a `/` inside them as `%2F`."""
TAGS = [
    {"name": "events", "description": "Append to the log."},
    {"name": "owners", "description": "Questions about all of an owner's memories."},
    {"name": "memories", "description": "One memory, and what people do to it."},
    {"name": "feed", "description": "Changes as they happen."},
    {"name": "dead letters", "description": "Owners whose fold has stopped."},
    {"name": "store", "description": "The whole store."},
    {"name": "access", "description": "Keys, grants, and records of reads."},
    {"name": "console", "description": "How a browser is let in."},
    {"name": "supervision", "description": "Health, readiness, metrics."},
]


def create_app(
    application: Application,
    *,
    admits: Admits = nobody,
    metrics: Metrics | None = None,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    admission: AdmissionLimits = AdmissionLimits(),  # noqa: B008 - immutable
    on_quiet: Callable[[], None] = lambda: None,
    answers_for: AnswersFor = answers_nothing,
    sessions: Sessions | None = None,
    on_refused: Refused = untold,
    rates: Rates = UNBOUNDED,
    provider: Provider | None = None,
) -> FastAPI:
    """The ASGI application of one opened store. It opens and starts nothing itself: that is its caller's.

    `admits` tells the token that callers have to show; without it nobody is answered but on paths that tell nothing of
    anybody. Requests whose Host or Origin is not this service's own are refused; there is no CORS. `answers_for` tells for
    which commands at the store this service answers. `sessions` are those of the console, of this very token. `on_refused` is
    told why a request by a listener that others reach was refused, and from where it came. `rates`: what a key may take.
    `provider`: the company's own identity provider, whose tokens are taken too.
    """
    metrics = metrics or metrics_of(application)
    sessions = sessions or Sessions(in_force_of(admits))
    feeds = Feeds(
        application.views,
        application.log.partitions,
        application.log.head,
        limits,
        on_closed=lambda reason: metrics.feed_closed.labels(reason).inc(),
    )
    waits = Waits(application.log)
    metrics.feed_clients.set_function(lambda: feeds.clients)
    admitted = Admission(admission, on_refused=lambda work: metrics.refused.labels(work).inc(), on_quiet=on_quiet)
    metrics.watch_lanes(admitted.lanes.values())

    def refused(reason: str, address: str) -> None:
        metrics.refused_requests.labels(reason).inc()
        on_refused(reason, address)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        admitted.close()
        feeds.close()
        waits.close()

    app = FastAPI(
        title="Engramlog",
        version=program_version(),
        description=DESCRIPTION,
        openapi_tags=TAGS,
        openapi_url=None,  # `describe` serves it
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},  # its paths name owners
        lifespan=lifespan,
    )
    app.state.parts = Parts(application, metrics, feeds, waits)
    app.state.admission = admitted
    app.state.answers_for = answers_for
    callers = Callers(
        admits,
        sessions,
        application.access_follower.admitting,
        application.log.now,
        lambda caller: application.reads.record_over(caller, GONE),
        provider=provider,
    )
    app.state.admits, app.state.sessions, app.state.callers = admits, sessions, callers
    metrics.console_sessions.set_function(lambda: sessions.open)
    problem.install(app)
    of_store = (events.feed_router, console.store_router, commands.router, console.router)
    for router in (events.router, operations.router, records.router, *of_store):
        app.router.routes.extend(router.routes)  # include_router would make each a second time
    describe(app)
    serve_reference(app)
    serve_console(app)
    buckets = Buckets(rates, on_refused=lambda what: metrics.limited.labels(what).inc())
    app.add_middleware(Guard, callers=callers, is_open=is_open, refused=refused, buckets=buckets, metrics=metrics)
    return app


def metrics_of(application: Application) -> Metrics:
    """The metrics of an application, which from now on tells them what it does."""
    store = readings(application.operator.status, application.supervision.kept)
    metrics = Metrics(MetricSources(store, application.cache_counts))
    from engramlog_server.events.redis.log import RedisEventLog

    if isinstance(application.log, RedisEventLog):
        application.log.on_append = metrics.append_seconds.observe
    application.contexts.on_injected = metrics.closeness.observe
    return metrics
