"""What lists filter by and no column has, kept level with a view: handles, names, words and context tags of its rows. Pure.

Of a secret memory no name and no word is known here but its id and the tags of its time, as nothing else is told of it.

`SaidIndex` has rows by the digest of what they say: which memories say the same letter by letter. `SaidNames` has names in the
owner's own words: people, pets, places, projects and things, in both languages. They are guessed by their form: in English words
with a capital inside a sentence, in Chinese what follows 叫, a surname, 老, 小 or 阿, and listed places. They only decide whether a
message needs memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from sys import getsizeof
from typing import Final, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from engramlog_server.events.vocabulary import Source
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.lexicon import either, part_folded, words
from engramlog_server.projections.language.patterns import holds_han, regex
from engramlog_server.projections.language.text import stop_words
from engramlog_server.projections.memory.columns import (
    Columns,
    Flags,
    Rows,
)
from engramlog_server.projections.memory.record import SECRET, Memory, handle_of
from engramlog_server.projections.memory.tags import TAGS, TIME_TAGS, came_in, time_tags, timeless_tags

_BYTES_A_HANDLE = 150


class Handles:
    """The ids of an owner's memories by handle. Not for two threads at once."""

    def __init__(self) -> None:
        self._ids: dict[str, tuple[str, ...]] = {}
        self._rows = 0

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new; the handle of a row never changes."""
        if row < self._rows:
            return
        self._rows = row + 1
        handle = handle_of(memory.id)
        self._ids[handle] = (*self._ids.get(handle, ()), memory.id)

    def ids(self, handle: str) -> tuple[str, ...]:
        """The ids of the memories that have a handle, oldest first."""
        return self._ids.get(handle, ())

    def bytes_used(self) -> int:
        """About how much memory this index takes."""
        return _BYTES_A_HANDLE * self._rows


SOURCES: Final[tuple[str, ...]] = get_args(Source)
NAMES: Final = ("session", "project", "speaker")
"""Fields of a record with one name each; a speaker's whatever its case."""
_NONE = -1
_BYTES_A_ROW = 60
_BYTES_A_CONFLICT = 120
Numbers = npt.NDArray[np.int32]


class _Named:
    """One name or none a row, as numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows: list[int] = []
        self._column: Numbers | None = None

    def put(self, row: int, name: str | None) -> None:
        number = _NONE if name is None else self._numbers.setdefault(name, len(self._numbers))
        if row == len(self._rows):
            self._rows.append(number)
        elif self._rows[row] != number:
            self._rows[row] = number
        else:
            return
        self._column = None

    def having(self, name: str) -> Flags:
        if self._column is None:
            self._column = np.array(self._rows, dtype=np.int32)
        found: Flags = self._column == self._numbers.get(name, _NONE - 1)
        return found


class RecordNames:
    """Of each row its source, session, project and speaker. Rows are put in their order, and any of them again."""

    def __init__(self) -> None:
        self._named = {name: _Named() for name in NAMES}
        self._sources = np.zeros(16, dtype=np.int8)
        self._rejected = np.zeros(16, dtype=bool)
        self._length = 0
        self._conflicts: dict[int, tuple[str, ...]] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        if row >= self._sources.size:
            room = max(2 * self._sources.size, row + 1)
            self._sources, self._rejected = np.resize(self._sources, room), np.resize(self._rejected, room)
        self._length = max(self._length, row + 1)
        self._sources[row] = SOURCES.index(memory.source)
        self._rejected[row] = memory.rejected_seq is not None
        if memory.conflicts:
            self._conflicts[row] = memory.conflicts
        else:
            self._conflicts.pop(row, None)
        hidden = memory.sensitivity >= SECRET
        for name, column in self._named.items():
            told: str | None = None if hidden else getattr(memory, name)
            column.put(row, told if told is None or name != "speaker" else told.casefold())

    def having(self, field: str, name: str) -> Flags:
        """Rows whose session, project or speaker this is, shape (rows,)."""
        return self._named[field].having(name.casefold() if field == "speaker" else name)

    @property
    def sources(self) -> npt.NDArray[np.int8]:
        """Of each row its source, as `SOURCES` number it."""
        return self._sources[: self._length]

    @property
    def rejected(self) -> Flags:
        """Rows of which what they say is rejected, deleted ones too."""
        return self._rejected[: self._length]

    def conflicting(self, columns: Columns) -> Flags:
        """Rows that may contradict one that stands, as answers tell it beside them."""
        found = np.zeros(len(columns), dtype=bool)
        for row, others in self._conflicts.items():
            rows: Rows = columns.rows(others)
            found[row] = bool((columns.state[rows[rows >= 0]] == Columns.LIVE).any())
        return found

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_ROW * self._length + _BYTES_A_CONFLICT * len(self._conflicts)


_BETWEEN = "\ud800"
"""Stands in no text: a part never reaches over it."""


class TextParts:
    """Of each row what a part is looked for in. Rows are put in their order, and any of them again."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._bytes = 0

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        text = parts_of(memory)
        if row == len(self._texts):
            self._texts.append(text)
        else:
            self._bytes -= getsizeof(self._texts[row])
            self._texts[row] = text
        self._bytes += getsizeof(text)

    def holding(self, part: str) -> Flags:
        """Rows that hold a part, which is folded already, shape (rows,)."""
        return np.fromiter((part in text for text in self._texts), bool, len(self._texts))

    def bytes_used(self) -> int:
        """About how much it takes."""
        return self._bytes + 8 * len(self._texts)


def parts_of(memory: Memory) -> str:
    """The id of a memory and, unless it is secret, what it says: its content, its summary, and what a sweep shortened it to."""
    if memory.sensitivity >= SECRET:
        return part_folded(memory.id)
    texts = (memory.id, memory.content, memory.summary, memory.compressed)
    return _BETWEEN.join(part_folded(text) for text in texts if text)


_BYTES_A_TAGGED = 90
_BYTES_A_PAIR = 12
_SECOND = 1_000_000


class Tagged(NamedTuple):
    """Pairs of a row and a tag that it has, each once."""

    rows: Rows
    tags: Numbers
    """As `ToldTags.names` number them."""


class ToldTags:
    """Of each row its tags, whatever their case. Rows are put in their order, and any of them again."""

    def __init__(self) -> None:
        self.names: list[str] = [*TAGS]
        """Case-folded."""
        self._numbers = {name: number for number, name in enumerate(TAGS)}
        self._timeless: list[tuple[int, ...]] = []
        self._timed: list[tuple[bool, bool]] = []
        """By row: whether it also has tags of its time, and whether it was imported."""
        self._of_time: dict[tuple[bool, int], tuple[int, ...]] = {}
        """In the zone: (whether it was imported, second) -> tags."""
        self._zone = ""
        self._pairs: Tagged | None = None

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        tags, derived = timeless_tags(memory)
        timed = derived, came_in(memory)
        numbers = tuple(dict.fromkeys(map(self._number, tags)))
        if row == len(self._timeless):
            self._timeless.append(numbers)
            self._timed.append(timed)
        elif (self._timeless[row], self._timed[row]) != (numbers, timed):
            self._timeless[row], self._timed[row] = numbers, timed
        else:
            return
        self._pairs = None

    def _number(self, tag: str) -> int:
        name = tag.casefold()
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def pairs(self, columns: Columns, zone: str, check: Check = unchecked) -> Tagged:
        """Every row with every tag that it has, where its owner's clocks show this zone."""
        if self._pairs is None or self._zone != zone:
            if self._zone != zone:
                self._of_time.clear()
            self._pairs, self._zone = self._paired(columns, zone, check), zone
        return self._pairs

    def _paired(self, columns: Columns, zone: str, check: Check) -> Tagged:
        rows, tags = list[int](), list[int]()
        seconds = (columns.created_at // _SECOND).tolist()
        for row, (told, (timed, imported)) in enumerate(
            zip(counted(self._timeless, check, len(seconds)), self._timed, strict=True)
        ):
            found = told
            if timed:
                second = seconds[row]
                beside = self._of_time.get((imported, second))
                if beside is None:
                    named = time_tags(second * _SECOND, zone, came_in=imported)
                    beside = self._of_time[imported, second] = tuple(map(TIME_TAGS.index, named))
                found = (*told, *(one for one in beside if one not in told))
            rows += [row] * len(found)
            tags += found
        return Tagged(np.array(rows, dtype=np.int64), np.array(tags, dtype=np.int32))

    def having(self, pairs: Tagged, asked: Iterable[str], size: int) -> Flags:
        """Rows that have any of these tags, shape (size,)."""
        wanted = [number for tag in asked if (number := self._numbers.get(tag.casefold())) is not None]
        found = np.zeros(size, dtype=bool)
        found[pairs.rows[np.isin(pairs.tags, wanted)]] = True
        return found

    def bytes_used(self) -> int:
        """About how much it takes."""
        pairs = 0 if self._pairs is None else self._pairs.rows.size
        return _BYTES_A_TAGGED * (len(self._timeless) + len(self._of_time)) + _BYTES_A_PAIR * pairs


_BYTES_A_TEXT = 250


class SaidIndex:
    """Rows by `Memory.stated`; a row without a digest is not in it."""

    def __init__(self) -> None:
        self._rows: dict[bytes, tuple[int, ...]] = {}
        self._of: dict[int, bytes] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        before = self._of.get(row, b"")
        if before == memory.stated:
            return
        if before:
            left = tuple(one for one in self._rows[before] if one != row)
            if left:
                self._rows[before] = left
            else:
                del self._rows[before]
            del self._of[row]
        if memory.stated:
            self._of[row] = memory.stated
            self._rows[memory.stated] = (*self._rows.get(memory.stated, ()), row)

    def rows(self, digest: bytes) -> tuple[int, ...]:
        """Rows that say it, the oldest first; none for an empty digest."""
        return self._rows.get(digest, ())

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_TEXT * len(self._of)


MOST_READ = 2_000
"""Characters of a text that are read."""
MOST_NAMES = 20_000
"""Different names that are kept."""
_BYTES_A_NAME = 120

_CAPITAL = regex(r"(?:(?<=[a-z,;:’'] )|(?<=[a-z]-))(?:[A-Z][\w’'-]{2,30}|[A-Z]{2,10}\d{0,4})\b")
_FIRST = regex(
    r"(?:^|[.!?] )([A-Z][a-z]{2,20})(?= (?:is|was|has|had|can|can't|cannot|likes?|loves?|hates?|lives?|works?|plays?|and"
    r"|doesn't"
    r"|won't|just|does|starts?|sees)\b|'s\b)"
)
_HAN = regex(
    lambda: (
        r"(?:名叫|叫做|叫|名字是)(?P<called>[㐀-鿿]{2,4}?)(?=[，。！？、,.\s的是在，]|今年|$)"
        rf"|(?P<family>(?:{either(words('surnames', 'chinese'))}|[老小阿])[㐀-鿿]{{1,2}})"
        r"(?=[，。！？、,\s的是在和跟说做喜爱有要每最也今去]|$)"
        rf"|(?P<twice>([㐀-鿿])\4)(?=[学的是在有喜爱，。、])"
        rf"|(?P<place>{either(word for word in words('places', 'chinese') if word != '中国')})"
    )
)


@cache
def _stop() -> frozenset[str]:
    return frozenset(stop_words()) | set(words("not_names", "english")) | set(words("not_names", "chinese"))


def names_in(text: str) -> frozenset[str]:
    """The names in a text, English ones in lower case."""
    text = text[:MOST_READ]
    found = {match[0] for match in _CAPITAL.finditer(text)} | {match[1] for match in _FIRST.finditer(text)}
    names = {name.casefold().removesuffix("'s").removesuffix("’s") for name in found} - _stop()
    if holds_han(text):
        for match in _HAN.finditer(text):
            name = match[0] if match["called"] is None else match["called"]
            if name not in _stop():
                names.add(name)
                if match["family"] is not None and len(name) == 3 and name[0] not in "老小阿":
                    names.add(name[1:])  # called by the given name alone
                if match["called"] is not None and len(name) == 3:
                    names.add(name[1:])
    return frozenset(names)


class SaidNames:
    """The names in memories whose source is the user. Not for two threads at once."""

    def __init__(self) -> None:
        self._of: dict[int, frozenset[str]] = {}
        self._counts: Counter[str] = Counter()
        self._all: frozenset[str] | None = None
        self._projects: dict[int, str] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        self._projects.pop(row, None)
        if memory.project:
            self._projects[row] = memory.project.casefold()
        before, self._all = self._of.pop(row, frozenset()), None
        for name in before:
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]
        if memory.source != "user" or memory.sensitivity >= SECRET or len(self._counts) >= MOST_NAMES:
            return
        names = names_in(memory.content)
        if names:
            self._of[row] = names
            self._counts.update(names)

    @property
    def names(self) -> frozenset[str]:
        """Every name in the user's memories, and the projects."""
        if self._all is None:
            self._all = frozenset(self._counts) | self.projects
        return self._all

    @property
    def projects(self) -> frozenset[str]:
        """The projects that memories belong to, in lower case."""
        return frozenset(self._projects.values())

    def bytes_used(self) -> int:
        """About how much memory this index takes."""
        return _BYTES_A_NAME * (len(self._counts) + len(self._of) + len(self._projects))
