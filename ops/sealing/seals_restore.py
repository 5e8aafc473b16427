"""The seals of a file brought back into a store that `engramlog backup restore` laid.

All of the log is read and opened first, with nothing changed. Then the store is marked, so that nothing opens it, and each step can
be done again: a run that was killed leaves a store that only another run goes on with. What is erased in the file or in the copy
stays erased (`seals_merge`). What is read is folded anew, for what was folded before may hold what was erased since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from engramlog_server.consumers.erasing.steps import destroy_keys, drop_vectors_of
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.consumers.fold.rebuild import LEASE_MS, RebuildRun, rebuild_partition, refuse_without_room
from engramlog_server.consumers.sealing.leaving import drop_other_builds
from engramlog_server.consumers.sealing.vectors import drop_vectors
from engramlog_server.events.errors import BadSetting, OtherFormat, StoreMismatch
from engramlog_server.events.partitions import FORMAT, MOVED, SEALED_META, SEALS_FROM, STORE_KEY, LogKeys
from engramlog_server.events.redis.opening import fence_ids
from engramlog_server.events.redis.wire import Argument, Script, StoreClient, Wire
from engramlog_server.events.sealing.cipher import SALT_BYTES
from engramlog_server.events.sealing.key_store import KEYS_FIELD
from engramlog_server.events.sealing.seals import MasterKey, is_tombstone
from engramlog_server.events.text.unreadable import UNREADABLE
from engramlog_server.ops.embedded.rewriting import rewrite_all
from engramlog_server.ops.erasing.fence_list import ErasureStep, FenceList, list_path
from engramlog_server.ops.kept.rejections import ValueFile, values_path
from engramlog_server.ops.keys.place import keys_of
from engramlog_server.ops.sealing.master import master_of
from engramlog_server.ops.sealing.seals_file import OpenSeals, look_at_seals, open_seals
from engramlog_server.ops.sealing.seals_format import SealsHeader
from engramlog_server.ops.sealing.seals_proof import Proved, SealsOpening, prove
from engramlog_server.ops.store import folder_of
from engramlog_server.ops.store_replacement import ALONE_SECONDS, Bar, OldStore, Progress, brought_over, what_is_there
from engramlog_server.ops.worker_id import new_worker_id
from engramlog_server.projections.redis.create import SEALED, STRIPPED, StoreIdentity, check_format, refuse_own_server

EVENTS_A_SECOND = 2_000
"""A cautious figure for telling how long it takes."""
SALTS_AT_ONCE = 4 << 20
AT_ONCE = 500
MOST_BY_NAME = 100
"""Erased owners whose vectors are looked for one by one; of more all vectors go, and are computed anew."""
AGAIN = "engramlog backup restore"
BEGIN = Script(
    "mark a store without seals",
    """
-- KEYS: engramlog:store. ARGV: formats that it may have, then the one to have
local held = redis.call('HGET', KEYS[1], 'format')
if held ~= ARGV[1] and held ~= ARGV[2] then return held or 'none' end
redis.call('HSET', KEYS[1], 'format', ARGV[2])
return 'ok'
""",
)
FINISH = Script(
    "the seals are back",
    """
-- KEYS: engramlog:store. ARGV: format that it must have, format to have, then fields and values: check line, save, key store
local held = redis.call('HGET', KEYS[1], 'format')
if held ~= ARGV[1] then return held or 'none' end
redis.call('HSET', KEYS[1], 'format', ARGV[2], unpack(ARGV, 3))
return 'ok'
""",
)


def told_beforehand(store: OldStore, path: Path) -> dict[str, Any]:
    """What restoring these seals would do, JSON-ready. Reads only, and opens nothing.

    Raises SealsUnusable, StoreMismatch for seals of another store, OtherFormat, NoMasterKey.
    """
    identity, header = store.identity, look_at_seals(path).header
    refuse_other_store(identity, header, path)
    if identity.format != STRIPPED:
        check_format(identity)
    if identity.sealed is None:
        raise StoreMismatch("this store lies open: there are no seals that could be brought back")
    _master_of(store)
    wire = store.wire()
    try:
        heads = [int(one or 0) for one in wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in identity.tags])]
        told = what_is_there(store, wire, events=sum(heads), seconds=sum(heads) // EVENTS_A_SECOND, done=False)
    finally:
        wire.close()
    both = list(zip(header.heads, heads, strict=True))
    return told | {
        "file": str(path),
        "save": header.save,
        "saved_at": header.saved_at,
        "found": "stripped" if identity.format == STRIPPED else "whole",
        "newer_than_seals": sum(max(mine - saved, 0) for saved, mine in both),
        "lost": sum(max(saved - mine, 0) for saved, mine in both),
    }


def refuse_other_store(identity: StoreIdentity, header: SealsHeader, path: Path) -> None:
    """Raise StoreMismatch where a file's seals are not this store's."""
    if header.store_id != identity.store_id or len(header.heads) != identity.partitions:
        raise StoreMismatch(
            f"{path} holds the seals of store {header.store_id} ({len(header.heads)} partitions), and here lies store"
            f" {identity.store_id} ({identity.partitions}). Nothing was changed",
            file=str(path),
        )


def carry_out(
    store: OldStore,
    path: Path,
    *,
    alone: bool = False,
    seconds: float = ALONE_SECONDS,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
    on_wait: Callable[[str], None] = lambda _told: None,
    lease_ms: int = LEASE_MS,
) -> dict[str, Any]:
    """Bring the seals of a file back, or go on where an earlier run was killed; gives what was done, JSON-ready.

    Raises before the first change: SealsUnusable, StoreMismatch for another store, key or history, OtherFormat, InUse, LogGap,
    StoreFull. Whatever is raised later leaves a store that another run goes on with.
    """

    def steps(wire: Wire, told: Mapping[str, Any]) -> dict[str, Any]:
        bar = Bar(on_progress, 2 * told["events"])
        master = _master_of(store)
        _begin(store, wire, master)
        with open_seals(path, master) as seals:
            refuse_other_store(store.identity, seals.header, path)
            return _restored(store, wire, seals, bar, probe, on_wait, lease_ms)

    done = brought_over(
        store, lambda held: told_beforehand(held, path), steps, alone=alone, seconds=seconds, on_wait=on_wait
    )
    return done | {"done": True}


def _restored(
    store: OldStore,
    wire: Wire,
    seals: OpenSeals,
    bar: Bar,
    probe: Probe,
    on_wait: Callable[[str], None],
    lease_ms: int,
) -> dict[str, Any]:
    identity, tags = store.identity, store.identity.tags
    proved, keys = list[Proved](), list[dict[bytes, bytes]]()
    for number, one in enumerate(seals.partitions()):
        if one.tag != tags[number]:
            raise StoreMismatch(
                f"{seals.path} is of a store whose partitions are called otherwise. Nothing was changed"
            )
        wire.seals.keys.put(one.keys)
        keys.append(one.keys)
        proved.append(prove(wire, seals.header, number, one, bar.passed))
    common = seals.common()
    listed = FenceList(list_path(store.settings, identity.store_id), identity.store_id)
    listed.read_all()  # one that cannot be read is told of before the store is marked
    wire.seals.begin(identity.store_id, common.check, wire.seals.keys.id)
    refuse_own_server(wire)
    refuse_without_room(wire, tags)
    probe("before the mark")
    _refuse_unless_ok(wire.run(BEGIN, [STORE_KEY], [FORMAT, STRIPPED]))
    RebuildRun.forget(wire)
    probe("after the mark")
    for tag, of, given in zip(tags, proved, keys, strict=True):
        _write(wire, tag, of)
        destroy_keys(wire, given.keys() - set(of.seals.lines.values()))
        probe("after a partition")
    brought = _list_again(listed, common.listed)
    probe("after the list")
    for tag in tags:
        done = rebuild_partition(
            store.client, tag, holder=new_worker_id(), probe=probe, on_wait=on_wait, lease_ms=lease_ms, anew=True
        )
        drop_other_builds(wire, tag)
        bar.passed(done.seq)
        probe("after it was folded anew")
    vectors = _drop_what_was_made(store, wire, proved)
    probe("before files are rewritten")
    rewritten = rewrite_all(store.embedded, wire, on_wait, AGAIN)
    probe("before the end")
    told: list[Argument] = [STRIPPED, FORMAT, SEALED, common.check, SEALS_FROM, seals.header.save]
    told += [KEYS_FIELD, wire.seals.keys.id]
    _refuse_unless_ok(wire.run(FINISH, [STORE_KEY], told))
    probe("after the end")
    store.identity = identity._replace(format=str(FORMAT), sealed=common.check, keys=wire.seals.keys.id)
    found = sum((one.opening for one in proved), SealsOpening())
    return {
        "entries": found._asdict(),
        "owners": sum(len(one.seals.lines) for one in proved),
        "owners_erased": sum(map(is_tombstone, (line for one in proved for line in one.seals.lines.values()))),
        "erasures_listed": brought,
        "vectors_dropped": vectors,
        **msgspec.to_builtins(rewritten),
    }


def _master_of(store: OldStore) -> MasterKey:
    found = master_of(store.settings, folder_of(store.embedded))
    if found is None:
        raise BadSetting(
            "sealed_by: got none; allowed: the master key that these seals were saved under; set ENGRAMLOG_SEALED_BY, or put the"
            " file master-key back into the data folder. Nothing was changed",
            setting="ENGRAMLOG_SEALED_BY",
        )
    return found


def _begin(store: OldStore, wire: Wire, master: MasterKey) -> None:
    """Have what opens for this store's client begin. Which master key is right is seen when the file is opened: the copy's own line
    may be of a key that was replaced since."""
    client = store.client
    assert isinstance(client, StoreClient)
    client.seals.master, client.seals.open_keys = master, keys_of(store.settings)
    client.seals.store, client.seals.is_on = store.identity.store_id.encode(), True
    client.seals.new_keys(store.identity.store_id)
    assert wire.seals is client.seals


def _write(wire: Wire, tag: str, proved: Proved) -> None:
    """What counts of a partition. Nothing is taken away first: what is there of the copy counts already."""
    keys, seals = LogKeys(tag), proved.seals
    _put(wire, keys.secrets, seals.lines)
    _put(wire, keys.readmitted, seals.readmitted)
    _put(wire, keys.wordless, {b"%d" % seq: left for seq, left in seals.wordless.items()})
    stale = [one for one in wire.call("HKEYS", keys.wordless) if not (one.isdigit() and int(one) in seals.wordless)]
    for some in _pages(stale):
        wire.call("HDEL", keys.wordless, *some)
    if seals.gone:
        fence_ids(wire, keys, seals.gone)
    erased = [owner for owner, line in seals.lines.items() if is_tombstone(line)]
    for some in _pages(erased):
        wire.call("HDEL", keys.deletions, *some)
        wire.call("HDEL", keys.control, *(b"retry:" + one for one in some))
    if len(proved.salts) > SALT_BYTES:
        for start in range(0, len(proved.salts), SALTS_AT_ONCE):
            wire.call("SETRANGE", keys.salts, start, proved.salts[start : start + SALTS_AT_ONCE])
    wire.call("HSET", keys.meta, SEALED_META, MOVED)


def _put(wire: Wire, key: str, values: Mapping[bytes, bytes]) -> None:
    for some in _pages(list(values.items())):
        fields: list[Argument] = [part for pair in some for part in pair]
        wire.call("HSET", key, *fields)


def _pages(values: Sequence[Any]) -> list[Sequence[Any]]:
    every = iter(values)
    return list(iter(lambda: list(islice(every, AT_ONCE)), []))


def _list_again(listed: FenceList, lines: Sequence[bytes]) -> int:
    """Put those lines of the fence list back that it lacks; how many."""
    known, brought = set(listed.read_all()), 0
    for line in lines:
        try:
            one = msgspec.json.decode(line, type=ErasureStep)
        except UNREADABLE:
            continue
        if one.store == listed.store_id and one not in known:
            listed.append(one)
            known.add(one)
            brought += 1
    return brought


def _drop_what_was_made(store: OldStore, wire: Wire, proved: Sequence[Proved]) -> bool:
    """Let go what was made of words that are erased, besides what was folded anew; whether all vectors went."""
    identity = store.identity
    file = ValueFile(values_path(store.settings, identity.store_id), identity.store_id, identity.partitions)
    owners = list[tuple[str, str]]()
    for tag, one in zip(identity.tags, proved, strict=True):
        for gone, upto in one.seals.shut.items():  # of who was readmitted what was said since stays
            file.forget(gone.decode("utf-8", "replace"), upto)
        owners += [(tag, some.decode("utf-8", "replace")) for some in sorted(one.seals.shut.keys() | one.wiped)]
    if len(owners) > MOST_BY_NAME:
        drop_vectors(wire, identity.tags)
        return True
    for tag, owner in owners:
        drop_vectors_of(wire, tag, owner)
    return False


def _refuse_unless_ok(answer: bytes) -> None:
    if answer != b"ok":
        told = answer.decode("utf-8", "backslashreplace")[:20]
        raise OtherFormat(f"this store is of format {told} by now: was it replaced meanwhile?", format=told)
