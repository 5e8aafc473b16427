"""The append-only file and `store.json`: what a folder holds, what a server did to a torn tail, why it refused a damaged one.

Servers keep a folder `appendonlydir` with a manifest that names a base and the files after it; Redis 6.2 kept one file,
`appendonly.aof`, which becomes the base. They write what a script did as one MULTI..EXEC and drop an unfinished one at
load, so a torn tail costs whole scripts, never halves. `store.json` says which store a folder holds, outside of Redis, so that a
server that brings back less is noticed.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import msgspec
import redis

from engramlog_server.events.errors import EmbeddedRedisError, StoreMismatch
from engramlog_server.events.redis.server import Product, Release
from engramlog_server.ops.durable import replace_file
from engramlog_server.ops.embedded.process import SETTING, RedisBinary, connect

SINGLE = "appendonly.aof"
DIRECTORY = "appendonlydir"
MANIFEST = f"{DIRECTORY}/{SINGLE}.manifest"
_SNAPSHOT = re.compile(rb"(REDIS|VALKEY)(\d{4}|\d{3})")
"""How a snapshot begins, at the start of an append-only file too: the product, and the version of the format."""
_WRITERS = ((12, "7.4"), (11, "7.2"), (10, "7.0"), (0, "6.2"))
"""Version of the format of a snapshot -> the first Redis that wrote it."""

_TRUNCATED = re.compile(r"!!! Truncating the AOF(?: (\S+))? at offset (\d+) !!!")
_DAMAGED = re.compile(r"(Bad file format|Unexpected end of file) reading the append only file(?: (\S+?))?(?::|\. )")
_MISSING = re.compile(r"Unable to obtain the AOF file (\S+) length")
_BASE = re.compile(
    r"Internal error in RDB|Short read or OOM loading DB|RDB CRC error|Wrong signature trying to load DB"
)
_REVERTED = "Revert incomplete MULTI/EXEC transaction"
_NEWER = re.compile(r"Can't handle RDB format version")


@dataclass(frozen=True, slots=True)
class AofFiles:
    """The files that a server will load, in order, with their sizes in bytes before it touches them."""

    files: tuple[Path, ...]
    sizes: dict[str, int]

    @property
    def size(self) -> int:
        """Bytes to load."""
        return sum(self.sizes.values())

    @property
    def last(self) -> str:
        """Name of the file whose tail a crash may have torn: the last that is not empty; "" when there is none."""
        return next((file.name for file in reversed(self.files) if self.sizes.get(file.name)), "")

    @property
    def only_last_can_be_cut(self) -> bool:
        """Whether leave to cut a torn tail can only touch the last file.

        With that leave a server also cuts a torn file that others follow, refuses to start, and at the second start
        loads the rest as if nothing were missing (tried). Snapshots (.rdb) are never cut.
        """
        logs = [file.name for file in self.files if not file.name.endswith(".rdb") and self.sizes.get(file.name)]
        return all(name == self.last for name in logs)


@dataclass(frozen=True, slots=True)
class Cut:
    """What a server cut off a file at load: `lost` bytes from `offset` on."""

    name: str
    offset: int
    lost: int
    whole_scripts: bool
    """Whether the file surely ends behind a whole script now; else an open MULTI may be left at its end."""


def aof_files(folder: Path) -> AofFiles:
    """What lies in the folder, as its manifest or its lone file says. Does not check that all of it is there."""
    manifest = folder / MANIFEST
    if manifest.exists():
        entries = (line.split() for line in manifest.read_text().splitlines())
        names = [entry[1] for entry in entries if len(entry) == 6 and entry[5] in "bi"]
        files = [folder / DIRECTORY / name for name in names]
        # A server killed while it took over an older folder has written the manifest but not moved the file yet.
        files = [folder / file.name if not file.exists() and (folder / file.name).exists() else file for file in files]
    else:
        files = [file for file in [folder / SINGLE] if file.exists()]
    return AofFiles(tuple(files), {file.name: file.stat().st_size for file in files if file.exists()})


def refuse_what_cannot_be_read(folder: Path, binary: RedisBinary, store: StoreFile | None) -> None:
    """Raise StoreMismatch where starting `binary` would hide or overwrite what the folder holds.

    Files of another product or of a newer server cannot be loaded; without its manifest a server begins at file 1 again,
    overwriting what is there.
    """
    for writer in filter(None, (store.newest_server if store else None, _writer_of_files(folder))):
        if not binary.release.reads(writer):
            raise StoreMismatch(
                f"{folder} has files of {writer}, which {binary.release} ({binary.path}) cannot read; name a server that can"
                f" with {SETTING}; nothing was started or written",
                folder=str(folder),
                recorded=str(writer),
                found=str(binary.release),
            )
    if (folder / MANIFEST).exists():
        return
    orphans = sorted(file.name for file in (folder / DIRECTORY).glob("*") if not _harmless(file))
    if orphans:
        raise StoreMismatch(
            f"{folder / MANIFEST} is missing next to {', '.join(orphans)}, and a server started without it would "
            "overwrite them; restore it from a backup",
            folder=str(folder),
        )
    if store is not None and not (folder / SINGLE).exists():
        raise StoreMismatch(
            f"{folder} held store {store.store_id}, but its append-only file is gone; restore {SINGLE} or {DIRECTORY} "
            "from a backup, or begin a new store in another folder",
            folder=str(folder),
        )


def _writer_of_files(folder: Path) -> Release | None:
    """The oldest server that writes such files as the folder has, by the head of the first; None if that is no snapshot."""
    try:
        with aof_files(folder).files[0].open("rb") as file:
            found = _SNAPSHOT.match(file.read(16))
    except (IndexError, FileNotFoundError):
        return None  # a file that the manifest names and that is missing is reported by the server
    if found is None:
        return None
    if found[1] == b"VALKEY":
        return Release("Valkey", "9.0")
    return Release("Redis", next(version for least, version in _WRITERS if int(found[2]) >= least))


def _harmless(file: Path) -> bool:
    """What a first start leaves that was killed before it wrote the manifest: empty files and scratch files."""
    if file.name.startswith("temp"):
        return True
    if file.name == f"{SINGLE}.1.base.rdb":
        return True
    return file.name == f"{SINGLE}.1.incr.aof" and file.stat().st_size == 0


def cut_text(log: str, before: AofFiles) -> Cut | None:
    """What the log of a start says was cut off; None when nothing."""
    found = _TRUNCATED.search(log)
    if found is None:
        return None
    name, offset = found[1] or SINGLE, int(found[2])
    return Cut(name, offset, before.sizes.get(name, offset) - offset, _REVERTED in log)


def recovery_text(cuts: list[Cut]) -> str | None:
    """The cuts of one recovery, each shorter than the one before, as a sentence: file, offset, bytes lost."""
    if not cuts:
        return None
    name, offset, lost = cuts[-1].name, cuts[-1].offset, sum(cut.lost for cut in cuts)
    return f"{name} ended in an unfinished write: AOF truncated at byte {offset}, {lost} bytes lost, the rest intact"


def torn_file(log: str) -> str | None:
    """Name of the file that ends in an unfinished write, when the server had no leave to cut it."""
    found = _DAMAGED.search(log)
    return (found[2] or SINGLE) if found is not None and found[1].startswith("Unexpected") else None


def start_failure(folder: Path, binary: RedisBinary, before: AofFiles, log: str) -> EmbeddedRedisError:
    """Why the server ended before it was ready: the damaged file and the cure where its log tells; its last lines."""
    lines = last_lines(log)
    said = "\n  ".join(["", *lines])
    file, trouble = _trouble(folder, binary, before, log)
    if file is None:
        message = f"{binary.release} did not start on {folder}; its log {folder / 'redis.log'} says:{said}"
    else:
        message = f"{binary.release} refuses to load {file}: {trouble}. Its last log lines:{said}"
    return EmbeddedRedisError(message, folder=str(folder), file=str(file) if file else None, log=lines)


def _trouble(folder: Path, binary: RedisBinary, before: AofFiles, log: str) -> tuple[Path | None, str]:
    paths = {file.name: file for file in aof_files(folder).files}
    if found := _MISSING.search(log):
        return folder / DIRECTORY / found[1], "the manifest names it and it is missing; restore it from a backup"
    if found := _DAMAGED.search(log):
        name = found[2] or SINGLE
        path = paths.get(name, folder / name)
        if name != before.last:
            trouble = "it breaks off" if found[1].startswith("Unexpected") else "it is damaged"
            return path, f"{trouble}, and other files come after it; restore it from a backup"
        return path, f"it is damaged before its end. Restore it from a backup; or {_cure(folder, path, binary)}"
    if _NEWER.search(log):
        return before.files[0], f"it was written by a newer server; name that one with {SETTING}"
    if _BASE.search(log) and before.files:
        return paths.get(before.files[0].name, before.files[0]), "its snapshot is damaged; restore it from a backup"
    return None, ""


def _cure(folder: Path, file: Path, binary: RedisBinary) -> str:
    """How to cut a damaged file with the server's tool; the server itself is that tool when run under its name.

    It gets the file, not the manifest: with that Valkey 9.1.2 calls its own snapshot damaged, and cuts nothing (tried).
    """
    beside = binary.path.with_name("redis-check-aof")
    if beside.exists():
        command = shlex.join([str(beside), "--fix", str(file)])
    else:
        command = shlex.join(["bash", "-c", 'exec -a redis-check-aof "$@"', "-", str(binary.path), "--fix", str(file)])
    return f"copy {folder} and run `{command}`: it drops all after the damage (without --fix it only tells how much)"


def last_lines(log: str) -> list[str]:
    """The last twelve lines of a log that say something."""
    return [line.rstrip() for line in log.splitlines() if line.strip()][-12:]


STORE_KEY = "engramlog:store"
STORE_ID = "store_id"


class StoreFile(msgspec.Struct, frozen=True, kw_only=True):
    """The store's id, its partitions and their hash tags, and the newest server that opened it, such as Valkey "9.1.2"."""

    store_id: str
    partitions: int
    tags: tuple[str, ...]
    newest_server_version: str
    product: Product = "Redis"
    """Of that server: files of before it was recorded are of Redis."""

    @property
    def newest_server(self) -> Release:
        """The newest server that opened it."""
        return Release(self.product, self.newest_server_version)

    def opened_by(self, release: Release) -> StoreFile:
        """The same store after a server of that release has opened it."""
        newest = release.version
        if release.product == self.product:
            newest = max(self.newest_server_version, newest, key=_numbers)
        return msgspec.structs.replace(self, product=release.product, newest_server_version=newest)


def read_store_file(folder: Path) -> StoreFile | None:
    """store.json, or None when the folder has none. Raises StoreMismatch when it cannot be understood."""
    path = folder / "store.json"
    try:
        store = msgspec.json.decode(path.read_bytes(), type=StoreFile)
        _numbers(store.newest_server_version)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StoreMismatch(
            f"{path} is damaged ({error}); restore it from a backup, or, if this folder surely holds your store, "
            "move the file away: the next start writes it again from the store itself",
            folder=str(folder),
        ) from error
    return store


def holds_store(folder: Path) -> bool:
    """Whether a folder holds a store's name, or anything of its Redis. Raises OSError."""
    return (folder / "store.json").exists() or any(folder.glob("appendonly*"))


def write_store_file(folder: Path, store: StoreFile) -> None:
    """Replace store.json as a whole: after a crash it is the old one or the new one."""
    replace_file(folder / "store.json", msgspec.json.format(msgspec.json.encode(store), indent=2) + b"\n")


def refuse_other_store(folder: Path, socket: Path, store: StoreFile, recovery: str | None = None) -> None:
    """Raise StoreMismatch unless the server behind `socket` holds `store`; `recovery` tells what it cut off its log.

    Raises EmbeddedRedisError when it does not answer.
    """
    try:
        with connect(socket) as client:
            found = client.hget(STORE_KEY, STORE_ID)
    except redis.RedisError as error:
        raise EmbeddedRedisError(
            f"the Redis of {folder} stopped answering ({error}); see {folder / 'redis.log'} and try again",
            folder=str(folder),
        ) from error
    if found == store.store_id:
        return
    holds = f"store {found}" if found else "no store"
    because = f" ({recovery})" if recovery else ""
    raise StoreMismatch(
        f"{folder} should hold store {store.store_id}, but its Redis came back with {holds}{because}; "
        "restore the append-only file from a backup, or begin a new store in another folder",
        folder=str(folder),
        recorded=store.store_id,
        found=found,
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
