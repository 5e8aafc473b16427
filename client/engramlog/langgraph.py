"""Engramlog as a LangGraph store: `builder.compile(store=EngramlogStore(Memory()))`. Needs the extra `langgraph`.

A namespace names the owner, by default in its first label: `("alice", "preferences")`; `EngramlogStore(memory, owner_at=1)`
reads `("memories", "alice")`. The other labels and the key make the memory's id: `preferences/tea`. So owners stay apart
whatever a graph asks for, and a search must name one. A value with only a text under `text_key` is kept as that text, any
other as JSON. A search ranks by the query, then lists the rest, also what other programs remember of the owner. Items stay
until they are deleted, corrected by the user or rejected. `get` reveals a secret, which is recorded, if the key of the client
may reveal; a search leaves it out, because its results go into prompts.
"""

from __future__ import annotations

import asyncio
import json
import operator
import re
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, cast

from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp
from langgraph.store.memory import InMemoryStore

from engramlog import questions, reading, writing
from engramlog.answers import Detail
from engramlog.client import AsyncMemory, Memory
from engramlog.errors import AccessDenied, NotFound, refused
from engramlog.events import event, said, wrote
from engramlog.wire import Plan, Scope

SECRET = 3
"""Sensitivity from which on a text is withheld."""
HITS, LISTED = 100, 1_000
"""Hits of one search request, and memories of one page of a list."""
TAG, KEPT = "langgraph", ("live", "fading", "kept_version", "superseded")
"""The tag of items, and the states in which they are listed although normal mode hides some."""
Namespace = tuple[str, ...]


class EngramlogStore(BaseStore):
    """LangGraph's store interface on a client. Without an `AsyncMemory`, awaited operations run in a thread.

    A batch reads before it writes, and the last value for a key counts. Filters are compared here. Nothing expires.
    """

    def __init__(
        self, memory: Memory, *, asynchronous: AsyncMemory | None = None, owner_at: int = 0, text_key: str = "text"
    ) -> None:
        self._memory = memory
        self._asynchronous = asynchronous
        self._layout = Layout(owner_at, text_key)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the operations; one result each."""
        return self._memory.carry_out(_batch(self._memory.scope, self._layout, list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the operations; one result each."""
        client = self._asynchronous
        if client is None:
            return await asyncio.to_thread(self.batch, ops)
        return await client.carry_out(_batch(client.scope, self._layout, list(ops)))


class Layout(NamedTuple):
    """How namespaces and values are stored in memories."""

    owner_at: int
    """Which label is the owner, from 0."""
    text_key: str

    def owner(self, namespace: Namespace, field: str) -> str:
        """The owner that a namespace names. Raises InputError if it names none."""
        owner = namespace[self.owner_at] if len(namespace) > self.owner_at else "*"
        if owner == "*":
            raise refused(field, namespace, f"one that names the owner as its label {self.owner_at} (from 0)")
        return owner

    def memory_id(self, namespace: Namespace, key: str) -> str:
        """The memory of an item: its other labels, then its key."""
        labels = [one for at, one in enumerate(namespace) if at != self.owner_at]
        return "/".join(_escaped(one) for one in (*labels, key))

    def place(self, owner: str, memory_id: str) -> tuple[Namespace, str] | None:
        """Namespace and key of a memory; None for one that no namespace of this layout leads to."""
        *labels, key = (_unescaped(one) for one in memory_id.split("/"))
        if len(labels) < self.owner_at or not all((*labels, key)):
            return None
        namespace = (*labels[: self.owner_at], owner, *labels[self.owner_at :])
        return (namespace, key) if self.memory_id(namespace, key) == memory_id else None

    def content(self, value: Mapping[str, Any]) -> str:
        """The text of a memory for a value."""
        text = value.get(self.text_key)
        if len(value) == 1 and isinstance(text, str) and text.strip() and not isinstance(_read(text), dict):
            return text
        return json.dumps(value, ensure_ascii=False)

    def value(self, content: str) -> dict[str, Any]:
        """The value of a memory's text."""
        read = _read(content)
        return {self.text_key: content} if read is None else read


def _read(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def _escaped(part: str) -> str:
    """Letters, digits and `-_.:@` as they are; anything else as its number in hexadecimal between two `+`."""
    plain = (one in "-_.:@" or (one.isalnum() and unicodedata.is_normalized("NFC", one)) for one in part)
    return "".join(one if fits else f"+{ord(one):x}+" for one, fits in zip(part, plain, strict=True))


def _unescaped(part: str) -> str:
    return re.sub(r"\+([0-9a-f]{1,6})\+", lambda found: chr(min(int(found[1], 16), 0x10FFFF)), part)


def _batch(scope: Scope, layout: Layout, ops: list[Op]) -> Plan[list[Result]]:
    results: list[Any] = [None] * len(ops)
    puts: dict[tuple[Namespace, str], PutOp] = {}
    for number, op in enumerate(ops):
        if isinstance(op, PutOp):
            puts[op.namespace, op.key] = op
        elif isinstance(op, GetOp):
            owner = layout.owner(op.namespace, "namespace")
            results[number] = yield from _get(scope, layout, owner, layout.memory_id(op.namespace, op.key))
        elif isinstance(op, SearchOp):
            results[number] = yield from _search(scope, layout, op)
        elif isinstance(op, ListNamespacesOp):
            results[number] = yield from _namespaces(scope, layout, op)
        else:
            raise refused("op", op, "GetOp, PutOp, SearchOp or ListNamespacesOp")
    for op in puts.values():
        yield from _put(scope, layout, op)
    return results


def _there(scope: Scope, owner: str, memory_id: str, *, trace: bool | None = False) -> Plan[Detail | None]:
    """The memory of an item, also a deleted one; None if there is none, or if another replaced it by a merge."""
    try:
        memory = yield from reading.get(scope, memory_id, owner=owner, trace=trace)
    except NotFound:
        return None
    return None if memory.purged_at is not None or memory.merged_into is not None else memory


def _item(layout: Layout, owner: str, memory: Detail | None, score: float | None = None) -> SearchItem | None:
    place = None if memory is None else layout.place(owner, memory.id)
    if place is None or memory is None or memory.deleted_at is not None:
        return None
    return SearchItem(*place, layout.value(memory.content), memory.created_at, memory.updated_at, score)


def _get(scope: Scope, layout: Layout, owner: str, memory_id: str) -> Plan[SearchItem | None]:
    memory = yield from _there(scope, owner, memory_id, trace=None)
    if memory is not None and memory.sensitivity == SECRET and memory.deleted_at is None:
        with suppress(AccessDenied):  # without that right the item stays withheld
            memory = yield from reading.get(
                scope, memory_id, owner=owner, reveal=True, actor="assistant", reason="get of the LangGraph store"
            )
    return _item(layout, owner, memory)


def _put(scope: Scope, layout: Layout, op: PutOp) -> Plan[None]:
    owner, memory_id = layout.owner(op.namespace, "namespace"), layout.memory_id(op.namespace, op.key)
    there = yield from _there(scope, owner, memory_id)
    if op.value is None:
        if there is not None and there.deleted_at is None:
            yield from writing.delete(scope, memory_id, owner=owner, actor="assistant")
        return
    told, content = said(scope, owner, "assistant", None), layout.content(op.value)
    if there is None:
        added = yield from writing.add(
            scope,
            content,
            memory_id=memory_id,
            owner=owner,
            kind="note",
            source="assistant",
            actor="assistant",
            tags=(TAG,),
        )
        if not added.ignored:
            return
        there = yield from reading.get(scope, memory_id, owner=owner, trace=False)
    events = [] if there.deleted_at is None else [event(scope, told, "MemoryRestored", memory_id=memory_id)]
    if there.content != content:
        events.append(event(scope, told, "MemoryRevised", memory_id=memory_id, content=content))
    if events:
        yield from wrote(scope, told, events, about=[])


def _search(scope: Scope, layout: Layout, op: SearchOp) -> Plan[list[SearchItem]]:
    owner, wanted = layout.owner(op.namespace_prefix, "namespace_prefix"), op.offset + op.limit
    seen: set[str] = set()
    kept: list[SearchItem] = []

    def take(ids: Iterable[str], scores: Mapping[str, float]) -> Plan[None]:
        for memory_id in ids:
            place = layout.place(owner, memory_id)
            if place is None or place[0][: len(op.namespace_prefix)] != op.namespace_prefix:
                continue
            if memory_id in seen or len(kept) >= wanted:
                continue
            seen.add(memory_id)
            item = _item(layout, owner, (yield from _there(scope, owner, memory_id)), scores.get(memory_id))
            if item and all(matches(item.value.get(name), asked) for name, asked in (op.filter or {}).items()):
                kept.append(item)

    cursor = "" if op.query else None
    while cursor is not None and len(kept) < wanted:
        page = yield from questions.search(scope, op.query or "", owner=owner, limit=HITS, cursor=cursor or None)
        yield from take([one.id for one in page.results], {one.id: one.relevance for one in page.results})
        cursor = page.next
    if len(kept) < wanted:
        yield from take((yield from _listed(scope, owner)), {})
    return kept[op.offset : wanted]


def _listed(scope: Scope, owner: str) -> Plan[list[str]]:
    """The ids of all items and of what other programs remember, oldest first."""
    created: dict[str, datetime] = {}
    oldest: dict[str, Any] = {"owner": owner, "sort": "created", "order": "ascending", "limit": LISTED}
    for kept in (oldest, oldest | {"mode": "debug", "tags": (TAG,), "statuses": KEPT}):
        offset, total = 0, 1
        while offset < total:
            page = yield from questions.list_(scope, offset=offset, **kept)
            created |= {one.id: one.created_at for one in page.memories}
            offset, total = offset + LISTED, page.total
    return sorted(created, key=created.__getitem__)


def _namespaces(scope: Scope, layout: Layout, op: ListNamespacesOp) -> Plan[list[Namespace]]:
    prefix = next((tuple(one.path) for one in op.match_conditions or () if one.match_type == "prefix"), ())
    owner, there = layout.owner(prefix, "prefix"), InMemoryStore()
    for memory_id in (yield from _listed(scope, owner)):
        if place := layout.place(owner, memory_id):
            there.put(*place, {})
    return cast("list[Namespace]", there.batch([op])[0])


_ORDERED = {"$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}


def matches(value: Any, asked: Any) -> bool:
    """Whether a value is what a filter asks for: equal, or within its `$` comparisons as a number, inside objects too."""
    if isinstance(asked, Mapping) and any(str(name).startswith("$") for name in asked):
        return all(_compared(value, str(name), one) for name, one in asked.items())
    if isinstance(asked, Mapping):
        return isinstance(value, Mapping) and all(matches(value.get(name), one) for name, one in asked.items())
    return bool(value == (list(asked) if isinstance(asked, tuple) else asked))


def _compared(value: Any, name: str, other: Any) -> bool:
    if name in ("$eq", "$ne"):
        return bool(value == other) is (name == "$eq")
    if name not in _ORDERED:
        raise refused("filter", name, ", ".join(("$eq", "$ne", *_ORDERED)))
    try:
        return bool(_ORDERED[name](float(value), float(other)))
    except (TypeError, ValueError):
        return False
