"""What an owner rejected, as lines of an export: digests, and the secret that keys them. Pure.

A store that takes them in can compare only what is keyed by the same secret. An owner of whom it knows nothing takes it over; of
another what it has of the values by then is told apart by its words, and the rest cannot be carried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from engramlog_server.api.exchange.record_shapes import FORMAT, Data, short
from engramlog_server.events.catalogue import EventData, FactAsserted, ValueReadmitted, ValueRejected
from engramlog_server.events.entry import DIGEST_BYTES, SECRET_BYTES, digest
from engramlog_server.events.envelope import derived_id, from_micros, micros
from engramlog_server.events.errors import refused
from engramlog_server.events.vocabulary import MOST_STATEMENTS, read_time
from engramlog_server.projections.language.statements import STATEMENT_RULES, statement, statements_in
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import (
    BEFORE_ANY,
    TURN_BYTES,
    Rejection,
    Rejections,
    readmitted,
    rejected,
    said_in,
)
from engramlog_server.projections.views.query import moment

REJECTION = "rejection"
"""Status of such a line: one that reads it as a memory passes it over, and counts it."""
REASON = "carried over by an import"
KEYED_OTHERWISE = "keyed by another secret"


class CarriedRejection(NamedTuple):
    """What a line tells of one value. Times are microseconds since 1970."""

    secret: bytes
    value: bytes
    rejected_at: int | None
    until: int | None
    readmitted_at: int | None
    turns: tuple[str, ...] = ()

    def is_known(self, rejections: Rejections) -> bool:
        """Whether nothing of it would be new to an owner of whom this is known."""
        try:
            after = rejections
            if self.rejected_at is not None:
                after = rejected(after, (self.value,), self.rejected_at, 0, self.until)
                after = said_in(after, (self.value,), [bytes.fromhex(one) for one in self.turns])
            if self.readmitted_at is not None:
                after = readmitted(after, (self.value,), self.readmitted_at, 0)
        except ValueError:
            return False  # no room: the fold tells it
        return after == rejections

    def events(self, owner: str) -> Iterator[tuple[str, int, EventData]]:
        """Event id, time and data of what says it to an owner; the same for the same line."""
        values = (self.value.hex(),)
        if self.rejected_at is not None:
            until = None if self.until is None else from_micros(self.until)
            data = ValueRejected(values=values, rules=STATEMENT_RULES, until=until, reason=REASON, turns=self.turns)
            name = derived_id("import rejection", owner, *values, str(self.rejected_at), str(self.until))
            yield name, self.rejected_at, data
        if self.readmitted_at is not None:
            name = derived_id("import readmission", owner, *values, str(self.readmitted_at))
            yield name, self.readmitted_at, ValueReadmitted(values=values, rules=STATEMENT_RULES, reason=REASON)


def rejection_lines(rejections: Iterable[Rejection], secret: bytes) -> Iterator[Data]:
    """A JSON-ready line a value. Whoever has one can confirm a guess of what it rejects."""
    for one in rejections:
        rejected_at = one.at if one.at > BEFORE_ANY else None
        told = {
            "engramlog": FORMAT,
            "status": REJECTION,
            "created_at": moment(one.readmitted_at if rejected_at is None else rejected_at),
            "secret": secret.hex(),
            "value": one.digest.hex(),
            "rejected_at": moment(rejected_at),
            "until": moment(one.until),
            "readmitted_at": moment(one.readmitted_at),
            "turns": [turn.hex() for turn in one.turn_hashes[:MOST_STATEMENTS]] or None,
        }
        yield {name: value for name, value in told.items() if value is not None}


def read_rejection(data: Mapping[str, Any]) -> CarriedRejection:
    """What such a line tells. Raises InputError."""
    times = [_instant(data, name) for name in ("rejected_at", "until", "readmitted_at")]
    if times[0] is None and times[2] is None:
        raise refused("rejected_at", None, "when it was rejected, or readmitted_at")
    turns = data.get("turns", [])
    if not isinstance(turns, list) or len(turns) > MOST_STATEMENTS:
        raise refused("turns", short(turns), f"at most {MOST_STATEMENTS} hashes of turns, as an export writes them")
    hashes = tuple(_hex(one, "turns", TURN_BYTES).hex() for one in turns)
    secret, value = _hex(data.get("secret"), "secret", SECRET_BYTES), _hex(data.get("value"), "value", DIGEST_BYTES)
    return CarriedRejection(secret, value, times[0], times[1], times[2], tuple(dict.fromkeys(hashes)))


def _hex(told: object, name: str, size: int) -> bytes:
    if not isinstance(told, str) or len(told) != 2 * size or any(one not in "0123456789abcdef" for one in told):
        raise refused(name, short(told), f"{2 * size} hexadecimal digits, as an export writes them")
    return bytes.fromhex(told)


def _instant(data: Mapping[str, Any], name: str) -> int | None:
    told = data.get(name)
    if told is None:
        return None
    try:
        return micros(read_time(told))
    except ValueError:
        raise refused(name, short(told), "a time as an export writes it, RFC 3339 with a zone") from None


def told_here(
    carried: Collection[CarriedRejection], memories: Iterable[Memory], own: bytes
) -> Iterator[tuple[CarriedRejection, CarriedRejection]]:
    """Those that one of these memories says, each with the same under the owner's own secret. Raises ValueError for no secret."""
    waiting: dict[bytes, dict[bytes, CarriedRejection]] = {}
    for one in carried:
        waiting.setdefault(one.secret, {})[one.value] = one
    for memory in memories:
        for said in _said(memory):
            for secret, values in waiting.items():
                found = values.pop(digest(secret, said), None) if values else None
                if found is not None:
                    yield found, found._replace(secret=own, value=digest(own, said))


def _said(memory: Memory) -> Iterator[bytes]:
    if memory.content:
        yield statement(memory.content)
    for one in memory.facts:
        asserted = FactAsserted(
            subject=one.subject,
            predicate=one.predicate,
            object=one.object,
            negation=one.negation,
            condition=one.condition,
            evidence=(memory.id,),
        )
        yield from statements_in(asserted)
