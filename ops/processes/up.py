"""`engramlog up`: the embedded Redis, fold workers, job workers and the API, started in order and stopped in order.

Processes are started by exec. Whoever loses its parent stops by itself, so a killed `up` leaves nothing behind. The banner has
lines of at most 80 columns where paths allow.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from shlex import quote
from threading import Event as Flag
from time import monotonic
from typing import Any, NamedTuple

from fastapi import FastAPI

from engramlog_server.api.admission import KEY_RATES
from engramlog_server.api.application import Application
from engramlog_server.api.choices import CURL, program_version
from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.callers import Sessions, in_force_of
from engramlog_server.api.http.serve import OPERATE, Listener, Listening, Server, claim, serve, serve_on
from engramlog_server.events.alarms import Alarms, ConditionAlarm
from engramlog_server.events.errors import EmbeddedRedisError, EngramlogError, StoreError
from engramlog_server.ops.catch_up import FoldCatchUp
from engramlog_server.ops.clock import Every, Tell, lasting_seconds
from engramlog_server.ops.embedded.disk import NEXT_SECONDS as DISK_SECONDS
from engramlog_server.ops.embedded.disk import DiskGuard, look
from engramlog_server.ops.embedded.folder import Role, private_folder
from engramlog_server.ops.erasure.watch import ErasedWatch
from engramlog_server.ops.identity_provider import ALARM as IDENTITY
from engramlog_server.ops.identity_provider import ProviderKeys, look_for_keys, provider_of
from engramlog_server.ops.kept.heads import HeadKeeper
from engramlog_server.ops.kept.rejections import LOOK_SECONDS as KEPT_SECONDS
from engramlog_server.ops.keys.master import watch_master_key
from engramlog_server.ops.listeners import LOOK_SECONDS as CERTIFICATE_SECONDS
from engramlog_server.ops.listeners import (
    CertificateWatch,
    FolderSocket,
    Listeners,
    RefusedRequests,
    Stay,
    how_it_listens,
    listeners_of,
    require_key,
)
from engramlog_server.ops.metrics import ports_of, refuse_taken_ports
from engramlog_server.ops.models import chosen_at_start, load_in_background, meanings_of, model_of
from engramlog_server.ops.processes.life import (
    END_SECONDS,
    FEW_FILES,
    EndBounds,
    end_by_signal,
    give_back,
    nothing,
    raise_file_limit,
    started,
)
from engramlog_server.ops.processes.workers import JobSchedule, Workers
from engramlog_server.ops.running_service import answers_for
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, check_queue, open_the_store
from engramlog_server.ops.telemetry import Telemetry, TraceParent, telemetry_of
from engramlog_server.ops.token import GivenToken, TokenFile, admits_of
from engramlog_server.ops.wiring import JoinedApplication, ask_kept_values, kept_heads
from engramlog_server.projections.redis.vectors import Meanings
from engramlog_server.projections.shapes import ListeningTold

LOOK_SECONDS = 0.25
GREET_SECONDS = 5.0
"""After so long the banner is shown although workers are still missing."""
MARKS = EndBounds()
LEAVING_SECONDS = END_SECONDS + 3.0
"""For so long a service that a client started may keep the folder's socket: until it looks, and ends."""


class ConsoleLink(NamedTuple):
    """What opens the console, once."""

    url: str
    ends_in: int
    """Seconds."""
    state: Callable[[], str]
    """What became of its code: `waits`, `used`, `over`, `unknown`."""


class Served(NamedTuple):
    """What serves, and where."""

    url: str
    version: str
    data: Path | None
    """The data folder, where it is not the default one: other terminals must be told."""
    owner: str | None
    """An owner that has memories, to try things on; None in an empty store."""
    console: ConsoleLink | None = None
    listening: ListeningTold | None = None
    """How it is asked, where it is open to others."""


Greet = Callable[[Served], None]


class End:
    """When `up` was told to end, and what each part of its end may still take."""

    def __init__(self) -> None:
        self.told = Flag()
        self._at: float | None = None

    def begin(self, _number: int = 0) -> None:
        """It is told, now."""
        self._at = monotonic()
        self.told.set()

    def left(self, mark: float) -> float:
        """Seconds until so many seconds after it was told; a moment at least. What ends by itself is told at the first question."""
        if self._at is None:
            self._at = monotonic()
        return max(self._at + mark - monotonic(), 0.1)


class Front(NamedTuple):
    """Where the API is to be asked."""

    port: socket.socket | None
    """None: on no port, for programs of this user alone."""
    folder: FolderSocket | None
    """None where another process serves the folder already."""
    stay: Stay | None = None
    """How long, where a client started it."""
    listeners: Listeners = Listeners()
    operating: socket.socket | None = None
    """A port for operating, where the API's is open to others."""


def up(
    settings: Settings,
    tell: Tell,
    on_wait: Callable[[str], None],
    greet: Greet | None = None,
    *,
    pretty: bool | None = None,
) -> None:
    """Run until SIGINT or SIGTERM. Raises EmbeddedRedisError with its last log lines where the private Redis dies.

    A port that is taken is noticed first, before anything is started: BadSetting, with who has it. `greet` is called once, when
    questions are answered and workers hold every partition. Lines of other processes are JSON where nobody looks on, or, without
    `pretty` (as without `greet` unless told), anyway.
    """
    listeners = listeners_of(settings, settings.host)
    with closing(claim(settings.host, settings.port, listener=listeners.main)) as port, ExitStack() as last:
        operating: socket.socket | None = None
        if listeners.operating is not None and settings.operate is not None:
            claimed = claim(*settings.operate, OPERATE, listener=listeners.operating)
            operating = last.enter_context(closing(claimed))

        def open_front(told: Flag) -> Front:
            """Once the store is open; a service that a client started leaves. It stays claimed until the store is closed."""
            found = _folder_socket(settings, tell, told)
            return Front(port, found and last.enter_context(closing(found)), None, listeners, operating)

        _up(settings, "up", open_front, tell, on_wait, greet, pretty=greet is not None if pretty is None else pretty)


def up_for_clients(settings: Settings, tell: Tell, idle_seconds: float) -> None:
    """The same for programs of this user, as `Memory()` starts it: in the data folder alone, on no port.

    It ends once nobody has asked for so many seconds, and as soon as an `up` wants the store; where another process serves the
    folder already, at once. It shares the store as an MCP server does.
    """
    folder, _ = private_folder(settings.data)
    claimed = FolderSocket.claim(folder)
    if claimed is None:
        tell("folder already served", folder=str(folder))
        return
    with closing(claimed):
        front = Front(None, claimed, Stay(folder, claimed, idle_seconds))
        _up(
            settings,
            "shared",
            lambda _told: front,
            tell,
            lambda what: tell("folder awaited", what=what),
            None,
            pretty=False,
        )


def _folder_socket(settings: Settings, tell: Tell, told: Flag) -> FolderSocket | None:
    """The socket by which clients find this service; without it only those do that know the port."""
    try:
        claimed = FolderSocket.claim_when_free(private_folder(settings.data)[0], told, LEAVING_SECONDS)
        reason = "another process has it"
    except EmbeddedRedisError as error:
        claimed, reason = None, error.message
    if claimed is None:
        tell("socket not created", reason=reason, advice="clients must name the address")
    return claimed


def _up(
    settings: Settings,
    role: Role,
    open_front: Callable[[Flag], Front],
    tell: Tell,
    on_wait: Callable[[str], None],
    greet: Greet | None,
    *,
    pretty: bool,
) -> None:
    check_queue(settings.queue_url, settings.redis_timeout)
    if settings.metrics is not None:
        refuse_taken_ports(settings.metrics.host, ports_of(settings.metrics.port, settings.workers))
    files = raise_file_limit()
    admits, mended = admits_of(settings)
    end, started = End(), list[Workers]()

    def cut_off() -> None:
        for kind in started:
            kind.kill()
        tell("service interrupted", alarm=True)

    end_by_signal(end.begin, cut_off=cut_off, exit_code=1)
    with open_the_store(settings, role, on_wait=on_wait, tell=tell) as store:
        told = {"pid": store.embedded.pid, "server": str(store.embedded.release)} if store.embedded else {}
        tell(
            "redis started", url=store.url, store=store.identity.store_id, partitions=store.identity.partitions, **told
        )
        if files < FEW_FILES:
            tell("file limit reduced", files=files, advice="raise the hard limit (ulimit -Hn)", alarm=True)
        for what in filter(None, (mended, store.mended)):
            tell("data folder closed", what=what, alarm=True)
        if store.embedded and store.embedded.recovery:
            tell("log recovered", what=store.embedded.recovery, alarm=True)
        environment = _environment(store, settings)
        lines = [] if pretty else ["--json"]
        workers = Workers("worker", _worker_commands(settings, lines), tell, environment)
        job_worker = _command("engramlog_server.ops.job_worker", settings) + lines
        jobs = Workers("job worker", [job_worker] * settings.job_workers, tell, environment)
        started += [workers, jobs]
        front = open_front(end.told)
        try:
            _serve(store, settings, admits, front, workers, jobs, end, tell, greet)
        finally:
            jobs.stop(end.left(MARKS.jobs))
            workers.stop(end.left(MARKS.workers))
            tell("workers stopped")
    tell("service stopped")


def _command(module: str, settings: Settings) -> list[str]:
    """How a process of ours is started. Its store stands in its environment: everybody can read arguments."""
    return [
        *(sys.executable, "-P", "-m", module, "--log-level", settings.log_level),
        *("--timeout", str(settings.redis_timeout), "--parent", str(os.getpid())),
    ]


def _worker_commands(settings: Settings, lines: list[str]) -> list[list[str]]:
    """How each fold worker is started, with a metrics port of its own where they have any."""
    command = _command("engramlog_server.ops.worker", settings) + lines
    if settings.metrics is None:
        return [command] * settings.workers
    place = ["--metrics-host", settings.metrics.host, "--metrics-port"]
    return [[*command, *place, str(port)] for port in ports_of(settings.metrics.port, settings.workers)]


def _environment(store: OpenStore, settings: Settings) -> dict[str, str]:
    """What a process of ours is told of addresses, which may hold passwords."""
    told = {**store.told, "ENGRAMLOG_QUEUE_URL": settings.queue_url or ""}
    return {**os.environ, **told}


def _serve(
    store: OpenStore,
    settings: Settings,
    admits: TokenFile | GivenToken,
    front: Front,
    workers: Workers,
    jobs: Workers,
    end: End,
    tell: Tell,
    greet: Greet | None,
) -> None:
    of_api = partial(tell, component="api")
    catch_up, model = FoldCatchUp(store, of_api), model_of(settings)
    meanings = _chosen(store, settings, of_api)
    _ask_what_is_kept(store, catch_up, of_api)
    application = JoinedApplication(
        store,
        catch_up,
        of_api,
        queue_url=settings.queue_url,
        meanings=meanings,
        model=model,
        kept_heads=kept_heads(store, settings),
        extraction=settings.extraction,
        embeds_writes=True,
    ).join()
    require_key(front.listeners, application.access_follower.book)
    application.operator.listening = partial(how_it_listens, front.listeners)
    application.accesses.start()
    sessions = Sessions(in_force_of(admits), page=_page(front), clock=lasting_seconds)
    refused, provider = RefusedRequests(of_api), provider_of(settings, of_api)
    app = _app(application, settings, admits, sessions, refused.count, provider)
    telemetry, server = _exported(app, application, store, of_api), _listening(app, settings, front, of_api)
    keeper = HeadKeeper(store, settings)
    keeper.start()
    schedule = JobSchedule(
        store.url,
        store.identity,
        settings,
        partial(tell, component="lifecycle"),
        store.alarms,
        embedders=None if meanings is None else meanings.embedders,
        seals=store.client.seals,
    ).start()
    keys = watch_master_key(store.client.seals, store.alarms, of_api)
    token, identity = (ConditionAlarm(store.alarms, name) for name in ("token_unusable", IDENTITY))
    guard, standstill = _guard(store), Standstill(application.operator.status, store.alarms)
    checks = (
        Every(KEPT_SECONDS, store.values.look),
        Every(DISK_SECONDS, guard.check if guard is not None else nothing),
        Every(STILL_LOOK_SECONDS, lambda: standstill.look(monotonic())),
        Every(1.0, lambda: token.report(admits.trouble())),
        Every(1.0, ConsoleRefusals(sessions, store.alarms, of_api).check),
        Every(CERTIFICATE_SECONDS, CertificateWatch(front.listeners.certificate, store.alarms, of_api).check),
        Every(1.0, partial(look_for_keys, provider, identity)),
        Every(1.0, refused.report),
        *_watch_erased(store, settings, workers, jobs),
    )
    _report_ready(server, settings, front, tell)
    ready_at = monotonic()
    try:
        while not end.told.wait(LOOK_SECONDS):
            if greet is not None and (_all_there(application, settings) or monotonic() > ready_at + GREET_SECONDS):
                greet(_served(application, settings, server, sessions))
                greet = None
            _mend_socket(store)
            for check in checks:
                check.tend()
            # If the disk is full their queue takes no writes either, and they would die and start for ever.
            jobs.pause(paused=schedule.rests or (guard is not None and guard.locked))
            workers.tend()
            jobs.tend()
            if _leaves(front, server, store, tell):
                end.begin()
                continue
            died = store.embedded.died() if store.embedded else None
            if died:
                raise EmbeddedRedisError(f"the private Redis died; run `engramlog up` again. Its last lines:\n{died}")
    finally:
        keys.stop()
        tell("stop requested")
        server.stop(end.left(MARKS.api))
        tell("api stopped")
        jobs.stop(end.left(MARKS.jobs))  # before the drain, which folds what they appended
        schedule.stop(end.left(MARKS.jobs))
        tell("job workers stopped")
        _drain(application, end, tell, telemetry)
        keeper.stop(end.left(MARKS.heads))
        model.close()
        catch_up.end()


def _watch_erased(store: OpenStore, settings: Settings, *kinds: Workers) -> list[Every]:
    """Of a sealed store: once something was erased, other processes take the place of those that had the words in memory."""

    def replace() -> None:
        for kind in kinds:
            kind.replace()

    return [ErasedWatch(store, settings, replace).every()] if store.client.seals.is_on else []


def _report_ready(server: Server, settings: Settings, front: Front, tell: Tell) -> None:
    started()
    url = server.url if front.port is None else f"{server.listener.scheme}://{settings.host}:{server.port}"
    told: dict[str, object] = {}
    if front.listeners.main.public:
        told = {"listening": how_it_listens(front.listeners), "operating": _operating(front)}
    tell("service started", url=url, docs=None if front.port is None else f"{url}/docs", **told)


def _app(
    application: Application,
    settings: Settings,
    admits: TokenFile | GivenToken,
    sessions: Sessions,
    refused: Callable[[str, str], None],
    provider: ProviderKeys | None,
) -> FastAPI:
    return create_app(
        application,
        admits=admits,
        on_quiet=give_back,
        answers_for=answers_for(settings),
        sessions=sessions,
        on_refused=refused,
        rates=KEY_RATES,
        provider=provider,
    )


def _exported(app: FastAPI, application: Application, store: OpenStore, tell: Tell) -> Telemetry | None:
    telemetry = telemetry_of("api", tell)
    if telemetry is not None:
        telemetry.of_store(store.identity.store_id)
        telemetry.watch(application)
        telemetry.mirror(app.state.parts.metrics.registry)
        app.add_middleware(TraceParent)
    return telemetry


def _chosen(store: OpenStore, settings: Settings, tell: Tell) -> Meanings | None:
    """What compares meanings, if anything; what was chosen is told, and what it lacks now and not at the first question."""
    meanings = meanings_of(settings, store)
    if meanings is not None and meanings.embedders.plan.embeds:
        tell("embedder chosen", **chosen_at_start(meanings.embedders))
        load_in_background(meanings, tell)
    if settings.extraction != "off":
        tell("extraction chosen", by=settings.extraction)
    return meanings


def _listening(app: FastAPI, settings: Settings, front: Front, tell: Tell) -> Server:
    if front.port is not None:
        beside = [] if front.folder is None else [Listening(front.folder.listener, front.listeners.folder)]
        if front.operating is not None and front.listeners.operating is not None:
            beside.append(Listening(front.operating, front.listeners.operating))
        return serve(
            app,
            settings.host,
            settings.port,
            claimed=front.port,
            beside=beside,
            listener=front.listeners.main,
            tell=tell,
        )
    assert front.folder is not None, "without a port it is the folder's"
    return serve_on(app, front.folder.listener, tell=tell)


def _leaves(front: Front, server: Server, store: OpenStore, tell: Tell) -> bool:
    """Whether this is a service that a client started, and ends now; an `up` whose socket was removed lets another have it."""
    if front.stay is None:
        if front.folder is not None and not front.folder.is_there():
            front.folder.release()
        return False
    joined = store.embedded is not None and not store.embedded.owned
    if joined and store.embedded is not None and store.embedded.died():
        why: str | None = "the process that ran the store's server has ended; the next client starts it again"
    else:
        why = front.stay.over(server.unasked_seconds)
    if why is not None:
        tell("service left", why=why)
    return why is not None


def _ask_what_is_kept(store: OpenStore, catch_up: FoldCatchUp, tell: Tell) -> None:
    """Look now whether what processes before this one acknowledged is in the log, and not only when somebody appends; and whether
    what was rejected is."""
    try:
        store.log.ask_receipts()
    except StoreError as error:
        tell("receipts not compared", reason=error.message, alarm=True)
    ask_kept_values(store, catch_up, tell)


def _guard(store: OpenStore) -> DiskGuard | None:
    """Who watches the disk of a server of ours; None for a Redis given by URL, whose disk is elsewhere."""
    if store.embedded is None:
        return None
    folder = store.embedded.folder
    return DiskGuard(folder, store.client, store.alarms, lambda: look(folder))


def _mend_socket(store: OpenStore) -> None:
    """Put a removed socket back, with an alarm. Raises EmbeddedRedisError if that fails."""
    mended = store.embedded.tend_socket() if store.embedded else None
    if mended:
        store.alarms.raised("socket_removed", str(store.embedded and store.embedded.folder), mended)


def _all_there(application: Application, settings: Settings) -> bool:
    """Whether workers hold every partition, and jobs are scheduled where they are to be."""
    status = application.operator.status()
    scheduled = not settings.job_workers or status["lifecycle"]["leader"] is not None
    return scheduled and not status["unreachable"] and all(one["holder"] for one in status["partitions"])


def _served(application: Application, settings: Settings, server: Server, sessions: Sessions) -> Served:
    largest = application.operator.stats()["largest_owners"]
    elsewhere = settings.redis_url is None and settings.data != Settings.model_fields["data"].get_default(
        call_default_factory=True
    )
    return Served(
        server.url,
        program_version(),
        settings.data if elsewhere else None,
        largest[0]["owner"] if largest else None,
        _link(sessions),
        application.operator.listening() if server.listener.public else None,
    )


def _page(front: Front) -> str | None:
    """Where a browser finds the console: by the very address that is ours, for another of the same name may be somebody else's."""
    if not front.listeners.main.public:
        return None if front.port is None else _url(front.port, front.listeners.main)
    operating = front.listeners.operating
    return None if operating is None or operating.public else _operating(front)


def _operating(front: Front) -> str | None:
    """The address for operating, where it has a port of its own."""
    if front.operating is None or front.listeners.operating is None:
        return None
    return _url(front.operating, front.listeners.operating)


def _url(port: socket.socket, listener: Listener) -> str:
    host, number = port.getsockname()[:2]
    return f"{listener.scheme}://[{host}]:{number}" if ":" in host else f"{listener.scheme}://{host}:{number}"


def _link(sessions: Sessions) -> ConsoleLink | None:
    """What opens the console once: for the eyes of whoever started this, and for no log."""
    vouched = sessions.in_force()
    made = None if vouched is None or sessions.page is None else sessions.code(vouched)
    link = None if made is None else sessions.link(made.code)
    if made is None or link is None:
        return None
    return ConsoleLink(link, made.ends_in, lambda: sessions.state(made.code))


def _drain(application: Application, end: End, tell: Tell, telemetry: Telemetry | None) -> None:
    """Append what was shown and let the workers finish, as far as there is time."""
    try:
        application.accesses.stop(end.left(MARKS.drain))
        lag = application.operator.status()["lag"]
        while lag and end.left(MARKS.drain) > LOOK_SECONDS:
            lag = application.operator.status()["lag"]
        tell("service drained", lag=lag, alarm=bool(lag))
    except EngramlogError as error:
        tell("service not drained", reason=error.message, alarm=True)
    if telemetry is not None:
        telemetry.close()


def banner(served: Served) -> str:
    """The text, with a line end."""
    owner = quote(served.owner or "alice")
    first = [] if served.owner else ['engramlog add alice "I drink coffee every morning"']
    other = [f"export ENGRAMLOG_DATA={quote(str(served.data))}"] if served.data else []
    agent = (
        f"engramlog mcp --owner {owner} --config"
        if served.data
        else f"claude mcp add memory -- engramlog mcp --owner {owner}"
    )
    link = []
    if served.console is not None:
        link = ["  console  opens once, within 10 minutes; later: engramlog console", f"  {served.console.url}", ""]
    looks = f"{CURL} {served.url}/v1/status" if served.listening is None else "engramlog status"
    tries = [*other, *first, f'engramlog search {owner} "coffee"', agent, looks]
    return "\n".join(
        [
            "",
            f"  Engramlog {served.version} serves at {served.url}",
            *([] if served.listening is None else [f"  {_way(served.listening)}"]),
            "",
            *link,
            f"  docs  {served.url}/docs",
            "  try   in another terminal:",
            *(f"        {line}" for line in tries),
            "  stop  Ctrl-C",
            "",
            "",
        ]
    )


def _way(told: ListeningTold) -> str:
    """In which way it is open to others."""
    by = "through its declared proxy" if told["by"] == "proxy" else "by TLS"
    ends = f"; its certificate ends {told['certificate_ends'][:10]}" if told["certificate_ends"] else ""
    return f"open to others {by}, with a key{ends}"


STILL_LOOK_SECONDS = 5.0
"""Seconds between two looks at the partitions."""
STILL_SECONDS = 30.0
"""How long a partition's checkpoint may stay while events wait behind it: ten lease times."""


class Standstill:
    """Raises `partition_stands_still` for each partition that does not move, and clears it when it does."""

    def __init__(self, status: Callable[[], Mapping[str, Any]], alarms: Alarms) -> None:
        self._status = status
        self._alarms = alarms
        self._seen: dict[int, tuple[int, float]] = {}
        self._still: set[int] = set()

    def look(self, now: float) -> None:
        """Look; `now` in monotonic seconds. A store that does not answer is reported elsewhere."""
        try:
            partitions = self._status()["partitions"]
        except EngramlogError:
            self._seen.clear()
            return
        for one in partitions:
            self._look(one["partition"], one["checkpoint"], one["lag"], one["holder"], now)

    def _look(self, number: int, checkpoint: int, lag: int, holder: str | None, now: float) -> None:
        seen, since = self._seen.get(number, (-1, now))
        first = number not in self._seen
        if seen != checkpoint or not lag:
            since = now
        self._seen[number] = (checkpoint, since)
        if lag and now - since >= STILL_SECONDS:
            self._still.add(number)
            waiting = "1 event waits" if lag == 1 else f"{lag:,} events wait"
            text = f"{waiting} behind position {number}:{checkpoint}; held by {holder or 'nobody'}"
            self._alarms.raised("partition_stands_still", f"partition {number}", text)
        elif since == now and (number in self._still or first):
            self._still.discard(number)
            if not first or not lag:
                self._alarms.cleared("partition_stands_still", f"partition {number}")


MANY = "console_codes_refused"


class ConsoleRefusals:
    """Logs and raises what the console refused since the last check."""

    def __init__(self, sessions: Sessions, alarms: Alarms, tell: Callable[..., None]) -> None:
        self._sessions = sessions
        self._alarms = alarms
        self._tell = tell
        self._used = self._limited = 0

    def check(self) -> None:
        """Report what is new, as one line however many there were."""
        used, limited = self._sessions.refused["used"], self._sessions.refused["limited"]
        if used > self._used:
            self._tell(
                "console link reused",
                times=used - self._used,
                advice="if not by you, engramlog token --rotate ends all sessions",
                alarm=True,
            )
        if limited > self._limited:
            self._alarms.raised(MANY, "", f"{limited - self._limited} codes of the console were refused unlooked at")
        self._used, self._limited = used, limited
