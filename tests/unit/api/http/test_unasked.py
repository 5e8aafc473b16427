"""How long a server has been unasked: what a service that a client started ends by."""

from __future__ import annotations

import pytest

from api.http.server import connections
from api.http.server.connections import ConnectionLimits, Connections
from api.http.server.lines import Malformed, silent


class Caller:
    """A connection."""

    def make_room(self) -> None:
        """It has none to make."""


@pytest.fixture
def hour(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock that the server reads."""
    now = [100.0]
    monkeypatch.setattr(connections, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def open_ones(hour: list[float]) -> Connections:
    assert hour
    return Connections(ConnectionLimits(), 8, Malformed(silent))


def test_it_counts_from_the_beginning_where_nobody_ever_asked(open_ones: Connections, hour: list[float]) -> None:
    open_ones.admit(Caller())
    hour[0] = 130.0
    assert open_ones.unasked_seconds() == 30.0


def test_a_request_in_hand_however_long_is_no_silence(open_ones: Connections, hour: list[float]) -> None:
    caller = Caller()
    open_ones.busy(caller)
    hour[0] = 5_000.0
    assert open_ones.unasked_seconds() == 0.0


@pytest.mark.parametrize("end", ["answered", "broken off"])
def test_it_counts_from_the_end_of_the_last_request(open_ones: Connections, hour: list[float], end: str) -> None:
    caller = Caller()
    open_ones.busy(caller)
    hour[0] = 200.0
    if end == "answered":
        open_ones.rests(caller)
    else:
        open_ones.left(caller, refused=False)
    hour[0] = 205.0
    assert open_ones.unasked_seconds() == 5.0


def test_a_connection_that_comes_and_goes_without_a_question_counts_for_nothing(
    open_ones: Connections, hour: list[float]
) -> None:
    caller = Caller()
    hour[0] = 150.0
    open_ones.admit(caller)
    open_ones.left(caller, refused=False)
    hour[0] = 160.0
    assert open_ones.unasked_seconds() == 60.0
