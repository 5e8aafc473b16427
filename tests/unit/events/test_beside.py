"""What stands beside a body is read by every fold: bytes that no append wrote stop nobody, and make no text less sensitive."""

from __future__ import annotations

from engramlog_server.events.catalogue import EventDiscarded, MemoryCreated
from engramlog_server.events.envelope import Stored, level_in, prepare
from engramlog_server.events.validation import make_event
from engramlog_server.projections.fold.partition import Checkpoint, WorkingOwner, decode_all, fold_batch
from engramlog_server.projections.language.sensitivity.level import judged_under, level_now
from tests.given.samples import MOMENT, NOW
from tests.rows import each_row

TAMPERED = [
    b"", b":", b"1", b"1:", b":1", b"x:1", b"1:x", b"1:-1", b"1:4", b"1:99", b"1:1000", b"-1:1", b"1: 1", b"1:1_0",
    b"\xff:1",
]  # fmt: skip


def stored(data: object, level: bytes) -> Stored:
    one = prepare(make_event(data, owner="ann", occurred_at=MOMENT, actor="user", now=NOW))
    return Stored(1, one.kind, one.raw_id, "ann", one.body, (b"%d" % NOW, b"local", level, b"", bytes(32)), bytes(16))


@each_row("told", TAMPERED)
def test_a_level_that_no_append_wrote_is_no_level(told: bytes) -> None:
    one = stored(EventDiscarded(position="0:1"), told)
    assert (level_in(told), one.level, level_now(one)) == (None, None, None)
    assert judged_under(one) >= 0


@each_row("told", [b"1:0", b"1:3", b"12:2"])
def test_a_level_is_what_the_rules_said(told: bytes) -> None:
    assert level_in(told) == int(told[-1:])


@each_row("told", TAMPERED)
def test_a_secret_beside_a_level_that_no_append_wrote_is_judged_when_it_is_folded(told: bytes) -> None:
    said = MemoryCreated(
        memory_id="m", content="my password is Tr0ub4dor&3x", category="fact", kind="plain_fact", source="user"
    )
    owner = folded(stored(said, told))
    assert owner.quarantine is None
    assert owner.memories["m"].sensitivity == 3


@each_row("told", TAMPERED)
def test_a_discard_beside_a_level_that_no_append_wrote_stops_no_partition(told: bytes) -> None:
    parked = Stored(1, "MemoryCreated.1", bytes(16), "ann", b"no event", (b"0", b"", b"", b"", bytes(32)))
    owner = folded(parked)
    assert owner.quarantine is not None
    discard = stored(EventDiscarded(position="0:1"), told)._replace(seq=2)
    _ = fold_batch(Checkpoint(1), {"ann": owner}, decode_all([discard]), released={"ann": decode_all([parked])})
    assert (owner.quarantine, owner.state.seq) == (None, 2)


def folded(one: Stored) -> WorkingOwner:
    owner = WorkingOwner()
    fold_batch(Checkpoint(), {"ann": owner}, decode_all([one]))
    return owner
