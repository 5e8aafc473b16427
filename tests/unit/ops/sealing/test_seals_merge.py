"""What counts where a file of seals and a copy tell of an owner: what is erased by either stays so, or is readmitted."""

from __future__ import annotations

from collections.abc import Mapping

from engramlog_server.events.sealing.cipher import NO_SALT
from engramlog_server.events.sealing.seals import tombstone
from engramlog_server.ops.sealing.seals_format import PartitionSeals
from engramlog_server.ops.sealing.seals_merge import CopySeals, Merged, merged, readmitted_past, salt_in
from tests.rows import each_row

ADA = b"ada"
OLD, NEW = b"\1" * 60, b"\2" * 60
FIRST, SECOND = tombstone(b"first"), tombstone(b"second")
NOTHING = CopySeals({}, {}, {}, frozenset())


def saved(
    line: bytes | None = OLD,
    readmitted: bytes | None = None,
    wordless: Mapping[int, bytes] | None = None,
    gone: tuple[bytes, ...] = (),
) -> PartitionSeals:
    return PartitionSeals(
        tag="e1",
        head=10,
        lines={} if line is None else {ADA: line},
        readmitted={} if readmitted is None else {ADA: readmitted},
        wordless=dict(wordless or {}),
        gone=list(gone),
        salts=bytes(16 * 11),
    )


def copied(line: bytes | None, readmitted: bytes | None = None) -> CopySeals:
    return CopySeals(
        {} if line is None else {ADA: line}, {} if readmitted is None else {ADA: readmitted}, {}, frozenset()
    )


def of(file: PartitionSeals, copy: CopySeals, head: int = 10) -> tuple[bytes | None, bytes | None]:
    found = merged(file, copy, head)
    return found.lines.get(ADA), found.readmitted.get(ADA)


@each_row(
    ("file", "copy", "expected"),
    [
        ((OLD, None), (None, None), (OLD, None)),  # a stripped copy has the file's
        ((None, None), (OLD, None), (OLD, None)),  # said first after the save
        ((OLD, None), (OLD, None), (OLD, None)),
        ((NEW, None), (OLD, None), (NEW, None)),  # wrapped anew since
        ((FIRST, None), (OLD, None), (FIRST, None)),  # erased since the copy
        ((OLD, None), (FIRST, None), (FIRST, None)),  # erased since the save
        ((FIRST, None), (NEW, b"4 first"), (NEW, b"4 first")),  # readmitted since the save
        ((NEW, b"4 first"), (FIRST, None), (NEW, b"4 first")),  # readmitted since the copy
        ((NEW, b"4 first"), (OLD, None), (NEW, b"4 first")),
        ((SECOND, b"4 first"), (NEW, b"4 first"), (SECOND, b"4 first")),  # erased a second time
        ((FIRST, None), (SECOND, b"4 first"), (SECOND, b"4 first")),
        ((SECOND, b"4 first"), (FIRST, None), (SECOND, b"4 first")),
        ((NEW, b"4 first"), (NEW, b"9 second"), (NEW, b"9 second")),
        ((SECOND, b"4 first"), (OLD, None), (SECOND, b"4 first")),
    ],
)
def test_an_owner_told_of_by_both(
    file: tuple[bytes | None, bytes | None],
    copy: tuple[bytes | None, bytes | None],
    expected: tuple[bytes, bytes | None],
) -> None:
    assert of(saved(*file), copied(*copy)) == expected


def test_done_again_on_what_it_made_it_is_the_same() -> None:
    for line, readmitted in ((OLD, None), (FIRST, None), (NEW, b"40 first"), (SECOND, b"4 first")):
        file = saved(line, readmitted, {2: b"left", 30: b"beyond"}, (b"a",))
        once = merged(file, copied(OLD), 10)
        again = merged(file, CopySeals(once.lines, once.readmitted, once.wordless, once.gone), 10)
        assert again == once


def test_a_readmission_behind_the_end_of_the_copy_shuts_all_of_it() -> None:
    found = merged(saved(NEW, b"40 first"), NOTHING, 10)
    assert found.readmitted == {ADA: b"10 first"}
    assert [found.is_shut(ADA, seq) for seq in (1, 10, 11)] == [True, True, False]


def test_of_who_was_erased_nothing_opens() -> None:
    found = merged(saved(FIRST), copied(OLD), 10)
    assert found.is_shut(ADA, 1)
    assert found.is_shut(ADA, 1_000_000)
    assert not found.is_shut(b"bob", 1)


def test_what_either_tells_of_erased_words_counts_as_far_as_the_copy_goes() -> None:
    found = merged(
        saved(wordless={1: b"one", 11: b"beyond"}, gone=(b"a",)), CopySeals({}, {}, {7: b"7"}, frozenset({b"b"})), 10
    )
    assert found.wordless == {1: b"one", 7: b"7"}
    assert found.gone == {b"a", b"b"}


def test_an_open_end_of_the_table_of_salts_is_no_salt() -> None:
    table = b"".join(bytes([at]) * 16 for at in range(3))
    assert (salt_in(table, 2), salt_in(table, 3), salt_in(b"", 0)) == (b"\2" * 16, NO_SALT, NO_SALT)
    assert isinstance(merged(saved(), NOTHING, 10), Merged)


@each_row(
    ("file", "copy", "expected"),
    [
        ((FIRST, None), (NEW, b"6 second"), ADA),  # readmitted, erased and readmitted since the save
        ((SECOND, b"4 first"), (NEW, b"6 third"), ADA),
        ((FIRST, None), (NEW, b"4 first"), None),
        ((SECOND, b"4 first"), (NEW, b"4 first"), None),  # erased since the copy
        ((FIRST, None), (OLD, None), None),
        ((FIRST, None), (SECOND, b"4 first"), None),
        ((FIRST, None), (None, None), None),
        ((OLD, None), (NEW, b"6 second"), None),
    ],
)
def test_seals_that_are_too_old_to_tell_that_an_erasure_was_lifted_are_known(
    file: tuple[bytes, bytes | None], copy: tuple[bytes | None, bytes | None], expected: bytes | None
) -> None:
    assert readmitted_past(saved(*file), copied(*copy)) == expected
