"""Folding a partition: batches, quarantine by owner, discards, the digest (architecture.md, folding)."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from itertools import repeat

import pytest

from engramlog_server.events.catalogue import EventDiscarded
from engramlog_server.events.envelope import Stored, digest
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.projections.fold import owner
from engramlog_server.projections.fold.changelog import DECISIONS
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.fold.partition import (
    COMMIT_BYTES,
    COMMIT_EVENTS,
    COMMIT_RECORDS,
    DIGEST_MODULUS,
    OWNER_EVENTS,
    Checkpoint,
    Quarantine,
    WorkingOwner,
    decode_all,
    fold_batch,
    named_memories,
    record_hash,
    release,
)
from engramlog_server.projections.fold.working_set import OWNER
from engramlog_server.projections.memory.record import encode_memory
from tests.given.events import (
    Told,
    at,
    created,
    deleted,
    entry,
    in_conflict,
    linked,
    mentioned,
    merged,
    negated,
    purged,
    reinforced,
    secret_of,
    unmerged,
)
from tests.given.partition import Partition
from tests.rows import each_row


def log_of(*events: tuple[str, Told | bytes]) -> list[Stored]:
    """A partition's log; bytes stand for an event that no release can read."""
    return [
        Stored(seq, "MemoryMentioned.1", bytes(15) + bytes([seq]), owner, told, (b"0", b"", b"", b"", bytes(32)))
        if isinstance(told, bytes)
        else entry(told, owner, seq)
        for seq, (owner, told) in enumerate(events, 1)
    ]


def discarded(seq: int, day: float = 9) -> Told:
    return Told(EventDiscarded(position=f"0:{seq}", reason="damaged"), day, "operator")


POISON = b'{"not": "an event"}'
STUCK = (
    ("ada", created()), ("bob", created()), ("ada", POISON), ("ada", mentioned(day=2)), ("bob", mentioned(day=2)),
    ("ada", mentioned(day=3)),
)  # fmt: skip


def test_the_digest_is_the_sum_of_the_hashes_of_all_records() -> None:
    events = [created(), created(of="n"), mentioned(day=1), merged("m", "n", day=2), mentioned(day=3)]
    log = log_of(*((owner, told) for told in events for owner in ("ada", "bob")))
    folded = Partition(log).fold(repeat(2))
    hashes = [
        record_hash(secret_of(owner), owner, memory.id, encode_memory(memory))
        for owner in ("ada", "bob")
        for memory in fold_owner((one for one in log if one.owner == owner), secret=secret_of(owner)).memories.values()
    ]
    assert (folded.checkpoint.digest, folded.checkpoint.memories) == (sum(hashes) % DIGEST_MODULUS, 6)


def test_a_record_adds_to_the_digest_what_only_the_secret_makes_and_nothing_without_one() -> None:
    record, named = b"record", b"ada\0m\0record"
    made = record_hash(secret_of("ada"), "ada", "m", record).to_bytes(16, "big")
    by_others = {blake2b(named, digest_size=16, person=person).digest() for person in (b"", b"record")}
    assert made not in by_others | {digest(secret_of("ada"), named)}
    assert record_hash(b"", "ada", "m", record) == 0


def test_an_owner_is_folded_as_if_it_were_alone() -> None:
    log = log_of(*STUCK)
    mixed = Partition(log).fold()
    alone = fold_owner((one for one in log if one.owner == "bob"), secret=secret_of("bob"))
    assert (mixed.owners["bob"].memories, mixed.owners["bob"].state) == (alone.memories, alone.owner)
    assert mixed.history("bob") == ([2, 5], alone.entries)


REACHING: list[tuple[str, list[Told]]] = [
    ("what had replaced it", [negated(replaced_by="n"), mentioned(day=1)]),
    ("the merge of what had replaced it", [negated(replaced_by="n"), merged("n", "o", into="x"), mentioned(day=1)]),
    ("what it is in conflict with", [in_conflict("m", "n"), negated(day=1)]),
    ("what its sources are in conflict with", [in_conflict("m", "n"), merged("m", "o", into="x"), deleted("n", day=1)]),
    ("its merge and the merge of that", [merged("m", "n", into="x"), merged("x", "o", into="y"), mentioned(day=1)]),
    ("its sources", [merged("m", "n", into="x"), unmerged("x")]),
    ("the sources of its sources", [merged("m", "n", into="x"), merged("x", "o", into="y"), deleted("y"), purged("y", 40)]),
    ("a successor that an older negation named", [
        negated(day=6, replaced_by="n"), mentioned(day=9), negated(day=5, replaced_by="o"), negated(day=7, replaced_by="o"),
    ]),
]  # fmt: skip


@each_row("events", [case[1] for case in REACHING], ids=[case[0] for case in REACHING])
def test_a_worker_that_just_took_over_reaches(events: list[Told]) -> None:
    log = log_of(*(("ada", told) for told in [created(), created(of="n"), created(of="o"), *events]))
    assert Partition(log).fold(repeat(1), restarts=True).facts == Partition(log).fold().facts


# --- quarantine -----------------------------------------------------------------------------------------------------


def test_an_event_that_cannot_be_read_parks_its_owner_and_nobody_else() -> None:
    folded = Partition(log_of(*STUCK)).fold()
    assert (folded.parked, folded.owners["ada"].state.seq, folded.owners["ada"].memories["m"].mention_count) == (
        {"ada": [3, 4, 6], "bob": []},
        1,
        1,
    )
    assert (folded.owners["bob"].quarantine, folded.owners["bob"].memories["m"].mention_count) == (None, 2)


def test_an_exception_in_evolve_parks_the_owner_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(working: object, data: object, event: object) -> None:
        raise ZeroDivisionError("a bug")

    handlers = {**owner.HANDLERS, type(reinforced().data): broken}
    monkeypatch.setattr(owner, "HANDLERS", handlers)
    log = log_of(("ada", created()), ("ada", reinforced(day=1)), ("bob", created()), ("ada", mentioned(day=2)))
    told: list[tuple[int, str]] = []
    owners = {"ada": WorkingOwner(), "bob": WorkingOwner()}
    outcome = fold_batch(
        Checkpoint(), owners, decode_all(log), on_failure=lambda one, error: told.append((one.seq, repr(error)))
    )
    assert (outcome.seq, outcome.events, outcome.owners["ada"].park, told) == (
        4,
        4,
        [2, 4],
        [(2, "ZeroDivisionError('a bug')")],
    )
    assert owners["ada"].quarantine == Quarantine(2, "MemoryReinforced.1", "ZeroDivisionError: a bug")
    assert owners["ada"].memories["m"].reinforce_count == 0


# --- discard and retry ----------------------------------------------------------------------------------------------


@each_row("size", [1, 2, 3, 7, 100])
@each_row("restarts", [False, True])
def test_a_discard_drops_one_event_and_folds_the_parked_ones_in_order(size: int, restarts: bool) -> None:
    log = log_of(*STUCK, ("ada", discarded(3)), ("ada", mentioned(day=10)))
    folded = Partition(log).fold(repeat(size), restarts=restarts)
    seqs, entries = folded.history("ada")
    assert (seqs, folded.parked["ada"], folded.owners["ada"].quarantine) == ([1, 4, 6, 7, 8], [], None)
    found = fold_owner((log[seq - 1] for seq in seqs), secret=secret_of("ada"))
    assert (found.owner, found.entries) == (folded.owners["ada"].state, entries)
    assert folded.records["ada"] == {"m": encode_memory(found.memories["m"])}
    assert found.memories["m"].mentions == (at(2), at(3), at(10))


def said_of_discards(told: Partition) -> list[tuple[str, str]]:
    return [(DECISIONS[one.decision], one.reason) for one in told.history("ada")[1] if one.memory_id == OWNER]


NOT_THERE = [("ignored", "nothing is parked there")]
ELSEWHERE: dict[str, str] = {
    "folded": "0:1", "parked, and not the one that is asked for": "0:5", "another owner's": "0:2", "itself": "0:7",
    "later than the log": "0:99", "another partition's": "1:3",
}  # fmt: skip


@each_row("position", ELSEWHERE.values(), ids=ELSEWHERE)
@each_row("size", [1, 100])
def test_a_discard_of_what_is_not_parked_there_drops_nothing_and_says_so(position: str, size: int) -> None:
    told = Told(EventDiscarded(position=position), 9, "user")
    found = Partition(log_of(*STUCK, ("ada", told)), number=0).fold(repeat(size))
    assert (found.parked["ada"], said_of_discards(found)) == ([3, 4, 6], NOT_THERE)


def test_the_same_event_is_dropped_once_and_by_whom_is_told() -> None:
    again = replace(discarded(3), actor="user")
    found = Partition(log_of(*STUCK, ("ada", discarded(3)), ("ada", again))).fold()
    assert said_of_discards(found) == [("discard", "0:3 was parked and is dropped, by operator"), *NOT_THERE]
    seqs, entries = found.history("ada")
    assert fold_owner((found.log[seq - 1] for seq in seqs), secret=secret_of("ada")).entries == entries


def test_a_discard_waits_until_the_parked_events_are_read_and_stands_first() -> None:
    log = log_of(*STUCK, ("ada", discarded(3)))
    owners = {"ada": WorkingOwner(), "bob": WorkingOwner()}
    before = fold_batch(Checkpoint(), owners, decode_all(log))
    assert (before.events, before.seq, before.waits_for_discard) == (6, 6, True)
    waiting = fold_batch(Checkpoint(6, before.head), owners, decode_all(log[6:]))
    assert (waiting.events, waiting.seq, waiting.waits_for_discard) == (0, 6, True)


def test_a_retry_folds_what_a_newer_release_can_read() -> None:
    log = log_of(*STUCK)
    folded = Partition(log).fold()
    readable = [entry(mentioned(day=1.5), "ada", 3), *(log[seq - 1] for seq in (4, 6))]
    outcome = fold_batch(folded.checkpoint, folded.owners, [])
    release(outcome, "ada", folded.owners["ada"], decode_all(readable))
    assert (outcome.owners["ada"].parked_now, outcome.owners["ada"].seqs, outcome.seq) == ([], [3, 4, 6], 6)
    assert (folded.owners["ada"].quarantine, folded.owners["ada"].memories["m"].mention_count) == (None, 4)


def test_a_retry_that_fails_again_parks_everything_as_before() -> None:
    folded = Partition(log_of(*STUCK)).fold()
    outcome = fold_batch(folded.checkpoint, folded.owners, [])
    release(outcome, "ada", folded.owners["ada"], decode_all(folded.log[seq - 1] for seq in (3, 4, 6)))
    assert (outcome.owners["ada"].parked_now, outcome.owners["ada"].seqs) == ([3, 4, 6], [])


# --- the size of a commit -------------------------------------------------------------------------------------------


def test_a_commit_ends_at_two_thousand_events() -> None:
    log = log_of(*((f"owner-{n % 7}", created(of=f"m{n}")) for n in range(2_100)))
    outcome = fold_batch(Checkpoint(), {f"owner-{n}": WorkingOwner() for n in range(7)}, decode_all(log))
    assert (outcome.events, outcome.waits_for_discard) == (COMMIT_EVENTS, False)


def test_a_commit_holds_at_most_five_hundred_events_of_one_owner() -> None:
    log = log_of(("bob", created()), ("ada", created()), *([("ada", mentioned(day=1))] * 600))
    outcome = fold_batch(Checkpoint(), {"ada": WorkingOwner(), "bob": WorkingOwner()}, decode_all(log))
    assert (outcome.events, len(outcome.owners["ada"].seqs)) == (OWNER_EVENTS + 1, OWNER_EVENTS)


def test_a_commit_ends_once_it_holds_a_mebibyte() -> None:
    log = log_of(*(("ada", created("x" * 60_000, of=f"m{n}")) for n in range(20)))
    outcome = fold_batch(Checkpoint(), {"ada": WorkingOwner()}, decode_all(log))
    size = sum(len(one.body) for one in log[: outcome.events])
    last = len(log[outcome.events - 1].body)
    assert size - last < COMMIT_BYTES <= size


def test_a_commit_ends_once_it_holds_four_thousand_records() -> None:
    created_first = [("ada", created(of=f"m{n:04}")) for n in range(4_800)]
    merges = [("ada", merged(*(f"m{n:04}" for n in range(k * 100, k * 100 + 100)), into=f"all{k}")) for k in range(48)]
    folded = Partition(log_of(*created_first)).fold()
    batch = decode_all(log_of(*created_first, *merges)[4_800:])
    outcome = fold_batch(folded.checkpoint, folded.owners, batch)
    assert (outcome.events, len(outcome.owners["ada"].touched) >= COMMIT_RECORDS) == (40, True)


def test_the_working_set_names_what_the_events_are_about() -> None:
    log = log_of(
        ("ada", created(corrects="a", summarises=("b", "c"))),
        ("ada", negated("d", replaced_by="e")),
        ("bob", linked("x", "y")),
        ("bob", reinforced("z", from_memory="w")),
        ("cy", POISON),
        ("dan", merged("p", "q", into="r")),
        ("dan", purged("s")),
    )
    decoded = decode_all(log)
    assert named_memories(decoded) == {
        "ada": {"m", "a", "b", "c", "d", "e"},
        "bob": {"x", "y", "z", "w"},
        "cy": set(),
        "dan": {"p", "q", "r", "s"},
    }
    assert [one.seq for one, event in decoded if isinstance(event, UndecodableEvent)] == [5]
