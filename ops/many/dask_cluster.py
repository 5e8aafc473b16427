"""Work on owners by the workers of a Dask cluster: a scheduler of this machine, or one that is reached by TLS alone.

A scheduler runs what it is sent, and its workers reach the store: whoever may talk to it is trusted as whoever has the store's
password. So nothing is sent before it is known that nobody else listens.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec

from events.errors import BadSetting, EngramlogError, refused
from events.text.urls import shown
from ops.many.release import release
from ops.processes.shares import PartitionDone, PartitionTask, ToldLine, Work, error_of, owners_done

if TYPE_CHECKING:
    from distributed import Client, Future

ALLOWED = "tls://HOST:PORT, or tcp://HOST:PORT of this machine (127.0.0.1, [::1], localhost): a scheduler runs what it is sent"
FILES = ("distributed.comm.tls.ca-file", "distributed.comm.tls.client.key", "distributed.comm.tls.client.cert")
"""Where Dask's own configuration names the files of TLS."""
CONNECT_SECONDS = 10.0
WORKERS_SECONDS = 30.0
"""How long a scheduler without a worker is waited for."""
LOOK_SECONDS = 5.0
"""How often it is looked whether any worker is there, while nothing is done."""
AHEAD = 2
"""Parts for each thread of the cluster that are sent: one is done, another waits."""
Notice = Callable[[str], None]


def checked_address(address: str) -> bool:
    """Whether a scheduler's address is one of TLS. Raises InputError where it is neither that nor of this machine alone."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.scheme not in ("tls", "tcp") or parts.path or parts.query or "@" in parts.netloc:
        raise _refused(address)
    if parts.scheme == "tcp" and not _is_loopback(host):
        raise _refused(address)
    return parts.scheme == "tls"


def _refused(address: str) -> EngramlogError:
    told = shown(address).strip("'")
    return refused("dask", told, ALLOWED)


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine and nobody else, by every address that its name has."""
    try:
        found = {str(one[4][0]) for one in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(found) and all(ip_address(one.partition("%")[0]).is_loopback for one in found)


@contextmanager
def dask_cluster(address: str, store_id: str, tell: Notice) -> Iterator[DaskCluster]:
    """The workers of a scheduler, for the length of a `with`. `tell` hears of workers that are gone.

    Raises InputError for an address that will not do, before anything is sent; EngramlogError where nobody answers, or there is no
    worker.
    """
    secure = checked_address(address)
    try:
        from distributed import Client, Security  # noqa: PLC0415 - an extra, and a second to load
    except ImportError as error:
        raise EngramlogError(
            f'a Dask cluster needs distributed, not installed here ({error}); install it with: pip install "engramlog[dask]"'
        ) from None
    security = Security(require_encryption=secure)
    if secure:
        _refuse_files(security)
    try:
        client = Client(
            address, security=security, timeout=CONNECT_SECONDS, set_as_default=False, direct_to_workers=False
        )
    except (OSError, TimeoutError, RuntimeError, ValueError) as error:
        raise EngramlogError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}); see its log, and whether both speak"
            f" {'TLS' if secure else 'without TLS'}"
        ) from None
    try:
        if not secure:
            _refuse_open(client)
        _await_worker(client, address)
        yield DaskCluster(client, address, store_id, tell)
    finally:
        client.close()


def _refuse_files(security: Any) -> None:
    """Refuse where Dask's own configuration names no files of TLS, or such as cannot be used."""
    named = (security.tls_ca_file, security.tls_client_key, security.tls_client_cert)
    missing = [name for name, file in zip(FILES, named, strict=True) if not file]
    if missing:
        raise BadSetting(
            f"dask: got no {', '.join(missing)}; allowed with tls://: files that Dask's own configuration names, such as"
            f" DASK_{FILES[0].upper().replace('.', '__').replace('-', '_')}",
            setting="dask",
        )
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise BadSetting(
            f"dask: the files of {', '.join(FILES)} cannot be used ({type(error).__name__}); allowed: certificates and a key"
            " in PEM",
            setting="dask",
        ) from None


def _refuse_open(client: Client) -> None:
    """Refuse a scheduler that answers here, and to others as well, without TLS."""
    info = client.scheduler_info()
    for address in (str(info["address"]), *map(str, info["workers"])):
        host = urlsplit(address).hostname
        if not address.startswith(("tcp://", "tls://")) or host is None or not _is_loopback(host):
            raise refused("dask", f"a scheduler or worker at {address}", ALLOWED)


def _await_worker(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKERS_SECONDS)
    except TimeoutError:
        raise EngramlogError(
            f"the Dask scheduler at {address} has no worker, for {WORKERS_SECONDS:g} s: start one with `dask worker {address}`"
        ) from None


class DaskCluster:
    """Does parts by the workers of a cluster: `Executor`."""

    def __init__(self, client: Client, address: str, store_id: str, tell: Notice) -> None:
        self._client, self._address, self._store, self._tell = client, address, store_id, tell
        self._release = release()
        self._begun = f"engramlog-{uuid4().hex[:12]}"
        self._lost = SimpleQueue[tuple[str, int]]()
        self._lost_workers = 0
        self._workers = len(client.nthreads())
        client.subscribe_topic("all", self._happened)

    @property
    def told(self) -> dict[str, Any]:
        """By how many, and where."""
        return {
            "processes": self._workers,
            "dask": {"address": self._address, "workers": self._workers, "lost": self._lost_workers},
        }

    def do(self, work: Work, tasks: Iterable[PartitionTask]) -> Generator[PartitionDone, None, None]:
        """See `Executor`. What a worker that died had under way is done by another, as often as the scheduler's
        `allowed-failures` says.

        Raises the first error that a worker told, and EngramlogError where workers died of one part again and again, where all
        are gone, or the scheduler is.
        """
        left, under_way = iter(tasks), dict["Future[bytes]", PartitionTask]()
        most = self._most()
        try:
            while True:
                while len(under_way) < most and (task := next(left, None)) is not None:
                    under_way[self._sent(work, task)] = task
                if not under_way:
                    break
                for future in self._ended(list(under_way)):
                    yield self._done(future, under_way.pop(future))
                most = self._tell_lost(most)
        finally:
            self._end(list(under_way))

    def _most(self) -> int:
        """How many parts are sent at once."""
        threads: dict[str, int] = self._client.nthreads()
        self._workers = max(self._workers, len(threads))
        return max(AHEAD * sum(threads.values()), AHEAD)

    def _sent(self, work: Work, task: PartitionTask) -> Future[bytes]:
        from ops.many.dask_part import DaskPart, part_done  # noqa: PLC0415 - it joins what a worker needs

        raw = msgspec.json.encode(DaskPart(self._store, self._release, work, task))
        key = f"{self._begun}-{uuid4().hex}"  # it is shown on the dashboard: no name is in it
        return self._client.submit(part_done, raw, key=key, pure=False)

    def _ended(self, futures: list[Future[bytes]]) -> list[Future[bytes]]:
        """Those that ended, one at least; looks meanwhile whether anybody is there."""
        from distributed import wait  # noqa: PLC0415 - as above

        nobody = 0.0
        while True:
            try:
                with self._client.as_current():
                    return list(wait(futures, timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                self._tell_lost(0)
            except (CancelledError, asyncio.CancelledError):
                raise self._gone() from None
            nobody = 0.0 if self._is_anybody() else nobody + LOOK_SECONDS
            if nobody >= WORKERS_SECONDS:
                raise EngramlogError(
                    f"the Dask scheduler at {self._address} has no worker any more, or does not answer: the same command goes on"
                    " where it stood"
                )

    def _is_anybody(self) -> bool:
        """Whether any worker is there. A scheduler that is slow to answer once may be busy."""
        try:
            return bool(self._client.nthreads())
        except Exception:  # noqa: BLE001 - whatever it is, it did not answer
            return False

    def _gone(self) -> EngramlogError:
        return EngramlogError(
            f"the Dask scheduler at {self._address} is gone, or let go of what it was sent: the same command goes on where it"
            " stood"
        )

    def _done(self, future: Future[bytes], task: PartitionTask) -> PartitionDone:
        """What a part gave. Raises what its worker told."""
        from distributed import KilledWorker  # noqa: PLC0415 - as above

        if future.status != "finished":
            error = future.exception() if future.status == "error" else None
            if isinstance(error, KilledWorker):
                raise EngramlogError(
                    f"{error.allowed_failures + 1} Dask workers died one after the other of the same owners of partition"
                    f" {task.partition}; see their logs: the same command goes on where it stood",
                    partition=task.partition,
                )
            if error is None:
                raise self._gone()
            raise EngramlogError(
                f"a Dask worker could not begin ({type(error).__name__}): engramlog must be installed there, of this release"
            )
        line = msgspec.json.decode(future.result(), type=ToldLine)
        if line.error is not None:
            raise error_of(line)
        assert line.figures is not None
        return owners_done(task.partition, task.owners, line.figures)

    def _happened(self, event: tuple[float, Any]) -> None:
        """Hear what the scheduler logs; on a thread of Dask's."""
        told = event[1]
        if isinstance(told, dict) and told.get("action") == "remove-worker":
            mine = sum(str(key).startswith(self._begun) for key in told.get("processing-tasks", ()))
            if mine:
                self._lost.put((str(told.get("worker")), mine))

    def _tell_lost(self, most: int) -> int:
        """Tell of workers that are gone; gives how many parts are sent from here on."""
        with suppress(Empty):
            while True:
                worker, mine = self._lost.get_nowait()
                self._lost_workers += 1
                parts = f"{mine} part{'' if mine == 1 else 's'}"
                self._tell(f"a Dask worker ({worker}) is gone: {parts} that it had under way are done by another")
                most = self._most()
        return most

    def _end(self, under_way: list[Future[bytes]]) -> None:
        """Take back what is not begun, and have workers close what they have open once they are done."""
        from ops.many.dask_part import let_go  # noqa: PLC0415 - as above

        with suppress(Exception):  # the scheduler may be gone: then nothing is left to be taken back
            if under_way:
                self._client.cancel(under_way, force=True)
            self._client.run(let_go, on_error="ignore")
            self._client.unsubscribe_topic("all")  # or the scheduler tells a client that has gone
