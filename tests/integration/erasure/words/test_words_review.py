"""What a review of erasing single memories found: lists and tables that somebody wrote to, and others who are quicker."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from engramlog_server.consumers.erasure import wipe_entries
from engramlog_server.consumers.verify import store as erasures
from engramlog_server.consumers.verify.store import verify_store
from engramlog_server.events.catalogue import (
    Access,
    FactAsserted,
    FactRetracted,
    Ground,
    GroundChanged,
    Hit,
    MemoriesAccessed,
    MemoriesRevealed,
    MemoryCompressed,
    MemoryDeleted,
    MemoryPromoted,
    MemoryRestored,
    OwnerErasure,
    ValueReadmitted,
    ValueRejected,
    WordsErasure,
)
from engramlog_server.events.envelope import derived_id
from engramlog_server.events.errors import DamagedState, InputError
from engramlog_server.events.keys import Wiped
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.secrets import owner_mark, read_cipher, turn_mark
from engramlog_server.events.redis.wire import Wire
from engramlog_server.ops.erasure.fence_list import ErasureStep, WordsGoing
from engramlog_server.ops.erasure.machine import readmit_owner
from engramlog_server.ops.erasure.plan import ErasurePlan, words_plan
from tests.integration.erasure.words.erased_words import ADA, CANARY, NAMED, ErasingWords, Said, asked, leaks, made
from tests.servers import RedisServer

AT = "2026-01-05T08:00:00Z"
DIGEST = "sha256:" + "ab" * 32
OTHERS = "an erasure of words that left other entries than it says"


@pytest.fixture
def store(redis_server: RedisServer, tmp_path: Path) -> ErasingWords:
    return ErasingWords(redis_server, tmp_path)


@pytest.mark.parametrize("before", [b"", b" ", b"\n"])
def test_a_line_of_the_list_that_lies_open_erases_nothing(store: ErasingWords, before: bytes) -> None:
    """Whoever can write to the list has no owner's key."""
    going = WordsGoing(("paint",), ("paint",), (), UUID(derived_id("words", ADA, "paint")).bytes)
    told, nobody = b64encode(before + msgspec.json.encode(going)).decode(), derived_id("nobody")
    step = ErasureStep(
        store.identity.store_id, nobody, store.label(), "fenced", AT, nobody, "other", "", "words", sealed=told
    )
    store.fences.append(step)
    with store.opened():
        pass
    store.fold()
    assert store.wiped() == {}
    assert store.records(ADA)[ADA]["paint"].content == "paints walls for a living"


def test_what_does_not_open_keeps_nobody_from_opening_a_store_that_came_back(store: ErasingWords) -> None:
    """The list tells of an event that this log lacks, and of an entry of which somebody destroyed what is left."""
    seq = store.seqs()["pet"]
    store.erase_words("pet")
    store.fences.append(msgspec.structs.replace(store.listed_words()[-1], event=derived_id("of a newer log")))
    with store.wire() as wire:
        wire.seals.keys.put_salts({store.salts_of(seq): bytes(16)})
    with store.opened() as opened:
        (receipt,) = opened.log.append([store.event(store.twin, "later", made("later", "plays the harp"))])
    assert receipt.status == "appended"
    assert "a sealed body that does not open" in [one["what"] for one in store.differences()]


def test_where_the_owner_would_stand_still_folded_anew_nothing_is_changed(store: ErasingWords) -> None:
    """The salt of an entry that stays was lost since it was folded."""
    seq, records, listed = store.seqs()["boat"], store.records(ADA), store.listed_words()
    with store.wire() as wire:
        wire.seals.keys.delete_salts([store.salts_of(seq)])
    with pytest.raises(DamagedState, match=f"the event at {store.number()}:{seq} of owner ada cannot be read"):
        store.erase_words("paint")
    with store.application() as (application, opened), pytest.raises(DamagedState):
        words_plan(application, opened, ErasurePlan(ADA, ("paint",), "objection"))
    assert store.records(ADA) == records
    assert (store.listed_words(), store.wiped()) == (listed, {})
    assert not store.alarm_stands


def test_of_an_owner_who_is_erased_meanwhile_nothing_is_left(store: ErasingWords) -> None:
    seq = store.seqs()["pet"]
    store.erase()
    with store.wire() as wire:
        assert wipe_entries(wire, store.tag(), ADA, [seq], Wiped(derived_id("an erasure"), store.number(), 0)) == 0
    assert store.wiped() == {}
    assert store.differences() == []


def test_an_erasure_that_ends_while_verify_reads_is_no_difference(
    store: ErasingWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = erasures._said

    def late(wire: Wire, keys: LogKeys) -> Iterator[OwnerErasure | WordsErasure]:
        store.erase_words()
        return said(wire, keys)

    store.erase_words("paint")
    monkeypatch.setattr(erasures, "_said", late)
    with store.wire() as wire:
        assert verify_store(wire).differences == []


def test_of_an_owner_who_was_readmitted_newer_erasures_are_compared(store: ErasingWords) -> None:
    store.erase_words("pet")
    store.erase()
    with store.opened() as opened:
        readmit_owner(opened, store.settings, ADA, "")
    store.add(ADA, ("anew", made("anew", "keeps a drum"), None))
    assert store.erase_words("anew").not_proven == []
    assert store.differences() == []
    [[seq]] = store.wiped().values()
    with store.wire() as wire:
        wire.seals.keys.delete_salts([store.salts_of(seq)])
        assert [one["what"] for one in verify_store(wire).differences] == [OTHERS]


@pytest.mark.parametrize("was_first", [True, False])
def test_an_entry_of_another_partition_that_lost_its_words_by_an_erasure_is_found(
    store: ErasingWords, was_first: bool
) -> None:
    """Whichever of the two was said first."""
    erased, other = (store.far, ADA) if was_first else (ADA, store.far)
    certificate = store.erase_words("pet", owner=erased)
    assert store.differences() == []
    seq = store.seqs(other)["paint"]
    salts = store.salts_of(seq, other)
    with store.wire() as wire:
        wire.seals.keys.wipe({salts: Wiped(certificate.erasure, store.number(other), seq)})
        assert [one["what"] for one in verify_store(wire).differences] == [OTHERS]


@pytest.mark.parametrize(("of", "what"), [("owner", "memory"), ("owner", "turn"), ("turn", "turn")])
def test_a_mark_that_was_exchanged_for_another_is_told(store: ErasingWords, of: str, what: str) -> None:
    """Without it the door takes words in again, though it knows of as many marks."""
    store.erase_words()
    with store.wire() as wire:
        cipher = read_cipher(wire, store.keys(), ADA)
        assert cipher is not None
        mark = owner_mark(cipher.secret) if of == "owner" else turn_mark(cipher.secret, "t1", "s1")
        assert wire.call("SREM", store.keys().gone, mark)
        wire.call("SADD", store.keys().gone, bytes(16))
    told = f"a {what} that was erased, and under whose id words are taken in again"
    assert told in [one["what"] for one in store.differences()]


@pytest.mark.parametrize("fact", [FactAsserted, FactRetracted])
def test_a_triple_of_nothing_but_what_is_erased_is_refused(store: ErasingWords, fact: Any) -> None:
    store.erase_words()
    of_it = fact(subject=ADA, predicate="keeps", object=CANARY, evidence=("pet", "hat"))
    with store.opened() as opened, pytest.raises(InputError, match="erased for good") as caught:
        opened.log.append([store.event(ADA, "late", of_it)])
    assert caught.value.context["field"] == "data.evidence"
    assert CANARY not in str(store.log())
    of_both = fact(subject=ADA, predicate="paints", object="walls", evidence=("pet", "paint"))
    store.add(ADA, ("of both", of_both, None))
    assert store.differences() == []


def test_what_was_asked_with_its_words_is_told(store: ErasingWords) -> None:
    """It showed nothing that goes, so no link leads to it; it cannot be named."""

    def shown(query: str) -> MemoriesAccessed:
        hits = (Hit(memory_id="paint", count=1, best_rank=1, last_at=store.began),)
        told = (Access(at=store.began, shown=("paint",), query=query),)
        return MemoriesAccessed(hits=hits, via="recall", accesses=told)

    asked = ("asked", shown(f"who keeps a {CANARY} named Zorro"), None)
    store.add(ADA, asked, ("asked else", shown("who paints what"), None))
    with store.application() as (application, opened):
        told = words_plan(application, opened, ErasurePlan(ADA, NAMED, "objection"))
    (one,) = told["elsewhere"]["says_it_too"]
    seq = next(
        found.seq
        for found, event in store.log()
        if event is not None and "Zorro" in str(event.data.accesses if event.type == "MemoriesAccessed" else "")
    )
    assert (one["of"], one["type"], one["position"]) == ("", "MemoriesAccessed", f"{store.number()}:{seq}")


MORE: Sequence[Said] = [
    ("compressed", MemoryCompressed(memory_id="hat", level="summary", content=f"a {CANARY} hat"), None),
    ("compressed by rules", MemoryCompressed(memory_id="ink", level="summary"), None),
    ("compressed further", MemoryCompressed(memory_id="hat", level="trace", content=CANARY), None),
    ("retracted", FactRetracted(subject=ADA, predicate="keeps", object=CANARY, evidence=("pet",)), None),
    ("asserted", FactAsserted(subject=ADA, predicate="wears", object=CANARY, condition=CANARY, evidence=("hat",)), None),
    ("rejected", ValueRejected(values=("ab" * 16,), rules=1, memory_id="hat", reason=CANARY), None),
    ("readmitted", ValueReadmitted(values=("ab" * 16,), rules=1, memory_id="hat", reason=CANARY), None),
    ("promoted", MemoryPromoted(memory_id="hat", to="episode", reason=CANARY), None),
    ("grounded", made("post", f"a {CANARY} post", grounds=(Ground(uri=f"https://{CANARY}.example", digest=DIGEST),)), None),
    ("changed", GroundChanged(memory_id="post", uri=f"https://{CANARY}.example", digest=DIGEST[:-2]), None),
    ("revealed", MemoriesRevealed(memory_ids=("hat",), by="get", face="command", reason=CANARY), None),
    ("deleted", MemoryDeleted(memory_id="post", policy="user_delete", reason=CANARY), None),
    ("restored", MemoryRestored(memory_id="post", reason=CANARY), None),
]  # fmt: skip


def test_every_event_that_has_words_folds_without_them(store: ErasingWords) -> None:
    store.add(ADA, *MORE)
    done = store.erase_words("pet", "hat", "ink", "post")
    assert (done.verified, done.not_proven) == (True, [])
    store.fold()
    assert store.differences() == []
    assert CANARY not in str(store.log()) + str(store.records(ADA))
    with store.http() as client:
        assert leaks(asked(client)) == []
    with store.wire() as wire:
        assert not wire.call("HLEN", store.build(wire, store.tag()).quarantine)
