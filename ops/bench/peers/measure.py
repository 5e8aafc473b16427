"""Each peer in turn, round by round, with the same rows and the same questions: microseconds of CPU, bytes, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

from ops.bench.costs.meter import Cost, cost_of
from ops.bench.peers.agent_memories import Eventsourcing, LangGraphStore, Mem0
from ops.bench.peers.ours import Ours
from ops.bench.peers.peer import AT_A_TIME, Peer, PeerQuestion, Row, embed, questions_of, rows_of
from ops.bench.peers.search_engines import Bm25s, SqliteFts, Tantivy
from ops.bench.rounds import quiet
from ops.bench.server import BenchServer

Say = Callable[[str], None]
QUESTIONS = 50


class InFolder(Peer, Protocol):
    """A peer that works in a folder."""

    def __init__(self, folder: Path) -> None: ...


_PACKAGES: dict[type[InFolder], str] = {
    SqliteFts: "",
    Tantivy: "tantivy",
    Bm25s: "bm25s",
    Mem0: "mem0ai",
    LangGraphStore: "langgraph-checkpoint",
    Eventsourcing: "eventsourcing",
}
"""Who comes from which package; SQLite comes with Python."""


class _Found(NamedTuple):
    add: Cost
    first: Cost
    find: Cost
    size: int
    hits: int


def measure(server: BenchServer, texts: str, count: int, questions: int, rounds: int, say: Say) -> dict[str, Any]:
    """The rows of one set of texts: ours, then the peers; one that is not installed, or fails, is told as left out, and why."""
    rows = rows_of(texts, count)
    asked = questions_of(rows, min(questions, count))
    makers: dict[str, Callable[[Path], Peer]] = {
        Ours.name: lambda _: Ours(server),
        **{one.name: one for one in _PACKAGES},
    }
    found: dict[str, list[_Found]] = {name: [] for name in makers}
    failed: dict[str, str] = {}
    for number in range(rounds):
        for name, make in makers.items():
            if name in failed:
                continue
            say(f"{name} on {texts}, round {number + 1}")
            try:
                found[name].append(_once(server, make, rows, asked))
            except Exception as error:  # whatever a library raises is told in its row, and the others go on
                if name == Ours.name:
                    raise
                absent = "; `make bench-peers` has it" if isinstance(error, ImportError) else ""
                failed[name] = f"{type(error).__name__}: {error}{absent}"
    told = [
        {"name": name, "left_out": failed[name]} if name in failed else _row(name, found[name], count, len(asked))
        for name in makers
    ]
    with quiet():
        alone = cost_of(server, lambda: [embed([row.text]) for row in rows])
    return {
        "texts": texts,
        "count": count,
        "letters": round(sum(len(row.text) for row in rows) / count),
        "bytes": round(sum(len(row.text.encode()) for row in rows) / count),
        "at_a_time": AT_A_TIME,
        "questions": len(asked),
        "rounds": rounds,
        "embedder_us": round(alone.client / count * 1e6, 1),
        "rows": told,
    }


def _once(
    server: BenchServer, make: Callable[[Path], Peer], rows: Sequence[Row], asked: Sequence[PeerQuestion]
) -> _Found:
    answers = list[bool]()
    with (
        TemporaryDirectory(prefix="engramlog-peer-", ignore_cleanup_errors=True) as folder,
        closing(make(Path(folder))) as peer,
        quiet(),
    ):
        add = cost_of(server, lambda: _add(peer, rows))
        first = cost_of(server, lambda: peer.find(asked[0]))
        find = cost_of(server, lambda: answers.extend(one.key in peer.find(one) for one in asked))
        size, hits = peer.size(), sum(answers)
        if not isinstance(peer, Ours):
            add, first, find = (one._replace(server=0.0) for one in (add, first, find))
        return _Found(add, first, find, size, hits)


def _add(peer: Peer, rows: Sequence[Row]) -> None:
    for at in range(0, len(rows), AT_A_TIME):
        peer.add(rows[at : at + AT_A_TIME])
    if isinstance(peer, Bm25s):
        peer.finish()


def _row(name: str, found: Sequence[_Found], count: int, asked: int) -> dict[str, Any]:
    kind = next((one for one in _PACKAGES if one.name == name), None)
    told = kind or Ours
    return {
        "name": name,
        "version": _version(_PACKAGES[kind] if kind else "engramlog"),
        "does": told.does,
        "add_us": _median((one.add.cpu for one in found), count),
        "add_server_us": _median((one.add.server for one in found), count),
        "find_us": _median((one.find.cpu for one in found), asked),
        "first_find_us": _median((one.first.cpu for one in found), 1),
        "found": found[0].hits / asked,
        "bytes_each": round(found[-1].size / count),
        "kept": told.kept,
    }


def _median(seconds: Iterator[float], count: int) -> float:
    return round(median(seconds) / count * 1e6, 1)


def _version(package: str) -> str:
    try:
        return version(package) if package else "of Python"
    except PackageNotFoundError:
        return ""
