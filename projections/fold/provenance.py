"""Where a memory comes from: source turns -> memories -> merged, corrected or summarised from -> events.

A tree of any depth without cycles, told as a flat list of nodes that each name their parent: depth costs no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NotRequired, TypedDict

from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.fold.changelog import _TYPES, DECISIONS, Entry, id_text
from engramlog_server.projections.memory.record import Memory


class OriginEvent(TypedDict):
    """An event that made or changed a memory among the origins."""

    position: str
    event_id: str
    event: str


class OriginNode(TypedDict):
    """A memory that another comes from, and which one that is."""

    id: str
    parent: str | None
    relation: str
    depth: int
    events: list[OriginEvent]
    events_left_out: NotRequired[int | None]
    unknown: NotRequired[bool | None]
    source_turns: NotRequired[list[str] | None]
    created_at: NotRequired[str | None]
    set_aside: NotRequired[bool | None]
    source_erased: NotRequired[bool | None]


class OriginTree(TypedDict):
    """What a memory comes from: nodes that each name their parent."""

    memory: str
    nodes: list[OriginNode]
    nodes_left_out: NotRequired[int | None]


Get = Callable[[str], Memory | None]


def origins(memory: Memory) -> list[tuple[str, str]]:
    """(relation, id) of each memory that this one was made from or after."""
    found = [("merged_from", source) for source in memory.merged_from]
    found += [("summarises", source) for source in memory.summarises]
    if memory.corrects:
        found.append(("corrects", memory.corrects))
    return found


def tree(memory_id: str, get: Get, most: int | None = None) -> OriginTree:
    """The tree below a memory, without events. A memory that several come from stands below the first that names it.

    `most`: nodes at the most, the root among them; `nodes_left_out` says where there were more, and how many waited.
    """
    nodes: list[OriginNode] = []
    seen = {memory_id}
    waiting: list[tuple[str, str | None, str, int]] = [(memory_id, None, "root", 0)]
    while waiting and (most is None or len(nodes) < most):
        current, parent, relation, depth = waiting.pop()
        memory = get(current)
        node: OriginNode = {"id": current, "parent": parent, "relation": relation, "depth": depth, "events": []}
        if memory is None:
            node["unknown"] = True
        else:
            node["source_turns"] = list(memory.source_turns)
            node["created_at"] = utc_text(from_micros(memory.created_at))
            if memory.aside_seq is not None:
                node["set_aside"] = True
            for origin_relation, origin in reversed(origins(memory)):
                if origin not in seen:
                    seen.add(origin)
                    waiting.append((origin, current, origin_relation, depth + 1))
        nodes.append(node)
    told: OriginTree = {"memory": memory_id, "nodes": nodes}
    if waiting:
        told["nodes_left_out"] = len(waiting)
    return told


def with_events(told: OriginTree, entries: Iterable[Entry], partition: int, most: int | None = None) -> OriginTree:
    """The same tree with the events that made and changed its memories, which are read one by one, the oldest first.

    `most`: events of one memory at the most; `events_left_out` says how many more it had.
    """
    nodes = {node["id"]: node for node in told["nodes"]}
    for entry in entries:
        node = nodes.get(entry.memory_id)
        if node is None or DECISIONS[entry.decision] in ("ignored", "named"):
            continue
        if most is not None and len(node["events"]) >= most:
            node["events_left_out"] = (node.get("events_left_out") or 0) + 1
            continue
        node["events"].append(
            {
                "position": position_text(partition, entry.seq),
                "event_id": id_text(entry.raw_id),
                "event": _TYPES[entry.type],
            }
        )
    return told
