"""What verify takes for a whole number that we wrote."""

from __future__ import annotations

from engramlog_server.consumers.verify.findings import is_number
from tests.rows import each_row


@each_row(
    ("raw", "fine"),
    [
        (b"0", True),
        (b"12", True),
        (b"9" * 20, True),
        (b"", False),
        (b"012", False),
        (b"-1", False),
        (b"9" * 5_000, False),
    ],
)
def test_a_whole_number_is_one_that_we_wrote(raw: bytes, fine: bool) -> None:
    assert is_number(raw) is fine
