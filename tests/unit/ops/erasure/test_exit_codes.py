"""How `engramlog erase` ends: what is certified decides, not what was found on the way."""

from __future__ import annotations

from typing import Any

from engramlog_server.ops.commands.erase import _exit_code
from tests.rows import each_row


@each_row(
    ("done", "code"),
    [
        ({"verified": True, "residue": {"exit_code": 0}}, 0),
        ({"verified": True, "residue": {"exit_code": 0}, "said_meanwhile": False}, 0),
        ({"verified": True, "residue": {"exit_code": 0}, "said_meanwhile": True}, 3),
        ({"verified": True, "residue": {"exit_code": 3}}, 3),
        ({"verified": True, "residue": {"exit_code": 0}, "not_proven": ["the append-only file was not rewritten"]}, 3),
        ({"verified": True, "residue": {"exit_code": 1}}, 1),
        ({"verified": True, "residue": {"exit_code": 1}, "said_meanwhile": True}, 1),
        ({"verified": False, "residue": {"exit_code": 0}}, 1),
    ],
)
def test_something_left_comes_before_something_not_proven(done: dict[str, Any], code: int) -> None:
    assert _exit_code(done) == code
