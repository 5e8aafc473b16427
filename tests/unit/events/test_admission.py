"""Room for an append: what is in use, what folding the log will still take, and what the request itself takes."""

from __future__ import annotations

from engramlog_server.events.redis.log import APPEND_FULL, Debt, Room, append_bytes, fold_bytes, refusal
from tests.rows import each_row

MIB = 1 << 20


def test_what_waits_to_be_folded_is_counted_as_if_it_were_there() -> None:
    debt = Debt(events=10_000, body_bytes=4_000_000, new_owners=100)
    room = Room(20 * MIB, 40 * MIB, debt)
    assert debt.bytes == fold_bytes(10_000, 4_000_000) + 80_000
    assert room.left(APPEND_FULL) == int(0.85 * 40 * MIB) - 20 * MIB - debt.bytes


@each_row(
    ("body", "log", "fold"),
    [(297, 448, 532), (394, 532, 627), (2_660, 3_269, 3_337), (365, 532, 9), (197, 310, 171), (345, 466, 340)],
)
def test_a_prediction_is_never_under_what_was_measured(body: int, log: int, fold: int) -> None:
    """Bytes of body, and in Redis: short, middle and long memories, turns, mentions, revisions."""
    assert fold <= fold_bytes(1, body)
    assert log + fold <= append_bytes(1, body)


def test_a_memory_of_an_owner_who_is_new_is_predicted_with_its_keys() -> None:
    assert Debt(1, 396, 1).bytes >= 1_225


def test_without_a_limit_there_is_always_room() -> None:
    assert Room(10**12, None, Debt(10**9, 10**12, 0)).left(APPEND_FULL) is None


def test_a_refusal_names_memory_debt_and_request_as_far_as_they_matter() -> None:
    small, large = Room(36 * MIB, 40 * MIB), Room(16 * MIB, 40 * MIB, Debt(23_450, 9_000_000, 0))
    assert refusal(small, 900, APPEND_FULL).startswith(
        "Redis uses 90% of its maxmemory; appends are refused from 85% on"
    )
    told = refusal(large, 10 * MIB, APPEND_FULL)
    assert "this request would take about 25% once it is folded" in told
    assert "folding the 23,450 events that wait will take about 45% more" in told
    assert "let folding catch up" in told
    assert told.endswith("then send the same request again")
