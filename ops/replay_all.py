"""`replay --all`: the partitions of a store, replayed by any executor of `concurrent.futures`.

The executor is processes of this machine, or the workers of a Dask cluster. A worker opens the store by its own settings. It gets
neither an address nor a secret, and it returns bytes: the text of an unexpected error may hold words of an owner.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from typing import Any

import msgspec

from engramlog_server.api.checks import safe_refusal
from engramlog_server.api.choices import program_version
from engramlog_server.api.services.replaying import StoreReplayer, WholeAsked, nothing_of
from engramlog_server.consumers.jobs.lifecycle import owners_of
from engramlog_server.events.errors import EngramlogError, StoreMismatch
from engramlog_server.events.redis.wire import Wire
from engramlog_server.ops.keys.master import keys_of, master_of
from engramlog_server.ops.processes.life import look_seldom
from engramlog_server.ops.settings import Settings, load_settings
from engramlog_server.ops.store import wire_to
from engramlog_server.ops.tracebacks import clean_tracebacks, log_words, traced
from engramlog_server.ops.worker import store_url
from engramlog_server.projections.redis.create import known_identity
from engramlog_server.projections.reports.comparison import StoreMoved

CONNECT_SECONDS, WORKERS_SECONDS = 10.0, 30.0
"""How long a Dask scheduler, and then its first worker, is waited for."""
Advance = Callable[[int, int], None]


class PartitionAsked(msgspec.Struct):
    """What a worker gets."""

    store: str
    release: str
    partition: int
    asked: WholeAsked


class PartitionTold(msgspec.Struct):
    """What a worker returns: figures, or an error."""

    figures: StoreMoved | None = None
    error: dict[str, Any] | None = None
    exit_code: int = 1


def replay_partitions(
    executor: Executor, store_id: str, partitions: int, asked: WholeAsked, advance: Advance = lambda _done, _all: None
) -> StoreMoved:
    """The sum of all partitions. Nothing is written. Raises the first error of a worker, and EngramlogError if a worker died."""
    total, release = nothing_of(asked), program_version()
    parts = [PartitionAsked(store_id, release, number, asked) for number in range(partitions)]
    futures = [executor.submit(replay_partition, msgspec.json.encode(one)) for one in parts]
    try:
        for done, future in enumerate(as_completed(futures), 1):
            try:
                told = msgspec.json.decode(future.result(), type=PartitionTold)
            except Exception as error:  # noqa: BLE001 - each executor has its own errors for a worker that died
                raise EngramlogError(
                    f"a worker of `replay --all` died or could not start ({type(error).__name__}); nothing was written"
                ) from None
            if told.figures is None:
                refusal = EngramlogError(str((told.error or {}).get("message", "")))
                refusal.told, refusal.exit_code = told.error, told.exit_code
                raise refusal
            total.add(told.figures)
            advance(done, partitions)
    finally:
        for future in futures:
            future.cancel()
    return total


def replay_partition(raw: bytes) -> bytes:
    """Replay the owners of one partition: from a `PartitionAsked` to a `PartitionTold`, as JSON. Raises nothing."""
    try:
        part = msgspec.json.decode(raw, type=PartitionAsked)
        settings = load_settings()
        tags = _tags(settings, part)
        from engramlog_server.ops.wiring import open_application  # noqa: PLC0415 - a worker that refuses opens no store

        with open_application(settings) as application:
            reader, views = application.reader, application.views
            replayer = StoreReplayer(reader, application.replayer.refolder, application.log.partitions, views.passing)
            with _wire(settings) as wire:
                owners = owners_of(wire, tags[part.partition])
            told = PartitionTold(replayer.part(owners, part.asked))
    except EngramlogError as error:
        told = PartitionTold(error=dict(safe_refusal(error)), exit_code=error.exit_code)
    except Exception as error:  # noqa: BLE001 - see the module: it must not cross
        sys.stderr.write(traced(error))
        told = PartitionTold(error={"message": f"a worker failed ({type(error).__name__}): its own log has the rest"})
    return msgspec.json.encode(told)


@contextmanager
def processes(count: int, where: Mapping[str, str]) -> Iterator[Executor]:
    """So many processes of this machine. `where`: the settings that name the store."""
    with ProcessPoolExecutor(count, get_context("spawn"), _begin, (dict(where),)) as executor:
        yield executor


@contextmanager
def dask_workers(address: str) -> Iterator[Executor]:
    """The workers of the Dask scheduler at `address`. Raises EngramlogError if it does not answer, or has no worker."""
    try:
        from distributed import Client, Security  # noqa: PLC0415 - an extra
    except ImportError:
        raise EngramlogError('ENGRAMLOG_DASK needs an extra: pip install "engramlog[dask]"') from None
    try:
        security = Security(require_encryption=address.startswith("tls://"))
        with Client(address, security=security, timeout=CONNECT_SECONDS, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            yield client.get_executor(pure=False)
    except (OSError, TimeoutError, RuntimeError, ValueError) as error:
        raise EngramlogError(
            f"no Dask scheduler with a worker answers at {address} ({type(error).__name__}): see ENGRAMLOG_DASK and its log"
        ) from None


def _begin(where: Mapping[str, str]) -> None:
    """In a new process: settings come by a pipe, because everybody can read arguments."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.update(where)
    look_seldom()
    clean_tracebacks()


def _tags(settings: Settings, part: PartitionAsked) -> Sequence[str]:
    """The tags of the store's partitions. Raises EngramlogError in a worker of another release or of another store, before anything
    is opened or made."""
    if part.release != (own := program_version()):
        raise EngramlogError(
            f"a worker runs engramlog {own}, and this command {part.release}: install the same on both"
        )
    with _wire(settings) as wire:
        identity = known_identity(wire)
        log_words(not wire.seals.is_on)
    if identity is None or identity.store_id != part.store:
        own = "none" if identity is None else identity.store_id
        raise StoreMismatch(f"a worker has store {own} by its settings, and this command store {part.store}")
    return identity.tags


def _wire(settings: Settings) -> AbstractContextManager[Wire]:
    return wire_to(store_url(settings), settings.redis_timeout, master=master_of(settings), keys=keys_of(settings))
