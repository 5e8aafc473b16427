"""Which events of an owner are struck: those that are named, by themselves or by source, and all that was decided from them. Pure.

Of the log only ids and numbers are kept. A turn is struck with every event of its session that says it: a producer chooses ids of
turns, so one of another session under the same id is another turn. What was done for a turn goes with the turn of its session, or
when no event says a turn of that id any more. What tells what several said (a merge, a summary) goes with each of its parts; what
was read in turns goes with the last of them, unless the user said it elsewhere.

Sources are listed with figures, and with what setting one aside does to the owner's memories. Their names are those that events
give of sessions, principals, actors, models and sources. Producers choose them, so only a bounded number of different names of a
kind is held; the figures of the others are summed.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from engramlog_server.events.catalogue import (
    GroundChanged,
    MemoryCreated,
    MemoryMentioned,
    MemoryMerged,
    MemoryRevised,
    TurnRecorded,
)
from engramlog_server.events.envelope import AnyEvent, Stored, lateness, micros, model_of
from engramlog_server.events.trust import PROPOSED
from engramlog_server.projections.checks import EVERY, Check, counted, unchecked
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.memory.kind import tells_all, turn_told
from engramlog_server.projections.memory.record import Aside, Asides, Memory, NamedSource
from engramlog_server.projections.views.quoting import SetAside
from engramlog_server.projections.views.view import OwnerView

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


By = Literal["session", "principal", "actor", "model", "source"]
"""What a name is; in the plural the field of `Strikes` that takes it."""
BY: tuple[By, ...] = get_args(By)
_BY_FIELD: Mapping[str, By] = {f"{by}s": by for by in BY}


@dataclass(slots=True)
class SourceCounts:
    """One source in figures. Times are microseconds since 1970."""

    by: By
    name: str
    first_happened: int
    last_happened: int
    first_recorded: int
    last_recorded: int
    events: int = 0
    memories: int = 0
    """Of which its events were the first to tell."""
    late: int = 0

    def add(self, happened: int, recorded: int, *, made: int, late: bool) -> None:
        """One more event."""
        self.events += 1
        self.memories += made
        self.late += late
        self.first_happened = min(self.first_happened, happened)
        self.last_happened = max(self.last_happened, happened)
        self.first_recorded = min(self.first_recorded, recorded)
        self.last_recorded = max(self.last_recorded, recorded)


@dataclass(slots=True)
class SourcesGathered:
    """What an owner's events tell of their sources, taken in event by event in the order of the log."""

    by: Collection[str] = BY
    """Which of `BY` are gathered."""
    matches: Callable[[str], bool] | None = None
    """Whether a name is asked for; None: each is."""
    most: int = MOST_NAMES
    """Different names of a kind that are held: the first that are met."""
    found: dict[tuple[str, str], SourceCounts] = field(default_factory=dict)
    left_out: dict[By, int] = field(default_factory=dict)
    """Events that tell a name for which there was no room, by what the name is."""
    withheld: int = 0
    """Events that tell a name that may not be told."""
    events: int = 0
    """That count."""
    _held: dict[str, int] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)

    def take(self, one: Stored, event: AnyEvent, *, counts: bool = True, hidden: Collection[str] = ()) -> None:
        """The next event. One that does not count takes from later ones what they would be the first to tell.

        `hidden`: names of sources that may not be told of this event.
        """
        made = self._makes(event)
        if not counts:
            return
        self.events += 1
        happened, recorded = micros(event.occurred_at), one.recorded
        late, crowded, is_hidden = lateness(happened, recorded) is not None, set[By](), False
        for name_field, name in names_of(one, event):
            by = _BY_FIELD.get(name_field)
            if by is None or by not in self.by:
                continue
            if by == "source" and name in hidden:
                is_hidden = True
            elif (counted := self._counts(by, name, happened, recorded, crowded)) is not None:
                counted.add(happened, recorded, made=made, late=late)
        self.withheld += is_hidden
        for by in crowded:
            self.left_out[by] = self.left_out.get(by, 0) + 1

    def _counts(self, by: By, name: str, happened: int, recorded: int, crowded: set[By]) -> SourceCounts | None:
        known = self.found.get((by, name))
        if known is not None or (self.matches is not None and not self.matches(name)):
            return known
        if self._held.get(by, 0) >= self.most:
            crowded.add(by)
            return None
        self._held[by] = self._held.get(by, 0) + 1
        self.found[by, name] = known = SourceCounts(by, name, happened, happened, recorded, recorded)
        return known

    def _makes(self, event: AnyEvent) -> int:
        """How many memories an event is the first to tell."""
        data = event.data
        made = (
            data.memory_id if isinstance(data, MemoryCreated) else data.into if isinstance(data, MemoryMerged) else None
        )
        if made is None or made in self._made:
            return 0
        self._made.add(made)
        return 1

    def ordered(self) -> list[SourceCounts]:
        """By what happened last, the newest first; then by name, then by what the name is."""
        return sorted(self.found.values(), key=lambda one: (-one.last_happened, one.name, BY.index(one.by)))


class NamedAside(NamedTuple):
    """What is set aside of a source."""

    whole: Aside | None
    """That all of it is."""
    parts: int
    """How many stand that withhold a part of it: named together with something else, or a model's principal."""


NOT_ASIDE = NamedAside(None, 0)


def asides_by_name(asides: Asides) -> Mapping[tuple[str, str], NamedAside]:
    """What is set aside today of each source that is named in it."""
    found: dict[tuple[str, str], NamedAside] = {}
    for one in asides:
        if not one.stands:
            continue
        named = {by: name for by in ("session", "principal", "actor") if (name := getattr(one.source, by)) is not None}
        alone = len(named) == 1
        if model := model_of(named.get("principal", "")):
            named["model"] = model
        for by, name in named.items():
            whole, parts = found.get((by, name), NOT_ASIDE)
            is_whole = alone and by != "model"
            found[by, name] = NamedAside(one if is_whole else whole, parts + (not is_whole))
    return found


class SourceEffects(NamedTuple):
    """What comes from a source, and what it did to what does not. Ids, in the order in which the memories came to be."""

    withheld: tuple[str, ...]
    """Withheld while it is set aside."""
    negated: tuple[str, ...]
    """Negated by it: they stand meanwhile as if it had not."""
    revised: tuple[str, ...]
    """Put in other words by it: they tell their former ones meanwhile."""
    merged: tuple[str, ...]
    """Merged with words of it: they stand by themselves meanwhile."""
    deleted: tuple[str, ...]
    """Deleted by it: they stay so, and a person restores them."""


def effects_of(view: OwnerView, source: NamedSource, check: Check = unchecked) -> SourceEffects:
    """What setting aside this source alone does; linear in the owner's memories."""
    reading = SetAside()
    folded = [view.as_folded(one) for one in counted(view.columns, check, len(view.columns))]
    read = {one.id: one for one in reading.follow((Aside(source, 0, 0),), folded, ())}

    def which(holds: Callable[[Memory, Memory], bool]) -> tuple[str, ...]:
        return tuple(one.id for one in folded if read[one.id].aside_seq is None and holds(one, read[one.id]))

    return SourceEffects(
        tuple(one.id for one in folded if read[one.id].aside_seq is not None),
        which(lambda old, new: len(new.negations) < len(old.negations)),
        which(lambda old, new: (new.content, new.summary) != (old.content, old.summary)),
        which(lambda old, new: old.merged_into is not None and new.merged_into is None),
        which(lambda old, _: old.deleted_at is not None and source.wrote(old.deleted_by or old.author)),
    )


def withheld_by(asides: Asides, memories: Iterable[Memory]) -> dict[int, int]:
    """Position of each setting aside that stands -> how many memories it withholds; what several withhold counts for the first."""
    counts = {one.seq: 0 for one in asides if one.stands}
    for memory in memories:
        if memory.aside_seq is not None:
            counts[memory.aside_seq] = counts.get(memory.aside_seq, 0) + 1
    return counts
