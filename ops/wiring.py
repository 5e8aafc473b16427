"""Where the parts are joined: settings in, an application out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any, Literal

from api.accesses import AccessRecorder
from api.application import Application
from api.operating import Operator
from api.reading import Reader
from api.replaying import Replayer
from api.writing import Writer
from consumers.redis_presence import live_workers
from consumers.redis_worker import LEASE_MS, FoldWorker
from events.errors import NotYetFolded
from events.redis_wire import Wire
from ops.settings import Settings
from ops.store import OpenStore, open_the_store
from ops.worker import new_worker_id
from projections.builds import BuildKeys

CATCH_UP_SECONDS = 600.0
"""How long a command folds by itself before it gives up."""
WAIT_SECONDS = 30.0
"""How long a command waits for workers that live but make no progress."""
Tell = Callable[..., None]


class CatchUp:
    """Waits until positions are folded: by the store's workers, or by itself where none lives."""

    def __init__(self, store: OpenStore, tell: Tell) -> None:
        self._store = store
        self._tell = tell
        self._wire = store.wire()
        self._worker: FoldWorker | None = None

    def __call__(self, until: Mapping[int, int]) -> None:
        """Returns when every partition named is folded up to its seq. Raises NotYetFolded where that does not happen."""
        last, stalled_at = dict[int, int](), monotonic() + WAIT_SECONDS
        pause = 0.001
        while True:
            reached = self._checkpoints(until)
            if all(reached[partition] >= seq for partition, seq in until.items()) and self._worker is None:
                return
            if self._worker is not None or not self._others():
                self._fold(until)
                return
            if reached != last:
                last, stalled_at = reached, monotonic() + WAIT_SECONDS
            if monotonic() > stalled_at:
                raise NotYetFolded(
                    f"workers live, but nothing was folded for {WAIT_SECONDS:g} s; see `engramlog status`",
                    checkpoints=reached,
                )
            sleep(pause)
            pause = min(pause * 2, 0.05)

    def _checkpoints(self, until: Mapping[int, int]) -> dict[int, int]:
        tags, found = self._store.identity.tags, dict[int, int]()
        for partition in until:
            live = (self._wire.call("HGET", f"{{{tags[partition]}}}:meta", "live") or b"").decode()
            found[partition] = int(self._wire.call("HGET", BuildKeys(tags[partition], live).checkpoint, "seq") or 0)
        return found

    def _others(self) -> dict[str, Any]:
        return workers_of(self._wire)

    def _fold(self, until: Mapping[int, int]) -> None:
        if self._worker is None:
            self._worker = FoldWorker(self._store.client, self._store.identity.tags, new_worker_id(), tell=self._tell)
        if not self._worker.drain(until, CATCH_UP_SECONDS):
            raise NotYetFolded(
                f"the fold did not reach {dict(until)} in {CATCH_UP_SECONDS:g} s; see `engramlog status`"
            )

    def close(self) -> None:
        """Hand over what this process folded."""
        if self._worker is not None:
            self._worker.hand_over()
        self._wire.close()


def workers_of(wire: Wire) -> dict[str, dict[str, Any]]:
    """The fold workers that live now."""
    seconds, micros = wire.call("TIME")
    return live_workers(wire, int(seconds) * 1_000 + int(micros) // 1_000, LEASE_MS)


def quiet(_fact: str, **_facts: Any) -> None:
    """Tells nobody."""


def assemble(store: OpenStore, catch_up: CatchUp, tell: Tell = quiet) -> Application:
    """Join the parts on an open store."""
    accesses = AccessRecorder(store.log, tell)
    reader = Reader(store.log, store.views, accesses)
    writer = Writer(store.log, store.views, reader, catch_up)
    replayer = Replayer(reader, store.views)
    operator = Operator(store.client, store.identity, store.log, reader, writer, workers_of)
    recovery = store.embedded.recovery if store.embedded else None
    return Application(store.log, reader, writer, replayer, operator, accesses, recovery)


@contextmanager
def open_application(
    settings: Settings,
    role: Literal["up", "command"] = "command",
    *,
    tell: Tell = quiet,
    on_wait: Callable[[str], None] | None = None,
) -> Iterator[Application]:
    """The application for a command's duration: accesses are flushed and everything appended is folded at its end."""
    with open_the_store(settings, role, on_wait=on_wait) as store:
        catch_up = CatchUp(store, tell)
        application = assemble(store, catch_up, tell)
        try:
            yield application
            application.writer.settle(application.accesses.flush())
        finally:
            catch_up.close()
