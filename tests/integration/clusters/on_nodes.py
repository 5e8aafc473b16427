"""A store on a Redis Cluster as a test looks at it: who lies on which node, and what lies open in its memory and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import redis

from engramlog_server.events.partitions import DEFAULT_PARTITIONS, LogKeys, partition_of
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.node import ClusterNode
from tests.given.dumped import dump

CANDIDATES = [f"owner-{number}" for number in range(100)]


def owners_by_node(cluster: GivenCluster, tags: Sequence[str]) -> dict[ClusterNode, str]:
    """Of each primary one owner whose partition it holds."""
    found = dict[ClusterNode, str]()
    for owner in CANDIDATES:
        node = cluster.node_of(LogKeys(tags[partition_of(owner, len(tags))]).meta)
        found.setdefault(node, owner)
    assert set(found) == set(cluster.primaries())
    return found


@contextmanager
def of_node(node: ClusterNode) -> Iterator[redis.Redis]:
    """A client of one node, and of no other."""
    with node.client() as client:
        yield client


def open_in_memory(cluster: GivenCluster, word: str) -> list[str]:
    """Keys under which a word lies open, on whichever primary."""
    found = list[str]()
    for node in cluster.primaries():
        with of_node(node) as client:
            found += [f"{node.address} {key}" for key, value in dump(client).items() if word in f"{key}{value}"]
    return found


def open_in_files(cluster: GivenCluster, word: str) -> list[str]:
    """Files of whichever node in which a word lies open."""
    found = list[str]()
    for node in cluster.nodes:
        for path in sorted(node.folder.rglob("*")):
            if path.is_file() and word.encode() in path.read_bytes():
                found.append(str(Path(node.address) / path.relative_to(node.folder)))
    return found


PARTITIONS = DEFAULT_PARTITIONS
