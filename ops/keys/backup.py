"""The backup of a key store: one private file, in place of the one before.

Saving goes on while the store is used, and blocks nobody. Why a backup never brings back what was erased:

1. The time is noted first. What was deleted from the key store before that time is not in the file; what is deleted later may be,
   and the file's age says so. Whoever erases saves again at the end.
2. Saves of one file take turns under its lock, from the first read until the file is there.
3. A store that is an older copy than what is saved there is refused, because its key store may have what was erased since. One
   that was restored by that very file is known by its save.
4. The file holds the fence list too, and a restored store compares it with the keys before it answers anything.

Without the master key the file opens nothing: its keys are wrapped, and salts alone open nothing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from glob import escape
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import msgspec

from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import EngramlogError, InputError, StoreMismatch, StoreUnavailable
from engramlog_server.events.keys import KeyStore
from engramlog_server.events.partitions import KEYS_FROM, STORE_KEY, LogKeys
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.secrets import whole_number
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.clock import now_micros
from engramlog_server.ops.durable import FileLock, NotPrivate, open_private, sync_path
from engramlog_server.ops.erasure.fence_list import ErasureStep, FenceList
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, folder_of
from engramlog_server.projections.redis.create import SEALED, StoreIdentity, refuse_copy

TURN_SECONDS = 60.0
"""How long another save of the same file is waited for."""
ALLOWED = "a file that `engramlog backup keys` wrote, this user's alone (0600)"
PAGE = 1_000
_ABOUT = "about.json"
_TABLES = """
CREATE TABLE about (field TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys (name BLOB PRIMARY KEY, line BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE salts (id INTEGER PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE fences (number INTEGER PRIMARY KEY, line BLOB NOT NULL);
"""
Progress = Callable[[int, int], None]
"""Hears of how many entries were saved, of how many."""


class KeysUnusable(InputError):
    """A backup of keys cannot be used: missing, a link, open to others, damaged, or no such file."""


class SavedKeys(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup of keys says of itself."""

    save: str
    """16 hexadecimal digits by which this save is known."""
    store_id: str
    saved_at: str
    """RFC 3339, UTC: taken before the first key was read. What was erased before is not in it."""
    heads: tuple[int, ...]
    """By partition the seq up to which it has the salts of entries."""
    events: tuple[str, ...]
    """By partition the id of the event there, 32 hexadecimal digits; empty if there is none."""
    check: bytes
    """The line by which the store's master key is known."""
    keys: int
    salts: int
    digest: str
    """SHA-256 of all rows, in their order."""


class KeysWritten(NamedTuple):
    """What was written."""

    file: str
    save: str
    saved_at: str
    store_id: str
    events: int
    """Entries that it covers."""
    owners: int
    """Owners' keys."""
    bytes: int
    replaced: str | None
    """When the one before was saved; None if there was none."""


class KeysKept(NamedTuple):
    """What a certificate tells of the backup of the keys."""

    saved_at: str | None
    """When it was last written; None if none is kept."""
    not_proven: tuple[str, ...] = ()
    """Why it could not be written again, in a sentence."""


def known_keys(path: Path) -> SavedKeys | None:
    """What a backup of keys says of itself; None if there is none. Raises KeysUnusable."""
    if not os.path.lexists(path):
        return None
    with _opened(path) as database:
        return _read_about(path, database)


def save_keys(
    store: OpenStore, settings: Settings, path: Path, on_progress: Progress = lambda _done, _all: None
) -> KeysWritten:
    """Write all keys and salts of a store into a file, in place of the one before.

    Raises InputError for a file that cannot be used or a store that lies open, StoreMismatch if the file is another store's or of a
    newer state of this one, or this is a restored copy, StoreUnavailable if it cannot be written: then the one before stays.
    """
    identity, data = store.identity, folder_of(store.embedded)
    path = refuse_place(path, data or settings.data, "file")
    if identity.sealed is None:
        raise StoreMismatch("this store is not encrypted: it has no keys to save")
    refuse_copy(identity.restored, "no keys are saved of a copy")
    with _in_turn(path), closing(store.wire()) as wire:
        before = known_keys(path)
        _drop_unfinished(path)
        at = utc_text(from_micros(now_micros()))
        heads = [
            whole_number(one) for one in wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in identity.tags])
        ]
        _refuse_newer(wire, identity, path, before, heads)
        about = SavedKeys(
            save=token_hex(8),
            store_id=identity.store_id,
            saved_at=at,
            heads=tuple(heads),
            events=_event_ids(wire, identity.tags, heads),
            check=wire.call("HGET", STORE_KEY, SEALED) or identity.sealed,
            keys=0,
            salts=0,
            digest="",
        )
        listed = [msgspec.json.encode(one) for one in FenceList.of(settings, identity.store_id).read_all()]
        about = _write(path, wire.seals.keys, about, listed, on_progress)
    size, replaced = path.stat().st_size, None if before is None else before.saved_at
    return KeysWritten(str(path), about.save, at, identity.store_id, sum(heads), about.keys, size, replaced)


def save_keys_again(store: OpenStore, settings: Settings) -> KeysKept:
    """Write the file that is set again, as every erasure does at its end. Raises nothing of ours: what is erased is erased."""
    path = settings.keys_backup
    if path is None:
        return KeysKept(None)
    try:
        return KeysKept(save_keys(store, settings, path).saved_at)
    except EngramlogError as error:
        told = (
            f"the backup of the keys {path} was not written again, so with it a backup still opens what was erased:"
            f" {error.message}; see to it, and run `engramlog backup keys`"
        )
    try:
        kept = known_keys(path)
    except EngramlogError:
        return KeysKept(None, (told,))
    mine = kept is not None and kept.store_id == store.identity.store_id
    return KeysKept(kept.saved_at if kept is not None and mine else None, (told,))


def restore_keys(path: Path, target: KeyStore, listed: FenceList) -> SavedKeys:
    """Put the keys, salts and fences of a backup into the key store and the list of a store that is restored. Can be done again.

    Raises KeysUnusable, with nothing changed, StoreUnavailable.
    """
    with _opened(path) as database:
        about = check_keys(path, database)
        for keys in _pages(database.execute("SELECT name, line FROM keys ORDER BY name")):
            target.put(dict(keys))
        for salts in _pages(database.execute("SELECT id, value FROM salts ORDER BY id")):
            target.put_salts(dict(salts))
        known = set(listed.read_all())
        for (line,) in database.execute("SELECT line FROM fences ORDER BY number").fetchall():
            with suppress(*UNREADABLE):
                one = msgspec.json.decode(line, type=ErasureStep)
                if one.store == listed.store_id and one not in known:
                    listed.append(one)
    return about


def check_keys(path: Path, database: sqlite3.Connection | None = None) -> SavedKeys:
    """Prove a backup of keys: every row is as it was written. Needs no key. Raises KeysUnusable."""
    if database is None:
        with _opened(path) as opened:
            return check_keys(path, opened)
    about = _read_about(path, database)
    try:
        digest, *_ = _digest(database)
    except sqlite3.Error as error:
        raise _unusable(path, f"is damaged ({error})") from None
    if digest != about.digest:
        raise _unusable(path, "is damaged: its rows are not those that were written")
    return about


def refuse_place(path: Path, data: Path | None, field: str) -> Path:
    """The file as a whole path. Raises InputError if none could be written there, or if each copy of the data folder would take it
    along."""
    with suppress(RuntimeError):  # of nobody who is known here: as it is written, and so no folder
        path = path.expanduser()
    path = path.absolute()
    folder = path.parent
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):  # noqa: PTH112 - raises at no name
        raise InputError(
            f"{field}: got {str(path)!r}; allowed: a file in a folder that is there and that this user may write to",
            field=field,
        )
    if data is not None and folder.resolve().is_relative_to(data.expanduser().resolve()):
        raise InputError(
            f"{field}: got {str(path)!r}, in the data folder; allowed: a file outside of it, else each copy of the folder holds the"
            " keys too",
            field=field,
        )
    return path


_ROWS = (
    "SELECT name, line FROM keys ORDER BY name",
    "SELECT id, value FROM salts ORDER BY id",
    "SELECT line FROM fences ORDER BY number",
)


def _write(path: Path, keys: KeyStore, about: SavedKeys, listed: Sequence[bytes], on_progress: Progress) -> SavedKeys:
    """Write the file beside its place, prove it, and put it there."""
    fresh = path.with_name(f".{path.name}.{about.save}")
    try:
        os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(fresh, isolation_level=None)) as database:
            database.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=FULL; BEGIN; {_TABLES}")
            total, ids = sum(about.heads), list(keys.salt_ids(1 << 53))
            for start in range(0, len(ids), PAGE):
                some = keys.salts(ids[start : start + PAGE])
                database.executemany("INSERT INTO salts VALUES (?, ?)", some.items())
                on_progress(min(start + PAGE, total), max(total, 1))
            database.executemany("INSERT INTO keys VALUES (?, ?)", keys.every())
            database.executemany("INSERT INTO fences (line) VALUES (?)", [(one,) for one in listed])
            digest, count, salts = _digest(database)
            about = msgspec.structs.replace(about, keys=count, salts=salts, digest=digest)
            database.execute("INSERT INTO about VALUES (?, ?)", (_ABOUT, msgspec.json.encode(about)))
            database.execute("COMMIT")
        sync_path(fresh)
        check_keys(fresh)
        fresh.replace(path)
        with suppress(PermissionError):  # a folder that may be written to and not read
            sync_path(path.parent)
    except sqlite3.Error as error:
        raise StoreUnavailable(f"the keys cannot be saved in {path}: {error}", file=str(path)) from error
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
    return about


def _digest(database: sqlite3.Connection) -> tuple[str, int, int]:
    """SHA-256 of all rows in their order, and the numbers of keys and salts."""
    rows, counts = sha256(), list[int]()
    for table in _ROWS:
        counts.append(0)
        for row in database.execute(table):
            rows.update(repr(row).encode())
            counts[-1] += 1
    return rows.hexdigest(), counts[0], counts[1]


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        descriptor = open_private(path)
    except NotPrivate as error:
        raise _unusable(path, error.what) from None
    try:
        with closing(sqlite3.connect(f"file:/proc/self/fd/{descriptor}?mode=ro&immutable=1", uri=True)) as database:
            database.execute("PRAGMA trusted_schema=OFF")
            yield database
    except sqlite3.Error as error:
        raise _unusable(path, f"is no such file, or is damaged ({error})") from None
    finally:
        os.close(descriptor)


def _read_about(path: Path, database: sqlite3.Connection) -> SavedKeys:
    try:
        row = database.execute("SELECT value FROM about WHERE field = ?", (_ABOUT,)).fetchone()
        return msgspec.json.decode(row[0] if row else b"", type=SavedKeys)
    except (sqlite3.Error, *UNREADABLE) as error:
        raise _unusable(path, f"is no such file, or is damaged ({type(error).__name__})") from None


def _pages(rows: sqlite3.Cursor) -> Iterable[list[Any]]:
    return iter(lambda: rows.fetchmany(PAGE), [])


@contextmanager
def _in_turn(path: Path) -> Iterator[None]:
    """One save of a file at a time: who comes later reads the store later. Raises StoreUnavailable."""
    lock = FileLock(path, TURN_SECONDS)
    try:
        lock.__enter__()
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        yield
    finally:
        lock.__exit__()


def _drop_unfinished(path: Path) -> None:
    """Remove what killed saves of this file left beside it; under its lock. Raises StoreUnavailable."""
    try:
        for one in path.parent.glob(f".{escape(path.name)}.*"):
            if len(one.name) == len(path.name) + 18:
                one.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritten(path, error) from error


def _event_ids(wire: Wire, tags: Sequence[str], seqs: Sequence[int]) -> tuple[str, ...]:
    answers = wire.answers(
        [["XRANGE", LogKeys(tag).stream, f"{seq}-0", f"{seq}-0"] for tag, seq in zip(tags, seqs, strict=True)]
    )
    found = (entries(answer, tag) for answer, tag in zip(answers, tags, strict=True))
    return tuple(some[0].raw_id.hex() if some else "" for some in found)


def _refuse_newer(wire: Wire, identity: StoreIdentity, path: Path, before: SavedKeys | None, heads: list[int]) -> None:
    """Raise StoreMismatch if the file that would be replaced is another store's, or of a newer state of this one."""
    if before is None:
        return
    if before.store_id != identity.store_id:
        raise StoreMismatch(
            f"{path} holds the keys of store {before.store_id}, and this is {identity.store_id}: name another file. Nothing was"
            " changed",
            file=str(path),
        )
    same = len(before.heads) == len(heads) and all(old <= new for old, new in zip(before.heads, heads, strict=True))
    if same and _event_ids(wire, identity.tags, before.heads) == before.events:
        return
    if (wire.call("HGET", STORE_KEY, KEYS_FROM) or b"").decode("ascii", "replace") == before.save:
        return
    raise StoreMismatch(
        f"{path} was saved at {before.saved_at} of a newer state of this store: this store is an older copy, or went on"
        " from one, and its keys would bring back what was erased since. Move the file away if you know better."
        " Nothing was changed",
        file=str(path),
    )


def _unusable(path: Path, what: str) -> KeysUnusable:
    return KeysUnusable(f"file: got {str(path)!r}, which {what}; allowed: {ALLOWED}", field="file", file=str(path))


def _unwritten(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"the keys cannot be saved in {path}: {error.strerror}", file=str(path))
