"""Sessions that were opened with a key, with a clock that is turned by hand: whose they are, how long, how many."""

from __future__ import annotations

from itertools import count

import pytest

from engramlog_server.api.http.callers import IDLE_SECONDS, LONGEST_SECONDS, MOST, MOST_OF_A_KEY, Sessions
from engramlog_server.projections.access.caller import AT_THE_FOLDER, Caller


class House:
    """Sessions of keys, and their clock."""

    def __init__(self) -> None:
        self.now = 1_000.0
        numbers = count(1)
        self.sessions = Sessions(
            lambda: b"first", clock=lambda: self.now, chance=lambda size: next(numbers).to_bytes(size)
        )

    def of(self, key_id: str = "k7m2p9qa", lasts: float | None = None) -> str:
        return self.sessions.begin(Caller("support", ((),), key_id), lasts).token


@pytest.fixture
def house() -> House:
    return House()


def test_a_session_is_of_whoever_opened_it_and_of_nobody_else(house: House) -> None:
    mine, other = house.of("aaaaaaaa"), house.of("bbbbbbbb")
    assert [getattr(house.sessions.whose(one), "key_id", None) for one in (mine, other)] == ["aaaaaaaa", "bbbbbbbb"]
    assert [house.sessions.whose(one) for one in ("", "egs1_", mine + "x", mine[5:], mine.upper())] == [None] * 5
    assert house.sessions.end(mine)
    assert not house.sessions.end(mine)
    assert (house.sessions.whose(mine), house.sessions.open) == (None, 1)


def test_a_session_ends_when_nobody_touched_it_and_what_a_page_asks_by_itself_does_not_count(house: House) -> None:
    shown = house.of()
    house.now += IDLE_SECONDS - 1
    assert house.sessions.whose(shown, attended=False) is not None
    house.now += 1
    assert house.sessions.whose(shown) is None
    kept = house.of()
    for _ in range(3):
        house.now += IDLE_SECONDS - 1
        assert house.sessions.whose(kept) is not None
    assert house.sessions.open == 1


@pytest.mark.parametrize(
    ("lasts", "ends_in"),
    [(None, LONGEST_SECONDS), (10 * LONGEST_SECONDS, LONGEST_SECONDS), (60.9, 60), (0, 0), (-5, 0)],
)
def test_a_session_lasts_no_longer_than_what_it_was_opened_with(
    house: House, lasts: float | None, ends_in: int
) -> None:
    made = house.sessions.begin(Caller("support", ((),), "aaaaaaaa"), lasts)
    assert (made.ends_in, made.idle_seconds) == (ends_in, IDLE_SECONDS)
    step = IDLE_SECONDS / 2
    while ends_in > step:
        house.now += step
        ends_in -= int(step)
        assert house.sessions.whose(made.token) is not None
    house.now += ends_in
    assert (house.sessions.whose(made.token), house.sessions.open) == (None, 0)


def test_one_key_too_many_ends_its_own_session_that_rested_longest_and_no_others(house: House) -> None:
    other, first, second = house.of("bbbbbbbb"), house.of("aaaaaaaa"), house.of("aaaaaaaa")
    house.now += 1
    assert house.sessions.whose(first) is not None
    for _ in range(MOST_OF_A_KEY - 1):
        house.now += 1
        house.of("aaaaaaaa")
    assert [house.sessions.whose(one) is not None for one in (other, first, second)] == [True, True, False]
    assert house.sessions.open == MOST_OF_A_KEY + 1


def test_all_keys_together_have_so_many_and_the_folder_has_its_own(house: House) -> None:
    folder = house.sessions.redeem(house.sessions.code(b"first").code).token
    first = house.of("key00000")
    for number in range(MOST):
        house.now += 0.001
        house.of(f"key{number // MOST_OF_A_KEY:05}")
    assert (house.sessions.open, house.sessions.whose(first)) == (MOST + 1, None)
    assert house.sessions.whose(folder) is AT_THE_FOLDER
