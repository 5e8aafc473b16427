"""Verbs that ask more than once, or do more: context, get, get_all, history, why. Each is a plan (see `engramlog.wire`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engramlog.answers import ContextBlock, Detail, History, Listing, Why
from engramlog.edge import spelled
from engramlog.wire import Plan, Scope, ask, checked, got, path_of, posted, quoted

PAGE = 1_000
"""Most memories that one request lists."""


def context(
    scope: Scope,
    text: str,
    *,
    owner: str | None = None,
    session: str | None = None,
    turn_id: str | None = None,
    budget: int | None = None,
    related: str | None = None,
    threshold: float | None = None,
    messages: int | None = None,
    sensitive: bool | None = None,
    language: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    trace: bool | None = None,
    trust: str | None = None,
    stable_budget: int | None = None,
) -> Plan[ContextBlock]:
    """The block to put into a prompt before the turn `text` is answered, of at most `budget` tokens, and the ids in it.

    The block has two parts. `stable` keeps its bytes until one of its memories changes: put it at the beginning of the prompt,
    where a provider caches it. `turn` is for this turn. `stable_budget`: tokens of the first, by default at most half of all.

    `related`: auto (if the message needs memory), always, never. `sensitive`: also illness, pay, addresses; by default if
    the caller may read them. `trust`: the least trust of a memory. The service has defaults for all of these.
    Nothing is recorded by default. `trace=True`: the block goes into a prompt, so record its memories as injected, once for a
    turn; a block about the past (`as_of`, `known`) records nothing.
    """
    place = {"session": session, "turn_id": turn_id, "after": after, "as_of": spelled(as_of), "known": spelled(known)}
    found = {"related": related, "threshold": threshold, "trust": trust, "stable_budget": stable_budget}
    shown = {"budget": budget, "messages": messages, "sensitive": sensitive, "language": language, "trace": trace}
    told = {name: value for name, value in {**place, **found, **shown}.items() if value is not None}
    request = posted(path_of(scope.whose(owner), "context"), {"text": text, **told})
    return ContextBlock.decode((yield from ask(scope, request)))


def get(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    reveal: bool | None = None,
    reason: str | None = None,
    actor: str = "user",
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
    after: str | None = None,
    trace: bool | None = None,
    inspect: bool | None = None,
) -> Plan[Detail]:
    """Everything about one memory; a secret's text only with `reveal=True`. Raises NotFound.

    `inspect=True`: somebody only looks, which is recorded and moves no weight; to reveal is that anyway.
    That a secret was shown, to which `actor` and for what `reason`, is recorded before it is: `revealed` tells where.
    """
    path = memory_path(scope.whose(owner), memory_id)
    asked = {"as_of": spelled(as_of), "known": spelled(known), "at": spelled(at), "after": after, "trace": trace}
    if reveal:
        told = {
            name: value for name, value in (asked | {"actor": actor, "reason": reason}).items() if value is not None
        }
        request = posted(f"{path}/reveal", told)
    else:
        request = got(path, **asked, inspect=inspect)
    return Detail.decode((yield from ask(scope, request)))


def get_all(
    scope: Scope,
    *,
    owner: str | None = None,
    mode: str | None = None,
    trust: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
    after: str | None = None,
) -> Plan[Listing]:
    """An owner's memories, newest activation first: all that the mode shows, in pages of 1,000, or one page of `limit`.

    What becomes active while pages are fetched is listed once, where it was met first.
    """
    path = path_of(scope.whose(owner), "memories")
    moments = {"as_of": spelled(as_of), "known": spelled(known), "at": spelled(at)}
    asked = {"mode": mode, "trust": trust, "after": after, **moments}
    first = got(path, limit=PAGE if limit is None else limit, offset=offset, **asked)
    listing = Listing.decode((yield from ask(scope, first)))
    if limit is not None:
        return listing
    met = {one.id: one for one in listing.memories}
    reached, total = offset + len(listing.memories), listing.total
    while reached < total:
        page = Listing.decode((yield from ask(scope, got(path, limit=PAGE, offset=reached, **asked))))
        if not page.memories:
            break
        met |= {one.id: one for one in page.memories if one.id not in met}
        reached, total = reached + len(page.memories), page.total
    return listing.replace(memories=list(met.values()))


def history(
    scope: Scope,
    memory_id: str | None = None,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    recorded_since: datetime | str | None = None,
    recorded_until: datetime | str | None = None,
    kinds: Sequence[str] = (),
    law: str | None = None,
) -> Plan[History]:
    """The whole change log of a memory, or of the owner: every event, what it decided, the weight before and after.

    `since` and `until`: only what happened then, `recorded_since` and `recorded_until`: only what the log took in then; both ends
    count. `kinds`: only decisions (`negate`) and types of events (`MemoryNegated`) of these names. `law`: in whose numbers; as
    stored, the weighted law's, without.
    """
    whose = scope.whose(owner)
    path = path_of(whose) if memory_id is None else memory_path(whose, memory_id)
    when = {"since": since, "until": until, "recorded_since": recorded_since, "recorded_until": recorded_until}
    asked = {
        **{name: spelled(one) for name, one in when.items()},
        "as_of": spelled(as_of),
        "known": spelled(known),
        "after": after,
        "kinds": kinds,
        "law": law,
        "limit": PAGE,
    }
    log = History.decode((yield from ask(scope, got(f"{path}/history", **asked))))
    changes, cursor = log.changes, log.next
    while cursor is not None:
        page = History.decode((yield from ask(scope, got(f"{path}/history", cursor=cursor, **asked))))
        changes, cursor = changes + page.changes, page.next
        log = page
    return log.replace(changes=changes)


def why(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
    after: str | None = None,
    law: str | None = None,
    above: str | None = None,
    query: str | None = None,
    mode: str | None = None,
    ranking: str | None = None,
    search_mode: str | None = None,
    language: str | None = None,
) -> Plan[Why]:
    """Why a memory weighs what it weighs: every factor, every change (in a `law`'s numbers), where it comes from.

    `above`: the id of another memory; the answer's `above` says why the first ranks above or below it for `query`, as `search` with
    this `mode`, `ranking` and `search_mode` ranks both. `language` of its sentence: `en` or `zh`, by default that of `query`.
    """
    path = memory_path(scope.whose(owner), memory_id)
    asked = {"as_of": spelled(as_of), "known": spelled(known), "after": after, "law": law}
    pair = {"above": above, "query": query, "mode": mode, "ranking": ranking, "search_mode": search_mode}
    request = got(f"{path}/why", at=spelled(at), language=language, **pair, **asked)
    told = Why.decode((yield from ask(scope, request)))
    changes, cursor = told.changes, told.next
    while cursor is not None:
        request = got(f"{path}/history", cursor=cursor, limit=PAGE, **asked)
        page = History.decode((yield from ask(scope, request)))
        changes, cursor = changes + page.changes, page.next
    return told.replace(changes=changes, next=None)


def memory_path(owner: str, memory_id: str) -> str:
    """The path of one memory."""
    return path_of(owner, "memories", quoted(checked("memory_id", memory_id)))
