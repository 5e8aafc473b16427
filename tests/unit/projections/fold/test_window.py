"""A window folds what batches fold, owner by owner, and what was written of one is passed over when it is read again."""

from __future__ import annotations

from copy import deepcopy
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.envelope import Stored
from engramlog_server.projections.fold.changelog import event_link
from engramlog_server.projections.fold.partition import (
    Checkpoint,
    Outcome,
    Window,
    WindowLimits,
    WorkingOwner,
    decode_all,
    encode_outcome,
    fold_batch,
)
from tests.given.events import created, entry, mentioned, secret_of
from tests.rows import each_row
from tests.unit.projections.fold.test_partition import POISON, STUCK, discarded, log_of

OWNERS = ("ada", "bob", "cyd", "dan")
Owners = dict[str, WorkingOwner]


def fresh() -> Owners:
    return {name: WorkingOwner(secret=secret_of(name)) for name in OWNERS}


def by_batches(log: list[Stored]) -> tuple[Checkpoint, Owners]:
    owners, checkpoint, decoded = fresh(), Checkpoint(), decode_all(log)
    while decoded:
        outcome = fold_batch(checkpoint, owners, decoded)
        checkpoint, decoded = encode_outcome(checkpoint, outcome, owners).checkpoint, decoded[outcome.events :]
    return checkpoint, owners


def written(checkpoint: Checkpoint, owners: Owners, pieces: list[Outcome]) -> Checkpoint:
    for piece in pieces:
        checkpoint = encode_outcome(checkpoint, piece, owners).checkpoint
    return checkpoint


def told(names: list[str]) -> list[Stored]:
    """A log in which each owner's first event creates and every third one cannot be read until it is stuck for good."""
    seen = dict.fromkeys(OWNERS, 0)
    events = []
    for name in names:
        seen[name] += 1
        events.append(
            (name, created() if seen[name] == 1 else POISON if seen[name] == 9 else mentioned(day=seen[name]))
        )
    return log_of(*events)


def folded(window: Window, owners: Owners, owner: str | None = None) -> list[Outcome]:
    """All the pieces of what a window has."""
    return [piece for group in window.groups(owner) for piece in window.pieces(owners, decode_all(group))]


@given(
    names=st.lists(st.sampled_from(OWNERS), min_size=1, max_size=60),
    most=st.integers(1, 7),
    group=st.integers(1, 30),
    first=st.sampled_from((None, *OWNERS)),
)
def test_pieces_of_a_window_lead_where_batches_lead(names: list[str], most: int, group: int, first: str | None) -> None:
    """Also where one owner is folded before the others: at a discard of it."""
    log, owners = told(names), fresh()
    window = Window(Checkpoint(), WindowLimits(piece_events=most, group_events=group))
    assert window.read(log) == len(log)
    pieces = folded(window, owners, first) if first else []
    pieces += folded(window, owners)
    checkpoint, expected = by_batches(log)
    assert written(Checkpoint(), owners, [*pieces, window.outcome()]) == checkpoint
    assert owners == expected
    parked = sorted(seq for piece in pieces for part in piece.owners.values() for seq in part.park)
    applied = [seq for piece in pieces for part in piece.owners.values() for seq in part.seqs]
    assert sorted(applied + parked) == [one.seq for one in log]
    assert all(0 < piece.events <= most for piece in pieces)


@given(
    names=st.lists(st.sampled_from(OWNERS), min_size=1, max_size=60), kept=st.integers(0, 60), most=st.integers(1, 7)
)
def test_a_window_of_which_some_pieces_were_written_is_folded_again_without_folding_them_twice(
    names: list[str], kept: int, most: int
) -> None:
    """Whatever the piece after which it was killed: what is parked is told apart by the last that was."""
    log, owners = told(names), fresh()
    window, pieces = Window(Checkpoint(), WindowLimits(piece_events=most)), list[Outcome]()
    window.read(log)
    for group in window.groups():
        for piece in islice(window.pieces(owners, decode_all(group)), kept):
            pieces.append(piece)
    stands = written(Checkpoint(), owners, pieces)._replace(seq=0, head=Checkpoint().head)
    for piece in pieces:
        for name, part in piece.owners.items():
            owners[name].parked_to = max(owners[name].parked_to, *part.park, 0)
    owners = deepcopy(owners)
    again = Window(stands._replace(pieces=len(pieces), reach=window.seq, reached=window.head))
    again.read(log)
    more = folded(again, owners)
    checkpoint, expected = by_batches(log)
    assert written(stands, owners, [*more, again.outcome()]) == checkpoint
    for owner in owners.values():
        owner.parked_to = 0
    assert owners == expected
    parked = [seq for piece in pieces + more for part in piece.owners.values() for seq in part.park]
    assert len(parked) == len(set(parked)), "none twice"


@each_row(("events", "full"), [(3, False), (4, True)])
def test_a_window_is_full_only_past_all_that_pieces_of_before_may_hold(events: int, full: bool) -> None:
    log = log_of(*(("ada", mentioned(day=day)) for day in range(events)))
    window = Window(Checkpoint(pieces=1, reach=4), WindowLimits(events=1))
    assert (window.read(log), window.full, window.past_pieces) == (events, full, full)


def test_a_window_ends_at_as_many_events_or_bytes_as_it_may_hold() -> None:
    log = log_of(*(("ada", mentioned(day=day)) for day in range(9)))
    assert Window(Checkpoint(), WindowLimits(events=5)).read(log) == 5
    assert Window(Checkpoint(), WindowLimits(size=sum(len(one.body) for one in log[:3]))).read(log) == 3


def test_a_window_ends_before_a_discard_until_it_is_known_that_its_owner_does_not_stand_still() -> None:
    window = Window(Checkpoint())
    log = log_of(*STUCK, ("ada", discarded(3)), ("bob", mentioned(day=4)), ("ada", discarded(5)))
    assert window.read(log) == 6
    assert (window.seq, window.full) == (6, False)
    assert window.read(log[6:], passing=True) == 2
    assert window.seq == 8


def test_a_piece_holds_no_more_than_a_script_may_write() -> None:
    log = [entry(created(of=f"m{n}", content="x" * 40_000), "ada", n) for n in range(1, 11)]
    window = Window(Checkpoint())
    window.read(log)
    assert [piece.events for piece in folded(window, fresh())] == [7, 3]


def test_what_is_kept_of_an_entry_folds_as_the_entry_does() -> None:
    one = entry(created(), "ada", 1)
    salted = one._replace(beside=one.beside or (b"5", b"local", b"1:0", b"", bytes(32)), salt=bytes(16))
    window = Window(Checkpoint())
    window.read([salted])
    kept = next(window.groups())[0]
    assert kept.beside[:4] == salted.beside[:4]
    assert (kept.beside[4], kept.salt) == (b"", b"")
    assert (kept.level, kept.trust, kept.principal) == (salted.level, salted.trust, salted.principal)
    assert window.head == event_link(Checkpoint().head, salted), "the chain is over all of it"
