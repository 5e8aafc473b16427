"""A healthy store has no differences, whatever was run on it and however often."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import pytest

from engramlog_server.api.operations.table import entries
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.consumers.jobs.opened import JobResources, Lent
from engramlog_server.consumers.jobs.run import JOBS, run, serving
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import OpenStore, open_the_store
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.redis.vectors import RedisVectors
from tests.acceptance.helpers.cli import Cli, event, lines, turn, written
from tests.doubles.embedding import WordEmbedder
from tests.given.events import created
from tests.given.vectors import Vectors
from tests.integration.live import live_store
from tests.servers import RedisServer
from tests.tampering import findings

LONG_AGO = (datetime.now(UTC) - timedelta(days=40)).isoformat()
DIGEST = "sha256:" + "a" * 64
COMMANDS = f"""
search ada tea --explain
get ada m0
get ada m9 --reveal
list ada
why ada m0
why ada m0 --above m1 --query tea
history ada
events ada
why ada m0 --provenance
assess ada tea
map ada tea
associations ada m0
facts ada
synonyms ada tea chai
synonyms ada
context ada "which tea do I drink?" --session s1
why ada m0 --uses
answers ada
compare ada
diff ada --since 2020-01-01
parameters --laws
parameters
profile ada
profile ada ebbinghaus
replay ada --query tea
add ada "I live in Porto" --tag place
edit ada m0 "I drink black tea at noon"
mention ada m0
reinforce ada m0
review ada
review ada m0 --grade 4
negate ada m1 --correction "I sold the kiln"
mention ada m2 --confirm
edit ada m3 --sensitivity 3 --reason "nobody's business"
list ada --as-of 2030-01-01
list ada --known 2030-01-01
merge ada m4 m5 --into both
unmerge ada both
delete ada m6
delete ada m6 --undo
delete ada m7 --with-sources
set-aside ada --ground https://example.org/tea --digest {DIGEST}
set-aside ada --session s1
set-aside ada
search ada tea
set-aside ada --session s1 --undo
retract ada --without-turn t3 --yes
extract ada
episodes ada
cleanup ada
export ada --everything
negate cy m40 --correction "I sold the kiln" --actor assistant
negate cy m41 --correction "I sold the cups" --actor assistant
negate cy m42 --correction "I sold the pots" --actor assistant
inbox cy
inbox cy ITEM --accept
inbox cy ITEM "I gave the cups away"
inbox cy ITEM --reject
health ada
fading ada
edit ada m2 --tier core
key new agent --can use --owners ada
grant agent --can read --owners ada
access
access --keys
access --reads
key revoke KEY
master-key
backup keys KEYS
backup make BACKUP --keys KEYS
status
status --jobs
status --capacity
status --models
alarms
stats ada
status --owners
verify --heads
dead
cleanup --all --job embed
append MORE
import turns TURNS
import turns CHATS --shape auto --owner cy
erase bo --ground objection --yes
erase ada m8 --ground objection --yes
erase bo --readmit
append AGAIN
rebuild
verify
doctor
"""
LEFT = 3
"""What `retract` ends with where something has no inverse, as links have none."""
ELSEWHERE = {
    "console", "mcp", "token", "up", "worker",  # stay, or ask one that stays
    "seal",  # what a new store never needs
    "demo",  # on a store of its own
    "install", "hook", "uninstall",  # write into a client, and ask a service that stays
}  # fmt: skip
"""Commands that are not run here."""


@contextmanager
def folding(store: OpenStore) -> Iterator[None]:
    """A worker folds meanwhile, as beside every service."""
    stop = Flag()
    worker = Thread(target=FoldWorker(store.client, store.identity.tags, "folder").run, args=(stop,))
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join()


class Healthy:
    """A store as `engramlog` makes it, whatever was run on it."""

    def __init__(self, store: OpenStore) -> None:
        self.store = store
        embedder = Lent(lambda: Embedders.alone(WordEmbedder))
        master = store.client.seals.master
        self._jobs = JobResources(
            store.url,
            10.0,
            lambda *_told, **_facts: None,
            Flag(),
            embedder=embedder,
            looked_at={},
            master=master,
            keys=store.client.seals.open_keys,
        )

    def is_clean(self, after: str) -> None:
        assert findings(self.store) == [], after

    def runs_all_jobs_twice(self) -> None:
        identity = self.store.identity
        with serving(self._jobs):
            for tick in ("first", "second"):
                for kind in JOBS:
                    for partition in range(len(identity.tags)):
                        run(kind, identity.store_id, partition, tick)
                    self.is_clean(f"{tick} {kind}")


def test_a_store_is_clean_after_every_job_of_every_partition_and_after_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("REDIS_URL", "SEALED_BY", "PARTITIONS"):
        monkeypatch.delenv(f"ENGRAMLOG_{name}", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_EMBEDDER", "tests.doubles:words")
    monkeypatch.setattr("engramlog_server.ops.models.maker_of", lambda _settings: lambda _name: WordEmbedder())
    cli = Cli(monkeypatch, capsys)
    said = [
        event(number, owner, content=f"{owner} said {number} of tea and of kilns") | {"occurred_at": LONG_AGO}
        for owner, first in (("ada", 0), ("bo", 20), ("cy", 40))
        for number in range(first, first + 10)
    ]
    turns = [turn(number, f"I drink tea in room {number}") | {"occurred_at": LONG_AGO} for number in range(5)]
    chat = {"id": "c", "created_at": 1_704_096_000, "messages": [{"role": "user", "content": "早上喝茶"}]}
    names = {
        "MORE": written(tmp_path / "more.jsonl", [event(60, "dee")]),
        "AGAIN": written(tmp_path / "again.jsonl", [event(61, "bo")]),
        "TURNS": written(tmp_path / "turns.jsonl", [one | {"conversation": "dee"} for one in turns]),
        "CHATS": written(tmp_path / "chats.jsonl", [chat]),
        "KEYS": str(tmp_path / "keys"),
        "BACKUP": str(tmp_path / "backup"),
    }
    with open_the_store(load_settings(), "up") as store, folding(store):
        healthy = Healthy(store)
        healthy.is_clean("its making")
        healthy.runs_all_jobs_twice()
        for name, told in (("append", said), ("import turns", turns)):
            cli(*name.split(), "-", stdin=lines(told))
            healthy.is_clean(name)
        healthy.runs_all_jobs_twice()
        assert RedisVectors(WirePool(store.client), store.identity.tags).count("ada", "words/1") > 0
        ran = set[str]()
        for line in COMMANDS.strip().splitlines():
            if "ITEM" in line:
                names["ITEM"] = cli.json("inbox", "cy")["items"][0]["item"]
            words = [names.get(word, word) for word in shlex.split(line)]
            told = cli(*words, code=LEFT if words[0] == "retract" else 0)
            if words[0] == "key" and "egl_" in told.out:
                names["KEY"] = told.out.partition("egl_")[2][:8]
            ran.add(words[0])
            healthy.is_clean(line)
        healthy.runs_all_jobs_twice()
    assert set(entries()) <= ran | ELSEWHERE


@pytest.fixture
def stood(redis_server: RedisServer) -> Iterator[Vectors]:
    with live_store(redis_server.url, partitions=2) as live:
        live.start_worker("folder")
        made = Vectors(live)
        yield made
        made.views.close()
        made.vectors.close()


def test_a_walk_that_only_takes_vectors_away_leaves_nothing_that_verify_refuses(stood: Vectors) -> None:
    stood.tell("ada", created("I drink tea", "tea"))
    for job in (stood.job, stood.job_by(None)):
        for partition in range(2):
            job.walk(partition)
        assert findings(stood.live) == []


def test_a_walk_over_nobody_leaves_nothing_that_verify_refuses_when_somebody_comes(stood: Vectors) -> None:
    for job in (stood.job, stood.job_by(None)):
        for partition in range(2):
            job.walk(partition)
    assert findings(stood.live) == []
    stood.tell("ada", created("I drink tea", "tea"))
    assert findings(stood.live) == []
