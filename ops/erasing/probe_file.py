"""Probes on disk: one file an erasure, sealed under a key that is drawn for it and wrapped under the store's master key.

    ENGPROB1 | length of the line, 4 bytes, big-endian | the line | a nonce, 12 bytes | AES-256-GCM of the probes

What is sealed there is the owner's: it is to go once an audit ended clean and was confirmed, at the latest after some days.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from contextlib import suppress
from pathlib import Path
from secrets import token_bytes, token_hex

import msgspec

from events.errors import BadSetting, KeyUnavailable, NotFound, StoreError, StoreMismatch, StoreUnavailable
from events.sealing.cipher import NONCE_BYTES, invalid_tag, new_aes
from events.sealing.key_ring import KEY_BYTES
from events.sealing.seals import MasterKey, Wrapped
from events.text.unreadable import UNREADABLE
from ops.erasing.probes import Probes
from ops.owned import OTHERS, is_ours
from ops.settings import Settings

MARK = b"ENGPROB1"
SUFFIX = ".probes"
MOST_BYTES = 4 << 20
"""A file of probes is smaller: 2,000 needles of 64 bytes."""
DAY_SECONDS = 86_400
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_NAME = 64


class DamagedProbes(StoreError):
    """A file of probes that cannot be read: what was to be gone is not known any more."""


def probes_folder(settings: Settings, store_id: str) -> Path:
    """Where a store's probes are kept on this machine. The id comes out of Redis: no path is made of it."""
    told = "".join(one for one in store_id if (one.isascii() and one.isalnum()) or one == "-")[:_NAME]
    return settings.data.expanduser() / ("erasures" if settings.redis_url is None else f"erasures-{told}")


def write_probes(folder: Path, master: MasterKey, probes: Probes) -> Path:
    """Seal the probes of an erasure, in place of those that it had; on disk when this returns.

    The folder is made where there is none, of mode 0700, the file is 0600. Raises KeyUnavailable, BadSetting for an id that is no
    file's name, StoreUnavailable where they cannot be written: then those of before stay.
    """
    path, about = _path(folder, probes.erasure_id), _about(probes.store_id, probes.erasure_id)
    key, nonce = token_bytes(KEY_BYTES), token_bytes(NONCE_BYTES)
    (line,) = master.wrap([(about, key)])
    sealed = new_aes()(key).encrypt(nonce, msgspec.msgpack.encode(probes), about)
    _write(folder, path, _laid(line, nonce + sealed))
    return path


def _laid(line: bytes, behind: bytes) -> bytes:
    return MARK + len(line).to_bytes(4, "big") + line + behind


def _write(folder: Path, path: Path, raw: bytes, of: os.stat_result | None = None) -> None:
    """Write a file beside its place, then put it there; on disk when this returns. `of`: of the file whose place it takes, where
    there must be one. Raises StoreUnavailable."""
    beside = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_others(folder)
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(raw)
                file.flush()
                if of is not None:
                    os.utime(file.fileno(), ns=(of.st_atime_ns, of.st_mtime_ns))
                os.fsync(file.fileno())
            if of is None or path.exists():
                beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        _sync(folder)
    except OSError as error:
        raise StoreUnavailable(f"probes cannot be kept: {error.strerror}", file=str(path)) from error


def read_probes(folder: Path, master: MasterKey, store_id: str, erasure_id: str) -> Probes:
    """The probes of an erasure.

    Raises NotFound where there are none, DamagedProbes where they are damaged or of another store, StoreMismatch where they were
    sealed under another master key, KeyUnavailable where that cannot be had now, StoreUnavailable where they cannot be read.
    """
    path = _path(folder, erasure_id)
    told = f"the probes of erasure {erasure_id} in {path}"
    line, behind = _parted(path, erasure_id)
    nonce, sealed = behind[:NONCE_BYTES], behind[NONCE_BYTES:]
    about = _about(store_id, erasure_id)
    (key,) = master.unwrap([Wrapped(about, line)])
    if isinstance(key, KeyUnavailable):
        if key.passes:
            raise key
        raise StoreMismatch(
            f"{told} cannot be opened: they were sealed under another master key or for another store, or are damaged"
            f" ({key.message})",
            file=str(path),
        )
    try:
        found = msgspec.msgpack.decode(new_aes()(key).decrypt(nonce, sealed, about), type=Probes)
    except (invalid_tag(), *UNREADABLE, ValueError):
        raise DamagedProbes(f"{told} are damaged: they do not open under their key", file=str(path)) from None
    return found


def _parted(path: Path, erasure_id: str) -> tuple[bytes, bytes]:
    """The wrapped key in a file of probes, and what stands behind it. Raises as `read_probes`."""
    raw, told = _read(path, erasure_id), f"the probes of erasure {erasure_id} in {path}"
    if raw[: len(MARK)] != MARK:
        raise DamagedProbes(f"{told} are damaged: they do not begin as probes do", file=str(path))
    start = len(MARK) + 4
    end = start + int.from_bytes(raw[len(MARK) : start], "big")
    if end == start or len(raw) <= end + NONCE_BYTES:
        raise DamagedProbes(f"{told} are damaged: they break off", file=str(path))
    return raw[start:end], raw[end:]


def probes_wrapped(folder: Path, master: MasterKey) -> Counter[str]:
    """By master key, as `MasterKey.wrapped_by` names it: of how many erasures the probes are wrapped under it.

    Damaged ones are of no use to anybody and need none. Raises StoreUnavailable where they cannot be read.
    """
    found = Counter[str]()
    for erasure_id in kept_probes(folder):
        with suppress(NotFound, DamagedProbes):
            line, _ = _parted(_path(folder, erasure_id), erasure_id)
            if (by := master.wrapped_by(line)) is not None:
                found[by] += 1
    return found


def rewrap_probes(folder: Path, master: MasterKey, store_id: str) -> int:
    """Wrap the keys of all probes anew that the master key did not wrap that wraps now; how many. What does not open stays as it
    is, and none is kept for longer than before.

    Raises KeyUnavailable where the master key cannot be had now, StoreUnavailable.
    """
    done = 0
    for erasure_id in kept_probes(folder):
        path, about = _path(folder, erasure_id), _about(store_id, erasure_id)
        with suppress(NotFound, DamagedProbes, FileNotFoundError):
            of = path.lstat()
            line, behind = _parted(path, erasure_id)
            if master.is_current(line):
                continue
            (key,) = master.unwrap([Wrapped(about, line)])
            if isinstance(key, KeyUnavailable):
                if key.passes:
                    raise key
                continue
            (fresh,) = master.wrap([(about, key)])
            _write(folder, path, _laid(fresh, behind), of)
            done += 1
    return done


def drop_probes(folder: Path, erasure_id: str) -> bool:
    """Destroy the probes of an erasure; whether there were any. Their wrapped key is written over first.

    Raises BadSetting for an id that is no file's name, StoreUnavailable where they cannot be removed.
    """
    return _drop(_path(folder, erasure_id))


def drop_older(folder: Path, days: float, now: float) -> list[str]:
    """Destroy all probes that were written longer ago than so many days; the ids of their erasures.

    `now`: seconds since 1970. Goes by the times of files. Raises StoreUnavailable where one cannot be removed.
    """
    found = list[str]()
    for path in _files(folder):
        with suppress(FileNotFoundError):
            if now - path.lstat().st_mtime >= days * DAY_SECONDS and _drop(path):
                found.append(path.name.removesuffix(SUFFIX))
    return found


def kept_probes(folder: Path) -> list[str]:
    """Erasures whose probes are kept, by their ids. Raises StoreUnavailable."""
    return [path.name.removesuffix(SUFFIX) for path in _files(folder)]


def kept_since(folder: Path) -> dict[str, float]:
    """When the probes that are kept were written, in seconds since 1970, by the ids of their erasures. Raises StoreUnavailable."""
    found = dict[str, float]()
    for path in _files(folder):
        with suppress(FileNotFoundError):
            found[path.name.removesuffix(SUFFIX)] = path.lstat().st_mtime
    return found


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(
            one for one in folder.iterdir() if one.suffix == SUFFIX and _ID.fullmatch(one.name.removesuffix(SUFFIX))
        )
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreUnavailable(f"kept probes cannot be looked for: {error.strerror}", file=str(folder)) from error


def _path(folder: Path, erasure_id: str) -> Path:
    if not _ID.fullmatch(erasure_id):
        allowed = "1 to 64 ASCII letters, digits and hyphens, no hyphen first"
        raise BadSetting(f"erasure_id: got {erasure_id[:64]!r}; allowed: {allowed}", setting="erasure_id")
    return folder / f"{erasure_id}{SUFFIX}"


def _about(store_id: str, erasure_id: str) -> bytes:
    """What the key and the probes are bound to: no owner's name begins with a colon that is followed by a space."""
    return store_id.encode() + b"\0: probes of " + erasure_id.encode()


def _refuse_others(folder: Path) -> None:
    """Raises StoreUnavailable where the folder is not this user's alone."""
    if not is_ours(folder, stat.S_ISDIR):
        raise StoreUnavailable(
            f"the folder of probes {folder} is no folder of this user alone (0700): close it, or move it away",
            file=str(folder),
        )


def _read(path: Path, erasure_id: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotFound(
            f"no probes are kept of erasure {erasure_id} ({path}): they were dropped, or taken on another machine"
        ) from None
    except OSError as error:
        raise StoreUnavailable(f"probes cannot be read: {error.strerror}", file=str(path)) from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & OTHERS:
            raise StoreUnavailable(
                f"the probes in {path} are not used: others can use the file (user {found.st_uid},"
                f" {stat.S_IMODE(found.st_mode):04o})",
                file=str(path),
            )
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise DamagedProbes(f"{path} is no file of probes: it is larger than {MOST_BYTES:,} bytes", file=str(path))
    return raw


def _drop(path: Path) -> bool:
    try:
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.pwrite(descriptor, bytes(min(os.fstat(descriptor).st_size, MOST_BYTES)), 0)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            path.unlink()
            _sync(path.parent)
            return True
    except OSError as error:
        raise StoreUnavailable(f"probes cannot be removed: {error.strerror}", file=str(path)) from error
    return False


def _sync(folder: Path) -> None:
    """Have the folder on disk, which tells the files' names."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
