"""A sealed store whose owners were told the same, and erasures of single memories of one of them that can be killed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from fastapi.testclient import TestClient

from engramlog_server.api.application import Application
from engramlog_server.consumers.erasure import read_log
from engramlog_server.consumers.verify.store import wiped_by
from engramlog_server.events.catalogue import (
    Access,
    FactAsserted,
    Hit,
    MemoriesAccessed,
    MemoriesLinked,
    MemoryCreated,
    MemoryKept,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    MemoryUnmerged,
    SensitivitySet,
    ToolResultRecorded,
    TurnRecorded,
    WordsErasure,
)
from engramlog_server.events.cipher import salts_id
from engramlog_server.events.envelope import (
    AnyEvent,
    Prepared,
    Stored,
    decode,
    derived_id,
    from_micros,
    micros,
    prepare,
)
from engramlog_server.events.partitions import ERASURES, LogKeys, partition_of
from engramlog_server.events.redis.log import entries
from engramlog_server.events.validation import make_event
from engramlog_server.ops.erasure.fence_list import ErasureStep
from engramlog_server.ops.erasure.machine import ErasureCertificate, carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.erasure.residue import Residue
from engramlog_server.ops.store import OpenStore
from engramlog_server.ops.wiring import application_on
from tests.given.http import app_of, client_of
from tests.integration.erasure.erased import ADA, BRIEF_MS, NEIGHBOURS, Erasing, Killed
from tests.servers import RedisServer

CANARY: Final = "quokka"
"""In everything that goes, and in nothing of hers that stays."""
NAMED: Final = ("pet", "hat", "ink")
"""What is erased: with turns that say it, one of a merge that came apart, one of a merge that stands."""
GOING: Final = {"pet", "hat", "ink", "both", "desk", "stretch", "spoken"}
"""All memories that go with them."""
STAYING: Final = {"boat", "tea", "paint", "wallaby", "cap", "pen"}
ENTRIES: Final = 18
"""Of the log, which lose their words."""
TRIPLES_LEFT: Final = ("a boat", "the harbour")
"""In a triple that a memory that stays backs too."""


Said = tuple[str, Any, str | None]
"""What names an event, what it says, and the session in which it is said."""


def told_of(owner: str, at: Any) -> list[Said]:
    """Everything that an owner is told, in order; `at`: when it was shown."""
    shown = (
        Hit(memory_id="pet", count=1, best_rank=1, last_at=at),
        Hit(memory_id="boat", count=1, best_rank=2, last_at=at),
    )
    only = (Hit(memory_id="paint", count=1, best_rank=1, last_at=at),)
    return [
        ("turn 1", TurnRecorded(turn_id="t1", role="user", text=f"my {CANARY} sleeps, and I sail a boat", speaker=owner), "s1"),
        ("turn 1 of another", TurnRecorded(turn_id="t1", role="user", text="green tea in the morning"), "s2"),
        ("turn 2", TurnRecorded(turn_id="t2", role="assistant", text="what a day for the harbour"), "s1"),
        ("tool", ToolResultRecorded(tool="zoo", text=f"one {CANARY} found", turn_id="t1"), "s1"),
        ("pet", made("pet", f"keeps a {CANARY} named Zed", source_turns=("t1",), summary=f"a {CANARY}",
                      keywords=(CANARY, "zed"), tags=(f"{CANARY}s",), speaker=f"{CANARY} keeper", because=f"said {CANARY}",
                      metadata={"animal": CANARY}, project=f"{CANARY} care"), "s1"),
        ("boat", made("boat", "sails a boat in the harbour", source_turns=("t1",)), "s1"),
        ("tea", made("tea", "drinks green tea", source_turns=("t1",)), "s2"),
        ("paint", made("paint", "paints walls for a living"), None),
        ("link", MemoriesLinked(a="pet", b="boat", weight=0.7, link="related"), None),
        ("link of others", MemoriesLinked(a="boat", b="paint", weight=0.4, link="related"), None),
        ("revised", MemoryRevised(memory_id="pet", content=f"keeps a {CANARY} named Zorro", because=f"the {CANARY} was renamed"),
         "s1"),
        ("turn 3", TurnRecorded(turn_id="t3", role="user", text=f"the {CANARY} again"), "s1"),
        ("spoken", made("spoken", f"the {CANARY} again", kind="episode", source_turns=("t3",)), "s1"),
        ("mention", MemoryMentioned(memory_id="pet", turn_id="t3"), "s1"),
        ("mention of boat", MemoryMentioned(memory_id="boat", turn_id="t2"), "s1"),
        ("turn 4", TurnRecorded(turn_id="t4", role="user", text=f"it is no {CANARY}, it is something else"), "s1"),
        ("wallaby", made("wallaby", "keeps a small marsupial", corrects="pet"), "s1"),
        ("negated", MemoryNegated(memory_id="pet", correction=f"no {CANARY}", reason=f"{CANARY} was wrong", turn_id="t4",
                                  replaced_by="wallaby"), "s1"),
        ("hat", made("hat", f"a hat of {CANARY} felt"), None),
        ("cap", made("cap", "a cap of straw"), None),
        ("merged", MemoryMerged(sources=("hat", "cap"), into="both", summary=f"a {CANARY} hat and a cap",
                                reason=f"both {CANARY}"), None),
        ("unmerged", MemoryUnmerged(into="both", reason=f"{CANARY} is no straw"), None),
        ("ink", made("ink", f"writes with {CANARY} ink"), None),
        ("pen", made("pen", "writes with a steel pen"), None),
        ("merged for good", MemoryMerged(sources=("ink", "pen"), into="desk", summary=f"a {CANARY} desk", reason=""), None),
        ("stretch", made("stretch", f"they spoke of the {CANARY} and of a boat", kind="episode", tier="episode", source="judge",
                          summarises=("pet", "boat")), "s1"),
        ("triple", FactAsserted(subject=owner, predicate="keeps", object=CANARY, evidence=("pet",)), None),
        ("triple of both", FactAsserted(subject=owner, predicate="sails", object="a boat", evidence=("pet", "boat")), None),
        ("triple of others", FactAsserted(subject=owner, predicate="paints", object="walls", evidence=("paint",)), None),
        ("kept", MemoryKept(memory_id="hat", reason=f"a fine {CANARY}"), None),
        ("sensitive", SensitivitySet(memory_id="hat", level=1, reason=f"{CANARY} is dear"), None),
        ("kept of others", MemoryKept(memory_id="paint", reason="a living"), None),
        ("shown", MemoriesAccessed(hits=shown, via="recall", query=f"where is the {CANARY}",
                                   accesses=(Access(at=at, shown=("pet", "boat"), query=f"any {CANARY}"),)), "s1"),
        ("shown of others", MemoriesAccessed(hits=only, via="recall", query="who paints"), None),
    ]  # fmt: skip


def made(memory_id: str, content: str, **fields: Any) -> MemoryCreated:
    """A memory that is created."""
    return MemoryCreated(
        **{"category": "fact", "kind": "fact", "source": "user"} | fields, memory_id=memory_id, content=content
    )


NOT_HELD: Final = ("next", "position", "upto", "behind", "head", "follow", "looked", "looked_to")
"""Of an answer: up to where everybody's partition was folded."""
LATELY: Final = 1_700_000_000_000_000
"""Microseconds since 1970: a number of a record above it is an hour."""


class ErasingWords(Erasing):
    """A sealed store with three owners who were told the same, and erasures of what one of them was told."""

    def __init__(self, server: RedisServer, folder: Path, **options: Any) -> None:
        super().__init__(server, folder, memories=0, **options)
        self.twin = next(one for one in NEIGHBOURS if self.tag(one) == self.tag())
        """An owner of the same partition."""
        self.far = next(one for one in NEIGHBOURS if self.tag(one) != self.tag() or self.partitions == 1)
        with self.opened() as store:
            self.began = from_micros(store.log.now()) - timedelta(days=1)
        for owner in (ADA, self.twin, self.far):
            self.add(owner, *told_of(owner, self.began))

    @property
    def others(self) -> tuple[str, str]:
        """Owners who were told the same, and of whom nothing is erased."""
        return self.twin, self.far

    def event(self, owner: str, name: str, data: Any, session: str | None = None) -> Prepared:
        """An event of an owner, of yesterday; the same name is the same event."""
        made = make_event(
            data,
            owner=owner,
            occurred_at=self.began,
            actor="user",
            now=micros(self.began + timedelta(days=1)),
            event_id=derived_id("words", owner, name),
            session_id=session,
        )
        return prepare(made)

    def add(self, owner: str, *said: Said) -> None:
        """Tell an owner more, as the store's own process does, and fold it."""
        with self.opened() as store:
            receipts = store.log.append([self.event(owner, *one) for one in said])
        assert all(one.written for one in receipts), receipts
        self.fold()

    @contextmanager
    def application(self) -> Iterator[tuple[Application, OpenStore]]:
        """As a command has it."""
        with self.opened() as store, application_on(store, self.settings, stays=False) as application:
            yield application, store

    @contextmanager
    def http(self) -> Iterator[TestClient]:
        """The HTTP face of a process of its own."""
        with self.application() as (application, _), client_of(app_of(application), shaped=False) as client:
            yield client

    def erase_words(self, *ids: str, owner: str = ADA, reason: str = "asked", **options: Any) -> ErasureCertificate:
        """As `engramlog erase OWNER ID ...` does."""
        plan = ErasurePlan(owner, ids or NAMED, "objection", reason)
        with self.application() as (application, store):
            return carry_out(store, self.settings, plan, application, **{"lease_ms": BRIEF_MS} | options)

    def kill_words(self, point: str, passes: int = 1, *ids: str) -> None:
        """Begin, and end as SIGKILL would at the n-th pass of a point."""
        left = passes

        def probe(at: str) -> None:
            nonlocal left
            left -= at == point
            if not left:
                raise Killed

        with pytest.raises(Killed):
            self.erase_words(*ids, probe=probe)

    # --- what stands there

    def keys(self, owner: str = ADA) -> LogKeys:
        """Of the owner's partition."""
        return LogKeys(self.tag(owner))

    def log(self, owner: str = ADA) -> list[tuple[Stored, AnyEvent | None]]:
        """The owner's entries with their events."""
        with self.wire() as wire:
            return list(read_log(wire, self.tag(owner), owner))

    def seqs(self, owner: str = ADA) -> dict[str, int]:
        """What names each event that the owner was told -> its seq."""
        by_id = {one.raw_id.hex(): one.seq for one, _ in self.log(owner)}
        names = [name for name, _, _ in told_of(owner, self.began)]
        return {name: by_id[derived_id("words", owner, name).replace("-", "")] for name in names}

    def wiped(self, owner: str = ADA) -> dict[str, list[int]]:
        """Erasure -> seqs of entries that lost their words by it."""
        with self.wire() as wire:
            found = wiped_by(wire, self.identity.tags)
            mine = {one.seq for one, _ in read_log(wire, self.tag(owner), owner)}
        of = {erasure: seqs for erasure, by in found.items() if (seqs := by.get(self.number(owner)))}
        return {erasure: seqs for erasure, seqs in of.items() if mine.intersection(seqs) or not mine}

    def salt_numbers(self, owner: str = ADA) -> dict[int, int]:
        """Seq of each entry of the owner's partition -> the id of its salts."""
        with self.wire() as wire:
            rows = entries(wire.call("XRANGE", LogKeys(self.tag(owner)).stream, "-", "+"))
        return {one.seq: salts_id(one.body) for one in rows}

    def salts_of(self, seq: int, owner: str = ADA) -> int:
        """The id of the salts of an entry."""
        return self.salt_numbers(owner)[seq]

    def listed_words(self) -> list[ErasureStep]:
        """What the list beside the store has of erasures of words."""
        return self.fences.read_words()

    def told_words(self) -> list[WordsErasure]:
        """What the log has of them, oldest first."""
        with self.live() as live:
            events = live.log.read(partition_of(ERASURES, self.partitions), 0)
            found = [decode(one.kind, one.body).data for one in events if one.owner == ERASURES]
        return [one for one in found if isinstance(one, WordsErasure)]

    def agree_of_words(self) -> None:
        """The log and the list tell the same erasures, each of which began once, and ended."""
        told = [(one.erasure, one.label, one.step) for one in self.told_words()]
        listed = [(one.erasure, one.label, one.step) for one in self.listed_words() if one.step != "fenced"]
        assert set(told) == set(listed)
        assert [one[2] for one in told].count("began") == len({one[0] for one in told})
        assert {one[0] for one in told if one[2] == "ended"} == {one[0] for one in told}
        fenced = {one.erasure for one in self.listed_words() if one.step == "fenced"}
        assert fenced == {one[0] for one in told}

    def standing(self, *owners: str) -> dict[str, Any]:
        """All that must be the same of owners of whom nothing was erased: records, what is remembered, events as they lie there."""
        found: dict[str, Any] = {"records": self.records(*owners), "events": {one: self.events(one) for one in owners}}
        with self.http() as client:
            for owner in owners:
                for path, query in self.steady():
                    answer = client.get(f"/v1/owners/{owner}/{path}", params=query)
                    assert answer.status_code == 200, answer.text
                    told = answer.json()
                    found[f"{owner} {path}"] = {name: one for name, one in told.items() if name not in NOT_HELD}
        return found

    def steady(self) -> list[tuple[str, dict[str, Any]]]:
        """Questions whose answers do not depend on when they are asked."""
        at = {"at": (self.began + timedelta(days=2)).isoformat()}
        return [
            ("memories", {"mode": "debug", "limit": 100} | at),
            ("facts", {}),
            ("events", {"limit": 100}),
            ("history", {"limit": 100}),
        ]

    def chains(self) -> Mapping[int, Mapping[int, str]]:
        """Partition -> seq -> the chain of its log there, at each seq."""
        found = dict[int, dict[int, str]]()
        for number, (seq, _) in self.heads().items():
            found[number] = {at: self.chain_at(number, at) for at in range(1, seq + 1)}
        return found

    def end_state(self) -> dict[str, Any]:
        """How an erasure leaves the store, but for what is by chance: ids of erasures, salts, keys, the hour."""
        records, log = self.records(ADA)[ADA], self.log()
        with self.wire() as wire:
            keys = self.keys()
            marks = wire.call("SCARD", keys.gone), int(wire.call("HGET", keys.meta, "gone") or 0)
        return {
            "memories": {name: _timeless(one) for name, one in records.items()},
            "log": [one.kind for one, _ in log],
            "wiped": sorted(seqs for seqs in self.wiped().values()),
            "marks": marks,
            "ended": {(one.memories, one.events) for one in self.told_words() if one.step == "ended"},
        }


def _timeless(value: Any) -> Any:
    """A record without what is by chance: hours, and digests keyed with the owner's secret."""
    if isinstance(value, msgspec.Struct):
        return {name: _timeless(one) for name, one in msgspec.structs.asdict(value).items() if name != "stated"}
    if isinstance(value, tuple):
        return tuple(map(_timeless, value))
    return "an hour" if isinstance(value, int) and value > LATELY else value


def without_search(monkeypatch: pytest.MonkeyPatch) -> int:
    """Have erasures search for nothing that is left, which has tests of its own; the exit code of an erasure then."""
    nothing = Residue(exit_code=3, probes=0, findings=[], not_reached=[], keys=0, files=0, bytes=0)
    monkeypatch.setattr("engramlog_server.ops.erasure.machine.residue_of", lambda *_asked: nothing)
    return 3


def whole(text: str) -> str:
    """A text as people read it: what JSON escapes is looked through too."""
    try:
        return text + json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def leaks(answers: Mapping[str, str], words: Sequence[str] = (CANARY,)) -> list[str]:
    """The questions whose answers tell one of these words."""
    return [name for name, text in answers.items() if any(word in whole(text).casefold() for word in words)]


def asked(
    client: TestClient, owner: str = ADA, *, modes: Sequence[str] = ("normal", "review", "debug"), **when: Any
) -> dict[str, str]:
    """What the HTTP face answers to everything that could tell an owner's words, in each mode; `when`: as_of, known, at."""
    found = dict[str, str]()

    def ask(path: str, **query: Any) -> None:
        answer = client.get(f"/v1/owners/{owner}/{path}", params=query | when)
        assert answer.status_code in (200, 207, 404, 410), (path, query, when, answer.text)
        found[f"{path} {query}"] = answer.text

    for mode in modes:
        ask("search", query="what animal hat ink sails keeps", mode=mode, limit=100)
        ask("memories", mode=mode, limit=100)
        ask("map", mode=mode)
    for one in sorted(GOING | STAYING):
        ask(f"memories/{one}")
        ask(f"memories/{one}/why")
        ask(f"memories/{one}/provenance")
        ask(f"memories/{one}/associations")
    for path in ("facts", "review", "fading", "health", "assess"):
        ask(path, **({"topic": "animal"} if path == "assess" else {}))
    if not when:
        for one in sorted(GOING | STAYING):
            ask(f"memories/{one}/history", limit=100)
        ask("events", limit=100)
        ask("history", limit=100)
        ask("export", everything=True)
        ask("export", format="text", include=["deleted", "merged", "superseded", "negated", "retired"])
        ask("inbox")
        ask("sources")
        ask("answers")
        ask("diff", since="2000-01-01", limit=100, mode="debug")
        found["context"] = client.post(
            f"/v1/owners/{owner}/context", json={"text": "which animal, which hat", "trace": False}
        ).text
    return found
