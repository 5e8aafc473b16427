"""Where a memory comes from: source turns -> memories -> merged, corrected or summarised from -> events.

A tree of any depth without cycles, told as a flat list of nodes that each name their parent: depth costs no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from events.envelope import from_micros, utc_text
from events.partitions import position_text
from projections.changelog import _TYPES, DECISIONS, Entry, id_text
from projections.memory import Memory

Get = Callable[[str], Memory | None]


def origins(memory: Memory) -> list[tuple[str, str]]:
    """(relation, id) of each memory that this one was made from or after."""
    found = [("merged_from", source) for source in memory.merged_from]
    found += [("summarises", source) for source in memory.summarises]
    if memory.corrects:
        found.append(("corrects", memory.corrects))
    return found


def provenance(memory_id: str, get: Get, entries: Sequence[Entry], partition: int) -> dict[str, Any]:
    """The tree below a memory. A memory that several come from stands below the first that names it."""
    events: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        if DECISIONS[entry.decision] not in ("ignored", "named"):
            told = {
                "position": position_text(partition, entry.seq),
                "event_id": id_text(entry.raw_id),
                "event": _TYPES[entry.type],
            }
            events.setdefault(entry.memory_id, []).append(told)
    nodes: list[dict[str, Any]] = []
    seen = {memory_id}
    waiting: list[tuple[str, str | None, str, int]] = [(memory_id, None, "root", 0)]
    while waiting:
        current, parent, relation, depth = waiting.pop()
        memory = get(current)
        node: dict[str, Any] = {
            "id": current,
            "parent": parent,
            "relation": relation,
            "depth": depth,
            "events": events.get(current, []),
        }
        if memory is None:
            node["unknown"] = True
        else:
            node["source_turns"] = list(memory.source_turns)
            node["created_at"] = utc_text(from_micros(memory.created_at))
            for origin_relation, origin in reversed(origins(memory)):
                if origin not in seen:
                    seen.add(origin)
                    waiting.append((origin, current, origin_relation, depth + 1))
        nodes.append(node)
    return {"memory": memory_id, "nodes": nodes}
