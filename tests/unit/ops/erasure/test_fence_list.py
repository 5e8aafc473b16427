"""The list of what was erased: its lines, what it refuses, and what it tells."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import label_of
from engramlog_server.ops.erasure import fence_list
from engramlog_server.ops.erasure.fence_list import ErasureStep, FenceList, list_path, open_erasures
from engramlog_server.ops.settings import Settings


def line(
    erasure: str = "e1", step: str = "began", store: str = "s", event: str = "v1", owner: str = "ada"
) -> ErasureStep:
    return ErasureStep(store, erasure, label_of(store, owner), step, "2026-01-05T08:00:00Z", event)  # type: ignore[arg-type]


@pytest.fixture
def fences(tmp_path: Path) -> FenceList:
    return FenceList(tmp_path / "deep" / "erasures.jsonl", "s")


def test_where_there_is_none_nobody_was_erased(fences: FenceList) -> None:
    assert fences.read() == []
    assert not fences.path.exists()


def test_what_is_appended_is_read_in_order_and_nobody_else_can_read_it(fences: FenceList) -> None:
    told = [line(), line(step="ended", event="v2"), line("e2", event="v3")]
    for one in told:
        fences.append(one)
    assert fences.read() == told
    assert (fences.path.stat().st_mode & 0o777, fences.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_what_another_host_did_before_stands_before_whenever_it_came(fences: FenceList) -> None:
    told = [line(step="ended"), replace(line("e2", "ended", event="v2"), at="2026-01-06T08:00:00Z")]
    for one in reversed(told):
        fences.append(one)
    assert fences.read() == told


def test_lines_of_another_store_are_passed_over_and_kept(fences: FenceList) -> None:
    fences.append(line(store="another"))
    fences.append(line())
    assert fences.read() == [line()]
    assert FenceList(fences.path, "another").read() == [line(store="another")]


def test_what_a_dying_writer_left_is_no_line_and_goes_with_the_next(fences: FenceList) -> None:
    fences.append(line())
    whole = fences.path.read_bytes()
    for left in (b"{", whole[:-1], b"\xff"):
        fences.path.write_bytes(whole + left)
        assert fences.read() == [line()]
        fences.append(line(step="ended"))
        assert fences.read() == [line(), line(step="ended")]


@pytest.mark.parametrize("raw", [b"\n", b"{}\n", b"nothing\n", b"\xff\n", b'{"store":"s","erasure":1}\n'])
def test_a_whole_line_that_cannot_be_read_is_refused_with_its_number(fences: FenceList, raw: bytes) -> None:
    fences.append(line())
    with fences.path.open("ab") as file:
        file.write(raw)
    with pytest.raises(
        StoreUnavailable, match=r"cannot be read at line 2: .*bring it back from where it was copied to"
    ):
        fences.read()


def test_a_list_that_is_too_large_is_refused(fences: FenceList, monkeypatch: pytest.MonkeyPatch) -> None:
    fences.append(line())
    monkeypatch.setattr(fence_list, "MOST_BYTES", 10)
    with pytest.raises(StoreUnavailable, match="bytes; 10 are allowed"):
        fences.read()


def test_a_link_is_not_written_through(fences: FenceList, tmp_path: Path) -> None:
    fences.path.parent.mkdir()
    (tmp_path / "other").write_bytes(b"mine")
    fences.path.symlink_to(tmp_path / "other")
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        fences.append(line())
    assert (tmp_path / "other").read_bytes() == b"mine"


def test_a_folder_in_its_place_is_refused_both_ways(fences: FenceList) -> None:
    fences.path.mkdir(parents=True)
    with pytest.raises(StoreUnavailable, match="is no plain file"):
        fences.read()
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        fences.append(line())


def test_two_who_append_at_once_lose_no_line(fences: FenceList) -> None:
    def appends(name: str) -> None:
        for number in range(30):
            fences.append(line(f"{name}{number}"))

    threads = [Thread(target=appends, args=(name,)) for name in "abc"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(one.erasure for one in fences.read()) == sorted(f"{name}{at}" for name in "abc" for at in range(30))


def test_an_erasure_is_open_until_it_ended() -> None:
    bob, eve = {"owner": "bob"}, {"owner": "eve"}
    told = [line("e1"), line("e2", **bob), line("e1", "ended"), line("e3", **eve)]
    assert list(open_erasures(told)) == ["e2", "e3"]
    assert open_erasures([*told, line("e2", "ended", **bob), line("e3", "readmitted", **eve)]) == {}


def test_an_erasure_that_another_was_quicker_with_is_not_open_once_that_ended() -> None:
    told = [line("slow"), line("quick"), line("quick", "ended")]
    assert open_erasures(told) == {}
    assert list(open_erasures([*told, line("quick", "readmitted"), line("anew")])) == ["anew"]


def test_a_label_is_of_the_name_under_the_store_and_tells_neither() -> None:
    labels = {label_of(store, owner) for store in ("s", "t") for owner in ("ada", "Ada", "艾达")}
    assert len(labels) == 6
    assert {len(one) for one in labels} == {64}
    assert label_of("s", "ada") == label_of("s", "ada")


def test_a_redis_of_ones_own_has_a_list_of_its_own_in_the_folder(tmp_path: Path) -> None:
    own = Settings(redis_url="redis://localhost:1", data=tmp_path)
    assert list_path(Settings(data=tmp_path, redis_url=None), "id/../x") == tmp_path / "erasures.jsonl"
    assert list_path(own, "ab-12/../x") == tmp_path / "erasures-ab-12x.jsonl"
