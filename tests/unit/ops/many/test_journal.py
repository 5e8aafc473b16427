"""What is kept of a run over all owners until it is done: whole lines of just this question and store, by one run at a time."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.errors import InputError, StoreUnavailable
from ops.many import journal as module
from ops.many.journal import Journal, OwnersDone
from projections.reports.many.moved import StoreMoved

STORE = "0198c0de-0000-7000-8000-000000000001"


def opened(folder: Path, asked: bytes = b"a question", store: str = STORE, **more: Any) -> Journal:
    return Journal(folder / "data" / "many", "replay", store, asked, **more)


def done(first: str, last: str, partition: int = 0, owners: int = 2) -> OwnersDone:
    return OwnersDone(partition, first, last, StoreMoved(owners=owners))


class Killed(Exception):
    """The run comes to no end."""


def killed(journal: Journal, *parts: OwnersDone) -> None:
    """A run that did these parts."""
    with suppress(Killed), journal:
        for one in parts:
            journal.add(one)
        raise Killed


def kept(journal: Journal) -> list[OwnersDone]:
    """What the next run finds."""
    killed(journal)
    return journal.done


def test_what_was_done_is_found_after_a_kill_and_nothing_is_left_of_a_run_that_ended(tmp_path: Path) -> None:
    killed(opened(tmp_path), done("a", "b"), done("c", "d", 1))
    assert kept(opened(tmp_path)) == [done("a", "b"), done("c", "d", 1)]
    with opened(tmp_path) as journal:
        journal.add(done("e", "f"))
    assert list(journal.path.parent.iterdir()) == []
    assert kept(opened(tmp_path)) == []


def test_the_folder_and_the_file_are_of_nobody_else(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    killed(journal)
    places = (journal.path, journal.path.parent, journal.path.parent.parent)
    assert [stat.S_IMODE(one.stat().st_mode) for one in places] == [0o600, 0o700, 0o700]


@pytest.mark.parametrize(
    "torn", [b"\0\0\0", b'{"partition":0,"first":"c"', b'{"partition":0,"first":"c"}\n', b"\xff\n"]
)
def test_a_line_that_was_torn_does_not_count_and_goes(tmp_path: Path, torn: bytes) -> None:
    journal = opened(tmp_path)
    killed(journal, done("a", "b"))
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + torn)
    assert kept(opened(tmp_path)) == [done("a", "b")]
    assert journal.path.read_bytes() == whole
    killed(opened(tmp_path), done("c", "d"))
    assert kept(opened(tmp_path)) == [done("a", "b"), done("c", "d")]


def test_every_end_at_which_a_kill_may_leave_the_file_is_gone_on_from(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    killed(journal, done("a", "b"), done("c", "d"))
    whole = journal.path.read_bytes()
    ends = [end + 1 for end, one in enumerate(whole) if one == ord("\n")]
    for length in range(len(whole) + 1):
        journal.path.write_bytes(whole[:length])
        counted = sum(length >= end for end in ends[1:])
        assert kept(opened(tmp_path)) == [done("a", "b"), done("c", "d")][:counted]


def test_each_question_store_and_release_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(opened(tmp_path), done("a", "b"))
    assert kept(opened(tmp_path, b"another question")) == []
    assert kept(opened(tmp_path, store="0299c0de" + STORE[8:])) == []
    assert kept(opened(tmp_path)) == [done("a", "b")]
    monkeypatch.setattr(module, "release", lambda: "99.0")
    assert kept(opened(tmp_path)) == []


def test_what_another_store_left_under_the_name_does_not_count(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path, store=STORE[:-1] + "2")
    killed(one, done("a", "b"))
    assert one.path == other.path
    assert kept(other) == []


def test_anew_what_was_done_does_not_count(tmp_path: Path) -> None:
    killed(opened(tmp_path), done("a", "b"))
    assert kept(opened(tmp_path, anew=True)) == []
    assert kept(opened(tmp_path)) == []


def test_the_same_is_done_by_one_run_at_a_time(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        with pytest.raises(InputError, match="the same is being done already") as refused, opened(tmp_path):
            pytest.fail("two at once")
        assert refused.value.context["field"] == "all"
        with opened(tmp_path, b"another question"):
            journal.add(done("a", "b"))
        assert journal.path.read_bytes().count(b"\n") == 2


def test_a_file_that_the_run_before_took_away_while_this_one_waited_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, first = module.fcntl.flock, [True]

    def locked(descriptor: int, how: int) -> None:
        if first.pop() if first else False:
            opened(tmp_path).path.unlink()
        lock(descriptor, how)

    monkeypatch.setattr(module.fcntl, "flock", locked)
    killed(opened(tmp_path), done("a", "b"))
    assert kept(opened(tmp_path)) == [done("a", "b")]


def linked(path: Path) -> None:
    path.with_name("elsewhere").write_text("mine", "utf-8")
    path.symlink_to(path.with_name("elsewhere"))


def open_to_others(path: Path) -> None:
    path.write_bytes(b"")
    path.chmod(0o644)


@pytest.mark.parametrize(
    ("lay", "told"),
    [(linked, "symbolic"), (open_to_others, "read by others"), (os.mkfifo, "no plain"), (os.mkdir, "dir")],
)
def test_what_others_may_have_put_there_or_read_is_refused(
    tmp_path: Path, lay: Callable[[Path], object], told: str
) -> None:
    journal = opened(tmp_path)
    journal.path.parent.mkdir(parents=True)
    lay(journal.path)
    with pytest.raises(StoreUnavailable, match=told) as refused, journal:
        pytest.fail("used")
    assert refused.value.context["file"] == str(journal.path)
    assert not journal.path.with_name("elsewhere").exists() or journal.path.read_text("utf-8") == "mine"


def test_one_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(opened(tmp_path), done("a", "b"))
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    with pytest.raises(StoreUnavailable, match="larger than 10 bytes"), opened(tmp_path):
        pytest.fail("read")


def test_a_disk_that_is_full_half_way_through_a_line_is_told_and_the_half_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def half(descriptor: int, line: bytes) -> int:
        if b'"c"' not in line:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, line[: len(line) // 2 + 20])

    with suppress(Killed), opened(tmp_path) as journal:
        journal.add(done("a", "b"))
        monkeypatch.setattr(module.os, "write", half)
        with pytest.raises(StoreUnavailable, match="No space left"):
            journal.add(done("c", "d"))
        monkeypatch.undo()
        raise Killed
    assert journal.done == [done("a", "b")]
    assert kept(opened(tmp_path)) == [done("a", "b")]


# --- what is left


def left(spans: list[tuple[str, str]], names: str, tmp: Path = Path("nowhere")) -> list[str]:
    journal = opened(tmp)
    journal.done = [done(first, last) for first, last in spans] + [done("a", "z", partition=1)]
    return ["".join(run) for run in journal.left(0, list(names))]


@pytest.mark.parametrize(
    ("spans", "names", "runs"),
    [
        ([], "abc", ["abc"]),
        ([], "", []),
        ([("a", "c")], "abc", []),
        ([("b", "c")], "abcd", ["a", "d"]),
        ([("c", "d"), ("a", "b")], "abcdef", ["ef"]),  # they touch
        ([("b", "d")], "acef", ["a", "ef"]),  # the first and the last went since, and one between came
        ([("c", "d")], "ab", ["ab"]),  # all of them went
        ([("a", "b")], "cd", ["cd"]),
        ([("b", "b")], "abc", ["a", "c"]),
    ],
)
def test_left_is_what_lies_in_no_span_that_is_done(spans: list[tuple[str, str]], names: str, runs: list[str]) -> None:
    assert left(spans, names) == runs


@given(st.lists(st.sampled_from("abcdefghij"), unique=True), st.sets(st.sampled_from("abcdefghij")), st.data())
def test_left_is_just_the_names_that_no_span_covers(cuts: list[str], now: set[str], data: st.DataObject) -> None:
    """Spans of owners of before, some of whom went while others came."""
    ends = sorted(cuts)
    spans = data.draw(st.permutations(list(zip(ends[::2], ends[1::2], strict=False))))
    names = sorted(now)
    runs = left(spans, "".join(names))
    covered = {name for name in names for first, last in spans if first <= name <= last}
    assert [name for run in runs for name in run] == [name for name in names if name not in covered]
    assert all(run for run in runs)
