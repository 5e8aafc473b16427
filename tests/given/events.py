"""Given, when, then as data: `memory.given(created(), negated(day=5)).when(mentioned(day=9)).then(negated_at=None)`.

Events are built as producers build them (checked at the door, encoded, ids derived) and folded as the fold folds them.
Days are counted from `START`; unless told, an event is the user's and about the memory `m`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from engramlog_server.events.catalogue import (
    Access,
    FactAsserted,
    FactRetracted,
    Hit,
    MemoriesAccessed,
    MemoriesLinked,
    MemoryCompressed,
    MemoryCreated,
    MemoryDeleted,
    MemoryErased,
    MemoryKept,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryPromoted,
    MemoryPurged,
    MemoryReinforced,
    MemoryRestored,
    MemoryRevised,
    MemoryUnmerged,
    ParametersChanged,
    ProfileChosen,
    ReviewGraded,
    SourceBroughtBack,
    SourceSetAside,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.envelope import Event, Prepared, Stored, decode, derived_id, digest, micros, prepare
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.events.standing import firm_tier
from engramlog_server.events.validation import make_event
from engramlog_server.projections.fold.changelog import Entry, describe
from engramlog_server.projections.fold.owner import OwnerHistory, fold_owner
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES, level_of
from engramlog_server.projections.language.statements import STATEMENT_RULES, statement, statement_field
from engramlog_server.projections.memory.record import Memory

START = datetime(2024, 1, 1, 8, tzinfo=UTC)
CLOCK = micros(datetime(2199, 1, 1, tzinfo=UTC))
"""The store's clock at the door: after everything that is told."""


def moment(day: float = 0) -> datetime:
    """The date-time so many days after `START`, to the microsecond."""
    return START + timedelta(microseconds=round(day * 86_400_000_000))


def at(day: float) -> int:
    """The same in microseconds since 1970, as records hold times."""
    return micros(moment(day))


@dataclass(frozen=True)
class Told:
    """One event as a test tells it."""

    data: Any
    day: float = 0
    actor: str = "user"
    extra: dict[str, Any] = field(default_factory=dict)
    principal: str = ""
    """Who brings it; empty: nobody is named, as in format 1."""
    old: bool = False
    """Whether an earlier release took it in, which today's door might refuse."""


def of_old(told: Told) -> Told:
    """The same as a log holds it from before: past today's door."""
    return replace(told, old=True)


def secret_of(owner: str) -> bytes:
    """An owner's secret: the same in every run."""
    return sha256(owner.encode()).digest()


def stored(events: Iterable[Told], owner: str = "ada", after: int = 0) -> list[Stored]:
    """The entries of a stream with these events alone; the n-th has the same id whenever it is told."""
    return [entry(told, owner, seq) for seq, told in enumerate(events, after + 1)]


def entry(told: Told, owner: str, seq: int) -> Stored:
    """One event as the stream holds it at `seq`. An erasure passes by the door, which refuses it."""
    ready = made_ready(told, owner, CLOCK, derived_id("test", owner, str(seq)))
    beside = (b"0", (told.principal or "").encode(), b"", statement_field(told.data, secret_of(owner)), bytes(32))
    return Stored(seq, ready.kind, ready.raw_id, owner, ready.body, beside)


def made_ready(told: Told, owner: str, now: int, event_id: str) -> Prepared:
    """One event ready to append: through the door, or past it where an earlier release took it in."""
    fields: dict[str, Any] = {
        "owner": owner,
        "occurred_at": moment(told.day),
        "actor": told.actor,
        "event_id": event_id,
    }
    if told.old or isinstance(told.data, MemoryErased):
        return prepare(Event(type=type(told.data).__name__, data=told.data, **fields, **told.extra))
    return prepare(make_event(told.data, now=now, **fields, **told.extra))


def value_of(text: str, owner: str = "ada") -> str:
    """The keyed digest of what a text says, as events name it."""
    return digest(secret_of(owner), statement(text)).hex()


def rejected(*texts: str, day: float = 0, of: str | None = None, **data: Any) -> Told:
    """A person says that none of these is so."""
    values = tuple(map(value_of, texts))
    return Told(ValueRejected(values=values, rules=STATEMENT_RULES, memory_id=of, **data), day)


def readmitted(*texts: str, day: float = 0, of: str | None = None) -> Told:
    """A person says that they are so after all."""
    return Told(ValueReadmitted(values=tuple(map(value_of, texts)), rules=STATEMENT_RULES, memory_id=of), day)


def in_session(told: Told, session: str | None = "s1", principal: str = "") -> Told:
    """The same, said in a session, perhaps by somebody whose name is known."""
    return replace(told, extra={**told.extra, "session_id": session}, principal=principal or told.principal)


def set_aside(session: str | None = "s1", day: float = 0, **source: Any) -> Told:
    """A person sets a source aside."""
    return Told(SourceSetAside(session=session, **source), day)


def brought_back(session: str | None = "s1", day: float = 0, **source: Any) -> Told:
    """A person brings it back."""
    return Told(SourceBroughtBack(session=session, **source), day)


def at_door(entries: Iterable[Stored], rules: int = LEVEL_RULES) -> list[Stored]:
    """The same entries as format 2 has them: each with the level of its words, found when it was appended."""
    return [
        one._replace(beside=(b"0", b"local", b"%d:%d" % (rules, level_of(decode(one.kind, one.body))), b"", bytes(32)))
        for one in entries
    ]


def folded(*events: Told, base: Parameters = DEFAULTS) -> OwnerHistory:
    """The history that these events fold into, under ada's secret."""
    return fold_owner(stored(events), base=base, secret=secret_of("ada"))


def told(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Change-log entries as people read them, of partition 0."""
    return [describe(one, 0) for one in entries]


def differences(before: Memory, after: Memory) -> dict[str, tuple[Any, Any]]:
    """Field -> (old, new) where two records differ, but for `stamp` and `changed_seq`, which every event may move.

    What only remembers an un-merge is left out too."""
    return {
        name: (getattr(before, name), getattr(after, name))
        for name in Memory.__struct_fields__
        if name not in ("stamp", "changed_seq", "unmerged_from") and getattr(before, name) != getattr(after, name)
    }


@dataclass(frozen=True)
class Outcome:
    """What the events of `when` did."""

    before: OwnerHistory
    after: OwnerHistory

    @property
    def log(self) -> list[dict[str, Any]]:
        """The entries that they added."""
        return told(self.after.entries[len(self.before.entries) :])

    @property
    def decisions(self) -> dict[str | None, str]:
        """Memory -> decision of its last new entry; None stands for the owner."""
        return {one["memory"]: one["decision"] for one in self.log}

    def changed(self, memory_id: str = "m") -> set[str]:
        """Names of the fields that differ on a memory that was there before."""
        return set(differences(self.before.memories[memory_id], self.after.memories[memory_id]))

    def then(self, of: str = "m", **expected: Any) -> None:
        """The memory has these values now; `decision`, `reason`, `fields` are of its newest entry."""
        mine = [one for one in self.log if one["memory"] == of]
        found = {}
        for name in expected:
            if name in ("decision", "reason", "fields"):
                found[name] = mine[-1][name] if mine else None
            else:
                found[name] = self.changed(of) if name == "changed" else getattr(self.after.memories[of], name)
        assert found == expected


@dataclass(frozen=True)
class Story:
    """Events told so far."""

    events: tuple[Told, ...] = ()

    def given(self, *events: Told) -> Story:
        """What happened before."""
        return Story(self.events + events)

    def when(self, *events: Told) -> Outcome:
        """What happens now."""
        return Outcome(folded(*self.events), folded(*self.events, *events))


memory = Story()


def created(
    content: str = "I like coffee", of: str = "m", day: float = 0, actor: str | None = None, **data: Any
) -> Told:
    """A stable preference of the user, unless told otherwise; what always holds is an operator's to say, or an old log's."""
    data = {"category": "stable_preference", "kind": "preference", "source": "user"} | data
    firm = firm_tier(data.get("tier"), data["kind"]) is not None
    actor = actor or ("operator" if firm else "user")
    return Told(MemoryCreated(memory_id=of, content=content, **data), day, actor, old=firm and actor != "operator")


def mentioned(of: str = "m", day: float = 0, actor: str = "user", **data: Any) -> Told:
    return Told(MemoryMentioned(memory_id=of, **data), day, actor)


def negated(of: str = "m", day: float = 0, **data: Any) -> Told:
    return Told(MemoryNegated(memory_id=of, **data), day)


def accessed(
    *ids: str,
    day: float = 0,
    count: int = 1,
    last_day: float | None = None,
    via: str = "recall",
    together: tuple[tuple[str, ...], ...] = (),
) -> Told:
    last = moment(day if last_day is None else last_day)
    hits = tuple(Hit(memory_id=i, count=count, best_rank=rank, last_at=last) for rank, i in enumerate(ids or ("m",), 1))
    return Told(MemoriesAccessed(hits=hits, via=via, together=together), day, "system")


def shown(*ids: str, day: float = 0, via: str = "recall", **access: Any) -> Told:
    """One answer that showed these memories, recorded by itself."""
    one = Access(at=moment(day), shown=ids or ("m",), **access)
    return Told(MemoriesAccessed(accesses=(one,), via=via), day, "system")


def reinforced(of: str = "m", day: float = 0, outcome: str = "used", **data: Any) -> Told:
    return Told(MemoryReinforced(memory_id=of, outcome=outcome, **data), day, "system")


def borne_out(of: str = "m", day: float = 1, actor: str = "judge") -> list[Told]:
    """Uses from two days before on that alone lift an ordinary memory to the question of promotion, just on this day."""
    return [replace(reinforced(of, day=day + since), actor=actor) for since in (-2.0, -1.9, -1.8, -0.5, 0.0)]


def merged(*sources: str, into: str = "all", day: float = 0, summary: str = "coffee, over the years") -> Told:
    return Told(MemoryMerged(sources=sources, into=into, summary=summary), day, "system")


def unmerged(into: str = "all", day: float = 0) -> Told:
    return Told(MemoryUnmerged(into=into), day, "operator")


def revised(content: str = "I like espresso", of: str = "m", day: float = 0, **data: Any) -> Told:
    return Told(MemoryRevised(memory_id=of, content=content, **data), day)


def compressed(level: str = "tag", of: str = "m", day: float = 0, **data: Any) -> Told:
    return Told(MemoryCompressed(memory_id=of, level=level, **data), day, "system")


def promoted(to: str = "core", of: str = "m", day: float = 0, **data: Any) -> Told:
    return Told(MemoryPromoted(memory_id=of, to=to, **data), day, "judge")


def kept(of: str = "m", day: float = 0, **data: Any) -> Told:
    return Told(MemoryKept(memory_id=of, **data), day, "judge")


def deleted(of: str = "m", day: float = 0, **data: Any) -> Told:
    return Told(MemoryDeleted(memory_id=of, **data), day)


def restored(of: str = "m", day: float = 0) -> Told:
    return Told(MemoryRestored(memory_id=of), day)


def purged(of: str = "m", day: float = 0, due: float | None = None) -> Told:
    return Told(MemoryPurged(memory_id=of, due_at=moment(day if due is None else due)), day, "system")


def erased(of: str = "m", day: float = 0) -> Told:
    return Told(MemoryErased(memory_id=of, reason="asked for"), day, "operator")


def linked(a: str, b: str, day: float = 0, weight: float = 0.5, link: str = "semantic") -> Told:
    return Told(MemoriesLinked(a=a, b=b, weight=weight, link=link), day, "judge")


def in_conflict(a: str, b: str, day: float = 0) -> Told:
    return linked(a, b, day, 1.0, "possible_conflict")


def asserted(*evidence: str, day: float = 0) -> Told:
    return Told(FactAsserted(subject="Ada", predicate="likes", object="coffee", evidence=evidence), day, "judge")


def retracted(*evidence: str, day: float = 0) -> Told:
    return Told(FactRetracted(subject="Ada", predicate="likes", object="coffee", evidence=evidence), day, "judge")


def graded(of: str = "m", day: float = 0, grade: int = 4) -> Told:
    return Told(ReviewGraded(memory_id=of, grade=grade), day)


def profile(name: str, day: float = 0) -> Told:
    return Told(ProfileChosen(profile=name), day, "operator")


def parameters(day: float = 0, **values: Any) -> Told:
    return Told(ParametersChanged(parameters=values), day, "operator")
