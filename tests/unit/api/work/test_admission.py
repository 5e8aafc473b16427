"""Admission: which threads questions run in, how long, and what ends them early."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from threading import Event as Flag
from threading import current_thread
from typing import Any

import pytest

from engramlog_server.api.admission import Admission, AdmissionLimits, ClientGone, LaneLimits
from engramlog_server.api.work import LIGHT_STEPS, Work, current_check, weigh
from engramlog_server.events.errors import DeadlineExceeded, StoreUnavailable, TooManyRequests
from tests.waiting import until

SMALL = AdmissionLimits(light=LaneLimits(1, 1, 4, 4), heavy=LaneLimits(1, 1, 1, 1))
PATIENT = 30.0
"""Seconds after which a test that waits for a fact fails."""


def told(story: Callable[[Admission], Coroutine[Any, Any, None]], limits: AdmissionLimits = SMALL) -> None:
    """A story on an event loop of its own; at its end nothing is left running."""

    async def whole() -> None:
        admission = Admission(limits)
        async with asyncio.timeout(PATIENT):
            await story(admission)
            await until(lambda: not any(lane.running or lane.waiting for lane in admission.lanes.values()))

    asyncio.run(whole())


def endless(started: Flag) -> None:
    """A computation that ends at a check alone."""
    step = 0
    while True:
        step += 1
        started.set()
        current_check()(step, 1_000_000)


def test_a_heavy_question_in_hand_takes_no_thread_from_a_light_one() -> None:
    async def story(admission: Admission) -> None:
        release, started = Flag(), Flag()

        def held() -> None:
            started.set()
            release.wait(PATIENT)

        heavy = asyncio.create_task(admission.run(Work.HEAVY, "a", held))
        await until(started.is_set)
        assert await admission.run(Work.LIGHT, "a", lambda: current_thread().name) != "MainThread"
        assert not heavy.done()
        release.set()
        await heavy

    told(story)


def test_a_heavy_question_is_stopped_at_its_deadline_and_says_how_far_it_came() -> None:
    async def story(admission: Admission) -> None:
        with pytest.raises(DeadlineExceeded) as refusal:
            await admission.run(Work.HEAVY, "a", lambda: endless(Flag()))
        assert refusal.value.context["done"] > 0
        assert refusal.value.context["total"] == 1_000_000
        assert "of 1,000,000 steps were done" in refusal.value.message
        assert refusal.value.exit_code == 1

    told(story, SMALL._replace(heavy_seconds=0.01))


def test_a_question_that_nobody_waits_for_ends_and_gives_its_place_back() -> None:
    async def story(admission: Admission) -> None:
        started, gone = Flag(), asyncio.Event()
        question = asyncio.create_task(admission.run(Work.HEAVY, "a", lambda: endless(started), gone.wait))
        await until(started.is_set)
        gone.set()
        with pytest.raises(ClientGone):
            await question
        assert admission.lanes[Work.HEAVY].running == 0

    told(story)


def test_a_question_that_waits_leaves_its_line_when_its_client_goes() -> None:
    async def story(admission: Admission) -> None:
        started, gone, first_gone = Flag(), asyncio.Event(), asyncio.Event()
        first = asyncio.create_task(admission.run(Work.HEAVY, "a", lambda: endless(started), first_gone.wait))
        await until(started.is_set)
        second = asyncio.create_task(admission.run(Work.HEAVY, "a", lambda: pytest.fail("it ran"), gone.wait))
        await until(lambda: admission.lanes[Work.HEAVY].waiting > 0)
        gone.set()
        with pytest.raises(ClientGone):
            await second
        assert admission.lanes[Work.HEAVY].waiting == 0
        first_gone.set()
        with pytest.raises(ClientGone):
            await first

    told(story)


def test_a_cancelled_call_keeps_its_place_until_its_thread_has_ended() -> None:
    async def story(admission: Admission) -> None:
        started, release = Flag(), Flag()

        def held() -> None:
            started.set()
            release.wait(PATIENT)

        question = asyncio.create_task(admission.run(Work.HEAVY, "a", held))
        await until(started.is_set)
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
        assert admission.lanes[Work.HEAVY].running == 1
        release.set()

    told(story)


def test_a_light_question_that_turns_out_long_is_asked_again_among_the_heavy_ones() -> None:
    async def story(admission: Admission) -> None:
        seen: list[tuple[int, int]] = []

        def question() -> str:
            light, heavy = (admission.lanes[work].running for work in (Work.LIGHT, Work.HEAVY))
            seen.append((light, heavy))
            weigh(LIGHT_STEPS + 1)
            return "answered"

        assert await admission.run(Work.LIGHT, "a", question) == "answered"
        assert seen == [(1, 0), (0, 1)]

    told(story)


def test_a_light_question_that_is_short_stays_where_it_is() -> None:
    async def story(admission: Admission) -> None:
        def question() -> int:
            weigh(LIGHT_STEPS)
            return admission.lanes[Work.HEAVY].running

        assert await admission.run(Work.LIGHT, "a", question) == 0

    told(story)


def test_what_finds_no_room_is_counted_by_its_class() -> None:
    refused: list[str] = []

    async def whole() -> None:
        admission = Admission(SMALL._replace(heavy=LaneLimits(1, 1, 0, 0)), on_refused=refused.append)
        started, gone = Flag(), asyncio.Event()
        first = asyncio.create_task(admission.run(Work.HEAVY, "a", lambda: endless(started), gone.wait))
        await until(started.is_set)
        with pytest.raises(TooManyRequests):
            await admission.run(Work.HEAVY, "b", lambda: None)
        gone.set()
        with pytest.raises(ClientGone):
            await first

    asyncio.run(whole())
    assert refused == ["heavy"]


def test_a_server_that_stops_ends_heavy_questions_and_takes_no_more() -> None:
    async def story(admission: Admission) -> None:
        started = Flag()
        question = asyncio.create_task(admission.run(Work.HEAVY, "a", lambda: endless(started)))
        await until(started.is_set)
        admission.close()
        with pytest.raises(StoreUnavailable):
            await question
        with pytest.raises(StoreUnavailable):
            await admission.run(Work.LIGHT, "a", lambda: None)

    told(story)


def test_quiet_is_told_once_heavy_questions_have_run_and_none_does() -> None:
    told_quiet = Flag()

    async def whole() -> None:
        admission = Admission(SMALL._replace(heavy=LaneLimits(2, 2, 0, 0)), on_quiet=told_quiet.set)
        admission.quiet_seconds = 0.0
        await admission.run(Work.LIGHT, "a", lambda: None)
        release, started = Flag(), Flag()
        long = asyncio.create_task(
            admission.run(Work.HEAVY, "a", lambda: (started.set(), release.wait(PATIENT))[1])  # type: ignore[func-returns-value]
        )
        await until(started.is_set)
        await admission.run(Work.HEAVY, "a", lambda: None)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not told_quiet.is_set()
        release.set()
        await long
        async with asyncio.timeout(PATIENT):
            await until(told_quiet.is_set)

    asyncio.run(whole())


def test_pieces_are_made_one_at_a_time_as_they_are_taken() -> None:
    async def story(admission: Admission) -> None:
        made: list[int] = []

        def pieces() -> Iterator[bytes]:
            for number in range(3):
                made.append(number)
                yield b"%d" % number

        taken = []
        async for piece in admission.pieces(pieces()):
            taken.append(piece)
            assert len(made) == len(taken)
        assert taken == [b"0", b"1", b"2"]

    told(story)
