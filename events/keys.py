"""The keys of a sealed store: its key store, the master key, and what one process holds opened of both.

In an open store the line of an owner in `{tag}:keys` is its secret of 32 bytes. In a sealed store it is only the name of its key.
The key store, apart from the Redis of the log, maps that name to the secret, wrapped under the master key. Without both nobody
reads the words or anything computed from them.

A sealed entry holds the id of its two salts, one for its skeleton and one for its words; the key store has the salts. So no copy
of Redis opens anything, and an older copy of Redis brings nothing back that was deleted. Salts are reserved in blocks, because a
commit for each append would cost several times the append. A process may keep a reserved block for `POOL_SECONDS`. A job removes
salts older than `UNUSED_SECONDS` that no entry has, and keys that no owner has.

A master key may be a ring of several: one wraps, all unwrap, so that a key can be replaced while the store is used.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from secrets import token_bytes
from struct import Struct
from threading import Lock, RLock
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

from engramlog_server.events.cipher import NONCE_BYTES, SECRET_BYTES, ValueCipher, invalid_tag, new_aes
from engramlog_server.events.errors import BadSetting, KeyUnavailable, OwnerErased, StoreMismatch

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NAME_MARK = b"\x02"
NAME_BYTES = 17
"""Length of a key's name: the mark, when it was drawn, random bytes. A secret has 32 bytes, and a tombstone begins with
a zero byte."""
_SECOND_BYTES = 5
KEYS_FIELD = "keys"
"""The field of the store that holds the id of its key store."""
ID_BYTES = 16
"""Random bytes of a key store's id, which is written in hexadecimal digits."""


def new_name(second: int) -> bytes:
    """A name that no other key has. It begins with the second in which it is drawn, counted from 1970."""
    return _NAME_MARK + second.to_bytes(_SECOND_BYTES) + token_bytes(NAME_BYTES - 1 - _SECOND_BYTES)


def second_of(name: bytes) -> int:
    """The second in which a name was drawn."""
    return int.from_bytes(name[1 : 1 + _SECOND_BYTES])


def is_name(line: bytes) -> bool:
    """Whether an owner's line is the name of a key."""
    return len(line) == NAME_BYTES != SECRET_BYTES and line[:1] == _NAME_MARK


ID_SHIFT = 20
"""An id of salts is the second in which they were reserved, shifted by so many bits, and a number."""
POOL_SECONDS = 3_600
UNUSED_SECONDS = 30 * 86_400
"""Long enough for an operator to bring back a log that lost its newest entries."""
SALTS_BYTES = 32
"""Length of the salts of an entry that has its words: 16 for its skeleton, 16 for its words."""
_WIPED = Struct(">16s16sHQ")
"""Salts of an entry whose words were erased: the salt of its skeleton, the erasure, partition and seq."""


class Wiped(NamedTuple):
    """Which entry lost its words by which erasure."""

    erasure: str
    partition: int
    seq: int


def wiped_value(salts: bytes, wiped: Wiped) -> bytes:
    """The part that stays of the salts of an entry whose words are erased."""
    return _WIPED.pack(salts[:16], UUID(wiped.erasure).bytes, wiped.partition, wiped.seq)


def read_wiped(value: bytes) -> Wiped | None:
    """By what an entry lost its words; None if it has them."""
    if len(value) != _WIPED.size:
        return None
    _, erasure, partition, seq = _WIPED.unpack(value)
    return Wiped(str(UUID(bytes=erasure)), partition, seq)


def has_words(value: bytes) -> bool:
    """Whether salts open the words of an entry too."""
    return len(value) == SALTS_BYTES


LEAST_BLOCK, MOST_BLOCK = 8, 512
"""Salts that are reserved at once: twice as many each time, up to the most."""
Salts = list[tuple[int, bytes]]


class SaltPool:
    """Salts that a process reserved ahead, so that an append waits for no commit of its own. Salts of an old block are left to the
    job that removes unused ones. Safe for threads."""

    def __init__(self, reserve: Callable[[int], Salts], second: Callable[[], int]) -> None:
        """`second`: seconds since 1970, now."""
        self._reserve, self._second, self._lock = reserve, second, Lock()
        self._salts, self._block, self._since = Salts(), LEAST_BLOCK, 0

    def take(self, count: int) -> Salts:
        """So many; each is given once. Raises StoreUnavailable."""
        with self._lock:
            salts = self._salts
            if not 0 <= self._second() - self._since < POOL_SECONDS:  # ids may be ahead of a clock that was put right
                salts = []
            if len(salts) < count:
                self._since = self._since if salts else self._second()
                salts = salts + self._reserve(max(count, self._block))
                self._block = min(2 * self._block, MOST_BLOCK)
            self._salts = salts[count:]
            return salts[:count]


class KeyStore(Protocol):
    """Keys by their names, salts by their ids. Safe for threads. All methods raise StoreUnavailable if it cannot be used."""

    @property
    def id(self) -> str:
        """32 hexadecimal digits, drawn when the key store was made."""
        ...

    @property
    def place(self) -> str:
        """Its place, for people; without a password."""
        ...

    def read(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """The wrapped keys of those names that have one."""
        ...

    def new_name(self) -> bytes:
        """A name that no other key has, drawn now."""
        ...

    def put(self, keys: Mapping[bytes, bytes]) -> None:
        """Store wrapped keys under their names; durable when this returns."""
        ...

    def replace(self, keys: Mapping[bytes, tuple[bytes, bytes]]) -> int:
        """Store another wrapping, by name (present, new), of keys that are wrapped as given; the number of keys replaced."""
        ...

    def delete(self, names: Collection[bytes]) -> int:
        """Delete keys, also from the files of the key store; the number of keys that were there."""
        ...

    def every(self) -> Iterator[tuple[bytes, bytes]]:
        """All names and wrapped keys."""
        ...

    def take(self, count: int) -> list[tuple[int, bytes]]:
        """Salts for so many entries with their ids, which nobody else gets; durable when this returns."""
        ...

    def put_salts(self, salts: Mapping[int, bytes]) -> None:
        """Store salts of a backup under their ids; durable when this returns."""
        ...

    def salts(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The salts with these ids, or what stays of them."""
        ...

    def wipe(self, entries: Mapping[int, Wiped]) -> int:
        """Delete the words' salts, also from the files of the key store, where they are there; the number deleted. A Redis writes
        its files again at each call, so name all entries of an erasure in one call."""
        ...

    def wiped(self) -> Iterator[tuple[int, Wiped]]:
        """All salts that lost the words', ascending, in pages."""
        ...

    def delete_salts(self, ids: Collection[int]) -> int:
        """Delete both salts with these ids, also from the files of the key store; the number deleted. One call, as `wipe`."""
        ...

    def salt_ids(self, before: int) -> Iterator[int]:
        """All ids of salts below this one, ascending."""
        ...

    def erasures(self) -> set[bytes] | None:
        """Lines of the list of erasures, which hosts share here; None if it is a file, because one host has that."""
        ...

    def add_erasures(self, lines: Collection[bytes]) -> None:
        """Add lines to that list; durable when this returns."""
        ...

    def server(self) -> str | None:
        """The run id of its Redis; None if it is a file."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


OpenKeyStore = Callable[[str, bool], KeyStore]
"""Opens the key store of a store by the store's id; makes an absent one only if the second argument is true.

Raises StoreMismatch if it is absent, StoreUnavailable if it cannot be used."""


MOST_KEPT = 50_000
"""Owners whose secrets one process keeps opened at most, of those asked for last: about 20 MB."""
_LIES_OPEN = "the secret of owner {!r} lies open in a sealed store: no append made it; bring back the backup that has the right one"
_NO_NAME = "the line of owner {!r} is no name of a key: no append made it; bring back the backup that has the right one"
_NO_KEY = (
    "the key of owner {!r} is not in the key store: an older copy of the key store is there, or it was deleted; bring back the"
    " newest backup of the key store"
)
CHECK_OWNER = ":check"
"""Under whose name a store keeps 32 bytes that its master key wrapped: who cannot open them has another key."""


_ASKED_SECONDS = 15.0
"""How long an answer to whether the master key can be had is good for, where nobody looks by itself."""
SEALED_FIELD = "sealed"
"""The field of the store in which its check line stands."""
ERASED = b"\0erased\0"
"""What the line of an owner begins with whose key was destroyed; what follows tells by what. No key's name begins so, and no such
line is as long as a secret."""


def tombstone(told: bytes, name: bytes = b"") -> bytes:
    """The line of an owner whose key was destroyed. `told`: what that is known by, 1 to 200 bytes. `name`: of the key, so that it
    can be deleted again if a copy brings it back."""
    line = ERASED + told + (b"\0" + name.hex().encode() if name else b"")
    return line + b"\0" if len(line) == SECRET_BYTES else line


def is_tombstone(line: bytes) -> bool:
    """Whether a line says that its owner's key was destroyed."""
    return len(line) != SECRET_BYTES and line.startswith(ERASED)


def erasure_of(line: bytes) -> str:
    """By what a tombstone says that its owner was erased."""
    return line.removeprefix(ERASED).partition(b"\0")[0].decode("utf-8", "replace")


def erased_name(line: bytes) -> bytes:
    """The name of the key that a tombstone says was destroyed; empty if it says none."""
    told = line.removeprefix(ERASED).partition(b"\0")[2].rstrip(b"\0")
    try:
        name = bytes.fromhex(told.decode("ascii", "replace"))
    except ValueError:
        return b""
    return name if is_name(name) else b""


def erased(owner: str) -> OwnerErased:
    """What is told to whoever asks for an owner whose key was destroyed."""
    return OwnerErased(
        f"owner {owner!r} was erased: its key was destroyed, and nothing is said under its name", owner=owner
    )


class SealingStanding(NamedTuple):
    """Whether and under what a store is sealed, as one process finds it."""

    is_on: bool
    key: str | None
    """The master key that is set, for people; None where none is."""
    reachable: bool | None
    """Whether what it wrapped can be opened now; None in a store that lies open."""
    reason: str
    """Why not."""


class Wrapped(NamedTuple):
    """A secret under a master key, and what it is bound to: store and owner."""

    about: bytes
    line: bytes


class MasterKey(Protocol):
    """What wraps owners' secrets, wherever it is kept. May be slow and may fail; many are asked for at once."""

    @property
    def name(self) -> str:
        """Which key wraps now, for people: never anything of the key itself. Raises BadSetting where it can never be used as it is
        set."""
        ...

    def wrap(self, secrets: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """Lines of (about, secret). Raises KeyUnavailable where nothing can be wrapped now."""
        ...

    def unwrap(self, lines: Sequence[Wrapped]) -> list[bytes | KeyUnavailable]:
        """The secret of each line, or why it cannot be had; raises nothing."""
        ...

    def wrapped_by(self, line: bytes) -> str | None:
        """Which key a line is wrapped under: its id, or its version as `v3`; None of a line that this kind of key did not make."""
        ...

    def is_current(self, line: bytes) -> bool:
        """Whether a line is wrapped under the key that wraps now. Raises KeyUnavailable where that cannot be told."""
        ...


class Seals:
    """Opens and seals for one client of Redis. Safe for threads."""

    def __init__(
        self,
        master: MasterKey | None = None,
        clock: Callable[[], float] = monotonic,
        open_keys: OpenKeyStore | None = None,
    ) -> None:
        self.master = master
        self.open_keys = open_keys
        """Opens the key store of a sealed store."""
        self._keys: KeyStore | None = None
        self._keys_id: str | None = None
        self.store = b""
        self.is_on = False
        """Whether the store is sealed: what is written of owners' words is sealed then."""
        self._check: bytes | None = None
        self._clock = clock
        self._asked: tuple[float, KeyUnavailable | None] | None = None
        self._looking = Lock()
        self._opening = RLock()
        self.read_check: Callable[[], bytes | None] = lambda: None
        """Reads the check line as it stands in the store now, which a rewrap replaces; None where that is not known."""
        self._trusted = set[str]()
        """Keys that were seen to be this store's own: by others nothing new is wrapped."""
        self._kept: OrderedDict[tuple[str, bytes], ValueCipher] = OrderedDict()
        self._lock = Lock()

    @property
    def keys(self) -> KeyStore:
        """The key store of a sealed store that was begun."""
        with self._opening:
            if self._keys is None:
                self._begin_keys(self.store.decode(), self._keys_id)
            assert self._keys is not None
            return self._keys

    def close(self) -> None:
        """Close the key store; it is opened again if it is used again."""
        if self._keys is not None:
            self._keys.close()
            self._keys = None

    def again(self) -> Seals:
        """The same without what was opened before."""
        made = Seals(self.master, self._clock, self.open_keys)
        made.store, made.is_on, made._keys = self.store, self.is_on, self._keys
        return made

    def begin(self, store_id: str, check: bytes | None, keys: str | None = None) -> None:
        """Take over which store it is, its check line, which a sealed one has, and the id of its key store.

        Raises StoreMismatch if the store is sealed and the master key or the key store is missing or another one, BadSetting if the
        key's file cannot be used, StoreUnavailable if the key store cannot. A key service that cannot be reached now is no error
        here: it may come back."""
        self.store, self._check = store_id.encode(), check
        if check is None:
            self.is_on = False
            return
        self.is_on = True
        if self.master is None:
            raise StoreMismatch(
                "this store is sealed, and no master key was given. Set ENGRAMLOG_SEALED_BY to its key file or key service,"
                " or put the file master-key back into its data folder. Nothing was read or written",
                setting="ENGRAMLOG_SEALED_BY",
            )
        self.check_master(check)
        with self._opening:
            self._begin_keys(store_id, keys)

    def _begin_keys(self, store_id: str, expected: str | None) -> None:
        if self._keys is not None and self._keys.id == expected:
            return
        self.close()
        found = self._opened_keys(store_id, make=False)
        if found.id != expected:
            found.close()
            raise StoreMismatch(
                f"the keys of this store are in another key store than {found.place}: set ENGRAMLOG_KEYS to the right one,"
                " which is a Redis if several hosts use this store. Nothing was read or written",
                setting="ENGRAMLOG_KEYS",
            )
        self._keys, self._keys_id = found, expected

    def _opened_keys(self, store_id: str, *, make: bool) -> KeyStore:
        if self.open_keys is None:
            raise StoreMismatch(
                "this store is sealed, and no key store was given: set ENGRAMLOG_KEYS; nothing was read or written",
                setting="ENGRAMLOG_KEYS",
            )
        return self.open_keys(store_id, make)

    def new_keys(self, store_id: str) -> str:
        """Make the key store of a store that is made now; its id. Raises StoreMismatch, StoreUnavailable."""
        self.close()
        self._keys = found = self._opened_keys(store_id, make=True)
        self._keys_id = found.id
        return found.id

    def new_check(self, store_id: str) -> bytes:
        """The check line of a store that is made now. Raises KeyUnavailable."""
        assert self.master is not None
        self.store = store_id.encode()
        return self.master.wrap([(self.about(CHECK_OWNER), token_bytes(SECRET_BYTES))])[0]

    def check_master(self, check: bytes) -> None:
        """Raise StoreMismatch where the master key cannot be the one that this store is sealed under."""
        assert self.master is not None
        name = self.master.name
        found = self._opened(check)
        if found is None or found.passes:
            return
        if "setting" in found.context:
            raise StoreMismatch(
                f"the master key {name} of this store (ENGRAMLOG_SEALED_BY) cannot be had: {found.message}; nothing was read or"
                " written",
                setting=found.context["setting"],
            ) from found
        raise StoreMismatch(
            f"this store is sealed under another master key than {name}: {found.message}; set"
            " ENGRAMLOG_SEALED_BY to the right one; nothing was read or written",
            setting="ENGRAMLOG_SEALED_BY",
        ) from found

    def standing(self) -> SealingStanding:
        """Whether the store is sealed, and whether its master key can be had, as it was found within the last 15 seconds."""
        with self._lock:
            asked = self._asked
        if asked is None or self._clock() - asked[0] >= _ASKED_SECONDS:
            return self.look()
        return self._told(asked[1])

    def look(self) -> SealingStanding:
        """The same, asked for anew now. Where another thread asks, what was found last."""
        if self._check is None or self.master is None or not self._looking.acquire(blocking=self._asked is None):
            return self._told(None if self._asked is None else self._asked[1])
        try:
            found = self._opened(self._check)
            with self._lock:
                self._asked = self._clock(), found
        finally:
            self._looking.release()
        return self._told(found)

    def _told(self, found: KeyUnavailable | None) -> SealingStanding:
        if not self.is_on:
            return SealingStanding(False, self._name(), None, "")
        return SealingStanding(True, self._name(), found is None, "" if found is None else found.message)

    def _name(self) -> str | None:
        try:
            return None if self.master is None else self.master.name
        except (BadSetting, KeyUnavailable):
            return "unusable"

    def _opened(self, check: bytes) -> KeyUnavailable | None:
        """Why the check line does not open now, as it was read or as it stands now; None where it does."""
        assert self.master is not None
        (found,) = self.master.unwrap([Wrapped(self.about(CHECK_OWNER), check)])
        if isinstance(found, KeyUnavailable) and not found.passes:
            now = self.read_check()
            if now is not None and now != check:
                self._check = now
                (found,) = self.master.unwrap([Wrapped(self.about(CHECK_OWNER), now)])
        return found if isinstance(found, KeyUnavailable) else None

    def lines(self, secrets: Mapping[str, bytes]) -> dict[str, bytes]:
        """Owners' lines for these new secrets. Of a sealed store the keys are durable in the key store when this returns.

        Raises KeyUnavailable, StoreUnavailable."""
        if not self.is_on or not secrets:
            return dict(secrets)
        assert self.master is not None
        wrapped = self.master.wrap([(self.about(owner), secret) for owner, secret in secrets.items()])
        self._refuse_stranger(wrapped)
        lines = {owner: self.keys.new_name() for owner in secrets}
        self.keys.put(dict(zip(lines.values(), wrapped, strict=True)))
        for owner, line in lines.items():
            self._keep(owner, line, ValueCipher(secrets[owner]))
        return lines

    def _refuse_stranger(self, wrapped: Sequence[bytes]) -> None:
        """Raise KeyUnavailable where a key wrapped these that is not this store's: its file was replaced while this runs."""
        assert self.master is not None
        unknown = {by for line in wrapped if (by := self.master.wrapped_by(line)) is not None} - self._trusted
        if not unknown or self._check is None:
            return
        if (why := self._opened(self._check)) is not None:
            raise KeyUnavailable(
                f"the master key that is set now is not the one that this store is sealed under, so nothing new is wrapped by it:"
                f" {why.message}",
                passes=why.passes,
            ) from why
        self._trusted |= unknown

    def secrets(self, lines: Mapping[str, bytes]) -> dict[str, bytes]:
        """The secrets in these lines. Raises KeyUnavailable for the first that cannot be had, StoreMismatch as `whole_secret`."""
        found = dict[str, bytes]()
        for owner, one in self.ciphers(lines).items():
            if isinstance(one, KeyUnavailable):
                raise one
            found[owner] = one.secret
        return found

    def ciphers(self, lines: Mapping[str, bytes]) -> dict[str, ValueCipher | KeyUnavailable]:
        """What opens each of these owners' values, or why it cannot be had. Raises StoreMismatch for a line that no append made."""
        found = dict[str, ValueCipher | KeyUnavailable]()
        unknown = list[str]()
        with self._lock:
            for owner, line in lines.items():
                kept = self._kept.get((owner, line))
                if kept is None:
                    unknown.append(owner)
                else:
                    self._kept.move_to_end((owner, line))
                    found[owner] = kept
        named = list[str]()
        for owner in unknown:
            if is_tombstone(lines[owner]):
                found[owner] = erased(owner)
            elif not self.is_on:
                found[owner] = self._keep(owner, lines[owner], ValueCipher(whole_secret(owner, lines[owner])))
            elif (
                len(lines[owner]) == SECRET_BYTES
            ):  # whoever put it there knows it, and would read what is sealed under it
                found[owner] = KeyUnavailable(_LIES_OPEN.format(owner), passes=False)
            elif is_name(lines[owner]):
                named.append(owner)
            else:
                found[owner] = KeyUnavailable(_NO_NAME.format(owner), passes=False)
        if named:
            assert self.master is not None
            held = self.keys.read([lines[owner] for owner in named])
            wrapped = [owner for owner in named if lines[owner] in held]
            found |= {
                owner: KeyUnavailable(_NO_KEY.format(owner), passes=False) for owner in named if owner not in wrapped
            }
            opened = self.master.unwrap([Wrapped(self.about(owner), held[lines[owner]]) for owner in wrapped])
            for owner, secret in zip(wrapped, opened, strict=True):
                found[owner] = (
                    secret
                    if isinstance(secret, KeyUnavailable)
                    else self._keep(owner, lines[owner], ValueCipher(whole_secret(owner, secret)))
                )
        return found

    def held_owners(self) -> list[str]:
        """Owners whose secrets are held opened."""
        with self._lock:
            return list({owner for owner, _ in self._kept})

    def forget(self, owner: str) -> None:
        """Hold an owner's secret no more: it is asked for again."""
        with self._lock:
            for kept in [one for one in self._kept if one[0] == owner]:
                del self._kept[kept]

    def _keep(self, owner: str, line: bytes, cipher: ValueCipher) -> ValueCipher:
        with self._lock:
            self._kept[owner, line] = cipher
            self._kept.move_to_end((owner, line))
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return cipher

    def about(self, owner: str) -> bytes:
        """What an owner's wrapped secret is bound to: the store and the owner."""
        return self.store + b"\0" + owner.encode()


def whole_secret(owner: str, secret: bytes) -> bytes:
    """The secret as it is stored. Raises StoreMismatch where no append made it."""
    if len(secret) != SECRET_BYTES:
        raise StoreMismatch(
            f"the secret of owner {owner!r} has {len(secret)} bytes, {SECRET_BYTES} are allowed: no append made it; bring back the"
            " backup that has the right one, and see `engramlog verify`"
        )
    return secret


KEY_BYTES = 32
_FILE_MARK = b"\x01"
"""What a line begins with that a key ring wrapped; a key service's begins with another byte."""
_KEY_ID_BYTES = 8


def key_id(key: bytes) -> str:
    """16 hexadecimal digits by which a master key is told, and nothing of it."""
    return sha256(b"engramlog master key\0" + key).hexdigest()[: 2 * _KEY_ID_BYTES]


class KeyRing:
    """A `MasterKey` of one or more keys of 32 bytes; the last one wraps."""

    def __init__(self, keys: Sequence[bytes], chance: Callable[[int], bytes] = token_bytes) -> None:
        """Raises ValueError where there is no key, or one has another length."""
        if not keys or any(len(one) != KEY_BYTES for one in keys):
            raise ValueError(f"a master key has {KEY_BYTES} bytes, and a ring at least one key")
        self._keys = {bytes.fromhex(key_id(one)): one for one in keys}
        self._current = bytes.fromhex(key_id(keys[-1]))
        self._chance = chance
        self._ciphers: dict[bytes, AESGCM] = {}

    @property
    def name(self) -> str:
        """See `MasterKey.name`."""
        return self._current.hex()

    @property
    def names(self) -> list[str]:
        """Every key that it can unwrap with."""
        return [one.hex() for one in self._keys]

    def wrap(self, secrets: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """See `MasterKey.wrap`."""
        found = list[bytes]()
        for about, secret in secrets:
            nonce = self._chance(NONCE_BYTES)
            wrapped = self._cipher(self._current).encrypt(nonce, secret, about)
            found.append(_FILE_MARK + self._current + nonce + wrapped)
        return found

    def unwrap(self, lines: Sequence[Wrapped]) -> list[bytes | KeyUnavailable]:
        """See `MasterKey.unwrap`."""
        return [self._unwrapped(one) for one in lines]

    def wrapped_by(self, line: bytes) -> str | None:
        """See `MasterKey.wrapped_by`."""
        return line[1 : 1 + _KEY_ID_BYTES].hex() if line[:1] == _FILE_MARK else None

    def is_current(self, line: bytes) -> bool:
        """See `MasterKey.is_current`."""
        return line[: 1 + _KEY_ID_BYTES] == _FILE_MARK + self._current

    def _unwrapped(self, one: Wrapped) -> bytes | KeyUnavailable:
        about, line = one
        if line[:1] != _FILE_MARK:
            return KeyUnavailable("it was not wrapped by a key file, but by a key service", passes=False)
        by, nonce = line[1 : 1 + _KEY_ID_BYTES], line[1 + _KEY_ID_BYTES : 1 + _KEY_ID_BYTES + NONCE_BYTES]
        if by not in self._keys:
            held = ", ".join(self.names)
            return KeyUnavailable(f"it was wrapped under master key {by.hex()}; held are {held}", passes=False)
        try:
            return self._cipher(by).decrypt(nonce, line[1 + _KEY_ID_BYTES + NONCE_BYTES :], about)
        except (invalid_tag(), ValueError):
            return KeyUnavailable(
                "it does not open: the line was changed, or is of another store or owner", passes=False
            )

    def _cipher(self, by: bytes) -> AESGCM:
        found = self._ciphers.get(by)
        if found is None:
            found = self._ciphers[by] = new_aes()(self._keys[by])
        return found
