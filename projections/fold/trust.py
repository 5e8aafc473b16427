"""What a memory states, how far it is trusted, how sensitive it is, what a person rejected, and what waits for a person. Pure.

Statements are compared by digests; a later statement of a rejected value changes nothing. A lower source never overrides a higher
one: its change waits in the inbox, up to a limit for each owner. The count of what waits follows from the records and rejections.

Rules of sensitivity were asked when an event was appended, and its entry tells what they found; where it does not, they are asked
here. A producer's figure can only raise. The one way down is `SensitivitySet`: it holds for the words that the memory has then, so
what is found in them again, or in texts made of them, does not raise it once more; other words are looked at anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from engramlog_server.events.catalogue import (
    EventData,
    MemoryCreated,
    ReviewSettled,
    SensitivityRaised,
    SensitivitySet,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.envelope import DIGEST_BYTES, Event, Stored, level_in, micros, read, trust_in
from engramlog_server.events.standing import PERSONS
from engramlog_server.events.trust import ASSERTED, IMPORTED, INFERRED, ORDER, TRUSTS, lowest, overrides
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.fold.working_set import (
    OWNER,
    PURGED,
    UNKNOWN,
    Note,
    OwnerSettings,
    WorkingSet,
    names,
    trouble_with,
)
from engramlog_server.projections.language.keywords import sentences
from engramlog_server.projections.language.sensitivity.level import highest
from engramlog_server.projections.memory.kind import is_drawn
from engramlog_server.projections.memory.record import MAX_WAITING, Memory, by_text
from engramlog_server.projections.memory.rejection import (
    REJECTED_BY,
    Rejections,
    drawn_again,
    readmitted,
    rejected,
    said_in,
    waiting_again,
)

Digests = tuple[bytes, ...]


class EntryFacts(NamedTuple):
    """What an entry tells beside its event, in the order in which `evolve` takes it."""

    level: int | None
    """How sensitive its words are, as `Stored.level`."""
    stated: Digests
    by: str
    """Who brought it, as `Author.by`."""
    trust: Trust | None
    """How far its word goes, as `Stored.trust`."""


def facts_of(stored: Stored, event: Event[Any]) -> EntryFacts:
    """All of it: `Stored.level`, `stated_in`, `by_of` and `Stored.trust`."""
    told = stored.beside
    level, by, trust = _brought(event.actor, told[1], told[2])
    return _FACTS(EntryFacts, (level, stated_in(stored), by, trust))


_FACTS = tuple.__new__
"""Half the time of calling a named tuple; every event needs one."""


@lru_cache(maxsize=1024)
def _brought(actor: str, principal: bytes, told: bytes) -> tuple[int | None, str, Trust | None]:
    """Level, who, and trust: of nearly all entries the same few."""
    return level_in(told), by_text(actor, principal), trust_in(told)


def stated_in(stored: Stored) -> Digests:
    """The digests of what an event states, 16 bytes each; none where it states nothing or nobody can tell."""
    field = stored.beside[3]
    if len(field) == 1 + DIGEST_BYTES:  # nearly all that state anything
        return (field[1:],)
    return read(field).digests if field else ()


def refusal(working: WorkingSet) -> str | None:
    """Why what the event states becomes no memory; None where it may."""
    found = working.refusing(working.at)
    return None if found is None else f"{REJECTED_BY}{found.seq}"


def raw_id(event_id: str) -> bytes:
    """An event's id as records keep it, 16 bytes."""
    return bytes.fromhex(event_id.replace("-", ""))


def say_again(working: WorkingSet, data: MemoryCreated, event: Event[Any]) -> None:
    """What is rejected was said again: it waits for a person where the user did so later, and it counts for nothing meanwhile.

    The turns that were read to say it are withheld too by whoever reads them, where they say nothing else.
    """
    found = working.refusing(working.at)
    if found is None:
        return
    after = working.settings.rejections
    own = data.source == "user" and working.trust == ASSERTED and data.imported is None
    # Of what was read the first waits: nobody here knows whose turn that is.
    if working.at > found.at and (own or (is_drawn(data) and not found.again)):
        after = waiting_again(after, found.digest, raw_id(event.event_id))
    try:
        after = drawn_again(after, found.digest, data.source_turns)
    except ValueError as full:
        working.ignore(OWNER, str(full))
    working.settings = working.settings._replace(rejections=after)


def settled_again(working: WorkingSet, event_id: bytes, verdict: str) -> bool:
    """Whether what waits by this id is that a rejected value was said again; then a person has answered, and it waits no longer."""
    found = next((one for one in working.settings.rejections if one.again == event_id), None)
    if found is None:
        return False
    after = waiting_again(working.settings.rejections, found.digest, b"")
    working.settings = working.settings._replace(rejections=after)
    working.notes.append(Note(OWNER, "settle", verdict, None, None, ("rejections",)))
    return True


def reject(working: WorkingSet, data: ValueRejected, _event: Event[Any]) -> None:
    """From here on what states these values is refused, and what states them already is withheld."""
    until = None if data.until is None else micros(data.until)
    told = _Told("reject", "what it says is rejected", "something newer is known of that value")
    turns = [bytes.fromhex(one) for one in data.turns]

    def change(known: Rejections, values: Digests) -> Rejections:
        return said_in(rejected(known, values, working.at, working.seq, until), values, turns)

    _settle(working, data, told, change)


def readmit(working: WorkingSet, data: ValueReadmitted, _event: Event[Any]) -> None:
    """From here on these values count again."""
    told = _Told("readmit", "what it says holds after all", "it was readmitted already")
    _settle(working, data, told, lambda known, values: readmitted(known, values, working.at, working.seq))


class _Told(NamedTuple):
    decision: str
    reason: str
    nothing_new: str


def _settle(
    working: WorkingSet,
    data: ValueRejected | ValueReadmitted,
    told: _Told,
    change: Callable[[Rejections, Digests], Rejections],
) -> None:
    """The owner's values change, and no record: the note of the memory that was meant tells why it is withheld."""
    memory_id = data.memory_id
    try:
        after = change(working.settings.rejections, tuple(bytes.fromhex(one) for one in data.values))
    except ValueError as full:
        _ignore(working, memory_id, str(full))
        return
    if after == working.settings.rejections:
        _ignore(working, memory_id, told.nothing_new)
        return
    working.settings = working.settings._replace(rejections=after)
    memory = None if memory_id is None else working.get(memory_id)
    about = OWNER if memory is None else memory.id
    working.notes.append(Note(about, told.decision, told.reason, memory, memory, ("rejections",)))


def _ignore(working: WorkingSet, memory_id: str | None, reason: str) -> None:
    known = memory_id is not None and trouble_with(working.get(memory_id)) is None
    working.ignore(memory_id if known and memory_id is not None else OWNER, reason)


FULL_QUEUE = f"{MAX_WAITING} changes of it wait for a person already, the most"
_MOST = ORDER[ASSERTED]
_BY_SOURCE: Mapping[str, Trust] = {
    "user": ASSERTED, "assistant": INFERRED, "judge": INFERRED, "system": INFERRED, "import": IMPORTED,
}  # fmt: skip


def trust_of(working: WorkingSet, data: MemoryCreated) -> int:
    """How far a new memory can be trusted: what its path and actor reach, and no further than its source and payload say."""
    if data.source == "user" and data.imported is None and working.trust == ASSERTED and working.actor in PERSONS:
        return _MOST  # nearly all
    brought = None if data.imported is None else IMPORTED
    return min(_reaches(working), ORDER[lowest(_BY_SOURCE[data.source], brought)])


def known_by(memory: Memory) -> Trust:
    """How far a memory can be trusted, by what was folded into it."""
    return TRUSTS[memory.trust]


def waits(working: WorkingSet, memory: Memory, event: Event[Any]) -> bool:
    """Whether what the event does to a memory has to wait for a person, since it comes from a lower source; then that is noted."""
    if overrides(working.trust, known_by(memory)):
        return False
    queue = queued(memory, event)
    if queue is None:
        working.ignore(memory.id, FULL_QUEUE)
    else:
        reason = f"waits for a person: {working.trust}, and it is {known_by(memory)}"
        working.change(memory, "wait", reason, waiting=queue)
    return True


def queued(memory: Memory, event: Event[Any]) -> tuple[bytes, ...] | None:
    """What waits on a memory with this event; None where there is no room."""
    return (*memory.waiting, raw_id(event.event_id)) if len(memory.waiting) < MAX_WAITING else None


def settle(working: WorkingSet, data: ReviewSettled, _event: Event[Any]) -> None:
    """A person has answered: it waits no longer. What was accepted a person said himself, in an event of its own."""
    answered = raw_id(data.waiting)
    if working.trust != ASSERTED:
        working.ignore(data.memory_id, f"{working.trust}: what waits for a person, a person answers")
        return
    if settled_again(working, answered, data.verdict):
        return
    memory = working.live(data.memory_id)
    if memory is None:
        return
    left = tuple(one for one in memory.waiting if one != answered)
    if left == memory.waiting:
        working.ignore(memory.id, "nothing of that id waits")
        return
    working.change(memory, "settle", data.verdict, waiting=left)


def stood_for(working: WorkingSet, memory: Memory) -> dict[str, int]:
    """What changes where somebody says a memory's words again: a person's own word lifts it, nobody else's does."""
    own = working.actor in PERSONS and working.trust == ASSERTED
    return {"trust": ORDER[ASSERTED]} if own and memory.trust < ORDER[ASSERTED] else {}


def of_words(working: WorkingSet, memory: Memory) -> int:
    """How far other words of a memory can be trusted: as far as whoever puts them there, where that is a person's own word."""
    return stood_for(working, memory).get("trust", min(memory.trust, _reaches(working)))


def _reaches(working: WorkingSet) -> int:
    return ORDER[lowest(working.trust, ASSERTED if working.actor in PERSONS else INFERRED)]


MOST_WAITING = 1_000
"""Things of one owner that may wait for a person at once."""
FULL = f"{MOST_WAITING:,} things wait for a person already, the most of one owner"


def things_waiting(memory: Memory) -> int:
    """How many things of a record wait for a person: itself, where it is proposed, and each change of it; none of what is gone.

    What is withheld meanwhile (its source is set aside, its value rejected) counts: it waits again once that is undone.
    """
    if memory.trust and not memory.waiting:
        return 0
    if memory.deleted_at is not None or memory.merged_into is not None or memory.purged_at is not None:
        return 0
    return len(memory.waiting) + (not memory.trust and memory.retired_at is None)


def any_waits(memories: Mapping[str, Memory]) -> bool:
    """Whether something of these records may wait: of nearly all owners nothing does, and nothing more is asked."""
    for memory in memories.values():  # noqa: SIM110 - `any` takes twice as long
        if memory.waiting or not memory.trust:
            return True
    return False


def things_again(rejections: Rejections) -> int:
    """How many rejected values the user said again, which waits: one a value, and by these it is bounded."""
    return sum(1 for one in rejections if one.again and one.stands)


def bounded(working: WorkingSet, before: OwnerSettings, data: EventData, waiting: int) -> int:
    """How many things wait after the event, of `waiting` that did; what would let too many wait is undone.

    What a person says himself is never too much, nor what is said again of a rejected value: that is bounded by those.
    """
    now = _counted(waiting, working.memories, working.changed)
    if now > waiting and now > MOST_WAITING and working.trust != ASSERTED:
        _undo(working, data)
        now = waiting
    after = working.settings.rejections
    return now if after is before.rejections else now + things_again(after) - things_again(before.rejections)


def _counted(waiting: int, before: Mapping[str, Memory], changed: Mapping[str, Memory]) -> int:
    for memory_id, memory in changed.items():
        known = before.get(memory_id)
        waiting += things_waiting(memory) - (0 if known is None else things_waiting(known))
    return waiting


def _undo(working: WorkingSet, data: EventData) -> None:
    """It changes nothing, and says why of each memory that it names."""
    working.changed.clear()
    working.notes.clear()
    for memory_id in dict.fromkeys(names(data)):
        working.ignore(memory_id, FULL)


def set_by_hand(working: WorkingSet, data: SensitivitySet, _event: Event[Any]) -> None:
    """A person says how sensitive it is, up or down. The change log tells from what to what, the event why."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    reason = f"sensitivity {data.level}, set by hand (it was {memory.sensitivity})"
    at = working.at if memory.sensitivity_set_at is None else max(working.at, memory.sensitivity_set_at)
    working.change(memory, "sensitivity", reason, sensitivity=data.level, sensitivity_set_at=at)


def raise_by_rules(working: WorkingSet, data: SensitivityRaised, _event: Event[Any]) -> None:
    """Newer rules find more in its words. Also of what is deleted or merged away: it is readable, and may come back."""
    memory = working.get(data.memory_id)
    if memory is None or memory.purged_at is not None:
        working.ignore(data.memory_id, UNKNOWN if memory is None else PURGED)
    elif data.level <= memory.sensitivity:
        working.ignore(memory.id, f"as sensitive already: {memory.sensitivity}")
    else:
        reason = f"sensitivity {data.level}, found by rules {data.rules} (it was {memory.sensitivity})"
        working.change(memory, "sensitivity", reason, sensitivity=data.level)


def risen_by(memory: Memory, texts: Iterable[str | None], level: int | None) -> int:
    """The memory's level once it says these texts too. Of words that somebody has judged by hand nothing is judged again.

    `level`: that of the event that says them, of whose texts nobody knows which one has it: one new word, and it counts. None: the
    rules are asked, of each new text alone.
    """
    new = [text for text in texts if text and not judged(memory, text)]
    if not new:
        return memory.sensitivity
    return max(memory.sensitivity, highest(new) if level is None else level)


def risen_by_merge(summary: str, sources: Iterable[Memory], level: int | None) -> tuple[int, int | None]:
    """Level of a merge, as high as its highest source, and when somebody judged its very words by hand, if so."""
    merged = list(sources)
    found = min(risen_by(one, (summary,), level) for one in merged)
    set_at = max((one.sensitivity_set_at or 0 for one in merged if one.content == summary), default=0)
    return max(found, *(one.sensitivity for one in merged)), set_at or None


def judged(memory: Memory, text: str) -> bool:
    """Whether somebody judged the memory by hand, and it says all of this text already, sentence by sentence."""
    if memory.sensitivity_set_at is None:
        return False
    said = (memory.content, memory.summary or "", *memory.keywords, *memory.tags)
    return all(any(part in one for one in said) for part in (one.strip() for one in sentences(text)) if part)
