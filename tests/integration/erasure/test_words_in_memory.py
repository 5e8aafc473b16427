"""49 made-up words, in both languages, are erased while `up` runs: no place has one of them afterwards, and no process of `up`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ahocorasick_rs import BytesAhoCorasick

from tests.given.http import TOKEN
from tests.given.mcp import COMMAND, Agent, talk
from tests.integration.encryption.aviary import Aviary, aviary
from tests.integration.live import wait_until
from tests.patience import PATIENCE

WORDS, HAN = 40, 9
CHUNK = 1 << 22
_REGION = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw")


def tell(at: Aviary) -> None:
    """Half of them as turns, half as memories; then questions that bring them into memory."""
    words = [at.canaries.word(f"word {number}") for number in range(WORDS)]
    words += [at.canaries.han(f"han {number}") for number in range(HAN)]
    turns = [
        ("TurnRecorded", {"turn_id": f"t{number}", "role": "user", "text": said(word)})
        for number, word in enumerate(words)
        if number % 2
    ]
    at.append(*turns)
    for word in words[::2]:
        at.post("/memories", {"content": said(word)})
    at.folded()
    for word in words[:10]:
        at.get("/search", query=word)
    at.get("/export", everything="true")


def said(word: str) -> str:
    return f"my dentist {word} lives by the river" if word.isascii() else f"我的牙医{word}住在河边"


def held(pid: int, words: list[str]) -> set[str]:
    """Those words that a process has in memory that it may write to, as UTF-8 or as Python keeps it."""
    forms = [(word, form) for word in words for form in (word.encode(), word.encode("utf-16-le"))]
    search, found = BytesAhoCorasick([form for _, form in forms]), set[str]()
    with closing(os.fdopen(os.open(f"/proc/{pid}/mem", os.O_RDONLY), "rb", 0)) as memory:
        for raw in _regions(pid, memory.fileno()):
            found |= {forms[at][0] for at, _, _ in search.find_matches_as_indexes(raw)}
    return found


def _regions(pid: int, memory: int) -> Iterator[bytes]:
    for begin, end in _REGION.findall(Path(f"/proc/{pid}/maps").read_text()):
        at, rest = int(begin, 16), int(end, 16)
        while at < rest:
            try:
                raw = os.pread(memory, min(rest - at, CHUNK), at)
            except OSError:  # a region that went meanwhile
                break
            if not raw:
                break
            yield raw
            at += len(raw)


def workers(at: Aviary) -> list[int]:
    """Processes of the `up` that run now: fold workers and job workers."""
    kinds = ("worker process started", "job worker process started")
    pids = [int(fact["pid"]) for kind in kinds for fact in at.facts(kind)]
    return [pid for pid in pids if Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_words_that_are_erased_leave_redis_files_backups_and_the_memory_of_up_and_its_workers(tmp_path: Path) -> None:
    with aviary(tmp_path / "store", sealed=True, tell=tell) as at:
        words = [*at.canaries.ways]
        before = workers(at)
        assert held(os.getpid(), words) == set(words), "the search finds what is there"
        assert [pid for pid in before if held(pid, words)], "a worker has words in memory"
        backup, keys = tmp_path / "backup", tmp_path / "keys"
        at.command("backup", "make", str(backup), "--keys", str(keys))
        ids = {one["id"] for one in at.get("/memories", limit="200")["memories"]}
        told = at.command("erase", "ada", *sorted(ids), *(f"t{number}" for number in range(1, 49, 2)), "--yes")
        assert "nothing is left" in told, told
        wait_until(lambda: at.facts("worker processes replaced") and not {*workers(at)} & {*before})
        at.command("backup", "keys", str(keys))
        after = workers(at)
        assert after
        after.append(at.process.pid)
        assert {pid: held(pid, words) for pid in after} == {pid: set() for pid in after}
        search = at.search()
        with at.client() as client:
            assert search.in_redis(client) == {}
        assert search.in_files([*at.files(), at.log, keys, *backup.iterdir()]) == {}
        assert "t1" in str(at.get("/events", limit="200")), "ids stay"
        assert search.in_bytes(str(at.get("/events", limit="200")).encode()) == set()
        assert search.in_bytes(str(at.get("/export", everything="true")).encode()) == set()


@contextmanager
def mcp_server(at: Aviary) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """An MCP server beside `up`, and where it answers about the owner."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", "0", "--json"],
        env={**at.environment, "ENGRAMLOG_TOKEN": TOKEN, "ENGRAMLOG_LOG_LEVEL": "info"},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        base = str(json.loads(process.stderr.readline())["url"]).rpartition("/")[0]
        yield process, f"{base}/ada"
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_words_that_are_erased_leave_the_memory_of_an_mcp_server(tmp_path: Path) -> None:
    async def asks(agent: Agent) -> None:
        for word in [*at.canaries.ways][:10]:
            await agent.call("search_memories", query=word)
            await agent.call("memory_context", text=word)

    with aviary(tmp_path / "store", sealed=True, tell=tell) as at, mcp_server(at) as (process, url):
        words = [*at.canaries.ways]
        talk(url, asks)
        assert held(process.pid, words), "it has words in memory"
        ids = {one["id"] for one in at.get("/memories", limit="200")["memories"]}
        at.command("erase", "ada", *sorted(ids), *(f"t{number}" for number in range(1, 49, 2)), "--yes")
        wait_until(lambda: not held(process.pid, words))
