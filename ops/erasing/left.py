"""Owners who are fenced and of whom something lies there all the same: an older copy brought it, or their erasure did not end."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from engramlog_server.events.of_the_store import ERASURES, label_of
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.secrets import read_seqs
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.cipher import salts_id
from engramlog_server.events.sealing.seals import erasure_of, is_tombstone
from engramlog_server.ops.erasing.fence_list import AT_ONCE, ErasureStep, open_erasures, secret_lines
from engramlog_server.projections.fold.builds import BuildKeys
from engramlog_server.projections.redis.store import slices


def left_behind(wire: Wire, tags: Sequence[str], unended: Collection[str] = ()) -> list[str]:
    """Those of them of whom the live build has something, or the newest entry has its salt, or whose erasure is one of these.

    Raises StoreError.
    """
    found = list[str]()
    for tag in tags:
        keys = LogKeys(tag)
        live = BuildKeys(tag, (wire.call("HGET", keys.meta, "live") or b"").decode())
        for owner, line in secret_lines(wire, tag):
            if not is_tombstone(line):
                continue
            state, stuck, head = wire.answers(
                [["HEXISTS", live.owners, owner], ["HEXISTS", live.quarantine, owner], ["HGET", keys.heads, owner]]
            )
            seq = int(head or 0)
            newest = entries(wire.call("XRANGE", keys.stream, f"{seq}-0", f"{seq}-0"), tag) if seq else []
            salts = wire.seals.keys.salts([salts_id(one.body) for one in newest])
            if state or stuck or salts or erasure_of(line) in unended:
                found.append(owner)
    return found


def untold(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> set[str]:
    """Erasures of the list of which the log says nothing: it is an older copy whose keys were brought back. Raises StoreError."""
    keys, known = LogKeys(tags[partition_of(ERASURES, len(tags))]), set[str]()
    for some in slices(sorted({one.event for one in listed}), AT_ONCE):
        known |= read_seqs(wire, keys, ERASURES, some).keys()
    return {one.erasure for one in listed} - {one.erasure for one in listed if one.event in known}


def unfinished(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[str]:
    """Owners whose erasure began and did not end, by the list; found by their labels. Raises StoreError."""
    labels = {one.label for one in open_erasures(listed).values()}
    if not labels:
        return []
    store_id = listed[0].store
    return [owner for tag in tags for owner, _ in secret_lines(wire, tag) if label_of(store_id, owner) in labels]
