"""What comes of a pipe, kept until all of it is there."""

from __future__ import annotations

import io

import pytest

from engramlog_server.api.exchange import files as module
from engramlog_server.api.exchange.files import spooled
from engramlog_server.events.errors import InputError
from tests.rows import each_row

LINES = [b"%d %s\n" % (number, b"x" * number) for number in range(200)]


@each_row("most", [1, 100, 5_000, 10**9])
@each_row("piece", [1, 64, 65_536])
def test_all_lines_come_whole_and_once_wherever_the_keeping_ends(
    monkeypatch: pytest.MonkeyPatch, most: int, piece: int
) -> None:
    monkeypatch.setattr(module, "SPOOLED", most)
    monkeypatch.setattr(module, "PIECE", piece)
    stream = io.BytesIO(b"".join(LINES))

    with spooled("-", stream) as kept:
        assert [*kept, *stream] == LINES


def test_a_pipe_of_nothing_is_refused_and_says_where_to_look() -> None:
    said = "file: got '-'; allowed: at least one line; it is empty"
    with pytest.raises(InputError, match=said) as refusal, spooled("-", io.BytesIO()):
        pass
    assert refusal.value.exit_code == 2


def test_a_line_without_an_end_is_read_in_pieces_where_it_is_longer_than_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPOOLED", 10)
    monkeypatch.setattr(module, "PIECE", 10)
    stream = io.BytesIO(b"x" * 100)

    with spooled("-", stream, longest=20) as kept:
        assert len(kept.read()) == 30
