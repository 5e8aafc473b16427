"""What stands beside a partition's log, against the log itself: dedupe of every event id, owners' heads, the head of it all.

Producers go on meanwhile. What was appended up to the head at the beginning must be there and right; what came since may be,
and is right if it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from consumers.verify.ledger import Ledger, bucket_number, dedupe_value, moves_head
from consumers.verify.scan import pairs, tables
from consumers.verify.verdict import Findings
from events.entry import dedupe_field
from events.envelope import Stored
from events.partitions import LogKeys, dedupe_bucket, position_text
from events.redis.wire import Wire

MOST_READ_AGAIN = 16
"""Buckets that differ and are read again, id by id."""
MOST_NAMED = 20
Read = Callable[[int, int], Iterator[list[Stored]]]
"""Batches of the log after one seq up to another."""
SecretsOf = Callable[[list[Stored]], Mapping[str, bytes]]
"""The secrets of a batch's owners."""


class _Newer(NamedTuple):
    """What was appended after the head at which the comparison began."""

    values: dict[bytes, bytes]
    left_out: dict[bytes, int]
    heads: dict[str, set[int]]


def compare_log_keys(
    wire: Wire, keys: LogKeys, buckets: set[int], ledger: Ledger, read: Read, secrets_of: SecretsOf, verdict: Findings
) -> None:
    """Tell what differs. The ledger was fed up to the head of a moment ago; this reads on. `buckets`: those that have a key."""
    heads = dict(pairs(wire, keys.heads))
    wrong, after = _compare_buckets(wire, keys, buckets, ledger, verdict)
    newer = _Newer({}, {}, defaultdict(set))
    head = int(wire.call("HGET", keys.meta, "head") or 0)
    for batch in read(ledger.seq, head):
        secrets = secrets_of(batch)
        newer.values.update((field, value) for _, field, value in _deduped(batch, secrets))
        for one in batch:
            if one.owner not in secrets:
                newer.left_out[dedupe_field(one.owner, one.raw_id)] = one.seq
            if moves_head(one):
                newer.heads[one.owner].add(one.seq)
    for raw_id, value in after.items():
        if newer.values.get(raw_id) != value and newer.left_out.get(raw_id) != _seq(value):
            verdict.differs("dedupe of an event that is not in the log", event=raw_id.hex(), stored=value[8:].hex())
    _compare_heads(ledger, heads, newer, verdict)
    _name_wrong(wire, keys, ledger, wrong, read, secrets_of, verdict)


def _deduped(batch: list[Stored], secrets: Mapping[str, bytes]) -> Iterator[tuple[Stored, bytes, bytes]]:
    """Each entry with its field and value in dedupe; an owner without a secret was told."""
    for one in batch:
        if (secret := secrets.get(one.owner)) is not None:
            yield one, dedupe_field(one.owner, one.raw_id), dedupe_value(one, secret)


def _compare_buckets(
    wire: Wire, keys: LogKeys, buckets: set[int], ledger: Ledger, verdict: Findings
) -> tuple[list[int], dict[bytes, bytes]]:
    """Buckets that do not give the log's number, and what they hold of events after the ledger's."""
    wrong, after, met = [], dict[bytes, bytes](), set[bytes]()
    filled = {bucket for bucket, number in enumerate(ledger.buckets) if number}
    asked = {keys.dedupe_of(bucket): bucket for bucket in sorted(buckets | filled)}
    for key, found in tables(wire, list(asked)):
        bucket, held = asked[key], dict[bytes, bytes]()
        for raw_id, value in found:
            seq = _seq(value)
            if seq is None or len(raw_id) != 16 or dedupe_bucket(raw_id) != bucket:
                verdict.differs("dedupe that no append wrote", bucket=bucket, event=raw_id.hex())
            elif seq > ledger.seq:
                after[raw_id] = value
            elif ledger.left_out.get(raw_id) == seq:
                met.add(raw_id)
            else:
                held[raw_id] = value
        if bucket_number(held) != ledger.buckets[bucket]:
            wrong.append(bucket)
    if gone := len(ledger.left_out) - len(met):
        verdict.differs("dedupe of events of owners whose keys cannot be had", missing=gone)
    return wrong, after


def _seq(value: bytes) -> int | None:
    """The seq in a bucket's value; None where it is none that an append writes."""
    text = value[8:]
    return int(text) if text.isdigit() and text == b"%d" % int(text) else None


def _compare_heads(ledger: Ledger, found: dict[bytes, bytes], newer: _Newer, verdict: Findings) -> None:
    expected = {owner.encode(): seq for owner, seq in ledger.heads.items()}
    moved = {owner.encode(): seqs for owner, seqs in newer.heads.items()}
    for owner in sorted(expected.keys() | found.keys()):
        allowed = {b"%d" % seq for seq in {expected.get(owner, 0), *moved.get(owner, ())} if seq}
        if found.get(owner) not in allowed:
            stored = found.get(owner, b"").decode("utf-8", "backslashreplace")
            name = owner.decode("utf-8", "backslashreplace")
            verdict.differs("an owner's head, `expected_head`", owner=name, stored=stored, log=expected.get(owner, 0))


def _name_wrong(
    wire: Wire, keys: LogKeys, ledger: Ledger, wrong: list[int], read: Read, secrets_of: SecretsOf, verdict: Findings
) -> None:
    """Say which ids make a bucket differ."""
    expected: dict[int, dict[bytes, bytes]] = {bucket: {} for bucket in wrong[:MOST_READ_AGAIN]}
    if expected:
        for batch in read(0, ledger.seq):
            for _, field, value in _deduped(batch, secrets_of(batch)):
                if (bucket := dedupe_bucket(field)) in expected and field not in ledger.left_out:
                    expected[bucket][field] = value
    for bucket, mine in expected.items():
        found = pairs(wire, keys.dedupe_of(bucket))
        held = {one: value for one, value in found if ledger.left_out.get(one, -1) != _seq(value)}
        ids = [raw_id for raw_id in mine.keys() | held.keys() if mine.get(raw_id) != held.get(raw_id)]
        places = [position_text(verdict.partition, _seq(mine[one]) or 0) if one in mine else one.hex() for one in ids]
        verdict.differs("dedupe of events", bucket=bucket, events=sorted(places)[:MOST_NAMED])
    for bucket in wrong[MOST_READ_AGAIN:]:
        verdict.differs("dedupe of events", bucket=bucket)
