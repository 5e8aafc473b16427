"""What a Dask worker does: some owners of the store of its own settings, if that is the one that is meant.

It is told the store's id, a digest of the code and which owners; it answers with a line of JSON. Nothing of ours is pickled but
the name of this function, and no error crosses that nobody foresaw: its text may hold words that only a log of ours may tell.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from api.requests.secrets import refusal_told
from events.errors import EngramlogError, StoreMismatch
from events.redis.wire import Wire, connect
from ops.many.release import release
from ops.many.works import WORKS
from ops.processes.shares import OfOwners, PartitionTask, ToldLine, Work, owners_done, told
from ops.sealing.master import master_of
from ops.settings import Settings, load_settings
from ops.tracebacks import tell_words, traced
from ops.worker import store_url
from projections.redis.create import known_identity

if TYPE_CHECKING:
    from api.application import Application


class DaskPart(msgspec.Struct):
    """What crosses to a worker: no address and no secret, of owners their names, of words those of the question."""

    store: str
    release: str
    work: Work
    task: PartitionTask


class _Opened:
    """The application of this process, open while parts are done. Safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last = ExitStack()
        self._application: Application | None = None
        self._store = ""
        self._in_hand = 0
        self._wanted = False

    @contextmanager
    def of_owners(self, part: DaskPart) -> Iterator[OfOwners]:
        """Who does a part. Raises EngramlogError where this worker has another store or release."""
        _refuse_release(part.release)
        with self._lock:
            if self._application is None:
                self._open(part.store)
            if self._store != part.store:
                raise _another(self._store, part.store)
            assert self._application is not None
            doer = WORKS[part.work](self._application)
            self._in_hand += 1
            self._wanted = True
        try:
            yield doer
        finally:
            with self._lock:
                self._in_hand -= 1
                self._close_unwanted()

    def let_go(self) -> None:
        """Close it, once nothing is in hand; what comes next opens it again."""
        with self._lock:
            self._wanted = False
            self._close_unwanted()

    def _open(self, store: str) -> None:
        from ops.wiring import open_application  # noqa: PLC0415 - a worker that refuses joins no application

        settings = load_settings()
        sealed = _refuse_store(settings, store)
        tell_words(not sealed)
        with ExitStack() as last:
            self._application = last.enter_context(open_application(settings))
            self._last, self._store = last.pop_all(), store

    def _close_unwanted(self) -> None:
        if not (self._wanted or self._in_hand) and self._application is not None:
            self._application, self._store = None, ""
            self._last.close()


_OPENED = _Opened()


def part_done(raw: bytes) -> bytes:
    """Do a part, a `DaskPart` as JSON; gives a `ToldLine`. Raises nothing."""
    try:
        part = msgspec.json.decode(raw, type=DaskPart)
        with _OPENED.of_owners(part) as of_owners:
            task = part.task
            found = told(owners_done(task.partition, task.owners, of_owners(task.owners, task.asked)))
    except EngramlogError as error:
        found = ToldLine(error=dict(refusal_told(error)), exit_code=error.exit_code)
    except Exception as error:  # noqa: BLE001 - Dask would pickle it, words and all
        sys.stderr.write(traced(error))
        failed = EngramlogError(f"a Dask worker failed ({type(error).__name__}): its own log has the rest")
        found = ToldLine(error=failed.as_dict())
    return msgspec.json.encode(found)


def let_go() -> None:
    """Have this worker close what it has open of the store."""
    _OPENED.let_go()


@cache
def _own_release() -> str:
    """Of the files as they were when this process first did a part."""
    return release()


def _refuse_release(asked: str) -> None:
    if asked != (own := _own_release()):
        raise EngramlogError(
            f"a Dask worker runs engramlog {own}, and this command {asked}: have the same code on both, and start the worker"
            " again"
        )


def _refuse_store(settings: Settings, store: str) -> bool:
    """Refuse settings of another store, before one could be made there. Gives whether it is sealed."""
    client = connect(store_url(settings), timeout=settings.redis_timeout, master=master_of(settings))
    try:
        wire = Wire(client)
        try:
            identity = known_identity(wire)
        finally:
            wire.close()
        if identity is None or identity.store_id != store:
            raise _another("none" if identity is None else identity.store_id, store)
        return client.seals.is_on
    finally:
        client.close()


def _another(own: str, asked: str) -> StoreMismatch:
    return StoreMismatch(
        f"a Dask worker has store {own} by its own ENGRAMLOG_REDIS_URL, and this command store {asked}: set the same for both"
    )
