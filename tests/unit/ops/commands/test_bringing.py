"""What commands say that bring a store over."""

from __future__ import annotations

from engramlog_server.ops.commands.opening import duration_text
from tests.rows import each_row


@each_row(
    ("seconds", "told"),
    [
        (1, "Less than a minute"),
        (29, "Less than a minute"),
        (31, "About 1 minute"),
        (101, "About 2 minutes"),
        (90_000, "About 1,500 minutes"),
    ],
)
def test_how_long_it_takes_is_not_told_longer_than_it_is(seconds: int, told: str) -> None:
    assert duration_text({"about_seconds": seconds}) == told
