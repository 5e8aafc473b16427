"""The check at the end of an erasure: whether Redis, or a file of this machine, still holds what was erased.

Before anything is destroyed an erasure takes probes: pieces of the words that go, salts, and for a whole owner its key. At the end
the check searches every value in Redis, the files of Redis and the data folder for them. A piece that an entry holds which stays is
no probe. Files that Redis packs are not opened: what it wrote since the erasure began is a picture of the values that are searched,
and any other is named. Values that are sealed under the key of an owner who stays are not opened here: `verify_partition`, which
each erasure runs, compares them with the log. A finding names a place and a kind, never a word.
"""

from __future__ import annotations

import json
import os
import re
import stat
import zlib
from base64 import b64encode
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from glob import escape
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
import redis
from ahocorasick_rs import BytesAhoCorasick

from engramlog_server.events.encryption.cipher import SALT_BYTES, ValueCipher, salts_id
from engramlog_server.events.encryption.key_store import has_words
from engramlog_server.events.encryption.skeleton import without_words
from engramlog_server.events.envelope import Stored, decode, encode
from engramlog_server.events.errors import EngramlogError, UndecodableEvent
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.client import connect
from engramlog_server.events.redis.cluster.slot_map import known_nodes, others
from engramlog_server.events.redis.cluster.wire import ClusterClient
from engramlog_server.events.redis.log import pages
from engramlog_server.events.redis.opening import opened_where_it_can_be
from engramlog_server.events.redis.secrets import read_lines
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.ops.keys.place import key_file_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore

PAGE, CHUNK, CARRY = 500, 1 << 20, 512
PACKED = re.compile(rb"(REDIS|VALKEY)\d{3}")
"""What a dump begins with, and an append-only file with one in front: its strings are packed."""
MOST_PIECES, MOST_SALTS, MOST_FINDINGS = 2_000, 100, 200
NOT_KNOWN = "the words were erased by an earlier run, so a search does not know them any more"
LISTINGS = 10
"""How often the files of a Redis are listed, because it renames and deletes files meanwhile."""
OTHERS = 5_000
"""The newest entries of others, whose words are no probes."""
LEAST_BYTES, PIECE_BYTES = 12, 36
_HELD = dict[tuple[int, int], int]()
"""Descriptors of files of key stores, never closed: SQLite's locks on a file end once its process closes any descriptor of it."""
_APART = re.compile(r'[\x00-\x1f\x7f-\x9f"\'\\<>&\u2028\u2029\ud800-\udfff]+')
_WORDS = re.compile(
    "because|condition|content|correction|keywords?|metadata|object|predicate|project|query|reason|speaker|subject|summary|synonym"
    "|tags|task|text|uri"
)
"""Fields of an event's data that hold words, at every level."""


class Finding(msgspec.Struct, frozen=True):
    """What is left: where (`redis`, `queue`, with a node's address, or a file), at which key, and what (word, key or salt)."""

    where: str
    place: str
    what: str
    count: int


class Residue(msgspec.Struct, frozen=True):
    """What was searched, and what was found."""

    exit_code: int
    """0: nothing is left; 1: something is; 3: nothing was found, but something could not be searched."""
    probes: int
    findings: list[Finding]
    not_reached: list[str]
    keys: int
    files: int
    bytes: int


class Probes:
    def __init__(self, needles: Iterable[tuple[str, bytes]], why: str = "") -> None:
        found = list(dict.fromkeys(needles))
        self.count, self.why, self._kinds = len(found), why, [kind for kind, _ in found]
        self._any = BytesAhoCorasick([needle for _, needle in found]) if found else None

    def hits(self, raw: bytes) -> Counter[str]:
        """How often each kind is in some bytes, and in what zlib packed there: RQ packs its values."""
        found = Counter[str]()
        if self._any is not None:
            found.update(self._kinds[at] for at, _, _ in self._any.find_matches_as_indexes(raw, overlapping=True))
            if raw[:1] == b"\x78":
                with suppress(zlib.error):
                    found += self.hits(zlib.decompressobj().decompress(raw, 4 * CHUNK))
        return found


def probes_of(wire: Wire, tag: str, owner: str, seqs: Collection[int] | None = None) -> Probes:
    """The probes of an owner, or of its entries `seqs`. What cannot be read does not stop an erasure: the certificate says so."""
    try:
        return _probes(wire, LogKeys(tag), owner, seqs)
    except (EngramlogError, ValueError, msgspec.MsgspecError) as error:
        return Probes((), f"the words could not be read before they were erased ({type(error).__name__})")


def _probes(wire: Wire, keys: LogKeys, owner: str, seqs: Collection[int] | None) -> Probes:
    line = read_lines(wire, [keys.tag], [owner]).get(owner)
    secret = wire.seals.secrets({owner: line})[owner] if line is not None else b""
    ciphers = {owner: ValueCipher(secret)} if secret else {}
    pieces, gone, left, newest = list[str](), list[int](), list[bytes](), deque[Stored](maxlen=OTHERS)
    for page in pages(wire, keys):
        newest.extend(one for one in page if one.owner != owner)
        going = [one for one in page if one.owner == owner and (seqs is None or one.seq in seqs)]
        gone += [salts_id(one.body) for one in going]
        for one in opened_where_it_can_be(wire, keys, going, ciphers):
            pieces += _pieces(one.body, owner)
            with suppress(UndecodableEvent):
                left.append(encode(without_words(decode(one.kind, one.body))) if seqs is not None else b"")
        while len(pieces) > 4 * MOST_PIECES:
            pieces = pieces[::2]
    if not gone:
        return Probes((), NOT_KNOWN)
    pieces, shared = list(dict.fromkeys(pieces)), set[int]()
    search = BytesAhoCorasick([one.encode() for one in pieces or [NOT_KNOWN]])
    mine = (one for page in pages(wire, keys) for one in page if one.owner == owner and one.seq not in (seqs or ()))
    for raw in chain(left, _said(wire, keys, newest, {}), _said(wire, keys, mine if seqs is not None else (), ciphers)):
        shared.update(at for at, _, _ in search.find_matches_as_indexes(raw, overlapping=True))
    pieces = [one for at, one in enumerate(pieces) if at not in shared]
    pieces = pieces[:: -(-len(pieces) // MOST_PIECES) or 1]
    needles = [("word", form) for one in pieces for form in (one.encode(), json.dumps(one)[1:-1].encode())]
    found = wire.seals.keys.salts(gone[:: -(-len(gone) // MOST_SALTS)]).values()
    salts = [one[SALT_BYTES:] for one in found if has_words(one)]
    needles += [("salt", form) for one in salts for form in (one, one.hex().encode())]
    wrapped = wire.seals.keys.read([line])[line] if line and secret and seqs is None else b""
    for raw in (secret, wrapped) if wrapped else ():
        needles += [("key", form) for form in (raw, raw.hex().encode(), b64encode(raw))]
    return Probes(needles)


def _said(wire: Wire, keys: LogKeys, some: Iterable[Stored], ciphers: dict[str, ValueCipher]) -> Iterator[bytes]:
    """What entries say, with their clear fields."""
    rest = iter(some)
    while page := list(islice(rest, PAGE)):
        for one in opened_where_it_can_be(wire, keys, page, ciphers):
            yield b"\n".join((one.kind.encode(), one.owner.encode(), *one.beside, one.body))


def _pieces(body: bytes, owner: str) -> Iterator[str]:
    """The beginning and the end of each text in an open body."""
    for text in _texts(msgspec.json.decode(body).get("data"), within=False) if body[:1] == b"{" else ():
        for raw in (part.strip().encode() for part in _APART.split(text)):
            for piece in {raw[:PIECE_BYTES].decode(errors="ignore"), raw[-PIECE_BYTES:].decode(errors="ignore")}:
                if len(piece.encode()) >= LEAST_BYTES and piece not in owner:
                    yield piece


def _texts(data: Any, *, within: bool) -> Iterator[str]:
    if isinstance(data, str) and within:
        yield data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from _texts(value, within=within or bool(_WORDS.fullmatch(name)))
    elif isinstance(data, list):
        for one in data:
            yield from _texts(one, within=within)


def files_with(store: OpenStore, settings: Settings, probes: Probes) -> Counter[tuple[str, str, str]]:
    """How often the files of the data folder have each probe: file, nothing, kind. What cannot be read is passed over."""
    search = _Search(probes, 0.0)
    search.keys_files(key_file_of(settings, store.identity.store_id), reads=False)  # random bytes alone
    search.folders(settings)
    return search.found


def residue_of(store: OpenStore, settings: Settings, probes: Probes, since: float = 0.0) -> Residue:
    """Search everywhere. `since`: when the erasure began, in seconds since 1970. Raises nothing of Redis or of files: what could
    not be searched is named."""
    search = _Search(probes, since)
    if isinstance(store.client, ClusterClient):
        search.cluster(store.client)
    else:
        search.server("redis", store.client)
    keys = key_file_of(settings, store.identity.store_id)
    for where, url in (("queue", settings.queue_url), ("keys", settings.keys if keys is None else None)):
        if url is not None:
            with connect(url, timeout=settings.redis_timeout) as client:
                search.server(where, client)
    search.keys_files(keys)
    search.folders(settings)
    found = [Finding(*at, count) for at, count in search.found.items() if count][:MOST_FINDINGS]
    code = 1 if found else 3 if search.not_reached else 0
    return Residue(code, probes.count, found, search.not_reached, search.keys, len(search.files), search.bytes)


class _Search:
    def __init__(self, probes: Probes, since: float) -> None:
        self._probes, self._since, self.found = probes, since, Counter[tuple[str, str, str]]()
        self.not_reached = [probes.why] if probes.why else list[str]()
        self.keys, self.bytes, self.files = 0, 0, set[tuple[int, int]]()

    @contextmanager
    def _reached(self, where: str) -> Iterator[None]:
        try:
            yield
        except (redis.RedisError, EngramlogError, OSError) as error:
            self.not_reached.append(f"{where} could not be searched: {type(error).__name__}")

    def cluster(self, client: ClusterClient) -> None:
        """Every primary, and the files of the other nodes, which hold the same keys."""
        with self._reached("redis"):
            for node in client.slots.primaries():
                self.server(f"redis {node.name}", node.client, is_alone=False)
            for one in others(known_nodes(open_wire(client))):
                with self._reached(f"redis {one.name}"), client.slots.beside(one.name) as replica:
                    self._files_of(f"redis {one.name}", replica)

    def server(self, where: str, client: Any, *, is_alone: bool = True) -> None:
        """The values of one Redis, and its files."""
        with self._reached(where):
            for key in set(client.scan_iter(count=PAGE)):
                self.keys += 1
                words = self._probes.hits(key)  # the name of a key may be words too
                name = "sha256:" + sha256(key).hexdigest() if words else key.decode("utf-8", "backslashreplace")
                with self._reached(f"{where} {name}"):
                    for part in chain([key], _values(client, key)):
                        self._take(where, name, part)
            for slow in client.slowlog_get(1_000):
                self._take(where, "SLOWLOG", slow["command"])
            if is_alone and client.info("replication").get("connected_slaves"):
                self.not_reached.append(f"{where} has replicas, and their files could not be searched")
        self._files_of(where, client)

    def keys_files(self, keys: Path | None, *, reads: bool = True) -> None:
        """The files of a key store, which the folders pass over then: they close what they open."""
        for path in keys.parent.glob(f"{escape(keys.name)}*") if keys is not None else ():
            with self._reached(str(path)):
                found = path.lstat()
                self.files.add(at := (found.st_dev, found.st_ino))
                if not (reads and stat.S_ISREG(found.st_mode)):
                    continue
                if at not in _HELD:
                    _HELD[at] = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                os.lseek(_HELD[at], 0, os.SEEK_SET)
                self._stream(str(path), iter(partial(os.read, _HELD[at], CHUNK), b""))

    def folders(self, settings: Settings) -> None:
        """Every file of the data folder, and of that of rejections."""
        for folder in (settings.data, settings.rejections):
            for path in sorted(folder.expanduser().rglob("*")) if folder is not None else ():
                self.file(path)

    def file(self, path: Path, *, of_redis: bool = False) -> bool:
        """Search a file, once; false if it is gone. A link is not followed."""
        with self._reached(str(path)), suppress(FileNotFoundError):
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode) or (found.st_dev, found.st_ino) in self.files:
                return True
            with path.open("rb") as file:
                self.files.add((found.st_dev, found.st_ino))
                packed = PACKED.match(file.read(16))
                file.seek(0)
                self._stream(str(path), iter(lambda: file.read(CHUNK), b""))
            if packed and not (of_redis and found.st_mtime >= self._since):
                self.not_reached.append(
                    f"{path} could not be searched: Redis packed it before, or elsewhere; delete it"
                )
            return True
        return os.path.lexists(path)

    def _files_of(self, where: str, client: Any) -> None:
        with self._reached(f"the files of {where}"):
            config = {
                one: raw.decode() if isinstance(raw, bytes) else raw for one, raw in client.config_get("*").items()
            }
            folder, options = Path(config["dir"]), client.connection_pool.connection_kwargs
            is_here = options.get("path") or options.get("host", "localhost") in ("localhost", "127.0.0.1", "::1")
            if not (is_here and folder.is_dir()):
                self.not_reached.append(f"{where} writes its files to {folder}, which is not a folder of this machine")
                return
            names = [
                config[one] for one in ("appenddirname", "appendfilename", "dbfilename", "logfile") if config.get(one)
            ]
            for _ in range(LISTINGS):
                listed = [*(folder / one for one in names), *folder.glob("*.aof*"), *folder.glob("temp-*")]
                paths = [one for path in listed if path.exists() for one in chain([path], path.rglob("*"))]
                searched = [self.file(one, of_redis=True) for one in paths]
                if all(searched):
                    return
            self.not_reached.append(f"{where} renamed its files again and again while they were searched")

    def _stream(self, where: str, chunks: Iterable[bytes]) -> None:
        kept = b""
        for chunk in chunks:
            for kind, count in (self._probes.hits(kept + chunk) - self._probes.hits(kept)).items():
                self.found[where, "", kind] += count
            self.bytes += len(chunk)
            kept = (kept + chunk)[-CARRY:]

    def _take(self, where: str, place: str, raw: bytes) -> None:
        self.bytes += len(raw)
        for kind, count in self._probes.hits(raw).items():
            self.found[where, place, kind] += count


def _values(client: Any, key: bytes) -> Iterator[bytes]:
    """Every part of a key's value, some at a time; none if the key is gone meanwhile."""
    match client.type(key):
        case b"string":
            yield from (client.getrange(key, at, at + CHUNK + CARRY) for at in range(0, client.strlen(key), CHUNK))
        case b"hash":
            yield from chain.from_iterable(client.hscan_iter(key, count=PAGE // 5))
        case b"list":
            yield from chain.from_iterable(
                client.lrange(key, at, at + PAGE - 1) for at in range(0, client.llen(key), PAGE)
            )
        case b"set":
            yield from client.sscan_iter(key, count=PAGE)
        case b"zset":
            yield from (one for one, _ in client.zscan_iter(key, count=PAGE))
        case b"stream":
            after = "-"
            while page := client.xrange(key, after, "+", count=PAGE):
                after = f"({page[-1][0].decode()}"
                yield from (part for _, fields in page for pair in (fields or {}).items() for part in pair)
        case kind if kind != b"none":
            raise OSError(f"a value of type {kind!r}")
