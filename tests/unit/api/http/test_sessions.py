"""Codes and sessions of the console, with a clock that is turned by hand: used once, over in time, ended with their token."""

from __future__ import annotations

import base64
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.http.callers import (
    CODE_SECONDS,
    IDLE_SECONDS,
    LONGEST_SECONDS,
    MOST_CODES,
    MOST_REFUSED,
    MOST_SESSIONS,
    PAST_CODES,
    REFUSED_SECONDS,
    CodeRefused,
    Sessions,
)
from engramlog_server.projections.access.caller import AT_THE_FOLDER
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity


class House:
    """Sessions, their clock, and the token in force."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.token: bytes | None = b"first"
        numbers = count(1)
        self.sessions = Sessions(
            lambda: self.token,
            page="http://127.0.0.1:8733",
            clock=lambda: self.now,
            chance=lambda size: next(numbers).to_bytes(size),
        )

    def admits(self, shown: str, *, attended: bool = True) -> bool:
        return self.sessions.whose(shown, attended=attended) is AT_THE_FOLDER

    def code(self) -> str:
        assert self.token is not None
        return self.sessions.code(self.token).code

    def session(self) -> str:
        return self.sessions.redeem(self.code()).token

    def refused(self, code: str) -> str:
        with pytest.raises(CodeRefused) as told:
            self.sessions.redeem(code)
        assert told.value.status == (429 if told.value.reason == "limited" else 403)
        assert len(code) < 10 or code not in told.value.message
        return told.value.reason


@pytest.fixture
def house() -> House:
    return House()


def test_a_code_opens_one_session_and_only_one(house: House) -> None:
    code = house.code()
    assert house.sessions.state(code) == "waits"
    made = house.sessions.redeem(code)
    assert (made.ends_in, made.idle_seconds) == (7 * 86_400, 12 * 3_600)
    assert house.admits(made.token)
    assert (house.sessions.state(code), house.sessions.open) == ("used", 1)
    assert house.refused(code) == "used"
    assert (house.sessions.open, house.sessions.refused["used"]) == (1, 1)
    assert house.admits(made.token)


def test_a_code_is_over_after_ten_minutes_and_not_before(house: House) -> None:
    first, second = house.code(), house.code()
    house.now += CODE_SECONDS - 0.001
    house.sessions.redeem(first)
    house.now += 0.001
    assert house.sessions.state(second) == "over"
    assert house.refused(second) == "over"


def test_codes_and_tokens_are_of_256_random_bits_and_are_known_as_secrets() -> None:
    sessions = Sessions(lambda: b"")
    codes = [sessions.code(b"").code for _ in range(10)]
    tokens = [sessions.redeem(one).token for one in codes]
    assert len({*codes, *tokens}) == 20
    for one, prefix in [*((code, "egc1_") for code in codes), *((token, "egs1_") for token in tokens)]:
        assert one.startswith(prefix)
        assert len(base64.urlsafe_b64decode(one[5:] + "=")) == 32
        assert detect_sensitivity(f"open it with {one}") == 3


def test_nothing_but_hashes_is_kept(house: House) -> None:
    code = house.code()
    token = house.sessions.redeem(code).token
    waiting = house.code()
    assert [one for one in (code, token, waiting) if one[5:] in repr(vars(house.sessions))] == []


@pytest.mark.parametrize("token", [b"second", None])
def test_another_token_in_force_ends_every_session_and_every_code_for_good(house: House, token: bytes | None) -> None:
    session, code = house.session(), house.code()
    house.token = token
    assert not house.admits(session)
    assert house.sessions.open == 0
    assert house.refused(code) == "over"
    house.token = b"first"
    assert (house.admits(session), house.refused(code)) == (False, "over")


def test_a_code_that_was_asked_for_while_the_token_changed_opens_nothing(house: House) -> None:
    vouched = house.sessions.in_force()
    assert vouched is not None
    house.token = b"second"
    assert house.refused(house.sessions.code(vouched).code) == "over"


def test_a_session_ends_twelve_hours_after_it_was_used_last(house: House) -> None:
    session = house.session()
    for _ in range(5):
        house.now += IDLE_SECONDS - 1
        assert house.admits(session)
    house.now += IDLE_SECONDS
    assert (house.sessions.open, house.admits(session)) == (0, False)


def test_what_a_page_asks_by_itself_does_not_keep_its_session_open(house: House) -> None:
    session = house.session()
    for _ in range(2):
        house.now += IDLE_SECONDS / 2 - 1
        assert house.admits(session, attended=False)
    house.now += 2
    assert not house.admits(session, attended=False)


def test_a_session_ends_after_seven_days_however_much_it_is_used(house: House) -> None:
    session, until = house.session(), house.now + LONGEST_SECONDS
    while house.now + 3_600 < until:
        house.now += 3_600
        assert house.admits(session)
    house.now = until
    assert not house.admits(session)


def test_a_session_is_ended_by_who_shows_it_and_by_no_other(house: House) -> None:
    first, second = house.session(), house.session()
    assert (house.sessions.end("egs1_nothing"), house.sessions.end("")) == (False, False)
    assert house.sessions.end(first)
    assert not house.sessions.end(first)
    assert (house.admits(first), house.admits(second), house.sessions.open) == (False, True, 1)


def test_one_code_too_many_voids_the_oldest(house: House) -> None:
    codes = [house.code() for _ in range(MOST_CODES + 1)]
    assert [house.sessions.state(one) for one in codes] == ["over"] + ["waits"] * MOST_CODES


def test_one_session_too_many_ends_the_one_that_rested_longest(house: House) -> None:
    sessions = []
    for _ in range(MOST_SESSIONS):
        house.now += 1
        sessions.append(house.session())
    house.now += 1
    assert house.admits(sessions[0])
    newest = house.session()
    assert house.sessions.open == MOST_SESSIONS
    assert [house.admits(one) for one in (sessions[0], sessions[1], newest)] == [True, False, True]


def test_what_became_of_the_oldest_codes_is_forgotten(house: House) -> None:
    codes = [house.code() for _ in range(PAST_CODES)]
    for code in codes[-MOST_CODES:]:
        house.sessions.redeem(code)
    assert house.sessions.state(codes[0]) == "over"
    house.session()
    assert [house.sessions.state(one) for one in (codes[0], codes[-1])] == ["unknown", "used"]


def test_many_wrong_codes_are_limited_and_a_right_one_still_opens(house: House) -> None:
    code = house.code()
    told = [house.refused(f"egc1_{number}") for number in range(MOST_REFUSED + 5)]
    assert told == ["unknown"] * MOST_REFUSED + ["limited"] * 5
    assert house.sessions.refused == {"used": 0, "over": 0, "unknown": MOST_REFUSED, "revoked": 0, "limited": 5}
    assert house.admits(house.sessions.redeem(code).token)
    assert house.refused(code) == "limited"
    house.now += REFUSED_SECONDS
    assert [house.refused(code), house.refused(code)] == ["used", "limited"]
    house.now += 1_000_000
    assert [house.refused("x") for _ in range(MOST_REFUSED + 1)] == ["unknown"] * MOST_REFUSED + ["limited"]


def test_a_link_leads_to_the_page_and_there_is_none_on_no_port(house: House) -> None:
    assert house.sessions.link("egc1_x") == "http://127.0.0.1:8733/#code=egc1_x"
    assert Sessions(lambda: b"").link("egc1_x") is None


@given(st.text(max_size=80))
def test_nothing_that_was_not_made_here_opens_anything(shown: str) -> None:
    house = House()
    session, code = house.session(), house.code()
    if shown not in (session, code):
        assert (house.admits(shown), house.sessions.end(shown), house.sessions.state(shown)) == (
            False,
            False,
            "unknown",
        )
        assert house.refused(shown) == "unknown"
    for part in (session[:-1], session + "x", session.swapcase(), code, session.removeprefix("egs1_")):
        assert not house.admits(part)
