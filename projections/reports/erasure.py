"""What goes when the words of single memories are erased: by links, and what says the same without a link. Pure.

With a memory go its versions, what was merged of it, what sums it up, and the turns that say it, with all that these say. What else
was drawn from such a turn stays: its source is erased, and it is not. With a turn that is named go its events, and the memories
that are that turn. A producer chooses ids of turns, so one of another session under the same id is another turn.

What says the same without a link is found by the digest of its statement, or by most of its words. It is shown and asked about,
never taken along: who said it, and whether it is the same, only a person can tell.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from math import log
from typing import Any, NamedTuple

import msgspec

from engramlog_server.events.catalogue import (
    EventDiscarded,
    FactAsserted,
    FactRetracted,
    MemoriesAccessed,
    MemoryCompressed,
    MemoryCreated,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    MemoryUnmerged,
    ToolResultRecorded,
    TurnRecorded,
)
from engramlog_server.events.envelope import WORDS, AnyEvent, Stored, is_wordless, read
from engramlog_server.events.partitions import parse_position
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.language.keywords import ADDED
from engramlog_server.projections.language.text import kept_tokens
from engramlog_server.projections.memory.kind import tells_all
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.reports.strikes import turn_said

Turn = tuple[str, str | None]
"""A turn by its id, and the session in which it was said."""


def turn_name(turn: str, session: str | None) -> str:
    """By what one turn is named where others have its id: `session/turn`; the session is empty where none is told."""
    return f"{session or ''}/{turn}"


def _in_order(turn: Turn) -> tuple[str, str]:
    return turn[1] or "", turn[0]


class WordedEntry(NamedTuple):
    """An entry of the log that loses its words."""

    seq: int
    raw_id: bytes
    kind: str


class Reach(NamedTuple):
    """What an erasure of memories reaches by links."""

    named: tuple[str, ...]
    """Memories that are named, and those that are a turn that is named."""
    memories: Mapping[str, str]
    """Those that go, named ones first -> why."""
    turns: Mapping[Turn, str]
    """Turns that lose their words -> why."""
    entries: tuple[WordedEntry, ...]
    """In the order of the log; those that never had words, or have none any more, are not among them."""
    siblings: tuple[str, ...]
    """Memories that were drawn from turns that go, and stay."""
    corrections: tuple[str, ...]
    """Memories that correct one that goes, or are corrected by it, and stay."""
    triples: tuple[int, ...]
    """Seqs of triples that a memory that stays backs too: they stay."""
    unread: tuple[int, ...]
    """Seqs of entries that cannot be read, so that nobody knows what they are about."""
    unknown: tuple[str, ...]
    """Named, and nothing says that there is such a memory, or such a turn."""
    several: Mapping[str, tuple[str, ...]]
    """Named, and turns of several sessions have that id: by what each of them is named alone. None of them goes."""
    broken: tuple[int, ...]
    """Of those that cannot be read the ones that nobody discarded: a fold of the owner anew stands still there."""

    @property
    def counts(self) -> dict[str, int]:
        """How many entries of each type of event go."""
        found: dict[str, int] = {}
        for one in self.entries:
            name = one.kind.partition(".")[0]
            found[name] = found.get(name, 0) + 1
        return found


class _Made(NamedTuple):
    memory_id: str
    session: str | None
    parts: tuple[str, ...]
    turns: tuple[str, ...]
    says: str | None
    whole: bool
    corrects: str | None


class _Worded(NamedTuple):
    """An event that has words."""

    entry: WordedEntry
    about: tuple[str, ...]
    all_of: bool
    """Whether it goes with the last of those that it is about, and not with the first."""
    turn: Turn | None


class OwnersLog:
    """What an owner's log tells of memories and turns, taken in event by event."""

    def __init__(self) -> None:
        self._made = list[_Made]()
        self._merges = dict[str, tuple[str, ...]]()
        """Of a merge that was told twice the sources of both: which of the two counted only the fold knows."""
        self._worded = list[_Worded]()
        self._said: dict[str, set[str | None]] = defaultdict(set)
        """A turn -> the sessions in which somebody says it."""
        self._turns = set[Turn]()
        """Those that are said, or of which a tool or a question tells."""
        self._told_in: dict[str, list[Turn]] = defaultdict(list)
        """A memory -> turns that mention or negate it."""
        self._replaced = list[tuple[str, str]]()
        self._unread = list[int]()
        self._discarded = set[int]()

    def take(self, one: Stored, event: AnyEvent | None) -> None:
        """The next entry; `event`: None where it cannot be read."""
        if event is None:
            self._unread.append(one.seq)
            return
        data, session = event.data, event.session_id
        if isinstance(data, EventDiscarded):
            self._discarded.add(parse_position(data.position)[1])
        if (said := turn_said(data)) is not None:
            self._said[said].add(session)
        turn = _turn_of(data, said, session)
        if turn is not None:
            self._turns.add(turn)
        if isinstance(data, MemoryCreated):
            turns = data.source_turns if said is None else ()
            self._made.append(
                _Made(data.memory_id, session, data.summarises, turns, said, tells_all(data), data.corrects)
            )
        elif isinstance(data, MemoryMerged):
            self._merges[data.into] = tuple(dict.fromkeys((*self._merges.get(data.into, ()), *data.sources)))
        elif isinstance(data, MemoryMentioned | MemoryNegated):
            if data.turn_id is not None:
                self._told_in[data.memory_id].append((data.turn_id, session))
            if isinstance(data, MemoryNegated) and data.replaced_by is not None:
                self._replaced.append((data.memory_id, data.replaced_by))
        if event.type in WORDS and not is_wordless(event):
            entry = WordedEntry(one.seq, one.raw_id, one.kind)
            facts = isinstance(data, FactAsserted | FactRetracted)
            self._worded.append(_Worded(entry, _about(data), facts, turn))

    def took_words(self, seqs: Collection[int]) -> None:
        """These entries have no words any more."""
        self._worded = [one for one in self._worded if one.entry.seq not in seqs]

    def reach(self, named: Iterable[str], also: Mapping[str, str]) -> Reach:
        """What goes with these memories. `also`: others that were deleted with them, and why."""
        known = {one.memory_id for one in self._made} | set(self._merges)
        roots = dict.fromkeys(named)
        meant = {one: self._turns_named(one) for one in roots if one not in known}
        chosen = [of[0] for of in meant.values() if len(of) == 1]
        going = {one: "it is named" for one in roots if one in known}
        going |= {one.memory_id: f"it is turn {one.says}" for one in self._made if (one.says, one.session) in chosen}
        ids = tuple(going)
        for one in ids:
            for source in self._below(one):
                going.setdefault(source, f"it was merged into {one}")
        turns = dict.fromkeys(chosen, "it is named") | {
            turn: f"{of} was said there" for turn, of in self._turns_of(going).items() if turn not in chosen
        }
        for one, why in also.items():
            going.setdefault(one, why)
        while self._spread(going, turns):
            pass
        stays = [one for one in self._made if one.memory_id not in going]
        siblings = (one.memory_id for one in stays if any(self._is_of(turn, one.session, turns) for turn in one.turns))
        corrections = [one.memory_id for one in stays if one.corrects in going]
        corrections += [one.corrects for one in self._made if one.memory_id in going and one.corrects]
        corrections += [one for pair in self._replaced for one in pair if going.keys() & pair]
        entries, triples = list[WordedEntry](), list[int]()
        for event in self._worded:
            if self._goes(event, going, turns):
                entries.append(event.entry)
            elif event.all_of and not going.keys().isdisjoint(event.about):
                triples.append(event.entry.seq)
        return Reach(
            ids,
            going,
            turns,
            tuple(entries),
            tuple(dict.fromkeys(siblings)),
            tuple(one for one in dict.fromkeys(corrections) if one not in going),
            tuple(triples),
            tuple(self._unread),
            tuple(one for one, of in meant.items() if not of),
            {one: tuple(turn_name(*turn) for turn in of) for one, of in meant.items() if len(of) > 1},
            tuple(one for one in self._unread if one not in self._discarded),
        )

    def _turns_named(self, name: str) -> list[Turn]:
        """The turns that are meant by a name that is no memory's: an id, or a session and an id with a stroke between."""
        there = self._all_turns()
        if found := [turn for turn in there if turn[0] == name]:
            return found
        return [turn for turn in there if turn_name(*turn) == name]

    def _all_turns(self) -> list[Turn]:
        """Every turn that any event tells of, where it is said."""
        return sorted({place for turn in self._turns for place in self._places(*turn)}, key=_in_order)

    def _below(self, merge: str) -> list[str]:
        """What was merged into a memory, however deep."""
        found, waiting = list[str](), [merge]
        while waiting:
            for source in self._merges.get(waiting.pop(), ()):
                if source not in found:
                    found.append(source)
                    waiting.append(source)
        return found

    def _turns_of(self, roots: Iterable[str]) -> dict[Turn, str]:
        """The turns that say these memories: read in them, mentioning or negating them, or being them -> which memory."""
        wanted, found = set(roots), dict[Turn, str]()
        for one in self._made:
            if one.memory_id in wanted and not one.whole:
                for name in one.turns if one.says is None else (one.says,):
                    found.setdefault((name, one.session), one.memory_id)
        for memory_id in roots:
            for turn in self._told_in.get(memory_id, ()):
                found.setdefault(turn, memory_id)
        return {place: of for turn, of in found.items() for place in self._places(*turn)}

    def _places(self, turn: str, session: str | None) -> list[Turn]:
        """Where a turn is said: in that session, or in whichever, where nobody says it there."""
        sessions = self._said.get(turn, set())
        places = {session} if session in sessions else sessions or {session}
        return sorted(((turn, one) for one in places), key=_in_order)

    def _spread(self, going: dict[str, str], turns: Mapping[Turn, str]) -> bool:
        """Have go what tells what goes; whether there was any."""
        before = len(going)
        for into, sources in self._merges.items():
            if into not in going and (source := next((one for one in sources if one in going), None)) is not None:
                going[into] = f"it was merged from {source}"
        for one in self._made:
            if one.memory_id in going:
                continue
            if one.says is not None and (one.says, one.session) in turns:
                going[one.memory_id] = f"it says turn {one.says}"
            elif (part := next((part for part in one.parts if part in going), None)) is not None:
                going[one.memory_id] = f"it sums up {part}"
            elif one.whole and (
                turn := next((turn for turn in one.turns if self._is_of(turn, one.session, turns)), None)
            ):
                going[one.memory_id] = f"it sums up turn {turn}"
        return len(going) > before

    def _is_of(self, turn: str, session: str | None, turns: Mapping[Turn, str]) -> bool:
        """Whether a turn that an event of a session names is one of those that go."""
        return any(place in turns for place in self._places(turn, session))

    def _goes(self, one: _Worded, going: Mapping[str, str], turns: Mapping[Turn, str]) -> bool:
        if one.turn is not None and self._is_of(*one.turn, turns):
            return True
        about = going.keys() & set(one.about)
        return len(about) == len(set(one.about)) > 0 if one.all_of else bool(about)


def merges_apart(going: Collection[str], get: Callable[[str], Memory | None]) -> list[str]:
    """Merges that go and hide something that stays, the outermost first: they are to come apart before."""

    def hidden(memory_id: str) -> list[str]:
        memory = get(memory_id)
        sources = map(get, () if memory is None else memory.merged_from)
        return [one.id for one in sources if one is not None and one.merged_into == memory_id]

    def is_top(memory_id: str) -> bool:
        memory = get(memory_id)  # one that somebody deleted with all its sources stays as it is
        return memory is not None and memory.deleted_at is None and memory.merged_into not in going

    found, waiting = list[str](), [one for one in going if hidden(one) and is_top(one)]
    while waiting:
        into = waiting.pop(0)
        if any(one not in going for one in _all_below(into, hidden)):
            found.append(into)
            waiting += [one for one in hidden(into) if one in going and hidden(one)]
    return found


def _all_below(into: str, hidden: Callable[[str], list[str]]) -> list[str]:
    found, waiting = list[str](), hidden(into)
    while waiting:
        found.append(waiting.pop())
        waiting += hidden(found[-1])
    return found


def _about(data: Any) -> tuple[str, ...]:
    """The memories whose words an event tells."""
    if isinstance(data, MemoryCreated):
        return (data.memory_id,)
    if isinstance(data, MemoryUnmerged):
        return (data.into,)
    return names(data)


def _turn_of(data: Any, said: str | None, session: str | None) -> Turn | None:
    """The turn whose words an event tells, or that was asked about."""
    if said is not None:
        return said, session
    if isinstance(data, ToolResultRecorded | MemoriesAccessed) and data.turn_id is not None:
        return data.turn_id, session
    return None


LEAST_SHARE, LEAST_PLAIN = 0.4, 0.6
"""Of the words of what is erased, rare ones counting more, and all alike: from either on something is told to say it too. Rather
too much is told than too little: a person decides."""
LEAST_WORDS = 2
MOST_TOLD = 100
SHOWN = 100
"""Characters of a text that are told."""
_TYPES = (MemoryCreated, MemoryRevised, TurnRecorded)
_BESIDE = (MemoriesAccessed, ToolResultRecorded, MemoryNegated, MemoryMerged, MemoryCompressed)
"""What has words beside these: what was asked, what a tool answered, corrections, and what jobs made of others' words."""


class SaidAgain(NamedTuple):
    """An event that says it too."""

    seq: int
    type: str
    of: str
    """The memory or the turn, by what it is named; empty of what was asked, or a tool answered, which cannot be named."""
    how: str
    """`statement`: it states the same; `words`: it has many of its words."""
    share: float
    """Of the words, rare ones counting more, 0 to 1; 1 for the same statement."""
    text: str | None = None
    """How it begins; None of a secret."""


_Told = tuple[Stored, AnyEvent, frozenset[str], str]


class Sayings:
    """What is to be found again: words and statements of the events that go."""

    def __init__(self, going: Iterable[tuple[Stored, AnyEvent]]) -> None:
        self._words = list[frozenset[str]]()
        self._stated = set[bytes]()
        for one, event in going:
            if isinstance(event.data, _TYPES):
                said = event.data.text if isinstance(event.data, TurnRecorded) else event.data.content
                self._words.append(frozenset(kept_tokens(ADDED.sub("", said))))
                self._stated.update(_digests(one))
        self._words = [some for some in self._words if len(some) >= LEAST_WORDS]

    def found_in(self, left: Iterable[tuple[Stored, AnyEvent]]) -> list[SaidAgain]:
        """Those of the events that stay which say it too, each memory and turn once, the likest first."""
        told, beside = list[_Told](), list[_Told]()
        for one, event in left:
            if isinstance(event.data, _TYPES):
                text = event.data.text if isinstance(event.data, TurnRecorded) else event.data.content
                told.append((one, event, frozenset(kept_tokens("\n".join(words_in(event)))), text))
            elif isinstance(event.data, _BESIDE):  # several may have asked, each by himself
                beside += [(one, event, frozenset(kept_tokens(text)), text) for text in words_in(event)]
        held = Counter(word for _, _, said, _ in told for word in said)
        weights = {word: log((len(told) + 1) / (held[word] + 0.5)) for some in self._words for word in some}
        found = list[SaidAgain]()
        for one, event, said, text in (*told, *beside):
            if not self._stated.isdisjoint(_digests(one)):
                found.append(SaidAgain(one.seq, event.type, named_of(event), "statement", 1.0, _begins(one, text)))
            elif (share := self._share(said, weights)) >= LEAST_SHARE:
                found.append(
                    SaidAgain(one.seq, event.type, named_of(event), "words", round(share, 2), _begins(one, text))
                )
        likest = {one.of or one.seq: one for one in sorted(found, key=lambda one: (one.share, -one.seq))}
        return sorted(likest.values(), key=lambda one: (-one.share, one.seq))

    def _share(self, said: frozenset[str], weights: Mapping[str, float]) -> float:
        """Of the text of which it has most."""
        found = 0.0
        for some in self._words:
            plain = len(some & said) / len(some)
            rare = _sum(some & said, weights) / _sum(some, weights)
            found = max(found, rare, plain if plain >= LEAST_PLAIN else 0.0)
        return found


def named_of(event: AnyEvent) -> str:
    """The memory or the turn that an event is about, by what it is named; empty of what was asked, or a tool answered."""
    if isinstance(event.data, TurnRecorded):
        return _of_turn(event)
    return "" if isinstance(event.data, MemoriesAccessed | ToolResultRecorded) else names(event.data)[0]


def _sum(words: Iterable[str], weights: Mapping[str, float]) -> float:
    """Every word counts for something, however often it is said."""
    return sum(max(weights[word], 0.1) for word in words)


def _begins(one: Stored, text: str) -> str | None:
    if (one.level or 0) >= SECRET:
        return None
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _of_turn(event: AnyEvent) -> str:
    return turn_name(event.data.turn_id, event.session_id) if event.session_id else event.data.turn_id


def words_in(event: AnyEvent) -> Iterator[str]:
    """Everything in an event that an erasure takes, as texts."""
    for field in WORDS.get(event.type, ()):
        yield from _texts(getattr(event.data, field))
    if event.type == "MemoriesAccessed":
        yield from (one.query for one in event.data.accesses if one.query)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, msgspec.Struct):
        yield from _texts(msgspec.structs.astuple(value))
    elif isinstance(value, dict):
        yield from (text for part in value.values() for text in _texts(part))
    elif isinstance(value, tuple | list):
        yield from (text for part in value for text in _texts(part))


def _digests(one: Stored) -> tuple[bytes, ...]:
    try:
        return read(one.beside[3]).digests if one.beside[3] else ()
    except ValueError:
        return ()
