"""The list of what was erased, kept beside the store: a copy that is brought back is fenced by it again, before it answers.

It names nobody: an owner stands there by a label, a hash of its name under the store's id. Whoever knows the name finds it, and
so does whoever has the store.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from engramlog_server.consumers.erasing.steps import destroy_keys, fence
from engramlog_server.events.catalogue import ErasureGround
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.of_the_store import label_of
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.secrets import readmission
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.key_store import is_name
from engramlog_server.events.sealing.seals import erased_name, is_tombstone
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.durable import FileFull, FileLock, append_lines, store_file
from engramlog_server.ops.embedded.private_file import NotPrivate, read_private
from engramlog_server.ops.settings import Settings

MOST_BYTES = 64 * 1024 * 1024
"""Of a file that is read: some 300,000 erasures."""
AT_ONCE = 1_000


class ErasureStep(msgspec.Struct, frozen=True):
    """A step of an erasure, as the list has it."""

    store: str
    erasure: str
    label: str
    step: Literal["began", "fenced", "ended", "readmitted"]
    """`fenced`: of single memories alone; what goes with them is known then, and stands in `sealed`."""
    at: str
    """RFC 3339, UTC."""
    event: str
    """The id of its event under `:erasures`."""
    ground: ErasureGround = "other"
    reason: str = ""
    what: Literal["owner", "words"] = "owner"
    """Whether the owner is erased, or the words of some of its memories."""
    sealed: str = ""
    """Of words: which, sealed under the owner's key, in base64."""
    key: str = ""
    """Of an owner, once it is erased: the name of its key, in hexadecimal digits."""
    salts: tuple[int, ...] = ()
    """Of words, once they are erased: the ids of their entries' salts."""


_READ = msgspec.json.Decoder(ErasureStep)


def list_path(settings: Settings, store_id: str) -> Path:
    """Where a store's list is kept on this machine."""
    return store_file(settings.data, "erasures.jsonl", None if settings.redis_url is None else store_id)


class FenceList:
    """The list of one store in its data folder. Several processes may append: each does under the file's lock."""

    def __init__(self, path: Path, store_id: str) -> None:
        self.path = path
        self.store_id = store_id

    def read(self) -> list[ErasureStep]:
        """What it says of owners of this store, oldest first. Raises as `read_all`."""
        return [one for one in self.read_all() if one.what == "owner"]

    def read_words(self) -> list[ErasureStep]:
        """What it says of words of this store, oldest first. Raises as `read_all`."""
        return [one for one in self.read_all() if one.what == "words"]

    def read_all(self) -> list[ErasureStep]:
        """What it says of this store, oldest first; nothing where there is no file. Raises StoreUnavailable: a list that cannot be
        read fences nobody, and may not be passed over."""
        try:
            if not os.path.lexists(self.path):
                return []
            raw = read_private(self.path, MOST_BYTES)
        except NotPrivate as error:
            raise self._unusable(error.what) from error
        *whole, _torn = raw.split(b"\n")
        found = list[ErasureStep]()
        for number, line in enumerate(whole, 1):
            try:
                one = _READ.decode(line)
            except UNREADABLE as error:
                raise self._unusable(f"cannot be read at line {number}: {error}") from error
            if one.store == self.store_id:
                found.append(one)
        return found

    def append(self, one: ErasureStep) -> None:
        """Write a line, on disk when this returns. Raises StoreUnavailable."""
        line = msgspec.json.encode(one) + b"\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path):
                append_lines(self.path, line, MOST_BYTES, os.O_NOFOLLOW)
        except FileFull as full:
            raise self._unusable(f"is full: {full.size:,} of {MOST_BYTES:,} bytes") from None
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror}") from error

    def _unusable(self, what: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"the list of what was erased {what} ({self.path}); bring it back from where it was copied to: without it an owner"
            " who was erased could come back with an old copy of the store",
            file=str(self.path),
        )


def came_back(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> Iterator[tuple[str, str, str]]:
    """Owners of the list whose erasure ended and who have a line, each with the partition's tag and the erasure: an older copy of
    the store came back, or somebody put the line back. Looks at the lines themselves, whatever the log says. Raises StoreError.
    """
    wanted = {one.label: one.erasure for one in listed if one.step == "ended"}
    for tag in tags if wanted else ():
        for owner, line in secret_lines(wire, tag):
            if is_tombstone(line) or (erasure := wanted.get(label_of(listed[0].store, owner))) is None:
                continue
            if not _readmitted(wire, tag, owner, erasure):
                yield tag, owner, erasure


def returned_keys(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[bytes]:
    """Names of erased owners' keys that the key store has all the same: an older copy of it came back. Raises StoreError.

    Compares the key store with the list and with every tombstone of Redis.
    """
    names = {bytes.fromhex(one.key) for one in listed if one.key}
    for tag in tags:
        names.update(erased_name(line) for _, line in secret_lines(wire, tag) if is_tombstone(line))
    return list(wire.seals.keys.read([one for one in names if is_name(one)]))


def fence_again(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[str]:
    """Fence those who came back, and delete erased owners' keys that are in the key store again; the owners. Raises StoreError."""
    found = list[str]()
    destroy_keys(wire, returned_keys(wire, tags, listed))
    for tag, owner, erasure in came_back(wire, tags, listed):
        fence(wire, tag, owner, erasure)
        found.append(owner)
    return found


def _readmitted(wire: Wire, tag: str, owner: str, erasure: str) -> bool:
    line = wire.call("HGET", LogKeys(tag).readmitted, owner)
    return line is not None and readmission(owner, line)[1] == erasure


def secret_lines(wire: Wire, tag: str) -> Iterator[tuple[str, bytes]]:
    """Each owner of a partition that has a line, and the line. Raises StoreError."""
    cursor = b"0"
    while True:
        cursor, page = wire.call("HSCAN", LogKeys(tag).secrets, cursor, "COUNT", 1_000)
        yield from ((name.decode("utf-8", "replace"), line) for name, line in zip(page[::2], page[1::2], strict=True))
        if cursor == b"0":
            return


def open_erasures(listed: Iterable[ErasureStep]) -> Mapping[str, ErasureStep]:
    """Erasures that began and did not end, by their ids: of each owner the newest step alone counts."""
    newest = {one.label: one for one in listed}
    return {one.erasure: one for one in newest.values() if one.step == "began"}
