"""The structure of an owner's conversations, kept beside the view: who said what after what, and what a turn is like.

**Members** are the rows that hold text: secrets and purged memories have none. Within a session they stand in the order of
(created_at, created_seq); a memory without a session stands alone, and so does an episode, which nobody said. A turn at the
end of its session, the ordinary case, is linked at once; for one that comes late, only its session is linked anew, at the next
question. Traits are read off a text when a question first needs them, and kept; terms in reading order stand in the text index,
with which rows are shared.

Not for use by two threads at once, as the view.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from math import fsum, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.index.search_index import Bm25Index, Occurrences, has_text
from engramlog_server.projections.language.prompt_text import estimated_tokens
from engramlog_server.projections.language.questions import kinds_asked, traits
from engramlog_server.projections.language.text import stop_words
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_turn
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.working_memory import is_episode

Rows = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
Roles = npt.NDArray[np.int8]
Kinds = npt.NDArray[np.int16]
Flags = npt.NDArray[np.bool_]
NONE = -1
"""No row, no session."""
UNREAD = -1
"""No bits of kinds."""
OTHER, USER, ASSISTANT = 0, 1, 2
"""Roles: whose word a memory is, by its source."""
GENERIC = frozenset({"", "user", "assistant", "system", "tool"})
"""Speakers that are no names."""
_ROLES = {"user": USER, "assistant": ASSISTANT}
_Key = tuple[int, int, int]
"""created_at, created_seq, row."""


class ViewShape(NamedTuple):
    """What the owner's memories look like as a whole."""

    spread: float
    """Standard deviation of ln(length in tokens)."""
    turns_taken: float
    """Share of the members before which another speaker spoke in the same session."""


class _Entry(NamedTuple):
    session: str | None
    key: _Key
    speaker: int
    role: int
    length: int
    content: str | None
    """None where it was kept, and is read from the record."""


class KeptConversation(NamedTuple):
    """What of the index is read off records; the rest follows. Columns by row."""

    speakers: Sequence[str]
    """By number."""
    sessions: Sequence[str]
    member: Flags
    speaker: Rows
    role: Roles
    session: Rows
    traits: Bits
    known: Bits


@dataclass(slots=True)
class _Session:
    number: int
    keys: list[_Key] = field(default_factory=list)


class _KeptOrder(NamedTuple):
    """Member rows, when each was made and at which seq; their places in the order of sessions, and where those of each end."""

    rows: Rows
    at: Rows
    seqs: Rows
    order: Rows
    ends: Rows


class ConversationIndex:
    """Columns by row of the view; a row that is no member has no neighbours."""

    def __init__(self, texts: Bm25Index) -> None:
        self._texts = texts
        self._entries: dict[int, _Entry] = {}
        self._sessions: dict[str, _Session] = {}
        self._late: set[str] = set()
        """Sessions to link anew."""
        self._numbers: dict[str, int] = {}
        """Of speakers."""
        self._speaking: Counter[int] = Counter()
        """Members by speaker."""
        self._lengths: Counter[int] = Counter()
        self._shape: ViewShape | None = None
        self._names: dict[str, int] | None = None
        self.previous = np.zeros(0, dtype=np.int64)
        """Row of the turn before in the session, or NONE; `next` likewise."""
        self.next = self.previous
        self.place = self.previous
        """From 0, in the session."""
        self.session = self.previous
        """Number of the session, or NONE."""
        self.member = np.zeros(0, dtype=bool)
        """Whether the row holds text."""
        self.speaker = self.previous
        self.role = np.zeros(0, dtype=np.int8)
        self.length = self.previous
        """In tokens of what search reads."""
        self._traits = self._known = np.zeros(0, dtype=np.uint8)
        """Traits by row, and which of them were read."""
        self._asked = np.zeros(0, dtype=np.int16)
        """What kinds of things a text asks for; UNREAD until a question needs it, and not kept."""
        self._content_of: Callable[[int], str] | None = None
        self._kept: _KeptOrder | None = None
        """While nothing was put since the index was kept, its columns say all: entries and keys are made when something is."""
        self._grow(64)

    @classmethod
    def of_kept(cls, texts: Bm25Index, columns: Columns, kept: KeptConversation) -> ConversationIndex:
        """The index as `taken` gave it, beside the same rows. Raises ValueError where the columns do not fit them."""
        found, rows = cls(texts), np.flatnonzero(kept.member)
        if {column.size for column in kept[2:]} != {len(columns)}:
            raise ValueError(f"the conversation does not have {len(columns)} rows")
        found._content_of = lambda row: columns.memories[row].content
        found._grow(max(64, len(columns)))
        speakers, roles, places = (column[rows] for column in (kept.speaker, kept.role, kept.session))
        numbered = ((places, NONE, kept.sessions), (speakers, 0, kept.speakers))
        if any(
            rows.size and not least <= numbers.min() <= numbers.max() < len(names) for numbers, least, names in numbered
        ):
            raise ValueError("the conversation names what it does not know")
        found._numbers = {name: number for number, name in enumerate(kept.speakers)}
        found.member[rows], found.speaker[rows], found.role[rows] = True, speakers, roles
        found.length[rows] = lengths = texts.lengths()[rows]
        found._traits[rows], found._known[rows] = kept.traits[rows], kept.known[rows]
        for counter, numbers in ((found._speaking, speakers), (found._lengths, lengths)):
            different, counts = np.unique(numbers, return_counts=True)
            counter.update(dict(zip(different.tolist(), counts.tolist(), strict=True)))
        at, seqs = columns.created_at[rows], columns.created_seq[rows]
        order = np.lexsort((rows, seqs, at, places))
        ends = np.searchsorted(places[order], np.arange(-1, len(kept.sessions)), side="right")
        found._sessions = {name: _Session(number) for number, name in enumerate(kept.sessions)}
        found._link(rows[order[ends[0] :]], np.diff(ends))
        found._kept = _KeptOrder(rows, at, seqs, order, ends)
        return found

    def _wake(self) -> None:
        """Make entries and keys of what was kept, before the first change."""
        if self._kept is None:
            return
        (rows, at, seqs, order, ends), self._kept = self._kept, None
        keys = list(zip(at.tolist(), seqs.tolist(), rows.tolist(), strict=True))
        names = map([*self._sessions, None].__getitem__, self.session[rows].tolist())  # NONE is the last
        columns = (column[rows].tolist() for column in (self.speaker, self.role, self.length))
        told = zip(names, keys, *columns, repeat(None))
        self._entries = dict(zip(rows.tolist(), map(_Entry._make, told), strict=True))
        inside = order.tolist()
        for session, (start, end) in zip(self._sessions.values(), pairwise(ends.tolist()), strict=True):
            session.keys = [keys[one] for one in inside[start:end]]

    def taken(self, size: int) -> KeptConversation:
        """A copy of what is read off the records of so many rows."""
        self.settle()
        return KeptConversation(
            list(self._numbers),
            list(self._sessions),
            self.member[:size].copy(),
            self.speaker[:size].copy(),
            self.role[:size].copy(),
            self.session[:size].copy(),
            self._traits[:size].copy(),
            self._known[:size].copy(),
        )

    def fill(self, memories: Iterable[Memory], with_text: Sequence[bool]) -> None:
        """Take in all of a view's memories, by row: `put` for each, when nothing was put before."""
        self._grow(max(64, len(with_text)))
        places = dict[str | None, str | None]()
        lengths, speakers = self._texts.lengths().tolist(), dict[tuple[str | None, str], int]()
        for row, memory in enumerate(memories):
            if not with_text[row]:
                continue
            who = memory.speaker, memory.source
            speaker = speakers.get(who)
            if speaker is None:
                speaker = speakers[who] = self._speaker(memory)
            key, role = (memory.created_at, memory.created_seq, row), role_of(memory)
            place = place_of(memory)
            place = places.setdefault(place, place)
            content = memory.content
            self._entries[row] = _Entry(place, key, speaker, role, lengths[row], content)
            if place is not None:
                session = self._sessions.get(place)
                if session is None:
                    session = self._sessions[place] = _Session(len(self._sessions))
                session.keys.append(key)
        rows = list(self._entries)
        self.member[rows] = True
        _, _, speaking, self.role[rows], told, _ = zip(*self._entries.values(), strict=True) if rows else ((),) * 6
        self.speaker[rows], self.length[rows] = speaking, told
        self._speaking.update(speaking)
        self._lengths.update(told)
        for session in self._sessions.values():
            session.keys.sort()
        self._link_keys(list(self._sessions.values()))

    def put(self, row: int, memory: Memory, with_text: bool) -> None:
        """Take in a memory that is new, or changed, after the text index did; `with_text`: whether search reads any of it."""
        if row >= self.role.size:
            self._grow(max(row + 1, 2 * self.role.size))
        if not with_text and not self.member[row]:
            return
        self._wake()
        before, entry = self._entries.get(row), self._entry(row, memory) if with_text else None
        if before == entry:
            return
        self._shape = None
        if before is None or entry is None or before.content != entry.content:
            self._known[row] = self._traits[row] = 0
            self._asked[row] = UNREAD
        moved = before is None or entry is None or (before.session, before.key) != (entry.session, entry.key)
        if before is not None:
            self._count(before, -1)
            del self._entries[row]
            self.member[row] = False
            if moved:
                self._take_out(row, before)
        if entry is not None:
            self._count(entry, 1)
            self._entries[row] = entry
            self.member[row] = True
            self.speaker[row], self.role[row], self.length[row] = entry.speaker, entry.role, entry.length
            if moved:
                self._put_in(row, entry)

    def settle(self) -> None:
        """Link the sessions into which something came late: to be called before the columns are read."""
        self._link_keys([self._sessions[name] for name in self._late])
        self._late.clear()

    def _link_keys(self, sessions: Sequence[_Session]) -> None:
        """Tell the turns of sessions, whose keys are in order, of each other."""
        rows = np.array([key[2] for session in sessions for key in session.keys], dtype=np.int64)
        sizes = np.array([len(session.keys) for session in sessions], dtype=np.int64)
        self._link(rows, sizes, np.array([session.number for session in sessions], dtype=np.int64))

    def _link(self, rows: Rows, sizes: Rows, numbers: Rows | None = None) -> None:
        """The same of rows, session after session, so many each; without numbers the sessions stand in their order."""
        if not rows.size:
            return
        starts = np.cumsum(sizes) - sizes
        self.session[rows] = np.repeat(np.arange(sizes.size) if numbers is None else numbers, sizes)
        self.place[rows] = place = np.arange(rows.size) - np.repeat(starts, sizes)
        self.previous[rows] = np.where(place > 0, np.roll(rows, 1), NONE)
        self.next[rows] = np.where(np.roll(place, -1) > 0, np.roll(rows, -1), NONE)

    @property
    def shape(self) -> ViewShape:
        """The shape of the members; read anew after a change."""
        self.settle()
        if self._shape is None:
            size = len(self) or 1
            counted = [(log(max(length, 1)), count) for length, count in sorted(self._lengths.items())]
            mean = fsum(value * count for value, count in counted) / size
            spread = sqrt(fsum(count * (value - mean) ** 2 for value, count in counted) / size)
            taken = (self.previous != NONE) & (self.speaker != self.speaker[self.previous])
            self._shape = ViewShape(spread, float(np.count_nonzero(taken)) / size)
        return self._shape

    @property
    def names(self) -> dict[str, int]:
        """Words of the names of named speakers, case-folded, with the speaker; none where all is one speaker's."""
        if self._names is None:
            self._names, light = {}, stop_words()
            for name in sorted(self._numbers) if len(self._speaking) > 1 else ():
                if name not in GENERIC and self._numbers[name] in self._speaking:
                    for word in sorted({name, *name.split()}):
                        if len(word) > 1 and word not in light:
                            self._names.setdefault(word, self._numbers[name])
        return self._names

    def speakers(self) -> list[str]:
        """Names of those who spoke; the words user, assistant, system and tool are none."""
        return [name for name, number in self._numbers.items() if name not in GENERIC and number in self._speaking]

    def traits(self, rows: Rows, wanted: int) -> Bits:
        """The traits of the texts of member rows, as bits; of those not wanted, what was read before."""
        for row in rows[self._known[rows] & wanted != wanted].tolist():
            lacking = wanted & ~int(self._known[row])
            self._traits[row] |= traits(self._content(row), lacking)
            self._known[row] |= lacking
        return self._traits[rows]

    def asked(self, rows: Rows) -> Kinds:
        """What kinds of things the questions in the texts of member rows ask for, as bits."""
        for row in rows[self._asked[rows] == UNREAD].tolist():
            self._asked[row] = kinds_asked(self._content(row))
        return self._asked[rows]

    def _content(self, row: int) -> str:
        content = None if self._kept is not None else self._entries[row].content
        if content is None and self._content_of is not None:
            content = self._content_of(row)
        return content or ""

    def found(self, rows: Rows, terms: Sequence[str]) -> Occurrences:
        """Where these different terms stand in the contents of member rows."""
        return self._texts.found(rows, terms)

    def bytes_used(self) -> int:
        """About how much memory this takes."""
        kept = 0 if self._kept is None else sum(column.nbytes for column in self._kept)
        return kept + 420 * len(self._entries) + 54 * self.role.size

    def __len__(self) -> int:
        return int(np.count_nonzero(self.member))

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int) and 0 <= row < self.member.size and bool(self.member[row])

    def _entry(self, row: int, memory: Memory) -> _Entry:
        key = (memory.created_at, memory.created_seq, row)
        return _Entry(
            place_of(memory), key, self._speaker(memory), role_of(memory), self._texts.length(memory.id), memory.content
        )

    def _speaker(self, memory: Memory) -> int:
        """The number of who speaks."""
        return self._numbers.setdefault(speaker_of(memory), len(self._numbers))

    def _count(self, entry: _Entry, step: int) -> None:
        for counter, key in ((self._lengths, entry.length), (self._speaking, entry.speaker)):
            counter[key] += step
            if not counter[key]:
                del counter[key]
        if self._speaking[entry.speaker] <= 1:
            self._names = None

    def _take_out(self, row: int, entry: _Entry) -> None:
        self.previous[row] = self.next[row] = self.session[row] = NONE
        self.place[row] = 0
        if entry.session is not None:
            keys = self._sessions[entry.session].keys
            del keys[bisect_left(keys, entry.key)]
            self._late.add(entry.session)

    def _put_in(self, row: int, entry: _Entry) -> None:
        if entry.session is None:
            return
        session = self._sessions.get(entry.session)
        if session is None:
            session = self._sessions[entry.session] = _Session(len(self._sessions))
        self.session[row] = session.number
        keys = session.keys
        if entry.session in self._late or (keys and keys[-1] > entry.key):
            insort(keys, entry.key)
            self._late.add(entry.session)
            return
        if keys:
            last = keys[-1][2]
            self.previous[row], self.next[last] = last, row
            self.place[row] = self.place[last] + 1
        keys.append(entry.key)

    def _grow(self, size: int) -> None:
        empty = {"place": 0, "role": OTHER, "length": 0, "member": False, "_traits": 0, "_known": 0, "_asked": UNREAD}
        for name in (
            "previous",
            "next",
            "place",
            "session",
            "speaker",
            "role",
            "length",
            "member",
            "_traits",
            "_known",
            "_asked",
        ):
            held = getattr(self, name)
            column = np.full(size, empty.get(name, NONE), dtype=held.dtype)
            column[: held.size] = held
            setattr(self, name, column)


def place_of(memory: Memory) -> str | None:
    """The session in which a memory stands between others."""
    return None if is_episode(memory) else memory.session


def role_of(memory: Memory) -> int:
    """Whose word a memory is."""
    return _ROLES.get(memory.source, OTHER)


def speaker_of(memory: Memory) -> str:
    """Who speaks: told by name, else apart by the source, whose brackets keep it from being taken for a name."""
    return (memory.speaker or "").casefold().strip() or f"({memory.source})"


_SAID = frozenset({Columns.LIVE, Columns.MERGED, Columns.RETIRED, Columns.PROPOSED})
"""States of turns that stand, by themselves or in a merge."""
_BYTES_A_TURN = 60


class TalkTokens:
    """Tokens of all turns that are memories, but for those that are deleted, rejected or set aside."""

    def __init__(self) -> None:
        self._of: dict[int, int] = {}
        self.total = 0

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        said = is_turn(memory) and state_of(memory) in _SAID
        tokens = estimated_tokens(memory.content) if said else 0
        self.total += tokens - self._of.get(row, 0)
        if tokens:
            self._of[row] = tokens
        else:
            self._of.pop(row, None)

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_TURN * len(self._of)


_BY_ROW = KeptConversation._fields[2:]


def talk_then(now: KeptConversation, rows: Rows, others: Mapping[int, Memory], worded: Rows) -> KeptConversation:
    """What `ConversationIndex.of_kept` makes the talk of.

    `rows`: by row of the past the one of today, NONE where there is none. `others`: the records of the rows that do not stand as
    today; of these the `worded` have the same words, so that their traits are known too.
    """
    speakers, sessions = ({name: at for at, name in enumerate(names)} for names in (now.speakers, now.sessions))
    then = now._replace(**{name: getattr(now, name)[rows] for name in _BY_ROW})
    changed = np.array(list(others), dtype=np.int64)
    unread = np.setdiff1d(changed, worded)
    then.traits[unread] = then.known[unread] = 0
    then.member[changed], then.session[changed] = False, NONE
    said = [(row, one, place_of(one)) for row, one in others.items() if has_text(one)]
    rows_said = [row for row, _, _ in said]
    then.member[rows_said] = True
    then.role[rows_said] = [role_of(one) for _, one, _ in said]
    then.speaker[rows_said] = [speakers.setdefault(speaker_of(one), len(speakers)) for _, one, _ in said]
    then.session[rows_said] = [NONE if at is None else sessions.setdefault(at, len(sessions)) for _, _, at in said]
    return then._replace(speakers=list(speakers), sessions=list(sessions))
