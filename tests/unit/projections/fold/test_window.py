"""A window folds what batches fold, owner by owner, and what was written of one is passed over when it is folded again."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.envelope import Stored
from projections.fold.partition import Checkpoint, Outcome, WorkingOwner, decode_all, fold_batch, seal
from projections.fold.window import Window, WindowLimits
from tests.given.events import created, entry, mentioned, secret_of
from tests.unit.projections.fold.test_partition import POISON, STUCK, discarded, log_of

OWNERS = ("ada", "bob", "cyd", "dan")
Owners = dict[str, WorkingOwner]


def fresh() -> Owners:
    return {name: WorkingOwner(secret=secret_of(name)) for name in OWNERS}


def by_batches(log: list[Stored]) -> tuple[Checkpoint, Owners]:
    owners, checkpoint, decoded = fresh(), Checkpoint(), decode_all(log)
    while decoded:
        outcome = fold_batch(checkpoint, owners, decoded)
        checkpoint, decoded = seal(checkpoint, outcome, owners).checkpoint, decoded[outcome.events :]
    return checkpoint, owners


def written(checkpoint: Checkpoint, owners: Owners, pieces: list[Outcome]) -> Checkpoint:
    for piece in pieces:
        checkpoint = seal(checkpoint, piece, owners).checkpoint
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


@given(names=st.lists(st.sampled_from(OWNERS), min_size=1, max_size=60), most=st.integers(1, 7))
def test_pieces_of_a_window_lead_where_batches_lead(names: list[str], most: int) -> None:
    log, owners = told(names), fresh()
    window, decoded, pieces = Window(Checkpoint(), WindowLimits(piece_events=most)), decode_all(log), list[Outcome]()
    while decoded:
        taken, ripe = window.feed(owners, decoded)
        decoded = decoded[taken:]
        if ripe is not None:
            pieces.append(window.take(next(iter(ripe.owners))))
    pieces += window.pieces()
    checkpoint, expected = by_batches(log)
    assert written(Checkpoint(), owners, pieces) == checkpoint
    assert owners == expected
    parked = sorted(seq for piece in pieces for part in piece.owners.values() for seq in part.park)
    applied = [seq for piece in pieces for part in piece.owners.values() for seq in part.seqs]
    assert sorted(applied + parked) == [one.seq for one in log]
    assert all(not part.park for piece in pieces[:-1] for part in piece.owners.values())


@given(names=st.lists(st.sampled_from(OWNERS), min_size=1, max_size=60), kept=st.integers(0, 20))
def test_a_window_of_which_some_pieces_were_written_is_folded_again_without_folding_them_twice(
    names: list[str], kept: int
) -> None:
    log, first = told(names), fresh()
    window = Window(Checkpoint(), WindowLimits(piece_events=1))
    window.feed(first, decode_all(log))
    pieces = list(window.pieces())[:-1][:kept]
    stands = written(Checkpoint(), first, pieces)._replace(seq=0, head=Checkpoint().head)
    done = {name for piece in pieces for name, part in piece.owners.items() if part.seqs}
    owners = fresh() | {name: deepcopy(first[name]) for name in done}
    for name in done:
        owners[name].quarantine = None  # it is written with the last piece
    again = Window(stands._replace(pieces=len(pieces), reach=window.seq, reached=window.head))
    again.feed(owners, decode_all(log))
    checkpoint, expected = by_batches(log)
    assert written(stands, owners, list(again.pieces())) == checkpoint
    assert owners == expected


@pytest.mark.parametrize(("events", "full"), [(3, False), (4, True)])
def test_a_window_is_full_only_past_all_that_pieces_of_before_may_hold(events: int, full: bool) -> None:
    log = log_of(*(("ada", mentioned(day=day)) for day in range(events)))
    window = Window(Checkpoint(pieces=1, reach=4), WindowLimits(events=1))
    taken, _ = window.feed(fresh(), decode_all(log))
    assert (taken, window.full, window.past_pieces) == (events, full, full)


def test_a_window_ends_before_a_discard_whose_parked_events_have_to_be_read() -> None:
    window = Window(Checkpoint())
    owners = fresh()
    assert window.feed(owners, decode_all(log_of(*STUCK, ("ada", discarded(3)), ("bob", mentioned(day=4))))) == (
        6,
        None,
    )
    assert (window.seq, window.full) == (6, False)


def test_an_owner_with_long_texts_is_written_before_the_window_is_full() -> None:
    log = [entry(created(of=f"m{n}", content="x" * 40_000), "ada", n) for n in range(1, 11)]
    taken, ripe = Window(Checkpoint()).feed(fresh(), decode_all(log))
    assert taken == 7
    assert ripe is not None
    assert list(ripe.owners) == ["ada"]
