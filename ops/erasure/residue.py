"""The check at the end of an erasure: whether Redis, or a file of this machine, still holds what was erased; and rare names.

Before anything is destroyed an erasure takes probes: pieces of the words that go, salts, and for a whole owner its key. At the end
the check searches every value in Redis, the files of Redis and the data folder for them. A piece that an entry holds which stays is
no probe. Files that Redis packs are not opened: what it wrote since the erasure began is a picture of the values that are searched,
and any other is named. Values that are sealed under the key of an owner who stays are not opened here: `verify_partition`, which
each erasure runs, compares them with the log. A finding names a place and a kind, never a word.

A rare name is a keyword of the words that go (a name, an identifier, a word that is no common one, in English or Chinese), or one
that is given. It is rare if at most `RARE` entries that stay have it; names that are given are reported however many have them. The
entries and files that have one are only reported: what stays of others is theirs to delete.
"""

from __future__ import annotations

import json
import os
import re
import stat
import unicodedata
import zlib
from base64 import b64encode
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from glob import escape
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
import redis
from ahocorasick_rs import AhoCorasick, BytesAhoCorasick

from engramlog_server.consumers.encryption import Rewritten, rewrite_files
from engramlog_server.consumers.erasure import read_log
from engramlog_server.events.cipher import SALT_BYTES, ValueCipher, salts_id
from engramlog_server.events.envelope import AnyEvent, Stored, decode, encode, without_words
from engramlog_server.events.errors import EngramlogError, KeyUnavailable, StoreError, UndecodableEvent, refused
from engramlog_server.events.keys import has_words
from engramlog_server.events.partitions import LogKeys, partition_of, position_text
from engramlog_server.events.redis.cluster import ClusterClient
from engramlog_server.events.redis.log import pages
from engramlog_server.events.redis.secrets import opened_where_it_can_be, read_lines
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.slot_map import known_nodes, others
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.ops.embedded.aof import DIRECTORY
from engramlog_server.ops.embedded.server import EmbeddedRedis
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.keys.master import key_file_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.embedding.meaning import content_key
from engramlog_server.projections.language.keywords import extracted
from engramlog_server.projections.reports.erasure import named_of, words_in

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


MOST_GIVEN, LONGEST_NAME = 20, 100
OF_A_TEXT = 10
"""Keywords of a text that goes, at most."""
MOST_SOUGHT = 2_000
RARE = 20
MOST_NAMES, MOST_PLACES = 50, 200
"""Names and places that are told; the others are counted."""
MOST_READ = 200_000
"""Entries that are looked through, the newest of each partition."""
_IN_WORD = re.compile(r"\w")
OnProgress = Callable[[int, int], None]


class Place(msgspec.Struct, frozen=True):
    """An entry that stays and has a name."""

    owner: str
    of: str
    """The memory or turn, by what it is named; empty of what was asked, or a tool answered."""
    type: str
    position: str
    vector: bool
    """Whether a vector is kept of a text that has it."""


class NamePlaces(msgspec.Struct, frozen=True):
    """Where a name is."""

    name: str
    total: int
    """Entries that stay and have it."""
    places: list[Place]
    files: dict[str, int]
    """Files of the data folder, and how often each has it."""


class Elsewhere(msgspec.Struct, frozen=True):
    """Where rare names of what is to be erased are, the rarest first."""

    names: list[NamePlaces]
    more: int
    """Rare names that are not told."""
    common: int
    """Names that more than `RARE` entries have."""
    read: int
    """Entries that were looked through."""
    unread: int
    """Entries that were not: beyond `MOST_READ`, or nobody can open them."""


def given_names(names: Sequence[str]) -> list[str]:
    """Names that are looked for, as they are compared. Raises InputError."""
    if len(names) > MOST_GIVEN:
        raise refused("name", len(names), f"at most {MOST_GIVEN} names")
    told = [_folded(name).strip() for name in names]
    for name, clean in zip(names, told, strict=True):
        if not 2 <= len(clean) <= LONGEST_NAME:
            raise refused("name", name[:LONGEST_NAME], f"a name of 2 to {LONGEST_NAME} characters")
    return told


class Names:
    """Finds names in texts, in whatever case, as whole words where their letters stand in words."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(dict.fromkeys(names))
        self._any = AhoCorasick(self.names)

    def found_in(self, text: str) -> dict[str, str]:
        """Those that a text has, and how it writes them."""
        folded = _folded(text)
        plain = unicodedata.normalize("NFC", text)
        plain = plain if len(plain) == len(folded) else folded
        found = dict[str, str]()
        for at, start, end in self._any.find_matches_as_indexes(folded, overlapping=True):
            if not (_goes_on(folded, start - 1, start) or _goes_on(folded, end, end - 1)):
                found[self.names[at]] = plain[start:end]
        return found


def names_elsewhere(
    store: OpenStore,
    settings: Settings,
    plan: ErasurePlan,
    going: Collection[int] | None,
    given: Sequence[str] = (),
    on_progress: OnProgress = lambda _done, _all: None,
) -> dict[str, Any]:
    """Look through the whole log, and the files of the data folder; JSON-ready. `going`: seqs of the owner's entries that go, None
    for all.

    Raises InputError for names that cannot be looked for, StoreError.
    """
    with closing(store.wire()) as wire:
        found = _NameSearch(store, settings, wire, plan.owner, going, given_names(given)).told(on_progress)
    told: dict[str, Any] = msgspec.to_builtins(found)
    return told | {"rare": RARE}


class _NameSearch:
    def __init__(
        self,
        store: OpenStore,
        settings: Settings,
        wire: Wire,
        owner: str,
        going: Collection[int] | None,
        given: Sequence[str],
    ) -> None:
        self._store, self._settings, self._wire = store, settings, wire
        self._owner, self._going, self._given = owner, going, given
        self._tags = store.identity.tags
        sought = dict.fromkeys(given)
        for text in self._going_texts():
            for one in extracted(text, OF_A_TEXT) if len(sought) < MOST_SOUGHT else ():
                if len(word := _folded(one.word)) > 1:
                    sought[word] = None
        self._names, self._counts = Names(sought), Counter[str]()
        self._places, self._forms = defaultdict[str, list[Place]](list), defaultdict[str, set[str]](set)
        self._secrets = dict[str, tuple[bytes, list[str]]]()
        self._read = self._unread = 0

    def _goes(self, one: Stored) -> bool:
        return one.owner == self._owner and (self._going is None or one.seq in self._going)

    def _going_texts(self) -> Iterator[str]:
        tag = self._tags[partition_of(self._owner, len(self._tags))]
        with suppress(KeyUnavailable):  # what nobody can open is erased all the same
            for one, event in read_log(self._wire, tag, self._owner):
                if event is not None and self._goes(one):
                    yield from words_in(event)

    def told(self, on_progress: OnProgress) -> Elsewhere:
        """Read the log once, the newest entries of each partition; then the files."""
        for number, tag in enumerate(self._tags if self._names.names else ()):
            for one, event in self._entries(tag):
                for text in words_in(event):
                    for name, form in self._names.found_in(text).items():
                        self._forms[name].add(form)
                        if not self._goes(one):
                            self._note(name, one, event, position_text(number, one.seq), text)
            on_progress(number + 1, len(self._tags))
        files = self._files()
        wanted = [
            one for one in self._names.names if self._counts[one] + len(files.get(one, ())) and self._is_told(one)
        ]
        wanted.sort(key=lambda name: (name not in self._given, self._counts[name]))
        told, left = list[NamePlaces](), MOST_PLACES
        for name in wanted[:MOST_NAMES]:
            told.append(NamePlaces(name, self._counts[name], self._places[name][:left], files.get(name, {})))
            left -= len(told[-1].places)
        common = sum(not self._is_told(name) for name in self._names.names)
        return Elsewhere(told, max(len(wanted) - MOST_NAMES, 0), common, self._read, self._unread)

    def _is_told(self, name: str) -> bool:
        return name in self._given or self._counts[name] <= RARE

    def _entries(self, tag: str) -> Iterator[tuple[Stored, AnyEvent]]:
        keys = LogKeys(tag)
        head = int(self._wire.call("HGET", keys.meta, "head") or 0)
        after = max(head - MOST_READ // len(self._tags), 0)
        self._unread += after
        for page in pages(self._wire, keys, after):
            for one in opened_where_it_can_be(self._wire, keys, page, {}):
                try:
                    event = decode(one.kind, one.body)
                except UndecodableEvent:  # of an owner who was erased, or whose key cannot be had
                    self._unread += 1
                    continue
                self._read += 1
                yield one, event

    def _note(self, name: str, one: Stored, event: AnyEvent, position: str, text: str) -> None:
        of = named_of(event)
        if any((place.owner, place.of, place.type) == (one.owner, of, event.type) for place in self._places[name][-3:]):
            return  # of a memory each text that has it is one place
        self._counts[name] += 1
        if len(self._places[name]) < RARE * 10:
            self._places[name].append(Place(one.owner, of, event.type, position, self._has_vector(one.owner, text)))

    def _has_vector(self, owner: str, text: str) -> bool:
        if owner not in self._secrets:
            self._secrets[owner] = self._store.vectors.secret(owner), self._store.vectors.models_of(owner)
        secret, models = self._secrets[owner]
        return any(self._store.vectors.has(owner, model, [content_key(secret, text)]) for model in models)

    def _files(self) -> dict[str, dict[str, int]]:
        """Name -> files of the data folder that have it as plain text, and how often."""
        needles = [
            (name, form)
            for name in self._names.names
            if self._is_told(name)
            for text in self._forms[name] | {name}
            for form in (text.encode(), json.dumps(text)[1:-1].encode())
        ]
        found = dict[str, dict[str, int]]()
        for (where, _, name), count in files_with(self._store, self._settings, Probes(needles)).items():
            found.setdefault(name, {})[where] = count
        return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _goes_on(text: str, beside: int, edge: int) -> bool:
    """Whether the word at an edge goes on beside it; a script that parts no words by spaces has no such edge."""
    if not 0 <= beside < len(text) or unicodedata.east_asian_width(text[edge]) in ("W", "F"):
        return False
    return _IN_WORD.match(text[edge]) is not None and _IN_WORD.match(text[beside]) is not None


def rewrite_all(
    embedded: EmbeddedRedis | None, wire: Wire, settings: Settings, on_wait: Callable[[str], None], again: str
) -> Rewritten:
    """Have Redis write its files again, and the Redis of the queue too. `again`: the command that continues if this fails.

    Raises StoreUnavailable. What could not be done about the queue's is told as not proven.
    """
    done = rewrite_files(wire, on_wait=on_wait, again=again)
    if embedded is not None:
        folder = embedded.folder
        for left in (*folder.glob("temp-*"), *(folder / DIRECTORY).glob("temp-*")):
            left.unlink(missing_ok=True)  # what a killed Redis was writing
    if settings.queue_url is not None:
        client = connect(settings.queue_url, timeout=settings.redis_timeout)
        try:
            with closing(client), closing(open_wire(client)) as queue:
                found = rewrite_files(queue, on_wait=on_wait, again=again).not_proven
        except StoreError as error:
            found = [error.message]
        done.not_proven.extend(f"the Redis of the queue (ENGRAMLOG_QUEUE_URL): {one}" for one in found)
    return done
