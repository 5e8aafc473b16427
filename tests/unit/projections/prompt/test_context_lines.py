"""Lines of a block: days, hours and dates, and when a session is an earlier conversation."""

from __future__ import annotations

from engramlog_server.projections.memory.working_memory import Conversation
from engramlog_server.projections.prompt.lines import (
    HIDDEN,
    IDLE,
    Rules,
    is_earlier,
    memory_line,
    message_lines,
    why_not,
)
from tests.given.events import at, created
from tests.given.said import MINUTE, turn
from tests.given.views import viewed
from tests.rows import each_row

DAY = 86_400_000_000


def rules(zone: str = "UTC", language: str = "en") -> Rules:
    return Rules(zone, language, 1, frozenset())


def notes(now: int, zone: str = "UTC", language: str = "en") -> list[str]:
    """Notes of two messages of 1 January 2024, 08:01 and 16:01 in UTC."""
    messages = (turn(1, "hello"), turn(1, "well", "assistant")._replace(at=at(0) + MINUTE + DAY // 3))
    return [line.note for line in message_lines(messages, rules(zone, language), now)]


@each_row(
    ("now", "zone", "language", "expected"),
    [
        (at(0.5), "UTC", "en", ["user", "assistant"]),
        (at(1), "UTC", "en", ["2024-01-01, user", "2024-01-01, assistant"]),
        (at(900), "UTC", "zh", ["2024-01-01，user", "2024-01-01，assistant"]),
        (at(0.5), "Asia/Shanghai", "en", ["2024-01-01, user", "assistant"]),
    ],
)
def test_a_message_tells_its_day_where_it_is_not_today_in_the_owners_zone(
    now: int, zone: str, language: str, expected: list[str]
) -> None:
    assert notes(now, zone, language) == expected


@each_row(("idle", "earlier"), [(0, False), (IDLE, False), (IDLE + 1, True), (1_000 * IDLE, True)])
def test_a_session_in_which_nothing_was_said_for_a_day_is_an_earlier_one(idle: int, earlier: bool) -> None:
    messages = (turn(1), turn(2))
    talk = Conversation("s1", None, None, messages, (), frozenset(), 2)
    assert is_earlier(talk, [], messages[-1].at + idle) is earlier


def test_a_message_whose_words_were_erased_is_withheld() -> None:
    [line] = message_lines((turn(1)._replace(text="", turn_id="t1"),), rules(), at(0.5))
    assert (line.id, line.text) == ("t1", HIDDEN["en"])


def test_what_was_drawn_from_an_erased_turn_stands_in_a_prompt_and_of_a_retracted_one_it_does_not() -> None:
    [memory] = viewed(created("User has a canoe", "m", source="judge", source_turns=("t1",))).columns.memories
    told = rules()._replace(forgotten=frozenset({"t1"}))
    assert why_not(memory, told) == "deleted"
    assert why_not(memory, told._replace(erased=frozenset({"t1"}))) is None


def test_a_relative_day_is_followed_by_its_date_and_a_written_date_stays() -> None:
    """Said on Monday, 1 January 2024."""
    rows = {
        "The dentist is tomorrow": "The dentist is tomorrow (2024-01-02)",
        "We met last Friday": "We met last Friday (2023-12-29)",
        "后天考试": "后天（2024-01-03）考试",
        "下周三去北京": "下周三（2024-01-10）去北京",
        "Tomorrow (2024-01-02) is the day": "Tomorrow (2024-01-02) is the day",
        "The day of the dead": "The day of the dead",
    }
    told = {}
    for text in rows:
        [memory] = viewed(created(text, "m")).columns.memories
        told[text] = memory_line(memory, rules()).text
    assert told == rows
