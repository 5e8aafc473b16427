"""Owners with very many memories, appended and folded before a service begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import islice
from pathlib import Path
from random import Random
from uuid import UUID

from benchmarks.events import SEED, STARTS, chinese, english
from engramlog_server.events.envelope import Event, Prepared, prepare
from engramlog_server.ops.catch_up import FoldCatchUp
from engramlog_server.ops.clock import silent
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.projections.memory.kind import created
from engramlog_server.projections.memory.record import CATEGORIES

ROUND = 1_000
"""Events appended at once."""
APART = timedelta(seconds=17)
"""Between one memory and the next: the one of number 0 is the oldest."""
TAGGED = 1_000
"""Every so many memories one has the tag `rare`."""


def id_of(number: int) -> str:
    """Ids stand in the order of their numbers, by their letters too."""
    return f"m-{number:07d}"


def told_many(folder: Path, owners: Mapping[str, int]) -> None:
    """A store in this folder with so many memories of each owner, all folded. 110,000 take some 30 s of CPU, Redis included."""
    with open_the_store(Settings(data=folder, redis_url=None)) as store:
        for owner, count in owners.items():
            told = _memories(owner, count)
            while some := list(islice(told, ROUND)):
                store.log.append(some)
        fold = FoldCatchUp(store, silent)
        heads = {number: store.log.head(number) for number in range(store.identity.partitions)}
        fold({number: seq for number, seq in heads.items() if seq})
        fold.end()


def _memories(owner: str, count: int) -> Iterator[Prepared]:
    """Sentences, every other forty of them in Chinese."""
    chance = Random(f"{SEED} {owner}")
    for number in range(count):
        speak = chinese if number // 40 % 2 else english
        data = created(
            id_of(number),
            speak(chance),
            category=CATEGORIES[number % len(CATEGORIES)],
            source="assistant" if number % 3 == 0 else "user",
            confidence=round(0.5 + chance.random() / 2, 2),
            source_turns=(f"turn-{number}",),
            tags=("rare",) if number % TAGGED == 0 else (),
        )
        event = Event(
            event_id=str(UUID(int=chance.getrandbits(128), version=4)),
            type="MemoryCreated",
            owner=owner,
            occurred_at=STARTS + APART * number,
            actor="user",
            data=data,
            session_id=f"s-{number // 40}",
        )
        yield prepare(event)
