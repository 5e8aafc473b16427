"""What a fold must at least write: each final record and each event's change-log entry, once. Found by a fold without a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from events.envelope import Stored
from events.partitions import LogKeys, partition_of
from ops.bench.raw import RawConnection
from projections.fold.builds import FIRST_BUILD, BuildKeys
from projections.fold.changelog import pack
from projections.fold.partition import Checkpoint, WorkingOwner, decode_all, fold_batch
from projections.memory.record import encode_memory

RAW = "raw:"
"""Begins the names of the keys that a limit writes."""
Command = tuple[Any, ...]


class Finals:
    """Folds what was stored, event by event and without a store; keeps its owners from one call to the next."""

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        self._owners = {name: WorkingOwner(secret=secret) for name, secret in secrets.items()}

    def writes(self, stored: Sequence[Stored]) -> list[Written]:
        """Of each event of one partition, in order: its entry, and the records that no later one of these changes."""
        found, last = list[Written](), dict[tuple[str, str], int]()
        for number, one in enumerate(decode_all(stored)):
            outcome = fold_batch(Checkpoint(), self._owners, [one])
            part, applied = outcome.owners[one[0].owner], self._owners[one[0].owner].state.applied
            found.append(Written(one[0], pack(applied, part.seqs, part.entries), {}))
            last |= dict.fromkeys(((one[0].owner, memory_id) for memory_id in part.touched), number)
        for (owner, memory_id), number in last.items():
            found[number].records[memory_id] = encode_memory(self._owners[owner].memories[memory_id])
        return found


class Written(NamedTuple):
    """One event as it is stored, its packed change-log entry, and its final records by memory id."""

    stored: Stored
    entry: bytes
    records: dict[str, bytes]


def commits(written: Iterable[Written], size: int, tags: Sequence[str]) -> list[list[Command]]:
    """The commands of each commit of so many events: an XADD of each entry as the log holds it, one HSET a key."""
    events = list(written)
    return [list(_commit(events[at : at + size], tags)) for at in range(0, len(events), size)]


def hsets(written: Iterable[Written], tags: Sequence[str], *, entries: bool = True) -> Iterator[Command]:
    """One HSET a key: the records, and where `entries` is true the change log."""
    fields: dict[str, list[Any]] = {}
    for stored, entry, records in written:
        keys = BuildKeys(tags[partition_of(stored.owner, len(tags))], FIRST_BUILD)
        if entries:
            fields.setdefault(keys.changelog(stored.owner), []).extend((str(stored.seq), entry))
        if records:
            held = fields.setdefault(keys.records(stored.owner), [])
            for pair in records.items():
                held.extend(pair)
    yield from (("HSET", RAW + key, *values) for key, values in fields.items())


def _commit(events: Sequence[Written], tags: Sequence[str]) -> Iterator[Command]:
    yield from entry_commands([one.stored for one in events], tags)
    yield from hsets(events, tags)


def entry_commands(stored: Iterable[Stored], tags: Sequence[str]) -> Iterator[Command]:
    """An XADD of each entry, with all that the log holds of it."""
    streams = [RAW + LogKeys(tag).stream for tag in tags]
    for one in stored:
        recorded, principal, level, digests, committed, *_ = one.beside
        fields = ("t", one.kind, "i", one.raw_id, "o", one.owner, "e", one.body, "r", recorded, "p", principal)
        beside = ("l", level, "d", digests, "c", committed, "s", one.salt)
        yield ("XADD", streams[partition_of(one.owner, len(tags))], "*", *fields, *beside)


def send(connection: RawConnection, pipelines: Iterable[Iterable[Command]]) -> None:
    """Each pipeline in one write, and its answers taken. Raises what Redis refuses."""
    for commands in pipelines:
        for answer in connection.pipeline(commands):
            if isinstance(answer, Exception):
                raise answer
