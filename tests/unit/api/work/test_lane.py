"""Lanes: who runs, who waits in whose turn, and who is sent away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

import pytest

from engramlog_server.api.admission import Lane, LaneLimits
from engramlog_server.events.errors import TooManyRequests
from tests.waiting import until

TWO = LaneLimits(running=2, of_owner=1, waiting=4, waiting_of_owner=2)


class Story:
    """Questions in a lane, each of which ends when it is told to."""

    def __init__(self, limits: LaneLimits = TWO) -> None:
        self.refused: list[str] = []
        self.lane = Lane("heavy", limits, self.refused.append)
        self.began: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, name: str) -> None:
        """A question of the owner that is the first letter of its name."""
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._run(name))
        await settled()

    async def _run(self, name: str) -> None:
        async with self.lane.place(name[0]):
            self.began.append(name)
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        """Let it end."""
        self.ends[name].set()
        await self.tasks[name]
        await settled()

    async def end_all(self) -> None:
        """Let everything end that runs or waits."""
        for end in self.ends.values():
            end.set()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
        assert (self.lane.running, self.lane.waiting) == (0, 0)


async def settled() -> None:
    """Until nothing moves by itself any more."""
    for _ in range(10):
        await asyncio.sleep(0)


def told(story: Callable[[Story], Coroutine[None, None, None]], limits: LaneLimits = TWO) -> None:
    """A story on an event loop of its own, to its end."""

    async def whole() -> None:
        one = Story(limits)
        await story(one)
        await one.end_all()

    asyncio.run(whole())


def test_an_owner_s_second_question_waits_while_another_owner_s_first_runs() -> None:
    async def story(it: Story) -> None:
        for name in ("a1", "a2", "b1"):
            await it.ask(name)
        assert it.began == ["a1", "b1"]
        await it.end("a1")
        assert it.began == ["a1", "b1", "a2"]

    told(story)


def test_owners_are_served_in_turn_and_not_as_they_came() -> None:
    async def story(it: Story) -> None:
        for name in ("a1", "a2", "a3", "b1", "b2"):
            await it.ask(name)
        for name in ("a1", "b1", "a2", "b2"):
            await it.end(name)
        assert it.began == ["a1", "b1", "a2", "b2", "a3"]

    told(story, LaneLimits(running=1, of_owner=1, waiting=8, waiting_of_owner=4))


def test_a_full_line_sends_away_its_owner_and_nobody_else() -> None:
    async def story(it: Story) -> None:
        for name in ("a1", "a2", "a3"):
            await it.ask(name)
        with pytest.raises(TooManyRequests) as refusal:
            async with it.lane.place("a"):
                pytest.fail("there was no place")
        assert refusal.value.context["retry_after"] >= 1
        assert refusal.value.context["owner"] == "a"
        assert it.refused == ["heavy"]
        await it.ask("b1")
        assert it.began == ["a1", "b1"]

    told(story)


def test_no_more_wait_in_all_than_may() -> None:
    async def story(it: Story) -> None:
        for name in ("a1", "b1", "a2", "a3", "b2", "b3"):
            await it.ask(name)
        assert (it.lane.running, it.lane.waiting) == (2, 4)
        with pytest.raises(TooManyRequests):
            async with it.lane.place("c"):
                pytest.fail("there was no place")

    told(story)


def test_whoever_waits_too_long_is_sent_away_and_leaves_its_line() -> None:
    async def story(it: Story) -> None:
        await it.ask("a1")
        with pytest.raises(TooManyRequests):
            async with it.lane.place("a"):
                pytest.fail("there was no place")
        assert (it.lane.running, it.lane.waiting) == (1, 0)

    told(story, TWO._replace(wait_seconds=0.01))


def test_whoever_goes_while_waiting_leaves_no_place_taken() -> None:
    async def story(it: Story) -> None:
        for name in ("a1", "a2", "a3"):
            await it.ask(name)
        it.tasks["a2"].cancel()
        await settled()
        assert it.lane.waiting == 1
        await it.end("a1")
        assert it.began == ["a1", "a3"]

    told(story)


def test_whoever_goes_in_the_moment_of_its_turn_hands_its_place_on() -> None:
    async def story(it: Story) -> None:
        for name in ("a1", "a2", "a3"):
            await it.ask(name)
        it.ends["a1"].set()
        await until(lambda: it.lane.waiting < 2)
        it.tasks["a2"].cancel()  # its turn came, and it has not heard of it yet
        await settled()
        assert it.began == ["a1", "a3"]

    told(story)


def test_a_question_that_fails_gives_its_place_back() -> None:
    async def fails(lane: Lane) -> None:
        async with lane.place("a"):
            raise ValueError("it failed")

    async def story(it: Story) -> None:
        call: Callable[[Lane], Awaitable[None]] = fails
        for _ in range(5):
            with pytest.raises(ValueError, match="it failed"):
                await call(it.lane)

    told(story)
