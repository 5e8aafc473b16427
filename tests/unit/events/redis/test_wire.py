"""Refusals of Redis 6.2 and 7 as redis-py hands them on, each told with what to do."""

from __future__ import annotations

import pytest
import redis
from redis._parsers.base import BaseParser

from engramlog_server.events.errors import StoreFull, StoreUnavailable
from engramlog_server.events.redis.wire import as_store_error, open_wire, refusal_code
from tests.rows import each_row

IN_SCRIPT = "ERR Error running script (call to f_5bd9a7c0b4a1): @user_script:43: @user_script: 43: -"
OOM = "OOM command not allowed when used memory > 'maxmemory'."
READONLY = "READONLY You can't write against a read only replica."


@each_row(
    ("answer", "code", "kind", "advice"),
    [
        (OOM, "OOM", StoreFull, "free memory or raise maxmemory"),
        (IN_SCRIPT + OOM, "OOM", StoreFull, "free memory or raise maxmemory"),
        (OOM + " script: 5bd9a7c0b4a1, on @user_script:43.", "OOM", StoreFull, "free memory or raise maxmemory"),
        (READONLY, "READONLY", StoreUnavailable, "against the primary"),
        (IN_SCRIPT + READONLY, "READONLY", StoreUnavailable, "against the primary"),
        (
            "NOREPLICAS Not enough good replicas to write.",
            "NOREPLICAS",
            StoreUnavailable,
            "disk of its data folder is full",
        ),
        (IN_SCRIPT + "NOREPLICAS Not enough good replicas.", "NOREPLICAS", StoreUnavailable, "can be sent again"),
        (
            "MISCONF Errors writing to the AOF file: No space left on device",
            "MISCONF",
            StoreFull,
            "make room or repair",
        ),
        ("MISCONF Redis is configured to save RDB snapshots, but", "MISCONF", StoreUnavailable, "to its disk"),
        ("LOADING Redis is loading the dataset in memory", "LOADING", StoreUnavailable, "cannot serve now"),
        ("BUSY Redis is busy running a script.", "BUSY", StoreUnavailable, "cannot serve now"),
        ("CLUSTERDOWN The cluster is down", "CLUSTERDOWN", StoreUnavailable, "cannot serve now"),
        ("MASTERDOWN Link with MASTER is down", "MASTERDOWN", StoreUnavailable, "cannot serve now"),
        ("ERR max number of clients reached", "", StoreUnavailable, "cannot serve now"),
        ("NOSCRIPT No matching script. Please use EVAL.", "NOSCRIPT", StoreUnavailable, "refused"),
        ("WRONGPASS invalid username-password pair", "WRONGPASS", StoreUnavailable, "check the user and password"),
        ("NOAUTH Authentication required.", "NOAUTH", StoreUnavailable, "check the user and password"),
        ("NOPERM this user has no permissions", "NOPERM", StoreUnavailable, "refused"),
        ("WRONGTYPE Operation against a key", "WRONGTYPE", StoreUnavailable, "refused"),
        ("ERR unknown command 'FROB'", "", StoreUnavailable, "refused"),
    ],
)
def test_a_refusal_is_told_by_its_code_with_what_to_do(answer: str, code: str, kind: type, advice: str) -> None:
    error = BaseParser.parse_error(answer)
    assert refusal_code(error) == code
    told = as_store_error(error)
    assert type(told) is kind
    assert advice in told.message


@each_row(
    ("error", "words"),
    [
        (redis.TimeoutError("Timeout reading from socket"), "did not answer in time"),
        (redis.ConnectionError("Connection closed by server."), "no connection to Redis"),
        (ConnectionResetError(104, "Connection reset by peer"), "no connection to Redis"),
    ],
)
def test_a_lost_answer_says_that_sending_again_is_safe(error: Exception, words: str) -> None:
    told = as_store_error(error)
    assert isinstance(told, StoreUnavailable)
    assert words in told.message
    assert "whether it was written is not known, the same request can be sent again safely" in told.message
    assert told.context["retry_after"] > 0


def test_a_connection_that_is_not_had_says_nothing_of_writing() -> None:
    told = as_store_error(redis.ConnectionError("Connection refused."), reading=True).message
    assert told == "no connection to Redis (Connection refused.); the same request can be sent again safely"


class _Silent:
    """A connection that takes everything and answers nothing."""

    def __init__(self, **_: object) -> None:
        self.answers: list[object] = []

    def connect(self) -> None:
        """At once."""

    def disconnect(self) -> None:
        """At once."""

    def send_packed_command(self, _: object) -> None:
        """Into nothing."""

    def read_response(self, **_: object) -> object:
        """An answer while there are some."""
        raise redis.TimeoutError("Timeout reading from socket")


@each_row(
    ("commands", "unknown"),
    [
        ([("HGET", "a", "b")], False),
        ([("XRANGE", "a", "-", "+"), ("INFO", "memory")], False),
        ([("HSET", "a", "b", "c")], True),
        ([("EVALSHA", "a", 0), ("HGET", "a", "b")], True),
    ],
)
def test_only_of_what_may_write_it_is_said_that_nobody_knows_whether_it_did(
    commands: list[tuple[str, ...]], unknown: bool
) -> None:
    client = redis.Redis(connection_pool=redis.ConnectionPool(connection_class=_Silent))  # type: ignore[type-var]
    together, one_by_one = open_wire(client), open_wire(client)
    with pytest.raises(StoreUnavailable) as first:
        together.pipeline(commands)
    for command in commands:
        one_by_one.send(*command)
    with pytest.raises(StoreUnavailable) as second:
        one_by_one.receive()
    for lost in (first, second):
        assert ("whether it was written is not known" in lost.value.message) is unknown
