"""A store's job queue as a test works it: in its own thread, or by a process as `up` starts it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event as Flag
from typing import Any
from uuid import uuid4

from engramlog_server.consumers.jobs.opened import JobResources
from engramlog_server.consumers.jobs.queue import JobScheduler, JobValidator, JobWorker, store_queue
from engramlog_server.consumers.jobs.run import KINDS, Kinds, run, serving
from engramlog_server.events.redis.server import connect
from engramlog_server.ops.clock import Every
from tests.integration.live import Live


class Served:
    """A process that serves a store's jobs, as `ops.job_worker` is, in the test's thread."""

    def __init__(self, live: Live, url: str) -> None:
        self.store_id = live.identity.store_id
        self.stop = Flag()
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.alarms: list[tuple[str, str, str]] = []
        client = connect(url)
        validator = JobValidator(client, self.store_id, live.log.partitions, self, self.tell)
        self.queue = store_queue(client, validator, self.stop)
        self.serving = JobResources(url, 10.0, self.tell, self.stop)

    def raised(self, name: str, subject: str = "", text: str = "") -> None:
        """Note an alarm."""
        self.alarms.append((name, subject, text))

    def cleared(self, name: str, subject: str = "") -> None:
        """No job ends an alarm."""
        raise AssertionError((name, subject))

    def tell(self, fact: str, **facts: Any) -> None:
        """Note what the process would log."""
        self.told.append((fact, facts))

    def worker(self) -> JobWorker:
        """A worker of the queue."""
        return JobWorker(self.queue, f"test-{uuid4().hex}", self.tell)

    def run(self, kind: str, partition: int) -> Any:
        """The job function itself."""
        with serving(self.serving):
            return run(kind, self.store_id, partition, "20260101T0000")

    def work(self) -> JobWorker:
        """All jobs that wait."""
        with serving(self.serving):
            worker = self.worker()
            worker.work(burst=True, logging_level="CRITICAL")
        return worker


@contextmanager
def scheduled(url: str, store_id: str = "test", partitions: int = 1, kinds: Kinds = KINDS) -> Iterator[None]:
    """The jobs of a store are scheduled meanwhile, as `up` does; `url`: of the queue's Redis."""
    client = connect(url)
    cron = JobScheduler(client, store_id, partitions, f"test-{uuid4().hex}", kinds=kinds)
    every = Every(0.1, lambda: cron.tend(cron.now_ms()), "schedule").start()
    try:
        yield
    finally:
        every.stop()
        cron.leave()
        client.close()


@contextmanager
def job_worker(url: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A job worker as a process, ended by its id at the latest here."""
    command = [sys.executable, "-P", "-m", "engramlog_server.ops.job_worker", "--url", url, *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
