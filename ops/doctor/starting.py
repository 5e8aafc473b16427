"""What `up --check` and `worker --check` look at, each by the code that refuses it at a start. Nothing is changed."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Literal

from engramlog_server.api.http.serve import OPERATE, claim
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import BadSetting, EngramlogError, StoreUnavailable
from engramlog_server.events.redis.server import STORE_SETTING, refuse_replica
from engramlog_server.events.text import NONE
from engramlog_server.ops.clock import now_micros
from engramlog_server.ops.doctor import checks, findings, servers
from engramlog_server.ops.doctor.findings import (
    ACCESS,
    CLUSTER,
    DISK,
    MACHINE,
    PERMISSIONS,
    REDIS,
    SEALING,
    SETTINGS,
    STORE,
    Check,
    CheckFinding,
    DoctorReport,
    folder_of,
    refused,
    report,
    run_all,
    unless,
)
from engramlog_server.ops.doctor.servers import SECONDS, ReachedStore, reach
from engramlog_server.ops.embedded.aof import holds_store
from engramlog_server.ops.embedded.folder import private_folder
from engramlog_server.ops.embedded.server import find_redis_server, look_into_folder
from engramlog_server.ops.identity_provider import NotTold, keys_at
from engramlog_server.ops.keys.master import master_of
from engramlog_server.ops.listeners import listeners_of
from engramlog_server.ops.metrics import ports_of, refuse_taken_ports
from engramlog_server.ops.models import chosen_at_start, embedders_of, model_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import check_queue, wire_to
from engramlog_server.projections.access.caller import AccessBook
from engramlog_server.projections.redis.create import StoreIdentity, check_parameters

_PROBE = bytes(32)
"""What the master key is tried with; what it becomes is kept nowhere."""
_PORTS = {"http": 80, "https": 443}


def look_at_ports(settings: Settings, workers: int, *, serves: bool = True) -> list[CheckFinding]:
    """Whether the API's port, that for operating, and those of figures are free, or who has them. Each is taken for a moment;
    nothing listens. `serves`: whether the API is served."""
    found = list[CheckFinding]()
    listeners = None
    with suppress(BadSetting):  # the check of listening reports why
        listeners = listeners_of(settings, settings.host) if serves else None
    if listeners is not None:
        take = partial(_take, settings.host, settings.port, listener=listeners.main)
        found += unless(MACHINE, "port", f"{settings.host}:{settings.port or 'any'} is free", take)
    if listeners is not None and listeners.operating is not None and settings.operate is not None:
        host, port = settings.operate
        take = partial(_take, host, port, OPERATE, listener=listeners.operating)
        found += unless(MACHINE, "operating port", f"{host}:{port or 'any'} is free", take)
    if settings.metrics is not None:
        host, port = settings.metrics
        fine = f"free from {port} on" if port else "any that is free"
        found += unless(MACHINE, "metrics ports", fine, lambda: refuse_taken_ports(host, ports_of(port, workers)))
    return found


def _take(*place: str | int, **more: object) -> None:
    with closing(claim(*place, **more)):  # type: ignore[arg-type]
        pass


def look_at_folder(settings: Settings) -> list[CheckFinding]:
    """Whether the data folder can be used or made; if others can enter it, a start closes it."""
    try:
        folder, mended = private_folder(settings.data, changes=False)
    except EngramlogError as error:
        return [refused(PERMISSIONS, "data folder", error)]
    if mended:
        found = mended.partition(";")[0]
        return [PERMISSIONS.advice("data folder", found, "nothing: a start closes it to them")]
    told = "is this user's alone" if folder.exists() else "is made at the start"
    return [PERMISSIONS.ok("data folder", f"{folder} {told}")]


def look_at_private_redis(settings: Settings) -> list[CheckFinding]:
    """The redis-server of an embedded store, and whether it could begin on the folder now."""
    try:
        binary = find_redis_server(settings.redis_server)
    except EngramlogError as error:
        return [refused(REDIS, "redis-server", error)]
    found = [REDIS.ok("redis-server", f"{binary.path} is {binary.release}")]
    try:
        waits = look_into_folder(settings.data, binary)
    except EngramlogError as error:
        return [*found, refused(STORE, "folder", error)]
    if waits is not None:
        return [*found, STORE.advice("folder", f"in use: {waits}", "`up` waits for a minute; end it where it stays")]
    folder = folder_of(settings)
    found.append(STORE.ok("folder", f"no other process has {folder}"))
    if (folder / "store.json").exists():
        cure = "`engramlog doctor` starts it for a moment and looks"
        found.append(STORE.unseen("format", "what the private Redis holds is seen once it runs", cure))
    return found


def look_at_disk(settings: Settings) -> list[CheckFinding]:
    """Room on the disk of the data folder. Raises OSError."""
    folder = folder_of(settings)
    return softened(checks.disk(next(one for one in (folder, *folder.parents) if one.exists())))


def softened(found: list[CheckFinding]) -> list[CheckFinding]:
    """What a doctor calls wrong and no start refuses, as advice."""
    return [one._replace(result="advice") if one.result == "wrong" else one for one in found]


def look_at_master_key(settings: Settings) -> list[CheckFinding]:
    """Whether the master key can be read, or its service answers. Raises StoreError."""
    folder = folder_of(settings) if settings.redis_url is None else None

    def wrap() -> None:
        master = master_of(settings, folder)
        if master is not None:
            master.wrap([(b"check", _PROBE)])

    if settings.sealed_by == NONE:
        return [SEALING.ok("master key", "none is required: a new store is not encrypted")]
    return unless(SEALING, "master key", "it can be had, or is made at the start", wrap)


def look_at_queue(settings: Settings) -> list[CheckFinding]:
    """Where jobs wait, if it is a Redis of its own. A start waits for one that does not answer."""
    url = settings.queue_url
    if not url:
        return []
    try:
        check_queue(url, min(settings.redis_timeout, SECONDS))
    except EngramlogError as error:
        return [refused(REDIS, "queue", error)]
    try:
        with wire_to(url, min(settings.redis_timeout, SECONDS)) as wire:
            wire.call("EXISTS", "engramlog")
    except StoreUnavailable as error:
        return [REDIS.advice("queue", f"ENGRAMLOG_QUEUE_URL: {error.message}", "no job is done until it answers")]
    return [REDIS.ok("queue", "the Redis of the queue answers")]


def look_at_provider(settings: Settings) -> list[CheckFinding]:
    """Whether the identity provider serves its keys."""
    if settings.identity_issuer is None:
        return []
    try:
        keys = keys_at(settings.identity_issuer, SECONDS / 2)
    except NotTold as error:
        cure = "its tokens are refused until it serves its keys; keys of the store work as before"
        return [MACHINE.advice("identity provider", str(error), cure)]
    return [MACHINE.ok("identity provider", f"it serves its keys ({len(keys):,})")]


def look_at_embedder(settings: Settings, identity: StoreIdentity | None) -> list[CheckFinding]:
    """The embedder, and what is missing for it. `identity`: of the store, if it is known."""
    embedders = embedders_of(settings, identity.embedder if identity is not None else settings.embedder or NONE)
    if embedders is None or not embedders.plan.embeds:
        return []
    try:
        told = chosen_at_start(embedders)
    except BadSetting as error:
        return [refused(MACHINE, "embedder", error)]
    if "missing" in told:
        cure = "install its extra, or set ENGRAMLOG_EMBEDDER; until then questions are answered by words alone"
        return [MACHINE.advice("embedder", f"{told['embedder']} lacks {told['missing']}", cure)]
    host = model_of(settings).embedder_host
    found = [] if host is None else _reached("embedder", host, settings.embedder_url)
    return found or [MACHINE.ok("embedder", f"{told['embedder']} is there")]


def look_at_model(settings: Settings) -> list[CheckFinding]:
    """Whether the language model can be asked: its client is there, and its endpoint is reached. It is asked nothing."""
    model = model_of(settings)
    if model.chat is None or model.chat_set is None:
        return []
    try:
        model.chat()
    except BadSetting as error:
        return softened([refused(MACHINE, "model", error)])
    finally:
        model.close()
    found = _reached("model", model.chat_set["host"], settings.model_url)
    return found or [MACHINE.ok("model", f"{model.chat_set['host']} is reached")]


def _reached(check: str, host: object, url: str | None) -> list[CheckFinding]:
    """Advice if nothing listens at an address."""
    name, colon, port = str(host).rpartition(":")
    place = (name.strip("[]"), int(port)) if colon else (port, _PORTS.get((url or "https:").partition(":")[0], 443))
    try:
        socket.create_connection(place, timeout=SECONDS / 2).close()
    except OSError as error:
        why = error.strerror or type(error).__name__
        return [MACHINE.advice(check, f"{host} is not reached: {why}", "requests to it fail until it is")]
    return []


Starts = Literal["up", "worker"]
CHECK_SECONDS = 8.0
"""How long all checks side by side take at most; those of the store follow on those of the machine."""
LOADING_SECONDS = 1.0
"""How long a Redis that loads its data set is looked at: a start waits for it, which is no fault."""


def wrong_settings(errors: Sequence[BadSetting]) -> DoctorReport:
    """Every setting that cannot be right; nothing else was looked at."""
    found = [refused(SETTINGS, str(one.context.get("setting", "setting")), one) for one in errors]
    return report(None, utc_text(from_micros(now_micros())), found)


def would_start(settings: Settings, starts: Starts = "up", *, seconds: float = CHECK_SECONDS) -> DoctorReport:
    """What would not work of a start with these settings; nothing is started, made, mended or kept.

    `wrong` is what the start refuses, by its own words; what it passes over is `advice`.
    """
    of_machine = _of_a_service(settings) if starts == "up" else _of_a_worker(settings)
    found = [SETTINGS.ok("settings", "all of them can be used"), *run_all(of_machine, seconds)]
    identity = None
    if settings.redis_url is not None:
        with reach(settings, loading_seconds=LOADING_SECONDS, may_be_new=True) as reached:
            identity = reached.identity
            found += [
                *checks.unreached(reached),
                *_opens(reached, starts),
                *run_all(_of_the_store(reached, starts), seconds),
            ]
    elif starts == "up" and checks.is_public(settings):
        found += _first_key_of_a_folder(settings)
    if starts == "up":
        found += run_all(_of_meanings(settings, identity), seconds)
    return report(None if identity is None else identity.store_id, utc_text(from_micros(now_micros())), found)


def _first_key_of_a_folder(settings: Settings) -> list[CheckFinding]:
    """Whether a key lives of a store whose Redis does not run now."""
    with suppress(OSError):
        if not holds_store(folder_of(settings)):
            return checks.first_key(settings, AccessBook())
    cure = "`engramlog doctor` starts its Redis for a moment and looks"
    return [ACCESS.unseen("first key", "open to others a key is needed; whether one lives is not seen", cure)]


def _of_a_worker(settings: Settings) -> list[Check]:
    return [
        Check(MACHINE, "ports", partial(look_at_ports, settings, 1, serves=False)),
        Check(SEALING, "master key", partial(look_at_master_key, settings)),
    ]


def _of_a_service(settings: Settings) -> list[Check]:
    embedded = [
        Check(REDIS, "private redis", partial(look_at_private_redis, settings)),
        Check(DISK, "disk", partial(look_at_disk, settings)),
    ]
    return [
        Check(MACHINE, "ports", partial(look_at_ports, settings, settings.workers)),
        Check(PERMISSIONS, "data folder", partial(look_at_folder, settings)),
        Check(PERMISSIONS, "token", partial(findings.token, settings)),
        Check(SEALING, "master key", partial(look_at_master_key, settings)),
        Check(ACCESS, "listening", lambda: checks.listening(settings, from_micros(now_micros()))),
        Check(REDIS, "queue", partial(look_at_queue, settings)),
        Check(MACHINE, "identity provider", partial(look_at_provider, settings)),
        *(embedded if settings.redis_url is None else []),
    ]


def _of_meanings(settings: Settings, identity: StoreIdentity | None) -> list[Check]:
    return [
        Check(MACHINE, "embedder", partial(look_at_embedder, settings, identity)),
        Check(MACHINE, "model", partial(look_at_model, settings)),
    ]


def _opens(reached: ReachedStore, starts: Starts) -> list[CheckFinding]:
    """Whether a start could open the store that is there: its format, its parameters, its master key."""
    if reached.client is None:
        return []
    try:
        if reached.trouble is not None:
            raise reached.trouble
        if reached.identity is None:
            return [STORE.ok("opens", f"no store is there yet: `engramlog {starts}` makes it")]
        check_parameters(reached.known)
    except EngramlogError as error:
        return [refused(STORE, "opens", error)]
    return [STORE.ok("opens", f"store {reached.known.store_id} of log format {reached.known.format}")]


def _of_the_store(reached: ReachedStore, starts: Starts) -> list[Check]:
    if reached.client is None:
        return []
    first_key = [Check(ACCESS, "first key", partial(checks.look_at_first_key, reached))]
    primary = [Check(REDIS, "primary", partial(_look_at_primary, reached))]
    return [
        *(primary if starts == "up" else []),
        Check(REDIS, "redis", lambda: softened(servers.look_at_redis(reached))),
        Check(CLUSTER, "cluster", partial(_look_at_cluster, reached)),
        *(first_key if starts == "up" and reached.trouble is None else []),
    ]


def _look_at_primary(reached: ReachedStore) -> list[CheckFinding]:
    """Whether one Redis takes writes: a replica takes none. Raises StoreError."""
    with closing(reached.wire()) as wire:
        return unless(REDIS, "primary", "it takes writes", lambda: refuse_replica(wire, STORE_SETTING))


def _look_at_cluster(reached: ReachedStore) -> list[CheckFinding]:
    """A Cluster's nodes: slots that nobody serves stop a start, the rest is advice. Raises StoreError."""
    found = servers.look_at_cluster(reached)
    return [one if one.check == "slots" else softened([one])[0] for one in found]
