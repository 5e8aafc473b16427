"""Word lists as data: read as they were written, refused where they were not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.errors import DamagedLexicon
from engramlog_server.projections.language import lexicon
from tests.rows import each_row

FOLDER = Path(lexicon.__file__).parent
LISTS = sorted(file.stem for file in FOLDER.glob("*.tsv"))
SMALL = "# Colours\nenglish\tchinese\nred, crimson\t红\nblue\t\n# 2 rows\n"


@each_row("name", LISTS)
def test_every_list_can_be_read(name: str) -> None:
    rows = lexicon.rows(name)
    assert lexicon.words(name, "english") + lexicon.words(name, "chinese")
    assert lexicon.rows(name) is rows


@each_row("name", LISTS)
def test_no_row_stands_twice(name: str) -> None:
    rows = [tuple(sorted(row.items())) for row in lexicon.rows(name)]
    assert len(rows) == len(set(rows))


def test_a_row_gives_the_words_of_each_column() -> None:
    assert lexicon.read("small", SMALL.encode()) == (
        {"english": ("red", "crimson"), "chinese": ("红",)},
        {"english": ("blue",), "chinese": ()},
    )


@each_row(
    ("damage", "told"),
    [
        (("blue\t\n", ""), r"line 5 cannot be read: got .*# 2 rows.*allowed is rows, and as the last line '# 1 rows'"),
        (("# 2 rows\n", ""), "as the last line '# 2 rows'"), (("# 2 rows\n", "# 2 rows"), "as the last line '# 2 rows'"),
        (("blue\t\n", "blue\n"), r"line 4 .*1 cells, allowed is 2 \(english, chinese\)"),
        (("blue\t\n", "\t\n"), "line 4 .*a row without words"),
        (("blue\t\n", "blue,navy \t\n"), "line 4 .*'blue,navy ' in english"),
        (("crimson", "red"), "line 3 .*'red' in english"),
        (("crimson", "绯"), "line 3 .*'绯' in english, allowed is a word that is english"),
        (("红", "rouge"), "line 3 .*'rouge' in chinese"), (("blue", "bl\x00ue"), "line 4 "),
        (("chinese", "hanzi"), "line 2 .*names of columns, english and chinese among them"),
        (("english\tchinese", "english\tchinese\tenglish"), "line 2 "), ((SMALL, ""), "allowed is rows"),
    ],
)  # fmt: skip
def test_a_damaged_list_is_refused_by_file_and_line(damage: tuple[str, str], told: str) -> None:
    with pytest.raises(DamagedLexicon, match=told) as refused:
        lexicon.read("small", SMALL.replace(*damage).encode())
    assert str(refused.value).startswith("the word list small.tsv")
    assert str(refused.value).endswith("install engramlog again")


def test_what_is_no_text_is_refused_by_its_line() -> None:
    with pytest.raises(DamagedLexicon, match=r"line 3 .*no UTF-8"):
        lexicon.read("small", SMALL.encode().replace("红".encode(), b"\xff"))


def test_a_list_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(DamagedLexicon, match="262,144 bytes"):
        lexicon.read("small", SMALL.encode() * 10_000)


def test_a_missing_list_is_refused_by_name() -> None:
    with pytest.raises(DamagedLexicon, match=r"the word list missing\.tsv cannot be read: got No such file"):
        lexicon.rows("missing")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(written: bytes) -> None:
    try:
        lexicon.read("any", written)
    except DamagedLexicon:
        return


@each_row("cut", range(1, len(SMALL.encode())))
def test_a_list_that_was_cut_off_anywhere_is_refused(cut: int) -> None:
    with pytest.raises(DamagedLexicon):
        lexicon.read("small", SMALL.encode()[:-cut])


@each_row("words", [("a", "ab", "a-b"), ("a+", "b.c", "(d)")])
def test_of_alternatives_that_begin_alike_the_longest_is_taken(words: tuple[str, ...]) -> None:
    for pattern in (lexicon.either(words), lexicon.either_at_once(words)):
        assert all(re.match(pattern, f"{word} x")[0] == word for word in words)  # type: ignore[index]


@each_row("name", ["opposites", "opposite_parts", "antonyms"])
def test_what_stands_against_a_word_is_of_its_language(name: str) -> None:
    for row in lexicon.rows(name):
        assert bool(row["english"]) != bool(row["chinese"])
        assert row["against"]
        assert {word.isascii() for word in row["against"]} == {bool(row["english"])}


def test_every_place_lies_in_places_of_the_list() -> None:
    rows = lexicon.rows("places")
    first = [(row["english"] + row["chinese"])[0] for row in rows]
    assert len(first) == len(set(first))
    assert {area for row in rows for area in row["within"]} <= set(first)


def test_no_name_is_of_two_places() -> None:
    names = [name for row in lexicon.rows("places") for name in row["english"] + row["chinese"]]
    assert len(names) == len(set(names))


def test_every_kind_is_named_once() -> None:
    kinds = [row["kind"] for row in lexicon.rows("kinds")]
    assert all(len(kind) == 1 for kind in kinds)
    assert len(kinds) == len(set(kinds))
