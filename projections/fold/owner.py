"""Folding one owner's events: records, change log and chain. Pure; needs no store.

`fold_owner` takes any iterable of events under any parameters: the live fold, a rebuild, an as-of answer and a replay
without one event are all this one function. `evolve` applies one event to the memories it is about (memory.md, sections 2 to 6).

Events fold in log order. An event about an unknown, purged or merged-away memory changes nothing and is noted as ignored.
The handlers are in the modules of this room: `life`, `use`, `links`, `trust`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from engramlog_server.events import catalogue
from engramlog_server.events.catalogue import (
    EventData,
    EventDiscarded,
    FactAsserted,
    MemoriesAccessed,
    MemoriesRevealed,
    MemoryCompressed,
    MemoryCreated,
    MemoryMerged,
    MemoryRevised,
    ParametersChanged,
    ProfileChosen,
    SourceBroughtBack,
    SourceSetAside,
    SynonymDefined,
    TurnsExtracted,
)
from engramlog_server.events.envelope import Event, Stored, decode, micros
from engramlog_server.events.parameters import DEFAULTS, Parameters, ParameterValue, changed
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.standing import PROMOTION
from engramlog_server.events.trust import ASSERTED, lowest
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.checks import EVERY, Check, unchecked
from engramlog_server.projections.fold import life, links, trust
from engramlog_server.projections.fold.changelog import FIRST_LINK, Entry, link, make_entry
from engramlog_server.projections.fold.trust import any_waits, bounded, facts_of
from engramlog_server.projections.fold.working_set import (
    OWNER,
    UNKNOWN,
    Note,
    OwnerSettings,
    WorkingSet,
    names,
    trouble_with,
)
from engramlog_server.projections.language.sensitivity.level import level_of_data, told_by_triple, words_in
from engramlog_server.projections.language.sensitivity.personal import tells_of_money
from engramlog_server.projections.language.synonyms import paired, with_pair
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.memory.record import NOBODY, Asides, Memory, NamedSource, brought_back, set_aside
from engramlog_server.projections.memory.rejection import Rejections

PROJECTION_VERSION = 11
"""Raise it when evolve, an upcaster or a parameter set changes what an old log folds into: a rebuild follows."""

AnyEvent = Event[EventData]


class ReadTurns(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What extraction has read of an owner."""

    up_to: str = ""
    """Id of the last turn that was read; empty before the first."""
    applied: int = 0
    """How many events were applied when that was decided."""
    before: int = 0
    """The same of the mark before it: turns that were recorded while a mark was made come after this."""
    turns: int = 0
    """How many were read in all."""
    took: tuple[tuple[str, int, int, int], ...] = ()
    """(Who read, requests, input tokens, output tokens), ascending; rules take none."""


class OwnerState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is kept of an owner besides its memories; its bytes are the token by which views are validated."""

    seq: int = 0
    """Seq of the last applied event."""
    applied: int = 0
    """How many events were applied: the owner's version."""
    entries: int = 0
    chain: bytes = FIRST_LINK
    profile: str = "weighted"
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    pack: int = 0
    """Name of the newest pack of the change log, the tail's too: the number of its first event; 0 for none."""
    synonyms: tuple[tuple[str, str, float], ...] = ()
    """The owner's own: at most 256 pairs, and 64 that are no synonyms here."""
    read: ReadTurns = ReadTurns()
    """How far its turns were read, and what that took."""
    rejections: Rejections = ()
    """Values that a person rejected or readmitted, by digest, ascending."""
    asides: Asides = ()
    """Sources that a person set aside or brought back."""
    waiting: int = 0
    """How many things wait for a person, what is withheld meanwhile too."""

    @property
    def settings(self) -> OwnerSettings:
        """Profile, parameters, synonyms, rejected values and sources set aside as `evolve` takes them."""
        if self.profile == "weighted" and not (self.parameters or self.synonyms or self.rejections or self.asides):
            return _UNCHANGED
        return OwnerSettings(self.profile, self.parameters, self.synonyms, self.rejections, self.asides)


_UNCHANGED = OwnerSettings()
_ENCODE = msgspec.msgpack.Encoder()
_DECODE = msgspec.msgpack.Decoder(OwnerState)
_SYNONYMS = OwnerState.__struct_fields__.index("synonyms")


def encode_owner(state: OwnerState, seal: Callable[[bytes], bytes] | None = None) -> bytes:
    """Canonical bytes: the owner's token. `seal`: what seals the only words in it, the synonyms."""
    raw = _ENCODE.encode(state)
    if seal is None or not state.synonyms:
        return raw
    told = msgspec.msgpack.decode(raw)
    told[_SYNONYMS] = seal(_ENCODE.encode(state.synonyms))
    return _ENCODE.encode(told)


def decode_owner(raw: bytes, unseal: Callable[[bytes], bytes] | None = None) -> OwnerState:
    """The state in its bytes. `unseal`: what opens sealed synonyms; without it they are left out."""
    try:
        return _DECODE.decode(raw)
    except msgspec.ValidationError:
        told = msgspec.msgpack.decode(raw)
        if not (isinstance(told, list) and len(told) > _SYNONYMS and isinstance(told[_SYNONYMS], bytes)):
            raise
        opened = () if unseal is None else msgspec.msgpack.decode(unseal(told[_SYNONYMS]))
        told[_SYNONYMS] = opened
        return _DECODE.decode(_ENCODE.encode(told))


class FoldStep(msgspec.Struct, frozen=True, gc=False):
    """What one event did: the owner after it, the memories it changed, its change-log entries."""

    owner: OwnerState
    changed: dict[str, Memory]
    entries: list[Entry]
    notes: list[Note]
    """Of which the entries were made, one each."""


def fold_event(
    owner: OwnerState,
    memories: Mapping[str, Memory],
    event: AnyEvent,
    stored: Stored,
    base: Parameters = DEFAULTS,
    drops: bool = True,
    secret: bytes = b"",
) -> FoldStep:
    """One event on one owner. Total for every decodable event; `memories` as `evolve` asks.

    `drops`: whether what an EventDiscarded names is parked, which only whoever folds the partition knows. `secret`: the owner's,
    which keys the hashes of contents; where it is empty there are none.
    """
    seq, raw_id = stored.seq, stored.raw_id
    if drops or type(event.data) is not EventDiscarded:
        told = facts_of(stored, event)
        change = evolve(owner.settings, memories, event, seq, base, *told, owner.waiting)
    else:
        change = nothing_parked(owner.settings, event, owner.waiting)
    settings, chain, entries = change.settings, owner.chain, []
    if change.notes:
        parameters = parameters_of(settings, base)
        for note in change.notes:
            entry = make_entry(note, seq, raw_id, change.at, event.type, parameters, secret)
            chain = link(chain, entry)
            entries.append(entry)
    after = OwnerState(
        seq,
        owner.applied + 1,
        owner.entries + len(entries),
        chain,
        settings.profile,
        settings.parameters,
        owner.pack,
        settings.synonyms,
        _read(owner, event.data) if type(event.data) is TurnsExtracted else owner.read,
        settings.rejections,
        settings.asides,
        change.waiting,
    )
    return FoldStep(after, change.memories, entries, change.notes)


def _read(owner: OwnerState, data: TurnsExtracted) -> ReadTurns:
    """After turns were read: a mark that comes twice counts once, for it is one event."""
    took = {name: numbers for name, *numbers in owner.read.took}
    before = took.get(data.by, [0, 0, 0])
    now = (data.requests, data.input_tokens, data.output_tokens)
    took[data.by] = [a + b for a, b in zip(before, now, strict=True)]
    listed = tuple((name, *numbers) for name, numbers in sorted(took.items()))
    return ReadTurns(data.up_to, owner.applied + 1, owner.read.applied, owner.read.turns + data.turns, listed)  # type: ignore[arg-type]


Drops = Callable[[Stored, AnyEvent], bool]
"""Whether what an event discards, if it does, is parked."""


def dropping(held: Callable[[str], bool]) -> Drops:
    """Finds that for an owner's events from the first on, in the order in which they were applied. `held`: as `fold_owner` asks."""
    over = set[int]()

    def drops(one: Stored, event: AnyEvent) -> bool:
        over.add(one.seq)
        if type(event.data) is not EventDiscarded:
            return True
        seq = parse_position(event.data.position)[1]
        dropped = seq < one.seq and seq not in over and held(event.data.position)
        over.update({seq} if dropped else ())
        return dropped

    return drops


class OwnerHistory(NamedTuple):
    """An owner folded from its events: the answer to "what was it, then"."""

    owner: OwnerState
    memories: Mapping[str, Memory]
    entries: list[Entry]
    newest: int
    """Newest `occurred_at` among the events folded, microseconds; 0 for none."""


def fold_owner(
    stored: Iterable[Stored],
    *,
    base: Parameters = DEFAULTS,
    keep: Callable[[Stored, AnyEvent], bool] = lambda _stored, _event: True,
    check: Check = unchecked,
    total: int = 0,
    held: Callable[[str], bool] = lambda _: True,
    secret: bytes = b"",
) -> OwnerHistory:
    """All of an owner's events in the order in which they were applied, those that `keep` lets through.

    `held`: whether a position is that of one of the owner's events; asked of what is discarded. What is held and was not
    applied by then was parked.

    `secret`: the owner's; empty where nobody asks for hashes of contents: then there are none.
    `check` is asked between events whether to go on, and told how many of `total` are folded.
    Raises UndecodableEvent as `decode` does, and what `check` raises.
    """
    drops = dropping(held)
    memories, entries, newest = dict[str, Memory](), list[Entry](), None
    owner = OwnerState()
    for event, step in fold_on(
        owner, memories, stored, drops, base=base, keep=keep, check=check, total=total, secret=secret
    ):
        owner = step.owner
        entries.extend(step.entries)
        at = micros(event.occurred_at)
        newest = at if newest is None else max(newest, at)
    return OwnerHistory(owner, memories, entries, newest or 0)


def fold_on(
    owner: OwnerState,
    memories: MutableMapping[str, Memory],
    stored: Iterable[Stored],
    drops: Drops,
    *,
    base: Parameters = DEFAULTS,
    keep: Callable[[Stored, AnyEvent], bool] = lambda _stored, _event: True,
    check: Check = unchecked,
    total: int = 0,
    secret: bytes = b"",
) -> Iterator[tuple[AnyEvent, FoldStep]]:
    """The steps of `fold_owner` from an owner's state and memories on, which are brought forward.

    `drops`: of each event, whether `keep` lets it through or not: see `fold_event`.
    """
    for number, one in enumerate(stored):
        if not number % EVERY:
            check(number, total)
        event = decode(one.kind, one.body)
        dropped = drops(one, event)
        if not keep(one, event):
            continue
        step = fold_event(owner, memories, event, one, base, dropped, secret)
        owner = step.owner
        memories.update(step.changed)
        yield event, step


class ChangeWeights(NamedTuple):
    """What a law read at a change: unclipped weights, rounded to 6 decimals, and the factors of the one after."""

    old: float | None = None
    """None where there was no memory before."""
    new: float | None = None
    factors: dict[str, float] | None = None


NO_WEIGHTS = ChangeWeights()
"""Of a change that is about no memory."""


def weights_of(law: Law, before: Memory | None, after: Memory | None, at: int, parameters: Parameters) -> ChangeWeights:
    """Both weights at one instant: that of the event, or of the newest that the memory had met, where it came late."""
    if after is None:
        return NO_WEIGHTS
    instant = at if before is None else max(at, before.stamp)
    found = law.read(after, instant, parameters)
    new = round(found.unclipped, 6)
    old = None
    if before is not None:
        old = new if before is after else round(law.read(before, instant, parameters).unclipped, 6)
    return ChangeWeights(old, new, {name: round(value, 6) for name, value in found.factors.items()})


class LawReader:
    """Reads the wanted changes while a fold passes; it holds no more than these."""

    def __init__(self, law: Law, wanted: Collection[tuple[int, str]]) -> None:
        """`wanted`: seqs with ids of memories."""
        self._law, self._wanted = law, frozenset(wanted)
        self._seqs = frozenset(seq for seq, _ in self._wanted)
        self.found: dict[tuple[int, str], ChangeWeights] = {}

    def took(self, step: FoldStep) -> None:
        """After each event."""
        seq = step.owner.seq
        if seq not in self._seqs:
            return
        parameters = parameters_of(step.owner.settings)
        for note, entry in zip(step.notes, step.entries, strict=True):
            key = seq, note.memory_id
            if key in self._wanted:
                self.found[key] = weights_of(self._law, note.before, note.after, entry.at, parameters)


def source_of(data: SourceSetAside | SourceBroughtBack) -> NamedSource:
    """The source that an event names."""
    return NamedSource(data.session, data.principal, data.actor)


def put_aside(working: WorkingSet, data: SourceSetAside, _event: Event[Any]) -> None:
    """From here on what it said, and says, is withheld."""
    if source_of(data) == NOBODY:
        working.ignore(OWNER, "it names no source")
        return
    try:
        after = set_aside(working.settings.asides, source_of(data), working.at, working.seq)
    except ValueError as full:
        working.ignore(OWNER, str(full))
        return
    _settle(working, after, "set_aside", "what a source says is withheld")


def bring_back(working: WorkingSet, data: SourceBroughtBack, _event: Event[Any]) -> None:
    """From here on what it said counts again."""
    try:
        after = brought_back(working.settings.asides, source_of(data), working.at, working.seq)
    except ValueError as full:
        working.ignore(OWNER, str(full))
        return
    _settle(working, after, "bring_back", "what a source says counts again")


def _settle(working: WorkingSet, after: Asides, decision: str, reason: str) -> None:
    if after == working.settings.asides:
        working.ignore(OWNER, "something newer is known of that source")
        return
    working.settings = working.settings._replace(asides=after)
    working.notes.append(Note(OWNER, decision, reason, None, None, ("asides",)))


def choose_profile(working: WorkingSet, data: ProfileChosen, _event: Event[Any]) -> None:
    working.settings = working.settings._replace(profile=data.profile)
    working.notes.append(Note(OWNER, "profile", "the owner's profile from here on", None, None, ("profile",)))


def change_parameters(working: WorkingSet, data: ParametersChanged, _event: Event[Any]) -> None:
    told, reason = data.parameters, "the owner's parameters from here on"
    if working.actor != "operator" and not PROMOTION.isdisjoint(told):  # refused today, but an old log may hold them
        told = {name: value for name, value in told.items() if name not in PROMOTION}
        reason += ", but for those of promotion: only an operator changes these"
    values = dict(working.settings.parameters) | told
    working.settings = working.settings._replace(parameters=tuple(sorted(values.items())))
    working.notes.append(Note(OWNER, "parameters", reason, None, None, tuple(sorted(told))))


def define_synonym(working: WorkingSet, data: SynonymDefined, _event: Event[Any]) -> None:
    pair = paired(data.keyword, data.synonym, data.similarity)
    pairs = "there are no two different words" if pair is None else with_pair(working.settings.synonyms, pair)
    if isinstance(pairs, str):
        working.ignore(OWNER, pairs)
        return
    working.settings = working.settings._replace(synonyms=pairs)
    reason = "two words are alike" if data.similarity else "two words are no synonyms"
    working.notes.append(
        Note(OWNER, "synonym", f"{reason} in the owner's searches from here on", None, None, ("synonyms",))
    )


def read_turns(working: WorkingSet, data: TurnsExtracted, _event: Event[Any]) -> None:
    working.notes.append(Note(OWNER, "read", f"{data.turns} turns were read by {data.by}", None, None, ("read",)))


def reveal(working: WorkingSet, data: MemoriesRevealed, _event: Event[Any]) -> None:
    """Noted for whatever became of the memory since, and no counter moves: to look at a secret is not to use it."""
    for memory_id in data.memory_ids:
        if working.get(memory_id) is None:
            working.ignore(memory_id, UNKNOWN)
        else:
            working.mark(memory_id, "reveal", f"its text was asked for: {data.by}, {data.face}")


def discard(working: WorkingSet, data: EventDiscarded, _event: Event[Any]) -> None:
    reason = f"{data.position} was parked and is dropped, by {working.actor}"
    working.notes.append(Note(OWNER, "discard", reason, None, None, ()))


Handler = Callable[[WorkingSet, Any, Event[Any]], None]


class EventEffect(msgspec.Struct, frozen=True, gc=False):
    """What an event changed: memories by id, the owner's settings, and the notes for the change log."""

    memories: dict[str, Memory]
    settings: OwnerSettings
    notes: list[Note]
    at: int
    """When the event happened, microseconds since 1970."""
    waiting: int = 0
    """How many things of the owner wait for a person now."""


def nothing_parked(settings: OwnerSettings, event: Event[EventData], waiting: int = 0) -> EventEffect:
    """An EventDiscarded that names what is not parked, or is not this owner's: nothing is dropped."""
    note = Note(OWNER, "ignored", "nothing is parked there", None, None, ())
    return EventEffect({}, settings, [note], micros(event.occurred_at), waiting)


_WORDED = frozenset({MemoryCreated, MemoryRevised, MemoryCompressed, MemoryMerged, FactAsserted})
"""Events whose words become a memory's."""
HANDLERS: Mapping[type, Handler] = {
    catalogue.MemoryCreated: life.create,
    catalogue.MemoryMentioned: life.mention,
    catalogue.MemoriesAccessed: life.access,
    catalogue.MemoryReinforced: life.reinforce,
    catalogue.MemoryRevised: life.revise,
    catalogue.MemoryCompressed: life.compress,
    catalogue.MemoryPromoted: life.promote,
    catalogue.MemoryKept: life.keep,
    catalogue.MemoryDeleted: life.delete,
    catalogue.MemoryRestored: life.restore,
    catalogue.MemoryPurged: life.purge,
    catalogue.MemoryErased: life.erase,
    catalogue.ReviewGraded: life.grade,
    catalogue.MemoryNegated: links.negate,
    catalogue.MemoriesLinked: links.link,
    catalogue.FactAsserted: links.assert_fact,
    catalogue.FactRetracted: links.retract_fact,
    catalogue.MemoryMerged: life.merge,
    catalogue.MemoryUnmerged: life.unmerge,
    catalogue.ProfileChosen: choose_profile,
    catalogue.ParametersChanged: change_parameters,
    catalogue.SynonymDefined: define_synonym,
    catalogue.TurnsExtracted: read_turns,
    catalogue.SensitivitySet: trust.set_by_hand,
    catalogue.EventDiscarded: discard,
    catalogue.MemoriesRevealed: reveal,
    catalogue.GroundChanged: links.ground_changed,
    catalogue.SensitivityRaised: trust.raise_by_rules,
    catalogue.ValueRejected: trust.reject,
    catalogue.ValueReadmitted: trust.readmit,
    catalogue.SourceSetAside: put_aside,
    catalogue.SourceBroughtBack: bring_back,
    catalogue.ReviewSettled: trust.settle,
}
"""Turns and tool results change nothing and have no handler."""


def parameters_of(settings: OwnerSettings, base: Parameters = DEFAULTS) -> Parameters:
    """The parameters in force under an owner's settings."""
    return _changed(base, settings.parameters) if settings.parameters else base


@lru_cache(maxsize=4096)
def _changed(base: Parameters, values: tuple[tuple[str, ParameterValue], ...]) -> Parameters:
    return changed(base, dict(values))


def evolve(
    settings: OwnerSettings,
    memories: Mapping[str, Memory],
    event: Event[EventData],
    seq: int,
    base: Parameters = DEFAULTS,
    level: int | None = None,
    stated: tuple[bytes, ...] = (),
    by: str = "",
    trust: Trust | None = None,
    waiting: int = 0,
) -> EventEffect:
    """The event's effect on one owner. `memories` must hold what `reach` asks for, where it exists.

    `level`: how sensitive the entry says that the event's words are; None where it does not, and they are judged here.
    `stated`: digests of what it states, as the entry tells them. `by`: who brought it, as `Author.by`. `trust`: how far its word
    goes, where the entry tells that. `waiting`: how many things of the owner wait for a person before it.
    """
    parameters, at = parameters_of(settings, base), micros(event.occurred_at)
    reaches = ASSERTED if trust is None and event.trust is None else lowest(trust, event.trust)
    level = _with_money(level, event.data, parameters.finance_sensitivity)
    working = WorkingSet(
        memories, settings, parameters, at, seq, event.actor, level, stated, by, event.session_id, reaches
    )
    data = event.data
    handler = HANDLERS.get(type(data))
    if handler is not None:
        handler(working, data, event)
    if type(data) is not MemoriesAccessed:
        if waiting or working.settings is not settings or any_waits(working.changed):
            waiting = bounded(working, settings, data, waiting)
        _note_the_named(working, data)
    return EventEffect(working.changed, working.settings, working.notes, working.at, waiting)


def _with_money(level: int | None, data: EventData, least: int) -> int | None:
    """The level of the event's words, at least `least` where they become a memory's and tell of money; 0: as rules find it."""
    if not least or type(data) not in _WORDED or (level is not None and level >= least):
        return level
    told = [told_by_triple(data)] if isinstance(data, FactAsserted) else words_in(data)
    if not any(map(tells_of_money, told)):
        return level
    return least if level is not None else max(least, level_of_data(data))


def _note_the_named(working: WorkingSet, data: EventData) -> None:
    """One note for every memory the event names, also where it changes nothing."""
    named, notes = names(data), working.notes
    if len(notes) == 1 and len(named) == 1:
        return
    noted = {note.memory_id for note in notes}
    for memory_id in named:
        if memory_id not in noted:
            noted.add(memory_id)
            problem = trouble_with(working.get(memory_id))
            if problem:
                working.ignore(memory_id, problem)
            else:
                working.mark(memory_id, "named", f"named by {type(data).__name__}")
