"""Verbs that tell much at once: raw events, and many memories. A request holds what the service takes in one; order is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from engramlog.answers import Added, Appended
from engramlog.appending import appended, settled
from engramlog.edge import spelled
from engramlog.errors import Conflict, EngramlogError, refused
from engramlog.events import Event, Said, created, made_id, said
from engramlog.wire import Plan, Request, Scope, ask, checked, encoded

MOST = 1_000
"""Most events of one request."""
MOST_BYTES = 8 * 1024 * 1024
"""Of one request; a single event that is larger goes alone, and the service says what it thinks of it."""
_OF_MEMORY = (
    "content memory_id occurred_at category kind source importance confidence summary speaker keywords tags emotion project task"
    " sensitivity source_turns corrects because grounds metadata"
)
OF_MEMORY = frozenset(_OF_MEMORY.split())
"""What may be told of one memory of several."""


def append(
    scope: Scope,
    events: Sequence[Mapping[str, Any]],
    *,
    owner: str | None = None,
    expected_heads: Mapping[str, int] | None = None,
) -> Plan[Appended]:
    """Append events as they are: envelopes as `POST /v1/events` takes them. Answers with what became of each, in their order.

    An envelope without an id is given one before the first try, and one without an owner is about `owner`, or the client's; a
    client of one owner tells of no other. It does not wait for the fold: a question with `after=` and a receipt's position does.

    At most 1,000 events and 8 MiB make a request; each is checked whole, then written all or nothing per partition. Where one is
    refused or lost after others were written, the error's context has `receipts` of those. Conflict where no event at all was
    written. `expected_heads` (owner -> seq) needs all events in one request.
    """
    bodies = [encoded(_envelope(scope, number, told, owner)) for number, told in enumerate(events)]
    parts = list(_parts(bodies))
    if expected_heads is not None and len(parts) > 1:
        allowed = f"at most {MOST:,} events and {MOST_BYTES:,} bytes with it: the first request would move the heads"
        raise refused("expected_heads", f"{len(bodies):,} events", allowed)
    receipts: list[dict[str, Any]] = []
    written, nothing = False, None
    for start, part in parts:
        body = b"[" + b",".join(part) + b"]"
        if expected_heads is not None:
            body = b'{"events":' + body + b',"expected_heads":' + encoded(dict(expected_heads)) + b"}"
        try:
            answer = yield from ask(scope, Request("POST", "/v1/events", body))
            written = True
        except Conflict as conflict:
            if not isinstance(conflict.context.get("receipts"), list):
                raise
            answer, nothing = conflict.context, nothing or conflict
        except EngramlogError as error:
            raise _with_those_before(error, start, receipts) from None
        receipts += answer["receipts"]
    if nothing is not None and not written:
        nothing.context = {**nothing.context, "receipts": receipts}
        raise nothing
    return _appended_of(receipts)


def _envelope(scope: Scope, number: int, told: object, owner: str | None) -> Event:
    """An event as it is sent, with an id and an owner."""
    if not isinstance(told, Mapping):
        raise refused(
            f"events[{number}]", type(told).__name__, "an envelope: {event_id?, type, owner?, occurred_at, actor, data}"
        )
    whose = scope.whose(told.get("owner") if owner is None else owner)
    if told.get("owner", whose) != whose:
        raise refused(f"events[{number}].owner", told["owner"], f"{whose!r}, whose events these are")
    return {"event_id": scope.edge.new_id(), "owner": whose} | dict(told)


def _parts(bodies: Sequence[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Where each request begins, and its events; nothing is one request of nothing."""
    start, size, part = 0, 0, list[bytes]()
    for number, body in enumerate(bodies):
        if part and (len(part) == MOST or size + len(body) > MOST_BYTES):
            yield start, part
            start, size, part = number, 0, []
        part.append(body)
        size += len(body) + 1
    yield start, part


def _with_those_before(
    error: EngramlogError, start: int, receipts: list[dict[str, Any]], ids: Sequence[str] = ()
) -> EngramlogError:
    """The error of one request of several: what it tells of events by number, and the receipts (and ids) of those before."""
    if not start:
        return error
    problems = error.context.get("problems")
    if isinstance(problems, list):
        moved = [
            one | {"index": one["index"] + start} if isinstance(one.get("index"), int) else one for one in problems
        ]
        error.context = {**error.context, "problems": moved}
    told = error.context.get("receipts")
    before = {"ids": list(ids)} if ids else {}
    error.context = {**error.context, **before, "receipts": [*receipts, *(told if isinstance(told, list) else [])]}
    error.message = f"of the events from number {start}: {error.message}; those before are written"
    error.args = (error.message,)
    return error


def _appended_of(receipts: list[dict[str, Any]]) -> Appended:
    statuses = [one["status"] for one in receipts]
    new, again = statuses.count("appended"), statuses.count("already_appended")
    counts = {"appended": new, "already_appended": again, "not_written": len(statuses) - new - again}
    return Appended.decode(counts | {"receipts": receipts})


def add_many(
    scope: Scope,
    memories: Sequence[str | Mapping[str, Any]],
    *,
    owner: str | None = None,
    category: str = "fact",
    kind: str = "fact",
    source: str = "user",
    project: str | None = None,
    task: str | None = None,
    session: str | None = None,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    wait: bool = True,
) -> Plan[Added]:
    """Remember many texts, each a memory of its own: in a request for each thousand, where `add` makes one for each.

    An item is a text, or `{"content": ...}` with what `add` takes of a memory (`memory_id`, `tags`, `occurred_at` ...), which
    goes before what is told of all. They are checked first and appended in their order. `ids` of the answer are in that order
    too: what a memory says already is a mention of it, and has its id. `ended` and `conflicting` are those of all, told once.
    With `wait=False` it returns once they are written, and a job judges them: `after=` and the answer's `position` find them.
    Where a later thousand is refused or lost, the error's context has `ids` of the memories before, and `receipts`.
    """
    told = said(scope, owner, actor, occurred_at, session, key)
    if isinstance(memories, str | Mapping) or not isinstance(memories, Sequence) or not memories:
        raise refused("memories", type(memories).__name__, "a list of texts, or of {content, ...}; at least one")
    shared = {"category": category, "kind": kind, "source": source, "project": project, "task": task}
    events = [_memory(scope, told, number, one, shared) for number, one in enumerate(memories)]
    if key is not None:  # all of them are known by what was told: more of them, or fewer, are another call
        call = made_id(scope, told, sha256(encoded([one["data"] for one in events])).hexdigest())
        events = [one | {"correlation_id": call} for one in events]
    ids = [str(one["data"]["memory_id"]) for one in events]
    receipts: list[dict[str, Any]] = []
    for start in range(0, len(events), MOST):
        try:
            answer = yield from appended(scope, told, events[start : start + MOST], judge=wait)
        except EngramlogError as error:
            raise _with_those_before(error, start, receipts, ids[:start]) from None
        receipts += answer["receipts"]
    done = yield from settled(scope, told.owner, receipts, about=[None], wait=wait)
    ids = [one.get("mentioned") or made for one, made in zip(receipts, ids, strict=True)]
    beside = {
        name: list({line["id"]: line for one in receipts for line in one.get(name) or ()}.values())
        for name in ("ended", "waiting", "ended_by", "conflicting", "related")
    }
    return Added.decode(done | beside | {"id": ids[0] if len(ids) == 1 else None, "ids": ids})


def _memory(scope: Scope, told: Said, number: int, item: object, shared: dict[str, Any]) -> Event:
    """The envelope of one of many."""
    one = {"content": item} if isinstance(item, str) else item
    if not isinstance(one, Mapping) or not isinstance(one.get("content"), str):
        raise refused(f"memories[{number}]", item, "a text, or {content, ...} with a text as content")
    unknown = sorted(map(str, one.keys() - OF_MEMORY))
    if unknown:
        raise refused(f"memories[{number}].{unknown[0]}", one[unknown[0]], f"one of {', '.join(sorted(OF_MEMORY))}")
    fields = shared | {name: value for name, value in one.items() if value is not None}
    at = told._replace(occurred_at=spelled(fields.pop("occurred_at", None)) or told.occurred_at)
    memory_id = fields.pop("memory_id", None)
    memory_id = (
        f"m-{made_id(scope, told, f'memory {number}')}" if memory_id is None else checked("memory_id", memory_id)
    )
    fields["because"] = fields.get("because") or None
    return created(scope, at, memory_id, fields.pop("content"), nth=number, **fields)
