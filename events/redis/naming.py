"""What ids of words are made of, and which of them the log holds, asked of Redis (`events.naming`)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from engramlog_server.events.entry import FINGERPRINT_BYTES, dedupe_field
from engramlog_server.events.errors import StoreMismatch
from engramlog_server.events.naming import Naming
from engramlog_server.events.partitions import LogKeys, dedupe_bucket
from engramlog_server.events.redis.secrets import SEALED_SINCE
from engramlog_server.events.redis.wire import Script, Wire

PIECE = 1_000
"""Ids that are looked up at once."""
PROPOSE = Script(
    "propose a secret",
    """
-- KEYS: secrets, meta. ARGV: owner, its line. What lies open has 32 bytes, and does not come into a partition that is sealed.
local sealed = redis.call('HGET', KEYS[2], 'sealed')
if sealed and (sealed ~= '2' or #ARGV[2] == 32) then return -1 end
return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
""",
)


def read_naming(wire: Wire, keys: LogKeys, owner: str, proposed: bytes = b"") -> Naming:
    """By what ids are made of an owner's words; `proposed` becomes its secret where it has none.

    Whoever proposes at the same time is told the one that stands. Raises StoreError, StoreMismatch where the store was sealed since
    this process opened it.
    """
    lines = wire.seals.lines({owner: proposed}) if proposed else {}
    made = [wire.run(PROPOSE, [keys.secrets, keys.meta], [owner, line]) for line in lines.values()]
    if -1 in made:
        raise StoreMismatch(f"partition {{{keys.tag}}} {SEALED_SINCE}")
    line = wire.call("HGET", keys.secrets, owner)
    secret = b"" if line is None else wire.seals.secrets({owner: line})[owner]
    return Naming(owner, secret)


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
