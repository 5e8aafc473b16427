"""Associations between memories: those derived from the records, and those told (seed 004, section 5; memory.md, 10).

    weight = min(1, strongest base + boost)

Bases: overlap of keywords (`keyword`), one task (`co-task`), one project or session within a day (`temporal`), and what
`MemoriesLinked` told. Boosts come from being hit together and from use. The first three are not stored: they are a pure
function of the set of an owner's records, so that neither the order of events nor a rebuild can change them.

An edge of a derived kind holds iff each of the two is among the other's best (5) of that kind: so edges are symmetric,
and bounded on both sides. Best is the higher base, then the nearer in time; of those that tie, the nearest in the order
by (created_at, id), before and after in turn. (By smallest id alone, a hundred memories of one instant would all choose
the same few, and nearly all would have no edge.) A told edge holds while neither memory had to drop its half of it.

Which memories share most of their keywords is found by an incremental index that answers exactly.
Most entries stand on shelves by their number of words, in the order of creation; those that came later are compared one
by one, until they are so many that the shelves are made anew, which also forgets the words that nobody has any more.
The answer is the one that comparing with every memory would give.

For an overlap t, sets of k and n words must share at least t (k + n) / (1 + t), say s of them: so whoever shares s of k
words holds one of any k - s + 1, and only the postings of the rarest are read (prefix filtering, Chaudhuri et al. 2006).
What is first met in the i-th of them cannot share more than k - i. Postings are in the order of creation, and a long one
is read from the asked entry outwards: until nothing farther away could be better than what was found.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.record import HOUR, MAX_EDGES, SECRET, Edge, Memory

Entry = tuple[int, str, int]
"""created_at (microseconds), id, row: entries compare in the order in which memories came to be."""


class Timeline:
    """Entries in order. New ones wait until somebody asks: many are sorted at once, a few put in their places."""

    __slots__ = ("_late", "_ordered")

    def __init__(self, *entries: Entry) -> None:
        self._ordered: list[Entry] = []
        self._late = [*entries]

    def add(self, entry: Entry) -> None:
        """Take in an entry that is not there yet."""
        self._late.append(entry)

    def remove(self, entry: Entry) -> None:
        """Take out an entry that is there."""
        self._settle()
        del self._ordered[bisect_left(self._ordered, entry)]

    def around(self, entry: Entry, most: int) -> list[Entry]:
        """The `most` entries before one, which need not be there, and the `most` after it."""
        if self._late:
            self._settle()
        ordered = self._ordered
        before = after = bisect_left(ordered, entry)
        if after < len(ordered) and ordered[after] == entry:
            after += 1
        return ordered[max(0, before - most) : before] + ordered[after : after + most]

    def _settle(self) -> None:
        if len(self._late) * 32 < len(self._ordered):
            for entry in self._late:
                insort(self._ordered, entry)
        else:
            self._ordered += self._late
            self._ordered.sort()
        self._late = []

    def __len__(self) -> int:
        return len(self._ordered) + len(self._late)


def best_of(mine: Entry, candidates: Iterable[tuple[float, Entry]], most: int) -> dict[int, float]:
    """Base by row of the `most` best of (base, entry): the higher base, then the nearer in time.

    Of those that tie with the last of these: the nearest in order, before and after in turn, before first.
    """
    ranked = sorted((-base, abs(entry[0] - mine[0]), entry) for base, entry in candidates)
    if len(ranked) > most:
        last = ranked[most - 1][:2]
        surely = [one for one in ranked[:most] if one[:2] < last]
        tied = [one for one in ranked if one[:2] == last]
        before = [one for one in reversed(tied) if one[2] < mine]
        after = [one for one in tied if one[2] > mine]
        in_turn = [one for one in chain.from_iterable(zip_longest(before, after)) if one is not None]
        ranked = surely + in_turn[: most - len(surely)]
    return {entry[2]: -base for base, _, entry in ranked}


Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Values = npt.NDArray[np.float64]

_DEAD = -1


@lru_cache(maxsize=10_000)
def least_shared(mine: int, theirs: int, least: float) -> int:
    """How many words sets of these sizes must share to overlap by `least`; more than either has if they never do."""
    most = min(mine, theirs)
    return next((n for n in range(1, most + 1) if n / (mine + theirs - n) >= least), most + 1)


class Search:
    """One question, and the best answers so far: the larger overlap, then the nearer in time, with all that tie."""

    def __init__(self, mine: Entry, words: Sequence[int], vocabulary: int, least: float, most: int) -> None:
        self.mine = mine
        self.words = words
        self.most = most
        self.least = least
        """Overlap from which an answer can still be among the best; rises."""
        self.farthest: int | None = None
        """Once there are enough: distance in time of the worst of the best."""
        self._flags = np.zeros(vocabulary, dtype=np.uint8)
        self._flags[words] = 1
        self._best: list[tuple[float, int, Entry]] = []
        self._known: set[int] = set()

    def flags(self, words: Numbers) -> npt.NDArray[np.uint8]:
        """1 for each word that is asked for, else 0."""
        return self._flags.take(words)

    def offer(self, entries: Sequence[Entry], slots: Integers, overlaps: Values, gaps: Integers) -> None:
        """Consider some entries; each may be offered more than once."""
        if slots.size > self.most:
            kept = _among_best(overlaps, gaps, self.most)
            slots, overlaps, gaps = slots[kept], overlaps[kept], gaps[kept]
        for slot, shared, gap in zip(slots.tolist(), overlaps.tolist(), gaps.tolist(), strict=True):
            entry = entries[slot]
            if entry[2] not in self._known:
                self._known.add(entry[2])
                self._best.append((-shared, gap, entry))
        self._best.sort()
        if len(self._best) >= self.most:
            last = self._best[self.most - 1][:2]
            while self._best[-1][:2] > last:
                self._best.pop()
            self.least, self.farthest = -last[0], last[1]

    def found(self) -> list[tuple[float, Entry]]:
        """Overlap and entry of the best, and of all that tie with the last of them."""
        return [(-shared, entry) for shared, _, entry in self._best]


class KeywordPostings:
    """Entries with `size` words each, in order. It is made once; after that its entries can only die."""

    def __init__(self, size: int, entries: list[Entry], words: Numbers) -> None:
        self._size = size
        self._entries = entries
        self._words = np.ascontiguousarray(words.reshape(-1, size).T)
        self._rows = np.fromiter((entry[2] for entry in entries), dtype=np.int64, count=len(entries))
        self._times = np.fromiter((entry[0] for entry in entries), dtype=np.int64, count=len(entries))
        pairs = words.astype(np.int64) * len(entries) + np.repeat(np.arange(len(entries)), size)
        pairs.sort()
        holders = pairs // len(entries)
        self._slots = pairs - holders * len(entries)
        begins = np.flatnonzero(np.diff(holders, prepend=-1))
        self._held_words = holders[begins]
        self._begins = np.append(begins, len(pairs))

    def bury(self, entry: Entry) -> None:
        """Take out an entry that is there."""
        self._rows[bisect_left(self._entries, entry)] = _DEAD

    def reach(self, words: int) -> float:
        """The largest overlap that anything here can have with so many words."""
        return min(words, self._size) / max(words, self._size)

    def postings(self, words: Sequence[int]) -> list[Integers]:
        """For each word that somebody here has, who has it, in order; the shortest first."""
        places = np.searchsorted(self._held_words, words)
        held = [
            self._slots[self._begins[place] : self._begins[place + 1]]
            for place, word in zip(places.tolist(), words, strict=True)
            if place < self._held_words.size and self._held_words[place] == word
        ]
        held.sort(key=len)
        return held

    def read_short(self, search: Search, postings: list[Integers], long: int) -> None:
        """Offer what is alike in those of the postings that must be read and have at most `long` entries."""
        needed = len(postings) - least_shared(len(search.words), self._size, search.least) + 1
        short = [held for held in postings[: max(0, needed)] if held.size <= long]
        if short:
            slots, overlaps = self._alike(search, np.concatenate(short))
            if len(short) > 1:
                slots, first = np.unique(slots, return_index=True)
                overlaps = overlaps[first]
            self._offer(search, slots, overlaps)

    def bound(self, search: Search, postings: list[Integers], number: int) -> float:
        """The largest overlap of what is first met in the posting of this number."""
        shared = min(len(postings) - number, self._size)
        return shared / (len(search.words) + self._size - shared)

    def read_long(self, search: Search, held: Integers, bound: float, step: int) -> None:
        """Offer what is alike in a posting, from the asked entry outwards, as long as an overlap of `bound` may help.

        At first `step` on either side, then twice as many each time.
        """
        place = bisect_left(self._entries, search.mine)
        low = high = int(np.searchsorted(held, place))
        earlier = later = search.most
        while bound >= search.least and (low > 0 or high < held.size):
            piece = np.concatenate([held[max(0, low - step) : low], held[high : high + step]])
            low, high, step = max(0, low - step), min(held.size, high + step), 2 * step
            slots, overlaps = self._alike(search, piece)
            self._offer(search, slots, overlaps)
            # As many that are as alike as can be: those farther away on their side rank after them, even if they tie.
            fully = slots[overlaps == bound]
            before = int((fully < place).sum())
            earlier, later = earlier - before, later - (fully.size - before)
            if earlier <= 0 or self._too_far(search, held, low - 1, bound):
                held, low, high = held[low:], 0, high - low
            if later <= 0 or self._too_far(search, held, high, bound):
                held = held[:high]

    def _too_far(self, search: Search, held: Integers, number: int, bound: float) -> bool:
        if not 0 <= number < held.size or search.farthest is None or bound > search.least:
            return False
        return abs(int(self._times[held[number]]) - search.mine[0]) > search.farthest

    def _alike(self, search: Search, slots: Integers) -> tuple[Integers, Values]:
        """The living among the slots whose overlap may be among the best, with it; never the asked entry."""
        shared = search.flags(self._words.take(slots, axis=1)).sum(axis=0, dtype=np.int64)
        overlaps = shared / (len(search.words) + self._size - shared)
        rows = self._rows.take(slots)
        kept = (overlaps >= search.least) & (rows != _DEAD) & (rows != search.mine[2])
        return slots[kept], overlaps[kept]

    def _offer(self, search: Search, slots: Integers, overlaps: Values) -> None:
        if slots.size:
            search.offer(self._entries, slots, overlaps, np.abs(self._times.take(slots) - search.mine[0]))


class Latecomers:
    """Entries that came since the shelves were made, in order of arrival: few enough to compare with each."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._slots: dict[Entry, int] = {}
        """Of the living."""
        self._rows = array("q")
        self._times = array("q")
        self._words = array("i")
        self._begins = array("q")
        self._sizes = array("q")

    def add(self, entry: Entry, words: Sequence[int]) -> None:
        """Take in an entry with at least one word."""
        self._slots[entry] = len(self._entries)
        self._entries.append(entry)
        self._rows.append(entry[2])
        self._times.append(entry[0])
        self._begins.append(len(self._words))
        self._words.extend(words)
        self._sizes.append(len(words))

    def bury(self, entry: Entry) -> None:
        """Take out an entry that is there."""
        self._rows[self._slots.pop(entry)] = _DEAD

    def __contains__(self, entry: object) -> bool:
        return entry in self._slots

    def read(self, search: Search) -> None:
        """Offer all that are alike."""
        if not self._entries:
            return
        # Views of arrays that grow: none may outlive this call; indexing copies.
        flags = search.flags(np.frombuffer(self._words, dtype=np.int32))
        shared = np.add.reduceat(flags, np.frombuffer(self._begins, dtype=np.int64), dtype=np.int64)
        overlaps = shared / (len(search.words) + np.frombuffer(self._sizes, dtype=np.int64) - shared)
        rows = np.frombuffer(self._rows, dtype=np.int64)
        slots = np.flatnonzero((overlaps >= search.least) & (rows != _DEAD) & (rows != search.mine[2]))
        gaps = np.abs(np.frombuffer(self._times, dtype=np.int64)[slots] - search.mine[0])
        search.offer(self._entries, slots, overlaps[slots], gaps)

    def __len__(self) -> int:
        """How many came, those that are gone again too."""
        return len(self._entries)


def _among_best(overlaps: Values, gaps: Integers, most: int) -> npt.NDArray[np.bool_]:
    """Which are the `most` with the largest overlaps, of equals the smallest gaps, or tie with the last of them."""
    worst = np.partition(overlaps, -most)[-most]
    surely, tied = overlaps > worst, overlaps == worst
    wanted = most - int(surely.sum())
    widest = np.partition(gaps[tied], wanted - 1)[wanted - 1]
    kept: npt.NDArray[np.bool_] = surely | (tied & (gaps <= widest))
    return kept


class KeywordIndex:
    """Entries by their keywords, which are lower-cased, each once, as in records. Not for two threads at once.

    `late`: how many latecomers are borne with at least; `long`: the length from which postings are read piece by piece.
    Neither changes an answer.
    """

    def __init__(self, late: int = 256, long: int = 1024) -> None:
        self._borne = late
        self._long = long
        self._held: dict[Entry, tuple[str, ...]] = {}
        self._waiting: dict[Entry, tuple[str, ...]] = {}
        """Those of them that were put since somebody last asked."""
        self._late = Latecomers()
        self._shelves: dict[int, KeywordPostings] = {}
        self._shelved = self._buried = 0
        """How many entries were put on the shelves, and how many of these are gone."""
        self._vocabulary = _Vocabulary()

    def put(self, entry: Entry, keywords: tuple[str, ...]) -> None:
        """Take in an entry that is not there yet. One without keywords is like none, and is not held."""
        if keywords:
            self._held[entry] = self._waiting[entry] = keywords

    def drop(self, entry: Entry) -> None:
        """Take out an entry; one that is not there is left so."""
        keywords = self._held.pop(entry, ())
        if entry in self._waiting:
            del self._waiting[entry]
        elif entry in self._late:
            self._late.bury(entry)
        elif keywords:
            self._shelves[len(keywords)].bury(entry)
            self._buried += 1

    def alike(self, entry: Entry, least: float, most: int) -> list[tuple[float, Entry]]:
        """Overlap and entry of those that overlap with one by `least` > 0: the `most` best, and what ties with them.

        Best is the larger overlap, then the nearer in time. Empty for an entry that is not there.
        """
        keywords = self._held.get(entry)
        if keywords is None:
            return []
        self._settle()
        words = [self._vocabulary[word] for word in keywords]
        search = Search(entry, words, len(self._vocabulary), least, most)
        self._late.read(search)
        long: list[tuple[float, KeywordPostings, Integers]] = []
        for shelf in sorted(self._shelves.values(), key=lambda one: -one.reach(len(words))):
            if shelf.reach(len(words)) < search.least:
                break
            postings = shelf.postings(words)
            shelf.read_short(search, postings, self._long)
            long += [
                (shelf.bound(search, postings, number), shelf, held)
                for number, held in enumerate(postings)
                if held.size > self._long
            ]
        for bound, shelf, held in sorted(long, key=lambda one: -one[0]):
            shelf.read_long(search, held, bound, step=max(1, self._long // 32))
        return search.found()

    def _settle(self) -> None:
        """Take in those that wait."""
        late = len(self._late) + len(self._waiting)
        if late > max(self._borne, self._shelved // 64) or 2 * self._buried > max(self._borne, self._shelved):
            self._shelve()
        else:
            for entry, keywords in self._waiting.items():
                self._late.add(entry, [self._vocabulary[word] for word in keywords])
        self._waiting.clear()

    def _shelve(self) -> None:
        """Put all entries on new shelves."""
        number = self._vocabulary = _Vocabulary()
        entries: dict[int, list[Entry]] = {}
        words: dict[int, array[int]] = {}
        for entry in sorted(self._held):
            keywords = self._held[entry]
            size = len(keywords)
            if size not in entries:
                entries[size], words[size] = [], array("i")
            entries[size].append(entry)
            words[size].extend([number[word] for word in keywords])
        self._shelves = {
            size: KeywordPostings(size, entries[size], np.frombuffer(words[size], np.int32)) for size in entries
        }
        self._late = Latecomers()
        self._shelved, self._buried = len(self._held), 0


class _Vocabulary(dict[str, int]):
    """Numbers of words, given as they are first met."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


KEYWORD, CO_TASK, TEMPORAL, CO_HIT = "keyword", "co-task", "temporal", "co-hit"
DERIVED = (KEYWORD, CO_TASK, TEMPORAL)
"""Kinds that are not stored. Of equal bases the told one names the edge, then the first of these."""

_MEMO_MOST = 50_000
_BYTES_A_MEMBER, _BYTES_A_MEMO = 360, 400
"""Measured with tracemalloc at 5 keywords a memory; the records themselves are not counted."""


class Link(NamedTuple):
    """An edge to another memory: weight = min(1, base + boost), in (0, 1]; `link` names the kind of the strongest base."""

    to_row: int
    weight: float
    base: float
    boost: float
    link: str


class AssociationIndex:
    """The associations of one owner's memories, by rows of `projections.memory.columns.Columns`, found when asked for.

    Members are what is not deleted, purged, retired or merged away, and no secret. Not for use by two threads at once.
    """

    def __init__(
        self, keywords: KeywordIndex | None = None, words: Callable[[Memory], tuple[str, ...]] = attrgetter("keywords")
    ) -> None:
        """`words`: the keywords of a memory by which it is joined with others."""
        self._words = words
        self._members: dict[int, Memory] = {}
        self._rows: dict[str, int] = {}
        self._keywords = KeywordIndex() if keywords is None else keywords
        self._tasks = _Timelines()
        self._projects = _Timelines()
        self._sessions = _Timelines()
        self._pointing: dict[str, set[int]] = {}
        """By id, the rows of members whose records hold a half of an edge to it."""
        self._memo: dict[tuple[str, int], dict[int, float]] = {}
        self._memo_of: tuple[float, ...] = ()
        """The parameters that the memo holds for."""

    def put(self, row: int, memory: Memory) -> None:
        """Take in a memory, new or changed; what it was known by before goes."""
        old = self._members.get(row)
        new = memory if memory.sensitivity < SECRET and state_of(memory) == Columns.LIVE else None
        self._point(row, old, new)
        if old is not None and new is not None and _keys(old) == _keys(new):
            self._members[row] = new
            return
        if old is not None:
            self._take_out(row, old)
        if new is not None:
            self._take_in(row, new)

    def _point(self, row: int, old: Memory | None, new: Memory | None) -> None:
        """Follow which members hold halves to whom."""
        before, after = (memory.edges if memory is not None else () for memory in (old, new))
        if before is after or not (before or after):
            return
        for edge in before:
            self._pointing[edge.to].discard(row)
        for edge in after:
            self._pointing.setdefault(edge.to, set()).add(row)

    def neighbours(self, row: int, parameters: Parameters, least: float = 0.0) -> list[Link]:
        """Its edges of weight `least` and more, the strongest first, then by id; none if the row is no member.

        An edge of weight 0 is none. A larger `least` gives the same edges sooner.
        """
        memory = self._members.get(row)
        if memory is None:
            return []
        bases, boosts = self._told(memory)
        for kind in DERIVED:
            for other, base in self._best(kind, row, parameters).items():
                stronger = other not in bases or base > bases[other][0]
                if stronger and base + boosts.get(other, 0.0) >= least and row in self._best(kind, other, parameters):
                    bases[other] = (base, kind)
        links = []
        for other, (base, kind) in bases.items():
            boost = boosts.get(other, 0.0)
            if base + boost > 0 and min(1.0, base + boost) >= least:
                links.append(Link(other, min(1.0, base + boost), base, boost, kind))
        return sorted(links, key=lambda link: (-link.weight, self._members[link.to_row].id))

    def id_of(self, row: int) -> str:
        """The id of a member; KeyError if the row is none."""
        return self._members[row].id

    def bytes_used(self) -> int:
        """About how much memory this index takes, beside the records."""
        return _BYTES_A_MEMBER * len(self) + _BYTES_A_MEMO * len(self._memo)

    def __contains__(self, row: object) -> bool:
        return row in self._members

    def __len__(self) -> int:
        return len(self._members)

    def _told(self, memory: Memory) -> tuple[dict[int, tuple[float, str]], dict[int, float]]:
        """Base with its kind, and boost, by row: the smaller of both halves, or of the one there is.

        A half may be missing where an older record told its edges one way. It is no edge where it is missing because 32
        stronger ones pushed it out.
        """
        bases: dict[int, tuple[float, str]] = {}
        boosts: dict[int, float] = {}
        told = {row for edge in memory.edges if (row := self._rows.get(edge.to)) is not None}
        for other in told | self._pointing.get(memory.id, set()):
            if self._members[other].id == memory.id:
                continue
            mine, theirs = _half(memory, self._members[other].id), _half(self._members[other], memory.id)
            halves = [half for half in (mine, theirs) if half is not None]
            full = (mine is None and len(memory.edges) >= MAX_EDGES) or (
                theirs is None and len(self._members[other].edges) >= MAX_EDGES
            )
            if full:
                continue
            base, kind = min((half.base, half.link) for half in halves)
            bases[other] = (base, kind if base else CO_HIT)
            boosts[other] = min(half.boost for half in halves)
        return bases, boosts

    def _best(self, kind: str, row: int, parameters: Parameters) -> dict[int, float]:
        """Base by row of a member's best of a kind; remembered until a member's keys change."""
        memo_of: tuple[float, ...] = (
            parameters.keyword_edge_from,
            parameters.task_edge,
            parameters.temporal_edge,
            parameters.temporal_hours,
            parameters.edges_of_a_kind,
        )
        if self._memo_of != memo_of or len(self._memo) >= _MEMO_MOST:
            self._memo.clear()
            self._memo_of = memo_of
        best = self._memo.get((kind, row))
        if best is None:
            memory = self._members[row]
            mine = memory.created_at, memory.id, row
            candidates = self._candidates(kind, memory, mine, parameters)
            best = self._memo[kind, row] = best_of(mine, candidates, parameters.edges_of_a_kind)
        return best

    def _candidates(
        self, kind: str, memory: Memory, mine: Entry, parameters: Parameters
    ) -> Iterable[tuple[float, Entry]]:
        """Base and entry of all that may be among the best of a kind."""
        most = parameters.edges_of_a_kind
        if kind == KEYWORD:
            return self._keywords.alike(mine, parameters.keyword_edge_from, most)
        if kind == CO_TASK:
            return [(parameters.task_edge, other) for other in self._tasks.around(memory.task, mine, most)]
        near = {*self._projects.around(memory.project, mine, most), *self._sessions.around(memory.session, mine, most)}
        within = parameters.temporal_hours * HOUR
        return [(parameters.temporal_edge, other) for other in near if abs(other[0] - mine[0]) <= within]

    def _take_in(self, row: int, memory: Memory) -> None:
        self._memo.clear()
        self._members[row] = memory
        self._rows[memory.id] = row
        entry = memory.created_at, memory.id, row
        self._keywords.put(entry, self._words(memory))
        self._tasks.add(memory.task, entry)
        self._projects.add(memory.project, entry)
        self._sessions.add(memory.session, entry)

    def _take_out(self, row: int, memory: Memory) -> None:
        self._memo.clear()
        del self._members[row], self._rows[memory.id]
        entry = memory.created_at, memory.id, row
        self._keywords.drop(entry)
        self._tasks.remove(memory.task, entry)
        self._projects.remove(memory.project, entry)
        self._sessions.remove(memory.session, entry)


def _half(memory: Memory, to: str) -> Edge | None:
    """The half of an edge that a record holds."""
    return next((edge for edge in memory.edges if edge.to == to), None)


class _Timelines(dict[str, Timeline]):
    """Timelines by name; what has no name is on none."""

    def add(self, name: str | None, entry: Entry) -> None:
        if name is not None:
            line = self.get(name)
            if line is None:
                self[name] = Timeline(entry)
            else:
                line.add(entry)

    def remove(self, name: str | None, entry: Entry) -> None:
        if name is not None:
            self[name].remove(entry)
            if not self[name]:
                del self[name]

    def around(self, name: str | None, entry: Entry, most: int) -> list[Entry]:
        return [] if name is None else self[name].around(entry, most)


def _keys(memory: Memory) -> tuple[object, ...]:
    """All that derived edges are made from."""
    told = memory.keywords, memory.task, memory.project, memory.session
    return memory.id, memory.created_at, memory.content, memory.summary, *told
