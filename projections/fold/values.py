"""What an event states, as digests, and what a person rejects: a later statement of a rejected value changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from engramlog_server.events.catalogue import MemoryCreated, ValueReadmitted, ValueRejected
from engramlog_server.events.envelope import Event, Stored, level_in, micros, trust_in
from engramlog_server.events.statement_digests import DIGEST_BYTES, read
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.fold.working_set import OWNER, Note, WorkingSet, trouble_with
from engramlog_server.projections.memory.kind import is_drawn
from engramlog_server.projections.memory.rejection import (
    REJECTED_BY,
    Rejections,
    drawn_again,
    readmitted,
    rejected,
    said_in,
    waiting_again,
)
from engramlog_server.projections.memory.sources import by_text

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
