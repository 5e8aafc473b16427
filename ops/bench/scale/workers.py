"""Fold workers as processes of their own, asked what they took."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Self

import msgspec

from events.errors import EngramlogError
from events.partitions import LogKeys
from events.redis.wire import Wire
from ops.bench.scale.servers import Nodes, wait_until
from projections.fold.builds import FIRST_BUILD, BuildKeys

FOLD_SECONDS = 3_600.0


class WorkerTaken(msgspec.Struct, frozen=True):
    """What a worker took since it began: seconds of CPU, events folded, partitions held now, most bytes of memory ever."""

    cpu: float
    folded: int
    held: list[int]
    most_bytes: int


class WorkerProcess:
    """One worker: made ready, begun, asked, ended."""

    def __init__(self, nodes: Nodes, name: str, *, sealed: bool) -> None:
        command = [sys.executable, "-P", "-m", "ops.bench.scale.fold_process", name]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._send(f"{nodes.url} {'sealed' if sealed else 'open'}")

    def await_ready(self) -> None:
        """Wait until it has met the others. Raises EngramlogError."""
        if self._line() != b"ready\n":
            raise EngramlogError("a fold worker of the benchmark did not start")

    def begin(self) -> Self:
        """Let it fold."""
        self._send("begin")
        return self

    def taken(self) -> WorkerTaken:
        """Since it began."""
        self._send("tell")
        return msgspec.json.decode(self._line(), type=WorkerTaken)

    def end(self) -> WorkerTaken:
        """Have it hand over; what it took in all."""
        self.tell_to_end()
        return msgspec.json.decode(self._line(), type=WorkerTaken)

    def tell_to_end(self) -> None:
        """The same without waiting."""
        self._send("end")

    def kill(self) -> None:
        """SIGKILL; idempotent."""
        self._process.kill()
        self._process.communicate()

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@contextmanager
def fold_workers(nodes: Nodes, count: int, *, sealed: bool = False) -> Iterator[list[WorkerProcess]]:
    """So many, ready and not begun; none is left after the block."""
    with ExitStack() as stack:
        found = []
        for number in range(count):
            one = WorkerProcess(nodes, f"bench-{number}", sealed=sealed)
            stack.callback(one.kill)
            found.append(one)
        for one in found:
            one.await_ready()
        yield found


def heads_of(wire: Wire, tags: Sequence[str]) -> list[int]:
    """The newest seq of each partition."""
    return [int(one or 0) for one in wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in tags])]


def await_folded(wire: Wire, tags: Sequence[str]) -> None:
    """Wait until all that is in the log is folded."""
    heads = heads_of(wire, tags)
    asked = [["HGET", BuildKeys(tag, FIRST_BUILD).checkpoint, "seq"] for tag in tags]

    def folded() -> bool:
        return all(int(at or 0) >= head for at, head in zip(wire.answers(asked), heads, strict=True))

    wait_until(folded, "the benchmark's events are folded", FOLD_SECONDS)
