"""Verbs that tell, as far as they differ from their routes; the others are in `engramlog.questions`. Each is a plan: one request
to the service, which decides, waits for the fold and tells what it did.

What is said anew (`add`, `add_many`) and deleted has ids that are made here, and goes through `POST /v1/events` or with an
`event_id`; everything else has a key: the call's own, or one made for it. Either way a request that was carried out and whose
answer was lost is sent again and changes nothing.

A call with a `key` is known by it: made again, after an error or by another process, it is done once, and answers as it did.
Something else told under a key that is taken raises InputError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from inspect import signature
from typing import Any

from engramlog.answers import (
    Added,
    Appended,
    ChatsImported,
    Deleted,
    Effects,
    Extracted,
    Removed,
    Reported,
    Restored,
    Skipped,
    Usage,
)
from engramlog.errors import Conflict, EngramlogError, InputError, refused
from engramlog.events import (
    Event,
    Message,
    Said,
    appended,
    carried_out,
    created,
    done_to,
    made_id,
    said,
    settled,
    spoken,
    told_to,
    wrote,
)
from engramlog.reading import PAGE, get, get_all
from engramlog.wire import LINES, Plan, Request, Scope, ask, checked, encoded, got, path_of, posted, spelled, utf8


def add(
    scope: Scope,
    content: str | Sequence[Message],
    *,
    owner: str | None = None,
    memory_id: str | None = None,
    category: str = "fact",
    kind: str = "fact",
    source: str = "user",
    importance: float | None = None,
    confidence: float | None = None,
    summary: str | None = None,
    speaker: str | None = None,
    keywords: Sequence[str] = (),
    tags: Sequence[str] = (),
    emotion: float | None = None,
    project: str | None = None,
    task: str | None = None,
    sensitivity: int | None = None,
    source_turns: Sequence[str] = (),
    corrects: str | None = None,
    because: str = "",
    grounds: Sequence[Mapping[str, str]] = (),
    metadata: Mapping[str, str | int | float | bool] | None = None,
    confirm: bool = False,
    remember: Collection[str] = ("user",),
    session: str | None = None,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    wait: bool = True,
) -> Plan[Added]:
    """Remember a text as it is, or a conversation.

    A text becomes one memory with the fields given; `because` says why it is kept, `grounds` ({uri, digest}) what it rests on.
    Messages (`{"role": ..., "content": ...}`) become turns, and those of the
    roles in `remember` a memory each, of kind `episode`: only what the user said by default, and with `()` none until
    `extract` reads the turns. Only `session`, `actor`, `occurred_at`, `key` and `wait` are read besides. It can be found once
    this returns; with `wait=False` that is as soon as it is written, and `after=` with the answer's `position` finds it.
    A text that a memory says already is a mention of that: `mentioned`, and `id`. What it ends and what it may contradict stands
    in `ended` and `conflicting`. Under a `memory_id` of your own it is a memory of its own; with `wait=False` a job judges it.
    A text that the user rejected (`delete`, `negate(never=True)`) is refused; `confirm=True` says that it holds after all.
    """
    told = said(scope, owner, actor, occurred_at, session, key)
    if not isinstance(content, str):
        return (yield from _conversation(scope, told, content, remember or (), wait))
    fields: dict[str, Any] = {"category": category, "kind": kind, "source": source}
    fields |= {"importance": importance, "confidence": confidence, "summary": summary}
    fields |= {"speaker": speaker, "emotion": emotion, "project": project, "task": task, "sensitivity": sensitivity}
    fields |= {
        "keywords": tuple(keywords or ()),
        "tags": tuple(tags or ()),
        "source_turns": tuple(source_turns or ()),
        "corrects": corrects,
        "because": because or None,
        "grounds": tuple(dict(one) for one in grounds or ()),
        "metadata": None if metadata is None else dict(metadata),
    }
    if memory_id is not None:
        checked("memory_id", memory_id)
    asked = {name: value for name, value in fields.items() if value is not None and value != ()}
    body = {"content": content, "memory_id": memory_id, "event_id": made_id(scope, told, "event 0"), **asked}
    body |= {"confirm": True} if confirm else {}
    if wait or confirm:
        try:
            done = yield from carried_out(scope, told, path_of(told.owner, "memories"), body)
            return Added.decode(done | {"ids": [done["id"]]})
        except InputError as problem:
            if memory_id is None or problem.field != "memory_id":
                raise
    # Nothing waits for an answer, or a memory has the id: told as an event, which changes nothing then, and says so.
    new_id = memory_id or f"m-{made_id(scope, told, 'memory')}"
    about = [new_id] if wait else []
    done = yield from wrote(scope, told, [created(scope, told, new_id, content, **fields)], about=about, wait=wait)
    return Added.decode(done | {"id": new_id, "ids": [new_id]})


def _conversation(
    scope: Scope, told: Said, messages: Sequence[Message], remember: Collection[str], wait: bool
) -> Plan[Added]:
    made = spoken(scope, told, messages, remember)
    if not made.events:
        raise refused("content", None, "a text, or messages of which at least one has text")
    done: dict[str, Any] = {}
    for start in range(0, len(made.events), MOST):
        done = yield from wrote(scope, told, made.events[start : start + MOST], about=[], wait=wait)
    ids = [one["event_id"] for one in made.events]
    only = made.memories[0] if len(made.memories) == 1 else None
    return Added.decode(done | {"id": only, "ids": made.memories, "turns": made.turns, "event_ids": ids})


def delete(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    with_sources: bool = False,
    never: bool = False,
    dry_run: bool = False,
    reason: str = "",
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Removed]:
    """Soft delete, with what was made only of it: hidden at once, kept 30 days, `restore` brings it back.

    What it says is rejected too: told again, it becomes no memory. `never` rejects it also where another memory says the same.
    `with_sources` retracts the turns that say it too, `dry_run` only tells. Core and system memories are meant too.
    """
    asked = {
        "with_sources": with_sources,
        "core": True,
        "dry_run": dry_run,
        **_given_fields(never=never, reason=reason),
    }
    done = yield from told_to(scope, said(scope, owner, actor, occurred_at, key=key), memory_id, "delete", asked)
    return Removed.decode(done)


def restore(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    reason: str = "",
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Restored]:
    """Undo a soft delete, and that of what went with it."""
    done = yield from told_to(
        scope, said(scope, owner, actor, occurred_at, key=key), memory_id, "restore", _given_fields(reason=reason)
    )
    return Restored.decode(done)


def confirm(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    similarity: float | None = None,
    turn_id: str | None = None,
    session: str | None = None,
    dry_run: bool = False,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Effects]:
    """It holds: as `mention`, and where what it says was rejected, it is so no more. With a turn it is a mention alone.

    `dry_run`: tells what it would do, and nothing is written.
    """
    told = said(scope, owner, actor, occurred_at, session, key)
    verb = "confirm" if similarity is None and turn_id is None else "mention"
    asked = {"similarity": similarity, "turn_id": turn_id, **_given_fields(dry_run=dry_run)}
    return Effects.decode((yield from done_to(scope, told, memory_id, verb, asked)))


def report_ground(
    scope: Scope,
    uri: str,
    digest: str,
    *,
    owner: str | None = None,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Reported]:
    """Something has this digest now: memories that rest on another are withheld from normal mode, those on this one come back.

    Reported again it changes nothing; a thousand memories a request, until none is left.
    """
    told = said(scope, owner, actor, occurred_at, key=key)
    whose, pages = told.owner, 0
    body = {"uri": uri, "digest": digest, "actor": actor, "occurred_at": spelled(occurred_at)} | _given_fields(key=key)
    answer = Reported.decode((yield from ask(scope, posted(path_of(whose, "grounds"), body))))
    while answer.left and answer.quarantined is None:
        pages += 1
        body |= _given_fields(key=None if key is None else made_id(scope, told, f"report {pages}"))
        more = Reported.decode((yield from ask(scope, posted(path_of(whose, "grounds"), body))))
        answer = more.replace(
            withheld=[*answer.withheld, *more.withheld],
            back=[*answer.back, *more.back],
            changes=[*answer.changes, *more.changes],
        )
    return answer


def merge(
    scope: Scope,
    sources: Sequence[str],
    *,
    owner: str | None = None,
    summary: str | None = None,
    into: str | None = None,
    reason: str = "",
    dry_run: bool = False,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Effects]:
    """Several memories become a new one: `summary`, or what the newest says and others add. `unmerge` brings them back.

    `dry_run`: tells what it would do, and nothing is written.
    """
    told = said(scope, owner, actor, occurred_at, key=key)
    asked = {
        "sources": list(sources),
        "summary": summary,
        "into": into,
        **_given_fields(reason=reason, dry_run=dry_run),
    }
    done = yield from carried_out(scope, told, path_of(told.owner, "merge"), asked)
    return Effects.decode(done | {"id": done["into"]})


def unmerge(
    scope: Scope,
    into: str,
    *,
    owner: str | None = None,
    reason: str = "",
    dry_run: bool = False,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Effects]:
    """Undo a merge: the sources come back as they were. `dry_run`: only tells."""
    told = said(scope, owner, actor, occurred_at, key=key)
    asked = _given_fields(reason=reason, dry_run=dry_run)
    return Effects.decode((yield from done_to(scope, told, into, "unmerge", asked)))


def _given_fields(**fields: Any) -> dict[str, Any]:
    """Fields of a request, without those that say nothing."""
    return {name: value for name, value in fields.items() if value}


MOST = 1_000
"""Most events of one request."""
MOST_BYTES = 8 * 1024 * 1024
"""Of one request; a single event that is larger goes alone, and the service says what it thinks of it."""
_OF_A_CALL = {"scope", "owner", "confirm", "remember", "session", "actor", "key", "wait"}
OF_MEMORY = frozenset(signature(add).parameters) - _OF_A_CALL
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
            raise _with_earlier_receipts(error, start, receipts) from None
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


def _with_earlier_receipts(
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
            raise _with_earlier_receipts(error, start, receipts, ids[:start]) from None
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


GONE = frozenset({"deleted", "purged", "merged"})
"""States in which there is nothing to delete; what was merged away goes with the memory that stands for it."""
KEPT = frozenset({"core", "system"})


def delete_all(
    scope: Scope,
    *,
    owner: str,
    reason: str = "",
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Deleted]:
    """Soft delete all memories of an owner, negated and superseded ones too, and tell what was left alone and why.

    `owner` has no default, and under `.of(...)` must be the same one: no slip wipes somebody else's memories, or
    everybody's. Core and system memories stay; `delete` takes them one by one. Kept 30 days, `restore` brings each back.
    Called again under its `key` it goes on with what there was at the first call, and answers as that did; what was told since
    stays. Where others wrote just while the first call looked, the second is refused (field `key`), and deletes nothing.
    """
    told = said(scope, owner, actor, occurred_at, key=key)
    whose = told.owner
    body: dict[str, Any] = {"actor": actor, "occurred_at": spelled(occurred_at)} | (
        {"reason": reason} if reason else {}
    )
    before = None if key is None else (yield from _before_first_call(scope, told, body))
    listed = yield from get_all(scope, owner=whose, mode="debug", as_of=before)
    wanted = [one.id for one in listed.memories if one.status not in GONE]
    if key is not None:
        wanted = yield from _known_by_its_first(scope, whose, sorted(wanted), before)
    answer = Deleted(owner=whose, deleted=[], skipped=[], position=listed.position)
    reasons: dict[str, str] = {}
    for number, start in enumerate(range(0, len(wanted), PAGE)):
        part = wanted[start : start + PAGE]
        try:
            done = yield from ask(scope, _page(scope, told, part, number, body))
        except InputError as refusal:
            skipped = refusal.context.get("skipped")
            if not isinstance(skipped, list):
                raise
            reasons |= {one["id"]: one["reason"] for one in skipped}
            continue
        page = Deleted.decode(done)
        reasons |= {one.id: one.reason for one in page.skipped}
        answer = _deleted_in_all(answer, page)
    if reasons:
        yield from _settle(scope, answer, reasons, wanted)
    return answer


def _deleted_in_all(before: Deleted, page: Deleted) -> Deleted:
    """What two requests of one call did; of what is not told of each memory, the newest."""
    lists = ("deleted", "waiting", "also", "left_alone", "still_said_in", "hidden_with")
    both = {name: [*getattr(before, name), *getattr(page, name)] for name in lists}
    both |= {name: list(dict.fromkeys(both[name])) for name in ("still_said_in", "hidden_with")}
    kept: dict[str, Any] = {
        "quarantined": page.quarantined or before.quarantined,
        "error": page.error or before.error,
        "skipped": [],
    }
    return page.replace(**both | kept)


def _page(scope: Scope, told: Said, ids: list[str], number: int, body: dict[str, Any]) -> Request:
    key = {} if told.key is None else {"key": made_id(scope, told, f"page {number}")}
    return posted(path_of(told.owner, "memories", "delete"), {"ids": ids} | body | key)


def _before_first_call(scope: Scope, told: Said, body: dict[str, Any]) -> Plan[str | None]:
    """The position just before what an earlier call under this key did; None where there was none. Deletes nothing."""
    nobody = scope.edge.new_id()  # no memory has it: asked for under the key, it tells whether that was used
    try:
        yield from ask(scope, _page(scope, told, [nobody], 0, body))
    except InputError as refusal:
        position = refusal.context.get("position")
        if refusal.error == "KeyTaken" and isinstance(position, str):
            partition, _, seq = position.partition(":")
            return f"{partition}:{int(seq) - 1}"
    return None


def _known_by_its_first(scope: Scope, owner: str, wanted: list[str], as_of: str | None) -> Plan[list[str]]:
    """The same with one in front that will be deleted: a key is known by the first, and core memories stay.

    It is looked for among the first 1,000. Raises InputError (field `key`) where all of those stay, and more follow.
    """
    for memory_id in wanted[:PAGE]:
        detail = yield from get(scope, memory_id, owner=owner, as_of=as_of, trace=False)
        if detail.tier not in KEPT:
            return [memory_id, *(one for one in wanted if one != memory_id)]
    if len(wanted) > PAGE:
        raise refused("key", "a key", f"none: of the owner's first {PAGE:,} memories all are core or system, and stay")
    return wanted


def _settle(scope: Scope, answer: Deleted, reasons: dict[str, str], wanted: list[str]) -> Plan[None]:
    """Tell apart what stays from what an earlier try deleted already, whose answer was lost."""
    listed = yield from get_all(
        scope, owner=answer.owner, mode="debug", after=None if answer.waiting else answer.position
    )
    gone = {one.id for one in listed.memories if one.status == "deleted"}
    done = {*answer.deleted, *(one for one in reasons if one in gone)}
    answer.deleted = [one for one in wanted if one in done]
    answer.skipped = [Skipped(id=one, reason=reason) for one, reason in reasons.items() if one not in gone]


def import_chats(
    scope: Scope,
    chats: str | bytes | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    owner: str | None = None,
    shape: str | None = None,
    since: datetime | str | None = None,
    turns_only: bool | None = None,
) -> Plan[ChatsImported]:
    """Take exported chats in: what a file of them holds, or conversations, each with its messages; or lines of turns.

    The service sees by the beginning whether they are OpenAI messages, ChatGPT, Claude or turns, unless `shape` says
    so. `since` is when conversations without times began. Unreadable messages are left out, counted and named. Of what is no
    export, or of a bad line of turns, nothing is written: InputError. Importing again adds nothing.
    """
    if not isinstance(chats, str | bytes | Mapping | Sequence):
        raise refused("chats", chats, "the text of an export, a conversation, or a list of them")
    path = got(path_of(scope.whose(owner), "chats"), shape=shape, since=spelled(since), turns_only=turns_only).path
    if isinstance(chats, str | bytes):
        request = Request("POST", path, utf8(chats) if isinstance(chats, str) else chats, LINES)
    else:
        request = Request("POST", path, encoded(chats if isinstance(chats, Mapping) else list(chats)))
    return ChatsImported.decode((yield from ask(scope, request)))


def extract(scope: Scope, *, owner: str | None = None, dry_run: bool = False, by: str | None = None) -> Plan[Extracted]:
    """Have what the speakers of unread turns state become typed memories, on top of the turns; once, however often it is asked.

    `by` is `rules`, or `model` for the service's language model, which is asked until nothing is left or it fails (`trouble`).
    With `dry_run`, tell what every statement would become, and change nothing. After a lost answer the counts lack what that
    try did.
    """
    told = {"dry_run": dry_run} | ({} if by is None else {"by": by})
    request = posted(path_of(scope.whose(owner), "extract"), told)
    whole = Extracted.decode((yield from ask(scope, request)))
    part = whole
    while not dry_run and part.left and part.read and part.trouble is None:
        part = Extracted.decode((yield from ask(scope, request)))
        whole = _extracted_in_all(whole, part)
    return whole


def _extracted_in_all(before: Extracted, later: Extracted) -> Extracted:
    """Two parts of one extraction."""
    usage = [one.usage for one in (before, later) if one.usage is not None]
    return later.replace(
        counts=dict(Counter(before.counts) + Counter(later.counts)),
        usage=Usage(
            requests=sum(one.requests for one in usage),
            input_tokens=sum(one.input_tokens for one in usage),
            output_tokens=sum(one.output_tokens for one in usage),
        )
        if usage
        else None,
        decisions=[*before.decisions, *later.decisions],
        by_rules=[*before.by_rules, *later.by_rules],
        refused=before.refused | later.refused,
        appended=before.appended + later.appended,
        read=before.read + later.read,
    )
