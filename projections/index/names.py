"""What no column has, kept level with a view: handles, names, words and context tags of its rows, and which of them say what no
longer holds. Pure.

Of a secret memory no name and no word is known here but its id and the tags of its time, as nothing else is told of it.

`SaidIndex` has rows by the digest of what they say: which memories say the same letter by letter. `SaidNames` has names in the
owner's own words: people, pets, places, projects and things, in both languages. They are guessed by their form: in English words
with a capital inside a sentence, in Chinese what follows 叫, a surname, 老, 小 or 阿, and listed places. They only decide whether a
message needs memory.

A negated memory says it, and with it the turns that it was made of, and accounts of these: summaries, merges. What another
memory corrects by a link alone says it too, until its owner says it again. Only what is negated or corrected is looked at, so an
owner of whom nothing is pays for the look alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from sys import getsizeof
from typing import Final, NamedTuple, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from engramlog_server.events.vocabulary import Source
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.keywords import Drawn, drawn
from engramlog_server.projections.language.lexicon import either, part_folded, words
from engramlog_server.projections.language.patterns import holds_han, regex
from engramlog_server.projections.language.text import stop_words
from engramlog_server.projections.memory.columns import (
    BELOW,
    GONE,
    TOLD,
    Columns,
    Correction,
    Flags,
    Rows,
    conflict_of,
    following,
    holding_now,
    line_of,
    state_of,
)
from engramlog_server.projections.memory.deletion import turns_behind
from engramlog_server.projections.memory.kind import is_pattern, is_statement, is_turn
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


MOST_DRAWN = 50_000
"""Texts whose drawn parts are kept; all are forgotten beyond."""
_BYTES_A_LINK = 200
Strengths = npt.NDArray[np.int8]
Filed = TypeVar("Filed")


class _Negated(NamedTuple):
    """What a negated memory says is said in: itself, and the turns that a statement was made of."""

    places: tuple[str, ...]
    strength: int


class _Link(NamedTuple):
    """Something corrected, and what corrects it: None where its own successors tell."""

    old: int
    by: int | None


class _Corrector(NamedTuple):
    """A memory that corrects another by a link, and whether it stands."""

    old: str
    stands: bool


class _Bearing(NamedTuple):
    """What of a memory decides whether another may leave."""

    text: str
    summary: str | None
    state: int
    sensitivity: int
    negated_at: int | None
    negations: int
    following: str | None
    turns: tuple[str, ...]


class CorrectionIndex:
    """Of each row what it says that no longer holds. Rows are those of the columns that are asked about."""

    def __init__(self) -> None:
        self._negated: dict[int, _Negated] = {}
        self._made_of: dict[int, tuple[str, ...]] = {}
        """Accounts -> ids of the turns and memories that they were made of."""
        self.patterns: dict[int, tuple[str, ...]] = {}
        """Patterns -> ids of their evidence."""
        self._corrects: dict[int, _Corrector] = {}
        self._corrected: set[str] = set()
        self._links: dict[str, list[_Link]] = {}
        """Id of a turn or memory -> what was said in it and no longer holds."""
        self._strengths: Strengths = np.zeros(0, dtype=np.int8)
        self._drawn: dict[tuple[int, tuple[str, ...]], tuple[str, Drawn]] = {}
        self._leaving: dict[int, Drawn | None] = {}
        """Row -> the parts of what may leave normal mode, None of what may not; as long as nothing that was looked at changes."""
        self._known: dict[int, tuple[Correction, ...]] = {}
        self._looked_at: dict[str, _Bearing | None] = {}
        """What these were decided by, None for what was not there."""
        self._is_level = False

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        if memory.id in self._looked_at and self._looked_at[memory.id] != _bearing(memory):
            self._forget()
        negated = _negated(memory)
        if negated != self._negated.get(row):
            self._is_level = False
            _file(self._negated, row, negated)
        made = _made_of(memory)
        if made != self._made_of.get(row, ()):
            self._is_level = False
            _file(self._made_of, row, made or None)
            _file(self.patterns, row, memory.summarises if is_pattern(memory) else None)
        if memory.corrects is not None:
            self._put_corrector(row, _Corrector(memory.corrects, _stands(memory)))
        if memory.id in self._corrected or (row >= self._strengths.size and memory.id in self._links):
            self._is_level = False

    def _put_corrector(self, row: int, told: _Corrector) -> None:
        if told != self._corrects.get(row):
            self._is_level = False
            self._corrects[row] = told
            self._corrected.add(told.old)

    @property
    def bearing_rows(self) -> list[int]:
        """Rows that decide what is corrected, ascending: an index that these alone are put into knows as much."""
        return sorted({*self._negated, *self._made_of, *self._corrects})

    def patterns_of(self, memory_id: str) -> list[int]:
        """Rows of the patterns of which a memory is evidence, ascending."""
        return sorted(row for row, evidence in self.patterns.items() if memory_id in evidence)

    def bytes_used(self) -> int:
        """About how much it takes."""
        links = len(self._negated) + len(self._made_of) + len(self._corrects) + len(self._links)
        return _BYTES_A_LINK * links + self._strengths.nbytes + 2_000 * len(self._drawn)

    def strengths(self, columns: Columns) -> Strengths:
        """How strongly each row may be corrected, 0 where it is not; `of` tells by what, and leaves out what was no correction."""
        if not self._is_level:
            self._level(columns)
        if self._strengths.size < len(columns):
            more = np.zeros(len(columns) - self._strengths.size, dtype=np.int8)
            self._strengths = np.concatenate([self._strengths, more])
        return self._strengths

    def of(self, columns: Columns, row: int) -> Sequence[Correction]:
        """What a row says that no longer holds, the last negated first; kept until something that decides it changes."""
        if not self.strengths(columns)[row]:
            return ()
        if row not in self._known:
            links = {link for place in self._places(columns, row) for link in self._links.get(place, ())}
            found = (self._correction(columns, row, link) for link in links)
            told = sorted((one for one in found if one is not None), key=lambda one: (-one.at, one.old.id))
            self._known[row] = tuple(told)
            self._looked_at[columns.memories[row].id] = _bearing(columns.memories[row])
            for link in links:
                for known, memory in line_of(columns, link.old):
                    self._looked_at[known] = None if memory is None else _bearing(memory)
        return self._known[row]

    def said_in(self, columns: Columns, place: str) -> Sequence[Correction]:
        """The same of a memory by its id, or of a turn, whether or not there is a memory of it."""
        row = columns.row(place)
        if row is not None:
            return self.of(columns, row)
        self.strengths(columns)
        found = [self._told(columns, link, (place,)) for link in self._links.get(place, ())]
        return sorted((one for one in found if not one.beside), key=lambda one: (-one.at, one.old.id))

    def drawn(self, columns: Columns, row: int, corrections: Sequence[Correction]) -> Drawn:
        """The part of a row's text that these were drawn from, and the rest."""
        memory, statements = columns.memories[row], tuple(one.old.content for one in corrections)
        text = f"{memory.content}\n{memory.summary}" if memory.summary else memory.content
        known = self._drawn.get((row, statements))
        if known is not None and known[0] == text:
            return known[1]
        if len(self._drawn) >= MOST_DRAWN:
            self._drawn.clear()
        self._drawn[row, statements] = text, drawn(text, statements)
        return self._drawn[row, statements][1]

    def leaving(self, columns: Columns, row: int) -> Drawn | None:
        """The parts of a row that may leave normal mode for what was corrected in it; None where it may not.

        What is negated itself is the mode's own matter, and what also tells what holds now stays.
        """
        if not self._is_level:
            self._level(columns)
        if row not in self._leaving:
            found = [one for one in self.of(columns, row) if one.strength == GONE]
            memory = columns.memories[row]
            if is_pattern(memory) and found and not memory.is_negated:
                # What several memories had in common holds no longer once one of them does not.
                self._leaving[row] = Drawn(self.drawn(columns, row, found).inside, frozenset())
                return self._leaving[row]
            stays = not found or any(one.beside for one in found) or memory.is_negated
            self._leaving[row] = None if stays else self.drawn(columns, row, found)
        return self._leaving[row]

    def _places(self, columns: Columns, row: int) -> tuple[str, ...]:
        return (columns.memories[row].id, *self._made_of.get(row, ()))

    def _correction(self, columns: Columns, row: int, link: _Link) -> Correction | None:
        """A link as it bears on a row; None where the row itself is what holds now."""
        if link.old == row:
            return self._told(columns, link, ())
        if is_statement(columns.memories[row]):
            return None
        told = self._told(columns, link, self._places(columns, row))
        if told.now is columns.memories[row] or (told.beside and is_turn(columns.memories[row])):
            return None
        return told

    def _told(self, columns: Columns, link: _Link, places: tuple[str, ...]) -> Correction:
        old = columns.memories[link.old]
        if link.by is not None:
            now: Memory | None = columns.memories[link.by]
            at, strength, said_in = columns.memories[link.by].created_at, BELOW, set[str]()
        else:
            now, at = holding_now(columns, link.old), old.negated_at or 0
            strength = self._negated[link.old].strength
            said_in = {one.turn_id for one in old.negations[-1:] if one.turn_id is not None}
        if now is not None:
            said_in |= {now.id, *now.source_turns}
        return Correction(old, now, at, strength, beside=not said_in.isdisjoint(places))

    def _level(self, columns: Columns) -> None:
        """Find every link again, and the rows that they bear on."""
        links: defaultdict[str, list[_Link]] = defaultdict(list)
        strengths = np.zeros(len(columns), dtype=np.int8)
        accounts: defaultdict[str, list[int]] = defaultdict(list)
        for row, made in self._made_of.items():
            for place in made:
                accounts[place].append(row)
        for link, places, strength in self._all(columns):
            for place in places:
                links[place].append(link)
                own = columns.row(place)
                for row in (*(() if own is None else (own,)), *accounts.get(place, ())):
                    strengths[row] = max(strengths[row], strength)
        self._links, self._strengths, self._is_level = dict(links), strengths, True
        self._forget()

    def _forget(self) -> None:
        self._known.clear()
        self._leaving.clear()
        self._looked_at.clear()

    def _all(self, columns: Columns) -> Iterator[tuple[_Link, tuple[str, ...], int]]:
        for row, negated in self._negated.items():
            yield _Link(row, None), negated.places, negated.strength
        for by, corrector in self._corrects.items():
            old = columns.row(corrector.old) if corrector.stands else None
            if old is not None and _is_outdated(columns.memories[old], columns.memories[by]):
                yield _Link(old, by), _said_in(columns.memories[old]), BELOW


def _file(kept: dict[int, Filed], row: int, told: Filed | None) -> None:
    if told is None:
        kept.pop(row, None)
    else:
        kept[row] = told


def _said_in(memory: Memory) -> tuple[str, ...]:
    return (memory.id, *turns_behind(memory)) if is_statement(memory) else (memory.id,)


def _negated(memory: Memory) -> _Negated | None:
    if memory.negated_at is None:
        return None
    return _Negated(_said_in(memory), GONE if conflict_of(memory) >= Columns.KEEP else TOLD)


def _made_of(memory: Memory) -> tuple[str, ...]:
    """What an account was made of; nothing for a statement, and for a turn under its own id."""
    if memory.source_turns == (memory.id,) or not (memory.source_turns or memory.summarises or memory.merged_from):
        return ()
    if is_statement(memory):
        return ()
    return tuple(dict.fromkeys((*memory.source_turns, *memory.summarises, *memory.merged_from)))


def _bearing(memory: Memory) -> _Bearing:
    times = (memory.negated_at, len(memory.negations), following(memory))
    text = (memory.content, memory.summary, state_of(memory), memory.sensitivity)
    return _Bearing(*text, *times, memory.source_turns)


def _stands(memory: Memory) -> bool:
    return not memory.is_negated and state_of(memory) == Columns.LIVE


def _is_outdated(old: Memory, by: Memory) -> bool:
    """Whether a link alone corrects: the owner has not said since what it corrects."""
    if old.is_negated or old.id == by.id or any(one.replaced_by == by.id for one in old.negations):
        return False
    return all(one.at < by.created_at for one in old.user_mentions)
