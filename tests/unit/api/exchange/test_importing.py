"""Importing turns: what stands in the log is counted, whatever stopped the import, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from engramlog_server.api.exchange.turns import ImportOptions, ImportReport, beginning, import_turns
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import EngramlogError, StoreFull
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.vocabulary import MAX_TEXT_BYTES
from tests.given.records import new_log
from tests.rows import each_row


def turns(count: int, start: int = 0) -> list[bytes]:
    """Lines of turns, a minute after each other, of two owners in turn."""
    return [
        orjson.dumps(
            {
                "turn_id": f"t{number}",
                "occurred_at": f"2024-01-01T{number // 60:02}:{number % 60:02}:00Z",
                "text": "tea",
                "conversation": ("ada", "bob")[number % 2],
            }
        )
        for number in range(start, start + count)
    ]


class Filling:
    """A log that takes so many requests, and then is full."""

    def __init__(self, log: InMemoryEventLog, requests: int) -> None:
        self._log, self._left = log, requests

    def append(self, events: Sequence[Prepared]) -> list[AppendReceipt]:
        self._left -= 1
        if self._left < 0:
            raise StoreFull("the store is full")
        return self._log.append(events)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


def filled(requests: int, lines: list[bytes], log: InMemoryEventLog | None = None) -> ImportReport:
    return import_turns(Filling(log or new_log(), requests), lines, ImportOptions())  # type: ignore[arg-type]


@each_row(
    ("requests", "written", "newest", "code"),
    [
        (0, 0, None, 1),
        (1, 500, "2024-01-01T08:19:00Z", 3),
        (2, 1_000, "2024-01-01T16:39:00Z", 3),
        (3, 1_100, "2024-01-01T18:19:00Z", 0),
    ],
)
def test_an_import_that_the_store_stops_counts_what_is_written(
    requests: int, written: int, newest: str | None, code: int
) -> None:
    told = filled(requests, turns(1_100))
    answer = told.as_dict()
    assert (answer["turns"], sum(answer["owners"].values()), answer["appended"]) == (written, written, 2 * written)
    assert (answer["newest_turn"], told.done.exit_code) == (newest, code)


def test_an_import_made_again_counts_what_was_there_and_goes_on() -> None:
    log = new_log()
    filled(1, turns(1_100), log)
    answer = filled(9, turns(1_100), log).as_dict()
    assert (answer["turns"], answer["appended"], answer["already_appended"]) == (1_100, 1_200, 1_000)


def test_a_bad_line_is_bad_input_and_what_stood_before_it_is_counted() -> None:
    told = filled(9, [*turns(3), b"{}", *turns(2, 3)])
    assert isinstance(told.done.error, EngramlogError)
    assert (told.turns, told.owners, told.done.exit_code) == (3, {"ada": 2, "bob": 1}, 2)


def _long(number: int, text: str) -> bytes:
    return orjson.dumps(orjson.loads(turns(1, number)[0]) | {"text": text})


def test_a_turn_over_64_kib_is_left_out_and_counted_and_the_import_goes_on() -> None:
    lines = [*turns(2), _long(2, "a" * 65_537), *turns(2, 3), _long(5, "长" * 21_846)]
    answer = import_turns(new_log(), lines, ImportOptions())
    told = answer.as_dict()
    assert (told["turns"], told["too_long"], told["cut"], answer.long_at, answer.done.error) == (4, 2, 0, [3, 6], None)


def test_a_turn_of_64_kib_is_no_long_one() -> None:
    answer = import_turns(new_log(), [_long(0, "a" * 65_536), _long(1, "长" * 21_845)], ImportOptions())
    assert (answer.turns, answer.too_long) == (2, 0)


@each_row("text", ["a" * 70_000, "长" * 30_000, "a" + "😀" * 20_000, "é" * 40_000])
def test_a_turn_that_is_cut_keeps_whole_characters_and_fits(text: str) -> None:
    kept = beginning(text)
    assert (text.startswith(kept[:-1]), kept[-1]) == (True, "…")
    assert MAX_TEXT_BYTES - 6 <= len(kept.encode()) <= MAX_TEXT_BYTES
    answer = import_turns(new_log(), [_long(0, text)], ImportOptions(long_turns="cut"))
    assert (answer.turns, answer.cut, answer.done.error) == (1, 1, None)


def test_the_places_of_long_turns_are_told_up_to_a_number() -> None:
    answer = import_turns(new_log(), [_long(n, "a" * 65_537) for n in range(50)], ImportOptions())
    assert (answer.too_long, answer.long_at) == (50, list(range(1, 21)))
