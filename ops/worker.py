"""A fold worker as a process: `python -P -m engramlog_server.ops.worker`. SIGTERM hands its partitions over at once."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Event as Flag
from typing import TYPE_CHECKING

import redis

from engramlog_server.consumers.fold.figures import FoldFigures
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.consumers.fold.presence import LEASE_MS
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.errors import BadSetting, EngramlogError
from engramlog_server.events.keys import MasterKey, OpenKeyStore
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import Script, WirePool, open_wire
from engramlog_server.events.text import holds_secret
from engramlog_server.ops.keys.master import keys_of, master_of
from engramlog_server.ops.logs import start_logging, teller
from engramlog_server.ops.processes.life import end_by_signal, end_with, look_seldom, new_worker_id
from engramlog_server.ops.settings import Settings, load_settings
from engramlog_server.ops.telemetry import TracedFigures, telemetry_of
from engramlog_server.ops.tracebacks import log_words
from engramlog_server.projections.redis.create import StoreIdentity, known_identity
from engramlog_server.projections.redis.store import COMMIT

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


def open_url(url: str) -> str:
    """An address as an argument, which everybody can read. Raises ArgumentTypeError for one that holds a password."""
    if holds_secret(url):
        raise argparse.ArgumentTypeError(
            "holds a user or password: say it in the environment, others can read arguments"
        )
    return url


def store_url(settings: Settings) -> str:
    """The address of the environment. Raises BadSetting where there is none."""
    if not settings.redis_url:
        raise BadSetting(
            "ENGRAMLOG_REDIS_URL: got nothing; allowed: redis://, rediss:// or unix:// of the store",
            setting="ENGRAMLOG_REDIS_URL",
        )
    return settings.redis_url


def url_of_a_worker(settings: Settings) -> list[BadSetting]:
    """The refusal of settings by which no worker of its own can be started; nothing where they name a Redis."""
    if settings.redis_url:
        return []
    return [
        BadSetting(
            "ENGRAMLOG_REDIS_URL: got nothing; allowed: the URL of the store's Redis. The embedded store gets its workers from"
            " `engramlog up` (ENGRAMLOG_WORKERS says how many)",
            setting="ENGRAMLOG_REDIS_URL",
        )
    ]


def run_worker(
    url: str,
    *,
    timeout: float = 10.0,
    lease_ms: int = LEASE_MS,
    script: Script = COMMIT,
    probe: Probe = unprobed,
    metrics: tuple[str, int] | None = None,
    master: MasterKey | None = None,
    keys: OpenKeyStore | None = None,
) -> None:
    """Fold until SIGTERM or SIGINT. `metrics`: host and port where it tells its figures; raises BadSetting where that is taken."""
    stop = Flag()
    worker_id = new_worker_id()
    tell = teller(worker=worker_id)
    end_by_signal(lambda _number: stop.set(), cut_off=lambda: tell("worker stopped", in_the_middle=True))
    with ExitStack() as last:
        telemetry = telemetry_of("worker", tell)
        figures = (
            None
            if metrics is None and telemetry is None
            else FoldFigures()
            if telemetry is None
            else TracedFigures(telemetry)
        )
        if metrics is not None and figures is not None:
            last.enter_context(figures_served(metrics, figures, tell))
        if telemetry is not None and figures is not None:
            last.callback(telemetry.close)
            telemetry.mirror(_registry(figures))
        client = connect(url, timeout=timeout, master=master, keys=keys)
        identity = awaited_identity(client, stop, tell)
        if identity is None:
            return
        log_words(identity.sealed is None)
        if telemetry is not None:
            telemetry.of_store(identity.store_id)
        facts = {"host": socket.gethostname(), "pid": os.getpid()}
        worker = FoldWorker(
            client,
            identity.tags,
            worker_id,
            tell=tell,
            probe=probe,
            script=script,
            lease_ms=lease_ms,
            facts=facts,
            alarms=RedisAlarms(WirePool(client), worker_id, tell),
            figures=figures,
        )
        tell("worker started", partitions=identity.partitions, store=identity.store_id)
        worker.run(stop)


def _registry(figures: FoldFigures) -> CollectorRegistry:
    from engramlog_server.ops.metrics import worker_registry  # who tells no metrics loads no library for them

    return worker_registry(figures)


@contextmanager
def figures_served(place: tuple[str, int], figures: FoldFigures, tell: Callable[..., None]) -> Iterator[None]:
    """A worker's figures, told at a host and port for as long as this lasts. Raises BadSetting where that is taken."""
    from engramlog_server.ops.metrics import MetricsPort

    port = MetricsPort(_registry(figures), *place).start()
    tell("metrics served", url=port.url)
    try:
        yield
    finally:
        port.close()


def awaited_identity(client: redis.Redis, stop: Flag, tell: Callable[..., None]) -> StoreIdentity | None:
    """The store behind a client, waited for; None where the process is to stop before."""
    identity = None
    while identity is None and not stop.is_set():
        wire = open_wire(client)
        try:
            identity = known_identity(wire)
        except EngramlogError as error:
            tell("store not reached", reason=error.message)
        wire.close()
        if identity is None:
            stop.wait(0.5)
    return identity


def add_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The options of every process that `up` starts."""
    parser.add_argument("--url", type=open_url, help="of the store; ENGRAMLOG_REDIS_URL, where it may hold a password")
    parser.add_argument("--log-level", default="info")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds to wait for Redis")
    parser.add_argument("--parent", type=int, help="stop when this process is no longer the parent")
    parser.add_argument("--json", action="store_true", help="every line is JSON, on a terminal too")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry of the process."""
    parser = argparse.ArgumentParser(prog="python -P -m engramlog_server.ops.worker", description=__doc__)
    parser.add_argument("--lease-ms", type=int, default=LEASE_MS, help="how long a lease lasts without renewal")
    parser.add_argument("--metrics-host", default="127.0.0.1", help="where the metrics port listens")
    parser.add_argument(
        "--metrics-port", type=int, help="where it tells its metrics; 0: a free port; nowhere when unset"
    )
    options = add_options(parser).parse_args(arguments)
    start_logging(options.log_level, component="worker", pretty=False if options.json else None)
    look_seldom()
    if options.parent is not None:
        end_with(options.parent)
    settings = load_settings()
    url = options.url or store_url(settings)
    metrics = None if options.metrics_port is None else (options.metrics_host, options.metrics_port)
    try:
        run_worker(
            url,
            timeout=options.timeout,
            lease_ms=options.lease_ms,
            metrics=metrics,
            master=master_of(settings),
            keys=keys_of(settings),
        )
    except BadSetting as error:
        teller()("worker not started", reason=error.message, alarm=True)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
