"""The append-only file: what a folder holds, what a server did to a torn tail, and why it refused a damaged one.

6.2 keeps one `appendonly.aof`; 7.0 a folder `appendonlydir` with a manifest that names a base and the files after it.
Both write what a script did as one MULTI..EXEC and drop an unfinished one at load, so a torn tail costs whole scripts,
never halves.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from engramlog_server.events.errors import EmbeddedRedisError, StoreMismatch
from engramlog_server.ops.embedded.binary import RedisBinary, release_of
from engramlog_server.ops.embedded.store import StoreFile

SINGLE = "appendonly.aof"
DIRECTORY = "appendonlydir"
MANIFEST = f"{DIRECTORY}/{SINGLE}.manifest"
MULTI_PART = (7, 0)

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

        With that leave a server 7.0 also cuts a torn file that others follow, refuses to start, and at the second start
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
        # A 7.0 killed while it took over an older folder has written the manifest but not moved the file yet.
        files = [folder / file.name if not file.exists() and (folder / file.name).exists() else file for file in files]
    else:
        files = [file for file in [folder / SINGLE] if file.exists()]
    return AofFiles(tuple(files), {file.name: file.stat().st_size for file in files if file.exists()})


def refuse_what_cannot_be_read(folder: Path, binary: RedisBinary, store: StoreFile | None) -> None:
    """Raise StoreMismatch where starting `binary` would hide or overwrite what the folder holds.

    An older server than the folder's newest would see an empty store; a 7.0 without its manifest begins at file 1
    again, overwriting what is there.
    """
    written_by = store.newest_server_version if store else None
    if (folder / MANIFEST).exists() and (written_by is None or release_of(written_by) < MULTI_PART):
        written_by = "7.0"
    if written_by is not None and binary.release < release_of(written_by):
        raise StoreMismatch(
            f"{folder} was opened by redis-server {written_by}; {binary.path} is {binary.version}, which would not "
            f"see all of it, so it refuses to start; install that or a newer one, or name one with "
            "ENGRAMLOG_REDIS_SERVER",
            folder=str(folder),
            recorded=written_by,
            found=binary.version,
        )
    if (folder / MANIFEST).exists():
        return
    orphans = sorted(file.name for file in (folder / DIRECTORY).glob("*") if not _harmless(file))
    if orphans:
        raise StoreMismatch(
            f"{folder / MANIFEST} is missing beside {', '.join(orphans)}, and a server started without it would "
            "overwrite them; restore it from a backup",
            folder=str(folder),
        )
    if store is not None and not (folder / SINGLE).exists():
        raise StoreMismatch(
            f"{folder} held store {store.store_id}, but its append-only file is gone; restore {SINGLE} or {DIRECTORY} "
            "from a backup, or begin a new store in another folder",
            folder=str(folder),
        )


def _harmless(file: Path) -> bool:
    """What a first start leaves that was killed before it wrote the manifest: empty files and scratch files."""
    if file.name.startswith("temp"):
        return True
    if file.name == f"{SINGLE}.1.base.rdb":
        return True
    return file.name == f"{SINGLE}.1.incr.aof" and file.stat().st_size == 0


def cut_told(log: str, before: AofFiles) -> Cut | None:
    """What the log of a start says was cut off; None when nothing."""
    found = _TRUNCATED.search(log)
    if found is None:
        return None
    name, offset = found[1] or SINGLE, int(found[2])
    return Cut(name, offset, before.sizes.get(name, offset) - offset, _REVERTED in log)


def recovery_told(cuts: list[Cut]) -> str | None:
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
        message = f"redis-server {binary.version} did not start on {folder}; its log {folder / 'redis.log'} says:{said}"
    else:
        message = f"redis-server {binary.version} refuses to load {file}: {trouble}. Its last log lines:{said}"
    return EmbeddedRedisError(message, folder=str(folder), file=str(file) if file else None, log=lines)


def _trouble(folder: Path, binary: RedisBinary, before: AofFiles, log: str) -> tuple[Path | None, str]:
    paths = {file.name: file for file in aof_files(folder).files}
    if found := _MISSING.search(log):
        return folder / DIRECTORY / found[1], "the manifest names it and it is missing; restore it from a backup"
    if found := _DAMAGED.search(log):
        name = found[2] or SINGLE
        path = paths.get(name, folder / name)
        if found[1].startswith("Unexpected") and name != before.last:
            return path, "it breaks off, and other files come after it; restore it from a backup"
        return path, f"it is damaged before its end. Restore it from a backup; or {_cure(folder, binary)}"
    if _NEWER.search(log):
        return before.files[0], "it was written by a newer server; name that one with ENGRAMLOG_REDIS_SERVER"
    if _BASE.search(log) and before.files:
        return paths.get(before.files[0].name, before.files[0]), "its snapshot is damaged; restore it from a backup"
    return None, ""


def _cure(folder: Path, binary: RedisBinary) -> str:
    """How to cut a damaged file with the server's tool; the server itself is that tool when run under its name."""
    beside = binary.path.with_name("redis-check-aof")
    target = folder / (MANIFEST if (folder / MANIFEST).exists() else SINGLE)
    if beside.exists():
        command = shlex.join([str(beside), "--fix", str(target)])
    else:
        command = shlex.join(
            ["bash", "-c", 'exec -a redis-check-aof "$@"', "-", str(binary.path), "--fix", str(target)]
        )
    return f"copy {folder} and run `{command}`: it drops all after the damage (without --fix it only tells how much)"


def last_lines(log: str, count: int = 12) -> list[str]:
    """The last `count` lines of a log that say something."""
    return [line.rstrip() for line in log.splitlines() if line.strip()][-count:]
