"""Verbs about talk: taking exported chats in, and having turns become typed memories. Each is a plan (see `engramlog.wire`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from engramlog.answers import ChatsImported, Extracted, Usage
from engramlog.edge import spelled
from engramlog.errors import refused
from engramlog.wire import LINES, Plan, Request, Scope, ask, encoded, got, path_of, posted, utf8


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
        whole = _joined(whole, part)
    return whole


def _joined(before: Extracted, later: Extracted) -> Extracted:
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
