"""What ids of words are made of, and which of them the log holds, asked of Redis (`events.naming`)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from events.entry import FINGERPRINT_BYTES, dedupe_field
from events.errors import StoreMismatch
from events.naming import Naming
from events.partitions import LogKeys, dedupe_bucket
from events.redis.wire import Argument, Wire

PIECE = 1_000
"""Ids that are looked up at once."""


def read_naming(wire: Wire, keys: LogKeys, owner: str, proposed: bytes = b"") -> Naming:
    """By what ids are made of an owner's words, in one round trip; `proposed` becomes its secret where it has none.

    Whoever proposes at the same time is told the one that stands. Raises StoreError, StoreMismatch for a boundary that is none.
    """
    lines = wire.seals.lines({owner: proposed}) if proposed else {}
    make: list[list[Argument]] = [["HSETNX", keys.secrets, owner, line] for line in lines.values()]
    *made, line, boundary = wire.answers([*make, ["HGET", keys.secrets, owner], ["HGET", keys.meta, "format2"]])
    fresh = bool(made and made[0])  # an upgrade gave a secret to whoever has an entry of format 1
    if boundary is not None and not boundary.isdigit():
        raise StoreMismatch(
            f"partition {{{keys.tag}}}: its format 2 begins behind {boundary[:20]!r}, which is no seq: no upgrade wrote that; see"
            " `engramlog verify`"
        )
    secret = b"" if line is None else wire.seals.secrets({owner: line})[owner]
    return Naming(owner, secret, 0 if fresh else int(boundary or 0))


def read_seqs(wire: Wire, keys: LogKeys, owner: str, event_ids: Sequence[str]) -> dict[str, int]:
    """Where the log has those of these ids that dedupe has for the owner. Raises StoreError."""
    found: dict[str, int] = {}
    for start in range(0, len(event_ids), PIECE):
        buckets: dict[int, list[tuple[bytes, str]]] = {}
        for one in event_ids[start : start + PIECE]:
            field = dedupe_field(owner, UUID(one).bytes)
            buckets.setdefault(dedupe_bucket(field), []).append((field, one))
        answers = wire.answers(
            [["HMGET", keys.dedupe_of(at), *(field for field, _ in asked)] for at, asked in buckets.items()]
        )
        for asked, values in zip(buckets.values(), answers, strict=True):
            for (_, one), value in zip(asked, values, strict=True):
                seq = b"" if value is None else value[FINGERPRINT_BYTES:]
                if seq.isdigit():
                    found[one] = int(seq)
    return found
