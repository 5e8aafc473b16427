"""What was appended before under an id, with what it took along: read from the log, whatever has happened since."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from api.services.histories import SCANNED
from api.work.patience import weigh
from events.envelope import AnyEvent, decode
from events.log import EventLog
from events.partitions import partition_of

PAGE = 500


class LogEvent(NamedTuple):
    """An event as the log has it."""

    seq: int
    event: AnyEvent


def carried_before(log: EventLog, owner: str, event_ids: Collection[str]) -> dict[str, list[LogEvent]]:
    """Those of these ids under which the owner has an event -> that event, and after it what names it as its cause.

    What follows from an event is appended in the same request: it stands right behind it, or behind another one's of them.
    Raises UnderReplicated as appending them again would.
    """
    seqs = log.seqs_of(owner, list(event_ids))
    found: dict[str, list[LogEvent]] = {one: [] for one in sorted(seqs, key=seqs.__getitem__)}
    if not found:
        return found
    log.prove(owner, seqs)
    partition, at, last = partition_of(owner, log.partitions), min(seqs.values()) - 1, max(seqs.values())
    weigh((last - at) // SCANNED)
    while page := log.read(partition, at, PAGE):
        for one in page:
            event = decode(one.kind, one.body) if one.owner == owner else None
            root = event and (event.event_id if event.event_id in found else event.causation_id)
            if event is None or root not in found:
                if one.seq > last:
                    return found
                continue
            found[root].append(LogEvent(one.seq, event))
        at = page[-1].seq
    return found
