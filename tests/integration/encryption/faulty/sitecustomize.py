"""Faults in every process of an `up` that is started with this folder on its path, each of which quotes what somebody said.

`CANARY_IN_WORKER`, `CANARY_IN_JOB`: what the error says that ends a fold worker at its first start, and every job. An append of an
event with `CANARY_IN_API` in it fails in the process that appends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any


def worker_ends(module: Any) -> None:
    """The first worker ends with an error that has another behind it."""
    run, once = module.FoldWorker.run, Path(os.environ["CANARY_ONCE"])

    def faulty(self: Any, stop: Any) -> None:
        if not once.exists():
            once.touch()
            said = os.environ["CANARY_IN_WORKER"]
            try:
                {}[said]
            except KeyError as error:
                raise ValueError(f"cannot read {said!r}") from error
        run(self, stop)

    module.FoldWorker.run = faulty


def job_fails(module: Any) -> None:
    """Every job fails."""

    def faulty(*_arguments: Any) -> None:
        raise ValueError(f"cannot read {os.environ['CANARY_IN_JOB']!r}")

    module.run = faulty


def never_again(module: Any) -> None:
    """A job that failed is not tried again, so that RQ keeps what it failed with."""
    module.RETRY.max = 0


def append_fails(module: Any) -> None:
    """An append of certain words fails."""
    append, said = module.RedisEventLog.append, os.environ["CANARY_IN_API"]

    def faulty(self: Any, events: Sequence[Any], **asked: Any) -> Any:
        if any(said in repr(one) for one in events):
            raise ValueError(f"cannot append {events!r}")
        return append(self, events, **asked)

    module.RedisEventLog.append = faulty


FAULTS: dict[str, Callable[[Any], None]] = {
    "engramlog_server.consumers.fold.worker": worker_ends,
    "engramlog_server.consumers.jobs.queue": never_again,
    "engramlog_server.consumers.jobs.run": job_fails,
    "engramlog_server.events.redis.log": append_fails,
}


class Faulty(Loader):
    """Loads a module as ever, and puts the fault into it."""

    def __init__(self, found: Loader, fault: Callable[[Any], None]) -> None:
        self._found, self._fault = found, fault

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._found.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._found.exec_module(module)
        self._fault(module)


class Finder(MetaPathFinder):
    """Finds the modules that are to have faults."""

    def find_spec(self, name: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        fault = FAULTS.pop(name, None)
        if fault is None or (found := find_spec(name)) is None or found.loader is None:
            return None
        found.loader = Faulty(found.loader, fault)
        return found


sys.meta_path.insert(0, Finder())
