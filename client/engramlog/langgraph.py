"""Engramlog as a LangGraph store: `builder.compile(store=EngramlogStore(Memory()))`. Needs the extra `langgraph`.

A namespace names the owner, by default in its first label: `("alice", "preferences")`; `EngramlogStore(memory, owner_at=1)`
reads `("memories", "alice")`. The other labels and the key make the memory's id: `preferences/tea`. So owners stay apart
whatever a graph asks for, and a search must name one. A value with nothing but a text under `text_key` is kept as that text,
any other as JSON; what other programs taught the same owner is found too. Replaced values stay readable as older versions; a
secret's text is withheld, as everywhere.
"""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from engramlog import questions, reading, writing
from engramlog.answers import Card, Detail
from engramlog.client import AsyncMemory, Memory
from engramlog.errors import InputError, NotFound, refused
from engramlog.events import event, said, wrote
from engramlog.wire import Plan, Scope

PAGE = 100
"""Hits that are asked for at a time."""
Namespace = tuple[str, ...]


class EngramlogStore(BaseStore):
    """LangGraph's store interface on a client. Without an `AsyncMemory`, awaited operations run the other in a thread.

    Filters are compared here, after the search. There is no time to live: memories fade by their owner's law.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        asynchronous: AsyncMemory | None = None,
        owner_at: int = 0,
        text_key: str = "text",
    ) -> None:
        self._memory = memory
        self._asynchronous = asynchronous
        self._layout = Layout(owner_at, text_key)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the operations in order; one result each."""
        return [self._memory.carry_out(done(self._memory.scope, self._layout, op)) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the operations in order; one result each."""
        client = self._asynchronous
        if client is None:
            return await asyncio.to_thread(self.batch, list(ops))
        return [await client.carry_out(done(client.scope, self._layout, op)) for op in ops]


class Layout(NamedTuple):
    """How namespaces and values lie in memories."""

    owner_at: int
    """Which label is the owner, from 0."""
    text_key: str

    def owner(self, namespace: Namespace, field: str) -> str:
        """The owner that a namespace names. Raises InputError where it does not reach that far."""
        owner = namespace[self.owner_at] if len(namespace) > self.owner_at else "*"
        if owner == "*":
            raise refused(field, namespace, f"one that names the owner as its label {self.owner_at} (from 0)")
        return owner

    def memory_id(self, namespace: Namespace, key: str) -> str:
        """The memory of an item: what of the namespace is not the owner, and the key."""
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
        """What a memory says of a value."""
        text = value.get(self.text_key)
        if len(value) == 1 and isinstance(text, str) and text.strip() and not isinstance(_read(text), dict):
            return text
        return json.dumps(value, ensure_ascii=False, sort_keys=True)

    def value(self, content: str) -> dict[str, Any]:
        """The value that a memory's content stands for."""
        read = _read(content)
        return read if isinstance(read, dict) else {self.text_key: content}


def _read(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        return None


def _escaped(part: str) -> str:
    """Letters, digits and what an id may hold besides; anything else by its number in hexadecimal between two `+`."""
    return "".join(one if _plain(one) else f"+{ord(one):x}+" for one in part)


def _plain(one: str) -> bool:
    return (one.isalnum() and unicodedata.is_normalized("NFC", one)) or one in "-_.:@"


def _unescaped(part: str) -> str:
    return re.sub(r"\+([0-9a-f]{1,6})\+", lambda found: chr(min(int(found[1], 16), 0x10FFFF)), part)


def done(scope: Scope, layout: Layout, op: Op) -> Plan[Any]:
    """One operation as a plan."""
    validate_op_namespace(op)
    if isinstance(op, GetOp):
        return (yield from _get(scope, layout, op))
    if isinstance(op, PutOp):
        return (yield from _put(scope, layout, op))
    if isinstance(op, SearchOp):
        return (yield from _search(scope, layout, op))
    if isinstance(op, ListNamespacesOp):
        return (yield from _namespaces(scope, layout, op))
    raise refused("op", op, "GetOp, PutOp, SearchOp or ListNamespacesOp")


def _there(scope: Scope, owner: str, memory_id: str, *, trace: bool | None) -> Plan[Detail | None]:
    """The memory as an item's: None where there is none, or where another stands for it; a deleted one says so itself."""
    try:
        memory = yield from reading.get(scope, memory_id, owner=owner, trace=trace)
    except NotFound:
        return None
    return None if memory.purged_at is not None or memory.merged_into is not None else memory


def _get(scope: Scope, layout: Layout, op: GetOp) -> Plan[Item | None]:
    owner = layout.owner(op.namespace, "namespace")
    memory = yield from _there(scope, owner, layout.memory_id(op.namespace, op.key), trace=None)
    if memory is None or memory.deleted_at is not None:
        return None
    return Item(
        value=layout.value(memory.content),
        key=op.key,
        namespace=op.namespace,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
    )


def _standing(scope: Scope, owner: str, memory_id: str) -> Plan[Detail]:
    """The memory, if events may still change it. Raises NotFound, or InputError where it was purged or merged away."""
    memory = yield from reading.get(scope, memory_id, owner=owner, trace=False)
    if memory.purged_at is not None:
        raise InputError(f"memory {memory_id} was purged: nothing can change it", owner=owner, memory_id=memory_id)
    if memory.merged_into is not None:
        raise InputError(
            f"memory {memory_id} was merged into {memory.merged_into}, which stands for it: name that one, or unmerge it",
            owner=owner,
            memory_id=memory_id,
            merged_into=memory.merged_into,
        )
    return memory


def _put(scope: Scope, layout: Layout, op: PutOp) -> Plan[None]:
    owner, memory_id = layout.owner(op.namespace, "namespace"), layout.memory_id(op.namespace, op.key)
    there = yield from _there(scope, owner, memory_id, trace=False)
    if op.value is None:
        if there is not None and there.deleted_at is None:
            yield from writing.delete(scope, memory_id, owner=owner, actor="assistant")
        return
    content = layout.content(op.value)
    if there is None:
        added = yield from writing.add(
            scope, content, memory_id=memory_id, owner=owner, kind="note", source="assistant", actor="assistant"
        )
        if not added.ignored:
            return
        there = yield from _standing(scope, owner, memory_id)
    told = said(scope, owner, "assistant", None)
    events = [] if there.deleted_at is None else [event(scope, told, "MemoryRestored", memory_id=memory_id)]
    if there.content != content:
        events.append(event(scope, told, "MemoryRevised", memory_id=memory_id, content=content))
    if events:
        yield from wrote(scope, told, events, about=[])


def _search(scope: Scope, layout: Layout, op: SearchOp) -> Plan[list[SearchItem]]:
    owner = layout.owner(op.namespace_prefix, "namespace_prefix")
    found: list[SearchItem] = []
    wanted, cursor = op.offset + op.limit, None
    while len(found) < wanted:
        scores: dict[str, float | None]
        if op.query:
            page = yield from questions.search(scope, op.query, owner=owner, limit=PAGE, cursor=cursor)
            scores, cursor = {one.id: one.relevance for one in page.results}, page.next
        else:
            scores = dict.fromkeys(_ids((yield from reading.get_all(scope, owner=owner)).memories))
        for memory_id, score in scores.items():
            place = layout.place(owner, memory_id)
            if place is None or place[0][: len(op.namespace_prefix)] != op.namespace_prefix:
                continue
            memory = yield from _there(scope, owner, memory_id, trace=False)
            if memory is None:
                continue
            value = layout.value(memory.content)
            if all(matches(value.get(name), asked) for name, asked in (op.filter or {}).items()):
                found.append(SearchItem(place[0], place[1], value, memory.created_at, memory.updated_at, score))
            if len(found) >= wanted:
                break
        if cursor is None:
            break
    return found[op.offset : wanted]


def _ids(cards: Iterable[Card]) -> Iterator[str]:
    return (one.id for one in cards)


_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "$eq": lambda value, other: value == other,
    "$ne": lambda value, other: value != other,
    "$gt": lambda value, other: value is not None and value > other,
    "$gte": lambda value, other: value is not None and value >= other,
    "$lt": lambda value, other: value is not None and value < other,
    "$lte": lambda value, other: value is not None and value <= other,
}


def matches(value: Any, asked: Any) -> bool:
    """Whether a value is what a filter asks for: the same, or within its `$` comparisons, inside objects too."""
    if not isinstance(asked, Mapping):
        return bool(value == asked)
    if not any(str(name).startswith("$") for name in asked):
        return isinstance(value, Mapping) and all(matches(value.get(name), one) for name, one in asked.items())
    unknown = sorted(set(asked) - set(_COMPARED))
    if unknown:
        raise refused("filter", ", ".join(unknown), ", ".join(_COMPARED))
    try:
        return all(_COMPARED[name](value, one) for name, one in asked.items())
    except TypeError:
        return False


def _namespaces(scope: Scope, layout: Layout, op: ListNamespacesOp) -> Plan[list[Namespace]]:
    conditions = op.match_conditions or ()
    prefix = next((tuple(one.path) for one in conditions if one.match_type == "prefix"), ())
    owner = layout.owner(prefix, "prefix")
    listed = yield from reading.get_all(scope, owner=owner)
    places = (layout.place(owner, one) for one in _ids(listed.memories))
    met = {place[0] for place in places if place is not None}
    kept = {namespace[: op.max_depth] for namespace in met if all(_fits(namespace, one) for one in conditions)}
    return sorted(kept)[op.offset : op.offset + op.limit]


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(part) == len(path) and all(one in ("*", label) for one, label in zip(path, part, strict=True))
