"""What strangers tried at the console's door is told once, as it happened."""

from __future__ import annotations

from typing import Any

from engramlog_server.api.http.callers import MOST_REFUSED, CodeRefused, Sessions
from engramlog_server.events.alarms import KNOWN
from engramlog_server.ops.processes.up import MANY, ConsoleRefusals


class Heard:
    """Alarms and lines."""

    def __init__(self) -> None:
        self.alarms: list[tuple[str, str, str]] = []
        self.lines: list[dict[str, Any]] = []

    def raised(self, name: str, subject: str = "", text: str = "") -> None:
        """Note it."""
        self.alarms.append((name, subject, text))

    def cleared(self, name: str, subject: str = "") -> None:
        """An operator clears it."""
        raise AssertionError((name, subject))

    def tell(self, fact: str, **facts: Any) -> None:
        """Note it."""
        self.lines.append({"fact": fact, **facts})


def refused(sessions: Sessions, code: str) -> None:
    try:
        sessions.redeem(code)
    except CodeRefused:
        return
    raise AssertionError(code)


def test_a_link_that_was_used_twice_is_told_once_and_nothing_is_told_of_what_was_in_order() -> None:
    sessions, heard = Sessions(lambda: b"", clock=lambda: 0.0), Heard()
    watch = ConsoleRefusals(sessions, heard, heard.tell)
    code = sessions.code(b"").code
    sessions.redeem(code)
    watch.check()
    assert heard.lines == []
    refused(sessions, code)
    refused(sessions, code)
    watch.check()
    watch.check()
    (line,) = heard.lines
    assert (line["times"], line["alarm"], "reused" in line["fact"]) == (2, True, True)
    assert code not in str(line)
    assert heard.alarms == []


def test_many_codes_that_open_nothing_raise_an_alarm_until_somebody_has_looked() -> None:
    sessions, heard = Sessions(lambda: b"", clock=lambda: 0.0), Heard()
    watch = ConsoleRefusals(sessions, heard, heard.tell)
    for number in range(MOST_REFUSED):
        refused(sessions, f"egc1_{number}")
    watch.check()
    assert heard.alarms == []
    for number in range(7):
        refused(sessions, f"egc1_{number}")
    watch.check()
    watch.check()
    assert [(name, subject) for name, subject, _ in heard.alarms] == [(MANY, "")]
    assert heard.alarms[0][2].startswith("7 codes")
    assert (KNOWN[MANY].severity, KNOWN[MANY].ends) == ("warning", "operator")
