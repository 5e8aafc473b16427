"""The master key of a store, the place of its key store by the settings, and wrapping the store's lines under another key.

Master keys are in a file, one a line, and the last one wraps; the file is used only where nobody else can have read it or put it
there. Or the key is in a key service, which may fail.

A line is replaced only if it is as it was read: whatever is killed anywhere is carried on by the next, and a process that uses the
store meanwhile finds the old line or the new one. Both open to the same secret.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fcntl import LOCK_EX, LOCK_NB, flock
from functools import partial
from itertools import islice
from pathlib import Path
from secrets import token_bytes
from threading import Lock
from typing import Final, NamedTuple

from engramlog_server.events.alarms import KEYS_UNAVAILABLE, Alarms, ConditionAlarm
from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.errors import BadSetting, KeyUnavailable
from engramlog_server.events.keys import (
    CHECK_OWNER,
    KEY_BYTES,
    SEALED_FIELD,
    KeyRing,
    KeyStore,
    MasterKey,
    OpenKeyStore,
    Seals,
    Wrapped,
    is_name,
    is_tombstone,
    key_id,
)
from engramlog_server.events.partitions import STORE_KEY, LogKeys
from engramlog_server.events.redis.wire import Script, Wire, pairs
from engramlog_server.events.text import NONE
from engramlog_server.ops.clock import Every, Tell
from engramlog_server.ops.durable import NotPrivate, new_file_beside, read_private, store_file, sync_path
from engramlog_server.ops.settings import Settings, service_key

LOOK_SECONDS: Final = 5.0
OPEN_STORE = "a master key is set, but this store is not encrypted: run `engramlog seal`"
"""Logged once for settings that seal nothing."""


def master_of(settings: Settings, folder: Path | None = None) -> MasterKey | None:
    """The master key that is set; else the one that lies in the `folder` of an embedded store; None where there is none."""
    if settings.sealed_by is not None and (place := service_key(settings.sealed_by)) is not None:
        from engramlog_server.ops.keys.vault import VaultKey  # noqa: PLC0415 - who has a file asks no service

        return VaultKey(place, partial(_token, settings))
    path = key_in(folder, settings)
    return None if path is None else KeyFile(path)


def key_in(folder: Path | None, settings: Settings) -> Path | None:
    """The file of the master key: the one that is set, else the one in the folder of an embedded store, where there is one; None
    where a key service has the key."""
    if settings.sealed_by is not None:
        elsewhere = settings.sealed_by == NONE or service_key(settings.sealed_by) is not None
        return None if elsewhere else Path(settings.sealed_by).expanduser()
    return folder / NAME if folder is not None and exists_at(folder / NAME) else None


def _token(settings: Settings) -> str:
    """The token for the key service. Raises BadSetting if there is none."""
    from engramlog_server.ops.keys.vault import TOKEN_FILE, token_in  # noqa: PLC0415 - as above

    if settings.vault_token_file is None:
        raise BadSetting(
            f"{TOKEN_FILE}: got nothing; allowed: a file with a token that may encrypt and decrypt by the key of"
            " ENGRAMLOG_SEALED_BY",
            setting=TOKEN_FILE,
        )
    return token_in(settings.vault_token_file)


def watch_master_key(seals: Seals, alarms: Alarms, tell: Tell) -> Every:
    """Ask for the master key every few seconds in a thread, for a key service may be slow; an alarm while it cannot be had."""
    alarm = ConditionAlarm(alarms, KEYS_UNAVAILABLE)

    def check() -> None:
        seals.look()
        before, reason = alarm.reported, seals.standing().reason or None
        if not alarm.report(reason):
            return
        if reason is not None:
            tell("master key unavailable", reason=reason, alarm=True)
        elif before:
            tell("master key reached")

    every = Every(LOOK_SECONDS, check, "master key", tell)
    if seals.is_on:
        return every.start()
    alarm.report(None)
    if seals.master is not None:
        tell("store not encrypted", what=OPEN_STORE, alarm=True)
    return every


NAME = "master-key"
"""What it is called in a data folder."""
LONGEST = 64 * 1024
_HEAD = """\
# The master key of an Engramlog store. Whoever has it and a copy of the store can read all that is in it; without it
# nobody can, you neither. Keep a copy of this file apart from the store and its backups. The last line wraps.
"""


class KeyFileUnusable(BadSetting):
    """The file with the master key cannot be trusted, read or written; nothing is opened by it."""

    exit_code = 1


class KeyFile:
    """A `MasterKey` that lies in a file; read when it is first needed, and again where it does not hold what was asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ring: KeyRing | None = None
        self._seen: tuple[int, int, int] | None = None
        self._lock = Lock()

    @property
    def name(self) -> str:
        """See `MasterKey.name`. Raises KeyFileUnusable."""
        return f"{self._read().name} ({self._path})"

    @property
    def ring(self) -> KeyRing:
        """The keys that lie there now. Raises KeyFileUnusable."""
        return self._read(anew=self._changed())

    def wrap(self, secrets: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """See `MasterKey.wrap`. By what lies there now: what a key wraps that was rotated away could never be opened again."""
        return self._usable(anew=self._changed()).wrap(secrets)

    def unwrap(self, lines: Sequence[Wrapped]) -> list[bytes | KeyUnavailable]:
        """See `MasterKey.unwrap`."""
        try:
            found = self._usable().unwrap(lines)
            if any(isinstance(one, KeyUnavailable) for one in found) and self._changed():
                found = self._usable(anew=True).unwrap(lines)
        except KeyUnavailable as error:
            return [error] * len(lines)
        return found

    def wrapped_by(self, line: bytes) -> str | None:
        """See `MasterKey.wrapped_by`."""
        return self._usable().wrapped_by(line)

    def is_current(self, line: bytes) -> bool:
        """See `MasterKey.is_current`."""
        return self._usable(anew=self._changed()).is_current(line)

    def _usable(self, *, anew: bool = False) -> KeyRing:
        try:
            return self._read(anew=anew)
        except KeyFileUnusable as error:
            raise KeyUnavailable(error.message) from error

    def _read(self, *, anew: bool = False) -> KeyRing:
        with self._lock:
            if self._ring is None or anew:
                seen = _mark(self._path)  # before it is read: what is put there meanwhile is read again
                self._ring, self._seen = read_key_file(self._path), seen
            return self._ring

    def _changed(self) -> bool:
        return _mark(self._path) != self._seen


def read_key_file(path: Path) -> KeyRing:
    """The keys in a file. Raises KeyFileUnusable, which tells nothing of what is in it."""
    try:
        raw = read_private(path, LONGEST)
    except NotPrivate as error:
        raise _unusable(path, error.what) from None
    keys = list[bytes]()
    for number, line in enumerate(raw.decode("ascii", "replace").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        keys.append(_key(path, number, words))
    if not keys:
        raise _unusable(path, "holds no master key")
    return KeyRing(keys)


def exists_at(path: Path) -> bool:
    """Whether anything does, a link that leads nowhere too: no store is made open because its key cannot be reached now."""
    return os.path.lexists(path)


def make_key_file(path: Path) -> bool:
    """A new file with one new key, mode 0600; what is there stays as it is. Whether it was made. Raises KeyFileUnusable.

    It is written beside its place and linked there: nobody finds it half written, and a full disk leaves none.
    """
    if exists_at(path):
        return False
    try:
        with new_file_beside(path, f"{_HEAD}{line_of(token_bytes(KEY_BYTES))}\n".encode()) as beside:
            os.link(beside, path)
    except FileExistsError:
        return False
    except OSError as error:
        raise KeyFileUnusable(
            f"no master key file can be made at {path} ({error.strerror}); nothing was made"
        ) from None
    sync_path(path.parent)
    return True


def rotate_key_file(path: Path) -> str:
    """Put a new key into the file, which wraps from now on, beside those that are there; gives its id. Raises KeyFileUnusable."""
    key = token_bytes(KEY_BYTES)
    with _held(path) as text:
        _replace(path, f"{text.rstrip()}\n{line_of(key)}\n")
    return key_id(key)


def drop_key(path: Path, told: str) -> None:
    """Take a key out of the file that nothing needs any more, and that is not the one that wraps now; who calls has looked.
    Raises KeyFileUnusable."""
    with _held(path) as text:
        kept = [line for line in text.splitlines() if line.split()[:2] != ["egm1", told]]
        rotated = path.lstat().st_mtime_ns
        _replace(path, "\n".join(kept) + "\n")
        os.utime(path, ns=(rotated, rotated))  # it tells when a key was put there


def rotated_seconds(path: Path, now: float) -> float:
    """How long ago a key was put into the file, by its time. Raises KeyFileUnusable."""
    try:
        return now - path.lstat().st_mtime
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error.strerror})") from None


@contextmanager
def _held(path: Path) -> Iterator[str]:
    """What the file says, which no other command changes meanwhile. Raises KeyFileUnusable."""
    read_key_file(path)
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error.strerror})") from None
    try:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except OSError:
            raise _unusable(path, "is being changed by another command; run this again") from None
        if os.fstat(lock).st_ino != path.lstat().st_ino:
            raise _unusable(path, "was replaced just now by another command; run this again")
        yield os.read(lock, LONGEST).decode("utf-8", "surrogateescape")
    finally:
        os.close(lock)


def _replace(path: Path, text: str) -> None:
    """The file as a whole in place of the one before. Raises KeyFileUnusable; then that one stays."""
    if len(_raw(text)) > LONGEST:
        raise _unusable(path, f"would have more than {LONGEST:,} bytes; drop keys that nothing needs any more")
    try:
        with new_file_beside(path, _raw(text)) as beside:
            read_key_file(beside)
            beside.replace(path)
    except OSError as error:
        raise _unusable(path, f"cannot be rewritten ({error.strerror})") from None
    sync_path(path.parent)


def _raw(text: str) -> bytes:
    """What `_held` read: its comments may be in any language, and in any bytes."""
    return text.encode("utf-8", "surrogateescape")


def line_of(key: bytes) -> str:
    """A key as it stands in the file."""
    return f"egm1 {key_id(key)} {b64encode(key).decode()}"


def _key(path: Path, number: int, words: Sequence[str]) -> bytes:
    what = f"has no master key on line {number}: a line is `egm1`, its id, and {KEY_BYTES} bytes in base64"
    try:
        kind, told, text = words
        key = b64decode(text, validate=True)
    except ValueError:
        raise _unusable(path, what) from None
    if kind != "egm1" or len(key) != KEY_BYTES or key_id(key) != told:
        raise _unusable(path, what)
    return key


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _unusable(path: Path, what: str) -> KeyFileUnusable:
    return KeyFileUnusable(
        f"the master key file {path} (ENGRAMLOG_SEALED_BY) {what}; nothing was opened by it",
        setting="ENGRAMLOG_SEALED_BY",
    )


_KEYS_FILE = "keys.db"
"""The file of a store in its data folder; a store in a Redis of one's own has its id in the name."""


def keys_of(settings: Settings) -> OpenKeyStore:
    """What opens the key store of these settings."""
    return partial(_opened, settings)


def key_file_of(settings: Settings, store_id: str) -> Path | None:
    """The file of the key store; None if a Redis has the keys."""
    if settings.keys is None:
        return store_file(settings.data, _KEYS_FILE, None if settings.redis_url is None else store_id)
    return None if "://" in settings.keys else Path(settings.keys).expanduser()


def _opened(settings: Settings, store_id: str, make: bool) -> KeyStore:
    path = key_file_of(settings, store_id)
    if path is None:
        from engramlog_server.ops.keys.store import RedisKeyStore  # noqa: PLC0415 - most stores have a file

        assert settings.keys is not None
        return RedisKeyStore(settings.keys, store_id, make=make, timeout=settings.redis_timeout)
    from engramlog_server.ops.keys.store import FileKeyStore  # noqa: PLC0415 - commands on open stores do not load it

    return FileKeyStore(path, make=make)


AT_ONCE = 250
"""Lines that are wrapped anew together."""
MOST_PASSES = 5
"""Times that all lines are looked through, for others may write some meanwhile."""
MOST_NAMED = 20
"""Owners that are named of those whose lines do not open."""
REPLACE = Script(
    "replace a line",
    """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
""",
)
Advance = Callable[[int, int], None]
"""Told the lines done so far, and how many there are."""


class _Line(NamedTuple):
    """The name of a key, whose it is (`:check`: the store's own, which has none), and how it is wrapped; the owner's line itself if
    the key store has none."""

    name: bytes
    owner: str
    line: bytes


@dataclass(slots=True)
class Rewrapped:
    """What was done."""

    rewrapped: int = 0
    current: int = 0
    """Lines that the key made that wraps now, those that were wrapped anew among them."""
    unopened: int = 0
    """Lines that no key at hand opens: they stay."""
    named: list[str] = field(default_factory=list)
    """Some of their owners."""
    why: str = ""
    """Why the first of them does not open."""


@dataclass(slots=True)
class Wraps:
    """Which keys the lines of a store are wrapped under."""

    owners: Counter[str] = field(default_factory=Counter)
    """By key: how many owners."""
    check: str = ""
    """The key that the store's own line is under."""
    erased: int = 0
    others: int = 0
    """Lines that another kind of master key made."""
    open: int = 0
    """Secrets that lie open."""

    def need(self, key: str) -> int:
        """How many lines need a key."""
        return self.owners[key] + (self.check == key)


def wraps_of(wire: Wire, tags: Sequence[str], master: MasterKey) -> Wraps:
    """Look through all lines. Raises StoreError."""
    found = Wraps()
    for one in _lines(wire, tags):
        by = master.wrapped_by(one.line)
        if one.owner == CHECK_OWNER:
            found.check = by or ""
        elif len(one.line) == SECRET_BYTES:
            found.open += 1
        elif is_tombstone(one.line):
            found.erased += 1
        elif by is None:
            found.others += 1
        else:
            found.owners[by] += 1
    return found


def rewrap(wire: Wire, tags: Sequence[str], seals: Seals, advance: Advance = lambda _done, _total: None) -> Rewrapped:
    """Wrap anew, under the key that wraps now, every line that it did not make.

    Raises KeyUnavailable where that key cannot be had: then what was done stays, and the next call goes on.
    """
    many = 0
    for _ in range(MOST_PASSES):
        done = _pass(wire, tags, seals, advance)
        many += done.rewrapped
        if not done.rewrapped:
            break
    done.rewrapped = many
    return done


def _pass(wire: Wire, tags: Sequence[str], seals: Seals, advance: Advance) -> Rewrapped:
    assert seals.master is not None
    done, seen, lines = Rewrapped(), 0, _lines(wire, tags)
    total = 1 + sum(wire.answers([["HLEN", LogKeys(tag).secrets] for tag in tags]))
    while some := list(islice(lines, AT_ONCE)):
        seen += len(some)
        wrapped = [one for one in some if one.name or one.owner == CHECK_OWNER]
        old = [one for one in wrapped if not seals.master.is_current(one.line)]
        done.current += len(wrapped) - len(old)
        if old:
            _replace_lines(wire, seals, old, done)
        advance(seen, max(total, seen))
    return done


def _replace_lines(wire: Wire, seals: Seals, old: Sequence[_Line], done: Rewrapped) -> None:
    """Wrap these anew. Raises KeyUnavailable where the key cannot be had now."""
    assert seals.master is not None
    opened = seals.master.unwrap([Wrapped(seals.about(one.owner), one.line) for one in old])
    mine = list[tuple[_Line, bytes]]()
    for one, secret in zip(old, opened, strict=True):
        if not isinstance(secret, KeyUnavailable):
            mine.append((one, secret))
            continue
        if secret.passes or "setting" in secret.context:
            raise secret
        done.unopened += 1
        done.why = done.why or secret.message
        done.named += [one.owner] if len(done.named) < MOST_NAMED else []
    made = seals.master.wrap([(seals.about(one.owner), secret) for one, secret in mine]) if mine else []
    named = [(one, line) for (one, _), line in zip(mine, made, strict=True)]
    replaced = seals.keys.replace({one.name: (one.line, line) for one, line in named if one.name})
    for one, line in named:
        if not one.name:
            replaced += wire.run(REPLACE, [STORE_KEY], [SEALED_FIELD, one.line, line])
    done.rewrapped += replaced
    done.current += replaced


def _lines(wire: Wire, tags: Sequence[str]) -> Iterator[_Line]:
    """Every owner's line, and the store's own last: once that is under the new key, all before it were."""
    for tag in tags:
        seen, every = set[bytes](), pairs(wire, LogKeys(tag).secrets)
        while page := list(islice(every, AT_ONCE)):
            held = wire.seals.keys.read([line for _, line in page if is_name(line)])
            for owner, line in page:
                if owner not in seen:
                    seen.add(owner)
                    name = line if line in held else b""
                    yield _Line(name, owner.decode(), held.get(line, line))
    check = wire.call("HGET", STORE_KEY, SEALED_FIELD)
    if check is not None:
        yield _Line(b"", CHECK_OWNER, check)
