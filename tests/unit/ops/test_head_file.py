"""A file of kept heads turns over when it is large: the chain of lines goes on, and no kept head is forgotten."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.heads import Head, read_book
from engramlog_server.ops.kept import heads as head_sinks
from engramlog_server.ops.kept.heads import HeadFile, HeadSinks, aside, read_copy
from tests.rows import each_row

AT, STORE = "2026-11-22T09:00:00Z", "5f0c7d0e-8f0c-4f47-8b7f-3a1e5c1d2a90"
SMALL = 1_500
"""Bytes of a file that is large here: some six lines."""
QUIET, BUSY = 7, 3
"""Two partitions, of which one moves once, at the beginning."""


def head(partition: int, seq: int) -> Head:
    """What the chain is there, as if it were."""
    return Head(partition, seq, sha256(f"{partition}:{seq}".encode()).hexdigest())


def filled(path: Path, lines: int) -> HeadFile:
    """A file whose busy partition moved with each line."""
    file = HeadFile(path, most_bytes=SMALL)
    file.append(AT, STORE, [head(QUIET, 5)])
    for seq in range(1, lines):
        file.append(AT, STORE, [head(BUSY, seq)])
    return file


def test_both_files_together_stay_bounded_and_their_lines_are_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "heads.jsonl"
    file = filled(path, 60)
    old, new = read_book(aside(path).read_bytes()), read_book(path.read_bytes())
    book = HeadFile(path).read()
    assert path.stat().st_size + aside(path).stat().st_size < 3 * SMALL
    assert (old.problems, new.problems, book.problems) == ([], [], [])
    assert old.last is not None
    assert book.last is not None
    assert book.last.n > 60, "each file that begins has a line more, with every kept head"
    assert old.last.n + new.lines == book.last.n
    assert file.read().newest(BUSY) == book.newest(BUSY) == head(BUSY, 59)


def test_a_head_that_moved_long_ago_is_carried_along_into_every_file(tmp_path: Path) -> None:
    """Else a change of that partition's log, which is written down no more, would be forgotten with the file that goes."""
    path = tmp_path / "heads.jsonl"
    filled(path, 60)
    for one in (path, aside(path)):
        assert read_copy(one).newest(QUIET) == head(QUIET, 5)
    assert HeadFile(path).read().newest(QUIET) == head(QUIET, 5)


def test_an_acceptance_that_was_written_down_goes_with_its_file_and_what_it_took_back_does_not_return(
    tmp_path: Path,
) -> None:
    path = tmp_path / "heads.jsonl"
    file = filled(path, 5)
    file.append(AT, STORE, [Head(BUSY, 2, "")], "accepted", "restored by hand")
    for seq in range(2, 60):
        file.append(AT, STORE, [Head(BUSY, seq, "ab" * 32)])
    book = HeadFile(path).read()
    assert book.problems == []
    assert book.newest(BUSY) == Head(BUSY, 59, "ab" * 32)


def test_what_a_dying_writer_left_is_cut_off_also_where_the_file_turns_over_then(tmp_path: Path) -> None:
    path = tmp_path / "heads.jsonl"
    file = filled(path, 4)
    while path.stat().st_size <= SMALL:
        file.append(AT, STORE, [head(BUSY, 4)])
    with path.open("ab") as torn:
        torn.write(b'{"n":99,"at":"20')
    file.append(AT, STORE, [head(BUSY, 5)])
    book = HeadFile(path).read()
    assert aside(path).exists()
    assert (book.problems, book.torn) == ([], 0)
    assert book.newest(BUSY) == head(BUSY, 5)


@each_row("renamed", [0, 1])
def test_a_process_killed_while_the_file_turns_over_loses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    path, done = tmp_path / "heads.jsonl", 0
    file = filled(path, 4)
    while path.stat().st_size <= SMALL:
        file.append(AT, STORE, [head(BUSY, 4)])
    before = HeadFile(path).read()
    replace = Path.replace

    def dies(one: Path, other: Path) -> Path:
        nonlocal done
        done += 1
        if done > renamed:
            raise KeyboardInterrupt
        return replace(one, other)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", dies)
        with pytest.raises(KeyboardInterrupt):
            file.append(AT, STORE, [head(BUSY, 5)])
    again = HeadFile(path, most_bytes=SMALL)
    for seq in range(5, 60):
        again.append(AT, STORE, [head(BUSY, seq)])
    book = HeadFile(path).read()
    assert before.last is not None
    assert book.last is not None
    assert book.last.n > before.last.n
    assert (book.problems, book.newest(BUSY), book.newest(QUIET)) == ([], head(BUSY, 59), head(QUIET, 5))


def test_two_that_append_in_turn_make_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "heads.jsonl"
    files = [HeadFile(path, most_bytes=SMALL) for _ in range(2)]
    for seq in range(1, 40):
        files[seq % 2].append(AT, STORE, [head(BUSY, seq)])
    book = HeadFile(path).read()
    assert (book.problems, book.newest(BUSY)) == ([], head(BUSY, 39))


def test_a_line_is_told_by_its_own_number_also_in_a_file_that_follows_on_another(tmp_path: Path) -> None:
    path = tmp_path / "heads.jsonl"
    filled(path, 60)
    first, *rest = path.read_bytes().splitlines()
    number = read_book(first + b"\n").number
    broken = read_book(
        b"\n".join([first, rest[0].replace(b'"seq"', b'"x"').replace(b"09:00", b"09:01"), rest[1]]) + b"\n"
    )
    assert broken.problems == [f"line {number + 2} does not follow on the line before"]


class Alarmed:
    """Alarms as a list."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def raised(self, _name: str, _subject: str = "", text: str = "") -> None:
        """Note it."""
        self.texts.append(text)

    def cleared(self, _name: str, _subject: str = "") -> None:
        """Nothing."""


def sinks_of(file: HeadFile, *targets: Path) -> tuple[HeadSinks, Alarmed]:
    alarms = Alarmed()
    return HeadSinks([str(one) for one in targets], file, alarms), alarms


def test_a_sink_has_every_line_although_the_file_turned_over_many_times(tmp_path: Path) -> None:
    file, sink = HeadFile(tmp_path / "heads.jsonl", most_bytes=SMALL), tmp_path / "copy.jsonl"
    sinks, alarms = sinks_of(file, sink)
    for seq in range(1, 60):
        file.append(AT, STORE, [head(BUSY, seq)])
        sinks.flush()
    book = read_copy(sink)
    assert (book.problems, alarms.texts) == ([], [])
    assert sorted(book.expected[BUSY]) == list(range(1, 60))
    assert book.last == file.read().last


def test_of_a_large_sink_only_the_end_is_read_and_a_torn_end_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_sinks, "END_BYTES", SMALL)
    file, sink = HeadFile(tmp_path / "heads.jsonl"), tmp_path / "copy.jsonl"
    sinks, _ = sinks_of(file, sink)
    for seq in range(1, 60):
        file.append(AT, STORE, [head(BUSY, seq)])
    sinks.flush()
    os.truncate(sink, sink.stat().st_size - 20)
    sinks.flush()
    assert sink.read_bytes() == file.path.read_bytes()


@each_row("content", [b"a secret", b"two\nlines", b"{}"])
def test_a_file_that_is_no_sink_is_told_and_left_as_it_is(tmp_path: Path, content: Any) -> None:
    file, other = HeadFile(tmp_path / "heads.jsonl"), tmp_path / "other.txt"
    other.write_bytes(content)
    file.append(AT, STORE, [head(BUSY, 1)])
    sinks, alarms = sinks_of(file, other)
    sinks.flush()
    assert alarms.texts == ["NoSink: the file holds something else than kept heads; nothing was written to it"]
    assert other.read_bytes() == content
