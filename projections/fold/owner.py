"""Folding one owner's events: records, change log and chain. Pure; needs no store.

`fold_owner` takes any iterable of events under any parameters: the live fold, a rebuild, an as-of answer and a replay
without one event are all this one function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from typing import NamedTuple

import msgspec

from engramlog_server.events.catalogue import EventData, EventDiscarded, TurnsExtracted
from engramlog_server.events.envelope import Event, Stored, decode, micros
from engramlog_server.events.parameters import DEFAULTS, Parameters, ParameterValue
from engramlog_server.events.partitions import parse_position
from engramlog_server.projections.checks import EVERY, Check, unchecked
from engramlog_server.projections.fold.changelog import FIRST_LINK, Entry, link, make_entry
from engramlog_server.projections.fold.evolve import evolve, nothing_parked, parameters_of
from engramlog_server.projections.fold.trust import facts_of
from engramlog_server.projections.fold.working_set import Note, OwnerSettings
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import Rejections
from engramlog_server.projections.memory.sources import Asides

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
    forced: Mapping[str, ParameterValue] | None = None,
    check: Check = unchecked,
    total: int = 0,
    held: Callable[[str], bool] = lambda _: True,
    secret: bytes = b"",
) -> OwnerHistory:
    """All of an owner's events in the order in which they were applied, those that `keep` lets through.

    `held`: whether a position is that of one of the owner's events; asked of what is discarded. What is held and was not
    applied by then was parked.

    `secret`: the owner's; empty where nobody asks for hashes of contents: then there are none.
    `forced` parameters hold at every event, whatever the owner chose: what a replay under other parameters asks.
    `check` is asked between events whether to go on, and told how many of `total` are folded.
    Raises UndecodableEvent as `decode` does, and what `check` raises.
    """
    drops = dropping(held)
    memories, entries, newest = dict[str, Memory](), list[Entry](), None
    owner = OwnerState()
    for event, step in fold_on(
        owner, memories, stored, drops, base=base, keep=keep, forced=forced, check=check, total=total, secret=secret
    ):
        owner = step.owner
        entries.extend(step.entries)
        at = micros(event.occurred_at)
        newest = at if newest is None else max(newest, at)
    return OwnerHistory(_with(owner, forced), memories, entries, newest or 0)


def fold_on(
    owner: OwnerState,
    memories: MutableMapping[str, Memory],
    stored: Iterable[Stored],
    drops: Drops,
    *,
    base: Parameters = DEFAULTS,
    keep: Callable[[Stored, AnyEvent], bool] = lambda _stored, _event: True,
    forced: Mapping[str, ParameterValue] | None = None,
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
        step = fold_event(_with(owner, forced), memories, event, one, base, dropped, secret)
        owner = step.owner
        memories.update(step.changed)
        yield event, step


def _with(owner: OwnerState, forced: Mapping[str, ParameterValue] | None) -> OwnerState:
    if not forced:
        return owner
    return msgspec.structs.replace(owner, parameters=tuple(sorted({**dict(owner.parameters), **forced}.items())))


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

    def __init__(self, law: Law, wanted: Collection[tuple[int, str]], base: Parameters = DEFAULTS) -> None:
        """`wanted`: seqs with ids of memories."""
        self._law, self._wanted, self._base = law, frozenset(wanted), base
        self._seqs = frozenset(seq for seq, _ in self._wanted)
        self.found: dict[tuple[int, str], ChangeWeights] = {}

    def took(self, step: FoldStep) -> None:
        """After each event."""
        seq = step.owner.seq
        if seq not in self._seqs:
            return
        parameters = parameters_of(step.owner.settings, self._base)
        for note, entry in zip(step.notes, step.entries, strict=True):
            key = seq, note.memory_id
            if key in self._wanted:
                self.found[key] = weights_of(self._law, note.before, note.after, entry.at, parameters)
