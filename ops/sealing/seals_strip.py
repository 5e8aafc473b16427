"""`engramlog seals strip COPY`: everything that opens a body taken out of a copy of a store, and its files written anew.

What is left is the log, sealed under keys that are not there: no master key opens anything of it. So an erasure need not reach it,
and it can be kept for ever. What was folded of the log goes too: it is sealed under owners' keys without salts, so an older copy
that has those would open it, and a restore folds anew anyway. The copy is marked first, so that nothing uses it as it is: whoever
appended to it would draw new keys for owners who have some.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import redis

from consumers.sealing.leaving import Rewritten
from consumers.sealing.vectors import drop_vectors
from consumers.verify.scan import PAGE, keys_like
from events.errors import InputError, StoreMismatch, StoreUnavailable
from events.partitions import SEALS_FROM, STORE_KEY, LogKeys
from events.redis.wire import Wire
from ops.bringing.frame import InUse, old_store
from ops.embedded.aof import DIRECTORY, SINGLE
from ops.embedded.binary import find_redis_server
from ops.embedded.rewriting import rewrite_all
from ops.erasing.scratch import NotLoaded, is_rdb, loaded
from ops.sealing.key_file import NAME, lies_there
from ops.settings import Settings
from projections.fold.builds import is_build
from projections.redis.create import STRIPPED, StoreIdentity, check_format, read_identity

SEALS = ("keys", "salts", "readm", "wl", "gone")
"""Tables of a partition that open bodies, or tell which of them nothing opens."""
DUMP, STORE_FILE = "dump.rdb", "store.json"
_BESIDE = re.compile(r"\.?(rejections.*\.jsonl.*|erasures(-[A-Za-z0-9-]+)?|views)")
"""Files and folders of a data folder that hold owners' keys, wrapped or not, or what is sealed under them and made anew."""
_LIST = re.compile(r"erasures.*\.jsonl")
Wait = Callable[[str], None]


class Stripped(NamedTuple):
    """What became of a copy."""

    copy: str
    store_id: str
    partitions: int
    events: int
    keys: int
    """Keys that were taken out of its Redis."""
    files: list[str]
    """What was removed beside them."""
    aof: str
    dump: str
    master_key: bool
    """Whether a master key lies in it: it opens nothing of this copy, and others."""
    not_proven: list[str]


def strip_copy(settings: Settings, copy: Path, on_wait: Wait = lambda _told: None) -> Stripped:
    """Take the seals out of a copy: a data folder, a folder of Redis's files, one `appendonlydir` of it, or a dump.

    Raises InputError for what is no copy, InUse where somebody uses it, StoreMismatch where no sealed store lies there.
    """
    path = place_of(settings, copy)
    if path.is_file():
        return _strip_dump(settings, path)
    named = settings.model_copy(update={"data": path, "redis_url": None})
    with old_store(named, on_wait=on_wait) as store, closing(store.wire()) as wire:
        refuse_what_is_no_copy(store.identity, copy)
        _refuse_part(wire, store.identity, copy)
        keys = _take_out(wire, store.identity)
        files = _remove_beside(path)
        rewritten = rewrite_all(store.embedded, wire, on_wait, f"engramlog seals strip {copy}")
        return _told(copy, store.identity, _events(wire, store.identity), keys, files, rewritten, path)


def place_of(settings: Settings, copy: Path) -> Path:
    """The folder, or the file of a dump, that a copy is. Raises InputError, InUse."""
    path = copy.expanduser().absolute()
    if not path.exists():
        raise _no_copy(copy, "which is not there")
    if path.is_symlink():
        raise _no_copy(copy, "which is a link")
    path = path.resolve()
    if path.name == DIRECTORY and path.is_dir():
        path = path.parent
    live = settings.data.expanduser().resolve()
    if settings.redis_url is None and (path == live or path.is_relative_to(live) or live.is_relative_to(path)):
        raise _no_copy(copy, "which is the data folder of the store itself (ENGRAMLOG_DATA), lies in it, or holds it")
    if path.is_dir() and not any(path.glob(f"{SINGLE[:10]}*")):
        if not (path / DUMP).is_file():
            raise _no_copy(copy, "in which no files of Redis lie")
        path /= DUMP
    if path.is_file():
        with path.open("rb") as file:
            if not is_rdb(file.read(16)):
                raise _no_copy(copy, "which is neither a folder nor a dump of Redis")
    if (user := _user_of(path)) is not None:
        raise InUse(f"process {user} has files of {copy} open: strip a copy, and not what is used; nothing was changed")
    return path


def refuse_what_is_no_copy(identity: StoreIdentity, copy: Path) -> None:
    """Raise StoreMismatch where what lies there has no seals, OtherFormat where it is half brought over."""
    if identity.format != STRIPPED:
        check_format(identity)
    if identity.sealed is None:
        raise StoreMismatch(
            f"the store in {copy} lies open: there are no seals in it, and everybody who has it can read it. Nothing was changed"
        )


def _refuse_part(wire: Wire, identity: StoreIdentity, copy: Path) -> None:
    """Raise StoreMismatch where some partitions do not lie there: what opens them would stay in the files of other nodes."""
    there = wire.answers([["EXISTS", LogKeys(tag).meta] for tag in identity.tags])
    if not all(there):
        raise StoreMismatch(
            f"{copy} holds {sum(there)} of {identity.partitions} partitions: it is what one node of a Redis Cluster wrote, and the"
            " seals of the others lie in their files. Load the copies of all nodes into one Redis, and strip a copy of that."
            " Nothing was changed",
            mode="cluster",
        )


def _strip_dump(settings: Settings, path: Path) -> Stripped:
    """The same of a dump: loaded by a Redis of our own, and written in the place of what it was."""
    try:
        with loaded(path, path.stat().st_size, find_redis_server(settings.redis_server)) as scratch:
            with scratch.client() as client:
                wire = Wire(client)
                try:
                    identity = read_identity(wire)
                    if identity is None:
                        raise _no_copy(path, "in which no store lies")
                    refuse_what_is_no_copy(identity, path)
                    _refuse_part(wire, identity, path)
                    keys, events = _take_out(wire, identity), _events(wire, identity)
                finally:
                    wire.close()
            _replace(path, scratch.saved())
    except NotLoaded as error:
        raise _no_copy(path, f"which cannot be loaded: {error}") from None
    except (OSError, redis.RedisError) as error:
        raise StoreUnavailable(f"{path} could not be written anew: {error}", file=str(path)) from error
    return _told(path, identity, events, keys, [], Rewritten("off", "written", [], []), path.parent)


def _take_out(wire: Wire, identity: StoreIdentity) -> int:
    """Mark it, and remove every seal, and what was folded, by names in the whole store; how many keys went, without vectors. What
    another program has in that Redis stays."""
    wire.call("HSET", STORE_KEY, "format", STRIPPED)
    wire.call("HDEL", STORE_KEY, SEALS_FROM)
    dropped, ours = 0, {b"{%b}" % tag.encode() for tag in identity.tags}
    for name in SEALS:
        for pattern in (f"{{*}}:{name}", f"{{*}}:{name}:*"):
            found = (key for key, _ in keys_like(wire, pattern) if key.partition(b":")[0] in ours)
            while some := list(islice(found, PAGE)):
                dropped += wire.call("UNLINK", *some)
    for tag in identity.tags:
        wire.call("HDEL", LogKeys(tag).meta, "gone")
        prefix = f"{{{tag}}}:"
        made = (key for key, _ in keys_like(wire, f"{prefix}v*") if _is_of_a_build(key, prefix))
        while some := list(islice(made, PAGE)):
            dropped += wire.call("UNLINK", *some)
    drop_vectors(wire, identity.tags)
    return dropped


def _is_of_a_build(key: bytes, prefix: str) -> bool:
    name = key.removeprefix(prefix.encode()).partition(b":")[0]
    return is_build(name.decode("utf-8", "replace"))


def _remove_beside(folder: Path) -> list[str]:
    """Remove from a data folder what holds owners' keys, or opens by them and is made anew; the names."""
    found = list[str]()
    if not (folder / STORE_FILE).is_file():
        return found  # a folder of somebody's Redis: what else lies there is not ours
    for one in sorted(folder.iterdir()):
        if not _BESIDE.fullmatch(one.name) or _LIST.fullmatch(one.name):
            continue
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one)
        else:
            one.unlink()
        found.append(one.name)
    return found


def _events(wire: Wire, identity: StoreIdentity) -> int:
    return sum(int(one or 0) for one in wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in identity.tags]))


def _told(
    copy: Path, identity: StoreIdentity, events: int, keys: int, files: list[str], done: Rewritten, folder: Path
) -> Stripped:
    return Stripped(
        str(copy),
        identity.store_id,
        identity.partitions,
        events,
        keys,
        files,
        done.aof,
        done.dump,
        lies_there(folder / NAME),
        list(done.not_proven),
    )


def _replace(path: Path, made: Path) -> None:
    """Put a dump in the place of the one that was loaded; on disk when this returns. Raises OSError."""
    beside = path.with_name(f".{path.name}.stripped")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file, made.open("rb") as source:
            shutil.copyfileobj(source, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _user_of(path: Path) -> int | None:
    """A process that has files there open, as far as this machine tells: a Redis of one's own takes no lock of ours."""
    for process, target in _open_files():
        if process != os.getpid() and (target == path or target.is_relative_to(path)):
            return process
    return None


def _open_files() -> Iterator[tuple[int, Path]]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for one in (process / "fd").iterdir():
                with suppress(OSError):
                    yield int(process.name), one.readlink()


def _no_copy(copy: Path, what: str) -> InputError:
    return InputError(
        f"copy: got {str(copy)!r}, {what}; allowed: a copy of a data folder, of the files of a Redis (appendonlydir), or a dump"
        " (dump.rdb), that nobody uses. Nothing was changed",
        field="copy",
    )
