"""Word lists of both languages as data: one TSV a list, read at first use and kept.

A list is a file `NAME.tsv` beside this one, in UTF-8. Lines that begin with `#` say what it is for. The first other line names
the columns; every further one is a row with a cell for each, parted by tabs. A cell holds words, parted by a comma and a space,
and may be empty, but not all of a row's. The last line is `# N rows`: a list that was cut off is refused, as is every other
damage, by file and line. No cell is part of a regular expression.

`english` and `chinese` hold what is written in either; other columns say what it is.

Two lists have views here. Traditional characters are read as simplified ones, so that one set of rules reads both; what is shown,
kept or searched stays as it was written, and words that differ (`軟體`, `软件`) are not translated. Negators turn a statement
round.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from engramlog_server.events.errors import DamagedLexicon
from engramlog_server.projections.language.patterns import holds_han

MOST_BYTES = 1 << 18
"""Longest list."""
_BETWEEN = ", "

Row = Mapping[str, tuple[str, ...]]
"""The words of each column; an empty cell has none."""


@cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of a list, in order. Raises DamagedLexicon where it is missing or not as it was written."""
    try:
        with Path(__file__).with_name(f"{name}.tsv").open("rb") as file:
            written = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise DamagedLexicon(name, 0, error.strerror or str(error), "the file of this release") from None
    return read(name, written)


def words(name: str, column: str) -> tuple[str, ...]:
    """The different words of one column, in order."""
    return tuple(dict.fromkeys(word for row in rows(name) for word in row[column]))


def either(alternatives: Iterable[str]) -> str:
    """Words as alternatives of a regular expression, without a group: of two that begin alike the longer one first."""
    return "|".join(map(re.escape, sorted(dict.fromkeys(alternatives), key=len, reverse=True)))


def of_role(name: str, role: str, language: str) -> str:
    """The words of a language in the rows of a list that have a role, as alternatives."""
    return either(word for row in rows(name) if role in row["role"] for word in row[language])


def either_at_once(alternatives: Sequence[str]) -> str:
    """As `either`, as one group that a look at the next character decides first: where many words may stand anywhere in a text."""
    return f"(?:(?=[{''.join(sorted({re.escape(word[0]) for word in alternatives}))}])(?:{either(alternatives)}))"


def read(name: str, written: bytes) -> tuple[Row, ...]:
    """The rows of the bytes of a list; `name` is told in refusals. Raises DamagedLexicon."""
    if len(written) > MOST_BYTES:
        raise DamagedLexicon(name, 0, f"more than {MOST_BYTES:,} bytes", f"at most {MOST_BYTES:,}")
    try:
        lines = written.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        number = written.count(b"\n", 0, error.start) + 1
        raise DamagedLexicon(name, number, f"bytes that are no UTF-8 at {error.start}", "UTF-8") from None
    found: list[Row] = []
    columns: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        if columns:
            found.append(_row(name, number, line, columns))
        else:
            columns = _columns(name, number, line)
    last = f"# {len(found)} rows"
    if not found or lines[-2:] != [last, ""]:
        raise DamagedLexicon(
            name, len(lines), repr("\n".join(lines[-2:])[-60:]), f"rows, and as the last line {last!r}"
        )
    return tuple(found)


def _columns(name: str, number: int, line: str) -> list[str]:
    columns = line.split("\t")
    plain = all(re.fullmatch("[a-z]+", column) for column in columns)
    if not plain or len(set(columns)) != len(columns) or not {"english", "chinese"} <= set(columns):
        raise DamagedLexicon(name, number, repr(line[:80]), "names of columns, english and chinese among them")
    return columns


def _row(name: str, number: int, line: str, columns: list[str]) -> Row:
    cells = line.split("\t")
    if len(cells) != len(columns):
        raise DamagedLexicon(name, number, f"{len(cells)} cells", f"{len(columns)} ({', '.join(columns)})")
    row = {column: tuple(cell.split(_BETWEEN)) if cell else () for column, cell in zip(columns, cells, strict=True)}
    for column, held in row.items():
        for word in held:
            if not word or word != " ".join(word.split()) or not word.isprintable() or held.count(word) > 1:
                raise DamagedLexicon(
                    name, number, f"{word!r} in {column}", "words, each once, parted by a comma and a space"
                )
            if column in ("english", "chinese") and holds_han(word) != (column == "chinese"):
                raise DamagedLexicon(name, number, f"{word!r} in {column}", f"a word that is {column}")
    if not any(row.values()):
        raise DamagedLexicon(name, number, "a row without words", "at least one")
    return row


# Traditional characters, and words that deny.


@cache
def simplified_characters() -> dict[int, str]:
    """Code point of a traditional character -> the simplified character: a table for `str.translate`."""
    return {
        ord(traditional): simplified
        for row in rows("traditional")
        for traditional, simplified in zip(row["chinese"][0], row["simplified"][0], strict=True)
    }


def simplified(text: str) -> str:
    """A text with its traditional characters simplified."""
    return text.translate(simplified_characters())


def part_folded(text: str) -> str:
    """A text as parts of it are looked for: whatever its case, the width of its letters, and how its Han characters are written."""
    if text.isascii():
        return text.lower()
    even = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return even if even.isascii() else simplified(even)


_NEARLY_IDLE = (
    "不过(?![敏年节生期来去])|(?<![只需])要不|不同(?!意)|[特分区类级性告离个识辨鉴派]别|别[人的墅针致名]|[淹沉出埋]没"
)
"""Idle only beside certain characters: alternatives of a regular expression."""


@cache
def negating_english(*roles: str) -> tuple[str, ...]:
    """The English words of these roles: word, contraction, verb, feeling."""
    return tuple(word for row in rows("negators") if row["role"][0] in roles for word in row["english"])


@cache
def negating_chinese(*roles: str) -> tuple[str, ...]:
    """The Chinese words of these roles: word (single characters), verb, feeling, idle."""
    return tuple(word for row in rows("negators") if row["role"][0] in roles for word in row["chinese"])


def negating_characters(*, but: str = "") -> str:
    """The Chinese negating characters but some, as they stand in a character class."""
    return "".join(one for one in negating_chinese("word") if one not in but)


def idle_negations() -> str:
    """Chinese that looks as if it denied and does not, as alternatives of a regular expression."""
    return f"{either(negating_chinese('idle'))}|{_NEARLY_IDLE}"
