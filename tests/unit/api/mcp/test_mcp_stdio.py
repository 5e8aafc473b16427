"""Lines that the MCP server cannot read: a request among them is answered, and nothing that it said is repeated."""

from __future__ import annotations

import pytest
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

from engramlog_server.api.mcp.server import refusal_of
from tests.rows import each_row


def unread(line: str) -> ValidationError:
    """What the SDK makes of a line."""
    with pytest.raises(ValidationError) as problem:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return problem.value


@each_row("asked_id", [7, 0, "seven"])
@each_row("text", ["\\ud800", "a\\udc00b", "\\ud83d\\ud83d"])
def test_a_request_with_half_a_surrogate_pair_is_answered_under_its_id(asked_id: int | str, text: str) -> None:
    told = f'"{asked_id}"' if isinstance(asked_id, str) else asked_id
    refusal = refusal_of(
        unread(f'{{"jsonrpc":"2.0","id":{told},"method":"tools/call","params":{{"x":"secret {text}"}}}}')
    )
    assert refusal is not None
    assert (refusal.id, refusal.error.code) == (asked_id, -32700)
    assert "secret" not in refusal.model_dump_json()


@each_row(
    "line",
    [
        "no JSON",
        '{"jsonrpc":"2.0","id":1,"method":"x"',
        '["\\ud800"]',
        '{"jsonrpc":"2.0","id":true,"method":"\\ud800"}',
        '{"jsonrpc":"2.0","id":"\\ud800","method":"x"}',
        '{"jsonrpc":"2.0","method":"notifications/\\ud800"}',
        '{"jsonrpc":"2.0","id":1,"result":{"x":"\\ud800"}}',
        '{"jsonrpc":"2.0","id":1,"method":5}',
        "[" * 100_000,
    ],
)
def test_what_names_no_request_is_left_to_the_log(line: str) -> None:
    assert refusal_of(unread(line)) is None
