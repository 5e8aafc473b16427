"""The store's clock within a process: never back, and told where it is not to be believed."""

from __future__ import annotations

import pytest

from engramlog_server.events.errors import ClockBehind, InvalidBatch, InvalidEvent
from engramlog_server.events.redis import server as redis_clock
from engramlog_server.events.redis.server import APART_MICROS, BACK_MICROS, StoreClock
from engramlog_server.events.validation import judged

NOW = 1_800_000_000_000_000
MINUTE = 60_000_000
HOUR = 60 * MINUTE


class Hands:
    """Two clocks that a test sets, and the monotonic one."""

    def __init__(self) -> None:
        self.redis = self.own = NOW
        self.elapsed = 0.0
        self.asked = 0
        self.raised_: dict[str, str] = {}

    def read(self) -> int:
        self.asked += 1
        return self.redis

    def monotonic(self) -> float:
        return self.elapsed

    def wait(self, seconds: float) -> None:
        """Both clocks go on."""
        self.elapsed += seconds
        self.redis += int(seconds * 1_000_000)
        self.own += int(seconds * 1_000_000)

    def raised(self, name: str, subject: str = "", text: str = "") -> None:
        self.raised_[name] = text

    def cleared(self, name: str, subject: str = "") -> None:
        self.raised_.pop(name, None)


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    hands = Hands()
    monkeypatch.setattr(redis_clock, "monotonic", hands.monotonic)
    return hands


@pytest.fixture
def clock(hands: Hands) -> StoreClock:
    return StoreClock(hands.read, lambda: hands.own, hands)


def test_one_reading_is_carried_on_for_a_minute(hands: Hands, clock: StoreClock) -> None:
    first = clock.now()
    hands.wait(59)
    later = clock.now()
    asked = hands.asked
    hands.wait(2)
    clock.now()
    assert (later - first, asked, hands.asked, hands.raised_) == (59_000_000, 1, 2, {})


def test_time_never_goes_back_within_a_process_and_a_clock_that_does_is_told(hands: Hands, clock: StoreClock) -> None:
    before = clock.now()
    hands.wait(61)
    hands.redis -= HOUR
    after = clock.now()
    told = dict(hands.raised_)
    hands.wait(2)
    hands.redis += HOUR
    healed = clock.now()
    assert before < after < healed
    assert ("clock_back" in told, hands.raised_) == (True, {})


def test_a_step_back_within_the_tolerance_is_not_told(hands: Hands, clock: StoreClock) -> None:
    before = clock.now()
    hands.wait(61)
    hands.redis -= 61 * 1_000_000 + BACK_MICROS // 2
    hands.redis += 61 * 1_000_000
    assert (clock.now() >= before, hands.raised_) == (True, {})


@pytest.mark.parametrize("apart", [APART_MICROS + MINUTE, -APART_MICROS - MINUTE])
def test_a_redis_and_a_machine_that_are_apart_are_told_until_they_agree(
    hands: Hands, clock: StoreClock, apart: int
) -> None:
    hands.redis += apart
    clock.now()
    told = set(hands.raised_)
    hands.own += apart
    hands.wait(2)
    clock.now()
    assert (told, hands.raised_) == ({"clock_apart"}, {})


def test_a_clock_is_behind_only_beyond_the_tolerance(hands: Hands, clock: StoreClock) -> None:
    near = clock.behind()
    hands.own += APART_MICROS + MINUTE
    assert (near, clock.behind()) == (0, APART_MICROS + MINUTE)


def _ahead(micros: int) -> InvalidEvent:
    problem = InvalidEvent("occurred_at", "then", "earlier")
    problem.ahead = micros
    return problem


def test_events_of_now_under_a_clock_that_is_behind_are_one_refusal_that_can_be_tried_again() -> None:
    told = judged(InvalidBatch([_ahead(HOUR), _ahead(HOUR - MINUTE)]), HOUR)
    assert isinstance(told, ClockBehind)
    assert (told.status, told.context["retry_after"]) == (503, 30)


def test_what_is_wrong_by_either_clock_stays_refused_by_its_index() -> None:
    wrong = InvalidEvent("actor", "nobody", "user", index=1)
    told = judged(InvalidBatch([_ahead(HOUR), wrong, _ahead(48 * HOUR)]), HOUR)
    assert isinstance(told, InvalidBatch)
    assert [problem.field for problem in told.problems] == ["actor", "occurred_at"]


def test_an_event_of_the_future_is_its_senders_mistake_while_the_clocks_agree() -> None:
    refused = InvalidBatch([_ahead(HOUR)])
    assert judged(refused, 0) is refused
