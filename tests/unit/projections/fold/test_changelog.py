"""The change log: what an entry tells, what it never tells, and the owner's chain over it (memory.md, section 8)."""

from __future__ import annotations

from dataclasses import replace as replaced
from hashlib import blake2b

import msgspec
import pytest

from engramlog_server.events.envelope import Stored, commitment, digest, fingerprint, from_micros, keyed, utc_text
from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.fold.changelog import (
    DECISIONS,
    FIRST_LINK,
    HASH_BYTES,
    Entry,
    describe,
    event_link,
    link,
    pack,
    unpack,
)
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.laws.law import factors
from tests.given.events import (
    Told,
    accessed,
    asserted,
    at,
    at_door,
    compressed,
    created,
    deleted,
    folded,
    graded,
    in_conflict,
    kept,
    linked,
    memory,
    mentioned,
    merged,
    negated,
    parameters,
    profile,
    promoted,
    purged,
    reinforced,
    restored,
    revised,
    secret_of,
    stored,
    told,
    unmerged,
)
from tests.rows import each_row

SECRETS = ("Quetzalcoatl", "Xylophone", "Zanzibar", "Mnemosyne", "Kilimanjaro", "Popocatepetl", "Ouagadougou")
LIFE: tuple[Told, ...] = (
    created(
        "I like Quetzalcoatl",
        summary="Xylophone",
        keywords=("quetzalcoatl",),
        tags=("Zanzibar",),
        speaker="Mnemosyne",
        project="Mnemosyne",
        task="Mnemosyne",
    ),
    created("Kilimanjaro", of="n", day=1),
    mentioned(day=2),
    accessed("m", "n", day=3),
    negated(day=4, reason="Popocatepetl", correction="Ouagadougou", replaced_by="n"),
    mentioned(day=5),
    revised("Zanzibar", day=6, summary="Xylophone"),
    reinforced(day=7, from_memory="n"),
    compressed("tag", day=8, content="Ouagadougou"),
    graded(day=9),
    kept(day=10, reason="Popocatepetl"),
    promoted("episode", day=11),
    linked("m", "n", day=12),
    in_conflict("m", "n", day=13),
    asserted("m", "n", day=14),
    profile("ebbinghaus", day=15),
    parameters(day=16, alpha_base=0.02),
    merged("m", "n", day=17, summary="Kilimanjaro Quetzalcoatl"),
    mentioned("m", day=18),
    unmerged(day=19),
    deleted(day=20),
    restored(day=21),
    deleted(day=22),
    purged(day=60),
)
HISTORY = folded(*LIFE)


def test_one_entry_is_written_for_every_event_and_memory_that_it_names() -> None:
    by_event: dict[int, list[tuple[str, str]]] = {}
    for one in HISTORY.entries:
        by_event.setdefault(one.seq, []).append((one.memory_id, DECISIONS[one.decision]))
    assert by_event == {
        1: [("m", "create")],
        2: [("n", "create")],
        3: [("m", "reinforce")],
        5: [("m", "negate"), ("n", "named")],
        6: [("m", "reaffirm")],
        7: [("m", "revise")],
        8: [("m", "reinforce"), ("n", "named")],
        9: [("m", "compress")],
        10: [("m", "review")],
        11: [("m", "keep")],
        12: [("m", "promote")],
        13: [("m", "link"), ("n", "link")],
        14: [("m", "link"), ("n", "link")],
        15: [("m", "link"), ("n", "link")],
        16: [("", "profile")],
        17: [("", "parameters")],
        18: [("all", "merge"), ("m", "merge"), ("n", "merge")],
        19: [("m", "ignored"), ("all", "reinforce")],
        20: [("all", "unmerge"), ("m", "unmerge"), ("n", "unmerge")],
        21: [("m", "delete")],
        22: [("m", "restore")],
        23: [("m", "delete")],
        24: [("m", "purge"), ("all", "purge")],
    }


def test_an_entry_tells_all_that_was_promised() -> None:
    (one,) = memory.given(created()).when(mentioned(day=30)).log
    entry = HISTORY.entries[2]
    assert set(one) >= {
        "position",
        "event_id",
        "time",
        "event",
        "decision",
        "reason",
        "law",
        "old_weight",
        "new_weight",
        "delta",
        "factors",
        "fields",
    }
    assert {name: one[name] for name in ("position", "time", "event", "decision", "reason", "law")} == {
        "position": "0:2",
        "time": "2024-01-31T08:00:00Z",
        "event": "MemoryMentioned",
        "decision": "reinforce",
        "reason": "mentioned",
        "law": "weighted",
    }
    assert one["fields"] == ["last_activated_at", "mention_boost", "mention_count", "mentions", "user_mentions"]
    assert list(one["factors"]) == [
        "time_weight",
        "semantic_boost",
        "conflict_penalty",
        "importance",
        "user_factor",
        "momentum",
    ]
    assert describe(entry, 7)["event_id"] == msgspec.json.decode(stored(LIFE)[2].body)["event_id"]


@each_row(
    ("given", "event", "instant"),
    [
        ([], mentioned(day=30), 30), ([mentioned(day=40)], mentioned(day=30), 40),
        ([mentioned(day=40)], negated(day=30, resolution="latest_wins"), 40), ([revised(day=50)], mentioned(day=30), 50),
        ([deleted(day=60)], mentioned(day=30), 60), ([negated(day=45), mentioned(day=20)], revised(day=30), 45),
    ],
)  # fmt: skip
def test_both_weights_are_read_at_the_event_or_at_the_newest_earlier_time_stamp(
    given: list[Told], event: Told, instant: int
) -> None:
    outcome = memory.given(created(), *given).when(event)
    weights = [
        round(factors(history.memories["m"], at(instant), DEFAULTS).product, 6)
        for history in (outcome.before, outcome.after)
    ]
    (one,) = outcome.log
    assert [one["old_weight"], one["new_weight"]] == weights
    late = instant > event.day
    assert one["weighed_at"] == (utc_text(from_micros(at(instant))) if late else None)
    assert one["delta"] == pytest.approx(weights[1] - weights[0], abs=1e-6)


# --- no content -----------------------------------------------------------------------------------------------------


def test_no_content_is_in_the_packed_log() -> None:
    packed = pack(1, range(1, len(LIFE) + 1), HISTORY.entries)
    plain = packed.lower()
    assert [word for word in SECRETS if word.lower().encode() in plain] == []
    assert [word for word in SECRETS if word.lower() in repr(told(HISTORY.entries)).lower()] == []


def test_the_words_searched_for_are_in_the_events() -> None:
    bodies = b"".join(one.body for one in stored(LIFE))
    assert [word for word in SECRETS if word.encode() not in bodies] == []


def test_a_hash_is_keyed_by_the_owner_so_whoever_guesses_the_text_confirms_nothing() -> None:
    text = "I like coffee"
    mine, theirs = (
        fold_owner(stored([created(text)], owner), secret=secret_of(owner)).entries[0].content_hash
        for owner in ("ada", "bob")
    )
    guess = f"{text}\x00".encode()
    made_by_others = (
        blake2b(guess, digest_size=HASH_BYTES).digest(),
        blake2b(guess, digest_size=HASH_BYTES, person=b"content hash").digest(),
        fingerprint(secret_of("ada"), guess),
        digest(secret_of("ada"), guess)[:HASH_BYTES],
        keyed(secret_of("ada"), b"vector", guess, HASH_BYTES),
        theirs,
    )
    assert (len(mine), mine in made_by_others) == (8, False)


def test_a_fold_that_is_given_no_secret_makes_no_hash_rather_than_one_that_anybody_can_make() -> None:
    entries = fold_owner(stored(LIFE)).entries
    assert {one.content_hash for one in entries} == {b""}
    assert [msgspec.structs.replace(one, content_hash=b"") for one in HISTORY.entries] == entries


@each_row("size", [0, 1, 31, 33, 64])
def test_nothing_is_keyed_by_what_is_no_secret(size: int) -> None:
    with pytest.raises(ValueError, match=f"a secret of {size} bytes: 32 are allowed"):
        keyed(bytes(size), b"content hash", b"I like coffee", 8)


def test_the_hash_of_a_content_is_the_same_in_both_formats() -> None:
    entries = stored(LIFE)
    old, new = (fold_owner(one, secret=secret_of("ada")).entries for one in (entries, at_door(entries)))
    assert [one.content_hash for one in old] == [one.content_hash for one in new]


def test_an_entry_that_brings_no_content_has_no_hash() -> None:
    (one,) = memory.given(created()).when(mentioned(day=1)).log
    assert (one["content_hash"], one["version"]) == (None, 1)


# --- packing --------------------------------------------------------------------------------------------------------


@each_row("cuts", [(24,), (1, 23), (3, 3, 10, 8), (1,) * 24])
def test_packed_chunks_laid_end_to_end_give_the_same_entries_back(cuts: tuple[int, ...]) -> None:
    raw, start = b"", 1
    for size in cuts:
        seqs = range(start, start + size)
        raw += pack(start, seqs, [one for one in HISTORY.entries if one.seq in seqs])
        start += size
    assert unpack(raw) == (list(range(1, 25)), HISTORY.entries)


# --- the chain ------------------------------------------------------------------------------------------------------


def chain_of(entries: list[Entry]) -> bytes:
    head = FIRST_LINK
    for one in entries:
        head = link(head, one)
    return head


def test_the_owner_carries_the_head_of_the_chain_over_all_its_entries() -> None:
    assert (HISTORY.owner.chain, HISTORY.owner.entries) == (chain_of(HISTORY.entries), len(HISTORY.entries))


CHAINED = ("raw_id", "at", "type", "memory_id", "decision", "reason", "fields", "version", "content_hash")
OTHER = {bytes: b"other", str: "other", int: 99, tuple: (99,)}


@each_row("field", CHAINED)
def test_an_entry_altered_in_any_field_breaks_the_chain(field: str) -> None:
    entries = list(HISTORY.entries)
    entries[4] = msgspec.structs.replace(entries[4], **{field: OTHER[type(getattr(entries[4], field))]})
    assert chain_of(entries) != HISTORY.owner.chain


@each_row("number", range(len(HISTORY.entries)))
def test_an_entry_left_out_or_moved_breaks_the_chain(number: int) -> None:
    without = HISTORY.entries[:number] + HISTORY.entries[number + 1 :]
    moved = [*without, HISTORY.entries[number]]
    assert HISTORY.owner.chain not in (chain_of(without), chain_of(moved) if moved != HISTORY.entries else b"")


def test_numbers_from_laws_are_no_part_of_the_chain() -> None:
    entries = [msgspec.structs.replace(one, old_weight=9.0, new_weight=9.0, factors=()) for one in HISTORY.entries]
    other_law = fold_owner(stored(LIFE), base=replaced(DEFAULTS, alpha_base=0.5, c_min=0.9), secret=secret_of("ada"))
    assert {chain_of(entries), other_law.owner.chain} == {HISTORY.owner.chain}


def test_every_field_of_an_entry_is_chained_but_for_numbers_from_laws_and_the_seq_that_the_other_chain_proves() -> None:
    assert set(Entry.__struct_fields__) == {*CHAINED, "seq", "old_weight", "new_weight", "factors", "weighed"}


def test_the_chain_covers_every_clear_field_and_a_body_only_by_its_commitment() -> None:
    salt, body = bytes(16), b'{"a":1}'
    one = Stored(1, "x.1", bytes(16), "ann", body, (b"1", b"local", b"1:0", b"", commitment(salt, body)), salt)
    first = event_link(FIRST_LINK, one)
    assert first == event_link(FIRST_LINK, one._replace(body=b"", salt=b""))
    clear = [
        one._replace(body=b'{"a":2}'),
        one._replace(salt=bytes(15) + b"1"),
        one._replace(kind="x.2"),
        one._replace(raw_id=bytes(15) + b"1"),
        one._replace(owner="bob"),
        one._replace(seq=2),
        *(one._replace(beside=(*one.beside[:at], one.beside[at] + b"1", *one.beside[at + 1 :])) for at in range(4)),
        one._replace(body=b"", salt=b"", beside=(*one.beside[:4], bytes(32))),
        one._replace(beside=(*one.beside, b"1")),
        one._replace(beside=(b"1l", b"ocal", *one.beside[2:])),
    ]
    assert len({first, *(event_link(FIRST_LINK, other) for other in clear)}) == len(clear) + 1


def test_a_secret_leaves_no_hash_of_its_content_since_a_pin_could_be_guessed_from_it() -> None:
    kept = folded(created("My PIN is 4821", day=0)).entries[0]
    assert (kept.content_hash, folded(created("I like coffee", day=0)).entries[0].content_hash != b"") == (b"", True)
