"""Partitions of one command, done by several processes: each takes the next one when it is done with one.

A process that dies, an error and an interrupted command all end the others: each hands over what it holds, within seconds.

The process is `python -P -m engramlog_server.ops.processes.shares rebuild` or `verify`. A line of JSON on its standard input is a
partition to be done, one on standard output reports it. It ends when its input ends: its command wants no more, or is gone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from queue import SimpleQueue
from threading import Event as Flag
from threading import Lock, Thread
from time import monotonic
from typing import Any, Literal, NamedTuple

import msgspec
import redis

from engramlog_server.api.checks import safe_refusal
from engramlog_server.consumers.fold.rebuild import Rebuilt, rebuild_partition
from engramlog_server.consumers.verify.findings import Findings
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.keys.master import keys_of, master_of
from engramlog_server.ops.processes.life import look_seldom, new_worker_id
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.tracebacks import clean_tracebacks, log_words, traced
from engramlog_server.ops.worker import store_url
from engramlog_server.projections.redis.create import known_identity

Work = Literal["rebuild", "verify"]
Progress = Callable[[int, int, int], None]
"""Partition, how far, of how much."""
Notice = Callable[[str], None]
EVENTS_A_PROCESS = 50_000
"""A process more is started for so many events only: it takes half a second to be there."""
END_SECONDS = 5.0


class PartitionTask(msgspec.Struct):
    """A partition that is to be done."""

    partition: int
    tag: str
    chain_at: list[int] = []
    """Seqs at which a verification is to tell the log's chain."""


class ToldLine(msgspec.Struct, omit_defaults=True):
    """What a process tells of its partition, as one line of JSON."""

    at: int = 0
    of: int = 0
    notice: str = ""
    rebuilt: Rebuilt | None = None
    found: Findings | None = None
    digest: str = ""
    """Of what was found, in hex: JSON has no numbers of its size."""
    error: dict[str, Any] | None = None
    exit_code: int = 1


class PartitionDone(NamedTuple):
    """A partition that is done: one of these."""

    partition: int
    rebuilt: Rebuilt | None = None
    found: Findings | None = None


def process_count(asked: int | None, partitions: int, events: int) -> int:
    """How many processes do so many partitions with so many events; `asked` by somebody, else what pays on these cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min(asked or min(cores, events // EVENTS_A_PROCESS), partitions), 1)


def _do_one(
    work: Work,
    client: redis.Redis,
    task: PartitionTask,
    on_progress: Progress,
    on_wait: Notice,
) -> PartitionDone:
    """Do one partition in this process. Raises what `rebuild_partition` and `verify_partition` raise."""
    number = task.partition

    def moved(at: int, of: int) -> None:
        on_progress(number, at, of)

    if work == "verify":
        chain_at = task.chain_at
        found = verify_partition(client, number, task.tag, chain_at=chain_at, on_progress=moved)
        return PartitionDone(number, found=found)
    holder = new_worker_id()
    return PartitionDone(number, rebuild_partition(client, task.tag, holder=holder, on_wait=on_wait, on_progress=moved))


def do_all(
    work: Work,
    client: redis.Redis,
    where: Mapping[str, str],
    tasks: Iterable[PartitionTask],
    count: int,
    on_progress: Progress,
    on_wait: Notice,
) -> Generator[PartitionDone, None, None]:
    """Every partition as it is done, by so many processes; by this one where it is one. `where`: settings that tell of the store.

    Raises the first error that one of them raised, and EngramlogError where one died.
    """
    if count == 1:
        for task in tasks:
            yield _do_one(work, client, task, on_progress, on_wait)
        return
    with closing(_Crew(work, where, tasks, count)) as crew:
        while (done := crew.next_done(on_progress, on_wait)) is not None:
            yield done


def error_of(line: ToldLine) -> EngramlogError:
    """The error that a process told."""
    told = line.error or {}
    error = EngramlogError(str(told.get("message", "")))
    error.told, error.exit_code = told, line.exit_code
    return error


def told(done: PartitionDone) -> ToldLine:
    """A partition that is done as a line."""
    found = done.found
    if found is None:
        return ToldLine(rebuilt=done.rebuilt)
    return ToldLine(found=replace(found, digest=0), digest=f"{found.digest:x}")


class _Crew:
    """The processes, and a thread for each that hands it partitions and hears what it tells."""

    def __init__(self, work: Work, where: Mapping[str, str], tasks: Iterable[PartitionTask], count: int) -> None:
        self._work = work
        self._waiting, self._taking = iter(tasks), Lock()
        self._at_work = count
        self._told: SimpleQueue[tuple[PartitionTask, ToldLine] | Exception | None] = SimpleQueue()
        environment = {**os.environ, **where}  # it may hold a password: everybody can read arguments
        self._processes = [self._start(environment) for _ in range(count)]
        self._threads = [Thread(target=self._drive, args=(process,), daemon=True) for process in self._processes]
        for thread in self._threads:
            thread.start()

    def _start(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "engramlog_server.ops.processes.shares", self._work]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, start_new_session=True)

    def _drive(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                with self._taking:
                    task = next(self._waiting, None)
            except Exception as error:  # noqa: BLE001 - what there is to be done could not be read: who waits is told
                self._told.put(error)
                return
            if task is None:
                self._told.put(None)
                return
            line = self._done_by(process, task)
            self._told.put((task, line))
            if line.error is not None:
                return

    def _done_by(self, process: subprocess.Popen[bytes], task: PartitionTask) -> ToldLine:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError, ValueError, msgspec.MsgspecError):  # it died, or this command ends
            process.stdin.write(msgspec.json.encode(task) + b"\n")
            process.stdin.flush()
            for raw in process.stdout:
                line = msgspec.json.decode(raw, type=ToldLine)
                if any(one is not None for one in (line.rebuilt, line.found, line.error)):
                    return line
                self._told.put((task, line))
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        return ToldLine(error=_died(self._work, task.partition, process.returncode).as_dict())

    def next_done(self, on_progress: Progress, on_wait: Notice) -> PartitionDone | None:
        """The next partition that is done, None once all are; tells how far the others are meanwhile. Raises as `do_all`."""
        while self._at_work:
            heard = self._told.get()
            if heard is None:
                self._at_work -= 1
                continue
            if isinstance(heard, Exception):
                raise heard
            task, line = heard
            if line.error is not None:
                raise error_of(line)
            if line.found is not None:
                return PartitionDone(task.partition, found=replace(line.found, digest=int(line.digest, 16)))
            if line.rebuilt is not None:
                return PartitionDone(task.partition, line.rebuilt)
            if line.notice:
                on_wait(line.notice)
            else:
                on_progress(task.partition, line.at, line.of)
        return None

    def close(self) -> None:
        """End all of them: each hands over when its input ends, and is killed where it does not."""
        with self._taking:
            self._waiting = iter(())
        for process in self._processes:
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
        end = monotonic() + END_SECONDS
        for process in self._processes:
            try:
                process.wait(max(end - monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for process, thread in zip(self._processes, self._threads, strict=True):
            thread.join()  # it reads to the end of what the process told
            if process.stdout is not None:
                process.stdout.close()


def _died(work: Work, partition: int, code: int | None) -> EngramlogError:
    how = "does not answer" if code is None else f"ended with signal {-code}" if code < 0 else f"ended with code {code}"
    cure = {"rebuild": "engramlog rebuild goes on where it stood", "verify": "nothing was written; run it again"}[work]
    return EngramlogError(
        f"the process at partition {partition} {how}; the others were ended: {cure}", partition=partition
    )


PATIENT_SECONDS = 4.0
"""How long it may take to hand over once its input has ended."""


class _Ended(Exception):
    """Nobody wants it any more."""


class _Input:
    """Partitions to be done, and whether that is still wanted."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[PartitionTask | None] = SimpleQueue()
        self.ended = Flag()

    def read(self) -> None:
        """Until the input ends, or cannot be read; then this process ends too."""
        try:
            for line in sys.stdin.buffer:
                self.tasks.put(msgspec.json.decode(line, type=PartitionTask))
        finally:
            self.ended.set()
            self.tasks.put(None)
            Flag().wait(PATIENT_SECONDS)
            os._exit(1)

    def refuse_end(self) -> None:
        """Raises _Ended."""
        if self.ended.is_set():
            raise _Ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry of the process."""
    parser = argparse.ArgumentParser(prog="python -P -m engramlog_server.ops.processes.shares", description=__doc__)
    parser.add_argument("work", choices=["rebuild", "verify"])
    work = parser.parse_args(arguments).work
    look_seldom()
    clean_tracebacks()
    settings = load_settings()
    client = connect(
        store_url(settings), timeout=settings.redis_timeout, master=master_of(settings), keys=keys_of(settings)
    )
    known_identity(open_wire(client))  # and with it whether the store is sealed
    log_words(not client.seals.is_on)
    given = _Input()
    Thread(target=given.read, name="input", daemon=True).start()

    def moved(_partition: int, at: int, of: int) -> None:
        given.refuse_end()
        _say(ToldLine(at=at, of=of))

    def waits(notice: str) -> None:
        given.refuse_end()
        _say(ToldLine(notice=notice))

    try:
        while (task := given.tasks.get()) is not None:
            try:
                _say(told(_do_one(work, client, task, moved, waits)))
            except EngramlogError as error:
                _say(ToldLine(error=dict(safe_refusal(error)), exit_code=error.exit_code))
    except (_Ended, BrokenPipeError):
        os._exit(1)  # nobody listens
    except Exception as error:  # noqa: BLE001 - the end of the process, whose input is still read by a thread
        sys.stderr.write(traced(error))
        os._exit(1)
    return 0


def _say(line: ToldLine) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
