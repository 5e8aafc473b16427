"""How many requests a minute a model behind HTTP is sent."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from projections.models.model_chat import RequestPace
from tests.doubles.model_endpoint import ModelEndpoint, limited, model_endpoint
from tests.given.model import Chats, asked, chats


@pytest.fixture
def server() -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        yield running


@pytest.fixture
def opened(server: ModelEndpoint) -> Iterator[Chats]:
    with chats(server) as made:
        yield made


class Clock:
    """A clock that goes on only by pausing."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pauses: list[float] = []

    def pause(self, seconds: float) -> None:
        self.pauses.append(round(seconds, 6))
        self.now += seconds


def test_requests_are_spaced_evenly_however_many_are_asked(server: ModelEndpoint, opened: Chats) -> None:
    clock = Clock()
    chat = opened(requests_per_minute=30, pause=clock.pause, clock=lambda: clock.now)
    server.says({"word": "yes"})
    for _ in range(4):
        asked(chat)
    clock.now += 0.5
    asked(chat)
    clock.now += 60
    asked(chat)
    assert clock.pauses == [2, 2, 2, 1.5]


def test_a_request_that_is_sent_again_waits_for_its_turn_as_any_other(server: ModelEndpoint, opened: Chats) -> None:
    clock = Clock()
    chat = opened(requests_per_minute=30, pause=clock.pause, clock=lambda: clock.now)
    server.replies = [limited(), limited(5)]
    server.says("no JSON", {"word": "yes"})
    asked(chat)
    assert clock.pauses == [0.5, 1.5, 5, 2]


def test_threads_get_turns_of_their_own() -> None:
    pauses: list[float] = []
    pace = RequestPace(60, pauses.append, lambda: 7.0)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: pace.wait(), range(9)))
    assert sorted(pauses) == [1, 2, 3, 4, 5, 6, 7, 8]
