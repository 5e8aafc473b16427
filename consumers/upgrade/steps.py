"""Bringing a log of format 1 over to format 2, in steps that can each be repeated.

The mark comes first: from then on 0.2.0 refuses the store, and so does every command of this release but the upgrade. Then all
vectors go: 0.2.0 named them by hashes of their texts that anybody can make. Then every partition: a secret for each owner, dedupe
as this release looks it up, and in one script the boundary and the end of the old dedupe. No entry is touched. What is done is
recorded by what stands: a partition that has its boundary is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from consumers.fold.folder import Probe, unprobed
from consumers.fold.rebuild_run import RebuildRun, drop_left_builds
from consumers.verify.ledger import dedupe_value
from consumers.verify.scan import PAGE, keys_like, pairs
from events.entry import SECRET_BYTES, dedupe_field
from events.envelope import Stored
from events.errors import LogGap, OtherFormat
from events.parameters import PARAMETER_SET
from events.partitions import DEDUPE_BUCKETS, FENCE, FORMAT, STORE_KEY, LogKeys, dedupe_bucket
from events.redis.gap import MENDING, refuse_gap, refuse_holes
from events.redis.log import entries
from events.redis.secrets import Chance
from events.redis.wire import Argument, Script, Wire
from events.standing import OWN

READ_COUNT = 500
BEFORE, BETWEEN = "1", f"1>{FORMAT}"
"""The format of a store that is to be brought over, and of one that is being."""
OLD_PARAMETER_SETS = ("2026-11", PARAMETER_SET)
"""What a store of format 1 may have been made with, or be marked with already."""
VECTOR_TABLES = (b"vec", b"vep", b"ven", b"vea", b"vem")
NEVER_MS = (1 << 53) - 1
Progress = Callable[[int, int], None]

MARK = Script(
    "mark",
    """
-- KEYS: engramlog:store. ARGV: format to have, parameter set to have, formats that it may have now
local call = redis.call
if call('EXISTS', KEYS[1]) == 0 then return 'none' end
local held = call('HGET', KEYS[1], 'format') or '1'
for i = 3, #ARGV do
  if held == ARGV[i] then
    call('HSET', KEYS[1], 'parameter_set', ARGV[2], 'format', ARGV[1])
    return 'ok'
  end
end
return held
""",
)
BOUNDARY = Script(
    "boundary",
    """
-- KEYS: meta, stream, then every bucket of the old dedupe. ARGV: seq up to which all was brought over, what fences 0.2
-- The sum lets a verification tell a boundary that was changed: no entry says when format 1 ended.
-- What is recorded from now on is not before the boundary: `rec` is where the append script goes on from.
local call = redis.call
if call('HEXISTS', KEYS[1], 'format2') == 1 then return 'done' end
local head = call('HGET', KEYS[1], 'seq') or '0'
if head ~= ARGV[1] or call('XLEN', KEYS[2]) ~= tonumber(head) then return 'elsewhere' end
local time = call('TIME')
local clock = string.format('%d%06d', tonumber(time[1]), tonumber(time[2]))
local sum = redis.sha1hex(head .. ':' .. clock)
call('HSET', KEYS[1], 'head', head, 'format2', head, 'format2_at', clock, 'format2_sum', sum, 'rec', clock, 'seq', ARGV[2])
call('UNLINK', unpack(KEYS, 3))
return 'ok'
""",
)


class UpgradeProgress(NamedTuple):
    """How far a partition is."""

    head: int
    boundary: int | None
    """The last seq of format 1; None before the boundary is written."""
    at: int | None
    """When it was written, microseconds."""


def standing(wire: Wire, tags: Sequence[str]) -> list[UpgradeProgress]:
    """Every partition, in one round trip. Raises StoreError."""
    found = []
    asked = [["HMGET", LogKeys(tag).meta, "head", "seq", "format2", "format2_at"] for tag in tags]
    for head, old_head, boundary, at in wire.answers(asked):
        seq = int(head or (old_head if boundary is None else None) or 0)
        found.append(UpgradeProgress(seq, None if boundary is None else int(boundary), None if at is None else int(at)))
    return found


def reserved_owners(wire: Wire, tag: str) -> list[str]:
    """Owners of a partition with a name that is the store's own by now: they stay, and nothing new begins under it."""
    names = (name for name, _ in pairs(wire, LogKeys(tag).heads))
    return [name.decode("utf-8", "backslashreplace") for name in names if name.startswith(OWN.encode())]


def mark(wire: Wire) -> None:
    """Have every other release, and every other command of this one, refuse the store from here on."""
    RebuildRun.forget(wire)  # what an earlier rebuild did is not what this one needs
    _set_format(wire, BETWEEN, BEFORE, BETWEEN)


def finish(wire: Wire) -> None:
    """The store is of this format."""
    _set_format(wire, str(FORMAT), BETWEEN, str(FORMAT))


def _set_format(wire: Wire, wanted: str, *allowed: str) -> None:
    answer = wire.run(MARK, [STORE_KEY], [wanted, PARAMETER_SET, *allowed]).decode()
    if answer != "ok":
        raise OtherFormat(
            f"the log of this store is of format {answer[:20]} by now, not of {' or '.join(allowed)}: was it replaced, or brought"
            " over by another process?",
            format=answer[:20],
        )


def bring_over(
    wire: Wire, tag: str, chance: Chance, *, probe: Probe = unprobed, on_progress: Progress = lambda _done, _all: None
) -> bool:
    """Make secrets and dedupe of a partition's log and write its boundary; False where that was done before.

    Raises LogGap where the log is not whole, or has an entry of format 2 already: it is touched by nothing.
    """
    keys = LogKeys(tag)
    if wire.call("HEXISTS", keys.meta, "format2"):
        return False
    refuse_gap(wire, tag)
    drop_left_builds(wire, tag, NEVER_MS)  # what a killed rebuild folded before the change is not gone on with
    after, old = 0, [keys.old_dedupe_of(bucket) for bucket in range(DEDUPE_BUCKETS)]
    head = int(wire.call("HGET", keys.meta, "seq") or 0)
    while True:
        batch = entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", READ_COUNT), tag)
        if batch:
            refuse_holes(batch, after, tag)
            _bring_page(wire, keys, batch, chance)
            after = batch[-1].seq
            probe("after a page")
            on_progress(after, max(after, head))
            continue
        probe("before a boundary")
        if wire.run(BOUNDARY, [keys.meta, keys.stream, *old], [after, FENCE]) != b"elsewhere":
            probe("after a boundary")
            return True
        refuse_gap(wire, tag, after)  # else something was appended meanwhile: read on


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


def _bring_page(wire: Wire, keys: LogKeys, batch: list[Stored], chance: Chance) -> None:
    """Secrets and dedupe of some entries. Written twice, they are the same: the secret that stands is the one used."""
    newer = next((one.seq for one in batch if one.beside), None)
    if newer is not None:
        raise LogGap(
            f"partition {{{keys.tag}}}: its entry {newer} is of format {FORMAT}, before that format began; {MENDING}",
            partition=keys.tag,
        )
    owners = list(dict.fromkeys(one.owner for one in batch))
    held = wire.call("HMGET", keys.secrets, *owners)
    lacking = [owner for owner, secret in zip(owners, held, strict=True) if secret is None]
    if lacking:
        wire.answers([["HSETNX", keys.secrets, owner, chance(SECRET_BYTES)] for owner in lacking])
        held = wire.call("HMGET", keys.secrets, *owners)
    secrets = dict(zip(owners, held, strict=True))
    buckets: dict[int, list[Argument]] = {}
    for one in batch:
        field = dedupe_field(one.owner, one.raw_id)
        buckets.setdefault(dedupe_bucket(field), []).extend((field, dedupe_value(one, secrets[one.owner])))
    wire.answers([["HSET", keys.dedupe_of(bucket), *pairs] for bucket, pairs in buckets.items()])
