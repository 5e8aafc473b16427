"""A file of everything is held to its end before anything of it is written."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from engramlog_server.api.exchange import files as module
from engramlog_server.api.exchange.export import Everything, bundle_lines, look_through
from engramlog_server.api.exchange.files import open_lines
from engramlog_server.events.errors import InputError
from tests.given.records import OURS, imported
from tests.rows import each_row

CHANGE = {"engramlog": 1, "part": "change", "decision": "applied"}


def bundle(*memories: dict[str, Any], changes: int = 2) -> list[bytes]:
    told = [{"position": f"0:{number}"} for number in range(changes)]
    everything = Everything({"owner": "ada"}, lambda: iter(()), lambda: iter(told))
    return list(bundle_lines(everything, memories or [OURS | {"memory_id": "a", "content": "I like tea"}]))


def with_end(lines: list[bytes], **fields: Any) -> list[bytes]:
    end = {name: told for name, told in (orjson.loads(lines[-1]) | fields).items() if told is not None}
    return [*lines[:-1], orjson.dumps(end) + b"\n"]


def altered(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b"I like tea", b"I like mud") for line in lines]


HARMED: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str, int]] = {
    "a line altered": (altered, "sha256", 5),
    "a line lost": (lambda lines: [lines[0], *lines[2:]], "counts.memory", 4),
    "a line twice": (lambda lines: [*lines[:3], *lines[2:]], "counts.change", 6),
    "two lines in another order": (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "sha256", 5),
    "its end cut": (lambda lines: lines[:-1], "part", 4),
    "its beginning cut": (lambda lines: lines[1:], "part", 4),
    "another after one that was cut": (lambda lines: [*lines[:-1], *lines], "part", 5),
    "a line torn": (lambda lines: [lines[0], lines[1][:20] + b"\n", *lines[2:]], "record", 2),
    "a sum that is none": (lambda lines: with_end(lines, sha256=5), "sha256", 5),
    "counts that are none": (lambda lines: with_end(lines, counts=[3]), "counts", 5),
}


@each_row(("harm", "field", "line"), HARMED.values(), ids=HARMED)
def test_what_was_harmed_on_its_way_is_refused_by_line_and_field(harm: Any, field: str, line: int) -> None:
    with pytest.raises(InputError) as refused:
        look_through(harm(bundle()))
    assert (refused.value.context["field"], refused.value.context["line"]) == (field, line)


@each_row(("harm", "field", "line"), HARMED.values(), ids=HARMED)
def test_who_reads_it_once_is_told_the_same_where_it_ends(harm: Any, field: str, line: int) -> None:
    answer, _, _ = imported(harm(bundle()))
    assert isinstance(answer.done.error, InputError)
    assert (answer.done.error.context["field"], answer.done.error.context["line"]) == (field, line)


WHOLE: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "as it was written": lambda lines: lines,
    "without a sum": lambda lines: with_end(altered(lines), sha256=None),
    "without counts": lambda lines: with_end(lines, counts=None),
    "with the line ends of another system": lambda lines: [line.replace(b"\n", b"\r\n") for line in lines],
    "with empty lines": lambda lines: [part for line in lines for part in (b"\n", line)],
    "one after another": lambda lines: [*lines, *bundle(OURS | {"memory_id": "b"}), orjson.dumps(CHANGE) + b"\n"],
    "without head and end": lambda lines: altered(lines)[1:-1],
}


@each_row("made", WHOLE.values(), ids=WHOLE)
def test_what_is_as_it_was_written_is_taken_in(made: Callable[[list[bytes]], list[bytes]]) -> None:
    look_through(made(bundle()))
    answer, events, _ = imported(made(bundle()))
    assert (answer.done.error, events[0].data.memory_id) == (None, "a")


def test_lines_that_were_written_anew_are_counted_and_not_summed() -> None:
    anew = [orjson.dumps(orjson.loads(line), option=orjson.OPT_SORT_KEYS) for line in bundle()]
    assert imported(anew)[0].done.error is not None
    assert imported(anew, summed=False)[0].done.error is None
    assert imported([anew[0], *anew[2:]], summed=False)[0].done.error is not None


def test_a_bad_line_outside_of_it_is_left_to_the_import() -> None:
    look_through([b'{"part"\n', *altered(bundle())])


def test_a_file_of_another_shape_is_not_looked_at() -> None:
    look_through(altered(bundle()), "ebbinghaus")


def read(stream: bytes, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is read of a pipe after the look."""

    def look(lines: Any, complete: bool) -> None:
        look_through(lines, complete=complete)

    monkeypatch.setattr(module, "standard_input", lambda _field: io.BytesIO(stream))
    with open_lines("-", whole=True, look=look) as lines:
        return list(lines)


def test_of_a_pipe_all_is_looked_at_and_then_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(b"".join(bundle()), monkeypatch) == bundle()
    with pytest.raises(InputError, match="sha256: got "):
        read(b"".join(altered(bundle())), monkeypatch)


def test_of_a_pipe_that_is_too_long_to_keep_everything_is_refused_and_records_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SPOOLED", 100)
    monkeypatch.setattr(module, "PIECE", 10)
    with pytest.raises(InputError, match="file: got 'more than 2 lines of a pipe'; allowed: a file on a disk"):
        read(b"".join(bundle()), monkeypatch)
    records = [orjson.dumps(OURS | {"memory_id": f"m{number}"}) + b"\n" for number in range(9)]
    assert read(b"".join(records), monkeypatch) == records
