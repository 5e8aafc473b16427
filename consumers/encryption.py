"""Sealing a store that lay open: its log is copied sealed under the same ids, proved equal, and takes the place of the old one.

Everybody except `engramlog seal` refuses a store that is being sealed. The mark comes first, with the line that recognises the
master key: an interrupted sealing goes on under the same key only. Then each partition takes no event until it is sealed, and no
open event afterwards, so that a process which opened the store before can do no harm.

Redis changes no entry in place. So the stream is copied next to itself, as are the names of owners' keys. A killed copy is
continued. Nothing of the old log is touched until the copy was read back.

Afterwards everything that lay open is removed: builds except the live one, vectors, and the files that Redis wrote before. Redis
keeps deleted data until it writes its append-only file again, and in a dump until the next dump.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from glob import escape
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import msgspec

from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.consumers.fold.rebuild import RebuildRun
from engramlog_server.events.cipher import (
    BODY_MARK,
    NotOpened,
    ValueCipher,
    body_about,
    body_dictionary,
    open_body,
    salts_id,
    seal_body,
)
from engramlog_server.events.envelope import Stored, commitment, skeleton_of
from engramlog_server.events.errors import DamagedState, OtherFormat, StoreError, StoreUnavailable
from engramlog_server.events.keys import KEYS_FIELD, whole_secret
from engramlog_server.events.partitions import FORMAT, MOVED, MOVING, SEALED_META, STORE_KEY, LogKeys
from engramlog_server.events.redis.cluster import ClusterWire
from engramlog_server.events.redis.durability import refuse_gap, refuse_holes
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.slot_map import OtherNode, SlotMap, known_nodes, others
from engramlog_server.events.redis.wire import PAGE, Argument, Script, ServerWire, Wire, keys_like, pairs
from engramlog_server.projections.fold.changelog import FIRST_LINK, event_link
from engramlog_server.projections.redis.builds import is_build
from engramlog_server.projections.redis.create import BEING_SEALED, SEALED, SEALING

LOOK_SECONDS = 0.05
GONE_SECONDS = 60.0
"""How long files that Redis replaced may take to be deleted."""
_CATCH_UP_SECONDS = 60.0
"""How long a replica of a Cluster is waited for."""
_BUSY = "already in progress"
_OnWait = Callable[[str], None]


class Rewritten(msgspec.Struct, frozen=True):
    """The result of writing the files of a Redis again."""

    aof: str
    """`rewritten`; `off` where it keeps none; else why not. Of a Cluster whose nodes differ: each by its name."""
    dump: str
    """`written`; `off` where it makes none; else why not. Of a Cluster as above."""
    replicas: list[str]
    """Replicas that follow; each writes its own files. Of a Cluster every node that holds no slots."""
    not_proven: list[str]
    """What could not be seen from here, and what to do about it, a sentence each."""


class _Served(NamedTuple):
    keeps_aof: bool
    files: set[tuple[int, Path]]
    """Its append-only files that can be seen from here, each with its inode."""
    dumps: bool
    """Whether it makes dumps, or made one that would stay as it is."""
    unseen: str | None = None
    """Places that could not be looked at."""


def drop_other_builds(wire: Wire, tag: str) -> int:
    """Drop every build but the live one, and what a partition tells of those that were replaced; how many keys went.

    By their names in the whole store, and not by the owners that a build names: nothing that lies open may be left.
    """
    meta = LogKeys(tag).meta
    answer = wire.call("HGETALL", meta)
    fields = dict(zip(answer[::2], answer[1::2], strict=True))
    live, dropped = fields.get(b"live", b"").decode(), 0
    names = _of_others(wire, tag, live)
    while some := list(islice(names, PAGE)):
        dropped += wire.call("UNLINK", *some)
    if old := [name for name in fields if name.startswith(b"old:")]:
        wire.call("HDEL", meta, *old)
    return dropped


def drop_failures(wire: Wire, queue: str) -> int:
    """Drop what RQ keeps of how a queue's jobs ended: of before it may quote what somebody said. How many jobs had any.

    Jobs of other queues in that Redis are not touched, nor whether a job failed and when.
    """
    dropped, jobs = 0, keys_like(wire, "rq:job:*")
    while page := list(islice(jobs, PAGE)):
        some = [key for key, kind in page if kind == b"hash"]
        origins = wire.answers([["HGET", key, "origin"] for key in some])
        mine = [key for key, origin in zip(some, origins, strict=True) if origin == queue.encode()]
        for key in mine:
            job_id = key.removeprefix(b"rq:job:")
            dropped += any(wire.answers([["HDEL", key, "exc_info", "result"], ["UNLINK", b"rq:results:" + job_id]]))
    return dropped


def _of_others(wire: Wire, tag: str, live: str) -> Iterator[bytes]:
    prefix = f"{{{tag}}}:"
    for key, _ in keys_like(wire, f"{prefix}v*"):
        name = key.removeprefix(prefix.encode()).partition(b":")[0].decode("utf-8", "replace")
        if is_build(name) and name != live:
            yield key


def rewrite_files(wire: Wire, *, on_wait: _OnWait = lambda _told: None, again: str = "engramlog seal") -> Rewritten:
    """Have Redis write its files again, and wait until it has. `again`: the command that goes on where that fails.

    Of a Cluster each node does, one after the other; a replica once it has all that its primary has, as far as it can be reached.
    Raises StoreUnavailable where it began and could not end, for want of disk say: what was there before is still there then.
    """
    if not isinstance(wire, ClusterWire):
        found, replicas = _rewritten(wire, on_wait, again), _replicas(wire)
        unproven = [
            f"replica {one} writes its own files: run BGREWRITEAOF there, and BGSAVE where it dumps, once it has caught up"
            for one in replicas
        ]
        return Rewritten(found.aof, found.dump, replicas, [*found.not_proven, *unproven])
    done = dict[str, Rewritten]()
    offsets = dict[str, int]()
    for name, server in wire.servers():
        try:
            offsets[name] = int(_info(server, "replication").get("master_repl_offset", "0"))
            done[name] = _rewritten(server, on_wait, again)
        except StoreUnavailable as error:
            told = {**error.context, "node": name}
            raise StoreUnavailable(f"node {name} of the cluster: {error.message}", **told) from error
    unproven = [f"node {name}: {one}" for name, of in done.items() for one in of.not_proven]
    beside = others(known_nodes(wire))
    for one in beside:
        unproven += _rewritten_beside(wire.cluster, one, offsets.get(one.primary), on_wait, again)
    aof, dump = ({name: getattr(of, field) for name, of in done.items()} for field in ("aof", "dump"))
    return Rewritten(_of_all(aof), _of_all(dump), [f"{one.name} ({one.what})" for one in beside], unproven)


def _rewritten_beside(cluster: SlotMap, node: OtherNode, offset: int | None, on_wait: _OnWait, again: str) -> list[str]:
    """Have a node that holds no slots write its files again; returns what could not be done. `offset`: up to where a replica
    must have followed first."""
    link = ServerWire(cluster.beside(node.name))
    try:
        if offset is not None and not _has_caught_up(link, offset, on_wait):
            why = "it does not catch up with its primary"
        else:
            return [f"node {node.name}: {one}" for one in _rewritten(link, on_wait, again).not_proven]
    except StoreError as error:
        why = error.message
    finally:
        link.close()
    cure = "run BGREWRITEAOF there, and BGSAVE where it dumps, once it follows and has caught up"
    return [
        f"{node.name}, {node.what}, did not rewrite its files ({why}): {cure}; or delete them where it is gone for good"
    ]


def _has_caught_up(replica: Wire, offset: int, on_wait: _OnWait) -> bool:
    """Whether a replica has all up to an offset of its primary, waited for as long as one may take."""
    end = monotonic() + _CATCH_UP_SECONDS
    while True:
        facts = _info(replica, "replication")
        if facts.get("master_link_status") == "up" and int(facts.get("slave_repl_offset", "0")) >= offset:
            return True
        if monotonic() > end:
            return False
        on_wait("waiting for a replica to catch up")
        sleep(LOOK_SECONDS)


def _of_all(told: Mapping[str, str]) -> str:
    """The results of all nodes in one phrase, if they are the same."""
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{name}: {what}" for name, what in told.items())


def _rewritten(wire: Wire, on_wait: _OnWait, again: str) -> Rewritten:
    """The same of one server, without its replicas."""
    served, unproven = _served(wire), list[str]()
    aof = _aof_rewritten(wire, on_wait, again) if served.keeps_aof else "off"
    if aof == "rewritten" and (path := _left(wire, served.files, on_wait)) is not None:
        unproven.append(f"{path} was to go when Redis rewrote its append-only file, and may hold words: delete it")
    dump = _dumped(wire, on_wait, again) if served.dumps else "off"
    if served.unseen is not None:
        unproven.append(served.unseen)
    if aof not in ("rewritten", "off"):
        unproven.append(
            f"the append-only file was not rewritten ({aof}): run BGREWRITEAOF as a user who may; until then it contains words"
        )
    if dump not in ("written", "off"):
        unproven.append(f"no new dump was written ({dump}): run BGSAVE as a user who may, or delete the old one")
    wire.pipeline([["SLOWLOG", "RESET"]])  # it shows the first words of slow commands
    return Rewritten(aof, dump, [], unproven)


def _served(wire: Wire) -> _Served:
    facts = _persistence(wire)
    keeps = facts.get("aof_enabled") == "1"
    dumped = facts.get("rdb_last_bgsave_time_sec", "-1") != "-1" or facts.get("rdb_saves", "0") != "0"
    files = _append_only_files(wire) if keeps else set()
    told = wire.pipeline([["CONFIG", "GET", one] for one in ("save", "dir", "dbfilename")])
    if not all(isinstance(one, list) and len(one) == 2 for one in told):
        unseen = "whether Redis dumps could not be seen (CONFIG GET is refused): where an old dump lies, run BGSAVE or delete it"
        return _Served(keeps, files, dumped, None if dumped else unseen)
    points, folder, name = (one[1].decode("utf-8", "replace") for one in told)
    if points or dumped or (Path(folder) / name).exists():
        return _Served(keeps, files, dumps=True)
    if Path(folder).is_dir():
        return _Served(keeps, files, dumps=False)
    unseen = (
        f"the folder of Redis cannot be seen from here: where an old {name} lies in {folder} of its machine, delete it"
    )
    return _Served(keeps, files, dumps=False, unseen=unseen)


def _append_only_files(wire: Wire) -> set[tuple[int, Path]]:
    """Append-only files of a Redis that are on this machine, by inode and path. Manifests hold nothing of the log."""
    told = wire.pipeline([["CONFIG", "GET", one] for one in ("dir", "appendfilename", "appenddirname")])
    folder, name, *parts = (
        one[1].decode("utf-8", "replace") if isinstance(one, list) and len(one) == 2 else "" for one in told
    )
    found = set[tuple[int, Path]]()
    for path in (
        [Path(folder) / name, *(Path(folder) / parts[0]).glob(f"{escape(name)}.*.*.*")] if folder and name else []
    ):
        with suppress(OSError):
            found.add((path.stat().st_ino, path))
    return found


def _left(wire: Wire, before: set[tuple[int, Path]], on_wait: _OnWait) -> Path | None:
    """One of the files of before that Redis did not delete in time; it deletes them in the background."""
    end = monotonic() + GONE_SECONDS
    while left := sorted(path for _, path in before & _append_only_files(wire)):
        if monotonic() > end:
            return left[0]
        on_wait("waiting for Redis to delete its old append-only files")
        sleep(LOOK_SECONDS)
    return None


def _aof_rewritten(wire: Wire, on_wait: _OnWait, again: str) -> str:
    refused = _begun(wire, "BGREWRITEAOF", on_wait)
    if refused is not None:
        return refused
    facts = _settled(wire, on_wait)
    if facts.get("aof_last_bgrewrite_status") != "ok":
        raise StoreUnavailable(
            "Redis could not rewrite its append-only file, and the one before still holds words; look at its log and its disk, and"
            f" run `{again}` again",
            retry_after=10,
        )
    return "rewritten"


def _dumped(wire: Wire, on_wait: _OnWait, again: str) -> str:
    refused = _begun(wire, "BGSAVE", on_wait)
    if refused is not None:
        return refused
    if _settled(wire, on_wait).get("rdb_last_bgsave_status") != "ok":
        raise StoreUnavailable(
            "Redis could not write its dump, and the one before may still hold words; look at its log and its disk, and run"
            f" `{again}` again",
            retry_after=10,
        )
    return "written"


def _begun(wire: Wire, command: str, on_wait: _OnWait) -> str | None:
    """Have Redis begin once nothing of the kind runs; why not where it refuses, None where it began."""
    while True:
        _settled(wire, on_wait)
        try:
            wire.call(command)
        except StoreUnavailable as error:
            if wire.is_open and _BUSY in error.message:
                continue  # one that Redis began by itself came between
            if not wire.is_open:
                raise
            return error.message
        except StoreError as error:
            return error.message
        return None


def _settled(wire: Wire, on_wait: _OnWait) -> dict[str, str]:
    """What Redis tells of its files once it writes none."""
    while True:
        facts = _persistence(wire)
        busy = [
            name
            for name in ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
            if facts.get(name, "0") != "0"
        ]
        if not busy:
            return facts
        on_wait("waiting for Redis to rewrite its files")
        sleep(LOOK_SECONDS)


def _persistence(wire: Wire) -> dict[str, str]:
    return _info(wire, "persistence")


def _info(wire: Wire, section: str) -> dict[str, str]:
    lines = wire.call("INFO", section).decode("utf-8", "replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _replicas(wire: Wire) -> list[str]:
    facts = _info(wire, "replication")
    told = [facts[name] for name in sorted(facts) if name.startswith("slave") and name[5:].isdigit()]
    parts = [dict(one.partition("=")[::2] for one in text.split(",")) for text in told]
    return [f"{one.get('ip', '?')}:{one.get('port', '?')} ({one.get('state', 'unknown')})" for one in parts]


VECTOR_TABLES = (b"vec", b"vep", b"ven", b"vea", b"vem")


def count_vectors(wire: Wire, tags: Sequence[str]) -> int:
    """How many texts have vectors, each once for every owner and model."""
    found, names = 0, (key for key, table in _vector_keys(wire, tags) if table == b"vec")
    while some := list(islice(names, PAGE)):
        found += sum(wire.answers([["HLEN", key] for key in some]))
    return found


def drop_vectors(wire: Wire, tags: Sequence[str]) -> None:
    """Drop every vector, under every model, with the marks of the embedding job: it looks at all owners again."""
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


READ_COUNT = 500
_BODY, _SALT = 7, 19
"""Where they stand among an entry's fields and values."""
_PRINCIPAL, _COMMITTED = 1, 4
Progress = Callable[[int], None]
"""Hears of how many entries were read, as they are."""

_PUT = Script(
    "put sealed entries",
    """
-- KEYS: copy of the stream. ARGV: newest seq of the copy, then of each entry how many fields and values it has,
-- and these. A page is written whole or not, and by whoever knows how far the copy is.
local call = redis.call
local seq = tonumber(ARGV[1])
if call('XLEN', KEYS[1]) ~= seq then return call('XLEN', KEYS[1]) end
local at = 2
while at <= #ARGV do
  local many = tonumber(ARGV[at])
  seq = seq + 1
  call('XADD', KEYS[1], seq .. '-0', unpack(ARGV, at + 1, at + many))
  at = at + many + 1
end
return seq
""",
)
_TAKE = Script(
    "take a sealed log",
    """
-- KEYS: meta, stream, its copy, secrets, their copy. ARGV: field, its value afterwards, head, owners
local call = redis.call
if call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return 'done' end
local head, owners = tonumber(ARGV[3]), tonumber(ARGV[4])
if tonumber(call('HGET', KEYS[1], 'head') or '0') ~= head or call('XLEN', KEYS[2]) ~= head or call('XLEN', KEYS[3]) ~= head
  or call('HLEN', KEYS[4]) ~= owners or call('HLEN', KEYS[5]) ~= owners then return 'elsewhere' end
if head > 0 then
  call('UNLINK', KEYS[2])
  call('RENAME', KEYS[3], KEYS[2])
end
if owners > 0 then
  call('UNLINK', KEYS[4])
  call('RENAME', KEYS[5], KEYS[4])
end
call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'ok'
""",
)


class _CopyKeys(NamedTuple):
    """Where the copy of a partition's log lies until it is taken for it."""

    stream: str
    secrets: str

    @classmethod
    def of(cls, tag: str) -> _CopyKeys:
        """Of a partition."""
        return cls(*(f"{{{tag}}}:{name}:sealed" for name in ("ev", "keys")))


class _OpenLog(NamedTuple):
    """A partition's log as it lies open."""

    head: int
    chain: bytes
    owners: int


class NotEqual(DamagedState):
    """A sealed copy is not what it was made of; the log that lies open stands as it was."""


class _AlreadySealed(OtherFormat):
    """A body of a store that lies open begins as a sealed one does."""


def look(wire: Wire, tag: str, *, on_progress: Progress = lambda _read: None) -> _OpenLog:
    """Read a partition's log and say what it is; reads only.

    Raises LogGap where it is not whole, DamagedState where a body is not the one that was committed to, or an owner has no secret.
    """
    keys, after, chain, known = LogKeys(tag), 0, FIRST_LINK, dict[str, bytes]()
    refuse_gap(wire, tag)
    while batch := entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", READ_COUNT), tag):
        refuse_holes(batch, after, tag)
        known |= _secrets(wire, keys, batch, known)
        for one in batch:
            _refuse_what_cannot_be_sealed(one, tag)
            chain = event_link(chain, one)
        after = batch[-1].seq
        on_progress(len(batch))
    return _OpenLog(after, chain, int(wire.call("HLEN", keys.secrets)))


def is_taken(wire: Wire, tag: str) -> bool:
    """Whether a partition is sealed already."""
    return bool(wire.call("HGET", LogKeys(tag).meta, SEALED_META) == MOVED.encode())


def bring_over(wire: Wire, tag: str, *, probe: Probe = unprobed, on_progress: Progress = lambda _read: None) -> bool:
    """Copy, prove and take a partition's log; False where that was done before. The wire's seals are on.

    Raises what `look` raises, and NotEqual where the copy is not the log: it is dropped, and what lies open is untouched.
    """
    if is_taken(wire, tag):
        return False
    keys, copy = LogKeys(tag), _CopyKeys.of(tag)
    drop_other_builds(wire, tag)  # what a killed rebuild folded lies open, and is not gone on with
    _copy_log(wire, keys, copy, probe, on_progress)
    _copy_secrets(wire, keys, copy)
    probe("before a copy is proved")
    try:
        found = _prove(wire, keys, copy, on_progress)
    except NotEqual:
        wire.call("UNLINK", *copy)
        raise
    probe("before a copy is taken")
    names = [keys.meta, keys.stream, copy.stream, keys.secrets, copy.secrets]
    if wire.run(_TAKE, names, [SEALED_META, MOVED, found.head, found.owners]) == b"elsewhere":
        raise NotEqual(
            f"partition {{{tag}}} changed while it was sealed: somebody writes to this Redis; stop that, and run `engramlog seal`"
            " again",
            partition=tag,
        )
    probe("after a copy is taken")
    return True


def _copy_log(wire: Wire, keys: LogKeys, copy: _CopyKeys, probe: Probe, on_progress: Progress) -> None:
    after, known = int(wire.call("XLEN", copy.stream)), dict[str, bytes]()
    on_progress(after)
    while rows := wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", READ_COUNT):
        batch = entries(rows, keys.tag)
        refuse_holes(batch, after, keys.tag)
        known |= _secrets(wire, keys, batch, known)
        salts, sealed = wire.seals.keys.take(len(batch)), list[Argument]()
        for (_, held), one, salt in zip(rows, batch, salts, strict=True):
            _refuse_what_cannot_be_sealed(one, keys.tag)
            sealed += [len(held), *_sealed(wire, held, one, known[one.owner], salt)]
        reached = wire.run(_PUT, [copy.stream], [after, *sealed])
        after = batch[-1].seq
        if reached != after:
            raise NotEqual(
                f"partition {{{keys.tag}}}: its copy reaches {reached}, and not {after}: another process seals it too",
                partition=keys.tag,
            )
        probe("after a page")
        on_progress(len(batch))


def _sealed(wire: Wire, held: Sequence[bytes], one: Stored, secret: bytes, salts: tuple[int, bytes]) -> list[bytes]:
    """An entry's fields and values, its body sealed with the salt of its commitment."""
    found = list(held)
    parts = one.body, skeleton_of(one.kind, one.body)
    found[_BODY] = seal_body(secret, salts, _about(wire, one), one.salt, parts, _dictionary(one))
    found[_SALT] = b""
    return found


def _about(wire: Wire, one: Stored) -> bytes:
    return body_about(wire.seals.store, one.raw_id, one.owner, one.kind, *one.beside[_PRINCIPAL : _COMMITTED + 1])


def _dictionary(one: Stored) -> bytes:
    return body_dictionary(one.raw_id, one.owner, one.kind)


def _copy_secrets(wire: Wire, keys: LogKeys, copy: _CopyKeys) -> None:
    """All of them anew: a page is wrapped at once, and what a killed run wrapped is not gone on with."""
    wire.call("UNLINK", copy.secrets)
    every = pairs(wire, keys.secrets)
    while some := dict(islice(every, PAGE)):
        secrets = {owner.decode(): secret for owner, secret in some.items()}
        lines = wire.seals.lines({owner: whole_secret(owner, secret) for owner, secret in secrets.items()})
        wire.call("HSET", copy.secrets, *(part for pair in lines.items() for part in pair))


def _prove(wire: Wire, keys: LogKeys, copy: _CopyKeys, on_progress: Progress) -> _OpenLog:
    """Read the copy back and open all of it. Raises NotEqual at the first thing that is not as it lies open."""
    lines = dict(pairs(wire, copy.secrets))
    secrets, owners = _unwrapped(wire, lines), 0
    for owner, secret in pairs(wire, keys.secrets):
        owners += 1
        if secrets.get(owner.decode()) != secret:
            raise _not_equal(keys, f"the secret of owner {owner.decode()!r}")
    after, open_chain, chain = 0, FIRST_LINK, FIRST_LINK
    while True:
        span: list[Argument] = [f"{after + 1}-0", "+", "COUNT", READ_COUNT]
        asked: list[list[Argument]] = [
            ["XRANGE", keys.stream, *span],
            ["XRANGE", copy.stream, *span],
        ]
        rows, copied = wire.answers(asked)
        if not rows and not copied:
            return _OpenLog(after, chain, owners)
        if len(rows) != len(copied):
            raise _not_equal(keys, f"how many entries follow on {after}")
        both = [
            (*entries([row], keys.tag), *entries([other], keys.tag)) for row, other in zip(rows, copied, strict=True)
        ]
        salts = wire.seals.keys.salts([salts_id(sealed.body) for _, sealed in both])
        for row, other, (one, sealed) in zip(rows, copied, both, strict=True):
            salt = salts.get(salts_id(sealed.body), b"")
            _compare(wire, keys, (row, one), (other, sealed), ValueCipher(secrets[one.owner]), salt)
            open_chain, chain = event_link(open_chain, one), event_link(chain, sealed)
            if chain != open_chain:
                raise _not_equal(keys, f"the chain at entry {one.seq}")
        after = one.seq
        on_progress(len(rows))


def _compare(
    wire: Wire,
    keys: LogKeys,
    before: tuple[Any, Stored],
    after: tuple[Any, Stored],
    cipher: ValueCipher,
    salt: bytes,
) -> None:
    (row, one), (copied, sealed) = before, after
    clear = [(at, part) for at, part in enumerate(row[1]) if at not in (_BODY, _SALT)]
    same = [(at, part) for at, part in enumerate(copied[1]) if at not in (_BODY, _SALT)]
    if row[0] != copied[0] or clear != same or sealed.salt or sealed.body[:1] != BODY_MARK:
        raise _not_equal(keys, f"the fields next to the body of entry {one.seq}")
    try:
        opened = open_body(cipher.secret, salt, _about(wire, sealed), sealed.body, _dictionary(sealed))
    except NotOpened:
        raise _not_equal(keys, f"the body of entry {one.seq}, which does not open,") from None
    if opened != (one.salt, one.body):
        raise _not_equal(keys, f"the body of entry {one.seq}")


def _unwrapped(wire: Wire, lines: Mapping[bytes, bytes]) -> dict[str, bytes]:
    """What a process that never saw these secrets opens them to."""
    strange, found, every = wire.seals.again(), dict[str, bytes](), iter(lines.items())
    strange.store, strange.is_on = wire.seals.store, True
    while some := list(islice(every, PAGE)):
        found |= strange.secrets({owner.decode(): line for owner, line in some})
    return found


def _not_equal(keys: LogKeys, what: str) -> NotEqual:
    return NotEqual(
        f"partition {{{keys.tag}}}: {what} is another in the sealed copy than in the log; the log is untouched, the copy dropped."
        " Somebody else writes to this Redis, or its memory fails: find out, and run `engramlog seal` again",
        partition=keys.tag,
    )


def _secrets(wire: Wire, keys: LogKeys, batch: Sequence[Stored], known: Mapping[str, bytes]) -> dict[str, bytes]:
    """The secrets of a batch's owners, of those that are not known yet. Raises DamagedState where one has none."""
    owners = list(dict.fromkeys(one.owner for one in batch if one.owner not in known))
    if not owners:
        return {}
    lines = dict(zip(owners, wire.call("HMGET", keys.secrets, *owners), strict=True))
    if lacking := sorted(owner for owner, line in lines.items() if line is None):
        raise DamagedState(
            f"partition {{{keys.tag}}}: owner {lacking[0]!r} has events and no secret; see `engramlog verify`",
            partition=keys.tag,
        )
    return {owner: whole_secret(owner, line) for owner, line in lines.items()}


def _refuse_what_cannot_be_sealed(one: Stored, tag: str) -> None:
    if one.body[:1] == BODY_MARK:
        raise _AlreadySealed(
            f"entry {one.seq} of partition {{{tag}}} is sealed already, in a store that lies open", format="2"
        )
    if commitment(one.salt, one.body) != one.beside[_COMMITTED]:
        raise DamagedState(
            f"the body at seq {one.seq} of partition {{{tag}}} is not the one that was committed to; see `engramlog verify`, and"
            " bring back the backup that has the right one",
            partition=tag,
            seq=one.seq,
        )


_MARK = Script(
    "mark sealing",
    """
-- KEYS: engramlog:store. ARGV: format that it must have, format to have, fields of the line and of the key store's id with these
local held = redis.call('HGET', KEYS[1], 'format')
if held ~= ARGV[1] or redis.call('HEXISTS', KEYS[1], 'sealed') == 1 then return held or 'none' end
redis.call('HSET', KEYS[1], 'format', ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return 'ok'
""",
)
_FINISH = Script(
    "finish sealing",
    """
-- KEYS: engramlog:store. ARGV: format that it must have, format to have, field of the line until now, its field from now on
local held = redis.call('HGET', KEYS[1], 'format')
local line = redis.call('HGET', KEYS[1], ARGV[3])
if held ~= ARGV[1] or not line then return held or 'none' end
redis.call('HSET', KEYS[1], 'format', ARGV[2], ARGV[4], line)
redis.call('HDEL', KEYS[1], ARGV[3])
return 'ok'
""",
)
_CLOSE = Script(
    "close",
    """
-- KEYS: meta. ARGV: field, value of a partition that is sealed, value until then
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
""",
)


def mark(wire: Wire, line: bytes, keys: str) -> None:
    """Have everybody refuse the store from here on. `line`: what the master key wrapped; `keys`: the id of its key store. Raises
    OtherFormat."""
    RebuildRun.forget(wire)  # what an earlier rebuild did lies open
    _refuse_unless_ok(wire.run(_MARK, [STORE_KEY], [FORMAT, BEING_SEALED, SEALING, line, KEYS_FIELD, keys]))


def close(wire: Wire, tags: Sequence[str]) -> None:
    """Have every partition that is not sealed yet take no event. Raises StoreError."""
    for tag in tags:
        wire.run(_CLOSE, [LogKeys(tag).meta], [SEALED_META, MOVED, MOVING])


def finish(wire: Wire) -> None:
    """The store is sealed. Raises OtherFormat."""
    _refuse_unless_ok(wire.run(_FINISH, [STORE_KEY], [BEING_SEALED, FORMAT, SEALING, SEALED]))


def _refuse_unless_ok(answer: bytes) -> None:
    if answer != b"ok":
        told = answer.decode("utf-8", "backslashreplace")[:20]
        raise OtherFormat(
            f"this store is of format {told} by now: was it replaced, or sealed by another process? Nothing was changed",
            format=told,
        )
