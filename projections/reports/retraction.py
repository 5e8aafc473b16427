"""What follows from striking events: what a replay without them passes over, and which events undo what is struck. Pure.

What a person's event can undo: that a memory was made (it is deleted), a merge (un-merged), a deletion (restored), a restoration
(deleted again), words put in place of others (the former come back), a triple, a synonym, a law, parameters, a value or a source
that counts or does not; and all of a source at once, by setting it aside. What has no inverse is reported, and nothing claims it.

A replay asks of every event while the rest is folded: which are struck and why, what falls into nothing, what stays. It keeps
counts, first positions and one page. The log before the first struck event is read, decoded and folded once (`Beginning`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from engramlog_server.events.catalogue import (
    EventData,
    FactAsserted,
    FactRetracted,
    MemoriesAccessed,
    MemoriesLinked,
    MemoriesRevealed,
    MemoryCompressed,
    MemoryCreated,
    MemoryDeleted,
    MemoryKept,
    MemoryMerged,
    MemoryPromoted,
    MemoryPurged,
    MemoryRestored,
    MemoryRevised,
    MemoryUnmerged,
    ParametersChanged,
    ProfileChosen,
    ReviewGraded,
    SourceBroughtBack,
    SourceSetAside,
    SynonymDefined,
    TurnRecorded,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.envelope import JOB, AnyEvent, Stored, encode, from_micros
from engramlog_server.events.parameters import DEFAULTS, ParameterValue
from engramlog_server.events.partitions import position_text
from engramlog_server.events.standing import shown_in
from engramlog_server.events.vocabulary import Actor
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.decide.commands import readmission
from engramlog_server.projections.decide.deletion import SPARED
from engramlog_server.projections.fold.changelog import REASONS, id_text
from engramlog_server.projections.fold.owner import OwnerHistory, OwnerState, fold_on
from engramlog_server.projections.fold.working_set import names, trouble_with
from engramlog_server.projections.language.statements import STATEMENT_RULES, statement_field
from engramlog_server.projections.language.synonyms import synonyms_of
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.memory.record import Author, Memory, NamedSource, by_of, encode_memory
from engramlog_server.projections.memory.record import known as known_source
from engramlog_server.projections.memory.rejection import known as known_value
from engramlog_server.projections.past.folding import RecordsFold
from engramlog_server.projections.past.moments import KeptMemories
from engramlog_server.projections.reports.comparison import Difference, Side, differing
from engramlog_server.projections.reports.strikes import Because, Closure, LogGraph, Stays, turn_said
from engramlog_server.projections.shapes import EventsCounted, StaysTold, StruckEvent
from engramlog_server.projections.views.view import OwnerView

SETTINGS = (
    ProfileChosen,
    ParametersChanged,
    SynonymDefined,
    ValueRejected,
    ValueReadmitted,
    SourceSetAside,
    SourceBroughtBack,
)


class StruckChoices(NamedTuple):
    """What is struck of what the owner chose."""

    kinds: frozenset[type]
    """Types of all events that are struck."""
    values: tuple[ValueRejected | ValueReadmitted, ...]
    sources: tuple[SourceSetAside | SourceBroughtBack, ...]
    asides: tuple[NamedSource, ...]
    """Sources that are to be set aside for it: of these nothing else is said."""


Undone = tuple[str | None, EventData | str]
"""The memory that is meant, or the type of what cannot be undone; and the event that undoes it, or why there is none."""


def undone_settings(chosen: StruckChoices, state: OwnerState, wanted: OwnerState, reason: str) -> Iterator[Undone]:
    """What puts back each thing that something struck was about, where it stands otherwise in `wanted`."""
    if ProfileChosen in chosen.kinds and state.profile != wanted.profile:
        yield None, ProfileChosen(profile=cast("Any", wanted.profile))
    if ParametersChanged in chosen.kinds and (values := _parameters(state, wanted)):
        yield None, ParametersChanged(parameters=values)
    if SynonymDefined in chosen.kinds:
        yield from _of_synonyms(state, wanted)
    for told in chosen.values:
        yield from _of_value(told, state, wanted, reason)
    for one in chosen.sources:
        source = NamedSource(one.session, one.principal, one.actor)
        before, after = known_source(state.asides, source), known_source(wanted.asides, source)
        stands, stood = before is not None and before.stands, after is not None and after.stands
        if stands != stood and source not in chosen.asides:
            kind = SourceSetAside if stood else SourceBroughtBack
            yield None, kind(session=one.session, principal=one.principal, actor=one.actor, reason=reason)


def _of_synonyms(state: OwnerState, wanted: OwnerState) -> Iterator[Undone]:
    now, then = ({one[:2]: one[2] for one in told.synonyms} for told in (state, wanted))
    for pair in sorted(now.keys() | then.keys()):
        if now.get(pair) == then.get(pair):
            continue
        if pair not in then and pair[1] in synonyms_of(pair[0]):
            yield SynonymDefined.__name__, REASONS["undo_alike_to_all"]
        else:
            yield None, SynonymDefined(keyword=pair[0], synonym=pair[1], similarity=then.get(pair, 0.0))


def _of_value(
    told: ValueRejected | ValueReadmitted, state: OwnerState, wanted: OwnerState, reason: str
) -> Iterator[Undone]:
    """Values that stand otherwise without it."""
    back, out = list[str](), list[str]()
    until = None
    for value in told.values:
        now, then = (known_value(one.rejections, bytes.fromhex(value)) for one in (state, wanted))
        stands, stood = now is not None and now.stands, then is not None and then.stands
        if stands and not stood:
            back.append(value)
        elif stood and not stands:
            out.append(value)
            until = until if then is None or then.until is None else from_micros(then.until)
    if back:
        yield told.memory_id, readmission(told.memory_id, back, reason)
    if out:
        data = ValueRejected(
            values=tuple(out), rules=STATEMENT_RULES, memory_id=told.memory_id, until=until, reason=reason
        )
        yield told.memory_id, data


def _parameters(state: OwnerState, wanted: OwnerState) -> dict[str, ParameterValue]:
    """Parameters whose value is another one, with that."""
    now, then = dict(state.parameters), dict(wanted.parameters)
    values = {name: then.get(name, getattr(DEFAULTS, name, None)) for name in sorted(now.keys() | then.keys())}
    return {
        name: value
        for name, value in values.items()
        if value is not None and value != now.get(name, getattr(DEFAULTS, name, None))
    }


ACT = "act"
"""What the first event of an act is to the others: their cause."""
NOT_BY_ASIDE = (MemoryDeleted, MemoryRestored, FactRetracted, *SETTINGS)
"""What setting its source aside does not undo."""
WITHOUT_INVERSE: Mapping[str, str] = {
    "MemoryNegated": "undo_negation",
    "MemoryMentioned": "undo_count",
    "MemoriesAccessed": "undo_count",
    "MemoryReinforced": "undo_count",
    "ReviewGraded": "undo_grade",
    "MemoryUnmerged": "undo_unmerge",
    "MemoriesLinked": "undo_link",
    "MemoryCompressed": "undo_level",
    "MemoryPromoted": "undo_tier",
    "MemoryKept": "undo_kept",
    "MemoryPurged": "undo_purge",
    "MemoryErased": "undo_erased",
    "SensitivitySet": "undo_sensitivity",
    "SensitivityRaised": "undo_sensitivity",
    "GroundChanged": "undo_ground",
    "ReviewSettled": "undo_answer",
    "TurnRecorded": "undo_turn",
    "ToolResultRecorded": "undo_tool",
    "MemoriesRevealed": "undo_reveal",
    "TurnsExtracted": "undo_read",
    "EventDiscarded": "undo_dropped",
    "KeyIssued": "undo_key",
    "KeyRevoked": "undo_revocation",
    "GrantsSet": "undo_grants",
    "ReadRecorded": "undo_look",
    "OwnerErasure": "undo_erasure",
    "WordsErasure": "undo_words",
}
"""Types that no event undoes, and the code of the reason."""


class UndoStep(NamedTuple):
    """One event of an act that undoes."""

    data: EventData
    memory: str | None
    cause: str = ACT
    """The memory whose deletion led to it; or the act itself."""


class NotUndone(NamedTuple):
    """Events that no event undoes."""

    kind: str
    why: str
    events: int
    first: tuple[int, ...]
    """Seqs of the first three."""


class Undoing:
    """What is struck, taken in event by event; what undoes it, once both sides are known."""

    def __init__(self, closure: Closure, asides: tuple[NamedSource, ...]) -> None:
        """`asides`: sources that are to be set aside for it."""
        self._closure = closure
        self._asides = asides
        self._seen: dict[type, dict[str, None]] = {}
        """By type, the memories that something struck was about."""
        self._facts: list[FactAsserted | FactRetracted] = []
        self._values: list[ValueRejected | ValueReadmitted] = []
        self._sources: list[SourceSetAside | SourceBroughtBack] = []
        self._because: dict[str, Because] = {}
        """A memory that something struck makes -> why that is struck."""
        self._not: dict[tuple[str, str], list[int]] = {}

    def take(self, one: Stored, event: AnyEvent) -> None:
        """The next event that is struck."""
        data, kind = event.data, type(event.data)
        if self._asides and not isinstance(data, NOT_BY_ASIDE) and self._withheld(one, event):
            return
        self._seen.setdefault(kind, {}).update(dict.fromkeys(names(data)[:1]))
        if isinstance(data, MemoryCreated | MemoryMerged):
            made = data.memory_id if isinstance(data, MemoryCreated) else data.into
            self._because.setdefault(made, self._closure.struck[one.seq])
        elif isinstance(data, FactAsserted | FactRetracted):
            self._facts.append(data)
        elif isinstance(data, ValueRejected | ValueReadmitted):
            self._values.append(data)
        elif isinstance(data, SourceSetAside | SourceBroughtBack):
            self._sources.append(data)
        elif isinstance(data, TurnRecorded):
            if data.turn_id not in self._closure.gone:  # else its memory goes, and the turn with it
                self._cannot(kind.__name__, REASONS[WITHOUT_INVERSE[kind.__name__]], one.seq)
        elif kind.__name__ in WITHOUT_INVERSE and not self._moot(data):
            self._cannot(kind.__name__, REASONS[WITHOUT_INVERSE[kind.__name__]], one.seq)

    def _withheld(self, one: Stored, event: AnyEvent) -> bool:
        """Whether setting aside reaches it: it is of the source, or was drawn from what is."""
        author = Author(by_of(one, event.actor), event.session_id)
        drawn = self._closure.struck[one.seq].kind in ("source_turns", "merges", "summarises", "of_turn", "same_turn")
        return drawn or any(source.wrote(author) for source in self._asides)

    def _moot(self, data: Any) -> bool:
        """Whether it is about nothing but memories that go."""
        about = names(data)
        return bool(about) and all(name in self._closure.gone for name in about)

    def _cannot(self, kind: str, why: str, seq: int) -> None:
        self._not.setdefault((kind, why), []).append(seq)

    @property
    def not_undone(self) -> list[NotUndone]:
        """What no event undoes."""
        return [NotUndone(kind, why, len(seqs), tuple(seqs[:3])) for (kind, why), seqs in self._not.items()]

    def steps(
        self, now: tuple[OwnerState, Mapping[str, Memory]], then: tuple[OwnerState, Mapping[str, Memory]], reason: str
    ) -> Iterator[UndoStep]:
        """The events that undo it, in their order. `now`: the owner as it is folded; `then`: without what is struck."""
        state, memories = now
        wanted, replayed = then
        for source in self._asides:
            one = known_source(state.asides, source)
            if one is None or not one.stands:
                told = {"session": source.session, "principal": source.principal}
                actor = cast("Actor | None", source.actor)
                yield UndoStep(SourceSetAside(**told, actor=actor, reason=reason), None)
        chosen = StruckChoices(frozenset(self._seen), tuple(self._values), tuple(self._sources), self._asides)
        for about, data in undone_settings(chosen, state, wanted, reason):
            if isinstance(data, str):
                self._cannot(about or "SynonymDefined", data, 0)
            else:
                yield UndoStep(data, about)
        yield from self._unmerged(memories, reason)
        yield from self._deleted(memories, replayed, reason)
        yield from self._restored(memories, replayed, reason)
        yield from self._revised(memories, replayed)
        for fact in self._facts:
            yield from self._of_fact(fact, memories, replayed)

    def _about(self, kind: type) -> Iterator[str]:
        return iter(self._seen.get(kind, ()))

    def _unmerged(self, memories: Mapping[str, Memory], reason: str) -> Iterator[UndoStep]:
        """Merges, the newest first: what was merged again comes apart from without."""
        merges = [name for name in self._about(MemoryMerged) if name in self._closure.gone and name in memories]
        for name in sorted(merges, key=lambda one: memories[one].created_seq, reverse=True):
            memory = memories[name]
            if memory.retired_at is None and memory.deleted_at is None and memory.purged_at is None:
                yield UndoStep(MemoryUnmerged(into=name, reason=reason), name)

    def _deleted(
        self, memories: Mapping[str, Memory], replayed: Mapping[str, Memory], reason: str
    ) -> Iterator[UndoStep]:
        """What was made, in the order in which it was; what was drawn from a turn goes as that turn's."""
        created = [name for name in self._about(MemoryCreated) if name in self._closure.gone and name in memories]
        again = [name for name in self._about(MemoryRestored) if _is_deleted(replayed.get(name)) and name in memories]
        going: dict[str, None] = {}
        for name in sorted({*created, *again}, key=lambda one: memories[one].created_seq):
            memory, because = memories[name], self._because.get(name)
            if memory.deleted_at is not None or memory.purged_at is not None or self._stuck(memory):
                continue
            if memory.tier in SPARED and (because is None or because.kind != "named"):
                self._cannot("MemoryCreated", REASONS["undo_spared"], memory.created_seq)
                continue
            cause = because.of if because is not None and because.of in going else ACT
            going[name] = None
            yield UndoStep(MemoryDeleted(memory_id=name, reason=reason), name, cause)

    def _stuck(self, memory: Memory) -> bool:
        """Whether it is merged into something that stays merged."""
        return memory.merged_into is not None and memory.merged_into not in self._closure.gone

    def _restored(
        self, memories: Mapping[str, Memory], replayed: Mapping[str, Memory], reason: str
    ) -> Iterator[UndoStep]:
        for name in self._about(MemoryDeleted):
            memory, then = memories.get(name), replayed.get(name)
            if memory is None or then is None or memory.deleted_at is None or then.deleted_at is not None:
                continue
            if memory.purged_at is not None:
                self._cannot("MemoryDeleted", REASONS["undo_purged_since"], memory.changed_seq)
            elif trouble_with(memory) is None:
                yield UndoStep(MemoryRestored(memory_id=name, reason=reason), name)

    def _revised(self, memories: Mapping[str, Memory], replayed: Mapping[str, Memory]) -> Iterator[UndoStep]:
        for name in self._about(MemoryRevised):
            memory, then = memories.get(name), replayed.get(name)
            if memory is None or then is None or trouble_with(memory) or memory.deleted_at is not None:
                continue
            if _words(memory) != _words(then) and then.purged_at is None:
                data = MemoryRevised(
                    memory_id=name,
                    content=then.content,
                    summary=then.summary,
                    keywords=then.keywords,
                    tags=then.tags,
                )
                yield UndoStep(data, name)

    def _of_fact(
        self, fact: FactAsserted | FactRetracted, memories: Mapping[str, Memory], replayed: Mapping[str, Memory]
    ) -> Iterator[UndoStep]:
        """A triple that backs or does not, on the memories on which that differs."""
        adds = isinstance(fact, FactRetracted)
        evidence = tuple(
            name
            for name in fact.evidence
            if (memory := memories.get(name)) is not None
            and (then := replayed.get(name)) is not None
            and trouble_with(memory) is None
            and _backs(then, fact) is adds
            and _backs(memory, fact) is not adds
        )
        if evidence:
            kind = FactAsserted if adds else FactRetracted
            told = {
                name: getattr(fact, name)
                for name in ("subject", "predicate", "object", "negation", "degree", "condition")
            }
            yield UndoStep(kind(**told, evidence=evidence), evidence[0])


def _words(memory: Memory) -> tuple[object, ...]:
    return memory.content, memory.summary, memory.keywords, memory.tags


def _is_deleted(memory: Memory | None) -> bool:
    return memory is not None and memory.deleted_at is not None


def _backs(memory: Memory, fact: FactAsserted | FactRetracted) -> bool:
    told = (fact.subject, fact.predicate, fact.object, fact.negation)
    return any((one.subject, one.predicate, one.object, one.negation) == told for one in memory.facts)


NORMAL: Mode = "normal"


class MemoriesMoved(NamedTuple):
    """What an act does to what normal mode shows; ids, in the order in which the memories came to be."""

    go: tuple[str, ...]
    """Shown, and shown no more."""
    come_back: tuple[str, ...]
    """Shown again, or for the first time."""
    change: tuple[str, ...]
    """Stand otherwise and are shown, or not, as before."""
    otherwise: Mapping[str, int]
    """In what these stand otherwise, by the names of where a memory stands and of its record -> how many do."""

    @property
    def ids(self) -> tuple[tuple[str, ...], ...]:
        """All of them."""
        return self.go, self.come_back, self.change


def as_folded(view: OwnerView) -> KeptMemories:
    """The owner's records as their own events made them, each decoded when somebody reads it: an owner may have 100,000."""
    memories = view.columns.memories
    records = [*map(encode_memory, memories)]
    for row in view.columns.rows(view.read_otherwise).tolist():
        records[row] = encode_memory(view.as_folded(memories[row]))
    return KeptMemories.of_records(view.columns.ids, records)


def packed(history: OwnerHistory) -> OwnerHistory:
    """The same with its records encoded. `history` is used up: no more of it than one record stands twice."""
    memories = cast("dict[str, Memory]", history.memories)
    ids = list(memories)
    return history._replace(memories=KeptMemories.of_records(ids, [encode_memory(memories.pop(one)) for one in ids]))


def after(
    owner: str, state: OwnerState, memories: KeptMemories, events: Iterable[AnyEvent], seq: int, secret: bytes
) -> OwnerHistory:
    """The owner once these events are folded behind `seq`, as a person said them. `memories`: as they are folded."""
    stored = (
        Stored(
            number,
            f"{one.type}.{one.schema_version}",
            bytes.fromhex(one.event_id.replace("-", "")),
            owner,
            encode(one),
            (b"0", b"", b"", statement_field(one.data, secret), b""),
        )
        for number, one in enumerate(events, seq + 1)
    )
    found = memories.copy()
    for _, step in fold_on(state, found, stored, lambda _one, _event: True, secret=secret):
        state = step.owner
    return OwnerHistory(state, found, [], 0)


def moved_by(before: Side, done: Side, check: Check = unchecked) -> MemoriesMoved:
    """What an act does."""
    go, back, change = list[str](), list[str](), list[str]()
    otherwise = Counter[str]()
    for one in differing(before, done, NORMAL, check):
        was, is_now = one.before is not None and one.before["shown"], one.after is not None and one.after["shown"]
        (change if was == is_now else go if was else back).append(one.id)
        if was == is_now:
            otherwise.update(one.names)
    return MemoriesMoved(tuple(go), tuple(back), tuple(change), dict(otherwise.most_common()))


def remaining(done: Side, replayed: Side, check: Check = unchecked) -> Iterator[Difference]:
    """The memories that an act leaves otherwise than they would stand without what is struck.

    One that would never have been is undone where normal mode does not show it.
    """
    for one in differing(done, replayed, NORMAL, check):
        if one.after is not None or (one.before is not None and one.before["shown"]):
            yield one


FIRST = 3
"""Positions told of what is only counted."""
_BY_JOBS = (
    MemoryCompressed,
    MemoryPromoted,
    MemoryKept,
    MemoryDeleted,
    MemoryPurged,
    MemoryMerged,
    MemoriesLinked,
    ReviewGraded,
)
"""What a job, or a reviewer, decides by how memories stand: no event tells by which others."""


class StruckLog:
    """What is told of the events of one owner, each shown to `keeps` in the order of the log."""

    def __init__(
        self, closure: Closure, partition: int, offset: int, most: int, undoing: Undoing | None = None
    ) -> None:
        """`offset`, `most`: which of the struck events are told. `undoing`: takes each of them in too."""
        self._closure, self._partition, self._undoing = closure, partition, undoing
        self._page = range(offset, offset + most)
        self.struck: list[StruckEvent] = []
        """The page."""
        self.because: Counter[str] = Counter()
        """Of all that are struck."""
        self._nothing = _Counted()
        self._in_light = _Counted()
        self._touched: set[str] = set()
        """Memories that something struck was about."""

    def keeps(self, one: Stored, event: AnyEvent) -> bool:
        """Whether the event is folded."""
        because = self._closure.struck.get(one.seq)
        if because is not None:
            self._strike(one, event, because)
            return False
        if self._closure.struck:
            self._look(one, event)
        return True

    def _strike(self, one: Stored, event: AnyEvent, because: Because) -> None:
        named = names(event.data)
        self._touched.update(named)
        if sum(self.because.values()) in self._page:
            self.struck.append(
                {
                    "position": position_text(self._partition, one.seq),
                    "event_id": id_text(one.raw_id),
                    "event": event.type,
                    "memory": named[0] if named else None,
                    "because": because.kind,
                    "of": position_text(self._partition, because.seq) if because.seq else because.of,
                }
            )
        self.because[because.kind] += 1
        if self._undoing is not None:
            self._undoing.take(one, event)

    def _look(self, one: Stored, event: AnyEvent) -> None:
        """An event that is folded: does it fall into nothing, or was it decided in the light of what is struck?"""
        data, gone = event.data, self._closure.gone
        named = about(data)
        if named and gone and (any if isinstance(data, MemoriesLinked) else all)(name in gone for name in named):
            self._nothing.count(event.type, one.seq)
        elif isinstance(data, MemoriesAccessed):
            if gone and not gone.isdisjoint(shown_in(data)):
                self._in_light.count("access", one.seq)
        elif isinstance(data, TurnRecorded):
            if data.reply_to is not None and data.reply_to in self._closure.turns:
                self._in_light.count("reply", one.seq)
        elif self._decided(one, event) and not self._touched.isdisjoint(names(data)):
            self._in_light.count(event.type, one.seq)

    def _decided(self, one: Stored, event: AnyEvent) -> bool:
        """Whether a job or a reviewer decided it, by how memories stood, and no person."""
        if not isinstance(event.data, _BY_JOBS) or event.causation_id is not None:
            return False
        return event.actor in ("system", "judge") or (one.principal or "").startswith(JOB)

    @property
    def without_effect(self) -> list[EventsCounted]:
        """Events that are folded and about nothing any more, by type."""
        return self._nothing.told(self._partition)

    @property
    def in_its_light(self) -> list[EventsCounted]:
        """What others decided who saw what is struck, and what stays: replies, accesses, decisions of jobs and reviewers."""
        return self._in_light.told(self._partition)


class _Counted:
    """Events by kind: how many, and where the first are."""

    def __init__(self) -> None:
        self._many: Counter[str] = Counter()
        self._first: dict[str, list[int]] = {}

    def count(self, kind: str, seq: int) -> None:
        self._many[kind] += 1
        if self._many[kind] <= FIRST:
            self._first.setdefault(kind, []).append(seq)

    def told(self, partition: int) -> list[EventsCounted]:
        return [
            {"kind": kind, "events": many, "first": [position_text(partition, seq) for seq in self._first[kind]]}
            for kind, many in self._many.items()
        ]


def stays_told(stays: Sequence[Stays], partition: int) -> list[StaysTold]:
    """What stays, as answers tell it."""
    return [
        {
            "memory": one.memory_id,
            "position": position_text(partition, one.seq),
            "because": one.because,
            "of": position_text(partition, one.said) if one.said else one.of,
        }
        for one in stays
    ]


def about(data: Any) -> tuple[str, ...]:
    """The memories without which an event does nothing; none of one that makes a memory, or says something of the owner."""
    if isinstance(data, MemoryCreated | MemoryMerged) or turn_said(data) is not None:
        return ()
    found = _ABOUT.get(type(data))
    if found is not None:
        told = getattr(data, found)
        return (told,) if isinstance(told, str) else tuple(told)
    if isinstance(data, MemoriesAccessed):
        return shown_in(data)
    if isinstance(data, MemoriesLinked):
        return (data.a, data.b)
    if isinstance(data, ValueRejected | ValueReadmitted):
        return ()
    memory_id = getattr(data, "memory_id", None)
    return (memory_id,) if memory_id else ()


_ABOUT: Mapping[type, str] = {
    MemoryUnmerged: "into",
    FactAsserted: "evidence",
    FactRetracted: "evidence",
    MemoriesRevealed: "memory_ids",
}


MOST_TO_TELL = 1_000


class Beginning:
    """Folds until the first event is named, and keeps the few of these of which more may have to be told."""

    def __init__(self, make: Callable[[], RecordsFold]) -> None:
        """`make`: a fold of nothing."""
        self._make = make
        self.fold = make()
        self.events = 0
        """How many of the first are folded."""
        self.to_tell: list[tuple[Stored, AnyEvent]] = []
        """Those that `StruckLog.keeps` has to be shown, in their order; of the others it tells nothing."""

    def take(self, one: Stored, event: AnyEvent, graph: LogGraph) -> None:
        """The next event, which the graph took."""
        if graph.named or len(self.to_tell) > MOST_TO_TELL:
            return
        self.fold.take(one, event)
        self.events += 1
        if _may_be_told(event.data, graph):
            self.to_tell.append((one, event))

    def before(self, closure: Closure, seqs: Sequence[int]) -> Beginning:
        """This, where the fold of what is left may go on from it; else one of nothing. `seqs`: of all that was looked at."""
        fits = len(self.to_tell) <= MOST_TO_TELL and closure.struck.keys().isdisjoint(seqs[: self.events])
        return self if fits else Beginning(self._make)


def _may_be_told(data: Any, graph: LogGraph) -> bool:
    """Whether it names a memory that nothing made until then, or answers a turn that nothing said.

    What was made or said by then was so by what is not struck: it is not gone.
    """
    named = shown_in(data) if isinstance(data, MemoriesAccessed) else about(data)
    if any(name not in graph.made for name in named):
        return True
    return isinstance(data, TurnRecorded) and data.reply_to is not None and data.reply_to not in graph.said
