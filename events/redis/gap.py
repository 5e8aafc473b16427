"""Whether a partition's log is whole: seqs from 1 to the head, none missing, none that no append wrote.

Ids are `<seq>-0` and grow, so a log without a gap has as many entries as its last seq. Redis counts them all the time: one look
costs microseconds however long the log is. It sees what reading on from a checkpoint cannot: entries gone behind it, or at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import LogGap
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import AGAIN, Script, Wire, run_many

MENDING = 'nothing is appended to it and nothing is folded over it; docs/operating.md, "A gap in the log", says what can be done'
LOOK = Script(
    "look",
    """
-- KEYS: stream, meta (whose head is in `seq` where its format is 1).
-- Answer: head, how many entries, first id, last id; or what stands in the stream's place
local kind = redis.call('TYPE', KEYS[1])['ok']
if kind ~= 'stream' and kind ~= 'none' then return {kind} end
local meta = redis.call('HMGET', KEYS[2], 'head', 'seq')
local head, many = meta[1] or meta[2] or '0', redis.call('XLEN', KEYS[1])
if many == 0 then return {head, 0, '', ''} end
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1][1]
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][1]
return {head, many, first, last}
""",
)


def refuse_gap(wire: Wire, tag: str, folded: int = 0) -> None:
    """Raises LogGap where a partition's log is not whole, or ends before `folded`, up to where it was folded. Writes nothing."""
    keys = LogKeys(tag)
    refuse_gap_seen(wire.run(LOOK, [keys.stream, keys.meta], []), tag, folded)


def look(wire: Wire, tags: Sequence[str]) -> list[list[Any]]:
    """What LOOK answers of each of these partitions' logs, all asked in one go. Raises StoreError."""
    asked = [((keys.stream, keys.meta), ()) for keys in map(LogKeys, tags)]
    return run_many(wire, LOOK, asked)


def refuse_gap_seen(seen: list[Any], tag: str, folded: int = 0) -> None:
    """Raises LogGap as `refuse_gap` does, by what `look` gave."""
    problem = gap_of(seen, folded)
    if problem:
        raise LogGap(f"partition {{{tag}}}: {problem}; {MENDING}", partition=tag)


def gap_of(look: list[Any], folded: int = 0) -> str | None:  # noqa: PLR0911 - a table of what can be wrong
    """What is wrong with a log, from the answer of LOOK; None where it is whole."""
    if len(look) == 1:
        return f"a {look[0].decode()} stands in the place of its log"
    if not look[0].isdigit():
        return f"its head is {look[0]!r}, which is no seq"
    head, many = int(look[0]), int(look[1])
    if not many:
        there = max(head, folded)
        return f"its log is empty, though {there} events were appended" if there else None
    for entry in look[2:]:
        if not entry.endswith(b"-0"):
            return f"its log has the entry {entry.decode()}, which no append wrote"
    first, last = (int(entry.removesuffix(b"-0")) for entry in look[2:])
    if first != 1:
        return f"its log begins at {first}: the {first - 1} entries before that are gone"
    if last > head:
        return f"its log has the entry {last}, beyond its head {head}, which no append wrote"
    if last < head:
        return f"its log ends at {last}, though {head} events were appended"
    if many != last:
        return f"its log ends at {last} and has {many} entries: " + (
            f"{last - many} are gone" if many < last else f"{many - last} of them no append wrote"
        )
    if folded > last:
        return f"its log ends at {last}, though it was folded up to {folded}"
    return None


def appending_refused(partition: int, head: int, many: int) -> str:
    """Why nothing is appended to a partition whose log has not as many entries as its head says: the hole would stay for good."""
    wrong = f"{head - many} are missing" if many < head else f"{many - head} of them no append wrote"
    return (
        f"partition {partition}: its log has {many} entries, though {head} events were appended: {wrong}; {MENDING}."
        f" Once it is whole, {AGAIN}"
    )


def refuse_holes(stored: list[Stored], after: int, tag: str) -> None:
    """Raises LogGap where entries do not follow on `after` without a gap. One comparison: ids only grow."""
    first, last = stored[0].seq, stored[-1].seq
    if first == after + 1 and last - first == len(stored) - 1:
        return
    expected = next(seq for seq, one in enumerate(stored, after + 1) if one.seq != seq)
    raise LogGap(
        f"partition {{{tag}}}: its log has no entry {expected}, and goes on at {stored[expected - after - 1].seq}; {MENDING}",
        partition=tag,
        missing=expected,
    )
