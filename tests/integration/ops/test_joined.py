"""What a command joins: the services that it asks for, and no module of another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Thread
from threading import Event as Flag

import pytest

from engramlog_server.api.application import Application, joined
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.errors import NotYetFolded
from engramlog_server.events.partitions import LogKeys
from engramlog_server.ops.catch_up import FoldCatchUp
from engramlog_server.ops.clock import silent
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import JoinedApplication, application_on, open_application
from tests.patience import PATIENCE

RUN = """
import json, sys
from engramlog_server.ops.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
print(json.dumps([code, *sys.modules]), file=sys.stderr)
"""
SERVERS = {"fastapi", "starlette", "uvicorn", "mcp", "rq", "structlog", "prometheus_client"}
PICTURES = {"networkx"}
OTHERS = {"httpx2", "urllib.request", "rjieba"}
OF_A_STORE_THAT_STAYS = {
    "engramlog_server.consumers.jobs",
    "engramlog_server.consumers.fold.worker",
    "engramlog_server.ops.logs",
    "engramlog_server.ops.worker",
    "engramlog_server.api.http",
}
OF_OTHER_COMMANDS = {
    "engramlog_server.api.exchange.chats",
    "engramlog_server.api.exchange.records",
    "engramlog_server.api.access",
    "engramlog_server.api.services.jobs",
    "engramlog_server.api.services.context",
    "engramlog_server.api.services.deleting",
    "engramlog_server.api.services.knowing",
    "engramlog_server.api.services.operating",
    "engramlog_server.projections.lifecycle",
    "engramlog_server.projections.prompt",
}
OF_JUDGING = {"engramlog_server.projections.lifecycle", "rjieba"}
"""What is told is judged beside what is known, in two languages."""
NEVER = SERVERS | PICTURES | OTHERS | OF_A_STORE_THAT_STAYS | OF_OTHER_COMMANDS
OF_WRITING = {
    "engramlog_server.api.services.writing",
    "engramlog_server.projections.decide.commands",
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Of a store that another process keeps open, as `up` does, with one memory."""
    folder = tmp_path_factory.mktemp("joined") / "store"
    settings, stop = Settings(data=folder, partitions=2), Flag()
    with open_the_store(settings, "up") as store, application_on(store, settings) as application:
        worker = FoldWorker(store.client, store.identity.tags, "lasting")
        thread = Thread(target=worker.run, args=(stop,))
        thread.start()
        application.rememberer.add("alice", "I drink coffee", memory_id="m-1")
        yield {**os.environ, "ENGRAMLOG_DATA": str(folder)}
        stop.set()
        thread.join()


def modules_of(environment: dict[str, str], *words: str) -> set[str]:
    """What a command loads in a process of its own, on a store that is warm."""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", RUN, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    code, *modules = json.loads(ran.stderr.splitlines()[-1])
    assert code == 0, ran.stderr
    return set(modules)


def test_a_build_that_another_release_folded_is_named_with_its_cure(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "store", partitions=1)
    with open_the_store(settings, "command") as store, application_on(store, settings) as application:
        store.client.hset(LogKeys(store.identity.tags[0]).meta, "live", "v0")
        with pytest.raises(NotYetFolded, match=r"as version 0.*`engramlog rebuild`"):
            application.rememberer.add("alice", "I drink coffee")


@pytest.mark.parametrize("words", [("search", "alice", "coffee"), ("list", "alice"), ("get", "alice", "m-1")])
def test_a_question_loads_no_service_but_the_one_that_answers(environment: dict[str, str], words: list[str]) -> None:
    loaded = modules_of(environment, *words)
    assert "engramlog_server.api.services.reading" in loaded
    assert loaded & (NEVER | OF_WRITING) == set()


def test_remembering_loads_the_writer_and_no_other_service(environment: dict[str, str]) -> None:
    loaded = modules_of(environment, "add", "alice", "I drink tea")
    assert loaded >= OF_WRITING
    assert loaded & (NEVER - OF_JUDGING) == set()


def test_a_service_is_joined_when_it_is_first_asked_for(tmp_path: Path) -> None:
    with open_application(Settings(data=tmp_path / "store", partitions=2)) as application:
        assert "reader" not in vars(application)
        assert application.reader is application.reader
        assert {"reader", "accesses"} == JoinedApplication.services() & set(vars(application))


def test_a_process_that_stays_joins_every_service_at_its_start(tmp_path: Path) -> None:
    with open_application(Settings(data=tmp_path / "store", partitions=2), "up") as application:
        assert JoinedApplication.services() <= set(vars(application))


def test_every_service_of_the_application_is_joined_when_it_is_asked_for() -> None:
    told = {name for name, member in vars(Application).items() if isinstance(member, joined | property)}
    assert JoinedApplication.services() - told == {"_lifecycle", "_ledger", "_queue"}
    assert told <= JoinedApplication.services()


def test_threads_that_ask_at_the_same_time_are_given_the_same_service(tmp_path: Path) -> None:
    many = 8
    start = Barrier(many)

    def asked(application: Application) -> int:
        start.wait(PATIENCE)
        return id(application.accesses)

    with open_the_store(Settings(data=tmp_path / "store", partitions=2)) as store, ThreadPoolExecutor(many) as threads:
        catch_up = FoldCatchUp(store, silent)
        application = JoinedApplication(store, catch_up)
        assert len(set(threads.map(asked, [application] * many))) == 1
        catch_up.end()
