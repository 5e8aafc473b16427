"""All vectors of a store, whatever owner and model they are of: how many there are, and dropping them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from engramlog_server.events.redis.scan import PAGE, keys_like
from engramlog_server.events.redis.wire import Wire

VECTOR_TABLES = (b"vec", b"vep", b"ven", b"vea", b"vem")


def count_vectors(wire: Wire, tags: Sequence[str]) -> int:
    """How many texts have vectors, each once for every owner and model."""
    found, names = 0, (key for key, table in _vector_keys(wire, tags) if table == b"vec")
    while some := list(islice(names, PAGE)):
        found += sum(wire.answers([["HLEN", key] for key in some]))
    return found


def drop_vectors(wire: Wire, tags: Sequence[str]) -> None:
    """Drop every vector, under every model, with the marks of the embedding job: it looks at all owners anew."""
    names = (key for key, _ in _vector_keys(wire, tags))
    while some := list(islice(names, PAGE)):
        wire.answers([["UNLINK", *some]])


def _vector_keys(wire: Wire, tags: Sequence[str]) -> Iterator[tuple[bytes, bytes]]:
    """Keys of the vectors of all partitions, and what table each is of; one pass over all keys that there are."""
    prefixes = {f"{{{tag}}}".encode() for tag in tags}
    for key, _ in keys_like(wire, "*:ve?*"):
        prefix, _, name = key.partition(b":")
        table = name.partition(b":")[0]
        if prefix in prefixes and table in VECTOR_TABLES:
            yield key, table
