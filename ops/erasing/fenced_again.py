"""Owners who were erased and came back with an older copy of the store, or of one of its nodes: fenced again by the list."""

from __future__ import annotations

from collections.abc import Sequence

from consumers.erasing.steps import fence
from events.door.of_the_store import ERASURES, label_of
from events.partitions import LogKeys, partition_of
from events.redis.naming import read_seqs
from events.redis.secrets import readmission
from events.redis.wire import Wire
from events.sealing.seals import is_tombstone
from ops.erasing.fence_list import AT_ONCE, ErasureStep, secret_lines
from ops.erasing.looked import note_looked, unlooked
from projections.redis.store import slices

OWNERS = "owners"


def fence_again(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[str]:
    """Fence those owners of the list whose erasure ended and who have a key: it is an older copy. Gives who they are.

    None where the store's log has all that the list has, and of a Cluster each partition was looked through for it. Raises
    StoreError.
    """
    if not listed:
        return []
    keys = LogKeys(tags[partition_of(ERASURES, len(tags))])
    events = [one.event for one in listed]
    if all(len(read_seqs(wire, keys, ERASURES, some)) == len(set(some)) for some in slices(events, AT_ONCE)):
        older = unlooked(wire, tags, listed, OWNERS)
    else:
        older = list(tags)
    found = list[str]()
    wanted = {one.label: one.erasure for one in listed if one.step == "ended"}
    for tag in older:
        for owner, line in secret_lines(wire, tag):
            erasure = wanted.get(label_of(listed[0].store, owner))
            if erasure is not None and not is_tombstone(line) and not _readmitted(wire, tag, owner, erasure):
                fence(wire, tag, owner, erasure)
                found.append(owner)
    if wire.many:
        note_looked(wire, older, listed, OWNERS)
    return found


def _readmitted(wire: Wire, tag: str, owner: str, erasure: str) -> bool:
    line = wire.call("HGET", LogKeys(tag).readmitted, owner)
    return line is not None and readmission(owner, line)[1] == erasure
