"""Loading what a fold works on: owners with their secrets, and the memories that their events may reach.

Raises DamagedState where what is stored cannot be read, StoreError where Redis refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engramlog_server.events.errors import DamagedState, KeyUnavailable, StoreMismatch
from engramlog_server.events.redis.secrets import read_readmitted
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.cipher import ValueCipher
from engramlog_server.projections.fold.builds import BuildKeys
from engramlog_server.projections.fold.named import neighbours
from engramlog_server.projections.fold.partition import WorkingOwner, record_hash
from engramlog_server.projections.redis.sealed import open_record
from engramlog_server.projections.redis.store import MOST_VALUES, decode_quarantine, read_owner, read_record, slices


def all_loaded(wanted: Mapping[str, Iterable[str]], owners: Mapping[str, WorkingOwner]) -> bool:
    """Whether `load_owners` would have nothing to ask Redis for."""
    for name, ids in wanted.items():
        owner = owners.get(name)
        if owner is None or not (owner.complete or all(memory_id in owner.memories for memory_id in ids)):
            return False
    return True


def load_owners(
    wire: Wire, keys: BuildKeys, wanted: Mapping[str, Iterable[str]], owners: dict[str, WorkingOwner]
) -> None:
    """Bring the wanted memories, and those their events may reach, into the working set `owners`."""
    unknown = [name for name in wanted if name not in owners]
    for names in slices(unknown, MOST_VALUES):
        tables = (keys.owners, keys.quarantine, keys.log.secrets)
        states, stuck, secrets = wire.answers([["HMGET", table, *names] for table in tables])
        back = read_readmitted(wire, keys.log, names)
        opened = _ciphers(
            wire, keys, {name: line for name, line in zip(names, secrets, strict=True) if line is not None}
        )
        for name, state, why in zip(names, states, stuck, strict=True):
            owner = owners[name] = WorkingOwner(complete=state is None)
            _hold(wire, owner, opened.get(name))
            _pass_over(owner, back.get(name, 0))
            if owner.locked is not None:
                owner.complete = True  # nothing of it can be read
            elif state is not None:
                owner.state = read_owner(keys, name, state, owner.cipher)
            if why is not None:
                owner.quarantine = decode_quarantine(why, owner.cipher, name)
    stands = [name for name in unknown if owners[name].quarantine is not None]
    for name, seq in zip(stands, wire.answers([["LINDEX", keys.parked(name), -1] for name in stands]), strict=True):
        owners[name].parked_to = int(seq or 0)
    told = [name for name in unknown if owners[name].state.pack]
    for name, size in zip(told, wire.answers([["STRLEN", keys.tail(name)] for name in told]), strict=True):
        owners[name].tail = size
    missing = {
        name: [i for i in ids if i not in owners[name].memories]
        for name, ids in wanted.items()
        if not owners[name].complete
    }
    while missing := {name: ids for name, ids in missing.items() if ids}:
        missing = _load_records(wire, keys, missing, owners)


def load_secrets(wire: Wire, keys: BuildKeys, owners: Mapping[str, WorkingOwner], names: Iterable[str]) -> None:
    """The secrets of those of these owners whose is not known yet; nothing is asked where all are. Raises DamagedState."""
    unknown = [name for name in names if not owners[name].secret and owners[name].locked is None]
    for some in slices(unknown, MOST_VALUES):
        found = zip(some, wire.call("HMGET", keys.log.secrets, *some), strict=True)
        opened = _ciphers(wire, keys, {name: line for name, line in found if line is not None})
        back = read_readmitted(wire, keys.log, some)
        for name in some:
            _hold(wire, owners[name], opened.get(name))
            _pass_over(owners[name], back.get(name, 0))


def _pass_over(owner: WorkingOwner, to: int | KeyUnavailable) -> None:
    """Note up to where an owner's events are passed over; where that is not known nothing of it is folded."""
    if isinstance(to, KeyUnavailable):
        owner.locked = owner.locked or to
    else:
        owner.erased_to = to


def _hold(wire: Wire, owner: WorkingOwner, found: ValueCipher | KeyUnavailable | None) -> None:
    """Give an owner what opens it: nothing where the store has no secret of it, why where its key cannot be had."""
    if isinstance(found, KeyUnavailable):
        owner.locked = found
    elif found is not None:
        owner.secret = found.secret
        owner.cipher = found if wire.seals.is_on else None


def _ciphers(wire: Wire, keys: BuildKeys, lines: Mapping[str, bytes]) -> dict[str, ValueCipher | KeyUnavailable]:
    """What opens each owner. Raises DamagedState for a line that no append made."""
    try:
        return wire.seals.ciphers(lines)
    except StoreMismatch as error:
        raise DamagedState(error.message, partition=keys.tag, build=keys.build) from error


def _load_records(
    wire: Wire, keys: BuildKeys, missing: Mapping[str, Sequence[str]], owners: Mapping[str, WorkingOwner]
) -> dict[str, list[str]]:
    asked = [(name, ids) for name, all_ids in missing.items() for ids in slices(all_ids, MOST_VALUES)]
    further: dict[str, list[str]] = {}
    found = wire.answers([["HMGET", keys.records(name), *ids] for name, ids in asked])
    for (name, ids), records in zip(asked, found, strict=True):
        owner = owners[name]
        for memory_id, record in zip(ids, records, strict=True):
            if record is None:
                continue
            plain = open_record(owner.cipher, name, memory_id, record)
            memory = owner.memories[memory_id] = read_record(keys, name, memory_id, plain)
            owner.hashes[memory_id] = record_hash(owner.secret, name, memory_id, plain)
            reached = [i for i in neighbours(memory) if i not in owner.memories]
            if reached:
                further.setdefault(name, []).extend(reached)
    return {name: [i for i in dict.fromkeys(ids) if i not in owners[name].memories] for name, ids in further.items()}
