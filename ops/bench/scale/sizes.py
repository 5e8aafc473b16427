"""Where a store's bytes in Redis lie, by what its keys are for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from ops.bench.scale.servers import BenchNode, Nodes

_AT_ONCE = 500
_WHOLE = 2_000_000
"""Events up to which every element of every key is weighed; of more, `_SAMPLES` of each key."""
_SAMPLES = 1_000
_KINDS = {
    "ev": "stream", "ids": "dedupe", "salts": "salts", "heads": "owners", "keys": "owners", "own": "owners",
    "st": "records", "chg": "records", "log": "changes", "tail": "changes", "idx": "changes", "past": "changes",
}  # fmt: skip
KINDS = ("stream", "changes", "records", "dedupe", "owners", "salts", "others")


class Sizes(NamedTuple):
    """Bytes of memory by kind of key; of all servers together."""

    kinds: dict[str, int]
    rest: int
    """Dataset that no key tells: tables of the server, gaps between allocations."""
    keys: int
    memories: int
    largest_stream: int
    resident: int
    """What the systems gave the servers, gaps and all, above what they tell of their data."""
    used: int


def measure_sizes(nodes: Nodes, events: int) -> Sizes:
    """Weigh every key."""
    kinds, keys, memories, largest = Counter[str](dict.fromkeys(KINDS, 0)), 0, 0, 0
    for node in nodes.primaries:
        for kind, size, held in _weighed(node, 0 if events <= _WHOLE else _SAMPLES):
            kinds[kind] += size
            keys += 1
            memories += held
            largest = max(largest, size if kind == "stream" else 0)
    told = [node.info("memory") for node in nodes.primaries]
    used = sum(int(one["used_memory"]) for one in told)
    data = sum(int(one["used_memory_dataset"]) for one in told)
    resident = sum(int(one["used_memory_rss"]) for one in told)
    return Sizes(dict(kinds), data - sum(kinds.values()), keys, memories, largest, resident, used)


def _weighed(node: BenchNode, samples: int) -> Iterator[tuple[str, int, int]]:
    """Of each key its kind, its bytes, and how many memories it holds."""
    scanned = iter(node.client.scan_iter(count=_AT_ONCE))
    while names := list(islice(scanned, _AT_ONCE)):
        pipe: Any = node.client.pipeline(transaction=False)
        for name in names:
            pipe.memory_usage(name, samples=samples)
            if _part(name) == "st":
                pipe.hlen(name)
        answers = iter(pipe.execute())
        for name in names:
            part = _part(name)
            size = int(next(answers) or 0)
            yield _KINDS.get(part, "others"), size, int(next(answers)) if part == "st" else 0


def _part(name: bytes) -> str:
    """`ev` of `{e1}:ev`, `st` of `{e1}:v7:st:owner`."""
    _, _, rest = name.partition(b"}:")
    parts = rest.split(b":", 2)
    built = len(parts) > 1 and parts[0][:1] == b"v" and parts[0][1:2].isdigit()
    return parts[1 if built else 0].decode()
