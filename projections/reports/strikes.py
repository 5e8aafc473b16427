"""Which events of an owner are struck: those that are named, by themselves or by source, and all that was decided from them. Pure.

Of the log ids and numbers alone are kept. A turn is struck with every event of its session that says it: a producer chooses ids of
turns, so one of another session under the same id is another turn. What was done for a turn goes with the turn of its session, or
when no event says a turn of that id any more. What tells what several said (a merge, a summary) goes with each of its parts; what
was read in turns goes with the last of them, unless the user said it elsewhere.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from engramlog_server.events.catalogue import (
    GroundChanged,
    MemoryCreated,
    MemoryMentioned,
    MemoryMerged,
    MemoryRevised,
    TurnRecorded,
)
from engramlog_server.events.entry import model_of
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.events.trust import PROPOSED
from engramlog_server.projections.checks import EVERY, Check, unchecked
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.memory.kind import tells_all, turn_told

FIELDS = ("without", "turns", "sessions", "sources", "actors", "principals", "correlations", "models")
"""What may be named, in the order in which an event is told to be struck for it."""
_FIRST_NAME = FIELDS.index("sessions")
"""From here on what an event tells by a name of its own."""

MOST_NAMES = 10_000
"""Different names of a field that are held of one owner: a producer chooses them, and may bring any number."""


class Strikes(NamedTuple):
    """What is named: an event that is any of it is struck. Each value once."""

    ids: frozenset[str] = frozenset()
    """Ids of events, in small letters."""
    seqs: frozenset[int] = frozenset()
    """Positions in the owner's partition."""
    turns: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    """What a created memory names as its source, or the URI of something that a memory rests on."""
    actors: frozenset[str] = frozenset()
    principals: frozenset[str] = frozenset()
    """Who brought it, whole: `job:extract model:qwen3:8b` is another than `job:extract`."""
    correlations: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    """Language models that decided, as the principal names them."""

    def named(self, one: Stored, event: AnyEvent) -> Iterator[tuple[str, str]]:
        """What of it an event is: (which of `FIELDS`, the value that was named)."""
        if self.seqs and one.seq in self.seqs:
            yield "without", f":{one.seq}"
        if self.ids and (name := id_text(one.raw_id)) in self.ids:
            yield "without", name
        if self.turns and (turn := turn_said(event.data)) in self.turns:
            yield "turns", str(turn)
        if any(self[_FIRST_NAME:]):
            yield from ((field, name) for field, name in names_of(one, event) if name in getattr(self, field))

    @property
    def wanted(self) -> dict[str, frozenset[str]]:
        """What must each be found somewhere, by field; actors are a closed list, of which one may have said nothing."""
        return {
            "without": self.ids | {f":{seq}" for seq in self.seqs},
            "turns": self.turns,
            "sessions": self.sessions,
            "sources": self.sources,
            "principals": self.principals,
            "correlations": self.correlations,
            "models": self.models,
        }

    @property
    def any(self) -> bool:
        """Whether anything is named at all."""
        return any(self)


def names_of(one: Stored, event: AnyEvent) -> Iterator[tuple[str, str]]:
    """Who says an event, where its words come from, and for what: (which of `FIELDS`, the name), each once, in their order."""
    if event.session_id is not None:
        yield "sessions", event.session_id
    yield from (("sources", name) for name in dict.fromkeys(sources_in(event.data)))
    yield "actors", event.actor
    principal = one.principal
    if principal:
        yield "principals", principal
    if event.correlation_id is not None:
        yield "correlations", event.correlation_id
    if principal and (model := model_of(principal)):
        yield "models", model


def turn_said(data: Any) -> str | None:
    """The turn that an event says, by its id: as it was recorded, or as the memory by which it can be found."""
    if isinstance(data, TurnRecorded):
        return data.turn_id
    return turn_told(data) if isinstance(data, MemoryCreated) else None


def sources_in(data: Any) -> tuple[str, ...]:
    """What an event names as where its words come from: the source of a created memory, URIs that a memory rests on."""
    return (data.source, *uris_in(data)) if isinstance(data, MemoryCreated) else uris_in(data)


def uris_in(data: Any) -> tuple[str, ...]:
    """URIs of what a memory rests on, as an event tells them."""
    if isinstance(data, MemoryCreated | MemoryRevised):
        return tuple(one.uri for one in data.grounds or ())
    return (data.uri,) if isinstance(data, GroundChanged) else ()


_ID = 16
_TOLD = ("sessions", "principals", "models")
"""Names that a refusal may tell: what stands beside words, and is told of each event."""
Numbers = dict[Any, "int | list[int]"]


class Because(NamedTuple):
    """Why an event is struck."""

    kind: str
    """One of `KINDS`."""
    of: str = ""
    """The turn or the memory, or what was named."""
    seq: int = 0
    """The event that is meant instead, by its place in the partition."""


KINDS = ("named", "caused", "same_turn", "of_turn", "source_turns", "merges", "summarises")
"""Named itself; caused by what is struck; says the same turn; is for a turn that is struck; was read in turns that are all struck;
merges, or summarises, what is struck."""


class Stays(NamedTuple):
    """A memory that was drawn from what is struck, and stays."""

    memory_id: str
    seq: int
    """Of the event that made it."""
    because: str
    """`other_turns`: turns that stand say it too; `said_again`: the user said it again elsewhere."""
    of: str = ""
    """The turn that stands."""
    said: int = 0
    """Seq of what the user said."""


class Closure(NamedTuple):
    """What is struck, by seq, and what stays."""

    struck: Mapping[int, Because]
    turns: frozenset[str]
    """Turns that are struck, in every session that has one of that id."""
    gone: frozenset[str]
    """Memories that nothing makes any more."""
    stays: tuple[Stays, ...]
    principals: frozenset[str] = frozenset()
    """Who brought what a language model decided that is named."""


class LogGraph:
    """What follows from what in an owner's log, taken in event by event in the order of the log."""

    def __init__(self, strikes: Strikes) -> None:
        self.strikes = strikes
        self.seqs = array("q")
        self.raw_ids = bytearray()
        self.sessions = array("q")
        """Of each event, by its place among the sessions; 0: it is of none."""
        self._session_of: dict[str | None, int] = {None: 0}
        self.named: dict[int, Because] = {}
        self.met: set[tuple[str, str]] = set()
        self.principals: set[str] = set()
        self._there: dict[str, set[str]] = {field: set() for field in _TOLD if getattr(strikes, field)}
        """All names of a field of which one is named."""
        self.caused: Numbers = {}
        """An event's id -> what it caused."""
        self.says: dict[int, str] = {}
        self.said: Numbers = {}
        """A turn -> the events that say it."""
        self.of_turn: Numbers = {}
        """A turn -> what was done for it: mentions, negations, injections, what tools found."""
        self.makes: dict[int, str] = {}
        self.made: Numbers = {}
        """A memory -> the events that make it."""
        self.drawn: Numbers = {}
        """A turn -> the creations that were read in it."""
        self.turns: dict[int, tuple[str, ...]] = {}
        """A creation -> the turns that it was read in."""
        self.whole: set[int] = set()
        """Those of these that go with each of their turns."""
        self.parts: Numbers = {}
        """A memory -> the merges and summaries of it."""
        self.merges: set[int] = set()
        self.again: Numbers = {}
        """A memory -> where the user said it again."""
        self.within: dict[int, str] = {}
        """Of these, the turn in which he did."""

    def take(self, one: Stored, event: AnyEvent) -> None:
        """The next event."""
        number, data = len(self.seqs), event.data
        self.seqs.append(one.seq)
        self.raw_ids += one.raw_id
        self.sessions.append(self._session_of.setdefault(event.session_id, len(self._session_of)))
        if self._there:
            for field, name in names_of(one, event):
                if (known := self._there.get(field)) is not None and len(known) < MOST_NAMES:
                    known.add(name)
        for field, value in self.strikes.named(one, event):
            self.met.add((field, value))
            if field == "models" and one.principal:
                self.principals.add(one.principal)
            found = Because("named", seq=one.seq) if value[0] == ":" and field == "without" else Because("named", value)
            self.named.setdefault(number, found)
        if event.causation_id is not None:
            _put(self.caused, bytes.fromhex(event.causation_id.replace("-", "")), number)
        if isinstance(data, MemoryCreated):
            self._create(number, data)
        elif isinstance(data, MemoryMerged):
            self._make(number, data.into, data.sources)
            self.merges.add(number)
        elif isinstance(data, MemoryMentioned) and _users(one, event):
            _put(self.again, data.memory_id, number)
            if data.turn_id is not None:
                self.within[number] = data.turn_id
        turn = turn_said(data)
        if turn is not None:
            self.says[number] = turn
            _put(self.said, turn, number)
        elif of := getattr(data, "turn_id", None):
            _put(self.of_turn, of, number)

    def _create(self, number: int, data: MemoryCreated) -> None:
        self._make(number, data.memory_id, data.summarises)
        if data.source_turns and turn_said(data) is None:
            self.turns[number] = data.source_turns
            for turn in data.source_turns:
                _put(self.drawn, turn, number)
            if tells_all(data):
                self.whole.add(number)

    def _make(self, number: int, memory_id: str, parts: Iterable[str]) -> None:
        self.makes[number] = memory_id
        _put(self.made, memory_id, number)
        for part in parts:
            _put(self.parts, part, number)

    @property
    def unmet(self) -> dict[str, list[str]]:
        """What was named and is nowhere, by field."""
        wanted = self.strikes.wanted.items()
        missing = {
            field: sorted(value for value in values if (field, value) not in self.met) for field, values in wanted
        }
        return {field: values for field, values in missing.items() if values}

    def there(self, field: str) -> list[str]:
        """What could have been named of sessions, principals or models, in order; nothing of other fields."""
        return sorted(self._there.get(field, ()))

    def close(self, *, alone: bool = False, check: Check = unchecked) -> Closure:
        """What is struck. `alone`: what is named, and nothing else."""
        spread = _Spread(self)
        for number, because in self.named.items():
            spread.strike(number, because)
        if not alone:
            spread.run(check)
        else:
            spread.settle()
        struck = {self.seqs[number]: spread.struck[number] for number in sorted(spread.struck)}
        stays = () if alone else tuple(spread.stays())
        return Closure(struck, frozenset(spread.turns), frozenset(spread.gone), stays, frozenset(self.principals))


class _Spread:
    """Striking what follows, until nothing more does."""

    def __init__(self, graph: LogGraph) -> None:
        self._graph = graph
        self.struck: dict[int, Because] = {}
        self.turns: set[str] = set()
        """Those that no event says any more."""
        self._of_session: set[tuple[str, int]] = set()
        """Turns that are struck, each of a session."""
        self._left: dict[str, int] = {}
        """Of a turn of which something is struck, how many events say it still, in whatever session."""
        self._parted: dict[tuple[int, str], dict[int, list[int]]] = {}
        self.gone: set[str] = set()
        self._waiting: deque[int] = deque()
        self._partly: dict[int, None] = {}
        """Creations of whose turns some are struck, in the order in which that was found."""

    def strike(self, number: int, because: Because) -> None:
        """This event is struck, unless it is already."""
        if number not in self.struck:
            self.struck[number] = because
            self._waiting.append(number)

    def run(self, check: Check) -> None:
        """Strike all that follows. A memory of which all turns are struck is looked at last: the user's word may be struck too."""
        steps = 0
        while True:
            while self._waiting:
                if not steps % EVERY:
                    check(steps, len(self._graph.seqs))
                steps += 1
                self._follow(self._waiting.popleft())
            for number in self._partly:
                if number not in self.struck and self._stands(number) is None:
                    self.strike(number, Because("source_turns", self._graph.turns[number][0]))
            if not self._waiting:
                return

    def settle(self) -> None:
        """What is gone where nothing else is struck."""
        for number in self.struck:
            self._unmade(number)
        self._waiting.clear()

    def _follow(self, number: int) -> None:
        graph, seq = self._graph, self._graph.seqs[number]
        turn, raw_id = graph.says.get(number), bytes(graph.raw_ids[number * _ID : (number + 1) * _ID])
        for effect in _all(graph.caused, raw_id):
            if turn is None or turn not in graph.turns.get(effect, ()):  # what was read in it goes by all of its turns
                self.strike(effect, Because("caused", seq=seq))
        if turn is not None:
            self._retract(turn, graph.sessions[number])
        if (memory_id := self._unmade(number)) is not None:
            for other in _all(graph.parts, memory_id):
                self.strike(other, Because("merges" if other in graph.merges else "summarises", memory_id))

    def _retract(self, turn: str, session: int) -> None:
        """An event is struck that says a turn of a session."""
        graph = self._graph
        if (turn, session) not in self._of_session:
            self._of_session.add((turn, session))
            for other in self._in_session(graph.said, turn, session):
                self.strike(other, Because("same_turn", turn))
            self._done_for(
                turn,
                self._in_session(graph.of_turn, turn, session),
                self._in_session(graph.drawn, turn, session),
            )
        if turn not in self._left:
            self._left[turn] = len(_all(graph.said, turn))
            self._partly.update(dict.fromkeys(self._of_no_session(turn)))
        self._left[turn] -= 1
        if not self._left[turn]:
            self.turns.add(turn)
            self._done_for(turn, _all(graph.of_turn, turn), _all(graph.drawn, turn))

    def _done_for(self, turn: str, of_turn: Iterable[int], drawn: Iterable[int]) -> None:
        """What was done for a turn that is struck goes with it."""
        for other in of_turn:
            self.strike(other, Because("of_turn", turn))
        for other in drawn:
            if other in self._graph.whole:
                self.strike(other, Because("summarises", turn))
            else:
                self._partly[other] = None

    def _in_session(self, numbers: Numbers, turn: str, session: int) -> Iterable[int]:
        """Those events of a turn that are of a session; looked through once a turn."""
        parted = self._parted.get((id(numbers), turn))
        if parted is None:
            parted = self._parted[id(numbers), turn] = {}
            for number in _all(numbers, turn):
                parted.setdefault(self._graph.sessions[number], []).append(number)
        return parted.get(session, ())

    def _of_no_session(self, turn: str) -> Iterable[int]:
        """What was read in a turn, by events of a session in which nobody said it: of which turn of that id nobody can say."""
        graph = self._graph
        said = {graph.sessions[number] for number in _all(graph.said, turn)}
        return (
            other for other in _all(graph.drawn, turn) if graph.sessions[other] not in said and other not in graph.whole
        )

    def _is_struck(self, turn: str | None, number: int) -> bool:
        """Whether the turn is struck that this event names."""
        return turn is not None and (turn in self.turns or (turn, self._graph.sessions[number]) in self._of_session)

    def _unmade(self, number: int) -> str | None:
        """The memory that nothing makes any more, now that this event is struck."""
        memory_id = self._graph.makes.get(number)
        if memory_id is None or any(other not in self.struck for other in _all(self._graph.made, memory_id)):
            return None
        self.gone.add(memory_id)
        return memory_id

    def _stands(self, number: int) -> Stays | None:
        """Why what was read in turns stays although some of them are struck; None where it does not."""
        graph = self._graph
        turns, memory_id, seq = graph.turns[number], graph.makes[number], graph.seqs[number]
        other = next((one for one in turns if not self._is_struck(one, number)), None)
        if other is not None:
            return Stays(memory_id, seq, "other_turns", other)
        for at in _all(graph.again, memory_id):
            turn = graph.within.get(at)
            if turn not in turns and not self._is_struck(turn, at) and at not in self.struck:
                return Stays(memory_id, seq, "said_again", said=graph.seqs[at])
        return None

    def stays(self) -> Iterable[Stays]:
        """What was drawn from what is struck, and stays."""
        for number in sorted(self._partly):
            found = None if number in self.struck else self._stands(number)
            if found is not None:
                yield found


def _users(one: Stored, event: AnyEvent) -> bool:
    """Whether it is the user who mentions it, and not a proposal that he does."""
    return event.actor == "user" and PROPOSED not in (one.trust, event.trust)


def _put(numbers: Numbers, key: object, number: int) -> None:
    """One more; a list only where there are several, for of most things there is one."""
    known = numbers.get(key)
    if known is None:
        numbers[key] = number
    elif isinstance(known, list):
        known.append(number)
    else:
        numbers[key] = [known, number]


def _all(numbers: Numbers, key: object) -> tuple[int, ...] | list[int]:
    found = numbers.get(key)
    if found is None:
        return ()
    return found if isinstance(found, list) else (found,)
