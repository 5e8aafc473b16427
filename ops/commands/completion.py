"""What a TAB is answered with: owners and memory ids of the store that runs on this machine, in a moment or not at all.

A shell waits for it while somebody types. So nothing of the application is imported, no store is opened or started, one
connection of a fraction of a second reads a bounded part of a hash, and whatever goes wrong is silence.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Self

from engramlog_server.events.partitions import SYSTEM_OWNERS
from engramlog_server.ops.environment import data_folder

SECONDS = 0.3
"""What all looking may take."""
MOST = 50
"""Names that are offered."""
ROUNDS = 20
"""Pages of a hash that are looked at."""
PAGE = 200


class StoreNames:
    """The names in the store of the settings' data folder, where somebody runs it now."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def owners(self, begun: str) -> list[str]:
        """Owners whose names begin so, in order."""
        found = self._found(begun, lambda tags: [(tag, "own") for tag in tags])
        return [one for one in found if one not in SYSTEM_OWNERS]

    def memories(self, owner: str, begun: str) -> list[str]:
        """Ids of an owner's memories that begin so, in order."""
        return self._found(begun, lambda tags: [(_tag_of(owner, tags), f"st:{owner}")])

    def _found(self, begun: str, hashes: Callable[[Sequence[str]], list[tuple[str, str]]]) -> list[str]:
        if os.environ.get("ENGRAMLOG_REDIS_URL"):
            return []  # somebody else's Redis is not asked for a TAB
        try:
            folder = self._folder or data_folder(os.environ).expanduser()
            tags = [str(tag) for tag in json.loads((folder / "store.json").read_bytes())["tags"]]
            where = str(json.loads((folder / "server.json").read_bytes())["socket"])
            with _Line(where) as line:
                return sorted(_names(line, hashes(tags), begun))[:MOST]
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            return []


class _Line:
    """One short connection to the server's socket."""

    def __init__(self, where: str) -> None:
        from hiredis import Reader

        self._end = monotonic() + SECONDS
        self._reader = Reader(replyError=ValueError, protocolError=ValueError)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(SECONDS)
        self._where = where

    def __enter__(self) -> Self:
        try:
            self._socket.connect(self._where)
        except OSError:
            self._socket.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    def call(self, *words: str | int | bytes) -> Any:
        """An answer. Raises OSError where the time is over, ValueError for a refusal."""
        parts = [str(word).encode() if not isinstance(word, bytes) else word for word in words]
        self._socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts))
        while (answer := self._reader.gets()) is False:
            self._socket.settimeout(max(self._end - monotonic(), 0.001))
            part = self._socket.recv(65_536)
            if not part:
                raise OSError("the server has gone")
            self._reader.feed(part)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _names(line: _Line, hashes: list[tuple[str, str]], begun: str) -> set[str]:
    found, pages = set[str](), 0
    match = "".join(f"\\{sign}" if sign in "\\*?[]^-" else sign for sign in begun) + "*"
    for tag, name in hashes:
        build = (line.call("HGET", f"{{{tag}}}:meta", "live") or b"").decode()
        cursor = b"0"
        while pages < ROUNDS + len(hashes) and len(found) < MOST:
            pages += 1
            cursor, page = line.call("HSCAN", f"{{{tag}}}:{build}:{name}", cursor, "MATCH", match, "COUNT", PAGE)
            found.update(one.decode() for one in page[::2])
            if cursor == b"0":
                break
    return found


def _tag_of(owner: str, tags: Sequence[str]) -> str:
    from engramlog_server.events.partitions import partition_of

    return tags[partition_of(owner, len(tags))]
