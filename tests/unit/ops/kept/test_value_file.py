"""A file of kept rejections: what is torn, wrong or another store's takes nothing from the rest; full and unwritable are told."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from uuid import UUID

import msgspec
import pytest

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops.kept.rejections import Anchor, KeptValue, Level, ValueFile, values_path, write_lines
from engramlog_server.ops.settings import Settings
from tests.rows import each_row

STORE = "5f0c7d0e-8f0c-4f47-8b7f-3a1e5c1d2a90"
PARTITIONS = 4
PARTITION = partition_of("ann", PARTITIONS)


def event(number: int) -> str:
    return str(UUID(int=number))


def line(number: int, **changed: object) -> KeptValue:
    made = KeptValue(
        store=STORE,
        partition=PARTITION,
        seq=number,
        event=event(number),
        type="ValueRejected",
        owner="ann",
        secret="5e" * 32,
        occurred_at="2026-11-22T09:00:00Z",
        actor="user",
        principal="local",
        values=("a0" * 16,),
        rules=1,
    )
    return msgspec.structs.replace(made, **changed)


def file_of(path: Path, **options: int) -> ValueFile:
    return ValueFile(path, STORE, PARTITIONS, **options)


def test_what_was_written_is_read_and_an_event_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "data" / "rejections.jsonl"
    file_of(path).append([line(1), line(2, until="2026-12-01T00:00:00Z")])
    file_of(path).append([line(2), line(3, type="ValueReadmitted")])
    book = file_of(path).read()
    assert list(book.kept) == [event(1), event(2), event(3)]
    assert book.kept[event(2)].until == "2026-12-01T00:00:00Z"
    assert book.anchors == {PARTITION: Anchor(3, event(3))}
    assert (book.problems, book.foreign, book.torn) == ([], 0, 0)
    assert path.stat().st_mode & 0o077 == path.parent.stat().st_mode & 0o077 == 0


def test_where_a_store_was_looked_through_the_log_is_known_by_what_it_has_there(tmp_path: Path) -> None:
    file = file_of(tmp_path / "rejections.jsonl")
    file.append([line(9), Level(STORE, PARTITION, 4, event(4))])
    assert file.read().anchors == {PARTITION: Anchor(4, event(4))}
    file.append([line(6)])
    assert file_of(file.path).read().anchors == {PARTITION: Anchor(6, event(6))}


def test_what_a_dying_writer_left_is_no_line_and_is_cut_off_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "rejections.jsonl"
    file_of(path).append([line(1)])
    whole = path.read_bytes()
    path.write_bytes(whole + write_lines([line(2)])[:-20])
    torn = file_of(path)
    assert list(torn.read().kept) == [event(1)]
    torn.append([line(3)])
    assert path.read_bytes() == whole + write_lines([line(3)])


WRONG = {
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "no kind": b'{"kind":"other","store":"x"}',
    "another partition": write_lines([line(2, partition=(PARTITION + 1) % PARTITIONS)]).strip(),
    "a partition that is not there": write_lines([line(2, partition=77)]).strip(),
    "a seq below none": write_lines([line(2, seq=-1)]).strip(),
    "an id that is none": write_lines([line(2, event="../../x")]).strip(),
    "another owner": write_lines([line(2, owner="somebody of another partition")]).strip(),
    "a secret that is none": write_lines([line(2, secret="5e" * 31)]).strip(),
    "a value that is none": write_lines([line(2, values=("zz" * 16,))]).strip(),
    "no values": write_lines([line(2, values=())]).strip(),
    "more values than an event states": write_lines([line(2, values=("a0" * 16,) * 33)]).strip(),
}


@each_row("wrong", WRONG)
def test_a_line_that_cannot_be_is_told_and_the_others_hold(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "rejections.jsonl"
    path.write_bytes(write_lines([line(1)]) + WRONG[wrong] + b"\n" + write_lines([line(3)]))
    book = file_of(path).read()
    assert list(book.kept) == [event(1), event(3)]
    assert book.bad == 1
    assert book.problems[0].startswith("line 2 ")


def test_lines_of_another_store_are_counted_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rejections.jsonl"
    path.write_bytes(write_lines([line(1, store="another"), line(2)]))
    book = file_of(path).read()
    assert (list(book.kept), book.foreign) == ([event(2)], 1)


def test_a_full_file_says_so_and_lets_nothing_go(tmp_path: Path) -> None:
    file = file_of(tmp_path / "rejections.jsonl", most_bytes=1_000)
    file.append([line(1), line(2)])
    before = file.path.read_bytes()
    with pytest.raises(StoreUnavailable, match="is full"):
        file.append([line(3), line(4)])
    assert file.path.read_bytes() == before


def test_a_place_that_takes_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    with pytest.raises(StoreUnavailable, match="cannot be kept") as refused:
        file_of(tmp_path / "data" / "rejections.jsonl").append([line(1)])
    assert "file" in refused.value.context


def test_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "rejections.jsonl"

    def write(start: int) -> None:
        file = file_of(path)
        for number in range(start, start + 25):
            file.append([line(number)])

    threads = [Thread(target=write, args=(100 * one,)) for one in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    book = file_of(path).read()
    assert len(book.kept) == 100
    assert book.problems == []


def test_no_path_is_made_of_what_redis_calls_a_store() -> None:
    settings = Settings(data=Path("/data"), redis_url="redis://127.0.0.1:1")
    assert values_path(settings, "../../etc/x").parent == Path("/data")
    assert values_path(settings, STORE) == Path(f"/data/rejections-{STORE}.jsonl")
    elsewhere = Settings(data=Path("/data"), redis_url=None, rejections=Path("/elsewhere"))
    assert values_path(elsewhere, STORE) == Path(f"/elsewhere/rejections-{STORE}.jsonl")
    assert values_path(Settings(data=Path("/data"), redis_url=None), STORE) == Path("/data/rejections.jsonl")


def test_a_line_of_another_release_is_read(tmp_path: Path) -> None:
    """One that tells no turns yet, and one that tells more than is known here."""
    path = tmp_path / "rejections.jsonl"
    told = msgspec.to_builtins(line(2)) | {"kind": "value", "of_a_newer_release": 1}
    path.write_bytes(write_lines([line(1)]) + msgspec.json.encode(told) + b"\n")
    assert b"turns" not in path.read_bytes().splitlines()[0]
    book = file_of(path).read()
    assert (list(book.kept), book.problems) == ([event(1), event(2)], [])
    assert book.kept[event(1)].turns == ()


def test_of_an_owner_who_was_readmitted_what_was_said_since_stays(tmp_path: Path) -> None:
    kept = file_of(tmp_path / "rejections.jsonl")
    kept.append([line(1), line(2), line(3)])
    assert kept.forget("ann", 2) == 2
    assert list(kept.read().kept) == [event(3)]
    assert (kept.forget("bob"), kept.forget("ann")) == (0, 1)
    assert not kept.read().kept
