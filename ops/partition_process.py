"""A process that does partitions for a command: `python -P -m engramlog_server.ops.partition_process rebuild` or `verify`.

A line of JSON on standard input is a partition to be done, one on standard output tells of it. It ends when its input ends:
its command wants no more, or is gone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from queue import SimpleQueue
from threading import Event as Flag
from threading import Thread

import msgspec

from engramlog_server.api.requests.checks import refusal_told
from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.redis.client import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.keys.master import master_of
from engramlog_server.ops.keys.place import keys_of
from engramlog_server.ops.processes.limits import look_seldom
from engramlog_server.ops.processes.shares import PartitionTask, ToldLine, do_one, told
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.tracebacks import clean_tracebacks, tell_words, traced
from engramlog_server.ops.worker import store_url
from engramlog_server.projections.redis.create import known_identity

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
    parser = argparse.ArgumentParser(prog="python -P -m engramlog_server.ops.partition_process", description=__doc__)
    parser.add_argument("work", choices=["rebuild", "verify"])
    work = parser.parse_args(arguments).work
    look_seldom()
    clean_tracebacks()
    settings = load_settings()
    client = connect(
        store_url(settings), timeout=settings.redis_timeout, master=master_of(settings), keys=keys_of(settings)
    )
    known_identity(open_wire(client))  # and with it whether the store is sealed
    tell_words(not client.seals.is_on)
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
                _say(told(do_one(work, client, task, moved, waits)))
            except EngramlogError as error:
                _say(ToldLine(error=dict(refusal_told(error)), exit_code=error.exit_code))
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
