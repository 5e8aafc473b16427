"""Verbs that tell, as far as they differ from their routes; the others are in `engramlog.questions`. Each is a plan: one request
to the service, which decides, waits for the fold and tells what it did.

What is said anew (`add`, `add_many`) and deleted has ids that are made here, and goes through `POST /v1/events` or with an
`event_id`; everything else has a key: the call's own, or one made for it. Either way a request that was carried out and whose
answer was lost is sent again and changes nothing.

A call with a `key` is known by it: made again, after an error or by another process, it is done once, and answers as it did.
Something else told under a key that is taken raises InputError.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from engramlog.answers import Added, Effects, Removed, Reported, Restored
from engramlog.appending import carried_out, done_to, told_to, wrote
from engramlog.edge import spelled
from engramlog.errors import InputError, refused
from engramlog.events import Message, Said, created, made_id, said, spoken
from engramlog.many import MOST
from engramlog.wire import Plan, Scope, ask, checked, path_of, posted


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
    asked = {"with_sources": with_sources, "core": True, "dry_run": dry_run, **_if_told(never=never, reason=reason)}
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
        scope, said(scope, owner, actor, occurred_at, key=key), memory_id, "restore", _if_told(reason=reason)
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
    asked = {"similarity": similarity, "turn_id": turn_id, **_if_told(dry_run=dry_run)}
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
    body = {"uri": uri, "digest": digest, "actor": actor, "occurred_at": spelled(occurred_at)} | _if_told(key=key)
    answer = Reported.decode((yield from ask(scope, posted(path_of(whose, "grounds"), body))))
    while answer.left and answer.quarantined is None:
        pages += 1
        body |= _if_told(key=None if key is None else made_id(scope, told, f"report {pages}"))
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
    asked = {"sources": list(sources), "summary": summary, "into": into, **_if_told(reason=reason, dry_run=dry_run)}
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
    asked = _if_told(reason=reason, dry_run=dry_run)
    return Effects.decode((yield from done_to(scope, told, into, "unmerge", asked)))


def _if_told(**fields: Any) -> dict[str, Any]:
    """Fields of a request, without those that say nothing."""
    return {name: value for name, value in fields.items() if value}
