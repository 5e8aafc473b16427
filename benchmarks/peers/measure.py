"""Each peer in turn, round by round, with the same rows and the same questions: microseconds of CPU, bytes, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

from benchmarks.measure import Cost, cost_of
from benchmarks.measure import Row as Figures
from benchmarks.peers.libraries import Bm25s, Eventsourcing, LangGraphStore, Mem0, SqliteFts, Tantivy
from benchmarks.peers.ours import Ours
from benchmarks.peers.peer import AT_A_TIME, Peer, PeerQuestion, Row, questions_of, rows_of
from benchmarks.server import BenchServer

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


def measure(server: BenchServer, texts: str, count: int, questions: int, rounds: int) -> list[Figures]:
    """A row for each library; one that is not installed or fails has the reason in `left out`."""
    rows = rows_of(texts, count)
    asked = questions_of(rows, min(questions, count))
    makers: dict[str, Callable[[Path], Peer]] = {
        Ours.name: lambda _: Ours(server),
        **{one.name: one for one in _PACKAGES},
    }
    found: dict[str, list[_Found]] = {name: [] for name in makers}
    failed: dict[str, str] = {}
    for _ in range(rounds):
        for name, make in makers.items():
            if name in failed:
                continue
            try:
                found[name].append(_once(server, make, rows, asked))
            except Exception as error:  # whatever a library raises goes into its row, and the others go on
                if name == Ours.name:
                    raise
                absent = "; `make bench-peers` has it" if isinstance(error, ImportError) else ""
                failed[name] = f"{type(error).__name__}: {error}{absent}"
    return [
        {"name": name, "left out": failed[name]} if name in failed else _row(name, found[name], count, len(asked))
        for name in makers
    ]


def _once(
    server: BenchServer, make: Callable[[Path], Peer], rows: Sequence[Row], asked: Sequence[PeerQuestion]
) -> _Found:
    answers = list[bool]()
    with (
        TemporaryDirectory(prefix="engramlog-peer-", ignore_cleanup_errors=True) as folder,
        closing(make(Path(folder))) as peer,
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


def _row(name: str, found: Sequence[_Found], count: int, asked: int) -> Figures:
    kind = next((one for one in _PACKAGES if one.name == name), None)
    return {
        "name": name,
        "version": _version(_PACKAGES[kind] if kind else "engramlog"),
        "add us": _median((one.add.cpu for one in found), count),
        "of it redis": _median((one.add.server for one in found), count),
        "find us": _median((one.find.cpu for one in found), asked),
        "first find us": _median((one.first.cpu for one in found), 1),
        "found": found[0].hits / asked,
        "bytes each": round(found[-1].size / count),
        "of": (kind or Ours).kept,
    }


def _median(seconds: Iterator[float], count: int) -> float:
    return round(median(seconds) / count * 1e6, 1)


def _version(package: str) -> str:
    try:
        return version(package) if package else "of Python"
    except PackageNotFoundError:
        return ""
