"""A fleet of services and fold workers, each a process of one of two versions, that is replaced member by member."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from time import monotonic
from typing import Any

from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.redis.create import open_store
from engramlog_server.projections.redis.store import read_checkpoint
from tests.chaos.attendants import live_keys
from tests.chaos.cast import LAUNCHER, ROOT, Actor, wait_until
from tests.chaos.ledger import Ledger
from tests.chaos.rolling.asking import TOKEN, HttpProducer
from tests.chaos.story import OwnerStory
from tests.patience import PATIENCE

ARCHIVE = ROOT / "tests" / "releases" / "engramlog-before.tar.xz"
"""An older version whose fold is today's: the package `engramlog_server` of commit fd08752c."""
STORE_ID = "7b0b7a60-38f1-4a63-9d2b-52f7a1f0c9ab"
PARTITIONS = 4
LEASE_MS = 1_000
LOOK_SECONDS = 0.02


def earlier(folder: Path) -> Path:
    """The version of before, unpacked in a folder."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    where = "import engramlog_server.ops.worker as worker; print(worker.__file__)"
    words, environment = [sys.executable, "-P", "-c", where], os.environ | {"PYTHONPATH": str(folder)}
    ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert Path(ran.stdout.strip()).is_relative_to(folder), f"today's version would run: {ran.stdout}"
    return folder


class Member(Actor):
    """A process of one version: `root` is the folder of its packages."""

    def __init__(self, root: Path, words: list[str], log: Path, environment: dict[str, str]) -> None:
        self.root, self.log, self.fate, self.killed = root, log, "", False
        self._start = 0
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), sys.executable, "-P", "-m", *words],
                cwd=root,
                env=os.environ | environment | {"PYTHONPATH": str(root)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    def facts(self, name: str) -> list[dict[str, Any]]:
        """The lines of its log that tell this fact."""
        found = []
        for line in self.told().splitlines():
            with suppress(ValueError):
                told = json.loads(line)
                if isinstance(told, dict) and told.get("event") == name:
                    found.append(told)
        return found

    def left(self) -> None:
        """SIGTERM, and wait until it handed over and ended in order."""
        self.end(4 * PATIENCE)
        assert self.code == 0, f"ended with {self.code}: {self.told()[-3000:]}"


def _started(member: Member) -> list[dict[str, Any]]:
    return member.facts("service started") or member.facts("ready")  # as the version of before calls it


class Fleet:
    """Services and workers on one store, producers that ask the services, and a look at how long folding stands still."""

    def __init__(self, url: str, queue_url: str, folder: Path, *, producers: int = 2, seed: int = 1) -> None:
        self.url, self.queue_url, self.folder = url, queue_url, folder
        self.client = connect(url)
        self.wire = open_wire(self.client)
        self.tags = open_store(self.wire, store_id=STORE_ID, partitions=PARTITIONS).tags
        self.ledger = Ledger()
        self.services: list[tuple[Member, str]] = []
        self.workers: list[Member] = []
        self._count = 0
        stories = [OwnerStory(seed, f"owner{number}") for number in range(6 * producers)]
        self.producers = [
            HttpProducer(f"producer{n}", self._addresses, self.ledger, stories[n::producers], seed)
            for n in range(producers)
        ]
        self.watch = FoldWatch(url, self.tags)

    def _addresses(self) -> list[str]:
        return [address for _, address in self.services]

    def _environment(self) -> dict[str, str]:
        return {
            "ENGRAMLOG_REDIS_URL": self.url,
            "ENGRAMLOG_QUEUE_URL": self.queue_url,
            "ENGRAMLOG_DATA": str(self.folder / f"data{self._count}"),
            "ENGRAMLOG_TOKEN": TOKEN,
            "ENGRAMLOG_JOB_WORKERS": "0",  # they tell events of their own, which are in nobody's ledger
            "ENGRAMLOG_SEALED_BY": "none",
        }

    def worker(self, root: Path) -> Member:
        """One more fold worker."""
        self._count += 1
        words = ["engramlog_server.ops.worker", "--lease-ms", str(LEASE_MS)]
        member = Member(root, words, self.folder / f"worker{self._count}.log", self._environment())
        self.workers.append(member)
        wait_until(lambda: bool(member.facts("worker started")), lambda: f"a worker starts: {member.told()}")
        return member

    def service(self, root: Path) -> Member:
        """One more `engramlog up`, with a fold worker of its own."""
        self._count += 1
        words = ["engramlog_server.ops.main", "up", "--port", "0", "--workers", "1", "--json"]
        member = Member(root, words, self.folder / f"service{self._count}.log", self._environment())
        wait_until(lambda: bool(_started(member)) or member.code is not None, lambda: f"ready: {member.told()}")
        (told,) = _started(member)
        self.services.append((member, told["url"]))
        return member

    def command(self, root: Path, *words: str) -> tuple[int, Any]:
        """An `engramlog` command of a version: its exit code, and its JSON."""
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "engramlog_server.ops.main", *words, "--json"],
            cwd=root,
            env=os.environ | self._environment() | {"PYTHONPATH": str(root)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=4 * PATIENCE,
            check=False,
        )
        with suppress(ValueError):
            return ran.returncode, json.loads(ran.stdout)
        return ran.returncode, ran.stderr.decode()

    def roll(self, root: Path, *, services_first: bool = False) -> None:
        """Replace every member by one of another version, one after the other: workers, then services."""
        for replace in (self._roll_services, self._roll_workers)[:: 1 if services_first else -1]:
            replace(root)

    def _roll_workers(self, root: Path) -> None:
        for before in list(self.workers):
            self.worker(root)
            before.left()
            self.workers.remove(before)
            self.goes_on()

    def _roll_services(self, root: Path) -> None:
        for one in list(self.services):
            self.service(root)
            self.services.remove(one)  # producers are told of it no more, as a balancer would
            one[0].left()
            self.goes_on()

    def flows(self) -> None:
        """Begin, and wait until events of every partition are folded."""
        self.watch.start()
        for producer in self.producers:
            producer.start()
        self._await(lambda: all(self.checkpoint(p) >= 10 for p in range(PARTITIONS)), "events flow and are folded")

    def goes_on(self) -> None:
        """Wait until what is acknowledged from now on is folded, of every partition."""
        before = self.ledger.highest()
        self._await(lambda: all(self.ledger.highest()[p] > before[p] for p in before), "events are acknowledged")
        reached = self.ledger.highest()
        self._await(lambda: all(self.checkpoint(p) >= seq for p, seq in reached.items()), "and folded")

    def checkpoint(self, partition: int) -> int:
        """How far a partition is folded."""
        return read_checkpoint(self.wire, live_keys(self.wire, self.tags[partition])).seq

    def head(self, partition: int) -> int:
        """Its newest seq."""
        return int(self.wire.call("HGET", LogKeys(self.tags[partition]).meta, "head") or 0)

    def pauses(self) -> tuple[float, float]:
        """Seconds that a request took at most, and that a partition with events waited, since this was last asked."""
        return max(one.taken() for one in self.producers), self.watch.taken()

    def settled(self) -> None:
        """No more events, and all that were acknowledged folded."""
        for producer in self.producers:
            producer.finish()
        self._await(lambda: all(one.is_done for one in self.producers), "everything is answered")
        self._await(lambda: all(self.checkpoint(p) == self.head(p) for p in range(PARTITIONS)), "everything is folded")
        self.watch.end()

    def _await(self, holds: Callable[[], bool], what: str) -> None:
        def looked() -> bool:
            for producer in self.producers:
                if producer.failure is not None:
                    raise producer.failure
            return holds()

        wait_until(looked, lambda: f"{what}; {self._told()}", seconds=4 * PATIENCE)

    def _told(self) -> str:
        logs = [member.told()[-1500:] for member in (*self.workers, *(one for one, _ in self.services))]
        counts = {p: (self.ledger.highest().get(p), self.checkpoint(p), self.head(p)) for p in range(PARTITIONS)}
        return f"told, folded, head: {counts}\n" + "\n".join(logs)

    def close(self) -> None:
        """End everybody."""
        for producer in self.producers:
            producer.finish()
        self.watch.end()
        for member in (*self.workers, *(one for one, _ in self.services)):
            member.kill()
        self.wire.close()
        self.client.close()


class FoldWatch(Thread):
    """Looks how long any partition's checkpoint stays where it is while events wait behind it."""

    def __init__(self, url: str, tags: tuple[str, ...]) -> None:
        super().__init__(name="fold watch", daemon=True)
        self._client = connect(url)
        self._tags = tags
        self._stop_asked = Flag()
        self.longest = 0.0
        """Seconds."""

    def run(self) -> None:
        """Look until told to end."""
        wire = open_wire(self._client)
        since: dict[str, tuple[int, float]] = {}
        while not self._stop_asked.wait(LOOK_SECONDS):
            for tag in self._tags:
                folded = read_checkpoint(wire, live_keys(wire, tag)).seq
                head = int(wire.call("HGET", LogKeys(tag).meta, "head") or 0)
                seen, at = since.get(tag, (-1, monotonic()))
                if seen != folded or folded >= head:
                    since[tag] = (folded, monotonic())
                else:
                    self.longest = max(self.longest, monotonic() - at)
        wire.close()
        self._client.close()

    def taken(self) -> float:
        """The longest since this was last asked."""
        longest, self.longest = self.longest, 0.0
        return longest

    def end(self) -> None:
        """Look no more."""
        self._stop_asked.set()
        if self.ident is not None:
            self.join()
