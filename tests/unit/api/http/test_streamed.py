"""Answers that are sent piece by piece: held no longer than somebody takes them at a least rate."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from engramlog_server.api.admission import Admission
from engramlog_server.api.http.routing import LEAST_RATE, SEND_SECONDS, SLOW_SECONDS, ClientPace, Pieces
from engramlog_server.api.work import Work
from tests.rows import each_row

PIECE = 64 * 1024
MANY = 200


class Clock:
    """Time that passes where a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def sent(seconds_a_piece: float) -> tuple[int, bool, list[int]]:
    """Pieces that a client takes so slowly: how many it got, whether it got the end, and what ran in the lane then and after."""
    clock, made = Clock(), 0

    def pieces() -> Iterator[bytes]:
        nonlocal made
        for _ in range(MANY):
            made += 1
            yield bytes(PIECE)

    async def story() -> tuple[int, bool, list[int]]:
        admission, got, ended, running = Admission(), 0, False, list[int]()
        lane = admission.lanes[Work.STREAM]
        place: AsyncExitStack = await admission.place(Work.STREAM, "a")
        answer = Pieces(pieces(), "text/plain", {}, clock).placed(admission, place)

        async def send(message: Any) -> None:
            nonlocal got, ended
            if message["type"] == "http.response.body":
                clock.now += seconds_a_piece
                got += bool(message["body"])
                ended |= not message["more_body"]
                running.append(lane.running)

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            return {}

        await answer({"type": "http", "asgi": {"spec_version": "2.4"}}, receive, send)
        return got, ended, [max(running), lane.running]

    got, ended, lanes = asyncio.run(story())
    assert made <= got + 1, "what nobody takes is not made"
    return got, ended, lanes


def test_a_client_that_takes_its_pieces_gets_all_of_them() -> None:
    assert sent(PIECE / LEAST_RATE) == (MANY, True, [1, 0])


def test_a_client_that_takes_each_piece_just_in_time_is_cut_and_holds_no_place_any_more() -> None:
    got, ended, lanes = sent(SEND_SECONDS - 1)
    assert (ended, lanes) == (False, [1, 0])
    assert got * (SEND_SECONDS - 1) <= SLOW_SECONDS + SEND_SECONDS + got * PIECE / LEAST_RATE


@each_row(
    ("pieces", "seconds", "left"),
    [
        (0, 0, SEND_SECONDS),
        (1, 50, SLOW_SECONDS - 50 + PIECE / LEAST_RATE),
        (1, 100, SLOW_SECONDS - 100 + PIECE / LEAST_RATE),
        (100, 100, SEND_SECONDS),
    ],
)
def test_what_is_left_follows_from_what_was_taken(pieces: int, seconds: float, left: float) -> None:
    clock = Clock()
    pace = ClientPace(clock)
    for _ in range(pieces):
        with pace.piece(PIECE):
            clock.now += seconds / pieces
    assert pace.left == pytest.approx(left)
