"""What an erasure of single memories leaves alone is what it was, to the byte; and of what it erased no answer tells a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.catalogue import MemoryErased, MemoryMentioned, MemoryMerged, TurnRecorded
from engramlog_server.events.envelope import is_left, is_wordless
from engramlog_server.events.keys import has_words
from engramlog_server.projections.memory.record import Memory
from tests.integration.erasure.words.erased_words import (
    ADA,
    CANARY,
    ENTRIES,
    GOING,
    NAMED,
    STAYING,
    TRIPLES_LEFT,
    ErasingWords,
    asked,
    leaks,
    made,
)
from tests.servers import RedisServer

ALONE = {"paint", "cap", "tea"}
"""Of what stays, what has no edge to what goes and came out of no merge by it."""
SEEN_AGAIN = {"merged_into", "merged_at", "unmerged_from", "changed_seq", "stamp", "upkeep", "last_accessed_at"}
"""What coming back out of a merge changes on a memory."""


@pytest.fixture
def store(redis_server: RedisServer, tmp_path: Path) -> ErasingWords:
    return ErasingWords(redis_server, tmp_path)


def fields(memory: Memory, *but: str) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(memory).items() if name not in but}


def life(change: dict[str, Any]) -> list[Any]:
    """Of an entry of a change log what no erasure takes."""
    return [
        change[name]
        for name in ("position", "time", "event", "decision", "old_weight", "new_weight", "factors", "version")
    ]


def test_others_are_what_they_were_and_the_log_s_chain_too(store: ErasingWords) -> None:
    others, chains, heads = store.standing(*store.others), store.chains(), store.heads()
    before = {seq: one.body for seq, one in ((one.seq, one) for one in store.events(store.twin))}
    done = store.erase_words()
    assert (done.verified, done.differences, done.not_proven) == (True, [], [])
    assert store.standing(*store.others) == others
    assert {one.seq: one.body for one in store.events(store.twin)} == before
    for number, (seq, chain) in heads.items():
        assert {at: store.chain_at(number, at) for at in range(1, seq + 1)} == chains[number]
        assert store.chain_at(number, seq) == chain
    assert done.until == f"{store.number()}:{store.heads()[store.number()][0]}"
    assert done.chain == store.heads()[store.number()][1]


def test_what_stays_of_the_owner_is_what_it_was_but_for_what_is_told_here(store: ErasingWords) -> None:
    before, log = store.records(ADA)[ADA], {one.seq: (one, event) for one, event in store.log()}
    store.erase_words()
    after = store.records(ADA)[ADA]
    assert after.keys() == before.keys() == GOING | STAYING
    for name in sorted(ALONE):
        assert after[name] == before[name], name
    assert fields(after["boat"]) == fields(before["boat"])  # an edge to a tombstone leads nowhere, and stays
    assert fields(after["wallaby"]) == fields(before["wallaby"])
    assert fields(after["pen"], *SEEN_AGAIN) == fields(before["pen"], *SEEN_AGAIN)
    assert (before["pen"].merged_into, after["pen"].merged_into, after["pen"].unmerged_from) == (
        "desk",
        None,
        ("desk",),
    )
    left = {one.seq: (one, event) for one, event in store.log() if one.seq in log}
    wiped = [seq for seq, (one, _) in left.items() if is_left(one)]
    assert [sorted(wiped)] == list(store.wiped().values())
    assert len(wiped) == ENTRIES
    for seq, (one, event) in left.items():
        was, said = log[seq]
        assert said is not None
        assert event is not None
        if seq in wiped:
            assert is_wordless(event)
            assert not is_wordless(said)
            assert (event.event_id, event.type, event.occurred_at) == (said.event_id, said.type, said.occurred_at)
            assert (event.actor, event.session_id) == (said.actor, said.session_id)
            assert one._replace(body=b"", salt=b"") == was._replace(body=b"", salt=b"")
        else:
            assert (one, event) == (was, said)


def test_the_erased_memory_is_a_tombstone_whose_history_shows_its_life(store: ErasingWords) -> None:
    with store.http() as client:
        before = client.get(f"/v1/owners/{ADA}/memories/pet/history", params={"limit": 100}).json()["changes"]
    store.erase_words()
    records = store.records(ADA)[ADA]
    for name in sorted(GOING):
        one = records[name]
        assert (one.content, one.summary, one.keywords, one.tags, one.speaker) == ("", None, (), (), None), name
        assert (one.versions, one.facts, one.project, one.task) == ((), (), None, None), name
        assert one.purged_at is not None
        assert one.deleted_at is not None
    with store.http() as client:
        after = client.get(f"/v1/owners/{ADA}/memories/pet/history", params={"limit": 100}).json()["changes"]
        told = client.get(f"/v1/owners/{ADA}/memories/pet").json()
    assert len(before) > 7
    assert [life(one) for one in after[: len(before)]] == [life(one) for one in before]
    assert [one["decision"] for one in after[len(before) :]] == ["delete", "reject", "erase"]
    assert (told["status"], told["memory"], told["versions"]) == ("purged", "", [])


def test_folded_anew_it_is_the_same_and_heads_of_before_agree(store: ErasingWords) -> None:
    noted = store.heads()
    store.erase_words()
    store.fold()  # what was said of the erasure itself, too
    records, heads = store.records(ADA, *store.others), store.heads()
    client = store.client()
    for number, tag in enumerate(store.identity.tags):
        rebuild_partition(client, tag, holder="again")
        seq, chain = noted[number]
        verdict = verify_partition(client, number, tag, chain_at=[seq])
        assert (verdict.differences, verdict.chains[seq]) == ([], chain)
    client.close()
    assert (store.records(ADA, *store.others), store.heads()) == (records, heads)
    assert store.differences() == []


def test_no_answer_of_any_mode_or_moment_tells_a_word(store: ErasingWords) -> None:
    head = f"{store.number()}:{store.heads()[store.number()][0]}"
    with store.http() as client:
        before = asked(client)
        assert len(leaks(before)) > 40
        past = asked(client, as_of=head)
        assert leaks(past)
        replayed = client.get(f"/v1/owners/{ADA}/events", params={"limit": 100}).text
        assert CANARY in replayed
    store.erase_words()
    with store.http() as client:
        for when in ({}, {"as_of": head}, {"known": head}):
            assert leaks(asked(client, **when)) == [], when
        facts = client.get(f"/v1/owners/{ADA}/facts").text
        assert all(word in facts for word in TRIPLES_LEFT[:1]), "a memory that stays backs it too"
        listed = client.get(f"/v1/owners/{ADA}/memories", params={"limit": 100}).json()["memories"]
        assert {one["id"] for one in listed} == STAYING
        for other in store.others:
            assert leaks(asked(client, other)), "others say it still"


def test_nothing_of_it_lies_in_redis(store: ErasingWords) -> None:
    """Nothing lies open in a sealed store; what is sealed under the owner's key, and can be opened, has no word of it."""
    store.erase_words()
    with store.server.client() as client, store.wire() as wire:
        for key in client.scan_iter(count=1_000):
            assert CANARY.encode() not in (client.dump(key) or b"")
        salts = {seq: wire.seals.keys.salts([number])[number] for seq, number in store.salt_numbers().items()}
    (seqs,) = store.wiped().values()
    assert {seq for seq, value in salts.items() if not has_words(value)} == set(seqs)


def test_a_revision_that_was_erased_is_folded_as_one_with_other_words(store: ErasingWords) -> None:
    """What its words were the digests tell: its value, its trust and what it earned come out as before."""
    store.erase_words()
    first = store.records(ADA)[ADA]["pet"]
    store.erase_words("boat")
    assert store.records(ADA)[ADA]["pet"].stated == first.stated != b""
    assert [one.type for _, one in store.log() if one is not None].count("ValueRejected") == 4


def test_by_a_turn_s_memory_its_turn_goes_with_all_that_it_says(store: ErasingWords) -> None:
    store.add(
        ADA,
        ("turn 9", TurnRecorded(turn_id="t9", role="user", text="a lynx and a scarlet bird"), "s9"),
        ("lynx", made("t9", "a lynx and a scarlet bird", kind="episode", source_turns=("t9",)), "s9"),
        ("ibis", made("ibis", "a scarlet bird", source_turns=("t9",)), "s9"),
        ("emu", made("emu", "an emu", source_turns=("t9", "t2")), "s9"),
        ("seen", MemoryMentioned(memory_id="emu", turn_id="t9"), "s9"),
    )
    done = store.erase_words("t9")
    assert (done.memories, done.turns, done.events) == (2, 1, 3)  # the ibis was read in nothing else
    with store.http() as client:
        assert leaks(asked(client), ("lynx ", "scarlet")) == []
        assert "an emu" in client.get(f"/v1/owners/{ADA}/memories", params={"limit": 100}).text


def test_a_merge_above_a_merge_comes_apart_and_what_is_named_with_its_merge_goes_whole(store: ErasingWords) -> None:
    store.add(
        ADA,
        ("lamp", made("lamp", "has a green lamp"), None),
        ("room", MemoryMerged(sources=("desk", "lamp"), into="room", summary=f"a lamp and a {CANARY} desk"), None),
    )
    assert store.records(ADA)[ADA]["lamp"].merged_into == "room"
    done = store.erase_words("ink")
    records = store.records(ADA)[ADA]
    assert {name for name, one in records.items() if one.purged_at} == {"ink", "desk", "room"}
    assert (done.memories, records["lamp"].merged_into, records["pen"].merged_into) == (3, None, None)
    with store.http() as client:
        listed = client.get(f"/v1/owners/{ADA}/memories", params={"limit": 100}).json()["memories"]
    assert {"lamp", "pen"} <= {one["id"] for one in listed}


def test_a_merge_that_is_named_takes_along_what_it_was_merged_from(store: ErasingWords) -> None:
    store.erase_words("desk", "ink")
    records = store.records(ADA)[ADA]
    assert {name for name, one in records.items() if one.purged_at} == {"ink", "pen", "desk"}
    assert store.differences() == []


def test_one_after_the_other_is_as_all_at_once(store: ErasingWords) -> None:
    for one in NAMED:
        assert store.erase_words(one).verified
    records = store.records(ADA)[ADA]
    assert {name for name, one in records.items() if one.purged_at} == GOING
    assert sum(map(len, store.wiped().values())) == ENTRIES
    assert len(store.wiped()) == 3
    erased = [one.data.memory_id for _, one in store.log() if one is not None and isinstance(one.data, MemoryErased)]
    assert set(erased) == GOING
    assert store.differences() == []
    with store.http() as client:
        assert leaks(asked(client)) == []
