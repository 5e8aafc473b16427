"""Errors as problem+json: what a caller who came too often, or too early, is told."""

from __future__ import annotations

import orjson

from engramlog_server.api.http.problem import problem_of
from engramlog_server.events.errors import EngramlogError, ServerBusy, TooManyRequests
from tests.rows import each_row


@each_row(
    ("error", "status"),
    [
        (TooManyRequests("50 feeds of alice are open", retry_after=5, limit=50), 429),
        (ServerBusy("192 MiB of bodies are in hand", retry_after=5, limit=192), 503),
    ],
)
def test_whoever_is_sent_away_is_told_when_to_come_again(error: EngramlogError, status: int) -> None:
    answer = problem_of(error)
    told = orjson.loads(bytes(answer.body))
    assert (answer.status_code, answer.headers["retry-after"]) == (status, "5")
    assert (told["error"], told["retry_after"], told["limit"]) == (type(error).__name__, 5, error.context["limit"])
